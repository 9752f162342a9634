"""A forget that was interrupted is seen by whoever comes next, and finished to the same bytes."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

import foldline
from foldline.core.errors import FoldlineError, InvalidOption, SessionBusy, UnknownSession
from foldline.privacy import underway
from foldline.privacy.forgetting import finish, forget_session, forget_text
from foldline.privacy.underway import FILE, NEW, Pending, Underway, document_of, told_of, unfinished
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.testing.disk import Image, SimulatedDisk, copy, fails_at
from foldline.verify import unfinished_forget
from tests.privacy.test_forgetting import CANARY, fill, message
from tests.privacy.test_walking import many


def begun(store: DiskStore, name: str, text: str, **about: object) -> None:
    """A session of one message."""
    journal = store.create(name, format="anthropic", about=json.dumps(about).encode())
    journal.append([message(text)])
    journal.close()


@pytest.mark.filterwarnings("default::foldline.ForgetUnfinished")
def test_the_next_open_verify_and_forget_tell_of_it(tmp_path: Path) -> None:
    """S18: with what to do; the next forget does it."""
    store = DiskStore(tmp_path)
    many(store)
    Underway(store).begin(
        Pending(what="text", asked=(underway.Asked(texts=(CANARY.encode(),)),), sessions=("s",))
    )
    with pytest.warns(foldline.ForgetUnfinished, match=r"may still stand in s: `foldline forget --finish`"):
        foldline.open("another", format="anthropic", home=tmp_path).close()
    assert "--finish" in unfinished_forget(home=tmp_path)
    assert [one.name for one in forget_text(store, CANARY, dry_run=True).changed] == ["s", "fork", "quoting"]
    assert unfinished(store) is not None, "a look does nothing"
    done = forget_text(store, "something else")
    assert [one.name for one in done.changed] == ["s"]
    assert unfinished_forget(home=tmp_path) == ""


def test_a_session_begun_since_under_the_name_of_one_that_was_to_go_stays(tmp_path: Path) -> None:
    """S18: it was never asked for; and one that has a fork since is named, and kept."""
    times = iter(range(1_000, 2_000))
    store = DiskStore(tmp_path, clock=lambda: next(times))
    for name in ("a", "b", "c"):
        begun(store, name, "old")
    Underway(store).begin(Pending(what="session", sessions=("a", "b", "c")))
    store = DiskStore(tmp_path, clock=lambda: 5_000)
    store.remove("a")
    begun(store, "a", "new")
    end = list(store.read("b").entries())[-1]
    begun(store, "fork", "on", parent={"name": "b", "seq": 0, "byte": end.offset + end.size})
    done = finish(store)
    assert done is not None
    assert (done.removed, [one.name for one in done.changed], done.is_whole) == (("c",), ["b"], False)
    assert store.names() == ("a", "b", "fork")
    assert unfinished(store) is None, "the fork is newer than the wish, and says so"


def test_a_session_that_was_refused_whole_is_not_taken_away_later(tmp_path: Path) -> None:
    """S18: who was told that it is open elsewhere has not asked the next forget to take it; where one is gone already, the rest is
    still to be done."""
    store = DiskStore(tmp_path)
    for name in ("a", "b", "c"):
        begun(store, name, "on")
    held = store.write("b")
    with pytest.raises(SessionBusy):
        forget_session(store, ["b"])
    assert unfinished(store) is None
    with pytest.raises(SessionBusy):
        forget_session(store, ["b", "c"])
    assert store.names() == ("a", "b")
    assert unfinished(store) is not None
    held.close()
    finish(store)
    assert (store.names(), unfinished(store)) == (("a",), None)


def test_one_forget_at_a_time(tmp_path: Path) -> None:
    """S18: two would take each other's for interrupted."""
    store = DiskStore(tmp_path)
    many(store)
    with Underway(store).alone():
        with pytest.raises(SessionBusy, match="another forget"):
            forget_text(store, CANARY)
        with pytest.raises(SessionBusy, match="another forget"):
            forget_session(store, ["other"])
        with pytest.raises(SessionBusy, match="another forget"):
            finish(store)
    forget_session(store, ["other"])


def test_a_file_that_cannot_be_read_is_told_and_refuses_the_next(tmp_path: Path) -> None:
    """S18: of a later version, say."""
    store = DiskStore(tmp_path)
    many(store)
    (tmp_path / FILE).write_bytes(b'{"version": 9, "what": "text"}')
    (tmp_path / FILE).chmod(0o600)
    assert "version 9" in told_of(store)
    with pytest.raises(InvalidOption, match="take it away and ask for the forget again"):
        forget_text(store, CANARY)
    (tmp_path / FILE).write_bytes(b"no JSON")
    assert "cannot be read" in told_of(store)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    assert "take it away" in told_of(store)
    with pytest.warns(foldline.ForgetUnfinished, match="take it away"):
        foldline.open("another", format="anthropic", home=tmp_path).close()


def test_a_home_that_is_not_safe_is_refused_for_what_it_is(tmp_path: Path) -> None:
    """S18: nobody is told of a forget there."""
    tmp_path.chmod(0o777)
    with pytest.raises(InvalidOption, match="open for others to write"):
        foldline.open("s", format="anthropic", home=tmp_path)
    assert told_of(DiskStore(tmp_path / "none")) == ""


def test_a_store_in_memory_has_none_to_finish() -> None:
    """It ends with the process."""
    store = MemoryStore()
    fill(store)
    assert forget_text(store, CANARY).is_whole
    assert (finish(store), told_of(store), document_of(None)) == (None, "", None)
    with pytest.raises(UnknownSession):
        forget_session(store, ["nobody"])


def test_many_sessions_are_named_in_few_words() -> None:
    """A sentence stays one."""
    pending = Pending(what="text", since_ms=0, sessions=tuple(f"s{n}" for n in range(9)))
    assert "of 1970-01-01 00:00 UTC is not finished" in pending.sentence
    assert "s0, s1, s2, s3, s4 and 4 more" in pending.sentence


@pytest.mark.parametrize("forever", [False, True])
def test_a_forget_on_a_disk_that_refuses_is_told_as_one_and_leaves_no_words_beside(forever: bool) -> None:
    """S18, D3: at each call; what was begun is told and can be finished, and a file that was not put in its place is gone."""
    base = SimulatedDisk()
    fill(DiskStore("/", fs=base, clock=lambda: 1_000))
    number, refused = 0, 0
    while True:
        number += 1
        disk = SimulatedDisk(copy(base.image), fault=fails_at(number, errno.EIO, forever=forever))
        try:
            done = forget_text(DiskStore("/", fs=disk, clock=lambda: 1_000), CANARY)
        except FoldlineError:
            refused += 1
        else:
            refused += not done.is_whole
        if disk.calls < number:
            break
        if not forever:
            assert NEW not in disk.image.files
        healed = DiskStore("/", fs=SimulatedDisk(disk.image), clock=lambda: 1_000)
        finish(healed)
        assert forget_text(healed, CANARY).is_whole
        assert all(CANARY.encode() not in bytes(data) for data in held(disk.image))
    assert refused > 10


def held(image: Image) -> list[bytes]:
    """The files that have a name."""
    return [bytes(image.data[inode]) for inode in image.files.values()]
