"""A command runs to its end and leaves nothing behind, whatever it does with its pipes, its children and its time (S9)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import monotonic

import pytest

from foldline.hooks.command import Command
from foldline.hooks.running import Ran, Stop, arun, run, run_until

PATH = {"PATH": os.environ["PATH"]}
LONG_S = 600
"""How long a program would run that is ended: a test that waited for it would be noticed, on the busiest machine."""


def sh(script: str, *, data: bytes = b"", timeout_s: float = 20, cwd: str = "") -> Ran:
    """A script, run."""
    return run(Command(argv=("/bin/sh", "-c", script), timeout_s=timeout_s), data, cwd=cwd, environ=PATH)


def python(script: str, *, timeout_s: float = 20, data: bytes = b"") -> Ran:
    """The same in Python, without what takes long to import."""
    argv = (sys.executable, "-S", "-E", "-c", script)
    return run(Command(argv=argv, timeout_s=timeout_s), data, cwd="", environ=PATH)


def lives(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except FileNotFoundError:
        return False


@pytest.fixture
def begun() -> Iterator[float]:
    """When the test began; no test here takes as long as what it starts would."""
    start = monotonic()
    yield start
    assert monotonic() - start < LONG_S / 2


def ended_by_its_time(ran: Callable[..., Ran], *, says: int) -> tuple[Ran, list[int]]:
    """What came of it and the pids it said; where all it starts is not up within its time, it is given more."""
    for timeout_s in (0.7, 3.0, 30.0):
        done = ran(timeout_s=timeout_s)
        pids = [int(pid) for pid in done.stdout.split()]
        assert not any(lives(pid) for pid in pids)
        if len(pids) == says:
            break
    return done, pids


def test_what_it_reads_and_writes_and_how_it_ends_is_told() -> None:
    """HOK-1: JSON on the input; stdout, stderr and exit code come back."""
    ran = sh("cat; echo wrong >&2; exit 3", data=b'{"a": 1}\n')
    assert (ran.exit_code, ran.stdout, ran.stderr, ran.end) == (3, '{"a": 1}\n', "wrong\n", "")
    assert sh("kill -TERM $$").exit_code == -signal.SIGTERM
    assert sh("exit 2").exit_code == 2


def test_a_grandchild_that_holds_the_pipe_is_not_waited_for_and_ended(begun: float) -> None:
    """S9: the end of the program counts, not that of its pipe."""
    ran = sh(f"sleep {LONG_S} & echo $!")
    assert ran.exit_code == 0
    assert not lives(int(ran.stdout))


def test_its_time_over_the_whole_group_is_ended(begun: float) -> None:
    """S9: no survivor by pid; what was said until then is kept."""
    script = f"sleep {LONG_S} & echo $!; sh -c 'trap \"\" TERM INT HUP; echo $$; sleep {LONG_S}'"
    ran, pids = ended_by_its_time(partial(sh, script), says=2)
    assert (ran.end, ran.exit_code) == ("timeout", None)
    assert [lives(pid) for pid in pids] == [False, False]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only /proc says which session a process is in")
def test_children_that_leave_the_group_are_found_in_the_session(begun: float) -> None:
    """S9, fork in hook: a shell with job control gives each child a group of its own."""
    script = (
        "import os, sys, time\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setpgid(0, 0)\n"
        "        os.write(1, b'%d\\n' % os.getpid())\n"
        "        os.close(1); os.close(2)\n"
        f"        time.sleep({LONG_S})\n"
        "        os._exit(0)\n"
        "while os.read(0, 1): pass\n"
        f"time.sleep({LONG_S})\n"
    )
    _, pids = ended_by_its_time(partial(python, script), says=3)
    assert [lives(pid) for pid in pids] == [False] * 3


def test_five_megabytes_of_input_may_stay_unread(begun: float) -> None:
    """S9: a program that ends without reading is no fault, nor is one that closes its input."""
    for script in ("exit 0", "exec 0<&-; exit 0"):
        ran = sh(script, data=b"x" * 5_000_000)
        assert (ran.exit_code, ran.end) == (0, "")


def test_five_megabytes_of_input_are_read_by_one_who_wants_them() -> None:
    """A pipe holds 64 KiB; input and output go on at the same time."""
    ran = sh("tee /dev/stderr | wc -c", data=b"x" * 5_000_000)
    assert ran.stdout.split() == ["5000000"]
    assert len(ran.stderr) == 65_536


def test_output_without_end_is_ended_and_kept_in_bounds(begun: float) -> None:
    """S9: endless output."""
    ran = sh("yes")
    assert ran.end == "too-much"
    assert len(ran.stdout) == 65_536
    assert ran.is_cut


def test_output_that_is_no_text_is_shown_as_far_as_it_is() -> None:
    """S9: non-UTF-8."""
    assert sh(r"printf 'a\377\376b'").stdout == "a��b"


def test_it_sees_the_given_environment_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """S9: the environment is what is handed in; of this process's own nothing comes through."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-canary")
    ran = run(Command(argv=("/usr/bin/env",)), b"", cwd="", environ={"PATH": "/bin:/usr/bin", "A": "1"})
    assert sorted(ran.stdout.split()) == ["A=1", "PATH=/bin:/usr/bin"]


