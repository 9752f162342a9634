"""Forgetting in one log: each entry's body with what is to go put out of sight, as long as before and as sound.

    message 4   "the word is swordfish"            →  "the word is forgotten"       the part, wherever it is
    compaction  fold "… said swordfish" m4@1c9a…   →  "… said forgotten" m4@77f0…   what was derived from it

Entries are taken in order, so that an address that a later entry holds of a changed message is made anew: it opens to
what is left. Thoughts and pictures that are touched become parts of text, since no provider takes an altered one. Owns
what goes; how bytes are filled is `foldline.log.blanking`'s, who walks which logs `foldline.privacy.walking`'s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, assert_never

from msgspec import Struct

from foldline.core.address import digest_of
from foldline.core.entry import Entry
from foldline.core.errors import UnknownFormat
from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.ports import Pages
from foldline.core.received import received
from foldline.log.blanking import Gap, element_around, filled, only_words, places_of, spelled, strings
from foldline.log.values import read_message
from foldline.wire import strict

FORGOT: Final = "forgot"
"""The kind of entry that says where something was forgotten."""
DERIVED: Final = frozenset(("compaction", "edit", "checkpoint", "node", "node_end", "handoff"))
"""Kinds that may quote messages."""
LINE_CHARS_MIN: Final = 8
"""Shortest line of a forgotten part that is looked for in what was derived from it."""

_ADDRESS: Final = re.compile(rb"m(\d{1,9})(?:-(\d{1,9}))?(?:\.(\d{1,9}))?@([0-9a-f]{8})")
_WORDS: Final = re.compile(rb"\\u[0-9a-fA-F]{4}|\\.|([A-Za-z0-9_\x80-\xff]{3,})")
_MEDIA: Final = (b"data", b"url", b"image_url", b"file_data", b"fileUri", b"ref")
_WIRE: Final = frozenset((b"wire",))
_AS_IT_CAME: Final = {"tools": frozenset((b"tools",))}
"""By kind of entry the members that hold JSON as it came."""
_UNREADABLE: Final = (ValueError, LookupError, TypeError, OverflowError, UnknownFormat)


class Wish(Struct, frozen=True, kw_only=True):
    """What is to be forgotten: texts wherever they stand, and parts of messages."""

    texts: tuple[str, ...] = ()
    parts: Mapping[int, frozenset[int]] = {}
    """Slots by ordinal; an empty set: the whole message."""


class Quoted(Struct, frozen=True, kw_only=True):
    """What only the forgotten parts said: words and lines that no other message has."""

    words: frozenset[bytes] = frozenset()
    lines: tuple[re.Pattern[bytes], ...] = ()


class Addresses:
    """Addresses of changed messages, made anew. `read`: the message of an ordinal that did not change; `None` where it
    cannot be read. `renewed`: what a walk that was interrupted would have made of some."""

    def __init__(
        self,
        read: Callable[[int], Message | None],
        *,
        known: Addresses | None = None,
        below: int = 0,
        renewed: Mapping[str, str] | None = None,
    ) -> None:
        self._read = read
        self._renewed = {old.encode(): new.encode() for old, new in (renewed or {}).items()}
        self._changed: dict[int, tuple[Message, Message]] = {}
        if known is not None:
            self._changed |= {o: pair for o, pair in known._changed.items() if o < below}
        self._digests: dict[bytes, bytes] = {}

    def change(self, ordinal: int, *, was: Message, now: Message) -> None:
        """Take note of a message's change."""
        self._changed[ordinal] = (was, now)
        self._digests.clear()

    @property
    def renewals(self) -> dict[str, str]:
        """What became of each address that was made anew."""
        return {old.decode(): new.decode() for old, new in self._renewed.items()}

    def renewed(self, body: bytes) -> bytes:
        """A body whose addresses of what changed open to what is left; those that never opened stay."""
        has_any = (self._changed or self._renewed) and b"@" in body
        return _ADDRESS.sub(self._renew, body) if has_any else body

    def _renew(self, match: re.Match[bytes]) -> bytes:
        found = self._renewed.get(match[0]) or self._digests.get(match[0])
        if found is None:
            start, end = int(match[1]), int(match[2] or match[1]) + 1
            found = match[0]
            if any(start <= ordinal < end for ordinal in self._changed):
                slot = None if match[3] is None else int(match[3])
                if self._digest(range(start, end), slot, index=0) == match[4]:
                    found = match[0][:-8] + (self._digest(range(start, end), slot, index=1) or match[4])
            if found != match[0]:
                self._renewed[match[0]] = found
            self._digests[match[0]] = found
        return found

    def _digest(self, ordinals: range, slot: int | None, *, index: int) -> bytes | None:
        parts: list[Part] = []
        for ordinal in ordinals:
            pair = self._changed.get(ordinal)
            message = pair[index] if pair else self._read(ordinal)
            if message is None:
                return None
            parts += [part for part in received(message).parts if slot is None or part.slot == slot]
        return digest_of(parts).encode()


