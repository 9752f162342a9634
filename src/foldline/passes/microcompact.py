"""Microcompact: old tool results give way to a placeholder of about twenty tokens. Counterpart: `budget_reduction`,
which cuts one large result whatever its age. Knows results and their calls, never a clock (law SAME)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from foldline.core.address import has_notice, is_notice
from foldline.core.bounds import Positive, Seconds, Share, Whole
from foldline.core.edit import Edit, Frame, Plan, Replace
from foldline.core.json_text import sorted_json
from foldline.core.message import ToolResult, result_text
from foldline.core.ports import Moment
from foldline.core.rounds import newest_units_start, outline_of
from foldline.core.view import View
from foldline.ledger.index import indexes
from foldline.ledger.tools import ToolKind, rank
from foldline.passes.results import Found, cleared, find_results
from foldline.passes.shorten import fact_cache, prices_of

PLACEHOLDER_TOKENS = 40
"""About what a placeholder and the envelope of its result cost."""
CARRY_DIVISOR = 4
"""Facts of a cleared result take at most this fraction of what it was."""
CARRY_STEP = 8
"""Room for facts comes in such steps, so that it seldom changes when a history comes back longer."""
SMALL_TOKENS = 100
"""A larger result is certain to shrink by its placeholder; of a smaller one this is counted (requirement MIC-9)."""
STUB_SHARE = 0.5
"""A later read of the same file smaller than this share of the earlier one is a stub that points back to it."""
NOTICES_MAX = 4_000
"""Notices that are remembered with their results, beyond those of the last compaction."""


class Microcompact(Struct, frozen=True, kw_only=True):
    """Clear old results.

        [call a][result a ████] [call b][result b ████] [user]  →  [call a][‹a cleared›] [call b][result b ████] [user]

    Costs: O(messages). Breaks the cache from the oldest result it clears, so it runs in batches: by count of calls,
    after an idle time (the cache has expired anyway), or down to a target. Reach for it before anything that drops
    what was said: old output is what agents miss least. Re-running changes nothing already sent (requirement MIC-7).
    """

    name: str = "microcompact"
    keep_results: Whole = 5
    """The newest results stay (requirement MIC-8)."""
    keep_rounds: Whole | None = None
    """Where set, the results of the newest rounds with tools stay instead (requirement MIC-5)."""
    kinds: frozenset[ToolKind] | None = None
    """Only these tools' results go; `None`: all."""
    first_calls: Whole | None = None
    """Runs from this many calls in the session …"""
    every_calls: Positive = 25
    """… and again after each so many more (requirement MIC-2); between, nothing new is cleared."""
    idle_from_s: Seconds | None = None
    """Runs when the session was idle for at least this long, whatever the count (requirement MIC-4)."""
    idle_over_s: Seconds | None = None
    """Runs when the session was idle for longer than this (requirement MIC-5)."""
    to_target: bool = False
    """Runs when the view is over its target, and stops when it is met: copies first, then read-only successes, writes,
    errors, each oldest first. Without it every old result goes."""
    keep_share: Share = 0.0
    """Results inside the newest rounds that fit into this share of the target stay too (only with `to_target`), so
    that what is kept whole at the end is whole."""
    carry_tokens: Whole = 0
    """Tokens for facts of the result beside its placeholder (only with `to_target`)."""
    only_enough: bool = False
    """Clears nothing where clearing alone, with the facts that are carried, does not meet the target (only with
    `to_target`): the next tier folds old rounds then, says more of their facts in one place, and leaves the rest whole."""
    duplicates: bool = True
    """Of several reads with the same arguments the newest stays (only with `to_target`)."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """One edit for each result to clear; empty when the pass is not due."""
        structure = outline_of(view)
        results = find_results(structure)
        if self.to_target:
            newest = newest_units_start(structure, moment.tokens_target, share=self.keep_share)
            return self._to_target(
                [f for f in results if f.round < newest], results, moment=moment, frame=frame
            )
        if self._is_idle(moment):
            old = self._old(results)
        elif self.first_calls is not None:
            old = self._old(results[: self._counted(len(results), moment)])
        else:
            return Plan()
        return Plan(edits=tuple(self._clear(old, frame)))

    def _is_idle(self, moment: Moment) -> bool:
        if moment.idle_s is None:
            return False
        from_reached = self.idle_from_s is not None and moment.idle_s >= self.idle_from_s
        return from_reached or (self.idle_over_s is not None and moment.idle_s > self.idle_over_s)

    def _counted(self, shown: int, moment: Moment) -> int:
        """How many of the view's results belong to calls up to the last count that made the pass due."""
        calls = moment.calls if moment.calls is not None else shown
        if self.first_calls is None or calls < self.first_calls:
            return 0
        due = calls - (calls - self.first_calls) % self.every_calls
        return max(0, shown - (calls - due))

    def _old(self, results: tuple[Found, ...]) -> tuple[Found, ...]:
        if self.keep_rounds is not None:
            rounds = sorted({found.round for found in results})
            newest = set(rounds[len(rounds) - self.keep_rounds :]) if self.keep_rounds else set()
            return tuple(found for found in results if found.round not in newest)
        return results[: max(0, len(results) - self.keep_results)]

    def _clear(self, old: Iterable[Found], frame: Frame) -> Iterable[Edit]:
        edits = (_cleared(found, "cleared", frame=frame) for found in old if self._may_go(found, frame))
        return (edit for edit in edits if edit is not None)

    def _may_go(self, found: Found, frame: Frame) -> bool:
        return (
            found.movable and found.seq not in frame.kept and (self.kinds is None or found.kind in self.kinds)
        )

    def _to_target(
        self, before: Sequence[Found], results: tuple[Found, ...], *, moment: Moment, frame: Frame
    ) -> Plan:
        excess = moment.tokens_excess
        if excess <= 0 or (self.only_enough and sum(map(_frees_most, before)) < excess):
            return Plan()
        reads = _reads(results)
        copies = _copies(reads) if self.duplicates else {}
        held = _pointed_at(reads)
        keep = set(map(id, results[len(results) - self.keep_results :] if self.keep_results else ()))
        old = [f for f in before if id(f) not in keep and id(f) not in held and self._may_go(f, frame)]
        old.sort(key=lambda f: (-1 if id(f) in copies else rank(f.kind, is_error=f.part.is_error), f.round))
        # where clearing is not enough, the old rounds are folded next, and the ledger looks for their facts
        freed = sum([found.tokens - PLACEHOLDER_TOKENS for found in old])
        carry = self.carry_tokens if freed >= excess else 0
        if self.only_enough and freed - sum([_carried_by(found, carry) for found in old]) < excess:
            return Plan()
        going: list[Found] = []
        for found in old:
            if excess <= 0:
                break
            going.append(found)
            excess -= found.tokens - PLACEHOLDER_TOKENS - _carried_by(found, carry)
        # the last one frees more than it must: facts may have that too
        spare = max(0, -excess) if carry else 0
        whole = sum(found.tokens for found in going)
        rooms = [carry + spare * found.tokens // whole if carry else 0 for found in going]
        whys = [
            "cleared" if (newest := copies.get(id(found))) is None else f"read again in message {newest.seq}"
            for found in going
        ]
        edits = _with_facts(going, whys, rooms=rooms, frame=frame)
        return Plan(edits=tuple([edit for edit in edits if edit is not None]))


class _Notice(Struct, frozen=True, kw_only=True, gc=False):
    """What became of a result that was to be cleared."""

    part: ToolResult
    """Held, so that no other part has its identity."""
    edit: Replace | None


def _with_facts(
    going: Sequence[Found], whys: Sequence[str], *, rooms: Sequence[int], frame: Frame
) -> list[Replace | None]:
    """`_cleared` for many results, with lines of facts in the room of each. Remembered for the next compactions: a part never
    changes, and neither does its notice."""
    before: dict[Any, _Notice] = frame.memo.get("notices", {})
    keys = [
        (id(found.part), found.seq, why, _stepped(_carried_by(found, room)), frame.counter.name)
        for found, why, room in zip(going, whys, rooms, strict=True)
    ]
    new = [place for place, key in enumerate(keys) if key not in before]
    lines = _carried([going[place] for place in new], [keys[place][3] for place in new], frame=frame)
    now = {key: before[key] for key in keys if key in before}
    for place, facts in zip(new, lines, strict=True):
        edit = _cleared(going[place], whys[place], frame=frame, facts=facts)
        now[keys[place]] = _Notice(part=going[place].part, edit=edit)
    both = before | now
    frame.memo["notices"] = both if len(both) <= NOTICES_MAX else now
    return [now[key].edit for key in keys]


def _cleared(found: Found, why: str, *, frame: Frame, facts: Sequence[str] = ()) -> Replace | None:
    """The edit that clears a result; `None` for one that its placeholder would not shrink, or that is one already."""
    if is_notice(result_text(found.part).partition("\n")[0]):
        return None
    edit = cleared(found, why, frame=frame, facts=facts)
    return edit if found.tokens > SMALL_TOKENS or frame.counter.part(edit.part) < found.tokens else None


def _carried(going: Sequence[Found], rooms: Sequence[int], *, frame: Frame) -> list[tuple[str, ...]]:
    """Lines of facts for each result that is cleared, out of the result as it came in: an earlier pass may have cut it.
    Remembered for the next compaction: a history that comes back longer, in messages read anew, has the same results
    cleared again."""
    if not any(rooms):
        return [()] * len(going)
    texts = [result_text(frame.original_of(found.seq, found.part)) for found in going]
    asked = [(text, room, frame.counter.name) for text, room in zip(texts, rooms, strict=True)]
    before: dict[tuple[str, int, str], tuple[str, ...]] = frame.memo.get("carried", {})
    new = list(dict.fromkeys([one for one in asked if one not in before]))
    facts = fact_cache(frame)
    facts.learn([text for text, _, _ in new])
    lines = indexes([(facts.found(text), room) for text, room, _ in new], prices=prices_of(frame))
    made = dict(zip(new, map(tuple, lines), strict=True))
    frame.memo["carried"] = {one: made[one] if one in made else before[one] for one in asked}
    return [frame.memo["carried"][one] for one in asked]


def _frees_most(found: Found) -> int:
    """What clearing a result frees where it may be cleared and carries nothing."""
    return max(0, found.tokens - PLACEHOLDER_TOKENS)


def _carried_by(found: Found, room: int) -> int:
    """What facts of a result may take beside its placeholder, of the room there is."""
    return min(room, found.tokens // CARRY_DIVISOR)


def _stepped(room: int) -> int:
    return room - room % CARRY_STEP


def _reads(results: Iterable[Found]) -> list[tuple[Found, tuple[str, str]]]:
    """Results that read a file, newest last, each with what it read."""
    return [(found, key) for found in results if (key := _same_read(found)) is not None]


def _same_read(found: Found) -> tuple[str, str] | None:
    if found.kind != "file_read" or found.part.is_error or not found.arguments:
        return None
    return (found.name, sorted_json(found.arguments))


def _copies(reads: Sequence[tuple[Found, tuple[str, str]]]) -> dict[int, Found]:
    """Results that a later read of the same thing repeats, with that read. A later stub ("unchanged since …") repeats
    nothing (NousResearch/hermes-agent#90949)."""
    newest: dict[tuple[str, str], Found] = {}
    copies: dict[int, Found] = {}
    for found, key in reversed(reads):
        if has_notice(result_text(found.part)):
            continue
        later = newest.get(key)
        if later is None:
            newest[key] = found
        elif later.tokens >= found.tokens * STUB_SHARE:
            copies[id(found)] = later
    return copies


def _pointed_at(reads: Sequence[tuple[Found, tuple[str, str]]]) -> frozenset[int]:
    """Results that a later stub of the same read points back to: they are the only full copy in view."""
    newest: dict[tuple[str, str], Found] = {}
    held: set[int] = set()
    for found, key in reversed(reads):
        later = newest.get(key)
        if (
            later is not None
            and later.tokens < found.tokens * STUB_SHARE
            and not has_notice(result_text(later.part))
        ):
            held.add(id(found))
        else:
            newest[key] = found
    return frozenset(held)
