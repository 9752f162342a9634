"""Lists of messages that are known, and how a request's list is compared with them.

A link is one message as a caller sent it: by its bytes first, and by what it says where bytes differ (`digests`). Knows nothing of
sessions but the numbers that a link has there. Which conversation a list belongs to is `foldline.clients.finding`'s to say; what is done
about a list that differs is `foldline.clients.following`'s, with the turn of that conversation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from hashlib import blake2b
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.clients.calls import NOTHING_YET, Call, Encoded
from foldline.clients.digests import loose, said, unmarked
from foldline.clients.looks import DIGEST_BYTES, Look
from foldline.core.message import Message, Part, ToolCall, calls_of, is_injected
from foldline.session.following import Following, Kept, Made
from foldline.session.incoming import fixed_part
from foldline.tokens.choose import counter_for
from foldline.tokens.counter import Counter
from foldline.tokens.media import NAMED_TOKENS_MAX
from foldline.wire.formats import codec

UNREADABLE: Final = (ValueError, LookupError, TypeError, RecursionError)
"""What a codec raises of a message that it does not read."""

_FIELD: Final = re.compile(r"[\w.\[\]]{1,60}(?=:)")
_PLACE: Final = re.compile(r"\d+")


class Unreadable(ValueError):
    """A request with something in it that is not read here. Its words name the field, and quote nothing."""


class Fixed(Struct, frozen=True, kw_only=True):
    """System prompt and tools of a request, as digests."""

    system: bytes = b""
    tools: bytes = b""
    has_tools: bool = False

    def is_of_one_agent(self, other: Fixed) -> bool:
        """True for two that one agent may have: its prompt may name the time, and its tools may change, but hardly both at once."""
        return self.system == other.system or (self.has_tools and self.tools == other.tools)


NOT_YET: Final = Fixed()


class Link(Struct, kw_only=True):
    """A message of a list that is known."""

    look: Look | None = None
    """At the message as the caller last sent it; `None` for an answer that did not come back yet, and for what a log has."""
    said: bytes = b""
    """As `digests.said`, where that is not for the look to say."""
    loose: bytes = b""
    """As `digests.loose`, without a look: nothing else is compared loosely."""
    seq: int = -1
    """Its entry in the session's log."""
    ordinal: int = -1
    since: int = -1
    """The first entry that is taken back with it, as `Kept.since`."""
    shown: int = -1
    """The last entry of the log when a list that ends with it was sent; -1 where that is not known."""
    tokens: int = 0
    """What it weighs as the caller sends it, by the counter of that name."""
    counter: str = ""
    merged: frozenset[bytes] = frozenset()
    """Of an answer behind others that called `recall`: what its caller has, as one message, where it was given what they said, the last
    of them or more, and the beginning that the request gave it. What is sent for it is the session's own, with those answers and their
    calls before it."""

    def says(self) -> bytes:
        """What the message says, as `digests.said`."""
        return self.said or (b"" if self.look is None else self.look.says())

    def is_in(self, look: Look) -> bool:
        """True for a message that the caller last sent in just these bytes."""
        own = self.look
        return own is look or (own is not None and own.digest == look.digest)

    def sent_as(self, look: Look) -> None:
        """Take it for the message from here on, which says the same in other bytes."""
        self.said = self.says()
        if not look.is_held:
            look.let_go()
        self.look = look


