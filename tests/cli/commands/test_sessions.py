"""`foldline sessions`."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.stores.disk import DiskStore
from tests.cli.running import documents, run
from tests.cli.sessions import imported


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))


def test_an_empty_home_says_how_to_begin() -> None:
    done = run("sessions")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "foldline import FILE" in done.stderr
    assert documents(run("sessions", "--json").stdout) == [
        {"schema": "foldline.sessions/1", "sessions": [], "after": None}
    ]


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


def test_many_sessions_come_by_page(tmp_path: Path) -> None:
    """CLI, paging: a hundred at a time for a person, all of them for a program."""
    store = DiskStore(tmp_path / "home")
    for number in range(230):
        store.create(f"s{number:03}", format="anthropic", about=b"{}").close()
    seen: list[str] = []
    asked: list[str] = []
    while True:
        done = run("sessions", *asked)
        seen += [row.split()[0] for row in done.stdout.splitlines()[1:]]
        _, more, behind = done.stderr.strip().partition("more: foldline sessions ")
        if not more:
            break
        asked = behind.split()
    assert seen == list(store.names())
    assert "100 of 230; more: foldline sessions --after s099" in run("sessions").stderr
    few = run("sessions", "--after", "s099", "--limit", "2")
    assert "2 of 230; more: foldline sessions --after s101 --limit 2" in few.stderr
    [document] = documents(run("sessions", "--json").stdout)
    assert (len(document["sessions"]), document["after"]) == (230, None)
    [document] = documents(run("sessions", "--json", "--limit", "2").stdout)
    assert ([one["name"] for one in document["sessions"]], document["after"]) == (["s000", "s001"], "s001")
    assert "of 230 sessions none comes after z" in run("sessions", "--after", "z").stderr


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
