"""A session that follows a list somebody else keeps: a caller who sends the whole history with every request.

The list is the truth. What is new of it is appended, whoever spoke; what a request shows of it are the list's own messages, so
that a cache mark or a key of the caller's stays where it is; only what an edit put in its place is the session's. Knows nothing
of clients: `foldline.clients.following` compares lists, this module is what it does to a session.

    caller's list   m0 m1 m2 m3 m4        view   ⟦fold m1 m2⟧ m3′ m4        sent   m0 ⟦fold⟧ m3′ m4     (m0, m4: the caller's)

A list that was cut back and goes on otherwise keeps what was made of its older messages, though it was made later:

    entries   m0 m1 m2 m3 m4 ⟦fold m1 m2⟧     m4 is said anew     entries  … rollback to m3, m4″, ⟦fold m1 m2⟧
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import takewhile
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.edit import Edit
from foldline.core.entry import Entry
from foldline.core.errors import InvalidOption, SessionFailed
from foldline.core.message import Message, Meta, Reasoning, ToolCall, calls_of, is_injected, is_own
from foldline.core.view import View
from foldline.log.applied import newest_first
from foldline.log.chain import back
from foldline.log.state import ROOT, Applied
from foldline.log.values import members, read_edits, read_message, read_scope
from foldline.recall.tool import NAME, Scope, execute
from foldline.reduce import frame_of
from foldline.session.handing_off import in_force
from foldline.session.incoming import result_message
from foldline.session.keep import message_draft
from foldline.session.request import Prepared
from foldline.session.session import Session
from foldline.session.working import landed, named_in
from foldline.wire import strict
from foldline.wire.response import read_response

ITEMS: Final = "openai-responses"
"""The format each of whose items is a message."""
SPENT: Final = f"not looked up: {NAME} was called too often for one answer; answer now, with what is here"
"""Of a call of recall past the bound of its caller."""
NOT_RUN: Final = f"not run: {NAME} is answered first, alone; make this call again if it is still needed"
"""Of a call beside one of recall: its result would have to come from elsewhere, and all results come together."""


class Kept(Struct, frozen=True, kw_only=True):
    """A message of the list, in the log."""

    seq: int
    """Its entry."""
    ordinal: int
    message: Message
    """As the log has it."""
    unseen: tuple[Message, ...] = ()
    """What stands directly before it beside the list: calls of `recall` with what was said beside them, and their results; in front of
    these the beginning that its request gave an answer, which comes back with it as one message."""
    since: int = -1
    """The first entry that is taken back with it: that beginning, or calls that wait for their results while this is said."""


class Made(Struct, frozen=True, kw_only=True):
    """A compaction, or edits that are none, as an entry has it."""

    edits: tuple[Edit, ...]
    is_edit: bool
    told: dict[str, Any]
    """What the entry says beside its edits."""


class Weighed(Struct, frozen=True, kw_only=True):
    """What the view weighs, by the session's counter."""

    fixed: int
    """Tokens of system prompt and tools."""
    view: int
    """Of all messages in it."""
    own: Mapping[int, int]
    """Of those that stand as their authors made them, by ordinal."""


