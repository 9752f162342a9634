"""A command, run: its input given, its output taken, and everything it started ended.

    start in a session of its own ─► write input ┐
                                     read output ├─ until it has ended, its time is over, it says too much, or we stop
                                     read errors ┘
    ─► kill the session's processes ─► the exit code

A process that it left behind may hold its pipes open for hours: its own end counts, not theirs. A program may leave its input
unread and write without end. Owns processes; what an output means is `foldline.hooks.answers`'s. Needs POSIX.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from foldline.hooks.command import Command
from foldline.threads import off

OUTPUT_BYTES_MAX: Final = 64 * 1024
"""What is kept of an output, and of the errors."""
READ_BYTES_MAX: Final = 16 * 1024 * 1024
"""What is read in all, kept or not; who writes more is ended."""
PIECE_BYTES: Final = 64 * 1024
TURN_S: Final = 0.05
"""How often it is looked whether a program has ended whose pipes are held by another."""
KILLS_MAX: Final = 20
"""How often processes are looked for that were started while others were ended."""
REAP_S_MAX: Final = 5.0
"""How long an end is waited for that was ordered: a process may be in the middle of a write to a dead disk."""

End: TypeAlias = Literal["", "timeout", "too-much", "stopped", "not-started", "unknown"]
"""Why it has no exit code of its own; empty when it has one. `unknown`: the host itself took it (`SIGCHLD` ignored)."""


class Ran(Struct, frozen=True, kw_only=True):
    """What came of a command."""

    exit_code: int | None = None
    """Negative: the signal that ended it."""
    stdout: str = ""
    """What is no UTF-8 in it is U+FFFD."""
    stderr: str = ""
    is_cut: bool = False
    """Whether `stdout` is only the beginning."""
    end: End = ""
    why: str = ""
    """Of a command that could not be started, what the system said."""


class Stop:
    """Says that a command is to be ended; from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ask(self) -> None:
        """End it."""
        self._event.set()

    @property
    def is_asked(self) -> bool:
        """Whether it is to end."""
        return self._event.is_set()


def run(command: Command, data: bytes, *, cwd: str, environ: Mapping[str, str]) -> Ran:
    """Run a command to its end and give it `data` to read. `environ`: all the variables it sees. Nothing of it is left when
    this returns, however it returns.

    It runs in a thread: an interrupt from the keyboard strikes the main one anywhere, between a start and the note of it too.
    """
    stop, done, ran = Stop(), threading.Event(), list[Ran]()

    def work() -> None:
        try:
            ran.append(run_until(command, data, cwd=cwd, environ=environ, stop=stop))
        finally:
            done.set()

    thread = threading.Thread(target=work, name=f"hook {command.name}")
    try:
        thread.start()
        done.wait()
    finally:
        if not done.is_set():
            stop.ask()
            done.wait(REAP_S_MAX if thread.ident is not None else 0)
    thread.join()
    return ran[0] if ran else Ran(end="not-started", why="its thread failed")


