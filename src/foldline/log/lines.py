"""The lines of a foldline log: framing, checksums and what is wrong with a damaged one.

Owns `docs/reference/log-format.md` at the level of a line, as pure functions on bytes. A store (`foldline.stores`)
appends what `entry_line` gives, one `write` a batch; `parse_log` tells a log that ends well from one whose last append was
interrupted (torn: report it, cut it off, go on) and from one that is damaged (corrupt: refuse). Knows nothing of what
stands in a body; that is `foldline.log.values`.

    {"foldline":1,"format":"anthropic","len":21,"crc":"5ad1f20c","body":{"id":"fix-login"}}
    {"seq":0,"kind":"message","len":88,"crc":"c8804c13","body":{"format":"anthropic","wire":{…}}}
    {"seq":1,"kind":"compaction","time":1764460000123,"len":412,"crc":"0b41d9e7","body":{"edits":[…],"report":{…}}}
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from foldline.core.entry import Entry
from foldline.core.errors import UnknownFormat

VERSION: Final = 1
"""The version written; every version up to this one is read."""
BODY_BYTES_MAX: Final = 2**30
"""Longest body, bytes: `foldline.wire.strict.DOCUMENT_BYTES_MAX`, the largest value that can be read at all."""
PREFIX_BYTES_MAX: Final = 160
"""Longest beginning of a line, up to its body, bytes."""

State: TypeAlias = Literal["clean", "torn", "corrupt"]

_FIRST: Final = re.compile(
    rb'\{"foldline":([1-9]\d{0,3}),"format":"([a-z][a-z-]{0,31})","len":(?P<len>\d{1,10}),"crc":"(?P<crc>[0-9a-f]{8})","body":'
)
_ENTRY: Final = re.compile(
    rb'\{"seq":(\d{1,15}),"kind":"([a-z][a-z_]{0,31})"(?:,"time":(?P<time>\d{1,15}))?,"len":(?P<len>\d{1,10}),"crc":"(?P<crc>[0-9a-f]{8})","body":'
)
_VERSION: Final = re.compile(rb'\{"foldline":(\d{1,4}),')


class Header(Struct, frozen=True, kw_only=True):
    """The first line."""

    version: int
    format: str
    """Wire format of the session, or `neutral`; each message says its own."""
    body: bytes
    """The exact JSON of the rest: id, model and whatever else is known."""
    crc: int
    """The checksum every entry's goes on from, so that a line of another log is refused."""


class Log(Struct, frozen=True, kw_only=True):
    """What the bytes of a log hold."""

    header: Header | None
    """`None` when not even the first line is whole."""
    entries: tuple[Entry, ...]
    """All whole entries before `end`."""
    end: int
    """Bytes that are sound; a writer goes on from here."""
    state: State
    detail: str = ""
    """What is wrong at `end`, for a person; empty when clean."""


class Damage(Exception):
    """A line is not what it should be: why, for a person."""


def header_line(*, format: str, body: bytes) -> bytes:
    """The first line of a new log. `body` is a JSON object on one line."""
    return _line(b'{"foldline":%d,"format":"%b"' % (VERSION, format.encode()), body, crc=0)


def entry_line(*, seq: int, kind: str, body: bytes, crc: int, time_ms: int | None = None) -> bytes:
    """The line of one entry; `crc` is the header's. `body` is a JSON object on one line. `time_ms`: Unix time, for a
    log that a running session writes; what is made by a pure function has none (law SAME)."""
    begin = b'{"seq":%d,"kind":"%b"' % (seq, kind.encode())
    return _line(begin if time_ms is None else b'%b,"time":%d' % (begin, time_ms), body, crc=crc)


def _line(begin: bytes, body: bytes, *, crc: int) -> bytes:
    if b"\n" in body or not body.startswith(b"{") or len(body) > BODY_BYTES_MAX:
        raise ValueError("a body is one JSON object on one line, at most 1 GiB")
    begin += b',"len":%d' % len(body)
    return b'%b,"crc":"%08x","body":%b}\n' % (begin, checksum(begin, body, crc=crc), body)


def checksum(begin: bytes, body: bytes, *, crc: int) -> int:
    """CRC-32 of the line up to and with `len`'s digits, then of the body, going on from `crc`."""
    return zlib.crc32(body, zlib.crc32(begin, crc))


def write_log(*, format: str, body: bytes, entries: Iterable[tuple[str, bytes]]) -> bytes:
    """A whole log: header and (kind, body) entries."""
    first = header_line(format=format, body=body)
    crc = header_crc(first)
    lines = [entry_line(seq=seq, kind=kind, body=body, crc=crc) for seq, (kind, body) in enumerate(entries)]
    return b"".join([first, *lines])


