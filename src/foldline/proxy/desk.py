"""The conversations of all callers: which one a request belongs to, what goes out for it, and what became of it.

A conversation is known by what is said up to its first answer (its root), so that two of one caller never mix and one is found
again after a restart. What happens inside a root, branches included, is `foldline.clients.following`'s. Everything here may wait
for a disk or a model and is called off the event loop; whatever goes wrong is a value, and the request goes out as it came.

    request ──► root ──► Conversations.outgoing ──► Going    its messages, or the caller's own
                     └──────────────────────────► Passed   why it is none of ours, or what went wrong
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from threading import Lock
from typing import Any, Final, assert_never

from msgspec import Struct

from foldline.clients.answers import Answer
from foldline.clients.calls import Call
from foldline.clients.digests import loose, said, unmarked
from foldline.clients.following import WITHIN, Conversations
from foldline.clients.looks import holding
from foldline.clients.tickets import Outgoing
from foldline.core.foreign import Raised, tried
from foldline.core.message import Reasoning
from foldline.proxy.faults import why_of
from foldline.proxy.limits import ROOT_MESSAGES_MAX, ROOTS_MAX, SESSIONS_MAX
from foldline.wire.formats import codec
from foldline.wire.mismatch import Outgoing as Sent
from foldline.wire.mismatch import mismatch_of

NAME_DIGITS: Final = 12
BYTES_A_TOKEN: Final = 4
"""Of text, about: what is told by it has a margin of three times."""
MEDIA: Final = (
    b"base64",
    b"image_url",
    b"inlineData",
    b"inline_data",
    b"input_image",
    b"input_file",
    b"input_audio",
)
"""Marks of what is no text, whose bytes say nothing of its tokens."""
SEEN_MAX: Final = 4_096
"""First messages whose meaning is remembered by their bytes."""


class Passed(Struct, frozen=True, kw_only=True):
    """A request that goes out as it came."""

    why: str
    is_fault: bool = False
    """True where something went wrong here."""
    is_unread: bool = False
    """True for a conversation that cannot be read here, however often it is sent."""


class Going(Struct, frozen=True, kw_only=True):
    """A request on its way in a conversation."""

    name: str
    """Of the session, once there is one."""
    conversations: Conversations
    out: Outgoing

    @property
    def body(self) -> dict[str, Any] | None:
        """What is sent in place of the caller's; `None`: as it came."""
        return self.out.body


Begin = Callable[[str, Call], Conversations]
"""Makes the conversations of a root, under the name of its session."""


class _Root(Struct, kw_only=True):
    conversations: Conversations
    on_their_way: int = 0
    has_failed: bool = False
    size: int = 0
    """Bytes of the messages of the last request that was answered."""
    reported: int = 0
    """Tokens that the provider counted for it."""


