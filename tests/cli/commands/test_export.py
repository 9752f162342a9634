"""`foldline export`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import documents, run
from tests.cli.sessions import imported


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    imported()


@pytest.mark.parametrize(
    "format", ["anthropic", "openai-chat", "openai-responses", "gemini", "claude-code", "atif"]
)
def test_a_session_is_written_in_every_format_and_is_valid_there(format: str, tmp_path: Path) -> None:
    """`export` writes the view, as the model would be sent it."""
    run("compact", "demo", "--to", "5k")
    out = tmp_path / "out"
    done = run("export", "demo", "--as", format, "-o", str(out))
    assert done.exit_code == 0, done.output
    assert run("check", str(out), "--from", format).exit_code == 0


def test_as_a_log_it_holds_everything_and_comes_back_whole(tmp_path: Path) -> None:
    """Law LOG: every message ever said, and what was done to them, a fork's parent included."""
    run("compact", "demo", "--to", "5k")
    run("fork", "demo", "other")
    out = tmp_path / "all.jsonl"
    [document] = documents(run("export", "other", "-o", str(out), "--json").stdout)
    assert (document["format"], document["written"]) == ("foldline", str(out))
    assert run("import", str(out), "--name", "again").exit_code == 0
    views = [documents(run("context", name, "--json").stdout)[0] for name in ("other", "again")]
    assert views[0]["by_kind"] == views[1]["by_kind"]
    assert "23 messages in view again (11 before)" in run("undo", "again").stderr
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert "parent" not in lines[0]["body"]
    assert "checkpoint" not in {line.get("kind") for line in lines}


def test_it_goes_to_a_pipe_where_no_file_is_named() -> None:
    done = run("export", "demo")
    assert (done.exit_code, done.stdout[:12]) == (0, '{"foldline":')


def test_an_unknown_session_is_named(tmp_path: Path) -> None:
    done = run("export", "dem", "-o", str(tmp_path / "x"))
    assert (done.exit_code, "did you mean 'demo'" in done.stderr) == (1, True)
    assert not (tmp_path / "x").exists()
