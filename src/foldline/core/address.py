"""Addresses: how what left the view is asked for again.

An address needs no log. It names ordinals in the history it was made from and carries a piece of the content's
digest, so that it opens on the caller's own input and refuses anything else:

    m12.3@5f0c9a1e      the part at slot 3 of message 12
    m4-47@c41d88b0      messages 4 to 47, both included
    m7@09ab12cd         one whole message

Without the digest it is short, as the lines of a ledger name a message (`m7`): whoever opens one has to know whose it is.

Also owns the delimiter of synthetic messages. Its tag is the address, so it depends on the covered bytes; and
every opening of a foldline tag inside quoted text is escaped, which is what makes it impossible to forge.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from operator import is_
from typing import assert_never

import msgspec
from msgspec import Struct

from foldline.core.errors import UnknownAddress
from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.surrogates import whole, whole_json

DIGEST_CHARS = 8
"""Hexadecimal digits of the digest in an address: 32 bits, enough to notice a wrong history."""

_ADDRESS = re.compile(r"m(\d{1,9})(?:-(\d{1,9}))?(?:\.(\d{1,9}))?@([0-9a-f]{8})")
_SHORT = re.compile(r"m(\d{1,9})(?:-m?(\d{1,9}))?(?:\.(\d{1,9}))?()")
_AROUND = "[]()<>\"'`·.,;: "
_TAG_OPENING = re.compile(r"<(/?foldline)", re.IGNORECASE)
_BLOCK = re.compile(
    r'<foldline-(fold|notice) id="(m[\d.-]+@[0-9a-f]{8})"[^<>]*>\n(.*)\n</foldline-\1>', re.DOTALL
)


class Place(Struct, frozen=True, kw_only=True):
    """What an address says, taken apart."""

    start: int
    end: int
    """Half-open: the ordinal after the last message."""
    slot: int | None
    digest: str
    """Empty where the address is short: whatever stands there."""


def parse_address(address: str) -> Place:
    """Take a whole address apart. Raises `UnknownAddress` for text that is none."""
    match = _ADDRESS.fullmatch(address.strip())
    if match is None:
        raise UnknownAddress(address, "this is no address; one looks like m12.3@5f0c9a1e or m4-47@c41d88b0")
    return _taken_apart(address, match)


def place_in(text: str) -> Place:
    """The address in a text: whole, alone or within what it was copied with (the brackets of a notice, quotes), else short, as
    in a ledger: `m12`, `m4-47`, `m4-m47`, `m12.3`. Raises `UnknownAddress`."""
    match = _ADDRESS.search(text) or _SHORT.fullmatch(text.strip().strip(_AROUND))
    if match is None:
        raise UnknownAddress(
            text, "this is no address; one looks like m12.3@5f0c9a1e or m4-47@c41d88b0, or short, like m12"
        )
    return _taken_apart(text, match)


def is_address(text: str) -> bool:
    """True for a text that is a whole address, perhaps in brackets or quotes."""
    return _ADDRESS.fullmatch(text.strip().strip(_AROUND)) is not None


def is_short(text: str) -> bool:
    """True for a text that is a short address and nothing else."""
    return _SHORT.fullmatch(text.strip()) is not None


def held(messages: int, place: Place) -> str:
    """What a history of so many messages holds, for whoever asked for a place that it does not have."""
    if place.end <= messages:
        return f"nothing there; m{place.start} opens that message whole"
    if messages < 2:
        return f"nothing there, but {'one message, m0' if messages else 'no message yet'}"
    return f"nothing there, but m0 to m{messages - 1}"


def spelt(place: Place) -> str:
    """A place as its address is written."""
    last = f"-{place.end - 1}" if place.end - place.start > 1 else ""
    slot = f".{place.slot}" if place.slot is not None else ""
    return f"m{place.start}{last}{slot}" + (f"@{place.digest}" if place.digest else "")


def _taken_apart(address: str, match: re.Match[str]) -> Place:
    first, last, slot, digest = match.groups()
    start, end = int(first), int(last if last is not None else first) + 1
    if end <= start or (last is not None and slot is not None):
        raise UnknownAddress(address, "the range is empty or names a part of several messages")
    return Place(start=start, end=end, slot=None if slot is None else int(slot), digest=digest)


def part_address(seq: int, part: Part) -> str:
    """The address of one part of message `seq`."""
    return f"m{seq}.{part.slot}@{digest_of([part])}"


def span_address(messages: Iterable[tuple[int, Message]]) -> str:
    """The address of consecutive messages, each given with its ordinal; at least one."""
    pairs = list(messages)
    first, last = min(seq for seq, _ in pairs), max(seq for seq, _ in pairs)
    return address_of(
        first, last + 1, digest=digest_of(part for _, message in pairs for part in message.parts)
    )


def address_of(start: int, end: int, *, digest: str) -> str:
    """The address of the messages from one ordinal up to and without another, whose content has this digest."""
    return f"m{start}@{digest}" if end - start == 1 else f"m{start}-{end - 1}@{digest}"


def digest_of(parts: Iterable[Part]) -> str:
    """The first `DIGEST_CHARS` hexadecimal digits of the SHA-256 of the parts' content. Slots do not count, nor
    does the wire format: the same content read from another format keeps its digest."""
    running = RunningDigest()
    for part in parts:
        running.add(part)
    return running.digest


class RunningDigest:
    """A digest that can be gone on with: of a span that grows at its end, part by part."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def add(self, part: Part) -> None:
        """Take in one more part."""
        pieces: list[bytes] = []
        for field in _fields(part):
            data = _bytes(field)
            pieces += (_length(data), data)
        self._sha.update(b"".join(pieces))

    @property
    def digest(self) -> str:
        """Of all parts so far."""
        return self._sha.hexdigest()[:DIGEST_CHARS]