class Forgetter:
    """One walk over a log, first entry to last. `first`: the ordinal of its first message, for a fork."""

    def __init__(
        self, wish: Wish, addresses: Addresses, *, quoted: Quoted | None = None, first: int = 0
    ) -> None:
        self.addresses = addresses
        self.ordinals: list[int] = []
        """Messages that changed."""
        self.kinds: dict[str, int] = {}
        """How many entries of each kind changed."""
        self.places = 0
        """Places that were put out of sight."""
        self._wish, self._quoted, self._next = wish, quoted or Quoted(), first
        self._texts = tuple(map(spelled, wish.texts))
        self._halves = tuple(spelled(half) for text in wish.texts for half in _halves_of(text))

    def change(self, entry: Entry) -> bytes | None:
        """The entry's new body; `None` where nothing in it is to go."""
        ordinal = self._next
        self._next += entry.kind == "message"
        gaps = [gap for pattern in self._texts for gap in places_of(pattern, entry.body)]
        if entry.kind in DERIVED:
            gaps += _quotes(entry.body, self._quoted)
            gaps += [gap for half in self._halves for gap in places_of(half, entry.body)]
        gaps = [*only_words(entry.body, gaps, values=_AS_IT_CAME.get(entry.kind, _WIRE))]
        if entry.kind == "message" and ordinal in self._wish.parts:
            gaps += _parts_of(entry.body, self._wish.parts[ordinal])
        body = filled(entry.body, gaps)
        if entry.kind == "message" and body != entry.body:
            body = _without_altered_thoughts(entry.body, body)
        body = self.addresses.renewed(body)
        if body == entry.body:
            return None
        self._note(entry, body, ordinal=ordinal, places=len(gaps))
        return body

    def _note(self, entry: Entry, body: bytes, *, ordinal: int, places: int) -> None:
        assert len(body) == len(entry.body)
        if _is_json(entry.body) and not _is_json(body):
            raise ValueError(f"entry {entry.seq} would no longer be JSON; please report this")
        self.places += places
        if places or entry.kind == "message":
            self.kinds[entry.kind] = self.kinds.get(entry.kind, 0) + 1
        if entry.kind == "message":
            self.ordinals.append(ordinal)
            was, now = readable(entry.body), readable(body)
            if was is not None and now is not None:
                self.addresses.change(ordinal, was=was, now=now)


def _halves_of(text: str) -> tuple[str, ...]:
    """What is left of a text where a clipped copy ends inside it: its first half or its last."""
    middle = len(text) // 2
    return (text[:middle], text[-middle:]) if middle >= LINE_CHARS_MIN else ()


def readable(body: bytes) -> Message | None:
    """The message of a body; `None` for one that this version cannot read."""
    try:
        return read_message(body)
    except _UNREADABLE:
        return None


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


# ── parts of a message ───────────────────────────────────────────────────────────────────────────────────────


def chosen(message: Message, slots: frozenset[int]) -> tuple[Part, ...]:
    """The parts that a wish names."""
    return tuple(part for part in received(message).parts if not slots or part.slot in slots)


def _parts_of(body: bytes, slots: frozenset[int]) -> Iterator[Gap]:
    message = readable(body)
    if message is None:
        return
    tokens = [token for token in strings(body) if not token.is_name]
    leaves = {leaf for part in chosen(message, slots) for leaf in leaves_of(part) if leaf}
    arguments = {part.arguments for part in chosen(message, slots) if isinstance(part, ToolCall)}
    for token in tokens:
        said = json.loads(body[token.start : token.end])
        if said in arguments:
            leaves.discard(said)
            yield Gap(token.start + 1, token.end - 1, "object" if said[:1] in "{[" else "text")
        elif said in leaves and token.name in _MEDIA:
            yield element_around(body, token.start) or Gap(token.start + 1, token.end - 1)
        elif said in leaves and token.name not in (b"type", b"role", b"id", b"format"):
            yield Gap(token.start + 1, token.end - 1)
    for leaf in sorted(leaves | arguments):
        yield from _spelt_within(body, leaf, is_object=leaf in arguments)


