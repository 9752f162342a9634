"""The laws: what must hold of every view and every edit, one row each.

A row has an id, its sentence, where it is checked, and a check. Two kinds of checks stand here: of a history by
itself (`check`), and of an edit, before against after (`judge`). The rows that concern bytes, logs and whole runs
are checked where those exist and named here so that the table is complete. A new provider rule is a new value in
`Needs` or a new row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from foldline.core.address import read_block, read_mark
from foldline.core.message import (
    NEW,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    calls_of,
    is_blank,
    is_empty_failure,
    may_open,
    results_of,
    speaks_for_user,
)
from foldline.core.needs import Needs
from foldline.core.pairing import Placed
from foldline.core.rounds import Unit
from foldline.core.system_place import misplaced
from foldline.core.view import Item


class Violation(Struct, frozen=True, kw_only=True, gc=False):
    """One broken law, with its place."""

    law: str
    at: str
    """`message 12` or `message 12, part 3`, ordinals from 0."""
    why: str


class Change(Struct, frozen=True, kw_only=True):
    """An edit as the laws see it: both views, and what had to stay."""

    before: tuple[Item, ...]
    after: tuple[Item, ...]
    pins: frozenset[int]
    open_round: frozenset[int]
    units: tuple[Unit, ...]
    """Of the view before."""


Standing: TypeAlias = Placed | Item
"""A message with its ordinal, in a view or on the way there."""
HistoryCheck: TypeAlias = Callable[[Sequence[Standing], Needs], Iterator[Violation]]
ChangeCheck: TypeAlias = Callable[[Change], Iterator[Violation]]


class Law(Struct, frozen=True, kw_only=True):
    """One row."""

    id: str
    sentence: str
    holds: Literal["history", "change", "codec", "engine", "log"]
    """Where it is checked."""
    of_history: HistoryCheck | None = None
    of_change: ChangeCheck | None = None


def _at(seq: int, slot: int | None = None) -> str:
    return f"message {seq}" if slot is None else f"message {seq}, part {slot}"


# ── of a history ─────────────────────────────────────────────────────────────────────────────────────────────


def _pair(history: Sequence[Standing], needs: Needs) -> Iterator[Violation]:
    waiting: dict[str, int] = {}
    asking = answered = False
    for placed in history:
        message = placed.message
        if message.role == "assistant":
            if needs.results_follow or not asking:
                yield from _unanswered(waiting)
                waiting, answered = {}, False
            asking = True
            for call in calls_of(message):
                if call.id in waiting:
                    yield Violation(
                        law="PAIR", at=_at(placed.seq), why=f"id {call.id} stands for two calls of a round"
                    )
                waiting[call.id] = placed.seq
            continue
        results = results_of(message)
        asking = False
        for result in results:
            answered = True
            if waiting.pop(result.call_id, None) is None:
                yield Violation(
                    law="PAIR",
                    at=_at(placed.seq),
                    why=f"a result for {result.call_id}, which no call of its round has",
                )
        if len(results) < len(message.parts):  # anything else in it: the conversation has gone on
            yield from _unanswered(waiting)
            waiting = {}
    if not needs.tail_stays_open or (answered and needs.results_match):
        yield from _unanswered(waiting)


def _unanswered(waiting: dict[str, int]) -> Iterator[Violation]:
    for call_id, seq in waiting.items():
        yield Violation(law="PAIR", at=_at(seq), why=f"call {call_id} has no result in its round")


def _role(history: Sequence[Standing], needs: Needs) -> Iterator[Violation]:
    opened = False
    before: Message | None = None
    for placed in history:
        message = placed.message
        if message.role == "system":
            before = message
            continue
        if not opened and not may_open(message, needs.first):
            yield Violation(
                law="ROLE", at=_at(placed.seq), why=f"a history may not open with role {message.role}"
            )
        opened = True
        if not _is_plain(message):
            yield from _content(placed, needs)
        if not needs.empty_failure and any(map(is_empty_failure, message.parts)):
            yield Violation(law="ROLE", at=_at(placed.seq), why="a failed result without content")
        if needs.alternates and before is not None and before.role == message.role:
            yield Violation(
                law="ROLE", at=_at(placed.seq), why=f"two messages of role {message.role} in a row"
            )
        before = message
    if not needs.reasoning_may_end:
        yield from _reasoning(history, needs)
    if needs.system_between:
        for at, why in misplaced([placed.message for placed in history]):
            yield Violation(law="ROLE", at=_at(history[at].seq), why=why)


def _reasoning(history: Sequence[Standing], needs: Needs) -> Iterator[Violation]:
    """Reasoning that ends an assistant message or, where a message is one item, a run of them."""
    for at, placed in enumerate(history):
        message = placed.message
        if message.role != "assistant" or not message.parts or not isinstance(message.parts[-1], Reasoning):
            continue
        goes_on = needs.items and at + 1 < len(history) and history[at + 1].message.role == "assistant"
        if not goes_on:
            yield Violation(law="ROLE", at=_at(placed.seq), why="reasoning that nothing follows")


def _is_plain(message: Message) -> bool:
    """True for a message about whose content there is nothing to say, as nearly all are: nothing in it is blank, and
    no result can stand behind anything else."""
    parts = message.parts
    return bool(parts) and (len(parts) == 1 or message.role != "user") and not any(map(is_blank, parts))


def _content(placed: Standing, needs: Needs) -> Iterator[Violation]:
    message = placed.message
    if all([is_blank(part) for part in message.parts]):
        yield Violation(law="ROLE", at=_at(placed.seq), why="a message without content")
        return
    after_text = False
    for index, part in enumerate(message.parts):
        if is_blank(part) and not needs.take_blank(message):
            yield Violation(law="ROLE", at=_at(placed.seq, index), why="a text without a visible character")
        if (
            isinstance(part, ToolResult)
            and after_text
            and message.role == "user"
            and needs.results_role == "user"
        ):
            yield Violation(
                law="ROLE", at=_at(placed.seq, index), why="a result behind other content of its message"
            )
        after_text = after_text or not isinstance(part, ToolResult)


def _trace(history: Sequence[Standing], needs: Needs) -> Iterator[Violation]:
    for placed in history:
        kind = placed.message.synthetic
        if kind in ("fold", "notice") and not any(
            isinstance(part, Text) and read_block(part.text) is not None for part in placed.message.parts
        ):
            yield Violation(
                law="TRACE", at=_at(placed.seq), why="a synthetic message without the address it stands for"
            )


# ── of a change ──────────────────────────────────────────────────────────────────────────────────────────────


def _round(change: Change) -> Iterator[Violation]:
    remaining = {item.seq for item in change.after if not item.covers}
    if remaining.issuperset([item.seq for item in change.before]):
        return
    for unit in change.units:
        seqs = [item.seq for item in change.before[unit.start : unit.end]]
        stay = [seq for seq in seqs if seq in remaining]
        if stay and len(stay) < len(seqs):
            why = f"messages {_list({*seqs})} belong together"
            yield Violation(law="ROUND", at=_at(min(seqs)), why=why)


def _cut(change: Change) -> Iterator[Violation]:
    same = {id(item) for item in change.before}
    edited = [item for item in change.after if id(item) not in same and not item.covers]
    places = {item.seq for item in edited}
    before = [item for item in change.before if item.seq in places]
    originals = {
        (item.seq, part.slot): part for item in before for part in item.message.parts if part.slot != NEW
    }
    for item in edited:
        for part in item.message.parts:
            was = originals.get((item.seq, part.slot))
            if part.slot == NEW and _is_mark(part, item.message):
                continue
            if was is None or type(was) is not type(part):
                yield Violation(
                    law="CUT", at=_at(item.seq, part.slot), why="a replacement keeps its part's kind"
                )
            elif isinstance(part, ToolResult) and isinstance(was, ToolResult) and part.call_id != was.call_id:
                yield Violation(
                    law="CUT", at=_at(item.seq, part.slot), why="a replacement keeps its part's pair"
                )
            elif isinstance(part, ToolCall) and isinstance(was, ToolCall) and part.id != was.id:
                yield Violation(
                    law="CUT", at=_at(item.seq, part.slot), why="a replacement keeps its part's pair"
                )


def _is_mark(part: Part, message: Message) -> bool:
    """True for what may be added to a user's words: a line that says what supersedes them."""
    return message.role == "user" and isinstance(part, Text) and read_mark(part.text) is not None


