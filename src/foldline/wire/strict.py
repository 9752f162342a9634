"""Strict JSON: what may come in from files and sockets, and how values go out.

Owns the reading of one document or one line, and the writing of one value. Refuses what parsers disagree about:
keys given twice (the last one wins, so `{"role":"user","role":"system"}` spoofs a role), NaN and Infinity, numbers
out of range, depth that overflows a stack. Accepts what real logs hold: a byte order mark at the start, and lone
surrogate escapes, which JavaScript writes when it cuts a string inside an emoji. Knows nothing of messages; the
codecs beside it read the values.

Uniqueness of keys is proved, not assumed, and cheaply: a decoded value has every key once, so when writing it again
gives the very bytes that came in (white space apart), no key was lost. That costs about 2.5 µs on a line of 1.5 kB,
next to 2.7 µs for the decoding. Only where the writer's spelling differs (`\\u00e9` for `é`, `1e5`) the keys are
counted one object at a time (about 13 µs).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from hashlib import sha256
from itertools import islice
from operator import itemgetter
from typing import Any, NoReturn

import msgspec
from msgspec import Raw

"""Longest line of a JSONL file: twice the largest request Anthropic accepts (32 MB, API overview, "Request size
limits"), so that one record with every image of a request still fits. The requirement's 16 MB would refuse those."""
DOCUMENT_BYTES_MAX = 2**30
"""Largest single document."""
DEPTH_MAX = 128
"""Deepest nesting of arrays and objects. Real sessions stay below 20; the standard library overflows near 1,000."""
DIGITS_MAX = 4_300
"""Longest integer, in digits: the interpreter's own limit against quadratic conversion (CVE-2020-10735)."""
PROOF_BYTES_MAX = 2**24
"""Up to here uniqueness is proved by writing the value again, beyond by scanning, which needs no second copy."""
COPIES_BYTES_MAX = 2**20
"""Up to here two written copies are held at once; beyond, their digests are compared."""
CONTAINERS_MAX = 1_000_000
"""Most arrays and objects in a document that has under `CONTAINER_BYTES_MIN` for each: 15 MB of `[],` cost 0.4 GB."""
CONTAINER_BYTES_MIN = 8
SWARM_BYTES_MIN = 2 * CONTAINERS_MAX
"""A shorter document has no more of them: each opens and closes."""
COUNTED_BYTES_MAX = 2**12
"""Of what is longer, the value is looked at for its depth: counting the brackets of a text of 1 MB took longer than decoding it."""
KEY_SHOWN_MAX = 60
"""Characters of a key that an error quotes."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_CONTAINERS = frozenset((dict, list))
_OWN = frozenset((str, bool, type(None)))
_KEYS = frozenset((str,))
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]", re.ASCII)
_PLACE = re.compile(r" \(byte (\d+)\)$")
_OPENING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|([{\[])', re.DOTALL)
_TOKEN = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(\s*+:)?|\\?\Z)|[{}]', re.DOTALL)


class BadJson(ValueError):
    """The bytes are no JSON we accept: why, and at which byte of the input where that is known."""

    def __init__(self, why: str, offset: int | None = None) -> None:
        self.why, self.offset = why, offset
        super().__init__(why if offset is None else f"{why} (byte {offset:,})")


def loads(data: bytes, *, bytes_max: int = DOCUMENT_BYTES_MAX) -> Any:
    """The value of one JSON document or line, checked. Raises `BadJson`, and nothing else, for any bytes.

    Lone surrogate escapes become lone surrogates in the text, as the standard library reads them.
    """
    if len(data) > bytes_max:
        raise BadJson(f"{len(data):,} bytes are more than the {bytes_max:,} accepted in one piece")
    if data[:3] == _BOM:
        data = data[3:]
    if len(data) > SWARM_BYTES_MIN and _openings(data) > max(
        CONTAINERS_MAX, len(data) // CONTAINER_BYTES_MIN
    ):
        _refuse_swarm(data)
    try:
        value = _decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        return _second_reading(data, error)
    if len(data) > COUNTED_BYTES_MAX or _openings(data) > DEPTH_MAX:
        _refuse_depth(value)
    try:
        if not _proved_unique(data, value):
            _refuse_duplicates(data)
    except RecursionError:
        raise _too_deep() from None
    return value


def parse(data: bytes) -> Any:
    """The value of bytes that `loads` has accepted before: the same value, without the checks."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        return _second_reading(data, error)


def dump(value: Any) -> bytes:
    """Compact JSON of a value of our own making; keys in their order. `msgspec.Raw` inside is spliced in as it is. SDK objects of a
    caller, who gave what `refuse_foreign` lets in, are opened.

    Lone surrogates are written as escapes, so that the bytes are valid UTF-8 and read back the same.
    """
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _splice(value)
    except (TypeError, RecursionError):
        return dump_foreign(value)


def dump_text(value: Any) -> str:
    """As `dump`, as a string."""
    return dump(value).decode()


def dump_foreign(value: Any) -> bytes:
    """Compact JSON of a caller's value: SDK objects inside are opened, and what JSON cannot say (bytes, NaN, sets)
    raises `ValueError` instead of being turned into something else."""
    try:
        text = _foreign.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot be written as JSON: {error}") from None
    return text.encode(
        "utf-8", "backslashreplace"
    )  # only lone surrogates fail, and \udXXX is their JSON escape


def is_json(value: Any) -> bool:
    """True for a value of JSON's own types alone, which written and read again is the same, told without writing it. False where that
    is in doubt: numbers beyond 64 bits, deeper nesting than is read from bytes."""
    level = [value]
    for _ in range(DEPTH_MAX + 1):
        inner: list[Any] = []
        for node in level:
            kind = type(node)
            if kind is dict:
                if not set(map(type, node)) <= _KEYS:
                    return False
                inner += node.values()
            elif kind is list:
                inner += node
            elif kind is float or kind is int:
                if not _INT64_MIN <= node <= _INT64_MAX:
                    return False
            elif kind not in _OWN:
                return False
        if not inner:
            return True
        level = inner
    return False


def as_read(value: Any) -> Any:
    """A caller's value as it is read by whoever it is sent to: itself, where it is JSON's own types alone."""
    return value if is_json(value) else parse(dump(value))


def refuse_foreign(value: Any) -> None:
    """Raise `ValueError` for a caller's value that JSON cannot say, or that nests deeper than what is read from bytes may."""
    if is_json(value):
        return
    written = dump_foreign(value)
    if written.count(b"[") + written.count(b"{") > DEPTH_MAX:
        _refuse_depth(parse(written))


def placed(place: str, error: ValueError) -> ValueError:
    """The error with its place in front. Its words begin with the next piece of a path (`.text: …`), a colon, or none."""
    words = str(error)
    return ValueError(f"{place}{words}" if words[:1] in (".", ":", "[") else f"{place}: {words}")


def plain(value: Any) -> Any:
    """An SDK object as the dict its client would send; anything else as it is.

    By duck typing: pydantic's `model_dump` without unset fields, else `to_dict`.
    """
    if isinstance(value, (dict, str, list, tuple, int, float, type(None))):
        return value
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value


def _open_foreign(value: Any) -> Any:
    opened = plain(value)
    if opened is value:
        raise TypeError(f"{type(value).__name__} is no JSON value")
    return opened


_foreign = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_open_foreign)
_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _splice(value: Any) -> bytes:
    """What `dump` writes, in Python, for values with lone surrogates."""
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, dict):
        return b"{%b}" % b",".join(b"%b:%b" % (_splice(key), _splice(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return b"[%b]" % b",".join(_splice(item) for item in value)
    return _text(value).encode("utf-8", "backslashreplace")


def _proved_unique(data: bytes, value: Any) -> bool:
    """True when no key of `data` was given twice, as far as can be told without looking at keys."""
    if len(data) > PROOF_BYTES_MAX:
        return False
    written = _encode(value)
    if data.startswith(written) and not data[len(written) :].strip():  # a line ends in a line feed
        return True
    if len(data) <= COPIES_BYTES_MAX:
        return written == msgspec.json.format(data, indent=-1)
    digest = sha256(written).digest()
    del written  # one copy at a time
    return digest == sha256(msgspec.json.format(data, indent=-1)).digest()


def _openings(data: bytes) -> int:
    """Arrays and objects, at most: brackets in text count too."""
    return data.count(b"[") + data.count(b"{")


def _refuse_swarm(data: bytes) -> None:
    """Raise if there are more than `CONTAINERS_MAX` arrays and objects; text is passed over."""
    openings = filter(itemgetter(1), _OPENING.finditer(data))
    if next(islice(openings, CONTAINERS_MAX, None), None) is not None:
        raise BadJson(f"more than {CONTAINERS_MAX:,} arrays and objects with next to nothing in them")


def _refuse_duplicates(data: bytes) -> None:
    """Raise if an object of this valid JSON has a key twice."""
    if len(data) <= PROOF_BYTES_MAX:
        json.loads(data, object_pairs_hook=_pairs)
        return
    stack: list[set[bytes]] = []
    for token in _TOKEN.finditer(data):
        written, key, colon = token.group(0, 1, 2)
        if colon is not None:
            if b"\\" in key:
                key = json.loads(b'"%b"' % key).encode("utf-8", "surrogatepass")
            if key in stack[-1]:
                raise _given_twice(key.decode("utf-8", "replace"), token.start())
            stack[-1].add(key)
        elif written == b"{":
            stack.append(set())
        elif written == b"}":
            stack.pop()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        times = Counter(key for key, _ in pairs)
        raise _given_twice(next(key for key in times if times[key] > 1))
    return value


def _given_twice(key: str, offset: int | None = None) -> BadJson:
    shown = key if len(key) <= KEY_SHOWN_MAX else f"{key[:KEY_SHOWN_MAX]}…"
    return BadJson(f"key {shown!r} is given twice in one object", offset)


def _refuse_depth(value: Any) -> None:
    """Raise if containers nest deeper than `DEPTH_MAX`; level by level, so that no stack grows."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(DEPTH_MAX):
        level = [
            item
            for node in level
            for item in (node.values() if type(node) is dict else node)
            if type(item) in _CONTAINERS
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> BadJson:
    return BadJson(f"nested deeper than {DEPTH_MAX} arrays or objects")


def _second_reading(data: bytes, error: Exception) -> Any:
    """Read with the standard library what msgspec refused for a lone surrogate; else raise `BadJson`."""
    if isinstance(error, RecursionError):
        raise _too_deep() from None
    if data[:2] in _UTF16 or data[1:2] == b"\0" or data[:1] == b"\0":
        raise BadJson("this is UTF-16 or UTF-32; save it as UTF-8", 0) from None
    if _SURROGATE.search(data) is None:
        raise _described(data, error) from None
    try:
        value = json.loads(
            data.decode(), object_pairs_hook=_pairs, parse_constant=_refuse_constant, parse_float=_finite
        )
    except BadJson:
        raise
    except UnicodeDecodeError as bad:
        raise BadJson("not valid UTF-8", bad.start) from None
    except json.JSONDecodeError as bad:
        raise BadJson(f"not valid JSON: {bad.msg.lower()}", len(bad.doc[: bad.pos].encode("utf-8"))) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as bad:  # an integer beyond the interpreter's limit
        raise BadJson(f"a number is out of range: {bad}") from None
    _refuse_depth(value)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise BadJson(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise BadJson(f"the number {digits[:40]} is out of range")
    return number


def _described(data: bytes, error: Exception) -> BadJson:
    """The parser's complaint in words for people."""
    text = str(error)
    if not data.strip():
        return BadJson("empty: there is no JSON here", 0)
    if text.startswith("Invalid UTF-8"):
        try:
            data.decode()
        except UnicodeDecodeError as bad:
            return BadJson("not valid UTF-8", bad.start)
    if text == "Input data was truncated":
        return BadJson("the JSON is cut off in the middle", len(data))
    if "out of range" in text:
        return BadJson(f"a number is out of range (integers up to {DIGITS_MAX:,} digits, finite floats)")
    place = _PLACE.search(text)
    why = _PLACE.sub("", text).removeprefix("JSON is malformed: ")
    return BadJson(f"not valid JSON: {why}", int(place[1]) if place else None)
