"""Sessions on disk: the port's promises, names, the lock, and what an interruption leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import (
    InvalidOption,
    SessionBusy,
    SessionCorrupt,
    SessionExists,
    SessionFailed,
    UnknownSession,
)
from foldline.log.lines import parse_log
from foldline.stores.disk import DiskStore, unix_ms
from foldline.testing.stores import check_store

ONE = Draft(kind="message", body=b'{"n":1}')
TWO = Draft(kind="usage", body=b'{"n":2}')

HOLD = """
import subprocess, sys, time
from foldline.stores.disk import DiskStore
journal = DiskStore(sys.argv[1]).write("s")
said = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"  # by then nothing is inherited any more
child = subprocess.Popen([sys.executable, "-S", "-c", said], stdin=subprocess.PIPE, close_fds=False)
sys.stdin.read()
"""


def test_the_store_on_disk_keeps_the_contract(tmp_path: Path) -> None:
    """`foldline.core.ports.Store`, over a real disk."""
    homes = iter(range(99))
    check_store(lambda: DiskStore(tmp_path / str(next(homes))))


def test_a_store_says_whether_it_has_a_session(tmp_path: Path) -> None:
    """Without looking at the others, and without opening it."""
    store = DiskStore(tmp_path)
    store.create("s", format="openai-chat", about=b"{}").close()
    assert [store.has(name) for name in ("s", "t", "../s", "")] == [True, False, False, False]


def test_a_session_is_one_log_of_the_documented_format(tmp_path: Path) -> None:
    """JRN-1: one append-only JSONL a session, named after it; what is on disk is what `docs/reference/log-format.md`
    says."""
    journal = DiskStore(tmp_path / "home", clock=iter([5, 7, 8]).__next__).create(
        "fix-login", format="anthropic", about=b'{"id":"x"}'
    )
    made = [*journal.append([ONE, TWO]), *journal.append([ONE])]
    journal.close()
    log = parse_log((tmp_path / "home/sessions/fix-login/log.jsonl").read_bytes())
    assert (log.state, list(log.entries)) == ("clean", made)
    assert [(entry.time_ms, entry.more) for entry in made] == [(7, 1), (7, 0), (8, 0)]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-a", "é", "a\n", "x" * 129, "a\0"])
def test_a_name_that_is_no_folders_name_everywhere_is_refused(name: str, tmp_path: Path) -> None:
    """S8: no name leads out of the home."""
    store = DiskStore(tmp_path)
    for call in (
        lambda: store.create(name, format="anthropic", about=b"{}"),
        lambda: store.read(name),
        lambda: store.write(name),
        lambda: store.remove(name),
    ):
        with pytest.raises(InvalidOption, match="a session's name has"):
            call()


def test_no_home_has_no_sessions_and_a_near_name_is_named(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "home")
    assert store.names() == ()
    with pytest.raises(UnknownSession, match="foldline sessions"):
        store.read("s")
    store.create("fix-login", format="anthropic", about=b"{}").close()
    with pytest.raises(UnknownSession, match="did you mean 'fix-login'"):
        store.write("fix-logon")
    (tmp_path / "home/sessions/notes.txt").write_text("a file of the user's")
    (tmp_path / "home/sessions/empty").mkdir(mode=0o700)
    assert store.names() == ("fix-login",)


def test_a_session_begun_and_interrupted_can_be_made_again(tmp_path: Path) -> None:
    """Only a log that was made whole is a session."""
    store = DiskStore(tmp_path)
    folder = tmp_path / "sessions/s"
    for path in (tmp_path / "sessions", folder):
        path.mkdir(mode=0o700)
    (folder / "new.jsonl").write_bytes(b'{"foldl')
    assert store.names() == ()
    store.create("s", format="anthropic", about=b"{}").close()
    assert sorted(os.listdir(folder)) == ["lock", "log.jsonl"]
    with pytest.raises(SessionExists):
        store.create("s", format="anthropic", about=b"{}")


def test_a_first_line_has_a_largest_size(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"at most 1,048,576 bytes"):
        DiskStore(tmp_path).create("s", format="anthropic", about=b'{"a":"%b"}' % (b"x" * (1 << 20)))


def test_the_clock_of_a_store_is_the_wall_clock_in_milliseconds() -> None:
    assert unix_ms() > 1_700_000_000_000


def test_the_lock_says_who_holds_it_ends_with_its_holder_and_is_not_inherited(tmp_path: Path) -> None:
    """D10: a kill -9 frees the session at once, even while a child of the holder lives."""
    store = DiskStore(tmp_path)
    store.create("s", format="anthropic", about=b"{}").close()
    program = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        try:
            with pytest.raises(SessionBusy, match=rf"process {holder.pid} on .* is writing session 's'"):
                store.write("s")
            assert list(store.read("s").entries()) == [], "any number may read"
            holder.kill()
            holder.wait()
            os.kill(child, 0)
            store.write("s").close()
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_copy_of_the_process_neither_holds_the_lock_nor_writes(tmp_path: Path) -> None:
    """`os.fork` hands on every descriptor; two that append by one would interleave."""
    journal = DiskStore(tmp_path).create("s", format="anthropic", about=b"{}")
    ends, says = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            journal.append([ONE])
        except SessionFailed as error:
            os.write(says, str(error).encode())
        journal.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert b"the process this one is a copy of" in os.read(ends, 1000)
    os.close(ends)
    os.close(says)
    with pytest.raises(SessionBusy, match="another part of this program"):
        DiskStore(tmp_path).write("s")
    journal.append([ONE])
    journal.close()


@pytest.mark.parametrize("note", [b"", b"[]", b"{}", b"\xff", b'{"pid":1,"host":"\\u001b[2J"}', b"[" * 400])
def test_a_note_of_the_holder_that_is_no_note_is_passed_over(note: bytes, tmp_path: Path) -> None:
    """It is a file anyone of this user may have written."""
    journal = DiskStore(tmp_path).create("s", format="anthropic", about=b"{}")
    (tmp_path / "sessions/s/lock").write_bytes(note)
    with pytest.raises(SessionBusy, match=r"another process is writing|process 1 on \?\?2J is"):
        DiskStore(tmp_path).write("s")
    journal.close()


def test_a_removed_session_leaves_nothing_behind(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.create("s", format="anthropic", about=b"{}").close()
    store.remove("s")
    assert os.listdir(tmp_path / "sessions") == []
    store.create("s", format="anthropic", about=b"{}").close()


def test_what_the_system_refuses_is_an_error_of_the_session(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file where the folder should be")
    with pytest.raises(InvalidOption, match="a symbolic link or no folder"):
        DiskStore(tmp_path).create("s", format="anthropic", about=b"{}")
    store = DiskStore("/proc/nowhere")
    with pytest.raises(SessionFailed, match="No such file"):
        store.create("s", format="anthropic", about=b"{}")


def test_damage_is_refused_for_writing_and_read_up_to_where_it_is(tmp_path: Path) -> None:
    """A damaged middle is found when it is read, a damaged last line when the log is opened to be written."""
    store = DiskStore(tmp_path)
    journal = store.create("s", format="anthropic", about=b"{}")
    made = [*journal.append([ONE]), *journal.append([TWO]), *journal.append([ONE])]
    journal.close()
    path = tmp_path / "sessions/s/log.jsonl"
    whole = path.read_bytes()
    for index in (1, 2):
        damaged = bytearray(whole)
        damaged[made[index].offset + made[index].size - 4] ^= 1
        path.write_bytes(damaged)
        entries = store.read("s").entries()
        assert [next(entries) for _ in range(index)] == made[:index]
        with pytest.raises(SessionCorrupt) as caught:
            next(entries)
        assert caught.value.offset == made[index].offset
    with pytest.raises(SessionCorrupt):
        store.write("s")
    with pytest.raises(SessionCorrupt):
        next(store.read("s").back())
    path.write_bytes(whole)
    store.write("s").close()