class Chain(Struct, kw_only=True, eq=False):
    """One conversation. Its links say what its log has, and change only after the log did."""

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
    reported: int = 0
    """Tokens that the provider counted with the last answer, of so many links; 0 where it did not."""
    reported_at: int = 0
    used: int = 0
    """When, in requests of this client."""
    born: int = 0
    parent: Chain | None = None
    shared: int = 0
    """So many messages it had of its parent when it branched off."""
    has_open_calls: bool = False
    """True while its last answer calls tools: it waits, and does not rest."""
    merged: bytes = b""
    """Of the last answer together with the beginning that the request gave it, as `Link.loose`; empty without one."""
    name: str | None = None
    """Under which its session is opened again; `None` for one that the host opened, or that has none."""
    fixed: Fixed = NOT_YET
    """Of its last request."""
    encoded: Encoded = NOTHING_YET
    """What the last request showed in the place of the caller's own messages."""
    waiting: list[Future[None]] | None = None
    """Who waits while a request of it has its turn; `None` while none has."""
    is_unsure: bool = False
    """True once something failed so that links and log may differ: the log is read before the next request then."""

    def answered(self, made: Sequence[tuple[Message, Link]], *, to: Call | None = None) -> None:
        """Take in an answer that may come back, or a part of it behind those before. `to`: its request, which may end in the beginning
        of it."""
        beginning = beginning_in(to.messages[-1], to.format) if to is not None and len(made) == 1 else None
        if beginning is not None and made[0][1].merged:
            self.links, self.stamp = self.links[:-1], self.stamp + 1  # its answer has it
        elif beginning is not None:
            self.merged = merged(beginning, made[0][0])
        if made and not self.answers:
            self.before_answer = max(-1, made[0][1].since - 1)
        self.links = [*self.links, *(link for _, link in made)]
        self.answers += len(made)
        self.has_open_calls = any(calls_of(message) for message, _ in made)
        self.reported, self.reported_at = reported_in(made), len(self.links)

    def most_reported(self, read: ReadList) -> int:
        """Tokens of a list that it goes on with, at most, by what the provider counted; 0 where it did not."""
        return self.reported and self.reported + read.size_from(self.reported_at)

    def stood(self, links: Sequence[Link]) -> int | None:
        """The last entry of the log when a list that is so far this one was all there was: it says what was shown for that. `None` for
        another list, and for one that has all of this."""
        count = len(links)
        if not 0 < count < len(self.links) or links[-1].seq != self.links[count - 1].seq:
            return None
        shown = self.links[count - 1].shown
        next = self.links[count]
        return (next.since if 0 <= next.since else next.seq) - 1 if shown < 0 else shown

    def keep(
        self, kept: Following, *, name: str, places: Sequence[tuple[int, int, frozenset[bytes]]]
    ) -> None:
        """Have a session. `places`: of each link its entry there, its ordinal, and what it is known by."""
        for link, place in zip(self.links, places, strict=True):
            link.seq, link.ordinal, link.merged = place
        self.kept, self.name = kept, name

    def branch_off(self, parent: Chain, count: int) -> None:
        """Have so many messages of another, and no more."""
        self.links = [replace(link, shown=-1, tokens=0, counter="") for link in parent.links[:count]]
        self.parent, self.shared, self.answers, self.stamp = parent, count, 0, self.stamp + 1

    def remember(self, kept: Sequence[Kept]) -> None:
        """Take in what a log has: its last answer may not have come back yet, and what was said before it may be said anew."""
        self.links = [link_of(one) for one in kept]
        messages = [one.message for one in kept]
        asked = _run_start(messages.__getitem__, len(kept), are_answers=True)
        self.answers = len(kept) - asked
        self.before_answer = kept[asked].since - 1 if self.answers else -1
        self.steady = _run_start(messages.__getitem__, asked, are_answers=False)


def reported_in(made: Sequence[tuple[Message, Link]]) -> int:
    """Tokens that the provider counted with an answer and all before it; 0 where it did not."""
    usage = made[-1][0].meta.usage if made and made[-1][0].meta is not None else None
    return 0 if usage is None else usage.tokens_context