class Following:
    """One session, as it is used here."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._keeper = session._keeper

    def is_usable(self) -> bool:
        """False once its log takes no more, or memory does not say what the log does: after a disk that failed, or an
        interrupt."""
        try:
            log = self._keeper.log
            log.sync()
            last = next(iter(log.back()), None)
        except SessionFailed:
            return False
        return last is None or last.seq == self._keeper.state.seq

    def take(self, messages: Sequence[Message]) -> list[Kept]:
        """Append messages of any role. Raises `SessionFailed`, `InvalidOption`."""
        with self._keeper.lock:
            seq, ordinal = self._keeper.state.seq + 1, self._keeper.state.ordinals
            if messages:
                self._keeper.say(*(message_draft(message) for message in messages))
            return [
                Kept(seq=seq + n, ordinal=ordinal + n, message=message) for n, message in enumerate(messages)
            ]

    def record(self, response: Any) -> list[Kept]:
        """As `Session.record`; what was appended."""
        with self._keeper.lock:
            seq, ordinal = self._keeper.state.seq + 1, self._keeper.state.ordinals
            unseen = self._unseen()
            self.session.record(response)
            view = self._keeper.state.root.view
            found = [*takewhile(lambda item: item.seq >= ordinal, reversed(view))][::-1]
            kept = [
                Kept(seq=seq + item.seq - ordinal, ordinal=item.seq, message=item.message) for item in found
            ]
            return [one for one in _with_unseen([*unseen, *kept]) if one.seq >= seq]

    def stored(self, message: Message) -> Message:
        """The message as the log has it once it is appended: without its secrets."""
        body = message_draft(message).body
        clean = self._keeper.redact(body)
        return message if clean == body else read_message(clean)

    def kept(self) -> list[Kept]:
        """Every message of the session on the way to here, in order."""
        ordinals: dict[int, int] = {}
        for entry in self._keeper.log.entries():
            if entry.kind == "message":
                ordinals[entry.offset] = len(ordinals)
        found = [
            Kept(seq=entry.seq, ordinal=ordinals[entry.offset], message=read_message(entry.body))
            for entry in self._said()
        ]
        return [*_with_unseen(found[::-1])]

    def _said(self) -> Iterator[Entry]:
        """The entries of its messages, newest first."""
        told = back(self._keeper.log)
        return (one for one in told if one.kind == "message" and read_scope(members(one.body)) == ROOT)

    def _unseen(self) -> list[Kept]:
        """What stands beside the list at the end, and what it stands behind."""
        last = next(iter(reversed(self._keeper.state.root.view)), None)
        if last is None or not is_injected(last.message):
            return []
        found: list[Kept] = []
        for one in self._said():
            found.append(Kept(seq=one.seq, ordinal=-1, message=read_message(one.body)))
            if not is_injected(found[-1].message):
                break
        return found[::-1]

    def recall(self, response: Any, *, is_spent: bool = False, is_delivered: bool = False) -> list[Kept]:
        """Answer the calls of `recall` in a response, beside the list that is followed; where there is none, nothing is done. Another call
        of the same answer is not run: the model is told to make it anew. `is_spent`: nothing is looked up any more, and the model is told
        so. `is_delivered`: what the answer says beside its calls was; messages that are all of that are the list's, and returned."""
        messages = self.calls_recall(response)
        if not messages:
            return []
        given = _given(messages) if is_delivered else frozenset()
        calls = [call for message in messages for call in calls_of(message)]
        format = self.session._known.setup.format
        with self._keeper.lock:
            seq, ordinal = self._keeper.state.seq + 1, self._keeper.state.ordinals
            results = [self._result(call, format, is_spent=is_spent) for call in calls]
            said = [
                one if place in given else _beside(one) for place, one in enumerate((*messages, *results))
            ]
            self._keeper.say(*(message_draft(message) for message in said))
        told = (Kept(seq=seq + n, ordinal=ordinal + n, message=one) for n, one in enumerate(said))
        return [*_with_unseen(told)]

    def calls_recall(self, response: Any) -> tuple[Message, ...]:
        """The messages of a response that calls `recall`; empty for any other."""
        setup = self.session._known.setup
        try:
            told = read_response(response, format=setup.format, tokens_window=setup.planned.window)
        except InvalidOption:
            return ()  # it holds no message
        is_called = any(call.name == NAME for message in told.messages for call in calls_of(message))
        return tuple(told.messages) if is_called else ()

    def _result(self, call: ToolCall, format: str, *, is_spent: bool) -> Message:
        if call.name != NAME or is_spent:
            why = SPENT if call.name == NAME else NOT_RUN
            return result_message(call, why, is_error=True, format=format)
        recalled = execute(call, recall=self.session._recaller(), scope=Scope(session=self.session.name))
        return result_message(call, recalled.text, is_error=recalled.is_error, format=format)

    @property
    def heard(self) -> tuple[str, ...]:
        """What the last answer said that a person should know; the next report says it too."""
        return self.session._heard

    def made_since(self, seq: int, *, ordinal: int) -> list[Made]:
        """What was made after an entry of messages up to an ordinal, in order, as far as nothing of it names a later one."""
        found: list[Made] = []
        with self._keeper.lock:
            for one in newest_first(self._keeper.state, self._keeper.log):
                if one.seq <= seq:
                    break
                if one.scope == ROOT:
                    found.append(self._made(one))
        fits = [all(max(named_in(edit)) <= ordinal for edit in made.edits) for made in reversed(found)]
        until = fits.index(False) if False in fits else len(fits)
        return found[::-1][:until]

    def _made(self, one: Applied) -> Made:
        told = members(self._keeper.log.entry(one.offset).body)
        more = {key: strict.loads(value) for key, value in told.items() if key not in ("edits", "begin")}
        return Made(edits=read_edits(told["edits"]), is_edit=one.is_edit, told=more)

    def make_again(self, made: Sequence[Made]) -> list[Made]:
        """Make them once more, up to the first that the laws forbid on the view as it is now; that one and what follows."""
        with self._keeper.lock:
            for place, one in enumerate(made):
                if not self._may_be_made(one.edits):
                    return list(made[place:])
                if one.is_edit:
                    self._keeper.edit(scope=ROOT, edits=one.edits, report=one.told.get("report", {}))
                else:
                    begin = {"reason": "rewind", "policy": self.session.policy.name}
                    self._keeper.commit(begin, scope=ROOT, edits=one.edits, result=one.told)
            return []

    def _may_be_made(self, edits: tuple[Edit, ...]) -> bool:
        session = self.session
        session._weigh()
        fixed = session._fix(None, None)
        fit, _ = session._fit(fixed)
        frame = frame_of(session._history(fit, fixed=fixed.tokens), counter=session._known.setup.counter)
        return landed(fit.view, edits, frame=frame) is not None

    def is_whole(self) -> bool:
        """True while requests show the list as it is: no edit in the view, and nothing of the session's beside it."""
        state = self._keeper.state
        if in_force(state, ROOT) is not None or self.session._bare:
            return False
        with self._keeper.lock:
            are_own = self.session._seen.of(state.root.view).is_own
        return are_own and not any(applied.scope == ROOT for applied in state.applied)

    def _standing(self) -> View:
        """The part of the view that is sent. What is remembered of a view is the session's, and looked up with its lock: lists are
        counted while a request of the same conversation is prepared."""
        with self._keeper.lock:
            return self.session._seen.of(self._keeper.state.root.view).standing

    def shown(self, prepared: Prepared, places: Mapping[int, int]) -> Iterator[int | Message]:
        """What is sent: a place in the caller's list, or a message of the session's. `places`: by ordinal."""
        ordinals = {id(item.message): item.seq for item in self._keeper.state.root.view.items()}
        for message in prepared.request.messages:
            place = places.get(ordinals.get(id(message), -1))
            yield message if place is None or not is_own(message) else place

    def weighed(self) -> Weighed:
        """The view as it stands."""
        view = self._standing()
        own = {item.seq: item.tokens for item in view.items() if is_own(item.message)}
        return Weighed(fixed=self.session._fix(None, None).tokens, view=view.tokens, own=own)

    def weight(self, message: Message) -> int:
        """Tokens of a message that the view does not show, by the same counter."""
        weights, overhead = self.session._known.setup.counter.weights(message)
        return overhead + sum(weights)

    @property
    def counter(self) -> str:
        """The name of that counter; it may change with the model."""
        return self.session._known.setup.counter.name

    def view(self, places: Mapping[int, int], *, without: Set[int]) -> Iterator[int | Message]:
        """The view as it stands, without the messages of some ordinals: as `shown`, and nothing is prepared."""
        for item in self._standing():
            place = places.get(item.seq)
            if item.seq not in without:
                yield item.message if place is None or not is_own(item.message) else place


