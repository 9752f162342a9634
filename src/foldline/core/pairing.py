"""Pairing: every call meets its result, in its own round.

The half of `foldline.core.repair` that looks across messages. Pairs are made by round, never by id alone, since
real histories use an id again in a later round. A history whose pairs are sound comes back as it was.

    before   [a: c1 c2]  [user]  [r2]  [r9]          after   [a: c1 c2]  [r2]  [r1 interrupted]  [user]
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import count
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import (
    NEW,
    Media,
    Message,
    Opaque,
    Part,
    Text,
    ToolCall,
    ToolResult,
    calls_of,
    holds_results,
    is_blank,
    result_text,
    results_of,
)
from foldline.core.needs import Needs
from foldline.core.rounds import awaits_person
from foldline.core.spelling import free_id

RepairKind: TypeAlias = Literal[
    "interrupted-call",
    "waiting-call",
    "moved-result",
    "interim-result",
    "duplicate-result",
    "merged-result",
    "orphan-result",
    "duplicate-id",
    "refused-id",
    "refused-name",
    "blank-text",
    "empty-failure",
    "empty-message",
    "trailing-reasoning",
    "late-reasoning",
    "refused-part",
    "refused-shape",
    "kept-apart",
    "lone-surrogate",
    "no-arguments",
    "no-output",
    "first-role",
    "moved-system",
]

INTERRUPTED = "[foldline: no result; none is recorded for this call]"
WAITING = "[foldline: no result yet; the call waits for a person]"
UNCALLED = "[foldline: the result of a call that is not in this conversation, {}]"
STATUS_MAX_CHARS = 80
"""A first result no longer than this that reads like a status gives way to a later one."""
_STATUS = (
    "pending",
    "running",
    "in progress",
    "in_progress",
    "queued",
    "started",
    "working",
    "waiting",
    "accepted",
)


class Repair(Struct, frozen=True, kw_only=True, gc=False):
    """One repair, for the report."""

    kind: RepairKind
    seq: int
    """Ordinal of the message concerned."""
    why: str


class Placed(Struct, frozen=True, kw_only=True, gc=False):
    """A message with its ordinal. Messages that a repair puts in share the ordinal of the one before."""

    seq: int
    message: Message


def ours(role: Literal["user", "tool"], *parts: Part) -> Message:
    """A message that a repair puts in."""
    return Message(role=role, parts=parts, synthetic="repair", edited=True)


class _Call:
    """One call while pairs are being made. Mutable, and seen by nobody else."""

    __slots__ = ("answers", "at", "call", "id", "result", "round")

    def __init__(self, at: int, call: ToolCall, *, in_round: int) -> None:
        self.at, self.call, self.round = at, call, in_round
        self.id = call.id
        self.answers: list[tuple[int, ToolResult]] = []
        self.result: ToolResult | None = None


class _Pairs:
    """All calls of a history, the round of each message, and results without a call."""

    def __init__(self, placed: Sequence[Placed], *, needs: Needs, taken: Container[str]) -> None:
        self.calls: list[_Call] = []
        self.rounds: list[int] = []
        self.orphans: list[tuple[int, ToolResult]] = []
        self._open: dict[str, list[_Call]] = {}
        self._answered: dict[str, dict[str, _Call]] = {}
        """By id, then by the kind of the result; the latest last."""
        self._early: dict[str, list[tuple[int, ToolResult]]] = {}
        self._taken: set[str] = set()
        self._taken_before = taken
        self._ids_once, self._longest = needs.ids_once, needs.ids_max
        current, run, in_block = -1, 0, False
        for at, entry in enumerate(placed):
            message = entry.message
            if message.role == "assistant":
                before = placed[at - 1].message if at else None
                if before is None or before.role != "assistant":
                    current, run = current + 1, at
                elif needs.results_follow and calls_of(before):
                    current += 1
                in_block = True
                self._ask(at, message, current=current, run=run)
                self.rounds.append(current)
                continue
            results = results_of(message)
            for result in results:
                self._answer(at, result)
            belongs = in_block and results and message.role != "system"
            self.rounds.append(current if belongs else -1)
            in_block = in_block and len(results) == len(message.parts)  # anything else: the talk has gone on
        self.last_round, self.is_open = current, in_block
        self._attach_early()

    def _ask(self, at: int, message: Message, *, current: int, run: int) -> None:
        for call in calls_of(message):
            entry = _Call(at, call, in_round=current)
            waiting = self._open.get(call.id, [])
            same_run = [other for other in waiting if other.at >= run]
            taken = (self._taken, self._taken_before)
            if same_run or (self._ids_once and any(call.id in ids for ids in taken)):
                entry.id = _free_id(call.id, taken, longest=self._longest)
            self._taken.add(entry.id)
            earlier = [other for other in waiting if other.at < run and other.call.kind != call.kind]
            self._open[call.id] = [*earlier, *same_run, entry]
            self.calls.append(entry)

    def _answer(self, at: int, result: ToolResult) -> None:
        waiting = self._open.get(result.call_id, [])
        answered = self._answered.get(result.call_id, {})
        alike = [entry for entry in waiting if entry.call.kind == result.kind]
        if alike or (waiting and result.kind not in answered):
            may = alike or [entry for entry in waiting if entry.round == waiting[-1].round]
            entry = next((one for one in may if one.call.name == result.name), may[0])
            if not result.interim:
                waiting.remove(entry)
                answered.pop(result.kind, None)
                self._answered[result.call_id] = {**answered, result.kind: entry}
        elif answered:
            entry = answered.get(result.kind) or next(reversed(answered.values()))
        else:
            self._early.setdefault(result.call_id, []).append((at, result))
            return
        entry.answers.append((at, result))

    def _attach_early(self) -> None:
        for any_kind in (False, True):
            for entry in self.calls if self._early else ():
                if not entry.answers and (found := self._early.get(entry.call.id)):
                    kinds = {result.kind for _, result in found} if any_kind else {entry.call.kind}
                    entry.answers.extend([one for one in found if one[1].kind in kinds])
                    self._early[entry.call.id] = [one for one in found if one[1].kind not in kinds]
        self.orphans = sorted((o for found in self._early.values() for o in found), key=lambda o: o[0])

    def may_wait(self, entry: _Call, needs: Needs) -> bool:
        """True for an unanswered call of the round that is still open, where its provider lets it wait alone."""
        if not (self.is_open and entry.round == self.last_round and needs.tail_stays_open):
            return False
        return not needs.results_match or not any(
            one.answers for one in self.calls if one.round == entry.round
        )

    def in_place(self, entry: _Call) -> bool:
        """True when one result answers the call, inside the call's round."""
        return len(entry.answers) == 1 and self.rounds[entry.answers[0][0]] == entry.round

    def sound(self, needs: Needs) -> bool:
        """True when nothing has to move, go, be put in or be named."""
        return not self.orphans and all(
            entry.id == entry.call.id
            and not (needs.results_match and _is_misnamed(entry))
            and (self.in_place(entry) or (not entry.answers and self.may_wait(entry, needs)))
            for entry in self.calls
        )


