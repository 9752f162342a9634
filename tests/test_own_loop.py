"""One event loop of foldline's own: begun once, with the caller's context, and left alone by the caller's own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextvars import ContextVar

import pytest

from foldline.own_loop import CAUSES_MAX, begun, is_in_a_loop, is_of_another_loop, waited

SAID: ContextVar[str] = ContextVar("said", default="")


async def where() -> tuple[int, str, str]:
    return id(asyncio.get_running_loop()), threading.current_thread().name, SAID.get()


def test_it_is_one_loop_for_all_who_wait_and_it_has_their_context() -> None:
    """Clients keep connections of the loop in which they first asked."""
    token = SAID.set("mine")
    try:
        first, running = waited(where()), begun(where(), here=True)
        assert isinstance(running, Future)
        second = running.result(5)
    finally:
        SAID.reset(token)
    assert first == second
    assert first[1:] == ("foldline event loop", "mine")


def test_in_a_loop_of_the_callers_what_is_begun_here_runs_there() -> None:
    """And elsewhere what is not, so that a caller who holds his loop up waits for nothing that cannot go on."""

    async def talk() -> None:
        assert is_in_a_loop()
        mine = id(asyncio.get_running_loop())
        here, elsewhere = begun(where(), here=True), begun(where(), here=False)
        assert isinstance(here, asyncio.Task)
        assert isinstance(elsewhere, Future)
        assert (await here)[0] == mine
        assert elsewhere.result(5)[0] != mine

    assert not is_in_a_loop()
    asyncio.run(talk())


def test_what_a_coroutine_raises_is_raised() -> None:
    """As if it had been awaited."""

    async def fails() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        waited(fails())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_one_of_its_own_and_the_process_ends_in_silence() -> None:
    """Threads do not outlive a fork; a server forks its workers after it loaded."""
    code = (
        "import asyncio, os, sys, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from foldline.own_loop import waited\n"
        "waited(asyncio.sleep(0))\n"
        "child = os.fork()\n"
        "waited(asyncio.sleep(0))\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-Walways::ResourceWarning", "-c", code], capture_output=True, timeout=30
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_error_of_another_loop_is_found_below_its_wrapping() -> None:
    """An SDK wraps it as a connection that failed."""
    wrapped = ConnectionError("Connection error.")
    wrapped.__cause__ = RuntimeError("Event loop is closed")
    assert is_of_another_loop(wrapped)
    assert not is_of_another_loop(ConnectionError("Event loop is closed"))
    assert not is_of_another_loop(RuntimeError("it broke"))
    ring = ValueError("round")
    ring.__cause__ = ring
    assert not is_of_another_loop(ring)
    assert CAUSES_MAX >= 4
