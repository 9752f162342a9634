"""Finding lines in bytes: chunks that end anywhere, and nonsense that is not believed."""

from __future__ import annotations

import pytest

from foldline.core.errors import SessionCorrupt
from foldline.log.lines import PREFIX_BYTES_MAX, parse_log, write_log
from foldline.stores import scan
from foldline.stores.scan import Extent, backward, entry_at, find_end, forward, line_before

LOG = write_log(
    format="anthropic",
    body=b"{}",
    entries=[("message", b'{"n":"%b"}' % (b"x" * size)) for size in (3, 70, 0, 500, 2, 41, 1)],
)
ENTRIES = parse_log(LOG).entries
HEADER = parse_log(LOG).header
assert HEADER is not None
WHOLE = Extent(start=HEADER.size, end=len(LOG), seq=0, crc=HEADER.crc)


class Bytes:
    """A source that counts what is read of it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.taken = data, 0

    def read(self, size: int, *, at: int) -> bytes:
        self.taken += min(size, len(self.data) - at)
        return self.data[at : at + size]

    def floor(self, stop: int) -> int:
        return 0


@pytest.mark.parametrize("chunk", [*range(1, 40), 64, 500, 1 << 16])
def test_the_size_of_a_chunk_changes_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines lie across chunks in every way. A chunk holds the beginning of a line at least."""
    monkeypatch.setattr(scan, "CHUNK_BYTES", PREFIX_BYTES_MAX + chunk)
    monkeypatch.setattr(scan, "ENTRY_BYTES", PREFIX_BYTES_MAX + chunk)
    source = Bytes(LOG)
    assert tuple(forward(source, 0, extent=WHOLE)) == ENTRIES
    assert tuple(backward(source, extent=WHOLE)) == ENTRIES[::-1]
    assert tuple(entry_at(source, entry.offset, extent=WHOLE) for entry in ENTRIES) == ENTRIES
    found = find_end(source, extent=WHOLE)
    assert (found.end, found.last, found.torn) == (len(LOG), ENTRIES[-1], "")


def test_the_newest_entries_of_a_long_log_cost_a_chunk() -> None:
    """JRN-19: nothing is loaded whole."""
    log = write_log(
        format="anthropic", body=b"{}", entries=[("message", b'{"n":"%b"}' % (b"x" * 900))] * 5_000
    )
    source = Bytes(log)
    extent = Extent(start=64, end=len(log), seq=0, crc=int(log[log.index(b'"crc":"') + 7 :][:8], 16))
    found = find_end(source, extent=extent)
    assert found.last is not None
    assert found.last.seq == 4_999
    assert source.taken <= 4 * scan.CHUNK_BYTES


def test_a_missing_line_is_noticed_in_both_directions() -> None:
    gap = LOG[: ENTRIES[2].offset] + LOG[ENTRIES[3].offset :]
    extent = Extent(start=WHOLE.start, end=len(gap), seq=0, crc=WHOLE.crc)
    with pytest.raises(SessionCorrupt, match="entry 2 is missing"):
        list(forward(Bytes(gap), 0, extent=extent))
    with pytest.raises(SessionCorrupt, match="entry 2 is missing"):
        list(backward(Bytes(gap), extent=extent))
    late = LOG[: WHOLE.start] + LOG[ENTRIES[1].offset :]
    with pytest.raises(SessionCorrupt, match="the first entry has number 1"):
        list(backward(Bytes(late), extent=Extent(start=WHOLE.start, end=len(late), seq=0, crc=WHOLE.crc)))


@pytest.mark.parametrize("offset", [0, 1, ENTRIES[1].offset + 1, ENTRIES[3].offset - 1, len(LOG), 10**9])
def test_an_offset_where_no_entry_begins_is_refused(offset: int) -> None:
    with pytest.raises(SessionCorrupt):
        entry_at(Bytes(LOG), offset, extent=WHOLE)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"x" * 10**7, "no entry begins"),
        (
            b'{"seq":0,"kind":"message","len":999999999,"crc":"00000000","body":{' + b" " * 10**7,
            "after the log's end",
        ),
        (b'{"seq":0,"kind":"message","len":300000,"crc":"00000000","body":{' + b" " * 10**7, "not as long"),
    ],
)
def test_a_line_of_nonsense_costs_no_more_than_a_chunk(line: bytes, why: str) -> None:
    """S19: no length is believed that the log does not bear out."""
    source = Bytes(LOG[: WHOLE.start] + line + b"\n")
    extent = Extent(start=WHOLE.start, end=len(source.data), seq=0, crc=WHOLE.crc)
    with pytest.raises(SessionCorrupt, match=why):
        next(forward(source, 0, extent=extent))
    assert source.taken < 400_000


def test_a_file_cut_off_while_it_is_read_is_corrupt() -> None:
    extent = Extent(start=WHOLE.start, end=len(LOG) + 300, seq=0, crc=WHOLE.crc)
    with pytest.raises(SessionCorrupt, match="shorter than it was"):
        list(forward(Bytes(LOG), 0, extent=extent))


def test_the_line_before_is_found_through_any_number_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "CHUNK_BYTES", 7)
    assert line_before(Bytes(LOG), len(LOG) - 1, start=0) == ENTRIES[-1].offset
    assert line_before(Bytes(b"no feed at all" * 9), 100, start=3) == 3
    nuls = Bytes(LOG[: WHOLE.start] + b"\0" * 50)
    end = find_end(nuls, extent=Extent(start=WHOLE.start, end=len(nuls.data), seq=0, crc=WHOLE.crc))
    assert (end.end, end.last) == (WHOLE.start, None)
    assert "50 NUL bytes" in end.torn


def test_a_last_line_with_a_sector_that_never_arrived_is_torn_and_any_other_damage_is_not() -> None:
    """A file system may lengthen a file and write its pages in any order. JSON has no NUL byte, so this is no damage to
    what was once there; a flipped bit, or a hole with entries behind it, is."""
    long = write_log(
        format="anthropic", body=b"{}", entries=[("message", b'{"n":"%b"}' % (b"x" * 3_000))] * 3
    )
    entries = parse_log(long).entries
    extent = Extent(
        start=entries[0].offset, end=len(long), seq=0, crc=int(long[long.index(b'"crc":"') + 7 :][:8], 16)
    )
    for number, hole, torn in ((2, 1_024, True), (2, 511, False), (1, 1_024, False)):
        data = bytearray(long)
        begin = entries[number].offset + 700
        data[begin : begin + hole] = bytes(hole)
        if torn:
            found = find_end(Bytes(bytes(data)), extent=extent)
            assert (found.end, found.last) == (entries[2].offset, entries[1])
            assert "with holes" in found.torn
        elif number == 2:
            with pytest.raises(SessionCorrupt):
                find_end(Bytes(bytes(data)), extent=extent)
        else:
            with pytest.raises(SessionCorrupt):
                list(forward(Bytes(bytes(data)), 0, extent=extent))
