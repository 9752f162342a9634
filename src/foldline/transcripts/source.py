"""Opening input: one value over a file or over bytes from standard input, read in bounded pieces.

Owns how bytes become lines and what makes an input unreadable as such: missing, a folder, empty, binary, UTF-16,
a line or a document beyond its bound. Knows nothing of any session format; `foldline.transcripts.detect` finds
the format and each reader takes the `Source`. What a person must know about lines that were skipped is collected
here as well (`BadLines`), so that every reader says it in the same words.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, BinaryIO, TypeAlias

from msgspec import Struct

from foldline.core.errors import InvalidTranscript
from foldline.wire import strict

HEAD_MAX = 64 * 1024
"""Bytes at the start of an input that decide its format."""
LINE_MAX = 32 * 1024 * 1024
"""Longest line, bytes: no provider takes a larger request body (Anthropic: 32 MB), so no message is longer."""
DOCUMENT_MAX = 256 * 1024 * 1024
"""Largest single-document input, bytes. Reading one costs up to three times its size in memory."""
CHUNK = 1024 * 1024
"""Bytes asked of the system at a time, and between two calls of the progress callback."""
NO_JSON = "is not JSON, so in no session format that foldline knows; `foldline formats` lists them"
PLACES_MAX = 10
"""Line numbers a note names before it says `and N more`."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with `(bytes_done, bytes_total)`, about once a mebibyte."""

BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MAGIC = (
    (b"\x1f\x8b", "gzip data; unpack it first (gunzip -c FILE | foldline … -)"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"(\xb5/\xfd", "zstandard data; unpack it first (zstd -dc FILE | foldline … -)"),
    (b"SQLite format 3\x00", "an SQLite database; export the session from the program that wrote it"),
    (b"%PDF-", "a PDF document; give the session file instead"),
    (b"\x89PNG", "a PNG image; give the session file instead"),
    (b"\x7fELF", "a program; give the session file instead"),
)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROL_SHARE_MAX = 0.02
"""Share of control bytes (NUL apart: interrupted appends leave runs of it) above which text is called binary."""


class Mark(Struct, frozen=True, gc=False):
    """The start of a line."""

    offset: int
    """Bytes before it."""
    line: int
    """Its number, from 1; 0 when nobody has counted yet."""


START = Mark(0, 1)


class Source:
    """One input that can be read more than once: by lines, from any mark, backwards by a word, or whole."""

    path: str
    """As a person names it; `-` for standard input."""
    head: bytes
    """The first `HEAD_MAX` bytes, without a byte order mark."""
    size: int
    """Bytes in all."""
    torn: int | None
    """Number of the last line when the input ends inside it; known once `lines` has run to the end."""

    def __init__(self, path: str, data: bytes | None, *, size: int, progress: Progress | None = None) -> None:
        self.path, self.size, self.torn = path, size, None
        self._taken = 0
        self._data, self._progress = data, progress
        with self._open() as file:
            start = file.read(HEAD_MAX)
        self._skip = len(BOM) if start.startswith(BOM) else 0
        self.head = start[self._skip :]
        refuse_unreadable(self)

    def _open(self) -> BinaryIO:
        if self._data is not None:
            return io.BytesIO(self._data)
        try:
            return open(self.path, "rb", buffering=CHUNK)
        except OSError as error:
            raise self.fail(_os_words(error)) from error

    def fail(self, why: str, *, line: int | None = None) -> InvalidTranscript:
        """The error for this input, to be raised by the caller; `why` ends with what to do next."""
        return InvalidTranscript(self.path, line, why)

    def lines(self, start: Mark = START) -> Iterator[tuple[int, bytes]]:
        """Lines with their numbers from `start` on; memory is bounded by `LINE_MAX`.

        Split at `\\n` only. Blank lines and runs of NUL (an interrupted append, anthropics/claude-code#49876)
        are left out; text on both sides of such a run comes as two lines of one number. A last line without a
        line feed comes like any other and its number is kept in `torn`. Raises `InvalidTranscript` for a line
        beyond `LINE_MAX`.
        """
        for number, _, line in self.placed_lines(start):
            yield number, line

    def placed_lines(self, start: Mark = START) -> Iterator[tuple[int, int, bytes]]:
        """As `lines`, with the byte offset of each line between its number and its text."""
        number = start.line - 1
        done = start.offset or self._skip
        tick = done + CHUNK
        with self._open() as file:
            file.seek(done)
            readline = file.readline
            while line := readline(LINE_MAX + 1):
                number += 1
                offset = done
                done += len(line)
                if done >= tick:
                    tick = done + CHUNK
                    self._tell(done)
                if line[-1] != 10:
                    if len(line) > LINE_MAX:
                        raise self.fail(_too_long(), line=number)
                    self.torn = number
                if b"\0" in line:
                    yield from _between_nuls(number, offset, line=line)
                elif not line.isspace():
                    yield number, offset, line
        self._tell(self.size)

    def line_at(self, offset: int) -> bytes:
        """The line that starts at this byte, `LINE_MAX` bytes of it at most."""
        with self._open() as file:
            file.seek(offset)
            return file.readline(LINE_MAX)

    def marks_back(self, word: bytes, before: int | None = None) -> Iterator[Mark]:
        """Starts of the lines that hold `word`, backwards from byte `before` (left out: the end), each line once.

        Reads no more than it must: a session of 400,000 records whose last compaction is near the end is found
        within the last mebibytes (openai/codex#28866). The marks' line numbers are 0 (see `number_of`).
        """
        with self._open() as file:
            end, carry = self.size if before is None else before, b""
            while end > self._skip:
                start = max(self._skip, end - CHUNK)
                file.seek(start)
                block = file.read(end - start) + carry
                # What stands before the first line feed begins in an earlier block: carried over to it.
                first = block.find(b"\n") + 1 or len(block) if start > self._skip else 0
                if first > LINE_MAX:
                    raise self.fail(_too_long(), line=self.number_of(Mark(start, 0)).line)
                yield from _line_starts(block, word, base=start, first=first)
                end, carry = start, block[:first]

    def number_of(self, mark: Mark) -> Mark:
        """The same mark with its line number counted; reads everything before it."""
        left, line = mark.offset, 1
        with self._open() as file:
            while left > 0 and (block := file.read(min(CHUNK, left))):
                left -= len(block)
                line += block.count(b"\n")
        return Mark(mark.offset, line)

    def document(self) -> bytes:
        """The whole input, without a byte order mark. Raises `InvalidTranscript` beyond `DOCUMENT_MAX`."""
        if self.size > DOCUMENT_MAX:
            raise self.fail(
                f"{self.size:,} bytes in one document, more than the {DOCUMENT_MAX:,} that can be read; split it"
            )
        with self._open() as file:
            file.seek(self._skip)
            return file.read()

    def took(self, size: int) -> None:
        """So many more bytes of a document were made messages of: that takes the time, not reading them."""
        before, self._taken = self._taken, self._taken + size
        if before // CHUNK < self._taken // CHUNK:
            self._tell(self._taken)

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(min(done, self.size), self.size)


