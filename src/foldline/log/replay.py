"""Replay: what the entries of a log come to. Who reads single entries for what they are about (audit, recall) asks nobody here.

    log     m0 m1 m2 m3 │ compaction {fold 1–2} │ m4          view    m0 [fold 1–2] m3 m4

Entries are a chain, each with the one before it; a `rollback` has an earlier one before it, so that what lies between is
no longer on the chain. Messages of the chain are taken in order, and the edits of each compaction that no later `undo`
or `unfold` of the chain takes back are applied where it stands (law REPLAY).

    m0 m1 m2 rollback{to 0} m3        chain m0 ◄─ rollback ◄─ m3

Used entry by entry while a session runs, from a checkpoint when it is opened again (`resume`), and over a whole file by
its reader. Pure: pages come in as a port, and nothing is written. `docs/reference/log-format.md` is the same in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, takewhile
from typing import Final, cast

from msgspec.structs import replace

from foldline.core.edit import Drop, Edit, edited
from foldline.core.entry import Draft, Entry
from foldline.core.errors import UnknownFormat
from foldline.core.message import Message, Meta, Part, Usage, calls_of
from foldline.core.ports import Pages, TokenCounter
from foldline.core.received import received
from foldline.core.view import Item, View, item_of, view_of
from foldline.log.anchors import after_edits, after_message, after_usage, dropped
from foldline.log.chain import Beyond, Voided, chain_of, unreadable
from foldline.log.checkpoint import Reading, is_full, read_checkpoint
from foldline.log.edits import batches, refuse_nowhere
from foldline.log.failures import failures_after, stalled_after
from foldline.log.handoff import KIND as HANDOFF
from foldline.log.handoff import found_at, taken_in
from foldline.log.kinds import KINDS, checkpoint
from foldline.log.state import (
    ROOT,
    SUPPRESSED,
    Applied,
    Places,
    State,
)
from foldline.log.values import (
    members,
    read_bytes,
    read_edits,
    read_message,
    read_scope,
    read_system,
    read_usage,
)
from foldline.wire import strict

SHAPING: Final = frozenset(("message", "compaction", "edit", "undo", "unfold", "rollback", "system", "tools"))
"""Kinds that a request depends on: a revision covers them."""
REVISION_BYTES: Final = 16


class Weightless:
    """A counter for a projection that nobody weighs."""

    name = "none"

    def part(self, part: Part) -> int:
        return 0

    def weights_of(self, messages: Sequence[Message]) -> list[tuple[tuple[int, ...], int]]:
        return [self.weights(message) for message in messages]

    def weights(self, message: Message) -> tuple[tuple[int, ...], int]:
        return (0,) * len(message.parts), 0


WEIGHTLESS: Final = cast(TokenCounter, Weightless())


class Replay:
    """A state, and what it takes to go on from it. `counter` weighs what a view holds. `keep`: collect every message in
    `history`, whoever sees it. `lives`: by ordinal, messages as a running session has them where its log holds less."""

    def __init__(
        self,
        *,
        counter: TokenCounter = WEIGHTLESS,
        keep: bool = False,
        lives: Mapping[int, Message] | None = None,
    ) -> None:
        self.state = State()
        self.counter = counter
        self.lives: Mapping[int, Message] = lives if lives is not None else {}
        self.places: Places = {}
        self.history: list[Message] = []
        self.unknown: Counter[str] = Counter()
        """Entries of kinds that this version does not know."""
        self._keep = keep

    def run(self, entries: Iterable[Entry]) -> State:
        """Take in entries; those that the state has seen change nothing (requirement JRN-14). Raises `SessionCorrupt` for
        one that cannot be read, and `Beyond` for one that takes back what lies before the first."""
        given = [entry for entry in entries if entry.seq > self.state.seq]
        on_chain, voided = chain_of(given, after=self.state.seq)
        for entry, counts in zip(given, on_chain, strict=True):
            if counts:
                self.state = self.step(entry, voided=voided)
            elif entry.kind == "message":
                self._pass_over(entry)
        return self.state

    def proved(self, draft: Draft) -> Message | None:
        """What a message entry says; `None` for another. Raises `ValueError`, `LookupError` or `TypeError` for one that could not be
        read again: what is appended stays, and one such entry would close the whole log. Changes nothing."""
        match draft.kind:
            case "message":
                return read_message(draft.body)
            case "compaction" | "edit":
                read_edits(members(draft.body)["edits"])
            case _:
                take = KINDS.get(draft.kind)
                if take is not None:
                    take(
                        self.state, Entry(seq=self.state.seq + 1, kind=draft.kind, body=draft.body, offset=0)
                    )
        return None

    def step(self, entry: Entry, *, voided: Voided | None = None, read: Message | None = None) -> State:
        """The state after one entry of the chain; this replay's own stays as it is. `read`: the message of its very bytes, where that was
        read before. Raises `SessionCorrupt`."""
        state = replace(self.state, seq=entry.seq, since=self.state.since + 1)
        if entry.kind in SHAPING:
            sha = sha256(state.revision)
            sha.update(entry.kind.encode() + b"\0" + entry.body)
            state = replace(state, revision=sha.digest()[:REVISION_BYTES])
        try:
            if entry.kind == "message":
                stored = read_message(entry.body) if read is None else read
                return self._message(state, entry, stored=stored)
            return self._taken(state, entry, voided=voided or Voided())
        except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat) as error:
            raise unreadable(entry, error) from error

    def _pass_over(self, entry: Entry) -> None:
        """A message that is no longer on the chain keeps its ordinal."""
        ordinal = self.state.ordinals
        self.places[ordinal] = (entry.offset, entry.size)
        if self._keep:
            try:
                self.history.append(read_message(entry.body))
            except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat) as error:
                raise unreadable(entry, error) from error
        self.state = replace(self.state, ordinals=ordinal + 1)

    def _taken(self, state: State, entry: Entry, *, voided: Voided) -> State:
        match entry.kind:
            case "compaction" | "edit":
                return self._edits(state, entry, voided=voided)
            case "usage":
                return self._usage(state, entry)
            case _ if entry.kind == HANDOFF:
                return replace(state, handoff=taken_in(state, entry, voided=voided.entries))
            case "checkpoint":
                return checkpoint(state, entry)
            case _:
                make = KINDS.get(entry.kind)
                if make is None:
                    self.unknown[entry.kind] += 1
                    return state
                return make(state, entry)

    # ── messages ─────────────────────────────────────────────────────────────────────────────────────────────

    def _message(self, state: State, entry: Entry, *, stored: Message) -> State:
        if self._keep:
            self.history.append(stored)
        ordinal = state.ordinals
        message = received(self.lives.get(ordinal, stored))
        self.places[ordinal] = (entry.offset, entry.size)
        extra = members(entry.body)
        scope = read_scope(extra)
        weights, overhead = self.counter.weights(message)
        item = item_of(ordinal, message, weights=weights, overhead=overhead)
        scopes = dict(state.scopes)
        for name in _seen_in(state, scope):
            was = scopes[name]
            if name == scope:
                was = after_message(was, message, ordinal=ordinal, told_of=extra)
            scopes[name] = replace(was, view=was.view.append(item))
        answers = message.role == "assistant" and not message.synthetic
        return replace(
            state,
            ordinals=ordinal + 1,
            scopes=scopes,
            calls=state.calls + len(calls_of(message)),
            compacted=state.compacted and not (answers and scope == ROOT),
            answered_ms=entry.time_ms if answers and entry.time_ms is not None else state.answered_ms,
        )

    def _usage(self, state: State, entry: Entry) -> State:
        told = strict.loads(entry.body)
        at, usage = int(told["message"]), read_usage(told["usage"])
        if not 0 <= at < state.ordinals:
            raise ValueError(f"there is no message {at}")
        if self._keep:
            self.history[at] = _with_usage(self.history[at], usage)
        scopes = {}
        for name, scope in state.scopes.items():
            found = next((item for item in scope.view if item.seq == at and not item.covers), None)
            if found is not None:
                item = replace(found, message=_with_usage(found.message, usage))
                items = tuple(item if other is found else other for other in scope.view)
                scope = replace(scope, view=view_of(items, next_seq=scope.view.next_seq))
            scopes[name] = after_usage(scope, at, usage=usage)
        return replace(state, scopes=scopes)

    # ── edits ────────────────────────────────────────────────────────────────────────────────────────────────

    def _edits(self, state: State, entry: Entry, *, voided: Voided) -> State:
        is_edit = entry.kind == "edit"
        told = members(entry.body)
        scope = read_scope(told)
        made = read_edits(told["edits"])
        for edit in made:
            refuse_nowhere(edit, messages=state.ordinals)
        begun = int(strict.loads(told["begin"])) if "begin" in told else None
        begins_epoch = not is_edit and scope == ROOT and entry.seq not in voided.entries
        if begun == state.open_begin:
            state = replace(state, open_begin=None)
        if scope not in state.scopes:  # of a node that has ended
            return state
        now = state.scopes[scope]
        if entry.seq in voided.entries:
            now = dropped(now)
        else:
            gone = voided.spans.get(entry.seq, frozenset())
            edits = [edit for edit in made if isinstance(edit, Drop) or edit.address not in gone]
            now = replace(now, view=self.edited(now.view, edits))
            now = dropped(now) if not is_edit or gone else after_edits(now, made)
            applied = Applied(seq=entry.seq, offset=entry.offset, scope=scope, is_edit=is_edit)
            state = replace(state, applied=(*state.applied, applied))
        return replace(
            state,
            scopes={**state.scopes, scope: now},
            compacted=state.compacted or (not is_edit and scope == ROOT),
            epoch=entry.seq if begins_epoch else state.epoch,
            handoff=None if begins_epoch else state.handoff,
            failures=failures_after(state.failures, strict.loads(told.get("model", b"null"))),
            stalled=state.stalled
            if entry.seq in voided.entries
            else stalled_after(state.stalled, {"progress": strict.loads(told.get("progress", b"null"))}),
        )

    def edited(self, view: View, edits: Sequence[Edit]) -> View:
        """A view after edits, no law checked: they were judged when they were made."""
        items = view.items()
        for batch in batches(edits):
            items = edited(items, batch, counter=self.counter)
        return view_of(items, next_seq=view.next_seq)


def resume(pages: Pages) -> Replay:
    """A log's state, from its last full checkpoint on; from its beginning where none will do. Reads from the end at most
    as far as the last checkpoint, and then what the last full one refers to and what follows it. Raises
    `SessionCorrupt`."""
    found = _last_full(pages)
    if found is not None:
        replay = Replay()
        try:
            _run_from(found, pages, replay=replay)
        except Beyond:
            pass
        else:
            return replay
    replay = Replay()
    replay.run(pages.entries())
    return replay


def foreseen(pages: Pages, entry: Entry, *, seq: int, replay: Replay) -> Replay:
    """What a log comes to with one more entry, which takes something back: read again from the last full checkpoint that
    is not after entry `seq`. `replay` says how to weigh, and what the log does not hold. Raises `SessionCorrupt`."""
    return _again(
        pages,
        seq=seq,
        begin=lambda: Replay(counter=replay.counter, lives=replay.lives),
        until=lambda entries: chain(entries, (entry,)),
    )


def at(pages: Pages, seq: int) -> Replay:
    """The state as it was after entry `seq`, which a fork of it begins with: read from the last full checkpoint that is not
    after it. Raises `SessionCorrupt`."""
    return _again(
        pages, seq=seq, begin=Replay, until=lambda entries: takewhile(lambda entry: entry.seq <= seq, entries)
    )


def _again(
    pages: Pages,
    *,
    seq: int,
    begin: Callable[[], Replay],
    until: Callable[[Iterator[Entry]], Iterator[Entry]],
) -> Replay:
    """A log read again from the last full checkpoint that is not after entry `seq`, or from one before it, where what
    follows takes back what that one shows; from the log's beginning where none will do."""
    for earlier in pages.back():
        if earlier.seq > seq or not is_full(earlier):
            continue
        after = begin()
        try:
            _run_from(earlier, pages, replay=after, until=until)
        except Beyond:
            continue
        return after
    after = begin()
    after.run(until(pages.entries()))
    return after


