"""Bytes of a body put out of sight without changing its length or its JSON: what forgetting is made of.

    "say \\"hunter22\\" now"   →   "say \\"________\\" now"

Owns how a text may be spelt in JSON at any depth, what fills a gap, and which bytes are structure and never touched.
What is to be forgotten in an entry is `foldline.log.forget`'s. Pure functions on bytes.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from msgspec import Struct

FILL: Final = b"forgotten"
"""What stands in a gap that is long enough; letters and `_` alone, so that ids and names stay legal."""
OPAQUE_BYTES_MIN: Final = 256
"""From here on a string of base64 alone is a picture or a seal, in which a short text stands by chance."""

Fill: TypeAlias = Literal["text", "number", "object", "block"]
"""`text`: inside a string · `number`: digits of one · `object`: a whole value, that becomes `{}` · `block`: a part, that becomes one of text."""

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_=-]*+")
_NUMBER: Final = re.compile(rb"[0-9.eE+-]+")
TEXT_CHARS_MIN: Final = 4
"""From here on a text is looked for anywhere."""
_IDEOGRAPHS: Final = ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HANGUL SYLLABLE")
_BETWEEN_WORDS: Final = re.compile(r"(?<=\S)\s+(?=\S)")
_SPACES: Final = (
    b"(?:[ \n\r\t]|"
    rb"\\{1,15}(?:[nrtf]|u(?i:00(?:0[9abcd]|20|85|a0)|1680|20(?:0[0-9ab]|2[89f]|5f)|3000))|"
    + b"|".join(char.encode() for char in "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")
    + b"|\xe2\x80[\x80-\x8b])+"
)
"""White space, raw or escaped."""
_LETTER: Final = rb"[\xc3-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
"""UTF-8 of letters of scripts that part words by spaces; ideographs are none of them."""
_BEFORE_WORD: Final = (
    rb"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
    rb"(?<![\xc3-\xdf][\x80-\xbf])(?<!\xe0[\xa0-\xbf][\x80-\xbf])"
    rb"(?<!\\u00[c-fC-F][0-9a-fA-F])(?<!\\u0[1-9a-fA-F][0-9a-fA-F]{2})"
    rb"(?!(?<=\\)\\)"  # backslashes are taken from the first one on
)
_AFTER_WORD: Final = rb"(?![A-Za-z0-9_]|" + _LETTER + rb"|\\{1,15}u(?:00[c-fC-F]|0[1-9a-fA-F]))"
_ADDRESS: Final = re.compile(rb"m\d{1,9}(?:-\d{1,9})?(?:\.\d{1,9})?@[0-9a-f]{8}")
_DIGESTS: Final = frozenset((b"revision", b"address"))
_SIGNS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_ESCAPED: Final = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_NAMES: Final = frozenset(
    b"addedTokens annotations applied arguments args at begin calls_id call_id compacted content covers data detail edit "
    b"edited edits entry expose file_id filename finish_reason format full function functionCall functionResponse id "
    b"image_url inlineData fileData input into is_error kind len media media_type message messages meta mime mimeType "
    b"model name named node offset ordinals output part parts policy raw reason reasoning reasoning_content redacted "
    b"refusal report request response role signature slot source status stop_reason summary synthetic system "
    b"systemInstruction text thinking thought thoughtSignature time tokens_after tokens_before tool_call_id tool_calls "
    b"tool_use_id tools type url usage version view what why wire wire_id wire_text".split()
)
"""Names of members that a wire or this log gives a meaning: a word that is one of them stays where it is one."""
_CHOICES: Final = frozenset(
    b"type role format part edit synthetic media_type mime mimeType status stop_reason finish_reason kind expose provider "
    b"outcome".split()
)
"""Members whose value is one of a few words."""


class Gap(Struct, frozen=True, gc=False):
    """Bytes to fill."""

    start: int
    end: int
    fill: Fill = "text"


class Token(Struct, frozen=True, gc=False):
    """A string of a JSON text: from quote to quote."""

    start: int
    end: int
    is_name: bool
    name: bytes
    """The name of the member whose value it is; empty for a name, and for an element of a list."""


def strings(body: bytes) -> list[Token]:
    """The strings of a JSON text, in order."""
    out: list[Token] = []
    name = b""
    for match in _STRING.finditer(body):
        start, end = match.span()
        if body[end : end + 4].lstrip()[:1] == b":":
            name = body[start + 1 : end - 1]
            out.append(Token(start, end, True, b""))
            continue
        out.append(Token(start, end, False, name if body[start - 4 : start].rstrip()[-1:] == b":" else b""))
    return out


def found_as(text: str) -> Literal["anywhere", "word", "not"]:
    """How a text is looked for: a short one stands inside other words by chance, so it counts as a word of its own alone,
    or, where two signs are a name and no space parts words, anywhere; a shorter one is not looked for."""
    told = unicodedata.normalize("NFC", text)
    if len(told) >= TEXT_CHARS_MIN:
        return "anywhere"
    if len(told) >= 2 and all(map(_is_ideograph, told)):
        return "anywhere"
    caseless = all(unicodedata.category(char) == "Lo" for char in told)
    return "word" if told.isalnum() and len(told) >= (2 if caseless else 3) else "not"


def _is_ideograph(char: str) -> bool:
    return unicodedata.name(char, "").startswith(_IDEOGRAPHS)


def spelled(text: str) -> re.Pattern[bytes]:
    """Finds a text in JSON however it is spelt: as UTF-8 or escaped, composed or decomposed (NFC, NFD), at any depth of
    JSON inside JSON, with any white space where it has some between words."""
    forms = dict.fromkeys((text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)))
    either = b"|".join(
        _SPACES.join(b"".join(map(_spellings, word)) for word in _BETWEEN_WORDS.split(form)) for form in forms
    )
    return re.compile(
        _BEFORE_WORD + b"(?:" + either + b")" + _AFTER_WORD if found_as(text) == "word" else either
    )


def _spellings(char: str) -> bytes:
    if char == "\\":
        return rb"(?:\\\\){1,8}"
    if char == '"':
        return rb'\\{1,15}"'
    if char == "/":
        return rb"\\{0,15}/"
    code = b"".join(b"\\\\{1,15}u(?i:%04x)" % unit for unit in _units(char))
    if char in _ESCAPED:
        return rb"(?:\\{1,15}%b|%b)" % (_ESCAPED[char].encode(), code)
    return b"(?:%b|%b)" % (re.escape(char.encode("utf-8", "surrogatepass")), code)


def _units(char: str) -> list[int]:
    data = char.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2)]


def places_of(pattern: re.Pattern[bytes], body: bytes) -> Iterator[Gap]:
    """Where a text stands inside the strings and numbers of a body, structure and pictures left alone."""
    first = pattern.search(body)
    if first is None:
        return
    tokens = strings(body)
    starts = [token.start for token in tokens]
    at = first.start()
    while (match := pattern.search(body, at)) is not None:
        at = match.end()
        place = bisect_right(starts, match.start()) - 1
        token = tokens[place] if place >= 0 else None
        if token is None or match.start() >= token.end:
            if _NUMBER.fullmatch(match[0]):
                yield Gap(match.start(), match.end(), "number")
            continue
        start = _begin(body, match.start())
        if start is None:
            at = match.start() + 1
        elif match.end() < token.end and not is_structure(body, token, start=match.start(), end=match.end()):
            yield Gap(start, match.end())


def _begin(body: bytes, start: int) -> int | None:
    """Where to fill from, for a match that a backslash stands before: `None` when its first sign belongs to an escape;
    from the second letter on where it may, in JSON inside JSON."""
    at = start
    while at and body[at - 1 : at] == b"\\":
        at -= 1
    if at == start or body[start : start + 1] not in b'nrtbfu"/\\':
        return start
    if body[start : start + 1] == b"\\":
        return None if (start - at) % 2 else start
    return None if (start - at) % 2 else start + 1


def is_structure(body: bytes, token: Token, *, start: int, end: int) -> bool:
    """True for a whole string that is a member's name or one of few words, and for a part of a picture or a seal."""
    inside = body[token.start + 1 : token.end - 1]
    if (start, end) == (token.start + 1, token.end - 1):
        return inside in _NAMES if token.is_name else token.name in _CHOICES
    return len(inside) >= OPAQUE_BYTES_MIN and _BASE64.fullmatch(inside) is not None


