"""`foldline.compact`: the pure function on a provider's own dicts.

No session, no disk, and no network but what a caller's completer does. Decodes the caller's messages, reduces, and encodes:
what was not edited comes back as the very objects that came in. Its counterpart for files is `foldline.files`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from time import perf_counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.asking import Basis, aanswering, adriven, answering, asking_notes
from foldline.core.completion import Ask, Reply
from foldline.core.errors import InvalidOption, InvalidTranscript, TargetUnreachable
from foldline.core.kinds import refuse_no_name
from foldline.core.laws import Violation
from foldline.engine.driving import drive, unanswered
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.gate import compacting
from foldline.held_elsewhere import refuse_held_elsewhere
from foldline.ledger.numbering import Numbered, follows_in, numbers_of
from foldline.memory import remembered
from foldline.outgoing import fixed_tokens, joined
from foldline.presets import policy_of, refuse_no_policy
from foldline.provider_rules import broken_laws, refusals, same_words
from foldline.reduce import NOT_PINNED, Goal, Reduced, history_of, is_near, pins_of
from foldline.settings import plan_for, window_asked
from foldline.survival import look_ahead
from foldline.threads import off
from foldline.tokens.choose import counter_for
from foldline.wire import strict
from foldline.wire.body import declared_limits, read_body, refused_names
from foldline.wire.codec import Request, Rules
from foldline.wire.formats import PLAIN, codec, detect, is_plain, settle
from foldline.wire.given import check_system, schemas_of


class Compaction(Struct, frozen=True, kw_only=True):
    """What `foldline.compact` returns."""

    messages: list[Any]
    """The history to send, in the format that was given; untouched messages are the caller's own objects."""
    report: Report
    """What was done; `report.to_dict()` is its JSON form."""


def compact(
    messages: Sequence[Any],
    to: int | float | None = None,
    *,
    format: str = "auto",
    system: Any = None,
    tools: Sequence[Any] | None = None,
    model: str | None = None,
    policy: str | Policy = "balanced",
    counter: str | None = None,
    pins: Sequence[int | str] = (),
    completer: Callable[..., Any] | None = None,
    focus: str | None = None,
) -> Compaction:
    """Bring a history to a size and keep it valid.

    `messages`: wire dicts of one format (Anthropic, OpenAI chat, OpenAI Responses input items, Gemini contents); never
    changed. `to`: size of the whole request in tokens (system + tools + messages), or a share of it in (0, 1); left
    out, the policy's own target, once its threshold is reached. `pins`: a list of places in `messages`, ids or texts of messages
    that must survive verbatim; a text counts wherever it stands, in the arguments and results of tools too.
    `model`: decides the counter and the window; without one tokens are counted with `o200k_base`. `completer`: a function
    that takes a `CompletionRequest` and returns the text, deltas or a reply object; the policy's tiers that need a model
    are active with one. `focus`: what its summary should dwell on.

    Raises `TargetUnreachable` with `.result` when the smallest valid history is larger than `to`, `InvalidOption` for
    an argument out of bounds, `UnknownFormat` when the messages are of no known format.
    """
    given = Given(
        to=to,
        format=format,
        system=system,
        tools=tools,
        model=model,
        policy=policy,
        counter=counter,
        pins=pins,
        focus=focus,
        has_model=completer is not None,
        tokens_window_asked=window_asked(completer, model=model),
    )
    answer = unanswered if completer is None else answering(completer, basis_of(messages, given))
    return drive(_compacting(messages, given), answer)


async def acompact(
    messages: Sequence[Any], to: int | float | None = None, *, completer: Any = None, **options: Any
) -> Compaction:
    """`compact` off the event loop; same arguments, same result. The completer may be async: an awaitable or an async
    iterator of what a completer gives. Cancelled, it gives up, and nothing has changed."""
    window = window_asked(completer, model=options.get("model"))
    given = Given(to=to, has_model=completer is not None, tokens_window_asked=window, **_named(options))
    if completer is None:
        return await off(drive, _compacting(messages, given), unanswered)
    basis = await off(basis_of, messages, given)
    return await adriven(_compacting(messages, given), aanswering(completer, basis))


class Given(Struct, frozen=True, kw_only=True):
    """The arguments of `compact`, as they were given."""

    to: int | float | None = None
    format: str = "auto"
    system: Any = None
    tools: Sequence[Any] | None = None
    model: str | None = None
    policy: str | Policy = "balanced"
    counter: str | None = None
    pins: Sequence[int | str] = ()
    focus: str | None = None
    has_model: bool = False
    tokens_window_asked: int | None = None


def _named(options: dict[str, Any]) -> dict[str, Any]:
    """Options by name. Raises `TypeError` for one that there is not, as a call does."""
    known = set(Given.__struct_fields__) - {"to", "has_model", "tokens_window_asked"}
    strange = next((name for name in options if name not in known), None)
    if strange is not None:
        raise TypeError(f"acompact() got an unexpected keyword argument {strange!r}")
    return options