def _tail(change: Change) -> Iterator[Violation]:
    last = next((item for item in reversed(change.before) if speaks_for_user(item.message)), None)
    if last is not None and sum([_says_the_same(i, last) for i in change.after if i.seq == last.seq]) != 1:
        yield Violation(
            law="TAIL", at=_at(last.seq), why="the last user message stands verbatim exactly once"
        )
    after: dict[int, list[Item]] = {}  # a line that a repair put in shares the ordinal of its neighbour
    for item in change.after:
        if item.seq in change.open_round and not item.covers:
            after.setdefault(item.seq, []).append(item)
    for item in change.before:
        if item.seq not in change.open_round:
            continue
        remaining = after.get(item.seq)
        now = remaining.pop(0) if remaining else None
        if now is None or len(now.message.parts) != len(item.message.parts):
            yield Violation(law="TAIL", at=_at(item.seq), why="the open round is never taken apart")
            continue
        for was, part in zip(item.message.parts, now.message.parts, strict=True):
            if was is not part and not isinstance(part, ToolResult):
                yield Violation(
                    law="TAIL", at=_at(item.seq, part.slot), why="only a result may be clamped here"
                )


def _says_the_same(now: Item, was: Item) -> bool:
    """True for the same message, each word and image of it; where results travel in user messages, a result beside the
    words may have been shortened."""
    if now.covers:
        return False
    parts, before = now.message.parts, was.message.parts
    return len(parts) == len(before) and all(
        a is b or isinstance(b, ToolResult) for a, b in zip(parts, before, strict=True)
    )