class ReadList:
    """A request's list, each message decoded at most once, and only where its bytes are not known. Whatever has to read a message
    raises `Unreadable`."""

    def __init__(self, call: Call) -> None:
        self._tried = call.tried[call.leading :]
        self.call = call = replace(call, tried=[]) if call.tried else call
        self.wires = call.messages[call.leading :]
        """Of its messages."""
        self.looks = call.looks[call.leading :]
        """At each of them."""
        told = call.system, call.tools
        self._fixed = ["" if one is None else repr(one) for one in told]
        fixed = [text.encode("utf-8", "surrogatepass") for text in self._fixed]
        system, tools = map(_digest, fixed)
        self.fixed = Fixed(system=system, tools=tools, has_tools=told[1] is not None)
        """System prompt and tools."""
        self.fixed_size = sum(map(len, fixed))
        """Bytes of these."""
        named = sum(look.named for look in call.looks)
        self.size = sum(map(len, call.messages)) + self.fixed_size + named * NAMED_TOKENS_MAX
        """Bytes of the conversation, and what is counted for pictures and files whose bytes stand elsewhere: an upper bound of its
        tokens."""
        self.longest = max(map(len, self.wires), default=0)
        """Bytes of the longest message."""
        self.is_short: bool | None = None
        """Whether its bytes alone rule a reduction out, once that was looked at."""
        self._messages: dict[int, Message] = {}
        self._reader = codec(call.format)
        self._compared: dict[int, tuple[list[Link], int, int]] = {}
        """By chain: the links and answers that the list was compared with, and how many of its messages are theirs."""

    def __len__(self) -> int:
        return len(self.wires)

    def message(self, place: int) -> Message:
        """The message, without the caller's cache marks."""
        found = self._messages.get(place)
        if found is None:
            try:
                found = self._messages[place] = self._reader.decode(unmarked(self.wires[place]))
                self.looks[place].is_readable = True
            except UNREADABLE as error:
                raise Unreadable(f"a message cannot be read here ({_where(error)})") from error
        return found

    def weighable(self, place: int) -> Message:
        """The message, to be counted."""
        tried = self._tried[place] if self._tried else None
        return self.message(place) if tried is None else tried

    def messages(self, start: int) -> list[Message]:
        """All from there on."""
        return [self.message(place) for place in range(start, len(self))]

    def newest(self) -> Iterator[Message]:
        """All of them, the last one first, each read when it is asked for."""
        return (self.message(place) for place in reversed(range(len(self))))

    def links(self, start: int) -> list[Link]:
        """Of messages that are new, from there on."""
        for place, look in enumerate(self.looks[start:], start):
            if not look.is_held:
                look.let_go(said(self.message(place)))
        return [Link(look=look) for look in self.looks[start:]]

    def tokens(self, counter: str | None) -> int:
        """Of all of it, by the counter of that name, else the model's."""
        counting = counter_for(self.call.model, counter=counter, wire=self.call.format)
        counted = counting.weights_of(self.messages(0))
        return self.fixed_tokens(counting) + sum(overhead + sum(weights) for weights, overhead in counted)

    def fixed_tokens(self, counting: Counter) -> int:
        """Of system prompt and tools."""
        return sum(map(counting.text, self._fixed))

    def size_from(self, place: int) -> int:
        """Bytes of the messages from there on."""
        return sum(map(len, self.wires[place:]))

    def all_of(self, start: int, *, fixed: Fixed) -> None:
        """Read what is new, from there on, and system prompt and tools, where they are not those that were read before; but for what is
        known to be readable."""
        for place, look in enumerate(self.looks[start:], start):
            if not look.is_readable:
                self.message(place)
        if fixed == self.fixed:
            return
        try:
            fixed_part(self.call.system, self.call.tools, format=self.call.format)
        except UNREADABLE as error:
            raise Unreadable(f"system prompt or tools cannot be read here ({_where(error)})") from error

    def asked_before(self) -> int:
        """So many messages stand before the last answer: what the request before this one had, where a caller appends and asks on."""
        return _run_start(
            self.message, _run_start(self.message, len(self), are_answers=False), are_answers=True
        )

    def answers_at(self, place: int, chain: Chain) -> bool:
        """True where the conversation's last answer stands there."""
        answers = chain.links[len(chain.links) - chain.answers :]
        return all(
            is_same(self.message(place + n), link, loosely=True, stored=None)
            for n, link in enumerate(answers)
        )

    def common(self, chain: Chain) -> int:
        """How many messages of the list are the chain's, from the first on. What is equal in another spelling is known by
        that from here on. An answer is known without its reasoning until it came back once: callers may drop that, and a log has
        it (a client that was started again has seen nothing come back yet)."""
        links, answers, count = self._compared.get(id(chain), (None, 0, 0))
        if links is not chain.links or answers != chain.answers:
            count = self._counted(chain)
            self._compared[id(chain)] = (chain.links, chain.answers, count)
        return count

    def _counted(self, chain: Chain) -> int:
        stored = None if chain.kept is None else chain.kept.stored
        answered = len(chain.links) - chain.answers
        count = 0
        for place, (look, link) in enumerate(zip(self.looks, chain.links, strict=False)):
            if not link.is_in(look):
                message = self.message(place)
                loosely = place >= answered or (link.look is None and message.role == "assistant")
                if not is_same(message, link, loosely=loosely, stored=stored):
                    break
                link.sent_as(look)
            count += 1
        return count