class Desk:
    """Safe to use from several threads."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._roots: OrderedDict[str, _Root] = OrderedDict()
        """By name, the one that rested longest first."""
        self._seen: OrderedDict[bytes, tuple[bytes, bool]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._roots)

    def outgoing(self, call: Call) -> Going | Passed:
        """What goes out for a request. Whoever is given a `Going` says `done` of it in the end."""
        found = self._going(call, lambda one: one.told(call))
        assert found is not None, "it was waited for"
        return found

    def at_once(self, call: Call) -> Going | Passed | None:
        """The same where nothing has to be waited for, as for a short conversation that is known; else `None`."""
        return self._going(call, lambda one: one.told_at_once(call))

    def _going(
        self, call: Call, tell: Callable[[Conversations], Outgoing | str | None]
    ) -> Going | Passed | None:
        why = call.why_passed()
        if why:
            return Passed(why=why)
        name = tried(lambda: self._name(call))
        if isinstance(name, Raised):
            return Passed(why=f"a message cannot be read here ({why_of(name)})", is_unread=True)
        conversations = self._taken(name, call)
        going = tried(lambda: tell(conversations))
        if isinstance(going, Outgoing):
            return Going(name=name, conversations=conversations, out=going)
        self._done(name, conversations, has_failed=isinstance(going, Raised))
        match going:
            case Raised():
                return Passed(why=why_of(going), is_fault=True)
            case str():
                return Passed(why=going, is_fault=going == WITHIN, is_unread=going != WITHIN)
            case None:
                return None
            case never:
                assert_never(never)

    def counted(self, call: Call, *, only_too_long: bool = False) -> dict[str, Any] | None:
        """The body for a list that is only counted; `None`: as it came. `only_too_long`: whole where it fits the window."""
        if call.why_passed():
            return None
        name = tried(lambda: self._name(call))
        with self._lock:
            root = self._roots.get(name) if isinstance(name, str) else None
        known = None if root is None else root.conversations
        found = tried(lambda: None if known is None else known.counted(call, only_too_long=only_too_long))
        return dict(call.with_messages(found)) if isinstance(found, list) else None

    def refused(self, going: Going, status: int, *, body: Any) -> Going | None:
        """After a refusal that came before any answer: what to send once more, or `None` to let it through."""
        again = tried(lambda: going.conversations.refused(going.out.ticket, status, body=body))
        if not isinstance(again, Outgoing):
            return None
        return Going(name=going.name, conversations=going.conversations, out=again)

    def recalled(self, going: Going, response: Any, *, is_delivered: bool) -> Going | Passed | None:
        """Where an answer calls the tool that was added: what goes on with what was recalled; `None` for one to be delivered.
        `is_delivered`: all but its calls was."""
        conversations = going.conversations
        again = tried(lambda: conversations.recalled(going.out, response, is_delivered=is_delivered))
        if isinstance(again, Raised):
            return Passed(why=why_of(again), is_fault=True)
        if again is None:
            return None
        return Going(name=going.name, conversations=going.conversations, out=again)

    def without_recall(self, going: Going) -> Going:
        """The same request without the tool that was added: a model that cannot be answered is asked once more, and goes on without."""
        return Going(name=going.name, conversations=going.conversations, out=going.out.unrecalled)

    def answer(self, going: Going, *, is_stream: bool) -> Answer:
        """What hears the answer."""
        return Answer(going.conversations, going.out.ticket, is_stream=is_stream)

    def end(self, answer: Answer) -> str:
        """Take an answer in; what went wrong, where something did. The next request brings it once more then."""
        ended = tried(answer.end)
        return why_of(ended) if isinstance(ended, Raised) else ""

    def heard(self, going: Going, reported: int) -> tuple[str, ...]:
        """What an answer said that a person should know: that the provider's count of the input contradicts the request. Of one without
        a session by its bytes: a server that cuts what is too long for it, and says nothing, is met before a reduction is due."""
        kept = going.out.ticket.chain.kept
        if kept is not None and going.out.prepared is not None:
            told = tried(lambda: kept.heard)
            return () if isinstance(told, Raised) else told
        call = going.out.ticket.call
        size = sum(map(len, call.messages))
        with self._lock:
            root = self._roots.get(going.name)
            if root is None or not reported:
                return ()
            before = root.reported if size >= root.size and root.reported else None
            sent = Sent(
                tokens=size // BYTES_A_TOKEN,
                grown=max(0, size - root.size) // BYTES_A_TOKEN,
                before=before,
            )
            root.size, root.reported = size, reported
        found = mismatch_of(reported, sent, window=max(reported, sent.tokens))
        if found is None or (before is None and holding(call.messages, MEDIA)):
            return ()
        return (found.note(),)

    def done(self, going: Going) -> None:
        """Nothing of it is on its way any more."""
        self._done(going.name, going.conversations)

    def _done(self, name: str, conversations: Conversations, *, has_failed: bool = False) -> None:
        """After a failure what is known may be wrong; the log is read again, once nothing else of it is on its way."""
        with self._lock:
            root = self._roots.get(name)
            if root is None or root.conversations is not conversations:
                return
            root.on_their_way -= 1
            root.has_failed = root.has_failed or has_failed
            if root.has_failed and not root.on_their_way:
                del self._roots[name]
                tried(conversations.close)

    def close(self) -> None:
        """Close every session."""
        with self._lock:
            gone = list(self._roots.values())
            self._roots.clear()
        for root in gone:
            tried(root.conversations.close)

    # ── which root ───────────────────────────────────────────────────────────────────────────────────────────

    def _name(self, call: Call) -> str:
        """Of the session: a digest of what is said up to the first answer, and of that, however it is spelt."""
        digest = blake2b(call.format.encode(), digest_size=16)
        for wire in call.messages[call.leading :][:ROOT_MESSAGES_MAX]:
            meaning, is_answer = self._meaning(wire, call.format)
            digest.update(meaning)
            if is_answer:
                break
        return f"proxy-{digest.hexdigest()[:NAME_DIGITS]}"

    def _meaning(self, wire: bytes, format: str) -> tuple[bytes, bool]:
        """What a message says, and whether it is an answer. One of reasoning alone, which callers may drop, says nothing."""
        key = blake2b(wire, digest_size=16, key=format.encode()).digest()
        with self._lock:
            found = self._seen.get(key)
            if found is not None:
                self._seen.move_to_end(key)
                return found
        message = codec(format).decode(unmarked(wire))
        if message.role != "assistant":
            found = (said(message), False)
        elif all(isinstance(part, Reasoning) for part in message.parts):
            found = (b"", False)
        else:
            found = (loose(message), True)
        with self._lock:
            self._seen[key] = found
            if len(self._seen) > SEEN_MAX:
                self._seen.popitem(last=False)
        return found

    def _taken(self, name: str, call: Call) -> Conversations:
        with self._lock:
            root = self._roots.get(name)
            if root is None:
                root = self._roots[name] = _Root(conversations=self._begin(name, call))
            root.on_their_way += 1
            self._roots.move_to_end(name)
            if len(self._roots) > ROOTS_MAX or root.conversations.session is not None:
                for one in self._rested():  # inside the lock: whoever opens it again must find it free
                    tried(one.conversations.close)
            return root.conversations

    def _rested(self) -> list[_Root]:
        """What is forgotten now, taken out."""
        idle = [name for name, root in self._roots.items() if not root.on_their_way]
        with_session = [name for name in idle if self._roots[name].conversations.session is not None]
        too_many = {*idle[: max(0, len(self._roots) - ROOTS_MAX)]}
        too_many.update(with_session[: max(0, len(with_session) - SESSIONS_MAX)])
        return [self._roots.pop(name) for name in too_many]