def basis_of(messages: Sequence[Any], given: Given) -> Basis:
    """What a fork shares with the caller's own requests."""
    name = detect(messages) if given.format == "auto" else given.format
    plain = given.format == "auto" and is_plain(messages)
    numbers = numbers_of(read_body({"messages": _listed(messages)}, format=name).messages)
    return Basis(
        format=name,
        model=given.model,
        system=given.system,
        tools=list(given.tools) if isinstance(given.tools, (list, tuple)) and given.tools else None,
        rules=PLAIN if plain else codec(name).rules,
        follows=follows_in(numbers) if numbers else None,
    )


def _compacting(messages: Sequence[Any], given: Given) -> Generator[Ask, Reply, Compaction]:
    """One compaction, asking where a model was given."""
    _check_kinds(format=given.format, policy=given.policy, focus=given.focus)
    refuse_no_name(or_none=True, model=given.model, counter=given.counter)
    pins = pins_of(given.pins)
    name = detect(messages) if given.format == "auto" else given.format
    reader = codec(name)
    check_system(given.system, format=name)
    listed = _listed(messages)
    request = read_body(
        {"messages": listed, "system": given.system, "tools": schemas_of(given.tools)}, format=name
    )
    _refuse_foreign(listed)
    refuse_held_elsewhere(request.messages, path="messages")
    rules = PLAIN if given.format == "auto" and is_plain(messages) else reader.rules
    planned = plan_for(given.model)
    chosen = policy_of(given.policy, planned.window)
    counting = counter_for(given.model, counter=given.counter or chosen.counter or planned.counter, wire=name)
    history = history_of(
        request.messages,
        needs=replace(
            rules.needs_for(given.model), names_kept=refused_names(request.tools, rules.needs.names_pattern)
        ),
        counter=counting,
        tokens_fixed=fixed_tokens(request, counting),
    )
    goal = Goal(
        policy=chosen,
        to=given.to,
        tokens_window=planned.window,
        output_max=planned.output_max,
        pins=_numbered(pins, history.numbers),
        has_model=given.has_model,
        tokens_window_asked=given.tokens_window_asked,
        focus=given.focus or "",
    )
    blank = Report(format=name, model=given.model, notes=(*planned.notes, *asking_notes(goal)))
    with remembered() as memo:
        history = replace(history, limits=declared_limits(request.tools), memo=memo)
        reduced = yield from compacting(history, goal, counter=counting, report=blank, clock=perf_counter)
        if is_near(history, goal):
            look_ahead(history)
    return _reached(_result(reduced, rules, request=request))


def _numbered(pins: Sequence[int | str], numbers: Sequence[Numbered]) -> tuple[int | str, ...]:
    """The pins, places in the list as the numbers that its messages have where folds among them count."""
    if not numbers:
        return tuple(pins)
    if missing := [pin for pin in pins if isinstance(pin, int) and not 0 <= pin < len(numbers)]:
        raise InvalidOption("pin", missing[0], why=NOT_PINNED)
    return tuple([numbers[pin].ordinal if isinstance(pin, int) else pin for pin in pins])


def _check_kinds(*, policy: object, **texts: object) -> None:
    """Raise `InvalidOption` for what is no text (nor a `Policy`) where one is wanted; names are looked up later."""
    for option, value in texts.items():
        if not isinstance(value, str) and (value is not None or option == "format"):
            raise InvalidOption(option, value, why="give a text, or leave it out")
    refuse_no_policy(policy)


def _listed(messages: object) -> list[Any]:
    """The messages as a list of their own. `detect` has judged them already, unless the format was given."""
    if isinstance(messages, (str, bytes, dict)) or not isinstance(messages, Iterable):
        raise InvalidOption("messages", messages, why="give the list of messages, not a body or a text")
    return list(messages)


def _refuse_foreign(messages: Sequence[Any]) -> None:
    """Raise `InvalidTranscript` for a message that JSON cannot say, whoever reads what is wrong there."""
    for index, message in enumerate(messages):
        try:
            strict.refuse_foreign(message)
        except ValueError as error:
            why = f"messages[{index}]: {error}; give values of JSON alone"
            raise InvalidTranscript("messages", None, why) from error


def _result(reduced: Reduced, rules: Rules, *, request: Request) -> Compaction:
    reader, needs = codec(request.format), reduced.before.needs
    numbers = reduced.before.numbers
    follows = follows_in(numbers) if numbers else None
    sent = joined(reduced.view.items(), reader, rules=rules, follows=follows)
    wire = [reader.encode(message) for message in sent]
    read = settle(
        reader.name,
        [reader.decode(value) if one.edited else one for one, value in zip(sent, wire, strict=True)],
    )
    broken = broken_laws(read, needs) or refusals(replace(request, messages=read), needs)
    came: tuple[Violation, ...] = ()
    if broken:
        came = same_words(broken, (*broken_laws(request.messages, needs), *refusals(request, needs)))
    report = replace(
        reduced.report, messages_after=len(wire), valid=not broken, violations=broken, unmended=came
    )
    return Compaction(messages=wire, report=report)


def _reached(result: Compaction) -> Compaction:
    report = result.report
    target = report.tokens_target or 0
    if report.outcome == "unreachable":
        why, reduced = report.reason or "", bool(report.passes)
        raise TargetUnreachable(report.tokens_after, target, why, result, reduced=reduced)
    return result
