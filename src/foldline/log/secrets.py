"""Secrets in what is about to be written: found, and replaced by a fingerprint that keeps equality.

    "key": "sk-ant-api03-…"   →   "key": "⟦secret:5f0c9a1e77b3d021⟧"

Works on the JSON bytes of an entry's body, at every depth of JSON inside JSON, and on plain text. Owns the search and
the replacement; the families stand in `foldline.log.secret_families`. The fingerprint is keyed (HMAC), so that nobody
without the key can try words against it; the key comes in as a value. Knows no file and no session.

What is never touched: signatures and encrypted reasoning, base64 of media, what was redacted before. A secret that is
found is replaced and the session goes on: finding one is no error.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.json_text import decoded
from foldline.log.secret_families import RUN_BYTES_MIN, TOKENS, WORDS, Family
from foldline.log.secret_places import LETTERS, PLACES

FINGERPRINT_DIGITS: Final = 16
"""Hexadecimal digits of a fingerprint, 4 bits each."""
KEY_BYTES_MIN: Final = 16
"""Shortest key of a redactor, bytes."""

SEEN: Final = "seen"
"""The family of what is known again."""
SEEN_MAX: Final = 48
"""Lines of secrets that a redactor knows again: each costs two searches of every body."""
SEEN_BYTES_MIN: Final = 8
"""Shortest of them, bytes."""
PIECE_BYTES: Final = 16
"""Shortest piece of one that is known again, bytes."""
PASSES_MAX: Final = 4
"""How often a body is looked through that had secrets."""

_ESCAPES: Final = (
    re.compile(
        rb"\\u(00(?:2[013-9a-fA-F]|[346][0-9a-fA-F]|[57][0-9abABd-eD-E])|%b)"
        % b"|".join(code for letter in LETTERS for code in (b"%04x" % ord(letter), b"%04X" % ord(letter)))
    ),
    re.compile(rb"\\(/)"),
)
"""Printable ASCII that is spelt as an escape, quotes and backslashes apart; and the letters of words before a secret."""
_STRING: Final = re.compile(rb'"((?:[^"\\]|\\.)*+)(?:"|\\?\Z)', re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_BREAKS: Final = re.compile(rb"(?:(?<!\\)\\++[nr]|[\r\n])+")
_SEALED: Final = re.compile(
    rb'"(?:signature|thoughtSignature|thought_signature|encrypted_content|encrypted_reasoning)"\s*:\s*"$'
)
"""Before the value of a wire's own seal over its reasoning."""
_SEALED_LONG: Final = re.compile(
    rb'"(?:signature|thoughtSignature|thought_signature|encrypted_content|data|bytes|b64_json|file_data)'
    rb'\\*+"\s{0,8}:\s{0,8}\\*+"$'
)
"""Before a value that is opaque when it is long and base64 from its start."""
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_=-]*")
_SEAL_BYTES_MIN: Final = 32
_KEY_BYTES: Final = 64
"""Bytes before a value in which its key is looked for."""
_RUN: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.+=~%"
_CLASSES: Final = bytes(ord("a") if byte in _RUN else ord(" ") for byte in range(256))
_LONG_RUN: Final = b"a" * RUN_BYTES_MIN
_BLOB_BYTES_MIN: Final = 512
"""From here on a run may be a picture; asked once, before it is searched."""
_BY_ANCHOR: Final = {
    anchor: tuple(family for family in TOKENS if any(anchor.startswith(own) for own in family.anchors))
    for anchor in sorted(
        {own for family in TOKENS for own in family.anchors}, key=lambda own: (-len(own), own)
    )
}
"""The families to try where an anchor stands; those of a shorter one that it begins with too."""
_BY_WORD: Final = {
    anchor: tuple(family for family in (*WORDS, *PLACES) if anchor in family.anchors)
    for anchor in dict.fromkeys(own for family in (*WORDS, *PLACES) for own in family.anchors)
}
"""The families that share an anchor: it is searched once for all of them."""
_BY_ASCII: Final = {anchor: families for anchor, families in _BY_WORD.items() if anchor.isascii()}
"""Those that a text of ASCII alone may hold."""
_ANCHORS: Final = re.compile(b"|".join(map(re.escape, _BY_ANCHOR)))


