"""A request that is on its way: what is sent for it, and which conversation its answer belongs to.

Values. Made by `foldline.clients.following`; a seat or a proxy sends what stands in one, and hands the ticket back with the answer.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.clients.calls import Call
from foldline.clients.chains import Chain
from foldline.session.request import NOTHING, Prepared
from foldline.wire.native import Asked

RECALLS_MAX: Final = 8
"""Answers to one request whose calls of recall are looked up."""
TOLD_MAX: Final = 2
"""Answers behind these whose calls are answered with word that nothing more is looked up; then the tool is taken away for this request."""


class Ticket(Struct, frozen=True, kw_only=True):
    """A request that is on its way."""

    chain: Chain
    call: Call
    size: int
    """Links of the chain when it went out."""
    stamp: int = 0
    recalls: int = 0
    """So many answers to it called `recall`."""
    may_begin: bool = False
    """True where a session may be begun behind its answer: it has none, and the bytes of its list do not rule out that one is needed soon."""
    is_apart: bool = False
    """True for one that no conversation goes on with: nothing of its answer is taken in. It is looked for where it belongs only after
    a refusal for its size."""

    @property
    def is_late(self) -> bool:
        """True once the conversation has gone on, or was cut back."""
        return len(self.chain.links) != self.size or self.chain.stamp != self.stamp


class Outgoing(Struct, frozen=True, kw_only=True):
    """What is sent."""

    ticket: Ticket
    messages: list[bytes] | None = None
    """In place of the caller's; `None`: as it came."""
    prepared: Prepared | None = None
    """What its session made of it; `None` while it has none."""
    why: str = ""
    """Why nothing is made of it, where nothing is to be; or what a person should know of what was."""
    cause: str = ""
    """What the provider refused, where it is sent once more."""
    tokens_came: int = 0
    """Of the caller's own list, in the scale of `prepared.tokens`; the same as that where nothing was put in its place."""

    @property
    def output_cap(self) -> int | None:
        """A cap on the output that leaves room for the input, where the caller's own does not (requirement CMP-41)."""
        own = self.ticket.call.output_cap
        left = None if self.prepared is None else self.prepared.output_cap
        return left if own is not None and left is not None and left < own else None

    @property
    def changed(self) -> dict[str, Any]:
        """Keys of the caller's body that are sent otherwise, its messages apart."""
        call = self.ticket.call
        if self.prepared is None and call.before_recall is None:
            return {}
        cap = self.output_cap
        body = call.body if cap is None else call.with_output_cap(cap).body
        came = (call.before_recall or call).body
        return {
            key: value
            for key, value in (*body.items(), *self.asked.body.items())
            if value is not came.get(key)
        }

    @property
    def is_edited(self) -> bool:
        """True where something else is sent than what came, be it no message."""
        return self.messages is not None or bool(self.changed)

    @property
    def asked(self) -> Asked:
        """What is asked of the provider's own service."""
        return NOTHING if self.prepared is None else self.prepared.asked

    @property
    def unrecalled(self) -> Outgoing:
        """The same, of a model that is to call `recall` no more."""
        ticket = replace(self.ticket, call=self.ticket.call.without_recall())
        return replace(self, ticket=ticket)

    @property
    def body(self) -> dict[str, Any] | None:
        """What is sent in place of the caller's body; `None`: as it came."""
        call, changed = self.ticket.call, self.changed
        if self.messages is not None:
            return {**call.with_messages(self.messages), **changed}
        return {**call.body, **changed} if changed else None


def apart(call: Call, *, why: str = "") -> Outgoing:
    """A request that goes out as it came, and that no conversation goes on with."""
    return Outgoing(ticket=Ticket(chain=Chain(), call=call, size=0, is_apart=True), why=why)