def _free_id(wanted: str, taken: Sequence[Container[str]], *, longest: int | None) -> str:
    found = (free_id(wanted, number, longest=longest) for number in count(2))
    return next(id for id in found if not any(id in ids for ids in taken))


def pair(
    placed: list[Placed], needs: Needs, *, repairs: list[Repair], taken: Container[str] = frozenset()
) -> list[Placed]:
    """The history with every call answered once, in its round; appends what was done to `repairs`. `taken`: ids that stand for
    calls before it."""
    pairs = _Pairs(placed, needs=needs, taken=taken)
    if pairs.sound(needs):
        return _results_first(placed, repairs) if needs.results_role == "user" else placed
    settled = _settle(placed, pairs, needs=needs, repairs=repairs)
    out: list[Placed] = []
    for at, entry in enumerate(placed):
        kept = settled.kept(at, entry.message)
        if kept is not None:
            out.append(entry if kept is entry.message else Placed(seq=entry.seq, message=kept))
        ends = (
            at + 1 == len(placed)
            or placed[at + 1].message.role != "assistant"
            or pairs.rounds[at + 1] != pairs.rounds[at]
        )
        if entry.message.role == "assistant" and ends:
            out.extend(settled.added.get(pairs.rounds[at], ()))
    if not any(pairs.may_wait(entry, needs) for entry in pairs.calls if not entry.answers):
        _tell_newest(out, placed, pairs=pairs)
    return _results_first(out, repairs) if needs.results_role == "user" else out


