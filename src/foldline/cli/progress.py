"""A progress bar for long reads: on a terminal only, only when it takes long, gone when done.

Owns the clock and the drawing. Knows nothing of what is read: it hands out a callback that takes bytes done and
bytes in all. In a pipe there is no bar and no callback.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from foldline.cli import screen

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

WAIT_S = 0.3
"""A read that ends sooner shows nothing: a bar that flashes says less than none."""
REDRAW_S = 0.08

Tick: TypeAlias = Callable[[int, int], None]
"""Takes how much is done and how much there is, in the same unit; 0 for the whole: not known."""


@contextmanager
def shown(what: str) -> Iterator[Tick | None]:
    """A callback that draws `what` on stderr, or `None` when stderr is no terminal."""
    if not screen.is_terminal("stderr"):
        yield None
        return
    bar = _Bar(what)
    try:
        yield bar.tick
    finally:
        bar.close()


class _Bar:
    """Made at once, drawn from `WAIT_S` on; the only thing here that changes."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._due_s = time.monotonic() + WAIT_S
        self._drawn: tuple[Progress, TaskID] | None = None

    def tick(self, done: int, total: int) -> None:
        now_s = time.monotonic()
        if now_s < self._due_s:
            return
        self._due_s = now_s + REDRAW_S
        if self._drawn is None:
            self._drawn = self._start()
        progress, task = self._drawn
        progress.update(task, completed=done, total=total or None)
        progress.refresh()

    def close(self) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24, complete_style="cyan", finished_style="cyan"),
            DownloadColumn(),
            console=Console(stderr=True, markup=False, emoji=False, highlight=False),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        progress.start()
        return progress, progress.add_task(screen.line(self._what), total=None)
