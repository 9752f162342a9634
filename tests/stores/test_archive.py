"""The archive: what any gzip reads, every byte at its offset, and nothing believed that does not compare (JRN-7)."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.entry import Draft, Entry
from foldline.core.errors import SessionCorrupt
from foldline.log.lines import parse_log
from foldline.stores import archive, disk_log
from foldline.stores.archive import (
    ArchivePiece,
    MissingPiece,
    Stored,
    counting,
    noted,
    packed,
    read_index,
)
from foldline.stores.disk import DiskStore
from foldline.stores.packing import GZIP, ZSTANDARD, Packing
from foldline.testing.disk import SimulatedDisk


def held(data: bytes) -> SimulatedDisk:
    """A disk with one file `f`."""
    disk = SimulatedDisk()
    disk.open("f", "new").write(data)
    return disk


def piece_of(data: bytes, start: int, *, end: int, packing: Packing = GZIP) -> ArchivePiece:
    """A file of the archive with these bytes, whatever they are."""
    return ArchivePiece(held(data), "f", stored=Stored(start=start, end=end, suffix=packing.suffix))


PACKED: tuple[Packing, ...] = (GZIP, ZSTANDARD)
PACKINGS = pytest.mark.parametrize("packing", PACKED, ids=lambda packing: packing.suffix)


@PACKINGS
def test_an_archived_session_reads_as_before_and_goes_on(
    packing: Packing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JRN-7: nothing is lost in the move; every offset stays. The pieces put together are the log as it was."""
    monkeypatch.setattr(disk_log, "best_packing", lambda: packing)
    store = DiskStore(tmp_path, clock=lambda: None)
    journal = store.create("s", format="anthropic", about=b'{"id":"s"}')
    made: list[Entry] = []
    for round in range(3):
        made += journal.append(
            [Draft(kind="message", body=b'{"n":"%b"}' % (b"x" * size)) for size in (1, 900)]
        )
        assert journal.archive() == ""
        assert journal.archive() == "", "nothing to pack away is done at once"
        made += journal.append([Draft(kind="usage", body=b'{"round":%d}' % round)])
    for pages in (journal, store.read("s")):
        assert list(pages.entries()) == made
        assert list(pages.back()) == made[::-1]
        assert [pages.entry(entry.offset) for entry in made] == made
        assert list(pages.entries(made[4].offset)) == made[4:]
        assert (pages.format, pages.about) == ("anthropic", b'{"id":"s"}')
    journal.close()
    folder = tmp_path / "sessions/s"
    names = sorted(os.listdir(folder / "archive"))
    assert len(names) == 3
    assert all(name.endswith(packing.suffix) for name in names)
    files = b"".join((folder / "archive" / name).read_bytes() for name in names)
    if packing is GZIP:
        packed_bytes = gzip.decompress(files)
    else:
        with zstandard.ZstdDecompressor().stream_reader(files, read_across_frames=True) as reader:
            packed_bytes = reader.read()
    active = (folder / "log.jsonl").read_bytes()
    log = parse_log(packed_bytes + active[active.index(b"\n") + 1 :])
    assert (log.state, list(log.entries)) == ("clean", made)
    later = parse_log(active)
    assert (later.state, list(later.entries)) == ("clean", made[-1:])
    modes = {oct(path.stat().st_mode & 0o777) for path in (folder / "archive").iterdir()}
    assert modes == {"0o600"}


def test_an_archive_of_several_files_divides_between_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_log, "FILE_BYTES_MAX", 300)
    journal = DiskStore(tmp_path).create("s", format="anthropic", about=b"{}")
    made = [*journal.append([Draft(kind="message", body=b'{"n":%d}' % n) for n in range(20)])]
    assert journal.archive() == ""
    assert len(os.listdir(tmp_path / "sessions/s/archive")) > 5
    assert list(journal.entries()) == made == [*journal.back()][::-1]
    journal.close()
    assert DiskStore(tmp_path).rewrite("s", lambda entry: entry.body.replace(b"1", b"0")) == 11
    assert [entry.offset for entry in DiskStore(tmp_path).read("s").entries()] == [e.offset for e in made]


@pytest.mark.skipif(shutil.which("gzip") is None, reason="no gzip here to ask")
def test_gzip_itself_reads_the_archive(tmp_path: Path) -> None:
    """Recovery by hand needs no foldline."""
    (tmp_path / "a.gz").write_bytes(b"".join(packed([b"some", b"thing\n" * 400_000], start=7, packing=GZIP)))
    out = subprocess.run(["gzip", "-dc", str(tmp_path / "a.gz")], capture_output=True, check=True)
    assert out.stdout == b"some" + b"thing\n" * 400_000
    assert out.stderr == b""


@given(st.data())
def test_any_range_of_the_archive_is_read_at_its_offset(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 3_000))
    content = bytes(byte % 251 for byte in range(length))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "BLOCK_BYTES", 500)
        packing: Packing = data.draw(st.sampled_from(PACKED))
        whole = b"".join(packed([content[:100], content[100:]], start=50, packing=packing))
        piece = piece_of(whole, 50, end=50 + length, packing=packing)
        for _ in range(4):
            at, size = data.draw(st.integers(0, length)), data.draw(st.integers(0, length))
            assert piece.read(size, at=50 + at) == content[at : at + size]
        assert piece.is_sound()


