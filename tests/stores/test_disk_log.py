"""One session's log on disk: appends, torn ends, failures that are never tried again, rewriting."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.entry import Draft, Entry
from foldline.core.errors import SessionFailed
from foldline.log.lines import parse_log
from foldline.stores.disk import DiskStore

ONE = Draft(kind="message", body=b'{"n":1}')
BIG = Draft(kind="message", body=b'{"n":"%b"}' % (b"x" * 200_000))


def log_of(home: Path) -> Path:
    return home / "sessions/s/log.jsonl"


def test_a_torn_end_is_cut_off_once_and_said(tmp_path: Path) -> None:
    """Law LOG. An append of several entries counts whole or not at all."""
    store = DiskStore(tmp_path, clock=lambda: None)
    journal = store.create("s", format="anthropic", about=b"{}")
    made = [*journal.append([ONE]), *journal.append([ONE, ONE, ONE]), *journal.append([ONE])]
    journal.close()
    whole = log_of(tmp_path).read_bytes()
    ends = [made[0].offset, made[1].offset, made[4].offset, len(whole)]
    for cut in sorted({*ends, *range(ends[0], len(whole) + 1, 9)}):
        for filled in (b"", b"\0" * 300):
            log_of(tmp_path).write_bytes(whole[:cut] + filled)
            keep = max(end for end in ends if end <= cut)
            kept = [entry for entry in made if entry.offset < keep]
            assert list(store.read("s").entries()) == kept
            journal = store.write("s")
            assert bool(journal.torn) == (cut not in ends or bool(filled)), cut
            assert list(journal.back()) == kept[::-1]
            assert log_of(tmp_path).read_bytes() == whole[:keep]
            [after] = journal.append([ONE])
            journal.close()
            assert (after.seq, after.offset) == (len(kept), keep)
            again = store.write("s")
            assert again.torn == ""
            again.close()


def test_lines_longer_than_a_chunk_are_read_in_every_direction(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    journal = store.create("s", format="anthropic", about=b"{}")
    made = [entry for draft in (BIG, ONE, BIG, BIG, ONE) for entry in journal.append([draft], sync=False)]
    assert list(journal.entries()) == made
    assert list(journal.entries(made[2].offset)) == made[2:]
    assert list(journal.back()) == made[::-1]
    assert [journal.entry(entry.offset) for entry in made] == made
    journal.close()
    assert parse_log(log_of(tmp_path).read_bytes()).entries == tuple(made)


def test_a_closed_journal_takes_nothing_and_reads_nothing(tmp_path: Path) -> None:
    journal = DiskStore(tmp_path).create("s", format="anthropic", about=b"{}")
    journal.close()
    for call in (lambda: journal.append([ONE]), journal.sync):
        with pytest.raises(SessionFailed, match="closed"):
            call()


def test_a_rewrite_keeps_every_offset_and_puts_the_file_in_place_whole(tmp_path: Path) -> None:
    """Bodies of the same length; the first line and what was not named stay byte for byte."""
    store = DiskStore(tmp_path)
    journal = store.create("s", format="anthropic", about=b'{"id":"s"}')
    made = [entry for draft in (ONE, BIG, ONE) for entry in journal.append([draft])]
    journal.close()

    def masked(entry: Entry) -> bytes | None:
        return entry.body.replace(b"x", b"-") if entry.seq == 1 else None

    before = log_of(tmp_path).read_bytes()
    assert store.rewrite("s", masked) == 1
    assert store.rewrite("s", masked) == 0, "what is there already is no change"
    after = log_of(tmp_path).read_bytes()
    assert (len(after), after[: made[1].offset]) == (len(before), before[: made[1].offset])
    assert after[made[2].offset :] == before[made[2].offset :]
    assert b"xxx" not in after
    log = parse_log(after)
    assert (log.state, [entry.offset for entry in log.entries]) == ("clean", [entry.offset for entry in made])
    assert not list(log_of(tmp_path).parent.glob("new*"))