def _tell_newest(out: list[Placed], placed: list[Placed], *, pairs: _Pairs) -> None:
    """The last message is what the next answer is about: a result in it whose call is gone is told as a text of ours, in front of what
    the user says beside it. It stays a tool's word, and nobody's request. Where the user has gone on, or a call still waits for its result, it is nothing
    any more."""
    spoken = (
        at for at, one in enumerate(placed) if one.message.role == "assistant" or _is_words(one.message)
    )
    newest = 1 + max(spoken, default=-1)
    told = [
        Placed(seq=placed[at].seq, message=ours("user", Text(text=UNCALLED.format(orphan.call_id)), *said))
        for at, orphan in pairs.orphans
        if at >= newest and (said := [piece for piece in _foreign(orphan.content) if not is_blank(piece)])
    ]
    place = len(out)
    while told and place and out[place - 1].seq >= told[0].seq and _is_words(out[place - 1].message):
        place -= 1
    out[place:place] = told


def _is_words(message: Message) -> bool:
    return message.role == "user" and not holds_results(message)


class _Settled:
    """What becomes of each result: stays (perhaps changed), goes, or is put into a round."""

    def __init__(self) -> None:
        self.stay: dict[tuple[int, int], ToolResult] = {}
        """Results that stay where they are, by (message, identity)."""
        self.renamed: dict[int, dict[int, ToolCall]] = {}
        self.added: dict[int, list[Placed]] = {}

    def kept(self, at: int, message: Message) -> Message | None:
        renamed = self.renamed.get(at, {})
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResult) and not part.server:
                stays = self.stay.get((at, id(part)))
                if stays is not None:
                    parts.append(stays)
            else:
                parts.append(renamed.get(id(part), part) if isinstance(part, ToolCall) else part)
        if not parts:
            return None
        if len(parts) == len(message.parts) and all(
            a is b for a, b in zip(parts, message.parts, strict=True)
        ):
            return message
        return replace(message, parts=tuple(parts), edited=True)


def _settle(placed: Sequence[Placed], pairs: _Pairs, *, needs: Needs, repairs: list[Repair]) -> _Settled:
    settled = _Settled()
    for entry in pairs.calls:
        seq = placed[entry.at].seq
        if entry.id != entry.call.id:
            settled.renamed.setdefault(entry.at, {})[id(entry.call)] = replace(
                entry.call, id=entry.id, edited=True
            )
            repairs.append(
                Repair(kind="duplicate-id", seq=seq, why=f"id {entry.call.id} stood for two calls")
            )
        if not entry.answers:
            if not pairs.may_wait(entry, needs):
                settled.added.setdefault(entry.round, []).append(
                    _stand_in(entry, seq, needs=needs, repairs=repairs)
                )
            continue
        result = _final(entry, placed, repairs=repairs)
        at, first = entry.answers[0]
        if needs.results_match and _is_misnamed(entry):
            result = replace(result, name=entry.call.name, edited=True)
            why = f"the result of {entry.call.name} is called {first.name!r:.80}"
            repairs.append(Repair(kind="refused-name", seq=placed[at].seq, why=why))
        if entry.id != entry.call.id:
            result = replace(result, call_id=entry.id, edited=True)
        if pairs.rounds[at] == entry.round:
            settled.stay[at, id(first)] = result
            continue
        repairs.append(
            Repair(kind="moved-result", seq=placed[at].seq, why=f"belongs to a call of message {seq}")
        )
        settled.added.setdefault(entry.round, []).append(
            _moved(placed[at], first, result=result, needs=needs)
        )
    for at, orphan in pairs.orphans:
        repairs.append(
            Repair(kind="orphan-result", seq=placed[at].seq, why=f"no call has the id {orphan.call_id}")
        )
    return settled


