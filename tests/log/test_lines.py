"""The framing of a foldline log: what is clean, torn or corrupt, at every byte and every bit."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.entry import Draft, Entry
from foldline.core.errors import UnknownFormat
from foldline.log.lines import (
    checksum,
    entry_line,
    header_crc,
    header_line,
    parse_log,
    write_log,
)

BODIES = [("message", b'{"format":"neutral","n":1}'), ("compaction", b'{"edits":[]}'), ("message", b"{}")]
SMALL = write_log(format="anthropic", body=b'{"id":"s"}', entries=BODIES)


def said(entries: tuple[Entry, ...]) -> list[tuple[str, bytes]]:
    return [(entry.kind, entry.body) for entry in entries]


def test_a_whole_log_gives_back_its_entries_in_order() -> None:
    """Law LOG: what was appended can be read."""
    log = parse_log(SMALL)
    assert (log.state, log.end, said(log.entries)) == ("clean", len(SMALL), BODIES)
    assert log.header is not None
    assert (log.header.format, log.header.body) == ("anthropic", b'{"id":"s"}')


def test_every_prefix_of_a_log_loads_what_was_whole_and_reports_a_torn_tail() -> None:
    """Law LOG: any prefix loads. A power cut may end the file at any byte (anthropics/claude-code#53821 showed an
    empty conversation without a word)."""
    ends = [place + 1 for place, byte in enumerate(SMALL) if byte == 10]
    for cut in range(len(SMALL)):
        log = parse_log(SMALL[:cut])
        whole = sum(end <= cut for end in ends)
        assert said(log.entries) == BODIES[: max(whole - 1, 0)], cut
        assert log.state == ("clean" if cut in ends else "torn"), cut
        assert log.end == max([0, *(end for end in ends if end <= cut)])
        assert bool(log.detail) == (log.state == "torn")


def test_no_flipped_bit_of_a_log_returns_an_altered_entry() -> None:
    """Of plain JSON Lines 70 in 100 flips still parse; here none may pass. Damage is corrupt (or a later version),
    and torn only where the flip hits the last line feed's own entry."""
    for place in range(len(SMALL)):
        for bit in range(8):
            damaged = bytearray(SMALL)
            damaged[place] ^= 1 << bit
            try:
                log = parse_log(bytes(damaged))
            except UnknownFormat:
                assert place == SMALL.index(b"1"), "only the version itself may read as a later one"
                continue
            assert log.state == "corrupt", (place, bit)
            assert said(log.entries) == BODIES[: len(log.entries)]
            assert log.end <= place or log.end == SMALL.rindex(b"\n", 0, place) + 1


@pytest.mark.parametrize("nuls", [1, 511, 4096])
def test_nul_bytes_after_the_last_entry_are_a_torn_end(nuls: int) -> None:
    """A file system may lengthen a file before the data arrives; then its end is NUL (anthropics/claude-code#49876)."""
    log = parse_log(SMALL + b"\0" * nuls)
    assert (log.state, log.end, said(log.entries)) == ("torn", len(SMALL), BODIES)
    half = parse_log(SMALL[:-5] + b"\0" * nuls)
    assert (half.state, said(half.entries)) == ("torn", BODIES[:-1])


def test_a_complete_last_line_that_does_not_compare_is_corrupt_and_not_torn() -> None:
    """It was written whole, so it may have been acknowledged; dropping it in silence would lose a record."""
    log = parse_log(SMALL[:-4] + b"x}}\n")
    assert log.state == "corrupt"
    assert log.end == SMALL.rindex(b"\n", 0, -1) + 1


def test_a_last_line_with_a_sector_that_never_arrived_is_torn() -> None:
    """Pages may arrive in any order; JSON has no NUL byte, so this was never there whole."""
    long = write_log(
        format="anthropic", body=b"{}", entries=[("message", b'{"n":"%b"}' % (b"x" * 2_000))] * 2
    )
    whole = parse_log(long)
    for number, state in ((1, "torn"), (0, "corrupt")):
        begin = whole.entries[number].offset + 300
        log = parse_log(long[:begin] + bytes(512) + long[begin + 512 :])
        assert (log.state, log.entries) == (state, whole.entries[:number])
        assert log.end == whole.entries[number].offset


def test_a_lost_line_in_the_middle_is_noticed() -> None:
    """Numbers of entries have no gap."""
    lines = SMALL.splitlines(keepends=True)
    log = parse_log(b"".join([lines[0], lines[1], lines[3]]))
    assert log.state == "corrupt"
    assert "missing" in log.detail


def test_a_line_of_another_log_is_refused() -> None:
    """Checksums go on from the first line's, so that a spliced file is noticed (anthropics/claude-code#47412)."""
    other = write_log(format="anthropic", body=b'{"id":"t"}', entries=BODIES)
    lines, foreign = SMALL.splitlines(keepends=True), other.splitlines(keepends=True)
    assert parse_log(lines[0] + foreign[1]).state == "corrupt"


def test_lines_appended_one_by_one_are_the_log_written_at_once() -> None:
    """A store appends what `entry_line` gives."""
    first = header_line(format="anthropic", body=b'{"id":"s"}')
    crc = header_crc(first)
    lines = [entry_line(n, Draft(kind=kind, body=body), crc=crc) for n, (kind, body) in enumerate(BODIES)]
    assert first + b"".join(lines) == SMALL


def test_the_checksum_is_the_documented_one() -> None:
    """`docs/reference/log-format.md`: another program must be able to compute it with any CRC-32."""
    line = SMALL.splitlines()[1]
    record = json.loads(line)
    begin, body = line[: line.index(b',"crc"')], line[line.index(b'"body":') + 7 : -1]
    first = SMALL.splitlines()[0]
    start = zlib.crc32(b'{"id":"s"}', zlib.crc32(first[: first.index(b',"crc"')]))
    assert record["crc"] == f"{zlib.crc32(body, zlib.crc32(begin, start)):08x}"
    assert checksum(begin, body, crc=start) == int(record["crc"], 16)


def test_a_later_version_is_refused_with_what_to_do() -> None:
    """A log this program does not know is no damaged log."""
    with pytest.raises(UnknownFormat, match=r"version 2.*upgrade"):
        parse_log(SMALL.replace(b'"foldline":1', b'"foldline":2', 1))


def test_a_body_with_a_line_feed_cannot_be_written() -> None:
    """It would be two lines."""
    with pytest.raises(ValueError, match="one line"):
        entry_line(0, Draft(kind="message", body=b'{\n"a":1}'), crc=0)


@given(
    st.lists(st.tuples(st.sampled_from(["message", "later_kind"]), st.text(max_size=40)), max_size=8),
    st.data(),
)
def test_any_log_survives_being_written_and_any_cut(
    pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Law LOG, for bodies of any text; unknown kinds are kept."""
    entries = [(kind, json.dumps({"t": text}).encode()) for kind, text in pairs]
    whole = write_log(format="neutral", body=b"{}", entries=entries)
    assert said(parse_log(whole).entries) == entries
    cut = parse_log(whole[: data.draw(st.integers(0, len(whole)))])
    assert cut.state != "corrupt"
    assert said(cut.entries) == entries[: len(cut.entries)]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_verdict_and_no_exception(data: bytes) -> None:
    """A log is read from disks that fail."""
    try:
        log = parse_log(data)
    except UnknownFormat:
        return
    assert log.state in ("torn", "corrupt") or log.end == len(data)