class SpanDigest:
    """The digest of a span of messages. One that begins with the messages of the last one, as the span of a fold does in a history that
    grew, is gone on with."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._running = RunningDigest()

    def of(self, messages: Sequence[Message]) -> str:
        """The digest of these."""
        size = len(self._messages)
        if size > len(messages) or not all(map(is_, self._messages, messages)):
            self._messages, self._running, size = [], RunningDigest(), 0
        for message in messages[size:]:
            for part in message.parts:
                self._running.add(part)
        self._messages += messages[size:]
        return self._running.digest


def _length(data: bytes) -> bytes:
    """Stands before each field: where one ends is a part of what is digested."""
    return b"%d:" % len(data)


def _fields(part: Part) -> list[str]:
    match part:
        case Text():
            return ["t", part.text]
        case ToolResult():
            return [
                "o",
                str(len(part.content)),
                *[field for inner in part.content for field in _fields(inner)],
            ]
        case ToolCall():
            return ["c", part.name, _canonical(part.arguments)]
        case Reasoning():
            return ["r", part.text, part.signature or ""]
        case Media():
            return ["m", part.kind, part.data or part.url or part.ref or ""]
        case Opaque():
            return ["x", part.type, _canonical(part.raw.decode("utf-8", "replace"))]
    assert_never(part)


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return whole(text).encode()


def _canonical(json_text: str) -> str:
    """JSON without what spelling adds, and without half pairs: the same call read from a dict, from a file and from a
    mended history has one digest."""
    try:
        return msgspec.json.encode(msgspec.json.decode(whole_json(json_text))).decode()
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return json_text


def escape_tags(text: str) -> str:
    """Quoted text that cannot open or close a foldline block."""
    return _TAG_OPENING.sub(r"&lt;\1", text) if "<" in text else text


def escape_marks(text: str) -> str:
    """Quoted text in which none of our tags and none of our notices (`[foldline: …]`) opens."""
    return escape_tags(text).replace(NOTICE_OPENING, NOTICE_SPELT)


def block(kind: str, address: str, *, body: str) -> str:
    """A synthetic message's text: `body` (already escaped where it quotes) between delimiters that carry the address."""
    return f'<foldline-{kind} id="{address}">\n{body}\n</foldline-{kind}>'


def read_block(text: str) -> tuple[str, str, str] | None:
    """(kind, address, body) when the whole text is one foldline block; else `None`.

    What foldline writes into a block has its tags escaped: words that stand between two blocks are nobody's body.
    """
    match = _BLOCK.fullmatch(text.strip())
    if match is None or _TAG_OPENING.search(match.group(3)) is not None:
        return None
    return match.group(1), match.group(2), match.group(3)


NOTICE_OPENING, NOTICE_SPELT = "[foldline: ", "[foldline&#58; "
RECALL_OPENING = "<foldline-recall "
"""How a result of the recall tool begins. In what it quotes no such opening stands."""


def is_recalled(part: Part) -> bool:
    """True for a tool result that recall gave: it says again what stands elsewhere, so it states no new facts, and it is
    not reduced in the round that asked. A tool that writes the same opening gains nothing but not to be believed."""
    if type(part) is not ToolResult or not part.content:
        return False
    first = part.content[0]
    return isinstance(first, Text) and first.text.startswith(RECALL_OPENING)


def notice(text: str, address: str) -> str:
    """The one-line notice that stands inside a shortened part: what went, and its address."""
    return f"[foldline: {text} · {address}]"


_NOTICE = re.compile(r"\[foldline: [^\[\]\n]{1,120} · m[\d.-]{1,30}@[0-9a-f]{8}\]")


def is_notice(text: str) -> bool:
    """True when `text` is one notice and nothing else: a placeholder."""
    return _NOTICE.fullmatch(text) is not None


NOTICE_END = "[foldline: end]"
"""Behind what foldline says below a notice, where a part goes on as it came."""


def without_notices(text: str) -> str:
    """Text without our notices, which say nothing of what stood there but where it is."""
    return _NOTICE.sub("", text).replace(NOTICE_END, "") if "[foldline: " in text else text


def has_notice(text: str) -> bool:
    """True when `text` holds a notice, so that it was shortened before."""
    return "[foldline: " in text and _NOTICE.search(text) is not None


class Marked(Struct, frozen=True, kw_only=True):
    """What a mark of superseded words says."""

    address: str
    """Of the message that supersedes them."""
    quotes: tuple[str, ...]
    """The sentences that no longer stand, each on one line; empty when that is all of the text before the mark."""


_MARK = re.compile(r"\[superseded by (m\d{1,9}@[0-9a-f]{8})(?:: (\".+\"))?\]")
_QUOTED = '" · "'


def mark(address: str, quotes: Iterable[str] = ()) -> str:
    """The text of a mark: it stands behind the words that another message supersedes, and quotes them where not all of
    them are meant."""
    quoted = [" ".join(text.split()).replace(_QUOTED, '" "') for text in quotes]
    return f"[superseded by {address}" + (f': "{_QUOTED.join(quoted)}"]' if quoted else "]")


def read_mark(text: str) -> Marked | None:
    """The mark that a text is; `None` for any other text."""
    match = _MARK.fullmatch(text) if text.startswith("[superseded by m") else None
    if match is None:
        return None
    return Marked(
        address=match[1], quotes=tuple(match[2][1:-1].split(_QUOTED)) if match[2] is not None else ()
    )
