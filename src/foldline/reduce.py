"""One history through repair, policy and report: what every door calls.

Puts the layers together for one conversation whose messages are decoded already: which counter counts, what the
target demands, what must stay, which tiers run, and what the report says. Knows no files and no wire values;
`foldline.api` and `foldline.files` bring those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Set
from typing import Any, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import read_block
from foldline.core.budget import Room
from foldline.core.completion import Ask, Reply
from foldline.core.edit import Edit, Fold, Frame, Mark
from foldline.core.errors import InvalidOption
from foldline.core.kinds import whole_number
from foldline.core.message import Message, Text, ToolCall, ToolResult, result_text
from foldline.core.needs import Needs
from foldline.core.pairing import Repair
from foldline.core.ports import Moment, TokenCounter
from foldline.core.received import received
from foldline.core.repair import repair
from foldline.core.rounds import kept_seqs, outline_of, whole_units
from foldline.core.spelling import fit_id
from foldline.core.view import Item, View, item_of, seqs_in, view_of
from foldline.engine.driving import drive, unanswered
from foldline.engine.policy import Policy, Tier
from foldline.engine.report import OutcomeName, Report, cache_of, covers_of, passes_of, with_asked
from foldline.engine.run import Compacted, Failed, Running, Unchanged, running, why_failed
from foldline.engine.unreached import FOLDED, goes_no_further, why_unreached
from foldline.ledger.numbering import Counted, Numbered, numbers_of
from foldline.passes.fold_least import least_tokens
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.supersession import MarkSuperseded

MARKS = Tier(name="supersession", reduce=MarkSuperseded(), only_marks=True)
"""Runs before the tiers of every policy: what it adds, they make room for."""
NOT_PINNED = "no message has this ordinal, this id or this text"
LEFT_OF_TARGET, LEFT_TO_LINE = 4, 3
_TEMPLATE = re.compile(r"^(?:m\d+ (?:user|assistant|tool|system)\b|\(calls: )", re.MULTILINE)
"""A line of a template summary."""


class History(Struct, frozen=True, kw_only=True):
    """A conversation ready to be reduced."""

    view: View
    tokens_fixed: int
    """Tokens of system prompt and tool schemas, which no pass touches."""
    repairs: tuple[Repair, ...]
    needs: Needs
    originals: Sequence[Message]
    """The messages as they came in: what addresses point at."""
    shown: Sequence[Message] = ()
    """Of `originals` those that the view shows, where it does not show all (`Frame.shown`)."""
    address_of: Callable[[int, int], str] | None = None
    """The address of a range of `originals` (`Frame.address_of`)."""
    numbers: tuple[Numbered, ...] = ()
    """Of each message of the list that came in its number, where folds in it make that another one than its place."""
    held: frozenset[int] = frozenset()
    """Ordinals that no pass may touch beside those the laws protect: of a node that runs."""
    limits: tuple[tuple[str, int], ...] = ()
    """Token limits that the tools' registration declares, by tool name."""
    memo: dict[str, Any] = {}
    """What passes find in its immutable parts, to be found once."""

    @property
    def tokens(self) -> int:
        """The whole request."""
        return self.view.tokens + self.tokens_fixed


class Goal(Struct, frozen=True, kw_only=True):
    """How far, and what must stay."""

    policy: Policy
    to: int | float | None = None
    """Tokens of the whole request, or a share of it in (0, 1); `None`: the policy's target, from its threshold on."""
    tokens_window: int | None = None
    is_window_known: bool = True
    output_cap: int | None = None
    """Most output tokens that the request itself asks for."""
    output_max: int | None = None
    """Most output tokens that the model can write."""
    pins: tuple[int | str, ...] = ()
    idle_s: float | None = None
    calls: int | None = None
    scale: float = 1.0
    """As `Moment` has it, as far as the provider's last usage says."""
    has_model: bool = False
    """True where a model can be asked: whoever reduces answers what `reducing` yields."""
    tokens_window_asked: int | None = None
    """As `Moment` has it."""
    at_once: bool = False
    """True for a compaction by hand that names no size: the model writes its summary whatever the size (CMP-15)."""
    beside: int = 0
    """As `Moment` has it."""
    ahead: bool = False
    """With `at_once`: in the background, before the line is reached; nobody asked for the last tier."""
    focus: str = ""
    """What the summary should dwell on, in the caller's words."""

    @property
    def room(self) -> Room:
        """What the policy's lines are measured in."""
        return Room(self.tokens_window or 0, output_cap=self.output_cap, output_max=self.output_max)


