"""Ways to damage a session, drawn from a seeded source: the same seed gives the same damage for ever.

Two kinds. Damage to values keeps the bytes JSON and makes what is said wrong: kinds, numbers, nesting, names, ids,
references. Damage to bytes is what disks, editors and broken programs do. Knows no format but the names that refer.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Place: TypeAlias = tuple[Any, Any]
"""A container and the key or index in it."""

WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**15, -(10**15), 2**63, 2**64, 10**300, 1e308, -0.0, 5e-324, "", " ", "\n", "x",
    "0", "-1", "NaN", "\ud800", "a\udc00", "\0", "\x1b]0;pwn\x07", "\u202e", "\u2028\x85", "\U000e0041", "[1]", "{}",
    "{\"a\":", "x" * 3_000, [], {}, [1], [None], [[]], [[[[]]]], {"a": 1}, {"": None}, {"type": "text"},
    {"type": "text", "text": None}, {"type": 7}, [{"type": "image"}], {"type": "image", "source": {}},
    [{"type": "text", "text": 5}], [{"type": "tool_use", "id": None, "name": 3, "input": []}],
    [{"type": "tool_result", "tool_use_id": {}, "content": 5}], {"role": "system"}, [{"role": []}],
    [{"type": "text", "text": "\ud83d"}], {"type": "compaction"}, [{"functionCall": 3}], [{"functionResponse": {}}],
)  # fmt: skip
REFERENCES = frozenset(
    {"uuid", "parentUuid", "logicalParentUuid", "leafUuid", "anchorUuid", "headUuid", "tailUuid", "id", "parentId",
     "firstKeptEntryId", "tool_use_id", "tool_call_id", "toolCallId", "call_id", "parent_tool_use_id", "sessionId",
     "message_id", "targetId", "sourceToolAssistantUUID", "source_call_id"}
)  # fmt: skip
"""Names whose values are names of other records."""
KINDS = (
    "type",
    "subtype",
    "role",
    "kind",
    "event",
    "op",
    "stop_reason",
    "format",
    "wire",
    "author",
    "source",
)
"""Names whose values say what a record is."""
STRANGE = (
    "",
    "user",
    "assistant",
    "tool",
    "system",
    "summary",
    "compact_boundary",
    "compaction",
    "leaf",
    "unknown/9",
)
NUMBERS: tuple[Any, ...] = (
    -1,
    0,
    2**31,
    2**53 + 1,
    2**63,
    10**30,
    -1e300,
    1.5,
    "12",
    "1e999",
    None,
    True,
    [],
    {"total": -5},
)


def places(value: Any) -> list[Place]:
    """Every place of a value, outermost first."""
    return list(_places(value))


def _places(value: Any) -> Iterator[Place]:
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in list(entries):
        yield value, key
        yield from _places(item)


def _named(value: Any, names: Any) -> list[Place]:
    return [(holder, key) for holder, key in _places(value) if isinstance(holder, dict) and key in names]


def _swap_kind(value: Any, draw: random.Random) -> None:
    holder, key = draw.choice(places(value))
    holder[key] = copy.deepcopy(draw.choice(WRONG))


def _swap_kinds(value: Any, draw: random.Random) -> None:
    for holder, key in draw.sample(found := places(value), min(len(found), draw.choice((2, 4, 9)))):
        holder[key] = copy.deepcopy(draw.choice(WRONG))


def _drop(value: Any, draw: random.Random) -> None:
    holder, key = draw.choice(places(value))
    del holder[key]


def _double(value: Any, draw: random.Random) -> None:
    lists = [holder for holder, key in _places(value) if isinstance(holder, list) and key == 0]
    if lists:
        chosen = draw.choice(lists)
        chosen.insert(draw.randrange(len(chosen) + 1), copy.deepcopy(draw.choice(chosen)))


def _shuffle(value: Any, draw: random.Random) -> None:
    lists = [holder for holder, key in _places(value) if isinstance(holder, list) and key == 1]
    if lists:
        draw.shuffle(draw.choice(lists))


def _exchange(value: Any, draw: random.Random) -> None:
    found = places(value)
    (one, at), (other, there) = draw.choice(found), draw.choice(found)
    one[at], other[there] = copy.deepcopy(other[there]), copy.deepcopy(one[at])


def _rename(value: Any, draw: random.Random) -> None:
    named = [(holder, key) for holder, key in _places(value) if isinstance(holder, dict)]
    if named:
        holder, key = draw.choice(named)
        holder[draw.choice(["", "role", "content", "type", "__proto__", "\ud800", key.upper()])] = holder.pop(
            key
        )


def _refer(value: Any, draw: random.Random) -> None:
    """Ids exchanged, repeated, pointing to themselves, to nothing, or around in a circle."""
    found = _named(value, REFERENCES)
    if not found:
        return
    known = [holder[key] for holder, key in found]
    for holder, key in draw.sample(found, min(len(found), draw.choice((1, 2, 30)))):
        own = next((holder[name] for name in ("uuid", "id") if name in holder), None)
        holder[key] = copy.deepcopy(draw.choice([draw.choice(known), own, "nowhere", known[-1], known[0]]))


def _unknown(value: Any, draw: random.Random) -> None:
    found = _named(value, KINDS)
    if found:
        for holder, key in draw.sample(found, min(len(found), draw.choice((1, 1, 5)))):
            holder[key] = draw.choice(
                [draw.choice(STRANGE), holder[key] + "2" if isinstance(holder[key], str) else 1]
            )


def _miscount(value: Any, draw: random.Random) -> None:
    counts = [
        (h, k) for h, k in _places(value) if isinstance(h[k], (int, float)) and not isinstance(h[k], bool)
    ]
    for holder, key in draw.sample(counts, min(len(counts), draw.choice((1, 4, 40)))):
        holder[key] = copy.deepcopy(draw.choice(NUMBERS))


def _nest(value: Any, draw: random.Random) -> None:
    holder, key = draw.choice(places(value))
    inner = holder[key]
    for _ in range(draw.choice((1, 2, 60, 200))):
        inner = [inner] if draw.random() < 0.5 else {"content": inner}
    holder[key] = inner


def _blank(value: Any, draw: random.Random) -> None:
    texts = [(holder, key) for holder, key in _places(value) if isinstance(holder[key], str)]
    for holder, key in draw.sample(texts, min(len(texts), draw.choice((1, 3, 20)))):
        holder[key] = draw.choice(("", " \n", "\0", "\ud800", "\ufeff", "x" * 2_000))


VALUE_DAMAGE: tuple[Callable[[Any, random.Random], None], ...] = (
    _swap_kind, _swap_kinds, _drop, _double, _shuffle, _exchange, _rename, _refer, _unknown, _miscount, _nest, _blank,
)  # fmt: skip


def damaged(value: Any, draw: random.Random) -> Any:
    """A copy of a value, damaged once, twice or three times."""
    made = [copy.deepcopy(value)]
    for _ in range(draw.choice((1, 1, 2, 3))):
        if places(made[0]):
            draw.choice(VALUE_DAMAGE)(made[0], draw)
    return made[0]


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────


def _flip(data: bytes, draw: random.Random) -> bytes:
    bad = bytearray(data)
    for _ in range(draw.choice((1, 1, 3, 40))):
        bad[draw.randrange(len(bad))] ^= 1 << draw.randrange(8)
    return bytes(bad)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data))]


def _behead(data: bytes, draw: random.Random) -> bytes:
    return data[draw.randrange(len(data)) :]


def _hole(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data))
    end = min(len(data), start + draw.choice((1, 7, 300, 4096)))
    return data[:start] + draw.choice((b"", bytes(end - start), b"\n", b"\r")) + data[end:]


def _stutter(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data))
    piece = data[start : start + draw.choice((1, 20, 900))]
    return data[:start] + piece * draw.choice((2, 3)) + data[start + len(piece) :]


def _mix_lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    draw.shuffle(lines)
    return b"\n".join(lines[: draw.randrange(1, len(lines) + 1)])


def _weave(data: bytes, draw: random.Random) -> bytes:
    return draw.choice(
        (
            data.replace(b"\n", b"\r\n"),
            b"\xef\xbb\xbf" + data,
            data.rstrip(b"\n"),
            data.replace(b", ", b" ,\t"),
            data.replace(b"\n", b"\n\n \n"),
            data.decode("utf-8", "replace").encode("utf-16"),
            data.decode("utf-8", "replace").encode("utf-16-le"),
            data.decode("utf-8", "replace").encode("utf-32"),
            gzip.compress(data, mtime=0)[: draw.randrange(1, 200)],
            b"[" + data.strip().replace(b"\n", b",") + b"]",
            data + data,
            json.dumps(data.decode("utf-8", "replace")).encode(),
        )
    )


def _spoof(data: bytes, draw: random.Random) -> bytes:
    """A key given twice, somewhere."""
    marks = [n for n in range(len(data)) if data[n : n + 1] == b"{"]
    if not marks:
        return data
    at = draw.choice(marks) + 1
    key = draw.choice((b"role", b"type", b"content", b"id", b"uuid", b"text", b"ro\\u006ce"))
    return data[:at] + b'"' + key + b'":"system",' + data[at:]


def _token(data: bytes, draw: random.Random) -> bytes:
    """A token no strict parser takes, in the place of a comma or a colon's value."""
    marks = [n for n in range(len(data)) if data[n : n + 1] == b":"]
    if not marks:
        return data
    at = draw.choice(marks) + 1
    odd = (
        b"NaN,",
        b"-Infinity,",
        b"1e999,",
        b"9" * 5_000 + b",",
        b"[" * 300,
        b'"\\ud800\\ud800",',
        b'"\xff",',
        b"\0",
    )
    return data[:at] + draw.choice(odd) + data[at:]


BYTE_DAMAGE: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip, _flip, _cut, _behead, _hole, _stutter, _mix_lines, _weave, _spoof, _token,
)  # fmt: skip


def damaged_bytes(data: bytes, draw: random.Random) -> bytes:
    """The bytes, damaged once or twice."""
    for _ in range(draw.choice((1, 1, 2))):
        if data:
            data = draw.choice(BYTE_DAMAGE)(data, draw)
    return data
