"""One event loop of foldline's own, for what awaits where nobody does: an async completer in a sync call, and a compaction in the
background.

    sync call ──► waited(coroutine) ──► the loop, in a thread of its own, until the process ends

A client of an SDK keeps connections that belong to the loop in which it first asked; a new loop for each question would find them
dead. So there is one, begun when it is first needed. Knows nothing of what runs in it.
"""

from __future__ import annotations

import asyncio
import atexit
import re
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

Value = TypeVar("Value")

CAUSES_MAX: Final = 16
"""Causes of an error that are looked at."""
_OTHER_LOOP: Final = re.compile(
    r"event loop is closed|(?:attached|bound) to a different (?:event )?loop", re.IGNORECASE
)
END_S_MAX: Final = 1.0
"""Longest wait for it at the end of the process, seconds."""


def is_in_a_loop() -> bool:
    """True in the thread of an event loop that runs, which must not be held up."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def waited(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """What a coroutine comes to, run in foldline's own loop with the caller's context variables. Interrupted, it is cancelled.
    Never to be called within that loop."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _OWN.loop())
    try:
        return future.result()
    finally:
        future.cancel()  # of one that has ended: nothing


def begun(coroutine: Coroutine[Any, Any, Value], *, here: bool) -> asyncio.Task[Value] | Future[Value]:
    """Have a coroutine run while its caller goes on, in foldline's loop. `here`: in the caller's own where there is one, since it
    asks a client of that; else a caller who holds that loop up would wait for what cannot go on."""
    if here and is_in_a_loop():
        return asyncio.create_task(coroutine)
    return asyncio.run_coroutine_threadsafe(coroutine, _OWN.loop())


def is_of_another_loop(error: BaseException) -> bool:
    """True for an error that stands for a client used in two event loops: what keeps its connections belongs to the first, and the
    words of whoever noticed are somewhere below."""
    seen: BaseException | None = error
    for _ in range(CAUSES_MAX):
        if seen is None:
            return False
        if isinstance(seen, RuntimeError) and _OTHER_LOOP.search(str(seen)):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


class _Own:
    """The loop and its thread, begun once; again in a forked process, which has none of its parent's threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=loop.run_forever, name="foldline event loop", daemon=True
                )
                self._thread.start()
                atexit.register(self._end, loop, self._thread)
            return self._loop

    @staticmethod
    def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        if thread.is_alive():
            loop.call_soon_threadsafe(loop.stop)
            thread.join(END_S_MAX)
        if not loop.is_running():
            loop.close()


_OWN: Final = _Own()
