"""The lines of a foldline log: framing, checksums and what is wrong with a damaged one.

Owns `docs/reference/log-format.md` at the level of a line, as pure functions on bytes. A store (`foldline.stores`)
appends what `entry_line` gives, one `write` a batch; `parse_log` tells a log that ends well from one whose last append was
interrupted (torn: report it, cut it off, go on) and from one that is damaged (corrupt: refuse). Knows nothing of what
stands in a body; that is `foldline.log.values`.

    {"foldline":1,"format":"anthropic","len":21,"crc":"5ad1f20c","body":{"id":"fix-login"}}
    {"seq":0,"kind":"message","len":88,"crc":"c8804c13","body":{"format":"anthropic","wire":{…}}}
    {"seq":1,"kind":"compaction","time":1764460000123,"len":412,"crc":"0b41d9e7","body":{"edits":[…],"report":{…}}}

A log that has grown goes on in a new segment. Its first line says at which byte (`at`) and number (`seq`) of the whole log it
begins, and the checksum (`log`) from which the whole log's entries go on; so segments put together are one log again.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from foldline.core.entry import Draft, Entry
from foldline.core.errors import UnknownFormat

VERSION: Final = 1
"""The version written; every version up to this one is read."""
BODY_BYTES_MAX: Final = 2**30
"""Longest body, bytes: `foldline.wire.strict.DOCUMENT_BYTES_MAX`, the largest value that can be read at all."""
PREFIX_BYTES_MAX: Final = 200
"""Longest beginning of a line, up to its body, bytes."""
HOLE: Final = bytes(512)
"""A sector that was never written. JSON has no NUL byte, and no single flipped bit makes a sector of them."""

State: TypeAlias = Literal["clean", "torn", "corrupt"]

_REST: Final = rb',"len":(?P<len>\d{1,10}),"crc":"(?P<crc>[0-9a-f]{8})","body":'
_FIRST: Final = re.compile(
    rb'\{"foldline":([1-9]\d{0,3}),"format":"([a-z][a-z-]{0,31})"'
    rb'(?:,"at":(?P<at>[1-9]\d{0,14}),"seq":(?P<seq>0|[1-9]\d{0,14}),"log":"(?P<log>[0-9a-f]{8})")?' + _REST
)
_ENTRY: Final = re.compile(
    rb'\{"seq":(\d{1,15}),"kind":"([a-z][a-z_]{0,31})"(?:,"time":(?P<time>\d{1,15}))?(?:,"more":(?P<more>[1-9]\d{0,8}))?'
    + _REST
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
    at: int = 0
    """Byte of the whole log at which the entries of this segment begin; 0 in the first segment, which has no other."""
    seq: int = 0
    """Number of its first entry."""
    size: int
    """Bytes of the line, line feed included."""

    @property
    def shift(self) -> int:
        """What to add to a byte of this segment's file to have the byte of the whole log. The first line of a later
        segment is no part of the whole log."""
        return self.at - self.size if self.at else 0


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


def segment_line(header: Header, *, at: int, seq: int) -> bytes:
    """The first line of a segment that goes on with the log of `header` at this byte and number."""
    begin = b'{"foldline":%d,"format":"%b","at":%d,"seq":%d,"log":"%08x"' % (
        header.version,
        header.format.encode(),
        at,
        seq,
        header.crc,
    )
    return _line(begin, header.body, crc=0)


def entry_line(seq: int, draft: Draft, *, crc: int, time_ms: int | None = None, more: int = 0) -> bytes:
    """The line of one entry; `crc` is the header's. `time_ms`: Unix time, for a log that a running session writes; what
    is made by a pure function has none (law SAME). `more`: how many entries of the same append follow."""
    begin = b'{"seq":%d,"kind":"%b"' % (seq, draft.kind.encode())
    if time_ms is not None:
        begin += b',"time":%d' % time_ms
    if more:
        begin += b',"more":%d' % more
    return _line(begin, draft.body, crc=crc)


class Place(Struct, frozen=True, kw_only=True, gc=False):
    """Where and when an append begins."""

    seq: int
    offset: int
    """Byte of the whole log."""
    time_ms: int | None


def append_lines(drafts: Sequence[Draft], *, place: Place, crc: int) -> tuple[bytes, tuple[Entry, ...]]:
    """The lines of one append, and the entries they are."""
    lines: list[bytes] = []
    made: list[Entry] = []
    offset = place.offset
    for count, draft in enumerate(drafts):
        seq, more = place.seq + count, len(drafts) - 1 - count
        line = entry_line(seq, draft, crc=crc, time_ms=place.time_ms, more=more)
        made.append(
            Entry(
                seq=seq,
                kind=draft.kind,
                body=draft.body,
                offset=offset,
                size=len(line),
                time_ms=place.time_ms,
                more=more,
            )
        )
        lines.append(line)
        offset += len(line)
    return b"".join(lines), tuple(made)


def line_again(entry: Entry, body: bytes, *, crc: int) -> bytes:
    """The line of an entry with another body of the very same length."""
    if len(body) != len(entry.body):
        raise ValueError(f"entry {entry.seq}: another body has the length of the old one")
    draft = Draft(kind=entry.kind, body=body)
    return entry_line(entry.seq, draft, crc=crc, time_ms=entry.time_ms, more=entry.more)


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
    drafts = (Draft(kind=kind, body=body) for kind, body in entries)
    lines = [entry_line(seq, draft, crc=crc) for seq, draft in enumerate(drafts)]
    return b"".join([first, *lines])


def header_crc(first: bytes) -> int:
    """The checksum from which the entries under a first line go on."""
    match = _FIRST.match(first)
    if match is None:
        raise ValueError("this is no first line of a log")
    return int(match["log"] or match["crc"], 16)


def announced(head: bytes, *, first: bool = False) -> int | None:
    """Bytes of the line, line feed included, that begins with `head` (of which `PREFIX_BYTES_MAX` suffice); `None` when
    that is no beginning of a line, or not enough of one."""
    match = (_FIRST if first else _ENTRY).match(head)
    return None if match is None else match.end() + int(match["len"]) + 2


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
                entries.append(
                    read_entry(
                        sound[end:stop],
                        seq=header.seq + len(entries),
                        crc=header.crc,
                        offset=end + header.shift,
                    )
                )
            end = stop + 1
    except Damage as damage:
        if header is None or HOLE not in sound[end:stop] or b"\n" in sound[stop + 1 :]:
            return Log(header=header, entries=tuple(entries), end=end, state="corrupt", detail=str(damage))
        return Log(
            header=header,
            entries=tuple(entries),
            end=end,
            state="torn",
            detail=hole_words(stop + 1 - end),
        )
    state, detail = judge_tail(sound[end:], len(data) - len(sound), first=header is None)
    if state != "corrupt" and header is not None and (half := half_append(entries)):
        state, detail = "torn", half_words(half, entries[-1].more)
        end = entries[-half].offset - header.shift
        del entries[-half:]
    return Log(header=header, entries=tuple(entries), end=end, state=state, detail=detail)


def half_append(entries: Sequence[Entry]) -> int:
    """How many of the last entries belong to an append of which the rest is missing; 0: it ends with a whole one."""
    if not entries or not entries[-1].more:
        return 0
    count = 1
    while count < len(entries) and entries[-1 - count].more == entries[-1].more + count:
        count += 1
    return count


def hole_words(size: int) -> str:
    """A last line whose data never arrived whole, for a person."""
    return f"the last append was interrupted: {size:,} bytes with holes"


def half_words(count: int, missing: int) -> str:
    """Such an end, for a person."""
    return f"the last append was interrupted after {count:,} of its {count + missing:,} entries"


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
    return Header(
        version=int(match[1]),
        format=match[2].decode(),
        body=body,
        crc=int(match["log"] or match["crc"], 16),
        at=int(match["at"] or 0),
        seq=int(match["seq"] or 0),
        size=len(line) + 1,
    )


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
        more=int(match["more"] or 0),
    )


def _body(line: bytes, match: re.Match[bytes], *, crc: int) -> bytes:
    """The body of a line whose length and checksum are right."""
    body = line[match.end() : -1]
    if line[-1:] != b"}" or match["len"] != b"%d" % len(body):
        raise Damage(f"the line holds {len(body):,} bytes, not the {match['len'].decode()} it should")
    if checksum(line[: match.end("len")], body, crc=crc) != int(match["crc"], 16):
        raise Damage("the checksum does not match")
    return body


def judge_tail(tail: bytes, nuls: int, *, first: bool, size: int | None = None) -> tuple[State, str]:
    """Whether `tail`, the bytes after the last line feed (then came `nuls` NUL bytes), is what an interrupted append
    leaves; and what is wrong, for a person. `first`: nothing stands before it, not even a header. `size`: how long the tail
    is, when only `PREFIX_BYTES_MAX` of it are given."""
    size = len(tail) if size is None else size
    filled = f", then {nuls:,} NUL bytes" if nuls else ""
    if not tail:
        if first:
            return "torn", f"the log is empty{filled}"
        return ("torn", f"{nuls:,} NUL bytes after the last entry") if nuls else ("clean", "")
    if _begins_line(tail, size, first=first):
        return "torn", f"the last append was interrupted after {size:,} bytes{filled}"
    return "corrupt", f"{size:,} bytes after the last entry are no beginning of one"


def _begins_line(tail: bytes, size: int, *, first: bool) -> bool:
    """True when some sound line begins with `tail` and goes on after it."""
    if (whole := announced(tail, first=first)) is not None:
        return size < whole
    word = b'{"foldline":' if first else b'{"seq":'
    if size < len(word):
        return word.startswith(tail)
    return tail.startswith(word) and size < PREFIX_BYTES_MAX