def open_source(
    given: str | os.PathLike[str] | bytes, *, name: str = "-", progress: Progress | None = None
) -> Source:
    """A source over a path, or over the bytes themselves (then `name` stands in errors).

    A path that is no regular file (a pipe) is read into memory, at most `DOCUMENT_MAX` bytes. Raises
    `InvalidTranscript` when it is missing, a folder, empty, not permitted, binary or not UTF-8.
    """
    if isinstance(given, bytes):
        return Source(name, given, size=len(given), progress=progress)
    path = os.fspath(given)
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise InvalidTranscript(path, None, "is a folder; name one session file inside it")
        if stat.S_ISREG(status.st_mode):
            return Source(path, None, size=status.st_size, progress=progress)
        with open(path, "rb") as pipe:
            data = pipe.read(DOCUMENT_MAX + 1)
    except (OSError, ValueError) as error:
        raise InvalidTranscript(path, None, _os_words(error)) from error
    if len(data) > DOCUMENT_MAX:
        raise InvalidTranscript(path, None, f"more than {DOCUMENT_MAX:,} bytes from a pipe; give a file")
    return Source(path, data, size=len(data), progress=progress)


def refuse_unreadable(source: Source) -> None:
    """Raise `InvalidTranscript` for what no reader could take: empty, binary, or another encoding than UTF-8."""
    head = source.head
    if not head.strip(b"\0 \t\r\n"):
        if head and len(head) < source.size:
            return  # blank so far, but not to the end: lines() will tell
        raise source.fail("is empty; give a file that holds a conversation")
    if head.startswith(_UTF16) or _looks_utf16(head):
        raise source.fail("is UTF-16 text; convert it first (iconv -f UTF-16 -t UTF-8)")
    for magic, words in _MAGIC:
        if head.startswith(magic):
            raise source.fail(f"is {words}")
    if len(_CONTROL.findall(head)) > _CONTROL_SHARE_MAX * len(head):
        raise source.fail("is binary data, not a session file; give a JSON or JSON Lines file")


def _looks_utf16(head: bytes) -> bool:
    sample = head[:512]
    return (
        len(sample) >= 8
        and max(sample[0::2].count(0), sample[1::2].count(0)) * 5 > len(sample) * 2
        and (not sample[0::2].count(0) or not sample[1::2].count(0))
    )