class Reduced(Struct, frozen=True, kw_only=True):
    """What came out."""

    before: History
    pins: frozenset[int]
    view: View
    edits: tuple[Edit, ...]
    report: Report


def history_of(
    messages: Sequence[Message],
    *,
    needs: Needs,
    counter: TokenCounter,
    tokens_fixed: int,
    numbers: tuple[Numbered, ...] | None = None,
) -> History:
    """Repair and weigh a history; each part is counted once. `numbers`: where the messages are counted as something else says than
    the folds among them; empty: by their places."""
    originals = tuple([received(message) for message in messages])
    repaired = repair(originals, needs)
    weights = counter.weights_of([placed.message for placed in repaired.placed])
    items = tuple(
        [
            item_of(placed.seq, placed.message, weights=parts, overhead=overhead)
            for placed, (parts, overhead) in zip(repaired.placed, weights, strict=True)
        ]
    )
    view = view_of(items, next_seq=len(messages))
    history = History(
        view=view, tokens_fixed=tokens_fixed, repairs=repaired.repairs, needs=needs, originals=originals
    )
    numbers = numbers_of(originals) if numbers is None else numbers
    return renumbered(history, numbers, originals=Counted(originals, numbers)) if numbers else history


def renumbered(history: History, numbers: tuple[Numbered, ...], *, originals: Sequence[Message]) -> History:
    """The same, its messages in the count of a longer history of which they are the view. `originals`: that history by its
    numbers, as far as it is at hand: what addresses point at."""

    def again(item: Item) -> Item:
        number = numbers[item.seq]
        covers = number.covers if item.message.synthetic != "repair" else ()
        return replace(item, seq=number.ordinal, covers=covers)

    items = tuple([again(item) for item in history.view])
    return replace(
        history,
        view=view_of(items, next_seq=len(originals)),
        repairs=tuple([replace(repair, seq=numbers[repair.seq].ordinal) for repair in history.repairs]),
        originals=originals,
        shown=history.originals,
        numbers=numbers,
    )


Reducing: TypeAlias = Generator[Ask, Reply, Reduced]


def reduce(
    history: History,
    goal: Goal,
    *,
    counter: TokenCounter,
    report: Report,
    clock: Callable[[], float] = lambda: 0.0,
) -> Reduced:
    """Bring a history to its goal, without a model. `report` comes in with what the caller knows (format, model, notes)
    and goes out whole. Raises `InvalidOption` for a goal out of bounds or a pin that names nothing."""
    alone = replace(goal, has_model=False)
    return drive(reducing(history, alone, counter=counter, report=report, clock=clock), unanswered)