@pytest.mark.parametrize(
    "word", ["$(touch PWNED)", "`touch PWNED`", "; touch PWNED #", "a'; touch PWNED; '", "\n touch PWNED"]
)
def test_words_are_never_read_by_a_shell(word: str, tmp_path: Path) -> None:
    """S9: quoting canary in tool name, path and session id; they come on the input or as one word."""
    command = Command(argv=("/bin/sh", "-c", 'printf %s "$1"; cat', "hook", word))
    ran = run(command, word.encode(), cwd=str(tmp_path), environ=PATH)
    assert ran.stdout == word * 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("/nowhere/at/all",), "No such file"),
        (("/",), "Permission denied"),
        (("a\0b",), "null byte"),
        (("/bin/true", "x" * 3_000_000), "too long"),
    ],
)
def test_what_cannot_be_started_says_why(argv: tuple[str, ...], says: str) -> None:
    """A hook that is missing is no traceback."""
    ran = run(Command(argv=argv), b"", cwd="", environ=PATH)
    assert ran.end == "not-started"
    assert says in ran.why


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    """The project may have been moved while the session ran."""
    ran = sh("true", cwd=str(tmp_path / "gone"))
    assert (ran.end, "gone" in ran.why) == ("not-started", True)


def test_a_stop_from_another_thread_ends_it(begun: float) -> None:
    """What gives a compaction up ends its hooks."""
    stop = Stop()
    threading.Timer(0.3, stop.ask).start()
    command = Command(argv=("sleep", str(LONG_S)))
    ran = run_until(command, b"", cwd="", environ=PATH, stop=stop)
    assert (ran.end, ran.exit_code) == ("stopped", None)
    assert run_until(command, b"", cwd="", environ=PATH, stop=stop).end == "stopped", "not even started"


def test_a_cancelled_task_ends_its_command_before_it_goes(begun: float, tmp_path: Path) -> None:
    """S9, the async twin: no survivor."""
    note = tmp_path / "pid"

    async def cancelled() -> None:
        command = Command(
            argv=("/bin/sh", "-c", f"echo $$ > {note}.new; mv {note}.new {note}; sleep {LONG_S}")
        )
        task = asyncio.create_task(arun(command, b"", cwd="", environ=PATH))
        while not note.exists():
            await asyncio.wait([task], timeout=0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not lives(int(note.read_text()))

    asyncio.run(cancelled())


def test_the_loop_serves_others_while_a_command_runs() -> None:
    """The async twin waits beside the loop."""

    async def both() -> list[Ran]:
        fifo = [Command(argv=("/bin/sh", "-c", "cat; exit 4")) for _ in range(2)]
        return list(await asyncio.gather(*(arun(one, b"x", cwd="", environ=PATH) for one in fifo)))

    assert [(ran.exit_code, ran.stdout) for ran in asyncio.run(both())] == [(4, "x"), (4, "x")]


def test_a_program_that_closes_its_pipes_is_waited_for(begun: float) -> None:
    """The end of the program counts, not that of its pipes."""
    ran = python("import os, time\nfor fd in 0, 1, 2: os.close(fd)\ntime.sleep(0.3)\nos._exit(5)")
    assert ran.exit_code == 5


def test_an_exit_code_that_the_host_threw_away_is_not_made_up() -> None:
    """A host that ignores the ends of its children (`SIGCHLD`) gets no code: 0 would mean that all was well."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        ran = sh("exit 2")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (ran.end, ran.exit_code) == ("unknown", None)


def test_an_interrupt_leaves_nothing_behind(begun: float, tmp_path: Path) -> None:
    """Ctrl-C while a hook runs: it is ended with everything it started. A run in the background may ignore the signal."""
    note = tmp_path / "pid"
    script = f"echo $$ > {note}; kill -INT {os.getpid()}; sleep {LONG_S}"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sh(script)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not lives(int(note.read_text()))


def test_where_nothing_can_be_ended_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows: a hook that could not be ended is not begun."""
    monkeypatch.delattr(os, "killpg")
    ran = sh("true")
    assert ran.end == "not-started"
    assert "POSIX" in ran.why
