"""`foldline sessions`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import documents, run
from tests.cli.sessions import imported


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))


def test_an_empty_home_says_how_to_begin() -> None:
    done = run("sessions")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "foldline import FILE" in done.stderr
    assert documents(run("sessions", "--json").stdout) == [{"schema": "foldline.sessions/1", "sessions": []}]


def test_each_session_is_listed_with_its_size_and_its_parent() -> None:
    """interface.md: durable sessions."""
    imported()
    run("fork", "demo", "other")
    [document] = documents(run("sessions", "--json").stdout)
    rows = {row["name"]: row for row in document["sessions"]}
    assert rows["demo"]["messages"] == rows["other"]["messages"] == 23
    assert (rows["demo"]["format"], rows["demo"]["model"]) == ("anthropic", "claude-opus-4-5")
    assert (rows["demo"]["parent"], rows["other"]["parent"]) == (None, "demo")
    assert rows["demo"]["updated_ms"] > 0
    shown = run("sessions").stdout
    assert "fork of" in shown
    assert "claude-opus-4-5" in shown


def test_a_damaged_session_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    """One bad log does not hide the others."""
    imported()
    imported("bad")
    log = tmp_path / "home/sessions/bad/log.jsonl"
    log.write_bytes(log.read_bytes()[:-9] + b"rubbish}\n")
    done = run("sessions")
    assert done.exit_code == 0
    assert "demo" in done.stdout
    assert "bad: damaged at byte" in done.stderr
    assert "foldline verify bad" in done.stderr
