"""A home with a session, for tests of commands that work on one."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import run

DATA = Path(__file__).parent.parent / "data"
EXCERPT = DATA / "pi/before-compaction-excerpt.jsonl"


def imported(name: str = "demo", file: Path = EXCERPT) -> None:
    """A recorded session, made durable below the home that the environment names."""
    done = run("import", str(file), "--name", name)
    assert done.exit_code == 0, done.output
