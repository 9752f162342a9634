"""Finds the code in Markdown files and runs it as a reader would: in order, in one folder, each file on its own.

Blocks marked `python` share one namespace a file. Blocks marked `console` hold `$ command` lines, each followed by
the output it gives, where `…` stands for anything; blocks marked `sh` hold commands alone. `foldline` runs this
source tree, `make` is looked up in the Makefile and not run. Blocks marked `toml` are files, whose first line names them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).parents[2]
ELSEWHERE = ("make ", "pip install", "pipx install", "git clone", "cd ")
"""Beginnings of commands that change the reader's machine; they are not run."""


class Block(NamedTuple):
    """One fenced block."""

    line: int
    language: str
    text: str


def blocks_of(markdown: str) -> list[Block]:
    """Every fenced block, in order, with the line its text begins at."""
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", markdown, re.MULTILINE | re.DOTALL):
        line = markdown.count("\n", 0, match.start(2)) + 1
        found.append(Block(line, match.group(1), match.group(2)))
    return found


def commands_of(block: Block) -> list[tuple[str, str | None]]:
    """The commands of a `console` or `sh` block with their expected output (`None`: not shown)."""
    text = block.text.replace("\\\n", " ")
    if block.language == "sh":
        lines = [line.split("  #")[0].strip() for line in text.splitlines()]
        return [(line, None) for line in lines if line and not line.startswith("#")]
    shown = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command.strip(), output) for command, _, output in (part.partition("\n") for part in shown)]


def matches(expected: str, actual: str) -> bool:
    """True where `actual` is what is shown; `…` alone on a line stands for lines, inside one for characters."""
    pattern = ""
    for line in expected.strip().splitlines():
        text = "".join("[^\n]*" if piece == "…" else re.escape(piece) for piece in re.split("(…)", line))
        pattern += r"(?:.*\n)*?" if line.strip() == "…" else text + r"\n"
    return (
        re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in actual.strip().splitlines()))
        is not None
    )


def sandbox(folder: Path) -> dict[str, str]:
    """A folder as a reader has it after cloning, and the environment to run commands in it."""
    shutil.copytree(REPO / "examples", folder / "examples")
    shutil.copy(REPO / "examples/session.jsonl", folder / "session.jsonl")
    keep = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PYTHON", "COVERAGE", "LANG", "LC_"))
    }
    paths = [str(REPO / "src"), *filter(None, [keep.get("PYTHONPATH")])]
    return keep | {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(paths),
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PYTHON_FOR_DOCS": sys.executable,
    }


def run_command(
    command: str, folder: Path, *, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run one shell command with `foldline` and `python3` being this source tree's."""
    program = '"$PYTHON_FOR_DOCS" -c "from foldline.cli.main import main; main()"'
    script = f'foldline() {{ {program} "$@"; }}\npython3() {{ "$PYTHON_FOR_DOCS" "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", script + command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )


def make_targets() -> set[str]:
    """The targets a reader may call."""
    text = (REPO / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))
