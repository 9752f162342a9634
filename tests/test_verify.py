"""Sessions and their archives are proven whole, or not."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import foldline
from foldline.core.entry import Draft, Entry
from foldline.core.errors import UnknownSession
from foldline.log.lineage import Lineage
from foldline.log.lines import parse_log
from foldline.stores.disk import DiskStore
from foldline.stores.fs import Mode
from foldline.stores.real_fs import RealFile, RealFs
from foldline.verify import archive, names, salvage, verify, verify_each
from tests.log.test_lineages import grown

ONE = Draft(kind="message", body=b'{"n":1}')


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a session that has an archive and a checkpoint."""
    journal = DiskStore(tmp_path).create("s", format="anthropic", about=b"{}")
    first, *_ = journal.append([ONE, ONE])
    journal.archive()
    body = b'{"version":1,"full":true,"ordinals":2,"view":[[0,1,%d]]}' % first.offset
    journal.append([Draft(kind="checkpoint", body=body)])
    journal.close()
    return tmp_path


def test_a_whole_session_is_proven_whole(home: Path) -> None:
    """`foldline verify` proves a session and its archives."""
    told: list[tuple[int, int]] = []
    verdict = verify("s", home=home, progress=lambda done, whole: told.append((done, whole)))
    assert (verdict.state, verdict.problems, verdict.torn) == ("clean", (), "")
    assert (verdict.entries, verdict.messages, verdict.checkpoints, verdict.archives) == (3, 2, 1, 1)
    assert names(home=home) == ("s",)
    with pytest.raises(UnknownSession):
        verify("t", home=home)


def test_every_kind_of_damage_is_told_with_its_byte(home: Path) -> None:
    log = home / "sessions/s/log.jsonl"
    [packed] = (home / "sessions/s/archive").iterdir()
    whole, archived = log.read_bytes(), packed.read_bytes()
    log.write_bytes(whole + b'{"seq":3,')
    assert (verify("s", home=home).state, verify("s", home=home).problems) == ("torn", ())
    log.write_bytes(whole[:-5] + b"x" + whole[-4:])
    assert [p.why for p in verify("s", home=home).problems] == ["the checksum does not match"]
    log.write_bytes(b"x" + whole)
    assert [p.offset for p in verify("s", home=home).problems] == [0]
    log.write_bytes(b'{"foldline":9,"x":1}\n')
    assert "later foldline" in verify("s", home=home).problems[0].why
    log.write_bytes(whole)
    packed.write_bytes(archived[:40] + bytes([archived[40] ^ 1]) + archived[41:])
    assert verify("s", home=home).state == "corrupt"
    packed.write_bytes(archived[:-1])
    assert verify("s", home=home).state == "corrupt"
    packed.unlink()
    assert "missing" in verify("s", home=home).problems[0].why


def test_a_digest_that_does_not_match_is_told(home: Path) -> None:
    [packed] = (home / "sessions/s/archive").iterdir()
    data = packed.read_bytes()
    at = data.index(b'"sha256":"') + 10
    packed.write_bytes(data[:at] + b"f" * 64 + data[at + 64 :])
    assert [p.why for p in verify("s", home=home).problems] == ["the archive's digest does not match"]


def test_a_salvage_is_a_log(home: Path) -> None:
    found = salvage("s", home=home)
    log = parse_log(found.data)
    assert (log.state, len(log.entries), found.entries, found.gaps) == ("clean", 3, 3, ())


def test_an_entry_that_is_whole_and_says_nothing_is_told_and_replaced(home: Path) -> None:
    """A good checksum over no JSON: no reader could open the session, so it is not whole."""
    journal = DiskStore(home).write("s")
    bad, *_ = journal.append([Draft(kind="message", body=b'{"n":"' + b"one " * 20 + b'\\"}'), ONE])
    journal.close()
    verdict = verify("s", home=home)
    assert verdict.state == "corrupt"
    assert [problem.offset for problem in verdict.problems] == [bad.offset]
    assert "the message cannot be read" in verdict.problems[0].why
    found = salvage("s", home=home)
    log = parse_log(found.data)
    assert [(gap.offset, gap.first, gap.count) for gap in found.gaps] == [(bad.offset, bad.seq, 1)]
    assert [entry.kind for entry in log.entries] == ["message", "message", "checkpoint", "message", "message"]
    assert all(json.loads(entry.body) for entry in log.entries)