def _between_nuls(number: int, offset: int, *, line: bytes) -> Iterator[tuple[int, int, bytes]]:
    for piece in line.split(b"\0"):
        if piece and not piece.isspace():
            yield number, offset, piece
        offset += len(piece) + 1


def _line_starts(block: bytes, word: bytes, *, base: int, first: int) -> Iterator[Mark]:
    """Marks of the lines of `block` from index `first` on that hold `word`, last line first."""
    if not word or word not in block:  # forward search is much the faster one
        return
    end = len(block)
    while (found := block.rfind(word, first, end)) >= 0:
        begin = max(block.rfind(b"\n", first, found) + 1, first)
        yield Mark(base + begin, 0)
        end = begin


def _too_long() -> str:
    return f"the line is longer than {LINE_MAX:,} bytes, the most that can be read; remove it or split it"


def _os_words(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "no such file; check the name"
        case PermissionError():
            return "permission denied; make it readable for you"
        case IsADirectoryError():
            return "is a folder; name one session file inside it"
        case OSError():
            return f"cannot be read ({error.strerror or error}); check the disk and the name"
        case _:
            return f"is no file name ({error}); check the name"


class BadLines:
    """Lines that could not be read: counted, and named in one note (anthropics/claude-code#50347)."""

    def __init__(self) -> None:
        self.count = 0
        self.places: list[tuple[int, str]] = []

    def add(self, line: int, why: str) -> None:
        """Remember that `line` was skipped."""
        self.count += 1
        if len(self.places) < PLACES_MAX:
            self.places.append((line, why))

    def error(self, source: Source) -> InvalidTranscript:
        """The error when no conversation could be read, naming the first line that was in the way."""
        line, why = self.places[0]
        return source.fail(
            f"no message could be read here: {why}; is the file damaged or of another format?", line=line
        )

    def notes(self, source: Source, start: Mark = START) -> tuple[str, ...]:
        """What a person should know: nothing, or one sentence with the numbers of the lines.

        `start` is the mark reading began at: lines counted from an uncounted mark are numbered from the top.
        """
        if not self.count:
            return ()
        before = 0 if start.line else source.number_of(start).line
        if self.count == 1 and self.places[0][0] == source.torn:
            return (f"line {source.torn + before} is torn (the file ends inside it) and was left out",)
        places = ", ".join(f"{line + before} ({why})" for line, why in self.places)
        more = f" and {self.count - len(self.places):,} more" if self.count > len(self.places) else ""
        noun, were = ("line", "was") if self.count == 1 else ("lines", "were")
        return (f"{self.count:,} {noun} could not be read and {were} left out: {places}{more}",)


def records(source: Source, bad: BadLines) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a JSON Lines input with their line numbers; other lines go to `bad`."""
    for number, line in source.lines():
        try:
            record = strict.loads(line)
        except strict.BadJson as error:
            bad.add(number, str(error))
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            bad.add(number, "not a JSON object")


KEYS_KEPT = 8
"""Heads whose keys are kept: all readers are asked about the same one, at two depths."""
_OPENINGS, _CLOSINGS = (b"{", b"["), (b"}", b"]")
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|(\\?\Z))|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)


@lru_cache(maxsize=KEYS_KEPT)
def keys(head: bytes, *, depth: int = 1) -> Mapping[str, str | None]:
    """Keys of the first JSON object in `head`, which may be cut anywhere, with the text of their scalar values.

    An array is entered, so that a list of objects gives the keys of its first one. `depth` 2 adds the keys of
    nested objects under dotted names (`message.role`), those of list elements as they come, first value kept. Linear
    in the length of `head`, however it nests; kept for the next reader that asks about the same bytes.
    """
    found: dict[str, str | None] = {}
    brackets: list[bytes] = []
    names: list[str] = []  # one for each open object: the key under way
    text, before = "", b""
    for match in _TOKEN.finditer(head):
        token = match.group()
        if match[1] is not None:  # a text that is cut off
            break
        if token in _OPENINGS:
            brackets.append(token)
            names += [""] if token == b"{" else []
        elif token in _CLOSINGS:
            if not _closed(brackets, names):
                break
        elif token == b":" and brackets[-1:] == [b"{"]:
            names[-1] = text
            if len(names) <= depth:
                found.setdefault(_dotted(names), None)
        elif token not in b",:":
            text = token.strip(b'"').decode("utf-8", "replace")
            if before == b":" and len(names) <= depth and found.get(_dotted(names), "") is None:
                found[_dotted(names)] = text
        before = token
    return MappingProxyType(found)


def _closed(brackets: list[bytes], names: list[str]) -> bool:
    """Close the innermost bracket; `False` when that was the outermost object, or nothing was open."""
    if brackets and brackets.pop() == b"[":
        return True
    if names:
        names.pop()
    return bool(names)


def _dotted(names: list[str]) -> str:
    return ".".join(name for name in names if name)