def only_words(body: bytes, gaps: Iterable[Gap], *, values: frozenset[bytes]) -> Iterator[Gap]:
    """Of gaps those in what people, models and tools said. `values`: the members of this body that hold their JSON as it
    came; numbers elsewhere are the log's own, as its digests and the digests of addresses are."""
    found = list(gaps)
    if not found:
        return
    addresses = [match.span() for match in _ADDRESS.finditer(body)]
    digests = [(t.start + 1, t.end - 1) for t in strings(body) if not t.is_name and t.name in _DIGESTS]
    said = list(_values(body, values))
    for gap in found:
        if _cuts(gap, addresses):
            continue
        inside = any(start <= gap.start and gap.end <= end for start, end in said)
        if inside or not (gap.fill == "number" or _touches(gap, digests)):
            yield gap


def _touches(gap: Gap, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start < gap.end and gap.start < end for start, end in spans)


def _cuts(gap: Gap, spans: Iterable[tuple[int, int]]) -> bool:
    """True where a gap takes a part of one of these and leaves a part."""
    return _touches(gap, (span for span in spans if not (gap.start <= span[0] and span[1] <= gap.end)))


def _values(body: bytes, names: frozenset[bytes]) -> Iterator[tuple[int, int]]:
    """Where the values of members of these names stand."""
    at = 0
    for token in strings(body):
        if token.is_name and token.start >= at and body[token.start + 1 : token.end - 1] in names:
            at = _value_end(body, body.index(b":", token.end) + 1)
            yield token.end, at


