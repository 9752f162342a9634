"""The store on the real system: killed and refused at every call (D2, D3), on a real disk that loses power (D4), fails (D5)
or is full (D9), by several writers at once (D10), and how often it syncs (D16).

`test_crashes` enumerates what a model allows; here the system itself has its say. What needs root, loop devices or strace is
skipped with the reason where they are missing.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import FoldlineError, SessionBusy, SessionFailed
from foldline.core.ports import Journal
from foldline.stores import real_fs
from foldline.stores.disk import DiskStore
from foldline.stores.real_fs import RealFs
from foldline.testing.stores import check_store
from tests.stores.program import ENTRIES, FAILED, acked, draft, kept, write

REPO = Path(__file__).parents[2]
CHANGING = (
    "write",
    "fsync",
    "fdatasync",
    "renameat",
    "mkdirat",
    "unlinkat",
    "ftruncate",
    "flock",
    "fchmodat",
)
OTHERS = ("openat", "close", "pread64")
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Where files are made that need not outlive a power cut."""


@pytest.fixture
def fast() -> Iterator[Path]:
    """A folder in memory, where a sync costs nothing; for what is not about disks."""
    folder = Path(tempfile.mkdtemp(prefix="foldline-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder)


# ── every call of the system: D2, D3 ─────────────────────────────────────────────────────────────────────────


def can_trace() -> bool:
    """True where strace works."""
    if shutil.which("strace") is None:
        return False
    return (
        subprocess.run(
            ["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, check=False
        ).returncode
        == 0
    )


needs_strace = pytest.mark.skipif(not can_trace(), reason="strace is not there or may not trace")


def traced(home: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """The program under strace, which sees calls on the session's files alone."""
    folder = home / "sessions/s"
    places = [home, home / "sessions", folder, folder / "lock", folder / "archive"]
    places += [folder / name for name in ("log.jsonl", "new.jsonl", "archive/new.jsonl")]
    watched = [word for place in places for word in ("-P", str(place))]
    program = [sys.executable, "-m", "tests.stores.program", str(home)]
    return subprocess.run(
        ["strace", "-f", "-qq", "-o", f"{home}.trace", *options, *watched, *program],
        capture_output=True,
        check=False,
        cwd=REPO,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
    )


def points(fast: Path, calls: tuple[str, ...]) -> list[tuple[str, int]]:
    """Each call of the workload that touches its files: name, and which of that name."""
    run = traced(fast / "count", "-e", f"trace={','.join(calls)}")
    assert (run.returncode, acked(run.stdout) >= ENTRIES) == (0, True), run.stderr
    found = Counter(re.findall(r"^\d+ +(\w+)\(", Path(f"{fast / 'count'}.trace").read_text(), re.MULTILINE))
    assert sum(found.values()) > 50, "nothing was traced"
    return [(name, number) for name in sorted(found) for number in range(1, found[name] + 1)]


def each(work: Callable[[tuple[str, int]], str | None], points: list[tuple[str, int]]) -> None:
    """Run it for each point, a few at once; fails with all that went wrong."""
    with ThreadPoolExecutor(3) as pool:
        wrong = [said for said in pool.map(work, points) if said]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def judged(home: Path, promised: int, *, where: str) -> str | None:
    """What is wrong after an interruption; then the program goes on from there to the end."""
    try:
        kept(str(home), promised)
        again = traced(home, "-e", "trace=none")
        if again.returncode:
            return f"{where}: {again.stderr.decode()}"
        kept(str(home), ENTRIES)
    except (AssertionError, SessionFailed) as error:
        return f"{where}: {error}"
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return None


def killed(fast: Path, calls: tuple[str, ...]) -> int:
    """Kill the program on entry of each call; how many there were."""

    def work(point: tuple[str, int]) -> str | None:
        name, number = point
        home = fast / f"{name}{number}"
        run = traced(home, "-e", f"trace={name}", "-e", f"inject={name}:signal=SIGKILL:when={number}")
        return judged(home, acked(run.stdout), where=f"killed at {name} {number}")

    found = points(fast, calls)
    each(work, found)
    return len(found)


@needs_strace
def test_a_kill_at_every_call_that_changes_something_loses_nothing_promised(fast: Path) -> None:
    """D2, D15: kill -9 on entry of each call; then the session goes on to the end."""
    assert killed(fast, CHANGING) >= 60


@needs_strace
@pytest.mark.nightly
def test_a_kill_at_every_other_call_loses_nothing_promised(fast: Path) -> None:
    """D2: the calls that only look, too."""
    assert killed(fast, OTHERS) >= 200


@needs_strace
@pytest.mark.nightly
def test_a_second_kill_while_the_first_is_mended_loses_nothing_promised(fast: Path) -> None:
    """D2: every call of the program that goes on after the first kill."""

    def work(point: tuple[str, int]) -> str | None:
        name, number = point
        for first in range(3, 40, 7):
            home = fast / f"{name}{number}-{first}"
            run = traced(home, "-e", f"trace={name}", "-e", f"inject=write:signal=SIGKILL:when={first}")
            promised = acked(run.stdout)
            run = traced(home, "-e", f"trace={name}", "-e", f"inject={name}:signal=SIGKILL:when={number}")
            if said := judged(home, max(promised, acked(run.stdout)), where=f"{first}, {name} {number}"):
                return said
        return None

    each(work, points(fast, CHANGING))


def refused(fast: Path, code: str) -> None:
    """Let the system refuse each call once."""

    def work(point: tuple[str, int]) -> str | None:
        name, number = point
        home = fast / f"{name}{number}"
        run = traced(home, "-e", f"trace={name}", "-e", f"inject={name}:error={code}:when={number}")
        where = f"{code} at {name} {number}"
        if run.returncode not in (0, FAILED):
            return f"{where}: {run.stderr.decode()[-300:]}"
        told = run.returncode == FAILED or bool(run.stderr)
        injected = "INJECTED" in Path(f"{home}.trace").read_text()
        if code != "EINTR" and injected and not told and name in ("fdatasync", "write"):
            return f"{where}: nobody was told"
        return judged(home, acked(run.stdout), where=where)

    each(work, points(fast, CHANGING))


@needs_strace
@pytest.mark.parametrize("code", ["EIO", "ENOSPC", pytest.param("EDQUOT", marks=pytest.mark.nightly), pytest.param("EROFS", marks=pytest.mark.nightly), "EINTR"])  # fmt: skip
def test_an_error_at_every_call_reaches_the_caller_and_loses_nothing(fast: Path, code: str) -> None:
    """D3: a session that was refused says so and stops; what was promised is there when it is opened anew."""
    refused(fast, code)


# ── in a child, without a new interpreter ────────────────────────────────────────────────────────────────────


def in_child(home: str, entries: int, *, before: Callable[[], Any] = lambda: None) -> tuple[int, int]:
    """The program in a copy of this process: its exit code, and what it promised."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(writes, 1)
            os.close(reads)
            before()
            write(home, entries)
            code = 0
        except SessionFailed:
            code = FAILED
        finally:
            os._exit(code)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        said = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), acked(said)


def test_a_file_that_may_not_grow_keeps_what_was_promised(fast: Path) -> None:
    """D9: RLIMIT_FSIZE at every 97 bytes over the session's size; then there is room and the same session goes on."""
    for limit in range(0, 5_000, 97):
        home = str(fast / str(limit))
        limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
        code, promised = in_child(home, ENTRIES, before=limited)
        assert code in (0, FAILED), limit
        kept(home, promised)
        assert in_child(home, ENTRIES)[0] == 0
        kept(home, ENTRIES)


def test_several_writers_never_lose_or_interleave(fast: Path) -> None:
    """D10: 2 × 5,000 and 8 × 400 entries. Whoever finds the session busy waits and opens it anew; an entry says who wrote
    it and as which of theirs."""
    for writers, each_writes in ((2, 5_000), (8, 400)):
        store = DiskStore(fast / str(writers), clock=lambda: None)
        store.create("s", format="anthropic", about=b"{}").close()
        children = []
        for writer in range(writers):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    appended(store, writer, count=each_writes)
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * writers
        bodies = [entry.body for entry in store.read("s").entries()]
        assert len(bodies) == writers * each_writes
        for writer in range(writers):
            mine = [body for body in bodies if body.startswith(b'{"w":%d,' % writer)]
            assert mine == [b'{"w":%d,"i":%d}' % (writer, number) for number in range(each_writes)]


def appended(store: DiskStore, writer: int, *, count: int) -> None:
    """So many entries, fifty for each time the session is had."""
    done = 0
    while done < count:
        try:
            journal = store.write("s")
        except SessionBusy:
            os.sched_yield()
            continue
        for _ in range(50):
            journal.append([Draft(kind="message", body=b'{"w":%d,"i":%d}' % (writer, done))])
            done += 1
        journal.close()


class ByFcntl(RealFs):
    """Locks with `fcntl`, which the process loses with any descriptor of the file, and which it does not hold against
    itself."""

    def _take(self, descriptor: int) -> bool:
        import fcntl

        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True


def test_a_lock_by_fcntl_is_found(fast: Path) -> None:
    """D17."""
    homes = iter(range(9))
    with pytest.raises(AssertionError, match="SessionBusy"):
        check_store(lambda: DiskStore(fast / str(next(homes)), fs=ByFcntl))


# ── how often it syncs: D16 ──────────────────────────────────────────────────────────────────────────────────


def test_an_acknowledged_append_costs_one_sync_and_a_checkpoint_three(
    fast: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D16: one sync of the file for each append, however many entries it has, none of a folder and no rename; the three
    appends of a compaction (begin, result, commit) cost three. Opening an existing session syncs its three folders."""
    counts: Counter[str] = Counter()
    for name in ("fsync", "fdatasync", "replace"):
        usual = getattr(os, name)
        monkeypatch.setattr(
            os,
            name,
            lambda *a, _usual=usual, _name=name, **k: (counts.update([_name]), _usual(*a, **k))[1],
        )
    store = DiskStore(fast)
    journal = store.create("s", format="anthropic", about=b"{}")
    counts.clear()
    for number in range(100):
        journal.append([draft(number)] * (1 + number % 3))
    assert counts == {"fdatasync": 100}
    counts.clear()
    for kind in ("begin", "compaction", "checkpoint"):
        journal.append([Draft(kind=kind, body=b"{}")])
    assert counts == {"fdatasync": 3}
    for number in range(50):
        journal.append([draft(number)], sync=False)
    journal.sync()
    journal.sync()
    journal.close()
    assert counts == {"fdatasync": 4}
    counts.clear()
    store.write("s").close()
    assert counts == {"fsync": 3}


# ── disks: D4, D5, D9 ────────────────────────────────────────────────────────────────────────────────────────


SYSTEM_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
"""Where the tools for disks lie, which not every user's path names."""


def sh(*words: str) -> str:
    program = shutil.which(words[0], path=SYSTEM_PATH)
    assert program is not None, words[0]
    run = subprocess.run(
        [program, *words[1:]],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": SYSTEM_PATH},
    )
    return run.stdout.strip()


def can_mount() -> bool:
    """True for root with loop devices and ext4."""
    tools = ("mkfs.ext4", "losetup", "mount", "umount")
    if os.geteuid() != 0 or not all(shutil.which(tool, path=SYSTEM_PATH) for tool in tools):
        return False
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder, "image")
        image.write_bytes(b"")
        os.truncate(image, 1 << 20)
        try:
            loop = sh("losetup", "-f", "--show", str(image))
            sh("losetup", "-d", loop)
            sh("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder)
            sh("umount", folder)
        except (OSError, subprocess.SubprocessError):
            return False
    return True


needs_mounts = pytest.mark.skipif(not can_mount(), reason="needs root, loop devices and ext4")
SHUTDOWN = 0x8004587D
"""The kernel's own power cut of an ext4 (`EXT4_IOC_SHUTDOWN`): what is not on the device yet never gets there."""
NO_FLUSH = 2


@contextlib.contextmanager
def mounted(device: str, place: Path, *options: str) -> Iterator[None]:
    place.mkdir(exist_ok=True)
    sh("mount", *options, device, str(place))
    try:
        yield
    finally:
        sh("umount", str(place))


@contextlib.contextmanager
def loop_of(image: Path, size: int, *options: str) -> Iterator[str]:
    """A fresh ext4 in a file, as a device."""
    image.write_bytes(b"")
    os.truncate(image, size)
    sh("mkfs.ext4", "-q", "-F", *options, str(image))
    loop = sh("losetup", "-f", "--show", str(image))
    try:
        yield loop
    finally:
        sh("losetup", "-d", loop)


def cut_power(place: Path) -> None:
    import fcntl

    folder = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, SHUTDOWN, ctypes.c_uint32(NO_FLUSH))
    finally:
        os.close(folder)


def power_cut(fast: Path, dice: Random, *, quiet: bool) -> int:
    """One round: a writer on a fresh ext4, the power goes, and what was promised before that is there. `quiet`: the writer
    had just stopped, so that no later sync helps. Only promises read before the cut count, as in a real one."""
    place, wanted = fast / "mnt", dice.randint(1, 40)
    with loop_of(
        fast / "image", 16 << 20, "-J", "size=4", "-E", "lazy_itable_init=0,lazy_journal_init=0"
    ) as loop:
        with mounted(loop, place, "-o", "commit=60"):
            os.chmod(place, 0o700)
            reads, writes = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    os.dup2(writes, 1)
                    os.close(reads)
                    write(str(place), wanted if quiet else 100_000)
                    signal.pause()
                finally:
                    os._exit(0)
            os.close(writes)
            said = b""
            while acked(said) < wanted:
                said += os.read(reads, 1 << 16)
            cut_power(place)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reads)
        with mounted(loop, place):
            kept(str(place), acked(said))
            assert in_child(str(place), acked(said) + 9)[0] == 0
    return acked(said)


@needs_mounts
def test_a_hundred_power_cuts_lose_nothing_promised(fast: Path) -> None:
    """D4: a real ext4, half of the rounds quiet."""
    dice = Random(1)
    assert min(power_cut(fast, dice, quiet=round % 2 == 0) for round in range(100)) >= 1


@needs_mounts
@pytest.mark.nightly
def test_five_thousand_power_cuts_lose_nothing_promised(fast: Path) -> None:
    """D4."""
    dice = Random(2)
    for round in range(5_000):
        power_cut(fast, dice, quiet=round % 2 == 0)


@needs_mounts
def test_power_cuts_find_a_log_that_never_syncs(fast: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D17: the rounds can fail."""
    monkeypatch.setattr(real_fs, "sync_descriptor", lambda descriptor: None)
    dice, lost = Random(3), 0
    for _ in range(4):
        try:
            power_cut(fast, dice, quiet=True)
        except (AssertionError, FoldlineError):
            lost += 1
    assert lost


@needs_mounts
def test_a_disk_whose_sync_fails_ends_the_session_and_loses_nothing_promised(fast: Path) -> None:
    """D5: an ext4 on a device that has no room: `fsync` fails once, a second one would return 0 and the data be gone."""
    backing, place = fast / "small", fast / "mnt"
    with mounted("tmpfs", backing, "-t", "tmpfs", "-o", "size=8m"):
        with loop_of(backing / "image", 64 << 20, "-J", "size=1") as loop:
            with mounted(loop, place):
                os.chmod(place, 0o700)
                journal = DiskStore(place, clock=lambda: None).create("s", format="anthropic", about=b"{}")
                promised = until_refused(journal)
                for call in (lambda: journal.append([draft(0)]), journal.sync):
                    with pytest.raises(SessionFailed):
                        call()
                journal.close()
            with mounted(loop, place, "-o", "ro"):
                bodies = bodies_of(place)
    assert 0 < promised <= len(bodies)
    assert bodies == [(b'{"n":%d,"x":"' % number + b"R" * 20)[:20] for number in range(len(bodies))]


def bodies_of(place: Path) -> list[bytes]:
    """How each entry begins; no file is left open."""
    pages = DiskStore(place).read("s")
    try:
        return [entry.body[:20] for entry in pages.entries()]
    finally:
        pages.close()


def until_refused(journal: Journal) -> int:
    """How many entries were promised before the disk refused one."""
    for number in range(200):
        try:
            journal.append([Draft(kind="message", body=b'{"n":%d,"x":"%b"}' % (number, b"R" * 65_000))])
        except SessionFailed:
            return number
    raise AssertionError("the disk never refused")


@needs_mounts
def test_a_full_disk_keeps_what_was_promised_and_the_session_goes_on_when_there_is_room(fast: Path) -> None:
    """D9: a disk in memory of every number of pages the session might need."""
    place = fast / "mnt"
    for pages in range(2, 24):
        with mounted("tmpfs", place, "-t", "tmpfs", "-o", f"size={pages * 4096},mode=700"):
            code, promised = in_child(str(place), 60)
            assert code in (0, FAILED), pages
            kept(str(place), promised)
            sh("mount", "-o", "remount,size=1m", str(place))
            assert in_child(str(place), 60)[0] == 0
            kept(str(place), 60)


def test_a_writer_that_is_refused_says_what_the_system_said(fast: Path) -> None:
    """`errno` words reach the person."""
    home = str(fast / "h")
    journal = DiskStore(home).create("s", format="anthropic", about=b"{}")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, old[1]))
    try:
        with pytest.raises(SessionFailed, match=os.strerror(errno.EFBIG)):
            journal.append([draft(9, size=1_000_000)] * 9)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    journal.close()
    assert list(DiskStore(home).read("s").entries()) == []