class Hit(Struct, frozen=True, gc=False):
    """A secret found: bytes `start` to `end` of what was searched."""

    start: int
    end: int
    family: str
    value: bytes
    """The secret itself, its escapes undone, so that one secret is the same in every wrapping."""


class Redacted(Struct, frozen=True):
    """What is left when the secrets are out."""

    data: bytes
    count: int = 0
    families: Mapping[str, int] = {}
    """How many of each family."""


def find(data: bytes) -> tuple[Hit, ...]:
    """The secrets in JSON or text, in order, none overlapping another. Time is linear in the size of `data`."""
    plain, spelt = _unescape(data)
    spans = sorted(_spans(plain), key=lambda span: (span[0], -span[1]))
    hits: list[tuple[int, int, str]] = []
    for start, end, name in spans:
        if hits and start < hits[-1][1]:
            hits[-1] = (hits[-1][0], max(end, hits[-1][1]), hits[-1][2])
        else:
            hits.append((start, end, name))
    return tuple(
        Hit(spelt.raw(start), spelt.raw(end), name, _BREAKS.sub(b"\n", plain[start:end]))
        for start, end, name in hits
    )


class Redactor:
    """Takes the secrets out of bodies and texts. Idempotent: what it gave back, it gives back unchanged. A secret that it
    has seen it knows again where nothing says what it is: alone in a line, or where a clipped copy ends inside it."""

    def __init__(self, key: bytes) -> None:
        if len(key) < KEY_BYTES_MIN:
            raise ValueError(f"a key of fingerprints has at least {KEY_BYTES_MIN} bytes")
        self._key = key
        self._seen: dict[bytes, bytes] = {}
        """Lines of secrets, the last ones seen, and the secret each is of."""

    def body(self, data: bytes) -> Redacted:
        """The JSON of a body without secrets; valid JSON when `data` was. Bytes outside the secrets stay as they are."""
        redacted = Redacted(data)
        families = Counter[str]()
        for _ in range(PASSES_MAX):  # a mark may end what hid another secret
            hits = self._hits(redacted.data)
            if not hits:
                break
            families.update(hit.family for hit in hits)
            redacted = Redacted(self._without(redacted.data, hits), families.total(), families)
        return redacted

    def _hits(self, data: bytes) -> Sequence[Hit]:
        hits = find(data)
        for hit in hits:
            self._note(hit.value)
        return self._with_seen(data, hits)

    def _without(self, data: bytes, hits: Sequence[Hit]) -> bytes:
        pieces: list[bytes] = []
        at = 0
        for hit in hits if decoded(data) is None else _within_strings(data, hits):
            pieces += (data[at : hit.start], self.mark(hit.value).encode())
            at = hit.end
        return b"".join([*pieces, data[at:]])

    def _note(self, secret: bytes) -> None:
        for line in secret.split(b"\n"):
            if len(line) >= SEEN_BYTES_MIN and not line.startswith(b"-----"):
                self._seen.pop(line, None)
                self._seen[line] = secret
        while len(self._seen) > SEEN_MAX:
            del self._seen[next(iter(self._seen))]

    def _with_seen(self, data: bytes, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The hits, and between them what is known again."""
        more = [
            Hit(start, end, SEEN, secret)
            for line, secret in self._seen.items()
            for start, end in _pieces_of(line, data)
        ]
        taken: list[Hit] = []
        for hit in sorted([*hits, *more], key=lambda hit: (hit.start, -hit.end)):
            if not taken or hit.start >= taken[-1].end:
                taken.append(hit)
        return tuple(taken) if more else tuple(hits)

    def text(self, text: str) -> str:
        """A text without secrets."""
        data = text.encode("utf-8", "surrogatepass")
        redacted = self.body(data)
        return redacted.data.decode("utf-8", "surrogatepass") if redacted.count else text

    def mark(self, secret: bytes) -> str:
        """What stands in the place of a secret: the same for the same one under the same key."""
        digest = hmac.new(self._key, secret, hashlib.sha256).hexdigest()
        return f"⟦secret:{digest[:FINGERPRINT_DIGITS]}⟧"


def _within_strings(data: bytes, hits: Sequence[Hit]) -> Iterator[Hit]:
    """The hits as far as they lie within one string of the JSON, whole escapes at a time: a pattern that takes too much costs no
    body its quotes."""
    strings = deque(match.span(1) for match in _STRING.finditer(data))
    for hit in hits:
        while strings and strings[0][1] <= hit.start:
            strings.popleft()
        if not strings:
            return
        start, stop = max(hit.start, strings[0][0]), min(hit.end, strings[0][1])
        for escape in _ESCAPE.finditer(data, *strings[0]):
            start = escape.end() if escape.start() < start < escape.end() else start
            stop = escape.start() if escape.start() < stop < escape.end() else stop
        if start < stop:
            yield replace(hit, start=start, end=stop)


def _pieces_of(line: bytes, data: bytes) -> Iterator[tuple[int, int]]:
    """Where a line stands, whole, or its beginning or its end in pieces of at least `PIECE_BYTES`."""
    head, tail = line[:PIECE_BYTES], line[-PIECE_BYTES:]
    at = data.find(head)
    while at >= 0:
        size = _same(line, data[at : at + len(line)])
        if not _sealed_until(data, at):
            yield at, at + size
        at = data.find(head, at + size)
    at = data.find(tail) if len(line) > PIECE_BYTES else -1
    while at >= 0:
        end = at + len(tail)
        size = _same(line[::-1], data[max(0, end - len(line)) : end][::-1])
        if size < len(line) and not _sealed_until(data, end - size):
            yield end - size, end
        at = data.find(tail, end)


def _same(one: bytes, other: bytes) -> int:
    """How many bytes two strings begin with in common."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


# ── search ───────────────────────────────────────────────────────────────────────────────────────────────────


def _spans(plain: bytes) -> Iterator[tuple[int, int, str]]:
    folded = plain.lower()
    for anchor, families in (_BY_ASCII if plain.isascii() else _BY_WORD).items():
        if anchor in folded:
            yield from _spans_of(families, anchor, plain=plain, folded=folded)
    for start, end in _runs(plain):
        yield from _tokens(plain, start, stop=end)


def _spans_of(
    families: tuple[Family, ...], anchor: bytes, *, plain: bytes, folded: bytes
) -> Iterator[tuple[int, int, str]]:
    """The members of families at an anchor that they share. Each goes on behind what its pattern matched, taken or not:
    so no byte is looked at more than a bounded number of times."""
    ends = [0] * len(families)
    at = folded.find(anchor)
    while at >= 0:
        for number, family in enumerate(families):
            if at >= ends[number]:
                ends[number], taken = _try(family, plain, at=at)
                yield from taken
        at = folded.find(anchor, max(min(ends), at + 1))


def _runs(plain: bytes) -> Iterator[tuple[int, int]]:
    """Runs of characters of a token that are long enough for one; not those that are base64 of a picture or a seal."""
    marks = plain.translate(_CLASSES)
    at = marks.find(_LONG_RUN)
    while at >= 0:
        start = marks.rfind(b" ", 0, at) + 1
        end = marks.find(b" ", at)
        end = len(marks) if end < 0 else end
        if end - start < _BLOB_BYTES_MIN or not _sealed_until(plain, start + _BLOB_BYTES_MIN // 2):
            yield start, end
        at = marks.find(_LONG_RUN, end)


def _tokens(plain: bytes, start: int, *, stop: int) -> Iterator[tuple[int, int, str]]:
    """The members of `TOKENS` in one run."""
    at = max(start - 1, 0)
    while (found := _ANCHORS.search(plain, at, stop)) is not None:
        at = found.end()
        for family in _BY_ANCHOR[found[0]]:
            end, taken = _try(family, plain, at=found.start())
            at = max(at, end)
            yield from taken
            if taken:
                break


def _try(family: Family, plain: bytes, *, at: int) -> tuple[int, list[tuple[int, int, str]]]:
    """Where to go on behind a place where an anchor stands, and the spans of the secrets there."""
    match = family.pattern.match(plain, at)
    if match is None:
        return at, []
    group = "s" if "s" in family.pattern.groupindex else 0
    start, end = match.start(group) - family.before, match.end(group)
    sealed = _sealed_until(plain, start)
    if sealed:
        return max(end, sealed), []
    inner = [(match, start, end)]
    if family.inner is not None:
        inner = [(m, m.start("s"), m.end("s")) for m in family.inner.finditer(plain, start, end)]
    return end, [
        (first, last, family.name)
        for one, first, last in inner
        if family.accept(_groups(one, plain, span=(first, last), around=family.around))
    ]


def _groups(match: re.Match[bytes], plain: bytes, *, span: tuple[int, int], around: int) -> dict[str, bytes]:
    """What a family may judge by: the pattern's groups, the secret, what stands before the match and after it."""
    told = {name: group or b"" for name, group in match.groupdict().items()}
    before = plain[max(0, match.start() - around) : match.start()]
    return {**told, "s": plain[slice(*span)], "before": before, "after": plain[match.end() : match.end() + 1]}


def _sealed_until(plain: bytes, start: int) -> int:
    """The end of the opaque value that `start` lies in; 0 when it lies in none."""
    quote = plain.rfind(b'"', 0, start)
    if quote < 0:
        return 0
    key = plain[max(0, quote - _KEY_BYTES) : quote + 1]
    run = _BASE64.match(plain, quote + 1)
    assert run is not None
    if run.end() > start and _SEALED.search(key):
        return run.end()
    if run.end() > start >= quote + 1 + _SEAL_BYTES_MIN and _SEALED_LONG.search(key):
        return run.end()
    comma = plain.rfind(b";base64,", quote, start)
    if comma >= 0:
        run = _BASE64.match(plain, comma + len(b";base64,"))
        assert run is not None
        return run.end() if run.end() > start else 0
    return 0


# ── spelling ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Spelling(Struct, frozen=True):
    """Where the bytes of a plain text stand in the spelt one."""

    places: list[int]
    """Of each escape, in the plain text."""
    extra: list[int]
    """Bytes that all escapes up to and with this one have more than what they stand for."""

    def raw(self, place: int) -> int:
        before = bisect_left(self.places, place)
        return place + (self.extra[before - 1] if before else 0)


def _unescape(data: bytes) -> tuple[bytes, _Spelling]:
    """The text with its printable ASCII unescaped, and how to come back. Most have none: the very bytes."""
    places: list[int] = []
    extra: list[int] = []
    matches = [match for escape in _ESCAPES for match in escape.finditer(data)]
    if not matches:
        return data, _Spelling(places, extra)
    pieces: list[bytes] = []
    at = shift = 0
    for match in sorted(matches, key=lambda match: match.start()):
        start = match.start()
        while start > at and data[start - 1 : start] == b"\\":
            start -= 1
        letter = match[1] if match[1] == b"/" else chr(int(match[1], 16)).encode()
        pieces += (data[at:start], letter)
        places.append(start - shift)
        shift += match.end() - start - len(letter)
        extra.append(shift)
        at = match.end()
    pieces.append(data[at:])
    return b"".join(pieces), _Spelling(places, extra)