def header_crc(first: bytes) -> int:
    """The checksum that stands in a first line."""
    match = _FIRST.match(first)
    if match is None:
        raise ValueError("this is no first line of a log")
    return int(match["crc"], 16)


def parse_log(data: bytes) -> Log:
    """Read the lines of a log; never raises for damage, which is in `state`, `end` and `detail`.

    Torn means that the end is what an interrupted append leaves: the beginning of a line, or NUL bytes. Everything
    else that is wrong is corrupt, a damaged last line included, since it was written whole and may have been
    acknowledged. Raises `UnknownFormat` for a log of a later version.
    """
    _refuse_later(data)
    sound = data.rstrip(b"\0")
    header: Header | None = None
    entries: list[Entry] = []
    end = 0
    try:
        while (stop := sound.find(b"\n", end)) >= 0:
            if header is None:
                header = read_header(sound[end:stop])
            else:
                entries.append(read_entry(sound[end:stop], seq=len(entries), crc=header.crc, offset=end))
            end = stop + 1
    except Damage as damage:
        return Log(header=header, entries=tuple(entries), end=end, state="corrupt", detail=str(damage))
    state, detail = judge_tail(sound[end:], len(data) - len(sound), first=header is None)
    return Log(header=header, entries=tuple(entries), end=end, state=state, detail=detail)


def _refuse_later(data: bytes) -> None:
    match = _VERSION.match(data)
    if match is not None and int(match[1]) > VERSION:
        raise UnknownFormat(
            f"foldline/{int(match[1])}",
            tuple(f"foldline/{version}" for version in range(1, VERSION + 1)),
            why=f"the log is of version {int(match[1])}, written by a later foldline; upgrade foldline to read it",
        )


def read_header(line: bytes) -> Header:
    """The first line, without its line feed. Raises `Damage`, and `UnknownFormat` for a later version."""
    _refuse_later(line)
    match = _FIRST.match(line)
    if match is None:
        raise Damage("the first line is no header of a foldline log")
    body = _body(line, match, crc=0)
    return Header(version=int(match[1]), format=match[2].decode(), body=body, crc=int(match["crc"], 16))


def read_entry(line: bytes, *, seq: int | None, crc: int, offset: int) -> Entry:
    """One entry's line, without its line feed. `seq`: the number it must have; `None`: whatever it says. `crc`: the
    header's. `offset`: where the line begins. Raises `Damage`."""
    match = _ENTRY.match(line)
    if match is None:
        raise Damage(f"entry {seq} is not written as an entry" if seq is not None else "the line is no entry")
    body = _body(line, match, crc=crc)
    if seq is not None and match[1] != b"%d" % seq:
        raise Damage(f"entry {seq} is missing; the line says {match[1].decode()}")
    return Entry(
        seq=int(match[1]),
        kind=match[2].decode(),
        body=body,
        offset=offset,
        size=len(line) + 1,
        time_ms=None if match["time"] is None else int(match["time"]),
    )


def _body(line: bytes, match: re.Match[bytes], *, crc: int) -> bytes:
    """The body of a line whose length and checksum are right."""
    body = line[match.end() : -1]
    if line[-1:] != b"}" or match["len"] != b"%d" % len(body):
        raise Damage(f"the line holds {len(body):,} bytes, not the {match['len'].decode()} it should")
    if checksum(line[: match.end("len")], body, crc=crc) != int(match["crc"], 16):
        raise Damage("the checksum does not match")
    return body


def judge_tail(tail: bytes, nuls: int, *, first: bool) -> tuple[State, str]:
    """Whether `tail`, the bytes after the last line feed (then came `nuls` NUL bytes), is what an interrupted append
    leaves; and what is wrong, for a person. `first`: nothing stands before it, not even a header."""
    filled = f", then {nuls:,} NUL bytes" if nuls else ""
    if not tail:
        if first:
            return "torn", f"the log is empty{filled}"
        return ("torn", f"{nuls:,} NUL bytes after the last entry") if nuls else ("clean", "")
    if _begins_line(tail, first=first):
        return "torn", f"the last append was interrupted after {len(tail):,} bytes{filled}"
    return "corrupt", f"{len(tail):,} bytes after the last entry are no beginning of one"


def _begins_line(tail: bytes, *, first: bool) -> bool:
    """True when some sound line begins with `tail` and goes on after it."""
    match = (_FIRST if first else _ENTRY).match(tail)
    if match is not None:
        return len(tail) - match.end() <= int(match["len"]) + 1
    word = b'{"foldline":' if first else b'{"seq":'
    if len(tail) < len(word):
        return word.startswith(tail)
    return tail.startswith(word) and len(tail) < PREFIX_BYTES_MAX