def leaves_of(part: Part) -> Iterator[str]:
    """The texts a part holds."""
    match part:
        case Text() | Reasoning():
            yield part.text
        case ToolCall():
            yield part.arguments
        case ToolResult():
            for inner in part.content:
                yield from leaves_of(inner)
        case Media():
            yield from (said for said in (part.data, part.url, part.ref) if said)
        case Opaque():
            for token in strings(part.raw):
                if not token.is_name and token.name not in (b"type", b"id"):
                    yield str(json.loads(part.raw[token.start : token.end]))
        case _:
            assert_never(part)


def _spelt_within(body: bytes, leaf: str, *, is_object: bool) -> Iterator[Gap]:
    """Where a text stands inside a longer string, or arguments as a value of their own."""
    raw = leaf.encode("utf-8", "surrogatepass")
    if is_object and raw[:1] == b"{":
        at = body.find(b":" + raw)
        if at >= 0:
            yield Gap(at + 1, at + 1 + len(raw), "object")
            return
    if len(leaf) < LINE_CHARS_MIN:
        return
    for ascii_alone in (False, True):
        once = json.dumps(leaf, ensure_ascii=ascii_alone)[1:-1]
        for said in {once, json.dumps(once, ensure_ascii=ascii_alone)[1:-1]}:
            spelt = said.encode("utf-8", "surrogatepass")
            at = body.find(spelt)
            while at >= 0:
                yield Gap(at, at + len(spelt))
                at = body.find(spelt, at + len(spelt))


def _without_altered_thoughts(old: bytes, new: bytes) -> bytes:
    """A thought that a provider signed and that was altered is no thought any more: a part of text stands there."""
    if b'"signature"' not in old:
        return new
    gaps = []
    for token in strings(old):
        if (
            token.name in (b"thinking", b"text")
            and old[token.start : token.end] != new[token.start : token.end]
        ):
            around = element_around(old, token.start)
            if around is not None and b'"signature"' in old[around.start : around.end]:
                gaps.append(around)
    return filled(new, gaps)


# ── what was derived ─────────────────────────────────────────────────────────────────────────────────────────


def quoted_of(gone: list[Part], *, bodies: Iterator[bytes]) -> Quoted:
    """What only these parts say, given the bodies of all messages as they will be: a word that another message has may
    stay in a summary."""
    texts = [leaf for part in gone for leaf in leaves_of(part)]
    words = {word for text in texts for word in _words(text.encode("utf-8", "surrogatepass"))}
    lines = {
        line for text in texts for line in map(str.strip, text.split("\n")) if len(line) >= LINE_CHARS_MIN
    }
    for body in bodies:
        words -= _words(body)
    return Quoted(
        words=frozenset(words), lines=tuple(spelled(line) for line in sorted(lines) if len(line) < 400)
    )


def quoted_in(quoted: Quoted, bodies: Iterator[bytes]) -> Quoted:
    """Of words and lines those that stand in these bodies."""
    words: set[bytes] = set()
    lines: set[re.Pattern[bytes]] = set()
    for body in bodies:
        words |= _words(body) & quoted.words
        lines.update(line for line in quoted.lines if line not in lines and line.search(body))
    return Quoted(words=frozenset(words), lines=tuple(line for line in quoted.lines if line in lines))


def _words(data: bytes) -> set[bytes]:
    return {match[1] for match in _WORDS.finditer(data) if match[1]}


def _quotes(body: bytes, quoted: Quoted) -> Iterator[Gap]:
    for pattern in quoted.lines:
        yield from places_of(pattern, body)
    if quoted.words:
        tokens = [
            token
            for token in strings(body)
            if not token.is_name and token.name not in (b"address", b"format")
        ]
        for token in tokens:
            for match in _WORDS.finditer(body, token.start + 1, token.end - 1):
                if match[1] in quoted.words:
                    yield Gap(match.start(1), match.end(1))


def forgotten_in(pages: Pages) -> frozenset[int]:
    """The messages of a log in which something was forgotten, by ordinal."""
    found: set[int] = set()
    for entry in pages.entries():
        if entry.kind == FORGOT:
            told = strict.loads(entry.body)
            found.update(int(ordinal) for ordinal in told.get("ordinals", ()))
    return frozenset(found)