def _value_end(body: bytes, start: int) -> int:
    depth = 0
    for match in _SIGNS.finditer(body, start):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(match[0], 0)
        if depth < 0 or (depth == 0 and match[0] == b","):
            return match.start()
    return len(body)


def filled(body: bytes, gaps: Iterable[Gap]) -> bytes:
    """The body with its gaps filled: as long as before, and the same JSON around them."""
    out = bytearray(body)
    at = 0
    for gap in sorted(gaps, key=lambda gap: (gap.start, -gap.end)):
        start = max(gap.start, at)
        if start < gap.end:
            out[start : gap.end] = _fill(body[start : gap.end], gap.fill)
            at = gap.end
    return bytes(out)


def _fill(old: bytes, fill: Fill) -> bytes:
    size = len(old)
    if fill == "object":
        return b"{}".ljust(size) if size >= 2 else old
    if fill == "block":
        return _block(old)
    if fill == "number":
        return re.sub(rb"[0-9]", b"1", old)
    return FILL.ljust(size, b"_") if size >= len(FILL) else b"_" * size


def _block(old: bytes) -> bytes:
    """A part of text as long as another part."""
    kind = next(
        (word for word in (b"input_text", b"output_text") if b'"input_' in old and word == b"input_text"),
        b"text",
    )
    if old.startswith(b'{"part"'):
        slot = re.search(rb',"slot":\d{1,9}', old)
        head = b'{"part":"text"' + (slot[0] if slot else b"") + b',"text":"'
    elif b'"inlineData"' in old or b'"fileData"' in old:
        head = b'{"text":"'
    else:
        head = b'{"type":"%b","text":"' % kind
    room = len(old) - len(head) - 2
    return head + (FILL.ljust(room, b"_") if room >= len(FILL) else b"_" * max(room, 0)) + b'"}'


def element_around(body: bytes, place: int) -> Gap | None:
    """The object that holds a place and is itself an element of a list: the part that a picture or a thought stands in."""
    opened: list[tuple[int, bytes]] = []
    found: Sequence[int] = ()
    skip = 0
    for match in _SIGNS.finditer(body):
        if match.start() >= place:
            break
        sign = match[0]
        if sign in (b"{", b"["):
            opened.append((match.start(), sign))
        elif sign in (b"}", b"]") and opened:
            opened.pop()
    found = [at for (_, outer), (at, sign) in pairwise(opened) if outer == b"[" and sign == b"{"]
    if not found:
        return None
    for match in _SIGNS.finditer(body, found[-1]):
        skip += {b"{": 1, b"}": -1}.get(match[0], 0)
        if skip == 0:
            return Gap(found[-1], match.end(), "block")
    return None
