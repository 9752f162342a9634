"""Salvage: what is sound stays where it is, what is not says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldline.core.entry import Draft, Entry
from foldline.log.lines import parse_log
from foldline.log.values import read_message
from foldline.stores.disk import DiskStore
from foldline.testing.disk import SimulatedDisk

LONG = Draft(
    kind="message", body=b'{"format":"anthropic","wire":{"role":"user","content":"%b"}}' % (b"x" * 300)
)
SHORT = Draft(kind="message", body=b"{}")
USAGE = Draft(kind="usage", body=b'{"n":1}')


def damaged(home: Path, drafts: list[Draft], *places: int) -> tuple[DiskStore, list[Entry]]:
    """A store whose session has these entries, with the bodies of some damaged."""
    store = DiskStore(home, clock=lambda: None)
    journal = store.create("s", format="anthropic", about=b"{}")
    made = [entry for draft in drafts for entry in journal.append([draft])]
    journal.close()
    path = home / "sessions/s/log.jsonl"
    data = bytearray(path.read_bytes())
    for place in places:
        data[made[place].offset + made[place].size - 4] ^= 1
    path.write_bytes(data)
    return store, made


def damaged_in_memory(draft: Draft) -> tuple[DiskStore, list[Entry]]:
    """The same on a disk in memory: this entry, damaged, between two others."""
    disk = SimulatedDisk()
    store = DiskStore("/", fs=disk, clock=lambda: None)
    journal = store.create("s", format="anthropic", about=b"{}")
    made = [entry for one in (USAGE, draft, USAGE) for entry in journal.append([one])]
    journal.close()
    file = disk.image.data[disk.image.files["sessions/s/log.jsonl"]]
    file[made[1].offset + made[1].size - 2] ^= 1
    return store, made


def test_a_lost_message_says_so_and_every_other_entry_keeps_its_number_and_offset(tmp_path: Path) -> None:
    store, made = damaged(tmp_path, [LONG, USAGE, LONG, USAGE, LONG, SHORT, LONG], 2, 3, 5)
    before = (tmp_path / "sessions/s/log.jsonl").read_bytes()
    first, salvage = store.read("s").salvage()
    log = parse_log(first + b"".join(salvage.lines()))
    assert log.state == "clean"
    assert [(e.seq, e.offset, e.size) for e in log.entries] == [(e.seq, e.offset, e.size) for e in made]
    assert [entry.kind for entry in log.entries] == [
        "message", "usage", "message", "lost", "message", "lost", "message",
    ]  # fmt: skip
    assert [log.entries[n] for n in (0, 1, 4, 6)] == [made[n] for n in (0, 1, 4, 6)]
    assert "damaged" in str(read_message(log.entries[2].body))
    assert json.loads(log.entries[3].body) == {}
    assert salvage.entries == 4
    assert [(gap.offset, gap.first, gap.count) for gap in salvage.gaps] == [
        (made[2].offset, 2, 2),
        (made[5].offset, 5, 1),
    ]
    assert (tmp_path / "sessions/s/log.jsonl").read_bytes() == before, "it reads only"


def test_damage_at_the_end_ends_the_salvage(tmp_path: Path) -> None:
    store, made = damaged(tmp_path, [LONG, LONG], 1)
    first, salvage = store.read("s").salvage()
    assert list(parse_log(first + b"".join(salvage.lines())).entries) == made[:1]
    assert [(gap.offset, gap.count) for gap in salvage.gaps] == [(made[1].offset, 0)]


def test_a_block_of_the_archive_that_is_lost_costs_its_own_entries_alone(tmp_path: Path) -> None:
    store, made = damaged(tmp_path, [])
    journal = store.write("s")
    made += [entry for _ in range(8_000) for entry in journal.append([LONG], sync=False)]
    assert journal.archive() == ""
    made += journal.append([USAGE])
    journal.close()
    [path] = (tmp_path / "sessions/s/archive").iterdir()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    first, salvage = store.read("s").salvage()
    log = parse_log(first + b"".join(salvage.lines()))
    assert log.state == "clean"
    assert [entry.offset for entry in log.entries][-100:] == [entry.offset for entry in made][-100:]
    assert log.entries[-1] == made[-1]
    assert sum(gap.size for gap in salvage.gaps) <= 2 * (1 << 20)
    assert salvage.entries >= len(made) - 2 * (1 << 20) // made[0].size - 4


def test_bytes_pushed_in_between_are_left_out(tmp_path: Path) -> None:
    """An editor, or another program's line: what follows has its own offset again."""
    store, made = damaged(tmp_path, [LONG, USAGE, LONG])
    path = tmp_path / "sessions/s/log.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[: made[1].offset] + b"not a line of ours\n" + data[made[1].offset :])
    first, salvage = store.read("s").salvage()
    assert first + b"".join(salvage.lines()) == data
    assert [(gap.size, gap.count) for gap in salvage.gaps] == [(19, 0)]


def test_an_entry_of_any_size_has_one_of_the_same_size_in_its_place() -> None:
    """Where the length needs one digit more, padding alone would miss a size."""
    for kind in ("usage", "message"):
        for size in (*range(2, 130), *range(900, 1_020), *range(9_980, 10_010)):
            draft = Draft(kind=kind, body=b"{%b}" % (b" " * (size - 2)))
            store, made = damaged_in_memory(draft)
            first, salvage = store.read("s").salvage()
            log = parse_log(first + b"".join(salvage.lines()))
            assert [entry.offset for entry in log.entries] == [entry.offset for entry in made], (kind, size)


@pytest.mark.parametrize(
    "body",
    [
        b'{"format":"anthropic","wire":{"role":"user","content":""}}',
        b'{"format":"openai-chat","wire":{"role":"user","content":"a"}}',
        b'{"format":"gemini","wire":{"role":"user","parts":[]}}',
        b'{"format":"openai-responses","wire":{"role":"user","content":"hello, how are you?"}}',
    ],
    ids=lambda body: body[11:17].decode(),
)
def test_the_shortest_message_keeps_its_ordinal(body: bytes) -> None:
    """Edits and addresses name ordinals: one message less, and a fold would stand for another one."""
    store, made = damaged_in_memory(Draft(kind="message", body=body))
    first, salvage = store.read("s").salvage()
    log = parse_log(first + b"".join(salvage.lines()))
    assert [entry.kind for entry in log.entries].count("message") == [one.kind for one in made].count(
        "message"
    )
    assert [entry.offset for entry in log.entries] == [entry.offset for entry in made]
    for entry in log.entries:
        if entry.kind == "message":
            read_message(entry.body)
