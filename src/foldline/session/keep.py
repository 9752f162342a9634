"""The one writer of a session's log: appends, steps the state, commits compactions.

Memory follows the log and never the other way: an entry is appended, then its state is taken in. A compaction is three
appends, each on disk before the next; where one fails, memory is as it was (requirement JRN-2):

    begin (intent) ──► compaction (result) ──► checkpoint (commit) ──► state

Knows nothing of policies or wire values: its siblings bring the drafts, what is said mostly `foldline.session.conversation`
and `foldline.session.following`, and plan the edits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from threading import RLock
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from foldline.core.edit import Edit
from foldline.core.entry import Draft, Entry
from foldline.core.errors import (
    CLOSED,
    CheckpointFailed,
    InvalidOption,
    SessionCorrupt,
    SessionFailed,
    UnknownFormat,
)
from foldline.core.message import Message
from foldline.core.ports import TokenCounter
from foldline.core.view import View, view_of
from foldline.log.chain import naming
from foldline.log.checkpoint import EVERY, TooLarge, checkpoint_body, is_full, small_body
from foldline.log.lineage import WrittenLineage
from foldline.log.replay import WEIGHTLESS, Replay, foreseen, resume, weighed
from foldline.log.state import ROOT, Scope, State
from foldline.log.values import Json, dumps, edit_json, message_json, read_message, scope_json

Durability: TypeAlias = Literal["event", "turn", "checkpoint"]
"""When what was appended is put on disk: after each append, once a turn, or at checkpoints alone (requirement JRN-5)."""
NOTHING_READ: Final[Mapping[bytes, Message | None]] = MappingProxyType({})
ARCHIVE_EVERY: Final = 10
"""Full checkpoints after which what precedes them is packed away (requirement JRN-7)."""
PENDING_MAX: Final = 20
"""Pending tasks that a checkpoint names."""


class Keeper:
    """A session's log, and what it has come to. `redact`: takes the secrets out of a body before it is written. `every`:
    entries after which a checkpoint is written (requirement JRN-13)."""

    def __init__(
        self,
        name: str,
        log: WrittenLineage,
        *,
        durability: Durability = "event",
        redact: Callable[[bytes], bytes] = lambda body: body,
        every: int = EVERY,
    ) -> None:
        self.name, self._log, self.durability, self.redact = name, log, durability, redact
        self.every = every
        self.turn = 0
        """Counts what makes this another session for a compaction that runs: taken back, cleared, closed."""
        self._closed = False
        self.lock = RLock()
        self.lives: dict[int, Message] = {}
        """By ordinal: messages whose secrets the log does not hold."""
        self.replay: Replay = resume(log)
        self.replay.lives = self.lives
        self.counter: TokenCounter = WEIGHTLESS
        """What the view of a checkpoint is counted by, where nothing has weighed it yet."""
        self._checkpoints: int | None = None
        """Full checkpoints that are not packed away; counted when it first matters."""
        self._too_large: dict[str, View] = {}
        """The views that no checkpoint would hold; empty where one may."""

    @property
    def log(self) -> WrittenLineage:
        """The log. Raises `SessionFailed` once it was closed."""
        self.refuse_closed()
        return self._log

    @property
    def is_closed(self) -> bool:
        """True once it was closed."""
        return self._closed

    def refuse_closed(self) -> None:
        """Raise `SessionFailed` once it was closed: what is still in memory may no longer be what the log says."""
        if self._closed:
            raise SessionFailed(self.name, CLOSED)

    @property
    def state(self) -> State:
        """What the log comes to."""
        return self.replay.state

    # ── appending ────────────────────────────────────────────────────────────────────────────────────────────

    def say(self, *drafts: Draft, ends_turn: bool = False) -> None:
        """Append, and take in what was appended. Raises `SessionFailed`, and `InvalidOption` for what could not be read
        again; memory is as it was then."""
        proved = {draft.body: self._proved(draft) for draft in drafts}
        sync = self.durability == "event" or (self.durability == "turn" and ends_turn)
        given = list(drafts)
        if self.state.since + len(given) >= self.every and self.state.full_at is not None:
            messages = sum(draft.kind == "message" for draft in given)
            after = replace(self.state, ordinals=self.state.ordinals + messages)
            given.append(Draft(kind="checkpoint", body=small_body(after)))
        self._step(self._append(given, sync=sync), proved=proved)
        if self.state.since >= self.every and not self._is_too_large():
            self.checkpoint()  # the first one, which all later small ones name

    def _proved(self, draft: Draft) -> Message | None:
        try:
            return self.replay.proved(draft)
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError, UnknownFormat) as error:
            why = f"it could not be read again from the log: {error or type(error).__name__}"
            raise InvalidOption(draft.kind, draft.body[:80].decode("utf-8", "replace"), why=why) from error

    def _append(self, drafts: Sequence[Draft], *, sync: bool) -> tuple[Entry, ...]:
        """Append without taking in. What a message says beyond its redacted body is kept for this process."""
        clean: list[Draft] = []
        ordinal = self.state.ordinals
        lives: dict[int, Message] = {}
        for draft in drafts:
            body = self.redact(draft.body)
            if draft.kind == "message":
                if body != draft.body:
                    lives[ordinal] = read_message(draft.body)
                ordinal += 1
            clean.append(draft if body == draft.body else Draft(kind=draft.kind, body=body))
        entries = self.log.append(clean, sync=sync)
        self.lives.update(lives)
        return entries

    def _step(
        self, entries: Sequence[Entry], *, proved: Mapping[bytes, Message | None] = NOTHING_READ
    ) -> None:
        """Take in what was appended. `proved`: by its bytes, what was read of it before."""
        after = before = self.replay.state
        try:
            for entry in entries:
                after = self.replay.state = self.replay.step(entry, read=proved.get(entry.body))
            before = after
        finally:
            self.replay.state = before

    def checkpoint(self) -> bool:
        """Write a full checkpoint of where the session stands; false where it would be too large."""
        try:
            body = checkpoint_body(self.state, self.replay.places, **self._told(self.state))
        except TooLarge:
            self._too_large = {name: scope.view for name, scope in self.state.scopes.items()}
            return False
        self._step(self._append([Draft(kind="checkpoint", body=body)], sync=self.durability != "turn"))
        return True

    def _is_too_large(self) -> bool:
        """True while the views that were too large for a checkpoint have but grown: what it would hold is not counted up again
        with every message."""
        now = self.state.scopes
        known = self._too_large.items()
        return bool(known) and all(name in now and now[name].view.extends(view) for name, view in known)

    def _told(self, state: State) -> Json:
        counted = self.replay.counter is not WEIGHTLESS
        return told_of(state, counter=None if counted else self.counter)

    # ── compactions ──────────────────────────────────────────────────────────────────────────────────────────

    def intend(self, begin: Json, *, scope: str) -> int:
        """Append the intent to compact; returns its entry. Raises `SessionFailed`."""
        self._step(self._append([Draft(kind="begin", body=dumps({**begin, **scope_json(scope)}))], sync=True))
        return self.state.seq

    def settled(self, begin: int, *, outcome: str, why: str, **more: Any) -> None:
        """Append that an intent came to nothing. Raises `SessionFailed`."""
        self.say(Draft(kind="settle", body=dumps({"begin": begin, "outcome": outcome, "why": why, **more})))

    def commit(self, begin: Json | int, *, scope: str, edits: Sequence[Edit], result: Json) -> None:
        """Make a compaction durable, then take it in. `begin`: the body of its intent, or the entry of one that stands in the
        log. Raises `CheckpointFailed`; memory is as it was then."""
        before = self.state
        told = [edit_json(edit, lambda seq: seq) for edit in edits]
        try:
            self._refuse_too_large(scope, edits)
            intent = begin if isinstance(begin, int) else self.intend(begin, scope=scope)
            body: Json = {"edits": told, "begin": intent, **scope_json(scope), **result}
            self._step(self._append([Draft(kind="compaction", body=dumps(body))], sync=True))
            commit = checkpoint_body(self.state, self.replay.places, **self._told(self.state))
            self._step(self._append([Draft(kind="checkpoint", body=commit)], sync=True))
        except (SessionFailed, TooLarge) as error:
            self.replay.state = before
            why = error.why if isinstance(error, SessionFailed) else str(error)
            raise CheckpointFailed(self.name, why) from error
        self._let_go()
        self._pack_away()

    def _pack_away(self) -> None:
        """Every ten checkpoints what precedes them moves to the archive. A disk that refuses leaves the log as it is, and
        the next compaction tries again; a log that can no longer be written says so at the next append, a damaged one to whoever
        reads what is damaged."""
        if self._checkpoints is None:
            packed = self.log.packed
            newest = takewhile(lambda entry: entry.offset >= packed, self.log.back())
            self._checkpoints = sum(is_full(entry) for entry in newest)
        else:
            self._checkpoints += 1
        if self._checkpoints >= ARCHIVE_EVERY:
            with contextlib.suppress(SessionFailed, SessionCorrupt):
                if not self.log.archive():
                    self._checkpoints = 0

    def _refuse_too_large(self, scope: str, edits: Sequence[Edit]) -> None:
        """Raise `TooLarge` for a view that no checkpoint would hold, before anything is written."""
        was = self.state.scopes[scope]
        after = Scope(view=self.replay.edited(was.view, edits))
        state = replace(self.state, scopes={**self.state.scopes, scope: after})
        checkpoint_body(state, self.replay.places)

    def edit(self, *, scope: str, edits: Sequence[Edit], report: Json) -> None:
        """Append edits that are no compaction: what a policy does before every request, whatever its size."""
        told = [edit_json(edit, lambda seq: seq) for edit in edits]
        self.say(Draft(kind="edit", body=dumps({"edits": told, "report": report, **scope_json(scope)})))

    def settle(self) -> None:
        """At resume: an intent without its result was given up; a result without its commit is committed, since it was
        judged before it was written; a node that ran when the process ended was interrupted (its caller appends that)."""
        if self.state.open_begin is not None:
            self.settled(
                self.state.open_begin, outcome="abandoned", why="the process ended before its result"
            )
        last = next((a for a in reversed(self.state.applied) if not a.is_edit), None)
        if last is not None and (self.state.full_at is None or last.offset > self.state.full_at):
            self.checkpoint()

    def take_back(self, draft: Draft, *, seq: int) -> None:
        """Append an undo, an unfold or a rollback with a checkpoint of what it comes to, in one append. `seq`: the last
        entry that it leaves as it is."""
        self.turn += 1
        number = self.state.seq + 1
        entry = Entry(seq=number, kind=draft.kind, body=draft.body, offset=self._end())
        with naming(self.name):
            after = foreseen(self.log, entry, seq=seq, replay=self.replay)
        try:
            body = checkpoint_body(after.state, after.places, **self._told(after.state))
        except TooLarge:
            body = small_body(State(ordinals=after.state.ordinals))
        self.replay.places.update(after.places)
        entries = self._append([draft, Draft(kind="checkpoint", body=body)], sync=True)
        self.replay.state = after.state
        self._step(entries[1:])

    def _end(self) -> int:
        last = next(iter(self.log.back()), None)
        return 0 if last is None else last.offset + last.size

    def _let_go(self) -> None:
        """Forget what no view shows any more: memory does not grow with the log."""
        shown = {item.seq for scope in self.state.scopes.values() for item in scope.view}
        for known in (self.replay.places, self.lives):
            for ordinal in [ordinal for ordinal in known if ordinal not in shown]:
                del known[ordinal]

    # ── weights ──────────────────────────────────────────────────────────────────────────────────────────────

    def weigh_by(self, counter: TokenCounter) -> None:
        """Count what the views hold by this counter, and from here on all that comes."""
        if self.replay.counter is counter:
            return
        scopes = {}
        for name, scope in self.state.scopes.items():
            items = weighed(scope.view.items(), counter)
            view: View = view_of(items, next_seq=scope.view.next_seq)
            scopes[name] = replace(scope, view=view)
        self.replay.counter = counter
        self.replay.state = replace(self.state, scopes=scopes)

    def close(self) -> None:
        """Put on disk what is not, and let others write."""
        self._closed = True
        self.turn += 1
        self._log.close()


def told_of(state: State, *, counter: TokenCounter | None) -> Json:
    """What a checkpoint says for statistics and people (requirement JRN-12). `counter`: counts a view that nothing has
    weighed; one that counts nothing leaves the tokens to whoever reads the log."""
    view = state.root.view
    pending = [node.name for node in state.nodes.values()][:PENDING_MAX]
    if counter is WEIGHTLESS:
        return {"pending": pending}
    tokens = view.tokens if counter is None else sum(item.tokens for item in weighed(view.items(), counter))
    return {"tokens": tokens, "pending": pending}


def message_draft(message: Message, *, scope: str = ROOT, **more: Any) -> Draft:
    """A message entry."""
    return Draft(kind="message", body=dumps({**message_json(message), **scope_json(scope), **more}))
