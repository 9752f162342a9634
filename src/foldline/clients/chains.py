"""Lists of messages that are known, and how a request's list is compared with them.

A link is one message as a caller sent it: by its bytes first, and by what it says where bytes differ (`digests`). Knows nothing of
sessions but the numbers that a link has there; what is done about a list that differs is `foldline.clients.following`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

from msgspec import Struct

from foldline.clients.calls import Call
from foldline.clients.digests import loose, said, unmarked
from foldline.core.message import Message
from foldline.session.following import Following, Kept, Made
from foldline.tokens.choose import counter_for
from foldline.wire.formats import codec


class Link(Struct, kw_only=True):
    """A message of a list that is known."""

    raw: bytes
    """A digest of the bytes as the caller last sent them; empty for an answer that did not come back yet."""
    said: bytes
    loose: bytes
    seq: int = -1
    """Its entry in the session's log."""
    ordinal: int = -1


class Chain(Struct, kw_only=True):
    """One conversation."""

    links: list[Link] = []
    steady: int = 0
    """So many were known before the last request."""
    stamp: int = 0
    """Grows whenever links are taken away: an answer to what came before is none of this conversation's."""
    remade: list[Made] = []
    """Made after the place to which it was cut back, of messages before it: to be made again."""
    kept: Following | None = None
    """Its session; `None` while it has none."""
    answers: int = 0
    """So many links at the end were answered and did not come back yet."""
    before_answer: int = -1
    """The last entry before them."""
    before_recall: int = -1
    """The last entry before calls of recall that were answered beside the list since the last request; -1: there were none."""
    used: int = 0
    """When, in requests of this client."""
    born: int = 0
    parent: Chain | None = None
    is_busy: bool = False
    """True while its session prepares, which may ask a model: nothing else may change it meanwhile."""

    def remember(self, kept: Sequence[Kept]) -> None:
        """Take in what a log has: its last answer may not have come back yet, and what was said before it may be said anew."""
        self.links = [link_of(one) for one in kept]
        answers = _last_run(kept, are_answers=True)
        self.answers = len(answers)
        self.before_answer = answers[0].seq - 1 if answers else -1
        self.steady = (
            len(kept) - len(answers) - len(_last_run(kept[: len(kept) - len(answers)], are_answers=False))
        )


class ReadList:
    """A request's list, each message decoded at most once, and only where its bytes are not known."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self._wires = call.messages[call.leading :]
        self.raws = [blake2b(wire, digest_size=16).digest() for wire in self._wires]
        self.size = sum(map(len, call.messages)) + sum(map(len, _fixed(call)))
        """Bytes of the conversation: an upper bound of its tokens."""
        self.longest = max(map(len, self._wires), default=0)
        """Bytes of the longest message."""
        self._messages: dict[int, Message] = {}
        self._reader = codec(call.format)

    def __len__(self) -> int:
        return len(self._wires)

    def message(self, place: int) -> Message:
        """The message, without the caller's cache marks."""
        found = self._messages.get(place)
        if found is None:
            found = self._messages[place] = self._reader.decode(unmarked(self._wires[place]))
        return found

    def tokens(self, counter: str | None) -> int:
        """Of all of it, by the counter of that name, else the model's."""
        counting = counter_for(self.call.model, counter=counter, wire=self.call.format)
        counted = (counting.weights(self.message(place)) for place in range(len(self)))
        fixed = sum(counting.text(text.decode("utf-8", "replace")) for text in _fixed(self.call))
        return fixed + sum(sum(weights) + overhead for weights, overhead in counted)

    def link(self, place: int) -> Link:
        """Of a message that is new."""
        message = self.message(place)
        return Link(raw=self.raws[place], said=said(message), loose=loose(message))

    def answers_at(self, place: int, chain: Chain) -> bool:
        """True where the conversation's last answer stands there."""
        answers = chain.links[len(chain.links) - chain.answers :]
        return all(
            is_same(self.message(place + n), link, loosely=True, stored=None)
            for n, link in enumerate(answers)
        )

    def common(self, chain: Chain) -> int:
        """How many messages of the list are the chain's, from the first on. What is equal in another spelling is known by
        that from here on."""
        stored = None if chain.kept is None else chain.kept.stored
        answered = len(chain.links) - chain.answers
        count = 0
        for place, (raw, link) in enumerate(zip(self.raws, chain.links, strict=False)):
            if raw != link.raw:
                message = self.message(place)
                if not is_same(message, link, loosely=place >= answered, stored=stored):
                    break
                link.raw = raw
            count += 1
        return count


def is_same(
    message: Message, link: Link, *, loosely: bool, stored: Callable[[Message], Message] | None
) -> bool:
    """True where a message says what a link does. `stored`: what becomes of it in the log; `loosely`: without its reasoning."""
    if said(message) == link.said or (loosely and loose(message) == link.loose):
        return True
    clean = message if stored is None else stored(message)
    return clean is not message and said(clean) == link.said


def _last_run(kept: Sequence[Kept], *, are_answers: bool) -> Sequence[Kept]:
    """The messages at the end that all are answers, or all are none."""
    count = 0
    while count < len(kept) and (kept[-1 - count].message.role == "assistant") == are_answers:
        count += 1
    return kept[len(kept) - count :]


def link_of(kept: Kept) -> Link:
    """Of a message in the log, whose bytes nobody has sent yet."""
    return Link(
        raw=b"", said=said(kept.message), loose=loose(kept.message), seq=kept.seq, ordinal=kept.ordinal
    )


def _fixed(call: Call) -> Sequence[bytes]:
    return [repr(call.system).encode(), repr(call.tools).encode()]