def reducing(
    history: History,
    goal: Goal,
    *,
    counter: TokenCounter,
    report: Report,
    clock: Callable[[], float] = lambda: 0.0,
) -> Reducing:
    """As `reduce`, asking a model where `goal.has_model`; drive it with `foldline.engine.driving.drive` or `foldline.asking.adriven`. Closed
    between two questions, nothing has been done."""
    started = clock()
    target = target_of(history.tokens, goal, tokens_fixed=history.tokens_fixed)
    pins = find_pins(history.view, goal.pins)
    frame = frame_of(history, counter=counter, pins=pins, focus=goal.focus)
    filled = replace(
        report,
        policy=goal.policy.name,
        counter=counter.name,
        tokens_before=history.tokens,
        tokens_target=target,
        messages_before=len(history.view),
        repairs=history.repairs,
        notes=(*report.notes, *_warned(goal)),
    )
    always = goal.to is None and goal.policy.acts_on_each(is_window_known=goal.is_window_known)
    is_wanted = always or (goal.at_once and goal.has_model)
    if (target is None or history.tokens <= target) and not is_wanted:
        return _unchanged(
            history, filled, reason="within the target" if target is not None else "below the threshold"
        )
    moment = _moment_of(history, goal, target=target)
    outcome = yield from _running(history, goal.policy, moment=moment, frame=frame, clock=clock)
    filled = with_asked(filled, outcome.asked)
    match outcome:
        case Unchanged(reason=reason, asked=asked):
            is_over = target is not None and history.tokens > target
            if failed := why_failed(asked):
                return _unchanged(history, replace(filled, outcome="failed"), reason=failed)
            if target is not None and is_over and history.tokens_fixed >= target:
                reason = _why_unreached(history, history.view, goal=goal, frame=frame, target=target)
            name: OutcomeName = "unreachable" if is_over else "unchanged"
            return _unchanged(history, replace(filled, outcome=name), reason=reason)
        case Failed(step=step, error=error):
            return _unchanged(history, replace(filled, outcome="failed"), reason=f"{step}: {error}")
        case Compacted(steps=steps) as done:
            filled = replace(filled, passes=passes_of(steps), seconds=round(clock() - started, 6))
            return _compacted(history, done, report=filled, goal=goal, frame=frame)
        case never:
            assert_never(never)


def frame_of(
    history: History, *, counter: TokenCounter, pins: Set[int] = frozenset(), focus: str = ""
) -> Frame:
    """What must stay of a history, and what passes find in it. `pins`: ordinals that the caller pins."""
    structure = outline_of(history.view)
    return Frame(
        counter=counter,
        needs=history.needs,
        pins=frozenset(pins),
        kept=whole_units(structure, kept_seqs(structure) | pins | history.held),
        limits=history.limits,
        originals=history.originals,
        shown=history.shown,
        address_of=history.address_of,
        memo=history.memo,
        focus=focus,
    )


def _moment_of(history: History, goal: Goal, *, target: int | None) -> Moment:
    window, by_hand = goal.tokens_window, goal.to is not None or goal.at_once
    threshold = None
    if window:
        due = goal.policy.threshold.tokens(goal.room)
        threshold = max(0, int(due / goal.scale) - history.tokens_fixed)
    return Moment(
        tokens_excess=0 if target is None else history.tokens - target,
        tokens_target=history.view.tokens if target is None else max(0, target - history.tokens_fixed),
        tokens_history=history.view.tokens,
        tokens_window=window,
        tokens_fixed=history.tokens_fixed,
        output_cap=goal.output_cap,
        output_max=goal.output_max,
        by_hand=by_hand,
        is_due=target is not None,
        idle_s=goal.idle_s,
        calls=goal.calls,
        scale=goal.scale,
        usage_known=window is not None and (goal.is_window_known or by_hand),
        has_model=goal.has_model and (by_hand or window is not None),
        tokens_window_asked=goal.tokens_window_asked,
        at_once=goal.at_once,
        ahead=goal.ahead,
        beside=goal.beside,
        tokens_threshold=threshold,
    )


def _warned(goal: Goal) -> tuple[str, ...]:
    """What a person should know of a window that a policy's reserve takes whole (requirement BUD-2)."""
    window, policy = goal.tokens_window, goal.policy
    if goal.to is not None or not window:
        return ()
    if policy.threshold.budget(goal.room) > 0:
        return ()
    return (
        f"a window of {window:,} tokens is too small for policy {policy.name}: what it reserves takes all of it, so "
        "nothing is due before the window is full; take another policy",
    )


def is_near(history: History, goal: Goal) -> bool:
    """True for a history that has come half the way to the policy's threshold, and not all of it."""
    if goal.to is not None or target_of(history.tokens, goal) is not None:
        return False
    return target_of(2 * history.tokens, goal) is not None