def _run_from(
    found: Entry,
    pages: Pages,
    *,
    replay: Replay,
    until: Callable[[Iterator[Entry]], Iterator[Entry]] = lambda entries: entries,
) -> None:
    replay.state = _restored(found, pages, replay=replay)
    replay.run(until(one for one in pages.entries(found.offset) if one.offset > found.offset))


def _last_full(pages: Pages) -> Entry | None:
    """The last full checkpoint, by way of a small one where that comes first."""
    for entry in pages.back():
        if is_full(entry):
            return entry
        if entry.kind == "checkpoint":
            base = members(entry.body).get("base")
            return None if base is None else pages.entry(int(strict.loads(base)))
    return None


def _restored(entry: Entry, pages: Pages, *, replay: Replay) -> State:
    reading = Reading(
        entries=pages.entries,
        read=lambda ordinal, one: received(replay.lives.get(ordinal) or read_message(one.body)),
        counter=replay.counter,
        places=replay.places,
    )
    try:
        state = read_checkpoint(entry, reading)
        if state.system_at is not None:
            state = replace(state, system=read_system(pages.entry(state.system_at).body))
        if state.tools_at is not None:
            state = replace(state, tools=read_bytes("tools", pages.entry(state.tools_at).body))
        if state.handoff is not None and state.handoff != SUPPRESSED:
            state = replace(state, handoff=found_at(pages.entry(state.handoff.offset)))
    except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat) as error:
        raise unreadable(entry, error) from error
    return state


# ── scopes ───────────────────────────────────────────────────────────────────────────────────────────────────


def _seen_in(state: State, scope: str) -> Iterator[str]:
    """The scopes whose view a message of `scope` enters: its own, and each around it as long as every node between
    exposes all it does. None for a node that has ended."""
    while scope in state.scopes:
        yield scope
        if scope == ROOT or state.nodes[scope].expose != "full":
            return
        scope = state.nodes[scope].parent


def _with_usage(message: Message, usage: Usage) -> Message:
    return replace(message, meta=replace(message.meta or Meta(), usage=usage))


def weighed(items: Iterable[Item], counter: TokenCounter) -> tuple[Item, ...]:
    """The same items with the weights of another counter, counted in one call."""
    given = tuple(items)
    weights = counter.weights_of([item.message for item in given])
    return tuple(
        item_of(item.seq, item.message, weights=parts, overhead=overhead, covers=item.covers)
        for item, (parts, overhead) in zip(given, weights, strict=True)
    )
