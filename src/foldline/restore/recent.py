"""Recent working files: which they are, and what stands in them now.

    calls of the history, oldest first ┐
    files that an earlier restore named ├─► of this session ─► inside the workspace ─► the newest five that can be read
    or the host's own list              ┘

The filters come before the five are taken (requirement RST-2), so that a file from elsewhere uses no place up. Each file is read
at this very moment through the one opener (`foldline.stores.beneath`); what was in the history is not repeated.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from foldline.core.message import result_text
from foldline.core.view import Item
from foldline.ledger.book import calls_in, kind_of_call, paths_of
from foldline.restore.asked import line_of, text_of
from foldline.restore.pieces import read_pieces
from foldline.restore.sources import Touched
from foldline.stores.beneath import Beneath, Unread

READ_BYTES_MAX: Final = 128 * 1024
"""Of one file: more than 5,000 tokens of any text that people write."""
FILE_BYTES_MAX: Final = 10 * 1024 * 1024
"""A larger file is named and not restored."""
TRIES_MAX: Final = 32
"""Files that are looked at until five can be read."""
_NUMBERED: Final = re.compile(r"^[ \t]{0,8}\d{1,6}(?:→|\t|[|:] ?)", re.MULTILINE)
"""What tools write before the lines of a file."""
_BINARY_BYTES: Final = 8_192
"""In which a NUL says that a file is no text."""
_FILE_KINDS: Final = frozenset({"file_read", "file_edit", "file_write"})


class Recent(Struct, frozen=True, kw_only=True):
    """One recent file, and what it held when it was read."""

    path: str
    """Relative to the workspace."""
    text: str
    is_whole: bool


class Passed(Struct, frozen=True, kw_only=True):
    """A recent file that is not restored."""

    path: str
    why: str
    is_outside: bool = False


def touched_in(items: Sequence[Item]) -> tuple[Touched, ...]:
    """The files that the calls of a history read or changed, and those that an earlier restore named, in the order in which
    they were last touched."""
    found: dict[str, None] = {}
    calls = sorted(calls_in(items), key=lambda done: done.seq)
    told = [(item.seq, name) for item in items for name in _named_in(item)]
    touched = [
        (done.seq, path)
        for done in calls
        if kind_of_call(done.call) in _FILE_KINDS and not (done.result is not None and done.result.is_error)
        for path in paths_of(done.call)
    ]
    for _, path in sorted([*told, *touched], key=lambda pair: pair[0]):
        found.pop(path, None)
        found[path] = None
    return tuple(Touched(path=path) for path in found)


def _named_in(item: Item) -> Iterator[str]:
    """Files that the pieces in a message name, oldest first: those left out, then those restored, newest first there."""
    pieces = list(read_pieces(item.message))
    for one in pieces:
        if one.kind == "left out":
            yield from (
                line.removeprefix("- file: ").rpartition(" · ")[0]
                for line in reversed(one.lines)
                if line.startswith("- file: ")
            )
    yield from reversed([one.name for one in pieces if one.kind == "file"])


class Kept:
    """What tools said in the messages that stay in view."""

    def __init__(self, items: Sequence[Item], *, below: Beneath) -> None:
        self._texts: dict[str, list[str]] = {}
        """A file's path → what calls that name it alone gave."""
        for done in calls_in(items):
            paths = paths_of(done.call)
            inside = below.relative(paths[0]) if len(paths) == 1 else None
            if inside is not None and done.result is not None and not done.result.is_error:
                text = result_text(done.result)
                self._texts.setdefault(inside, []).extend((text, _NUMBERED.sub("", text)))

    def holds(self, file: Recent) -> bool:
        """Whether a file stands there whole, as it is now, with or without numbers before its lines."""
        text = file.text.strip("\n")
        shown = self._texts.get(file.path, ())
        return bool(text.strip()) and file.is_whole and any(text in one for one in shown)


def recent_files(
    touched: Iterable[Touched], *, below: Beneath, session: str, files_max: int
) -> Iterator[Recent | Passed]:
    """The newest files, newest first: at most `files_max` that were read, and those that were passed over on the way."""
    seen: set[str] = set()
    read = tries = 0
    for one in reversed(list(touched)):
        if read >= files_max or tries >= TRIES_MAX:
            return
        path = text_of(one.path)
        if one.session not in ("", session) or not path:
            continue
        inside = below.relative(path)
        if inside is None:
            yield Passed(path=line_of(path), why="it lies outside the workspace", is_outside=True)
            continue
        if inside in seen:
            continue
        seen.add(inside)
        tries += 1
        found = _read(inside, below)
        read += isinstance(found, Recent)
        yield found


def _read(path: str, below: Beneath) -> Recent | Passed:
    held = below.read(path, bytes_max=READ_BYTES_MAX, size_max=FILE_BYTES_MAX)
    if isinstance(held, Unread):
        return Passed(path=line_of(path), why=held.why, is_outside=held.is_outside)
    if b"\0" in held.data[:_BINARY_BYTES]:
        return Passed(path=line_of(path), why="it is no text")
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    return Recent(path=path, text=decoder.decode(held.data, final=held.is_whole), is_whole=held.is_whole)