def _running(
    history: History, policy: Policy, *, moment: Moment, frame: Frame, clock: Callable[[], float]
) -> Running:
    """The policy's tiers on a view in which superseded words are marked, as far as something else is done too: marks
    alone would make a history longer (law GAIN), and those that a fold covers say nothing."""
    marking = replace(policy, tiers=(MARKS, *policy.tiers))
    found = yield from running(history.view, marking, moment=moment, frame=frame, clock=clock)
    if not isinstance(found, Compacted) or found.steps[0].name != MARKS.name:
        return found
    first, *rest = found.steps
    if not rest or (found.view.tokens >= history.view.tokens and not found.asked):
        alone = replace(moment, has_model=moment.has_model and not found.asked)
        again = yield from running(history.view, policy, moment=alone, frame=frame, clock=clock)
        return replace(again, asked=(*found.asked, *again.asked))
    shown = {item.seq for item in found.view if not item.covers}
    if any(isinstance(edit, Mark) and edit.seq in shown for edit in first.edits):
        return found
    last = replace(rest[-1], tokens_freed=rest[-1].tokens_freed + first.tokens_freed)
    return replace(found, steps=(*rest[:-1], last))


def target_of(tokens: int, goal: Goal, *, tokens_fixed: int = 0) -> int | None:
    """The target in tokens of the whole request; `None` when the policy's threshold is not reached. Where system prompt and tools
    (`tokens_fixed`) take nearly all of a policy's own target, the messages keep a little of it all the same."""
    if goal.to is None:
        policy, room = goal.policy, goal.room
        due = policy.threshold.is_reached(round(tokens * goal.scale), room)
        target = int(policy.tokens_target(room) / goal.scale)
        return max(target, tokens_fixed + _least(target, goal, tokens_fixed=tokens_fixed)) if due else None
    to: object = goal.to
    if isinstance(to, float):
        if not 0 < to < 1:  # not a number is in no range
            raise InvalidOption("to", to, why="a share lies between 0 and 1; give tokens as a whole number")
        return int(tokens * to)
    if (whole := whole_number(to)) is None or whole <= 0:
        why = "give tokens as a whole number above 0 (20_000), or a share as a float between 0 and 1 (0.25)"
        raise InvalidOption("to", to, why=why)
    return whole