def _is_misnamed(entry: _Call) -> bool:
    return bool(entry.answers) and entry.answers[0][1].name not in (None, entry.call.name)


def _stand_in(entry: _Call, seq: int, *, needs: Needs, repairs: list[Repair]) -> Placed:
    waits = awaits_person(entry.call.name)
    result = ToolResult(
        call_id=entry.id,
        name=entry.call.name,
        content=(Text(text=WAITING if waits else INTERRUPTED),),
        is_error=not waits,
        interim=waits,
        wire_id=entry.call.wire_id,
        kind=entry.call.kind,
    )
    kind: RepairKind = "waiting-call" if waits else "interrupted-call"
    repairs.append(Repair(kind=kind, seq=seq, why=f"{entry.call.name} ({entry.id}) has no result"))
    return Placed(seq=seq, message=ours(needs.results_role, result))


def _final(entry: _Call, placed: Sequence[Placed], *, repairs: list[Repair]) -> ToolResult:
    """One result out of all answers to a call, at the place of the first."""
    result = entry.answers[0][1]
    said = {(_foreign(result.content), result.is_error)}
    for at, later in entry.answers[1:]:
        seq = placed[at].seq
        content = _foreign(later.content)
        if (content, later.is_error) in said:
            repairs.append(Repair(kind="duplicate-result", seq=seq, why=f"repeats the result of {entry.id}"))
        elif _is_status(result):
            repairs.append(Repair(kind="interim-result", seq=seq, why=f"the final result of {entry.id}"))
            result = replace(
                result, content=content, is_error=later.is_error, interim=later.interim, edited=True
            )
        elif not _is_status(later):
            repairs.append(Repair(kind="merged-result", seq=seq, why=f"a second result of {entry.id}"))
            result = replace(result, content=result.content + content, edited=True)
        said.add((content, later.is_error))
    return result


def _foreign(content: tuple[Text | Media | Opaque, ...]) -> tuple[Text | Media | Opaque, ...]:
    """Content that goes into another result: its slots point into the origin it leaves."""
    return tuple(replace(piece, slot=NEW) for piece in content)


def _is_status(result: ToolResult) -> bool:
    if result.interim:
        return True
    text = result_text(result).strip().lower()
    return len(text) <= STATUS_MAX_CHARS and any(word in text for word in _STATUS)


def _moved(source: Placed, original: ToolResult, *, result: ToolResult, needs: Needs) -> Placed:
    if result is original and len(source.message.parts) == 1 and source.message.role != "system":
        return source
    return Placed(seq=source.seq, message=ours(needs.results_role, result))


def _results_first(placed: list[Placed], repairs: list[Repair]) -> list[Placed]:
    """Results stand before everything else in the message that carries them, as Anthropic demands."""
    out: list[Placed] = []
    for entry in placed:
        parts = entry.message.parts
        split = sorted(parts, key=lambda p: not isinstance(p, ToolResult))
        if entry.message.role == "user" and any(a is not b for a, b in zip(parts, split, strict=True)):
            repairs.append(
                Repair(kind="moved-result", seq=entry.seq, why="stood behind text in its own message")
            )
            entry = Placed(seq=entry.seq, message=replace(entry.message, parts=tuple(split), edited=True))
        out.append(entry)
    return out