def is_same(
    message: Message, link: Link, *, loosely: bool, stored: Callable[[Message], Message] | None
) -> bool:
    """True where a message says what a link does. `stored`: what becomes of it in the log; `loosely`: without its reasoning."""
    if said(message) == link.says() or (loosely and loose(message) == link.loose):
        return True
    clean = message if stored is None else stored(message)
    if link.merged and merged(clean) in link.merged:
        return True
    return clean is not message and said(clean) == link.says()


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest() if data else b"none"


def _run_start(message: Callable[[int], Message], end: int, *, are_answers: bool) -> int:
    """Where the messages before `end` begin that all are answers, or all are none."""
    while end and (message(end - 1).role == "assistant") == are_answers:
        end -= 1
    return end


def link_of(kept: Kept) -> Link:
    """Of a message in the log, whose bytes nobody has sent yet."""
    link = new_link(kept.message, seq=kept.seq, ordinal=kept.ordinal)
    link.since = kept.since
    before = [one for one in kept.unseen if calls_of(one) and _beside_calls(one)]
    given = [before[first:] for first in range(len(before))]
    beginning = [one for one in kept.unseen if not is_injected(one)]
    given += [[*beginning, *some] for some in (*given, []) if beginning]
    link.merged = frozenset(merged(*some, kept.message) for some in given)
    return link


def new_link(message: Message, *, seq: int = -1, ordinal: int = -1) -> Link:
    """Of a message whose bytes nobody has sent yet."""
    strictly = said(message)
    loosely = loose(message) if message.role == "assistant" else strictly
    return Link(said=strictly, loose=loosely, seq=seq, ordinal=ordinal)


def _where(error: Exception) -> str:
    """The field that an error of a codec is about, whatever place it has in its list; else what kind of error it is."""
    field = _FIELD.match(str(error))
    return type(error).__name__ if field is None else _PLACE.sub("", field[0])


def beginning_in(wire: bytes, format: str) -> Message | None:
    """The last message of a request where it is the assistant's, and so the beginning of the answer. Nearly always it is not, as its
    bytes say."""
    if b"assistant" not in wire and b"model" not in wire:
        return None
    message = codec(format).decode(unmarked(wire))
    return message if message.role == "assistant" else None


def merged(*messages: Message) -> bytes:
    """Of an answer behind what its caller was given before it (the beginning that the request gave it, or earlier answers without their
    calls), as one message: how its caller sends it back."""
    *before, answer = messages
    parts = [part for message in before for part in _beside_calls(message)]
    return loose(Message(role=answer.role, parts=(*parts, *answer.parts), format=answer.format))


def _beside_calls(message: Message) -> list[Part]:
    """What a message says but for its calls."""
    return [part for part in message.parts if not (isinstance(part, ToolCall) and not part.server)]
