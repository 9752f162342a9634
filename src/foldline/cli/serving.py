"""Running a server from a command: an event loop, signals that stop it, and an address that may be taken.

Owns what a command line adds to `foldline.proxy.server`. A signal ends it calmly, a second one at once.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import signal
from collections.abc import Callable
from typing import Any, Final

import click

from foldline.cli import exits
from foldline.proxy.server import Options, Running, Tell, serve
from foldline.tokens.choose import counter_for

YOUNG_MAX: Final = 10_000
"""Objects made since the last look for garbage among them; 700 where nobody says. A request makes a few hundred, a large body some ten
thousand, and next to none of them are garbage that only such a look finds."""


def run(options: Options, *, ready: Callable[[Running, str], None], tell: Tell) -> int:
    """Serve until a signal comes; returns the exit code."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_served(options, ready=ready, tell=tell))
    return exits.DONE


async def _served(options: Options, *, ready: Callable[[Running, str], None], tell: Tell) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopped(number: int) -> None:
        stop.set()
        loop.remove_signal_handler(number)  # the second one ends it at once

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped, number)
    warming = asyncio.create_task(asyncio.to_thread(_warmed))
    try:
        await serve(options, tell=tell, ready=lambda running: ready(running, options.pages_token), stop=stop)
    except OSError as error:
        where = f"{options.host}:{options.port}"
        why = error.strerror or str(error)
        raise click.ClickException(f"cannot listen on {where}: {why}; choose another with --port") from error
    finally:
        await warming


def _warmed() -> None:
    """Load the vocabulary that counts, which takes seconds, while the first agent is being started. What is loaded by then stays, and is
    not looked through for garbage again and again."""
    counter_for().text("ready")
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_MAX, *gc.get_threshold()[1:])


def _loop_factory() -> Any:
    """uvloop's, where it is installed."""
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
