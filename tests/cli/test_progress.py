"""A long read shows a bar on a terminal, gone when it is done; a short one, or one in a pipe, shows nothing."""

from __future__ import annotations

import io
import re
import sys
import threading
import time
from collections.abc import Callable

import pytest

from foldline.cli import progress
from tests.cli.running import Screen, run_on_terminal, run_program


def test_a_long_read_shows_a_bar_that_goes_away() -> None:
    """Interface: long work shows a progress bar on a terminal."""
    code, shown = run_on_terminal("context", "session.jsonl", STUB_SLOW="1")
    assert code == 0
    assert "reading session.jsonl" in shown
    assert "━" in shown
    last = shown.rindex("reading session.jsonl")
    assert "\x1b[2K" in shown[last:], "the line is wiped"
    assert shown[last:].index("\x1b[2K") < shown[last:].index("135,468 tokens")


def test_a_short_read_shows_no_bar() -> None:
    """A bar that flashes says less than none."""
    _, shown = run_on_terminal("context", "session.jsonl")
    assert "reading" not in shown


def test_long_work_shows_a_sign_of_life_that_goes_away() -> None:
    """Between the read and the answer nothing would move on the screen; a warning meanwhile is not lost."""
    code, shown = run_on_terminal(
        "compact", "laborious.jsonl", "--to", "20k", "--model", "nobody", STUB_SLOW="1"
    )
    assert code == 0
    assert "compacting" in shown
    last = shown.rindex("compacting")
    assert "\x1b[2K" in shown[last:], "the line is wiped"
    assert "warning: nobody" in shown
    assert "compacting" not in run_on_terminal("compact", "session.jsonl")[1]


def test_long_work_says_what_it_is_at_and_how_far() -> None:
    """Interface: sixteen seconds of one word say nothing; a stage is content, and neutral."""
    _, shown = run_on_terminal("compact", "laborious.jsonl", STUB_SLOW="1", STUB_TEXT='"facts \\u001b[2J"')
    shares = [int(share) for share in re.findall(r"compacting: looking for facts \\e\[2J (\d+)%", shown)]
    assert shares
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 100


def test_a_stage_without_an_end_has_no_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is told, and nothing drawn, where there is no terminal."""

    class AtOnce:
        """A timer that does not wait."""

        def __init__(self, wait_s: float, do: Callable[[], None]) -> None:
            assert wait_s == progress.WAIT_S
            self.start, self.daemon = do, False

        def cancel(self) -> None: ...

        def join(self) -> None: ...

    monkeypatch.setattr(threading, "Timer", AtOnce)
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with progress.busy("compacting") as stage:
        assert stage is not None
        stage("counting", None)
    assert "compacting: counting" in screen.text()
    assert "%" not in screen.text()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.busy("compacting") as stage:
        assert stage is None


def test_a_pipe_shows_no_bar() -> None:
    """Interface: none in a pipe."""
    done = run_program("context", "session.jsonl", STUB_SLOW="1")
    assert b"reading" not in done.stdout + done.stderr


def test_without_a_terminal_the_reader_is_not_asked_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """No callback, no cost."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.shown("reading a.jsonl") as tick:
        assert tick is None


def test_the_bar_waits_then_draws_and_escapes_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock alone: nothing before `WAIT_S`, then a redraw each `REDRAW_S`; a file's name is content."""
    screen = Screen()
    now_s = [100.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    with progress.shown("reading \x1b]0;pwn\x07[bold]") as tick:
        assert tick is not None
        tick(1, 10)
        assert screen.text() == ""
        now_s[0] += progress.WAIT_S
        tick(5, 10)
        drawn = screen.text()
        now_s[0] += progress.REDRAW_S / 2
        tick(6, 10)
        assert screen.text() == drawn
        now_s[0] += progress.REDRAW_S
        tick(7, 0)
        assert len(screen.text()) > len(drawn)
    assert "reading \\e]0;pwn\\x07[bold]" in drawn
    assert "\x07" not in drawn
