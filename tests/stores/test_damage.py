"""Damage to a log on disk: cut off at every byte (D6), every bit flipped (D7), whatever bytes there are (S12, S19)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.entry import Draft, Entry
from foldline.core.errors import SessionCorrupt, UnknownFormat
from foldline.log.lines import parse_log
from foldline.stores.disk import DiskStore
from foldline.testing.disk import SimulatedDisk

LOG = "sessions/s/log.jsonl"


def session(drafts: list[list[Draft]], *, archive_after: int = 0) -> tuple[SimulatedDisk, list[Entry]]:
    """A disk with a session of these appends."""
    disk = SimulatedDisk()
    journal = DiskStore("/", fs=disk, clock=lambda: None).create("s", format="anthropic", about=b'{"id":"s"}')
    made: list[Entry] = []
    for number, batch in enumerate(drafts, 1):
        made += journal.append(batch)
        if number == archive_after:
            assert journal.archive() == ""
    journal.close()
    return disk, made


def opened(disk: SimulatedDisk) -> DiskStore:
    return DiskStore("/", fs=disk, clock=lambda: None)


def content(disk: SimulatedDisk) -> bytearray:
    return disk.image.data[disk.image.files[LOG]]


APPENDS = [
    [Draft(kind=kind, body=b'{"n":%d}' % (number * 7 + n)) for n in range(1 + number % 3)]
    for number, kind in enumerate(["message", "usage", "checkpoint", "message"] * 6)
]


def test_a_log_cut_off_at_any_byte_keeps_what_was_whole_and_is_mended_once() -> None:
    """D6: every offset of a log with more than 40 entries and several checkpoints."""
    disk, made = session(APPENDS)
    assert len(made) > 40
    whole = bytes(content(disk))
    ends = [made[0].offset, *(entry.offset + entry.size for entry in made if not entry.more)]
    for cut in range(ends[0], len(whole) + 1):
        content(disk)[:] = whole[:cut]
        keep = max(end for end in ends if end <= cut)
        kept = [entry for entry in made if entry.offset < keep]
        pages = opened(disk).read("s")
        assert list(pages.entries()) == kept
        assert bool(pages.torn) == (cut not in ends)
        journal = opened(disk).write("s")
        journal.close()
        assert bytes(content(disk)) == whole[:keep]
        assert opened(disk).read("s").torn == ""


def read_of(store: DiskStore) -> Iterator[Entry]:
    """Entries until damage is told."""
    with contextlib.suppress(SessionCorrupt, UnknownFormat):
        yield from store.read("s").entries()


@pytest.mark.parametrize("archive_after", [0, 3])
def test_no_flipped_bit_gives_another_entry_and_salvage_keeps_the_rest(archive_after: int) -> None:
    """D7: every bit of the file. What is damaged is refused with its byte, and everything else is salvaged under its own
    number and offset."""
    disk, made = session(APPENDS[:7], archive_after=archive_after)
    file, shift = content(disk), 0
    if archive_after:
        header = file.index(b"\n") + 1
        shift = next(entry.offset for entry in parse_log(bytes(file)).entries) - header
    for place in range(len(file)):
        for bit in range(8):
            file[place] ^= 1 << bit
            found = list(read_of(opened(disk)))
            assert found == made[: len(found)], (place, bit)
            if place >= file.index(b"\n") + 1:
                with pytest.raises(SessionCorrupt) as caught:
                    list(opened(disk).read("s").entries())
                assert caught.value.offset <= place + shift
            if bit == place % 8:
                salvaged_all_but_one(opened(disk), made, place=place + shift)
            file[place] ^= 1 << bit


def salvaged_all_but_one(store: DiskStore, made: list[Entry], *, place: int) -> None:
    """Of the entries only the one that holds this byte may be another; the damage may join it with the one after it."""
    with contextlib.suppress(SessionCorrupt, UnknownFormat):  # the first line
        first, found = store.read("s").salvage()
        log = parse_log(b"".join((first, *found.lines())))
        assert log.state in ("clean", "torn")
        same = {entry.offset for entry in log.entries} & {
            entry.offset for entry in made if entry in log.entries
        }
        lost = [entry for entry in made if entry.offset not in same]
        tail = made[-1].offset + made[-1].size
        for entry in lost:
            assert entry.offset <= place + 1, "what stands behind the damage is kept"
            assert entry.offset + entry.size + 1 >= place or log.end < tail


@given(st.data())
def test_any_bytes_in_the_place_of_a_log_give_entries_or_a_documented_error(data: st.DataObject) -> None:
    """S12: mangled logs, read, written to, and salvaged."""
    disk, made = session(APPENDS[:5])
    file = content(disk)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(file)))
        match data.draw(st.sampled_from(["insert", "delete", "double", "nul"])):
            case "insert":
                file[place:place] = data.draw(st.binary(max_size=30))
            case "delete":
                del file[place : place + data.draw(st.integers(0, 200))]
            case "double":
                file[place:place] = file[place : place + data.draw(st.integers(0, 200))]
            case _:
                file[place : place + 9] = bytes(9)
    found = list(read_of(opened(disk)))
    assert found == made[: len(found)]
    with contextlib.suppress(SessionCorrupt, UnknownFormat):
        first, salvage = opened(disk).read("s").salvage()
        log = parse_log(b"".join((first, *salvage.lines())))
        assert log.state in ("clean", "torn")
        known = {(entry.seq, entry.body) for entry in made}
        told = [entry for entry in log.entries if (entry.seq, entry.body) in known]
        assert len(told) >= salvage.entries - len(log.entries) + len(told)
    with contextlib.suppress(SessionCorrupt, UnknownFormat):
        journal = opened(disk).write("s")
        journal.append([Draft(kind="message", body=b"{}")])
        journal.close()
        list(opened(disk).read("s").back())


@given(st.binary(max_size=300))
def test_any_file_is_read_or_refused(data: bytes) -> None:
    """S12."""
    disk, _ = session([])
    content(disk)[:] = data
    with contextlib.suppress(SessionCorrupt, UnknownFormat):
        opened(disk).read("s")
    with contextlib.suppress(SessionCorrupt, UnknownFormat):
        opened(disk).write("s")


def test_a_line_of_200_mb_that_is_none_is_refused_without_reading_it() -> None:
    """S19."""
    disk, _ = session([])
    content(disk).extend(b'{"seq":0,' + b"[" * 200_000_000 + b"\n")
    with pytest.raises(SessionCorrupt, match="no entry begins"):
        next(opened(disk).read("s").entries())