def _least(target: int, goal: Goal, *, tokens_fixed: int) -> int:
    """What is left to the messages at least: a quarter of the target, or a third of what there is up to the threshold, or where that is
    passed without them, up to the window. A fold that has no room says nothing of what users ruled."""
    room = goal.room
    most = int(goal.policy.threshold.tokens(room) / goal.scale)
    if most <= tokens_fixed:
        output = room.output_max if room.output_cap is None else room.output_cap
        most = int((room.window - (output or 0)) / goal.scale)
    return max(0, min(target // LEFT_OF_TARGET, (most - tokens_fixed) // LEFT_TO_LINE))


def find_pins(view: View, pins: Sequence[int | str]) -> frozenset[int]:
    """Ordinals of the messages that pins name: an ordinal, a message's or a call's id, or text that a message holds,
    the arguments of its calls included. Raises `InvalidOption` for a pin that finds nothing, since a silent miss would
    lose what it was to keep."""
    found: set[int] = set()
    for pin in pins_of(pins):
        hits = {item.seq for item in view if _is_pinned(item, pin)}
        if not hits:
            raise InvalidOption("pin", pin, why=NOT_PINNED)
        found |= hits
    return frozenset(found)


def pins_of(pins: object) -> tuple[int | str, ...]:
    """Pins as they may be given: several, each an ordinal or a text with a visible character. Raises `InvalidOption`."""
    if isinstance(pins, (str, bytes, Mapping)) or not isinstance(pins, Iterable):
        raise InvalidOption("pins", pins, why="give a list of ordinals, ids or texts, a single one too")
    given = tuple(pins)
    for pin in given:
        if isinstance(pin, bool) or not isinstance(pin, (int, str)):
            raise InvalidOption("pin", pin, why="give a whole number (an ordinal) or a text (an id or words)")
        if isinstance(pin, str) and not pin.strip():
            raise InvalidOption(
                "pin", pin, why="every message would match; give words of the message to keep"
            )
    return given


def _is_pinned(item: Item, pin: int | str) -> bool:
    if isinstance(pin, int):
        return item.seq == pin
    ids = (pin, fit_id(pin))  # one that the provider refuses has another in a view
    if item.message.meta is not None and item.message.meta.id == pin:
        return True
    for part in item.message.parts:
        if isinstance(part, Text) and pin in part.text:
            return True
        if isinstance(part, ToolResult) and (part.call_id in ids or pin in result_text(part)):
            return True
        if isinstance(part, ToolCall) and (part.id in ids or _is_argument(part, pin)):
            return True
    return False


def _is_argument(call: ToolCall, pin: str) -> bool:
    """True when the text stands in a call's arguments, as they were written or as JSON spells it."""
    spelt = json.dumps(pin)[1:-1], json.dumps(pin, ensure_ascii=False)[1:-1]
    return pin in call.arguments or any(text in call.arguments for text in spelt)


def _unchanged(history: History, report: Report, *, reason: str) -> Reduced:
    report = replace(
        report,
        reason=reason,
        tokens_after=history.tokens,
        messages_after=len(history.view),
        cache=cache_of(history.view, history.view, fixed=history.tokens_fixed),
    )
    return Reduced(before=history, pins=frozenset(), view=history.view, edits=(), report=report)


def _compacted(history: History, done: Compacted, *, report: Report, goal: Goal, frame: Frame) -> Reduced:
    view, edits = done.view, done.edits
    tokens = view.tokens + history.tokens_fixed
    target = report.tokens_target if report.tokens_target is not None else tokens
    reached = tokens <= target or (done.rests and goal.to is None)
    covers = covers_of(edits, view)
    folds = [edit for edit in edits if isinstance(edit, Fold)]
    gone = {seq for fold in folds for seq in seqs_in(fold.spans)}
    evicted = sum(item.tokens for item in history.view if item.seq in gone)
    written = {id(edit): step.asked for step in done.steps if step.asked for edit in step.edits}
    kinds = list(map(_says, folds))
    seen = sum(
        _seen(fold, history, kind=kind, counter=frame.counter)
        for fold, kind in zip(folds, kinds, strict=True)
        if id(fold) not in written
    )
    seen += sum(step.asked.tokens_seen for step in done.steps if step.asked)
    report = replace(
        report,
        outcome="compacted" if reached else "unreachable",
        reason=None if reached else _why_unreached(history, view, goal=goal, frame=frame, target=target),
        tokens_after=tokens,
        messages_after=len(view),
        covers=covers,
        summary=replace(
            report.summary,
            kind="model" if folds and written.get(id(folds[-1])) else next(reversed(kinds), None),
            evicted_tokens=evicted,
            seen_tokens=min(seen, evicted),
        ),
        cache=cache_of(history.view, view, fixed=history.tokens_fixed),
    )
    return Reduced(before=history, pins=frame.pins, view=view, edits=edits, report=report)


def _says(fold: Fold) -> str:
    """What kind of fold it is."""
    if fold.message.synthetic == "notice":
        return "notice"
    return "template" if _TEMPLATE.search(fold.message.text) else "ledger"


def _seen(fold: Fold, history: History, *, kind: str, counter: TokenCounter) -> int:
    """Tokens of what a fold covers that it was made from: a ledger is made from all of it, a notice or a template from what
    it quotes."""
    if kind == "ledger":
        seqs = set(seqs_in(fold.spans))
        return sum(item.tokens for item in history.view if item.seq in seqs)
    found = read_block(fold.message.text)
    return counter.text(found[2].partition("\n")[2]) if found is not None else 0


def _why_unreached(history: History, view: View, *, goal: Goal, frame: Frame, target: int) -> str:
    if target < 1:
        return (
            f"that share of {history.tokens:,} tokens is less than one token; give a larger share, or tokens"
        )
    folds = any(isinstance(tier.reduce, FoldOldest) for tier in goal.policy.tiers)
    end: str | int = FOLDED if folds else goes_no_further(goal.policy, has_model=goal.has_model)
    if folds and goal.to is not None:  # a policy's own target leaves room for what users ruled
        end = least_tokens(view, frame)
    return why_unreached(view, kept=frame.kept, tokens_fixed=history.tokens_fixed, target=target, end=end)