def test_a_call_nested_deeper_than_a_file_may_be_is_whole(tmp_path: Path) -> None:
    """What a session wrote itself and reads again is no damage."""
    nested: dict[str, object] = {"end": 1}
    for _ in range(140):
        nested = {"in": nested}
    with foldline.open("deep", format="anthropic", home=tmp_path) as session:
        session.user("look")
        call = {"type": "tool_use", "id": "t1", "name": "look", "input": nested}
        session.record({"role": "assistant", "content": [call]})
        session.tool_result("t1", "seen")
    assert (verify("deep", home=tmp_path).state, verify("deep", home=tmp_path).messages) == ("clean", 3)
    assert (salvage("deep", home=tmp_path).entries, salvage("deep", home=tmp_path).gaps) == (3, ())


def test_packing_away_says_how_much(home: Path) -> None:
    before = archive("s", home=home, dry_run=True)
    assert before.bytes > 0
    assert len(list((home / "sessions/s/archive").iterdir())) == 1
    assert archive("s", home=home) == before
    assert archive("s", home=home).bytes == 0
    assert len(list((home / "sessions/s/archive").iterdir())) == 2
    assert verify("s", home=home).state == "clean"


def test_a_disk_that_refuses_leaves_the_session_as_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D9: a full disk; when there is room again, the same session is packed away."""
    usual = RealFs.open

    def full(self: RealFs, path: str, mode: Mode) -> RealFile:
        if mode == "new":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return usual(self, path, mode)

    monkeypatch.setattr(RealFs, "open", full)
    done = archive("s", home=home)
    assert (done.bytes, done.refused) == (0, os.strerror(errno.ENOSPC))
    assert verify("s", home=home).state == "clean"
    monkeypatch.setattr(RealFs, "open", usual)
    assert archive("s", home=home).bytes > 0


def test_a_fork_is_verified_with_what_it_goes_on_from(tmp_path: Path) -> None:
    """JRN-9: its checkpoints refer to its parent's messages; without the parent it is not whole."""
    with foldline.open("s", home=tmp_path, format="anthropic") as session:
        session.user("one")
        session.record({"role": "assistant", "content": "two"})
        with session.fork("fork") as fork:
            fork.user("three")
    found = verify("fork", home=tmp_path)
    assert (found.state, found.messages) == ("clean", 1)
    DiskStore(tmp_path).remove("s")
    assert verify("fork", home=tmp_path).state == "corrupt"
    assert "which is gone" in verify("fork", home=tmp_path).problems[0].why


def test_many_sessions_are_proved_as_each_alone_with_every_log_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JRN-9: a parent is read once, not once for each fork; its damage is told of those alone that go on from behind it."""
    store = DiskStore(tmp_path)
    grown(store, [(0, 0.2), (0, 1.0), (1, 1.0), (2, 0.9), (4, 0.1)])
    path = tmp_path / "sessions/s0/log.jsonl"
    path.write_bytes(path.read_bytes().replace(b"says 3", b"says 9"))
    alone = {name: verify(name, home=tmp_path) for name in names(home=tmp_path)}
    assert {name for name, one in alone.items() if one.state == "clean"} == {"s1", "s3", "s5"}
    assert {one.name: one for one in verify_each(names(home=tmp_path), home=tmp_path)} == alone

    path.write_bytes(path.read_bytes().replace(b"says 9", b"says 3"))
    read: list[str] = []
    usual = Lineage.entries

    def counted(log: Lineage, offset: int = 0) -> Iterator[Entry]:
        for entry in usual(log, offset):
            read.append(entry.kind)
            yield entry

    monkeypatch.setattr(Lineage, "entries", counted)
    verdicts = list(verify_each(names(home=tmp_path), home=tmp_path))
    assert {one.state for one in verdicts} == {"clean"}
    assert len(read) == sum(one.entries for one in verdicts)
