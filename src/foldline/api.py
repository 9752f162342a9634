"""`foldline.compact`: the pure function on a provider's own dicts.

No session, no disk, no network. Decodes the caller's messages, reduces, and encodes: what was not edited comes back
as the very objects that came in. Its counterpart for files is `foldline.files`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

from msgspec import Raw, Struct
from msgspec.structs import replace

from foldline.core.errors import InvalidOption, InvalidTranscript, TargetUnreachable
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.gate import gated
from foldline.memory import remembered
from foldline.outgoing import fixed_tokens, joined
from foldline.presets import policy_of
from foldline.reduce import Goal, Reduced, broken_laws, history_of, is_near, needs_of, pins_of, reduce
from foldline.settings import plan_for
from foldline.survival import look_ahead
from foldline.tokens.choose import counter_for
from foldline.wire import strict
from foldline.wire.body import declared_limits, read_body
from foldline.wire.codec import Codec, Rules
from foldline.wire.formats import PLAIN, codec, detect, is_plain

_DECLARED = ("functionDeclarations", "function_declarations")
FOCUS_NOTE = "focus has no effect without a model to write the summary"


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
    out, the policy's own target, once its threshold is reached. `pins`: a list of ordinals, ids or texts of messages
    that must survive verbatim; a text counts wherever it stands, in the arguments and results of tools too.
    `model`: decides the counter and the window; without one tokens are counted with `o200k_base`.

    Raises `TargetUnreachable` with `.result` when the smallest valid history is larger than `to`, `InvalidOption` for
    an argument out of bounds, `UnknownFormat` when the messages are of no known format.
    """
    if completer is not None:
        raise InvalidOption(
            "completer", "…", why="compaction by a model is not part of this version; leave it out"
        )
    _check_kinds(format=format, model=model, policy=policy, counter=counter, focus=focus)
    pins = pins_of(pins)
    name = detect(messages) if format == "auto" else format
    reader = codec(name)
    _check_system(system, format=name)
    request = read_body(
        {"messages": _listed(messages), "system": system, "tools": _schemas(tools)}, format=name
    )
    rules = PLAIN if format == "auto" and is_plain(messages) else reader.rules
    planned = plan_for(model)
    chosen = policy_of(policy, planned.window)
    counting = counter_for(model, counter=counter or chosen.counter or planned.counter, wire=name)
    history = history_of(
        request.messages,
        needs=needs_of(rules, tail_stays_open=True),
        counter=counting,
        tokens_fixed=fixed_tokens(request, counting),
    )
    notes = (*planned.notes, FOCUS_NOTE) if focus else planned.notes
    blank = Report(format=name, model=model, notes=notes)
    goal = Goal(policy=chosen, to=to, tokens_window=planned.window, output_max=planned.output_max, pins=pins)
    with remembered() as memo:
        history = replace(history, limits=declared_limits(request.tools), memo=memo)
        reduced = reduce(history, goal, counter=counting, report=blank, clock=perf_counter)
        reduced = gated(reduced, chosen.floors, counter=counting)
        if is_near(history, goal):
            look_ahead(history)
    result = _result(reduced, rules, reader=reader)
    return _reached(result)


def _check_kinds(*, policy: object, **texts: object) -> None:
    """Raise `InvalidOption` for what is no text (nor a `Policy`) where one is wanted; names are looked up later."""
    for option, value in texts.items():
        if not isinstance(value, str) and (value is not None or option == "format"):
            raise InvalidOption(option, value, why="give a text, or leave it out")
    if not isinstance(policy, (str, Policy)):
        raise InvalidOption("policy", policy, why="give a policy's name (`foldline policies` lists them)")


def _listed(messages: object) -> list[Any]:
    """The messages as a list of their own. `detect` has judged them already, unless the format was given."""
    if isinstance(messages, (str, bytes, dict)) or not isinstance(messages, Iterable):
        raise InvalidOption("messages", messages, why="give the list of messages, not a body or a text")
    return list(messages)


def _schemas(tools: object) -> Raw | None:
    """The tool schemas as JSON. Raises `InvalidOption`."""
    if tools is None:
        return None
    if not isinstance(tools, (list, tuple)):
        raise InvalidOption("tools", tools, why="give a list of tool schemas, each an object")
    opened = [strict.plain(tool) for tool in tools]
    for tool in opened:
        is_schema = isinstance(tool, dict)
        if not is_schema or not all(isinstance(tool.get(key) or (), (list, tuple)) for key in _DECLARED):
            raise InvalidOption(
                "tools", tool, why="a schema is an object; its functionDeclarations are a list"
            )
    return _writable("tools", opened)


def _check_system(system: object, *, format: str) -> None:
    opened = strict.plain(system)
    if opened is None:
        return
    if not isinstance(opened, (str, list, tuple, dict)):
        raise InvalidOption(
            "system", system, why="give the system prompt as text, or as the format's own value"
        )
    _writable("system", opened)
    try:
        read_body({"messages": [], "system": system}, format=format)
    except InvalidTranscript as error:
        raise InvalidOption("system", system, why=error.why) from error


def _writable(option: str, value: object) -> Raw:
    """The value as JSON, if JSON can say it: no bytes, no NaN, no object of an unknown class."""
    try:
        return Raw(strict.dump_foreign(value))
    except ValueError as error:
        raise InvalidOption(option, value, why=f"{error}; give values of JSON alone") from error


def _result(reduced: Reduced, rules: Rules, *, reader: Codec) -> Compaction:
    sent = joined(reduced.view.items(), reader, rules=rules)
    wire = [reader.encode(message) for message in sent]
    read = [
        reader.decode(value) if message.edited else message for message, value in zip(sent, wire, strict=True)
    ]
    violations = broken_laws(read, reduced.before.needs)
    report = replace(reduced.report, messages_after=len(wire), valid=not violations, violations=violations)
    return Compaction(messages=wire, report=report)


def _reached(result: Compaction) -> Compaction:
    report = result.report
    target = report.tokens_target or 0
    if report.outcome == "unreachable":
        why, reduced = report.reason or "", bool(report.passes)
        raise TargetUnreachable(report.tokens_after, target, why, result, reduced=reduced)
    return result


async def acompact(messages: Sequence[Any], to: int | float | None = None, **options: Any) -> Compaction:
    """`compact` off the event loop; same arguments, same result."""
    import asyncio

    return await asyncio.to_thread(compact, messages, to, **options)
