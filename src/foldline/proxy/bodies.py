"""Bodies of conversations, read: what a body has in common with one that was read before is compared, and not read again.

An agent sends its whole history with every request, so the next body begins as the last one did:

    before   {"model":"m","messages":[ A , B            head, and the messages that were read
    body     {"model":"m","messages":[ A , B , C ],"stream":true}
    read     {"model":"m","messages":[ null  , C ],"stream":true}

`A` and `B` are objects of a document that was accepted, and stand in the same place behind the same bytes; an object ends where it
ends, whatever follows. So the body is JSON of which nothing is said twice if, and only if, what is read is. A body that begins
otherwise, or is short, is read whole. That its messages can be read is found out at once; what they say is read when that is asked
for, or when the body is no longer held here. Knows nothing of sessions; what is remembered is bounded, and its loss costs time alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, islice
from threading import Lock
from typing import Any, Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from foldline.clients.calls import Call, call_of
from foldline.clients.chains import UNREADABLE
from foldline.clients.finding import SAID_ANEW_MAX
from foldline.clients.looks import Look, look_at
from foldline.core.message import Message
from foldline.proxy.limits import BODIES_BYTES_MAX, BODIES_MAX, BODY_BYTES_MIN
from foldline.wire import strict
from foldline.wire.body import KEYS
from foldline.wire.formats import codec
from foldline.wire.slices import fields, items

_PLACE: Final = b"null"
"""Stands in the place of the messages that are known."""
_BETWEEN: Final = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")


class _Known(Struct, frozen=True, kw_only=True, eq=False):
    """The beginning of a body that was read."""

    format: str
    head: bytes
    """Up to its first message."""
    wires: list[bytes]
    looks: list[Look]
    size: int


class _Common(Struct, frozen=True):
    """What a body has in common with one that is known."""

    known: _Known
    count: int
    """So many messages."""
    end: int
    """Where the last of them ends in the body."""

    @property
    def replaced(self) -> _Known | None:
        """What need not be remembered beside the body: it goes on with nearly all of it, and moved a cache mark, say."""
        return self.known if len(self.known.wires) - self.count <= SAID_ANEW_MAX else None


class Bodies:
    """Of one proxy. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: tuple[_Known, ...] = ()
        """The one that was met last first."""

    def call(self, data: bytes, *, format: str, model: str | None = None) -> Call | None:
        """The conversation in a body; `None` for a body that is none of this format. Raises `BadJson`."""
        if len(data) < BODY_BYTES_MIN:
            return _read(data, format=format, model=model)
        common = self._common(data, format)
        call = (
            _read(data, format=format, model=model) if common is None else _read_on(data, common, model=model)
        )
        if call is not None:
            self._remember(call, _head(data, call) if common is None else common.known.head, common=common)
        return call

    def _common(self, data: bytes, format: str) -> _Common | None:
        """The longest, or the first that is most of the body."""
        found: _Common | None = None
        for known in self._known:
            if known.format != format or not data.startswith(known.head):
                continue
            common = _compared(data, known)
            if common.count and (found is None or common.count > found.count):
                found = common
            if common.end > len(data) // 2:
                break
        return found

    def _remember(self, call: Call, head: bytes, *, common: _Common | None) -> None:
        """Hold the body in the place of those that are too many. Whoever goes on knowing their messages does without the bytes."""
        count, instead_of = (0, None) if common is None else (common.count, common.replaced)
        size = len(head) + sum(map(len, call.messages))
        if not head or size > BODIES_BYTES_MAX:
            return
        for look in call.looks[count:]:
            look.is_held = True
        made = _Known(format=call.format, head=head, wires=call.messages, looks=call.looks, size=size)
        with self._lock:
            before = self._known
            others = [one for one in before if one is not instead_of][: BODIES_MAX - 1]
            sizes = accumulate((one.size for one in others), initial=size)
            kept = [
                one
                for one, so_far in zip(others, islice(sizes, 1, None), strict=True)
                if so_far <= BODIES_BYTES_MAX
            ]
            self._known = (made, *kept)
        for one in before:
            if one is instead_of:
                _let_go(one.looks[count:])
            elif one not in kept:
                _let_go(one.looks)


def _read(data: bytes, *, format: str, model: str | None) -> Call | None:
    """A body read whole."""
    value = strict.loads(data)
    call = call_of(data, format=format, model=model)
    return call if call is None else replace(call, tried=_tried(call, value))


def _read_on(data: bytes, common: _Common, *, model: str | None) -> Call | None:
    """A body read from where it has more than what is known."""
    known, format = common.known, common.known.format
    key, before = KEYS[format].messages, known.wires[: common.count]
    rest = b"".join((known.head, _PLACE, memoryview(data)[common.end :]))
    value = strict.loads(rest)
    call = call_of(rest, format=format, model=model, known=before)
    if call is None:
        return None
    call = replace(call, seen=known.looks[: common.count])
    _tried(call, value, known=common.count)
    written = bytes(call.body[key])
    at = len(known.head) - written.index(_PLACE)
    longer = common.end - len(known.head) - len(_PLACE)
    whole = Raw(memoryview(data)[at : at + len(written) + longer])
    return replace(call, body={**call.body, key: whole})


def _tried(call: Call, value: Any, *, known: int = 0) -> list[Message | None]:
    """The messages behind the known ones, in the value of their body; `None` for one that cannot be read, of which who has to read it
    says why. Decoding each of them alone takes four times as long."""
    told = value.get(call.key)
    told = told[1:] if known else told
    if not isinstance(told, list) or len(told) != len(call.messages) - known:
        return []
    tried: list[Message | None] = []
    looks: list[Look] = []
    reads = codec(call.format).decode
    for wire, one in zip(call.messages[known:], told, strict=True):
        try:
            message: Message | None = reads(one)
        except UNREADABLE:
            message = None
        tried.append(message)
        looks.append(look_at(wire, call.format, read=message))
    call.seen = [*call.seen, *looks]
    return tried


def _let_go(looks: Sequence[Look]) -> None:
    for look in looks:
        look.let_go()


def _compared(data: bytes, known: _Known) -> _Common:
    at = len(known.head)
    for count, wire in enumerate(known.wires):
        start = at
        if count:
            between = _BETWEEN.match(data, at)
            if between is None:
                return _Common(known, count, at)
            start = between.end()
        if not data.startswith(wire, start):
            return _Common(known, count, at)
        at = start + len(wire)
    return _Common(known, len(known.wires), at)


def _head(data: bytes, call: Call) -> bytes:
    """What stands before the first message of a body, where every message is an object; else empty: nothing is remembered of it."""
    wires = call.messages
    if not wires or not all(wire.startswith(b"{") for wire in wires):
        return b""
    head = data[: max(0, data.find(wires[0]))]
    return head if _ends_in(head, KEYS[call.format].messages) else b""


def _ends_in(head: bytes, key: str) -> bool:
    """True where the next thing is the first item of the list under that key."""
    try:
        told = fields(head + _PLACE + b"]}")
        return next(reversed(told), None) == key and _is_place_alone(items(told[key]))
    except ValueError:
        return False


def _is_place_alone(found: Sequence[Raw]) -> bool:
    return [bytes(one) for one in found] == [_PLACE]