def _given(messages: Sequence[Message]) -> frozenset[int]:
    """Which messages of an answer that calls were delivered as they are. Reasoning is so only with what it led to: without that no
    provider takes it back."""
    given: set[int] = set()
    leads = False
    for place in reversed(range(len(messages))):
        message = messages[place]
        leads = not calls_of(message) and (
            leads or not all(isinstance(one, Reasoning) for one in message.parts)
        )
        if leads:
            given.add(place)
    return frozenset(given)


def _with_unseen(found: Iterable[Kept]) -> Iterator[Kept]:
    """The list's messages, each with what stands before it beside the list."""
    last: Kept | None = None
    beside: list[Kept] = []
    for one in found:
        if is_injected(one.message):
            beside.append(one)
            continue
        if last is not None and beside and _begins(last.message, one.message):
            beside, last = [last, *beside], None
        if last is not None:
            yield last
        last, beside = _kept(one, beside), []
    if last is not None:
        yield last


def _kept(one: Kept, beside: Sequence[Kept]) -> Kept:
    waiting = [*takewhile(lambda before: before.message.role == "assistant", reversed(beside))]
    first = beside[0] if beside and not is_injected(beside[0].message) else waiting[-1] if waiting else one
    return replace(one, unseen=tuple(before.message for before in beside), since=first.seq)


def _begins(message: Message, answer: Message) -> bool:
    """True for a beginning that comes back with its answer as one message, which is what Responses have no need of."""
    return message.role == answer.role == "assistant" and answer.format != ITEMS


def _beside(message: Message) -> Message:
    """A message that is the session's alone: whoever keeps the list never sees it."""
    meta = message.meta or Meta()
    return replace(message, meta=replace(meta, injected=True, usage=None))
