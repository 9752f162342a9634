"""`foldline import`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import foldline
from tests.cli.running import documents, run
from tests.cli.sessions import DATA, EXCERPT


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
FILES = sorted(path for path in DATA.glob("*/*") if path.parent.name != "bugs" and path.suffix != ".md")


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_every_format_becomes_a_session_that_reads_back(file: Path) -> None:
    """`import` takes every transcript format; what was brought in is what is then checked."""
    done = run("import", str(file), "--name", "s", "--json")
    assert done.exit_code == 0, done.output
    [document] = documents(done.stdout)
    for one in document["sessions"]:
        [shown] = documents(run("show", one["name"], "--json", "--limit", "1000").stdout)
        assert len(shown["entries"]) >= min(one["messages"], 1000)
        assert run("check", one["name"]).exit_code in (0, run("check", str(file)).exit_code)
    [verified] = documents(run("verify", "--all", "--json").stdout)
    assert {row["state"] for row in verified["sessions"]} == {"clean"}


def test_a_dry_run_changes_nothing_and_a_name_is_taken_once(tmp_path: Path) -> None:
    dry = run("import", str(EXCERPT), "--name", "s", "--dry-run")
    assert "would become session s: 23 messages" in dry.stderr
    assert not (tmp_path / "home/sessions").exists()
    assert "is now session s" in run("import", str(EXCERPT), "--name", "s").stderr
    again = run("import", str(EXCERPT), "--name", "s")
    assert (again.exit_code, "there is a session called 's' already" in again.stderr) == (1, True)


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "x" * 129])
def test_a_name_that_no_session_may_have_is_refused(name: str, tmp_path: Path) -> None:
    """S8: a name is never a path."""
    done = run("import", str(EXCERPT), "--name", name)
    if name:
        assert done.exit_code == 2
        assert "begins with a letter or digit" in done.stderr
    assert not [path for path in tmp_path.rglob("log.jsonl") if not NAME.fullmatch(path.parent.name)]


def test_a_log_of_our_own_keeps_its_compactions(tmp_path: Path) -> None:
    """What was compacted as a file can be undone as a session."""
    out = tmp_path / "small.jsonl"
    assert run("compact", str(EXCERPT), "--to", "5k", "--as", "foldline", "-o", str(out)).exit_code == 0
    [document] = documents(run("import", str(out), "--name", "s", "--json").stdout)
    assert document["sessions"][0]["compactions"] == 1
    assert "23 messages in view again (11 before)" in run("undo", "s").stderr


def test_secrets_do_not_reach_the_log(tmp_path: Path) -> None:
    """S14: what is brought in is redacted like what is said."""
    token = "ghp_" + "x7Kd93LmQpZ2vTn5RbWc8YhJ4sGf6EaU1oNi"
    file = tmp_path / "chat.json"
    file.write_text('{"messages":[{"role":"user","content":"use ' + token + '"}]}')
    assert run("import", str(file), "--name", "s").exit_code == 0
    stored = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert token.encode() not in stored
    assert "⟦secret:".encode() in stored


COMPACTED = [("claude-code", 4, 9), ("codex", 17, 21), ("kimi", 46, 54)]


@pytest.mark.parametrize(("format", "left", "whole"), COMPACTED)
@pytest.mark.parametrize("stdin", [False, True], ids=["file", "stdin"])
def test_what_its_tool_had_compacted_away_is_counted_and_can_be_brought_in(
    format: str, left: int, whole: int, stdin: bool
) -> None:
    """Nobody looks in the session for what only the file has; with `--all` the session has it, can be searched for it, and
    can be sent."""
    [file] = DATA.glob(f"{format}/shape-fixture-*compact*.jsonl")
    arguments = ["import", "-" if stdin else str(file), "--name", "s", "--json"]
    data = file.read_bytes() if stdin else None
    done = run(*arguments, "--dry-run", stdin=data)
    [told] = documents(done.stdout)[0]["sessions"]
    assert (told["left_out"], told["messages_left"]) == (True, left)
    assert f"{left} messages from before stay" in done.stderr
    assert "--all brings them in" in done.stderr
    done = run(*arguments, "--all", stdin=data)
    [told] = documents(done.stdout)[0]["sessions"]
    assert (told["messages"], told["left_out"], told["messages_left"]) == (whole, False, 0)
    assert "stay in the file alone" not in done.stderr
    with foldline.open("s") as session:
        session.user("Go on.")
        assert session.prepare().messages


def test_of_a_file_that_was_never_compacted_nothing_is_left_and_all_is_the_same() -> None:
    """`--all` is no other session then."""
    done = run("import", str(EXCERPT), "--name", "s", "--json")
    [told] = documents(done.stdout)[0]["sessions"]
    assert (told["left_out"], told["messages_left"]) == (False, 0)
    assert "compacted" not in done.stderr
    again = run("import", str(EXCERPT), "--name", "t", "--json", "--all")
    assert documents(again.stdout)[0]["sessions"][0]["messages"] == told["messages"]


@pytest.mark.parametrize("format", [format for format, *_ in COMPACTED])
def test_what_the_provider_counted_is_kept_with_what_it_counted(format: str) -> None:
    """TOK-3: `context` says of the session what it says of its file; with `--all` the request that was counted is another one."""
    [file] = DATA.glob(f"{format}/shape-fixture-*compact*.jsonl")
    counted = "the provider last counted"
    of_file = run("context", str(file)).stdout
    for name, options in (("s", ()), ("whole", ("--all",))):
        assert run("import", str(file), "--name", name, *options).exit_code == 0
    assert (counted in run("context", "s").stdout) == (counted in of_file)
    assert counted not in run("context", "whole").stdout