def _pin(change: Change) -> Iterator[Violation]:
    after = {(item.seq, id(item.message)) for item in change.after if item.seq in change.pins}
    for item in change.before:
        if item.seq in change.pins and (item.seq, id(item.message)) not in after:
            yield Violation(law="PIN", at=_at(item.seq), why="a pinned message survives verbatim")


def _prefix(change: Change) -> Iterator[Violation]:
    """Where the views part, nothing before may differ: an untouched message is the same object, hence the same bytes."""
    kept = [id(item) for item in change.after]
    was = {id(item): n for n, item in enumerate(change.before)}
    places = [was[key] for key in kept if key in was]
    if places != sorted(places):
        yield Violation(law="PREFIX", at="the view", why="messages changed their order")


def _list(unit: Iterable[int]) -> str:
    return ", ".join(str(seq) for seq in sorted(unit))


LAWS: tuple[Law, ...] = (
    Law(
        id="PAIR",
        sentence="every result has its call, every call of a closed round its result; pairs are made by round, never by id alone",
        holds="history",
        of_history=_pair,
    ),
    Law(
        id="ROUND",
        sentence="a round, with the signed reasoning that belongs to it, is kept or folded whole: drops and folds begin and end at cut points",
        holds="change",
        of_change=_round,
    ),
    Law(
        id="CUT",
        sentence="a replacement keeps its part's kind and id; nothing is added but a mark behind a user's words",
        holds="change",
        of_change=_cut,
    ),
    Law(
        id="TAIL",
        sentence="the last user message stands verbatim exactly once; of the open round only a result is clamped",
        holds="change",
        of_change=_tail,
    ),
    Law(
        id="ROLE",
        sentence="the order of roles, the first role and non-empty content are what the target format demands",
        holds="history",
        of_history=_role,
    ),
    Law(id="PIN", sentence="pinned parts survive verbatim", holds="change", of_change=_pin),
    Law(
        id="PREFIX",
        sentence="bytes before the first edited message are the same as in the request before",
        holds="change",
        of_change=_prefix,
    ),
    Law(id="ONCE", sentence="one prefix break per compaction", holds="engine"),
    Law(
        id="LOSSLESS",
        sentence="what was not edited is encoded byte for byte as it was decoded; unknown parts pass through",
        holds="codec",
    ),
    Law(id="LOG", sentence="the log is append-only; any prefix of it loads", holds="log"),
    Law(id="REPLAY", sentence="projecting the log gives the view the session had", holds="log"),
    Law(
        id="SAME",
        sentence="same input and settings, same bytes: no clock, no randomness, no set order",
        holds="engine",
    ),
    Law(
        id="GAIN",
        sentence="an applied compaction shrinks the view by at least the declared minimum, and reports by how much",
        holds="engine",
    ),
    Law(
        id="TRACE",
        sentence="every synthetic message names what it covers and how to get it back",
        holds="history",
        of_history=_trace,
    ),
    Law(
        id="END",
        sentence="a request triggers each tier at most once; the last one reaches the target or says exactly why not",
        holds="engine",
    ),
)
"""Every law, in the order of the table in `ARCHITECTURE.md`."""


def check(history: Sequence[Standing], needs: Needs) -> tuple[Violation, ...]:
    """Every law a history breaks by itself; empty when it may be sent."""
    return tuple(v for law in LAWS if law.of_history is not None for v in law.of_history(history, needs))


def judge(change: Change) -> tuple[Violation, ...]:
    """Every law an edit breaks."""
    return tuple(v for law in LAWS if law.of_change is not None for v in law.of_change(change))
