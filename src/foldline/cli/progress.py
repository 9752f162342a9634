"""Signs of life: a bar for long reads, a turning mark for long work; on a terminal only, gone when done.

Owns the clock and the drawing. Knows nothing of what is done: for a read it hands out a callback that takes bytes done
and bytes in all. In a pipe there is no bar, no mark and no callback.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from foldline.cli import screen

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

WAIT_S = 0.3
"""What ends sooner shows nothing: a bar that flashes says less than none."""
REDRAW_S = 0.08
REDRAWS_PER_S = 12

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


Stage: TypeAlias = Callable[[str, float | None], None]
"""Takes what is being done, and the share of it that is done; `None`: not known."""


@contextmanager
def busy(what: str) -> Iterator[Stage | None]:
    """Shows `what` with a turning mark on stderr while the work inside goes on, from `WAIT_S` on. Yields what takes the stages of the
    work, `None` when stderr is no terminal."""
    if not screen.is_terminal("stderr"):
        yield None
        return
    from threading import Timer

    from rich.live import Live
    from rich.spinner import Spinner

    spinner = Spinner("line", screen.cell(what))

    def tell(stage: str, share: float | None) -> None:
        told = "" if share is None else f" {int(100 * share)}%"
        spinner.update(text=screen.cell(f"{what}: {stage}{told}"))

    mark = Live(
        spinner,
        console=_console(),
        transient=True,
        refresh_per_second=8,
        redirect_stdout=False,
    )
    start = Timer(WAIT_S, mark.start)
    start.daemon = True
    start.start()
    try:
        yield tell
    finally:
        start.cancel()
        start.join()
        mark.stop()


TAIL_CHARS = 30
"""Characters of a text that is being written which are shown of it (requirement UIX-3)."""


def tail_of(text: str) -> str:
    """The end of a text on one line: line feeds are written as `\\n` first, then it is cut."""
    flat = text.replace("\n", "\\n")
    return flat if len(flat) <= TAIL_CHARS else f"…{flat[-TAIL_CHARS:]}"


@contextmanager
def tail(what: str) -> Iterator[Callable[[str], None] | None]:
    """Shows `what` on stderr, and behind it the end of what is being written; gone when done. Yields what takes each piece,
    `None` when stderr is no terminal. Pieces that come in a burst are drawn with the next turn of the clock, so that the last
    one is seen however long the model pauses behind it."""
    if not screen.is_terminal("stderr"):
        yield None
        return
    from rich.live import Live

    seen, drawn_s = "", 0.0
    with Live(
        screen.cell(what),
        console=_console(),
        transient=True,
        refresh_per_second=REDRAWS_PER_S,
        redirect_stdout=False,
    ) as live:

        def hear(piece: str) -> None:
            nonlocal seen, drawn_s
            seen = (seen + piece)[-2 * TAIL_CHARS :]
            is_time = time.monotonic() - drawn_s >= REDRAW_S
            live.update(screen.cell(f"{what} {tail_of(seen)}"), refresh=is_time)
            drawn_s = time.monotonic() if is_time else drawn_s

        live.refresh()
        yield hear


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, markup=False, emoji=False, highlight=False)


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
            self._drawn = self._start(total)
        progress, task = self._drawn
        progress.update(task, completed=done, total=total or None)
        progress.refresh()

    def close(self) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()

    def _start(self, total: int) -> tuple[Progress, TaskID]:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24, complete_style="cyan", finished_style="cyan"),
            DownloadColumn(),
            console=_console(),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        task = progress.add_task(screen.line(self._what), total=total or None)
        progress.start()
        return progress, task
