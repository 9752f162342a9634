"""Which secrets stand in a file or a session, and where; never what they are.

Owns the walk and the places it names: an address where the secret stands in a part of a message, else the entry or the
line. What a secret looks like is `foldline.log.secrets`'s; taking one out of a log is `foldline.privacy.forgetting`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from foldline.core.address import part_address
from foldline.core.entry import Entry
from foldline.core.errors import InvalidTranscript, SessionCorrupt, UnknownFormat
from foldline.core.message import Part
from foldline.core.ports import Pages
from foldline.core.received import slotted
from foldline.log.secrets import Hit, Redactor, find
from foldline.log.values import read_message
from foldline.lookup import text_of

FILE_BYTES_MAX: Final = 2**30
"""Largest file scanned, bytes; the largest that can be read as a session at all."""


class Found(Struct, frozen=True, kw_only=True):
    """A secret and its place."""

    place: str
    """An address (`m12.3@5f0c9a1e`), or `entry 7, compaction`, or `line 12`."""
    family: str
    fingerprint: str
    """The same for the same secret."""


class Scan(Struct, frozen=True, kw_only=True):
    """What was found in one file or session."""

    name: str
    bytes: int
    """Bytes looked at."""
    found: tuple[Found, ...]
    damage: str = ""
    """Why what follows could not be read; empty when all of it was."""

    @property
    def families(self) -> Mapping[str, int]:
        """How many of each, most first."""
        return dict(Counter(found.family for found in self.found).most_common())

    def to_dict(self) -> dict[str, Any]:
        """As `foldline scan --json` lists it."""
        return {
            "name": self.name,
            "bytes": self.bytes,
            "secrets": len(self.found),
            "families": self.families,
            "found": [
                {"place": f.place, "family": f.family, "fingerprint": f.fingerprint} for f in self.found
            ],
            "damage": self.damage or None,
        }


def scan_file(path: str, *, redactor: Redactor) -> Scan:
    """Any file, whatever it holds, by lines. Raises `InvalidTranscript` for one that cannot be read."""
    try:
        if Path(path).stat().st_size > FILE_BYTES_MAX:
            raise InvalidTranscript(path, None, f"larger than {FILE_BYTES_MAX:,} bytes; scan it in pieces")
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # a path that no file can have is a ValueError
        why = getattr(error, "strerror", None) or error
        raise InvalidTranscript(path, None, f"{why}; name a file that can be read") from error
    return scan_bytes(data, name=path, redactor=redactor)


def scan_bytes(data: bytes, *, name: str, redactor: Redactor) -> Scan:
    """As `scan_file`, of bytes at hand."""
    found: list[Found] = []
    line = at = 0
    for hit in find(data):
        line += data.count(b"\n", at, hit.start)
        at = hit.start
        found.append(_found(f"line {line + 1}", hit, redactor=redactor))
    return Scan(name=name, bytes=len(data), found=tuple(found))


def scan_session(
    pages: Pages, *, name: str, redactor: Redactor, tick: Callable[[int, int], None] | None = None
) -> Scan:
    """A session's whole log, archives included."""
    found: list[Found] = []
    size = ordinal = 0
    damage = ""
    try:
        for entry in pages.entries():
            size = entry.offset + entry.size
            hits = find(entry.body)
            if hits:
                found += _in_entry(entry, ordinal, hits=hits, redactor=redactor)
            ordinal += entry.kind == "message"
            if tick is not None:
                tick(size, 0)
    except SessionCorrupt as error:
        damage = str(error)
    found += [_found("first line", hit, redactor=redactor) for hit in find(pages.about)]
    return Scan(name=name, bytes=size, found=tuple(found), damage=damage)


def _in_entry(entry: Entry, ordinal: int, *, hits: tuple[Hit, ...], redactor: Redactor) -> Iterator[Found]:
    """The hits of an entry: by part where the parts of its message account for all of them."""
    by_part: list[Found] = []
    if entry.kind == "message":
        for part in _parts(entry):
            text = text_of(part).encode("utf-8", "surrogatepass")
            by_part += [_found(part_address(ordinal, part), hit, redactor=redactor) for hit in find(text)]
    if len(by_part) >= len(hits):
        yield from by_part
        return
    for hit in hits:
        yield _found(f"entry {entry.seq}, {entry.kind}", hit, redactor=redactor)


def _parts(entry: Entry) -> tuple[Part, ...]:
    try:
        return slotted(read_message(entry.body)).parts
    except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat):
        return ()


def _found(place: str, hit: Hit, *, redactor: Redactor) -> Found:
    mark = redactor.mark(hit.value)
    return Found(place=place, family=hit.family, fingerprint=mark.removeprefix("⟦secret:").removesuffix("⟧"))
