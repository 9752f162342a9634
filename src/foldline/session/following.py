"""A session that follows a list somebody else keeps: a caller who sends the whole history with every request.

The list is the truth. What is new of it is appended, whoever spoke; what a request shows of it are the list's own messages, so
that a cache mark or a key of the caller's stays where it is; only what an edit put in its place is the session's. Knows nothing
of clients: `foldline.clients.following` compares lists, this module is what it does to a session.

    caller's list   m0 m1 m2 m3 m4        view   ⟦fold m1 m2⟧ m3′ m4        sent   m0 ⟦fold⟧ m3′ m4     (m0, m4: the caller's)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from foldline.core.message import Message
from foldline.log.chain import back
from foldline.log.state import ROOT
from foldline.log.values import read_message
from foldline.session.handing_off import in_force
from foldline.session.history import scope_of
from foldline.session.keep import message_draft
from foldline.session.request import Prepared
from foldline.session.session import Session


class Kept(Struct, frozen=True, kw_only=True):
    """A message of the list, in the log."""

    seq: int
    """Its entry."""
    ordinal: int
    message: Message
    """As the log has it."""


class Following:
    """One session, as it is used here."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._keeper = session._keeper

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
            self.session.record(response)
            items = self._keeper.state.root.view.items()
            found = [item for item in items if item.seq >= ordinal]
            return [
                Kept(seq=seq + item.seq - ordinal, ordinal=item.seq, message=item.message) for item in found
            ]

    def stored(self, message: Message) -> Message:
        """The message as the log has it once it is appended: without its secrets."""
        body = message_draft(message).body
        clean = self._keeper.redact(body)
        return message if clean == body else read_message(clean)

    def kept(self) -> list[Kept]:
        """Every message of the session on the way to here, in order."""
        log = self._keeper.log
        ordinals: dict[int, int] = {}
        for entry in log.entries():
            if entry.kind == "message":
                ordinals[entry.offset] = len(ordinals)
        found = [
            Kept(seq=entry.seq, ordinal=ordinals[entry.offset], message=read_message(entry.body))
            for entry in back(log)
            if entry.kind == "message" and scope_of(entry) == ROOT
        ]
        return found[::-1]

    @property
    def seq(self) -> int:
        """The last entry of the log."""
        return self.session.seq

    def is_whole(self) -> bool:
        """True while requests show the list as it is: no edit in the view, and nothing of the session's beside it."""
        state = self._keeper.state
        if in_force(state, ROOT) is not None or self.session._bare:
            return False
        return all(_is_own(item.message) for item in state.root.view.items()) and not any(
            applied.scope == ROOT for applied in state.applied
        )

    def shown(self, prepared: Prepared, places: Mapping[int, int]) -> Iterator[int | Message]:
        """What is sent: a place in the caller's list, or a message of the session's. `places`: by ordinal."""
        ordinals = {id(item.message): item.seq for item in self._keeper.state.root.view.items()}
        for message in prepared.request.messages:
            place = places.get(ordinals.get(id(message), -1))
            yield message if place is None or not _is_own(message) else place


def _is_own(message: Message) -> bool:
    """True for a message as its author made it."""
    return not message.edited and message.synthetic is None