@PACKINGS
def test_no_flipped_bit_of_an_archive_gives_other_bytes(packing: Packing) -> None:
    """D7 for the archive. A flag of the header that changes nothing may pass, other content may not."""
    content = b'{"some":"thing"}\n' * 20
    whole = b"".join(packed([content], start=9, packing=packing))
    for place in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            piece = piece_of(bytes(damaged), 9, end=9 + len(content), packing=packing)
            try:
                assert piece.read(len(content), at=9) == content, (place, bit)
                piece.is_sound()
            except SessionCorrupt:
                continue


@pytest.mark.parametrize(
    "change",
    [
        {"start": 8},
        {"end": 10**9},
        {"sizes": []},
        {"sizes": [10**12]},
        {"sizes": "x"},
        {"sizes": [-1, 70]},
        {"sizes": [[]]},
        {"sha256": None},
    ],
)
@PACKINGS
def test_an_index_that_disagrees_is_not_believed(change: dict[str, Any], packing: Packing) -> None:
    """S12, S19."""
    member = packing.pack(b"x" * 100)
    told = {"archive": 1, "start": 9, "end": 109, "sizes": [len(member)], "sha256": "0" * 64, **change}
    piece = piece_of(member + packing.beside(noted(told)), 9, end=109, packing=packing)
    if change == {"sha256": None}:
        assert not piece.is_sound()
    else:
        with pytest.raises(SessionCorrupt, match="no sound index"):
            piece.read(1, at=9)


@pytest.mark.parametrize("data", [b"", b"x" * 40, bytes(200_000)])
def test_a_file_that_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(SessionCorrupt, match="no sound index"):
        read_index(held(data).open("f", "read"), Stored(start=0, end=10, suffix="gz"), packing=GZIP)


@PACKINGS
def test_a_block_that_swells_is_not_unpacked_further_than_it_may(packing: Packing) -> None:
    """S19: a bomb of 200 MB costs a megabyte."""
    bomb = packing.pack(bytes(200_000_000))
    told = {"start": 0, "end": 100, "sizes": [len(bomb)], "sha256": ""}
    piece = piece_of(bomb + packing.beside(noted(told)), 0, end=100, packing=packing)
    tracemalloc.start()
    with pytest.raises(SessionCorrupt, match="a block of the archive"):
        piece.read(10, at=0)
    assert tracemalloc.get_traced_memory()[1] < 2 << 20
    tracemalloc.stop()


def test_reading_through_many_files_keeps_few_blocks() -> None:
    """JRN-19: memory does not grow with the log, however often it was packed away."""
    store = DiskStore("/", fs=SimulatedDisk(), clock=lambda: None)
    journal = store.create("s", format="anthropic", about=b"{}")
    for _ in range(30):
        journal.append([Draft(kind="message", body=b'{"x":"%b"}' % (b"x" * 300_000))])
        assert journal.archive() == ""
    journal.close()
    pages = store.read("s")
    tracemalloc.start()
    assert sum(1 for _ in pages.entries()) == sum(1 for _ in pages.back()) == 30
    assert tracemalloc.get_traced_memory()[0] < (archive.BLOCKS_KEPT + 1) * 300_000
    tracemalloc.stop()


def test_which_files_count() -> None:
    """What an interruption left beside them does not: it passes the active segment's beginning, or is a part of another."""

    def name(start: int, end: int, suffix: str = "gz") -> str:
        return Stored(start=start, end=end, suffix=suffix).name

    names = [name(0, 10), name(0, 25, "zst"), name(25, 40), name(30, 35), name(40, 99), "new.jsonl"]
    assert [file.name for file in counting(names, end=40)] == [name(0, 25, "zst"), name(25, 40)]
    assert counting(names, end=0) == ()
    assert [file.start for file in counting([name(25, 40)], end=40)] == [25]


def test_an_archive_that_was_taken_away_is_missed_where_it_is_read(tmp_path: Path) -> None:
    """What is left can be gone on with; what is gone is named with its byte."""
    store = DiskStore(tmp_path)
    journal = store.create("s", format="anthropic", about=b"{}")
    journal.append([Draft(kind="message", body=b"{}")])
    journal.archive()
    [made] = journal.append([Draft(kind="message", body=b'{"n":1}')])
    journal.close()
    for path in (tmp_path / "sessions/s/archive").iterdir():
        path.unlink()
    again = store.write("s")
    back = again.back()
    assert next(back) == made
    with pytest.raises(SessionCorrupt, match="missing; put it back"):
        next(back)
    again.append([Draft(kind="message", body=b"{}")])
    again.close()
    assert MissingPiece(3, end=9).read(0, at=3) == b""
    piece = ArchivePiece(SimulatedDisk(), "gone", stored=Stored(start=4, end=9, suffix="gz"))
    with pytest.raises(SessionCorrupt, match="taken away"):
        piece.read(1, at=4)
