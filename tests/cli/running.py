"""Three ways to run the command line over the stand-in facade: in process, as a program, and on a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from foldline.cli.main import main

REPO = Path(__file__).parents[2]
PROGRAM = [sys.executable, str(REPO / "tests" / "cli" / "stub_files.py")]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def run(*args: str, stdin: bytes | None = None) -> Result:
    """In process, streams captured and none of them a terminal."""
    return CliRunner().invoke(main, list(args), prog_name="foldline", input=stdin)


def documents(text: str) -> list[Any]:
    """Every line as JSON: one document in a pipe is one line."""
    return [json.loads(line) for line in text.splitlines()]


def environment(**extra: str) -> dict[str, str]:
    """A child's environment: this package on its path, nothing that would colour or size its output."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "PYTHONPATH") if key in os.environ}
    path = os.pathsep.join([str(REPO / "src"), kept.get("PYTHONPATH", "")])
    return {**kept, "PYTHONPATH": path, "TERM": "xterm-256color", **extra}


def run_program(*args: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    """As a process, in pipes."""
    return subprocess.run(
        [*PROGRAM, *args], input=stdin, capture_output=True, env=environment(**env), check=False, timeout=120
    )


def run_on_terminal(*args: str, columns: int = 100, **env: str) -> tuple[int, str]:
    """As a process whose three streams are one terminal; its exit code and all it wrote there."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, columns))
    with subprocess.Popen(
        [*PROGRAM, *args], stdin=follower, stdout=follower, stderr=follower, env=environment(**env)
    ) as child:
        os.close(follower)
        written = bytearray()
        while chunk := _read(leader):
            written += chunk
        code = child.wait(timeout=120)
    os.close(leader)
    return code, written.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says EIO when the last writer has closed the terminal
        return b""


class Screen(io.TextIOWrapper):
    """A stream in memory that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        raw = self.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode(self.encoding)


def run_on_screen(monkeypatch: pytest.MonkeyPatch, *args: str) -> Outcome:
    """In process, with stdout and stderr terminals: fast enough for many runs."""
    out, err = Screen(), Screen()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with pytest.raises(SystemExit) as left:
        main(list(args), prog_name="foldline")
    assert isinstance(left.value.code, int)
    return Outcome(left.value.code, out.text(), err.text())