def run_until(command: Command, data: bytes, *, cwd: str, environ: Mapping[str, str], stop: Stop) -> Ran:
    """`run` in the thread it is called in, until it is asked to stop."""
    if stop.is_asked:
        return Ran(end="stopped")
    if not hasattr(os, "killpg"):
        return Ran(
            end="not-started", why="hooks need a POSIX system, where a program is ended with all it started"
        )
    try:
        process = subprocess.Popen(
            command.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd or None,
            env=dict(environ),
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        return Ran(end="not-started", why=f"{error.strerror or error}: {error.filename or command.argv[0]}")
    except ValueError as error:  # a NUL in a word, a name of a variable with `=`
        return Ran(end="not-started", why=str(error))
    try:
        talk = _Talk(process, data)
        end = talk.until(time.monotonic() + command.timeout_s, stop)
    finally:
        _end(process)
    code = process.returncode if not end else None
    return Ran(
        exit_code=code, stdout=talk.said("stdout"), stderr=talk.said("stderr"), is_cut=talk.is_cut, end=end
    )


class _Talk:
    """Input and output of a running program."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        self._process = process
        self._rest = memoryview(data)
        self._taken = {"stdout": bytearray(), "stderr": bytearray()}
        self._read = {"stdout": 0, "stderr": 0}
        self._selector = selectors.DefaultSelector()
        for name, pipe in (("stdin", process.stdin), ("stdout", process.stdout), ("stderr", process.stderr)):
            assert pipe is not None, "all three are pipes"
            os.set_blocking(pipe.fileno(), False)
            written = selectors.EVENT_WRITE if name == "stdin" else selectors.EVENT_READ
            self._selector.register(pipe, written, name)

    def until(self, deadline: float, stop: Stop) -> End:
        """Talk until the program has ended; says why where it has not."""
        with self._selector:
            while True:
                ended = _has_ended(self._process)
                moved = self._turn(0 if ended else TURN_S)
                if sum(self._read.values()) > READ_BYTES_MAX:
                    return "too-much"
                if ended and not moved:
                    return "unknown" if ended == "reaped" else ""
                if stop.is_asked:
                    return "stopped"
                if time.monotonic() >= deadline:
                    return "" if ended else "timeout"

    def _turn(self, wait_s: float) -> bool:
        """What can be written and read now; true when something was read."""
        if not self._selector.get_map():  # all pipes are closed and the program still runs
            time.sleep(wait_s)
            return False
        moved = False
        for key, _ in self._selector.select(wait_s):
            if key.data == "stdin":
                self._write(key.fd)
            else:
                moved |= self._take(key.fd, key.data)
        return moved

    def _write(self, descriptor: int) -> None:
        if self._rest:
            try:
                self._rest = self._rest[os.write(descriptor, self._rest[:PIECE_BYTES]) :]
            except BlockingIOError:
                return
            except OSError:  # it reads no more: its own affair
                self._rest = memoryview(b"")
        if not self._rest and self._process.stdin is not None:
            self._selector.unregister(self._process.stdin)
            self._process.stdin.close()

    def _take(self, descriptor: int, name: str) -> bool:
        try:
            piece = os.read(descriptor, PIECE_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self._selector.unregister(descriptor)
            return False
        self._read[name] += len(piece)
        taken = self._taken[name]
        taken += piece[: OUTPUT_BYTES_MAX - len(taken)]
        return True

    def said(self, name: Literal["stdout", "stderr"]) -> str:
        """What was kept."""
        return self._taken[name].decode("utf-8", "replace")

    @property
    def is_cut(self) -> bool:
        """Whether more was written than is kept of the output."""
        return self._read["stdout"] > len(self._taken["stdout"])


def _has_ended(process: subprocess.Popen[bytes]) -> Literal["", "ended", "reaped"]:
    """Whether the program itself has ended. It is not reaped, so that its number stays its own until its group is gone."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return "ended" if process.poll() is not None else ""
    try:
        found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return "reaped"
    return "ended" if found is not None else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End whatever is left of the program and of what it started, and let its pipes go."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for _ in range(KILLS_MAX):
        left = [pid for pid in _session_of(process.pid) if pid != process.pid]
        if not left:
            break
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(REAP_S_MAX)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _session_of(leader: int) -> Iterator[int]:
    """Processes that live in the session of `leader`, whatever group they moved to; where the system says (`/proc`)."""
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return
    for number in numbers:
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                # pid (name, which may hold anything) state ppid pgrp session …
                state, _, _, session = file.read(1024).rpartition(b")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(session) == leader and state not in (b"Z", b"X"):
            yield int(number)


async def arun(command: Command, data: bytes, *, cwd: str, environ: Mapping[str, str]) -> Ran:
    """`run` beside an event loop. A task that is cancelled ends the command before it goes."""
    stop = Stop()
    running = asyncio.ensure_future(off(run_until, command, data, cwd=cwd, environ=environ, stop=stop))
    try:
        return await asyncio.shield(running)
    finally:
        if not running.done():
            stop.ask()
            await asyncio.wait([running])
