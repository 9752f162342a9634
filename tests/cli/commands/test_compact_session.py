"""`foldline compact SESSION`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import documents, run
from tests.cli.sessions import imported


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    imported()


def test_a_session_is_compacted_in_its_log() -> None:
    """UIX-1. The report is that of files; a dry run writes nothing."""
    dry = run("compact", "demo", "--to", "5k", "--dry-run")
    assert (dry.exit_code, "session demo is as it was" in dry.stderr) == (0, True)
    [document] = documents(run("compact", "demo", "--to", "5k", "--json").stdout)
    assert (document["outcome"], document["valid"]) == ("compacted", True)
    assert document["tokens_after"] <= 5_000
    assert "`foldline undo demo`" in run("compact", "demo", "--to", "3k").stderr


def test_a_target_that_cannot_be_reached_is_exit_3_and_changes_nothing() -> None:
    before = run("export", "demo").stdout
    done = run("compact", "demo", "--to", "50")
    assert done.exit_code == 3
    assert "unreachable" in done.stderr
    assert run("export", "demo").stdout == before


@pytest.mark.parametrize("options", [("--as", "pi"), ("-o", "x.json"), ("--pin", "words")])
def test_options_of_files_are_refused_with_what_to_do_instead(options: tuple[str, ...]) -> None:
    done = run("compact", "demo", "--to", "5k", *options)
    assert done.exit_code == 2
    assert "foldline export demo" in done.stderr


def test_a_file_of_that_name_goes_before_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies before one's eyes is what is meant."""
    monkeypatch.chdir(tmp_path)
    Path("demo").write_text('{"messages":[{"role":"user","content":"hello"}]}')
    [document] = documents(run("context", "demo", "--json").stdout)
    assert document["messages"] == 1


def test_the_hooks_of_the_settings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HOK-4: in their order, for a compaction by hand too; a dry run runs none."""
    hooks = "".join(
        f'[[hooks.{event}]]\nargv = ["sh", "-c", "echo {event} >> {tmp_path}/ran"]\n'
        for event in ("PreCompact", "SessionStart", "PostCompact")
    )
    (tmp_path / "user.toml").write_text(hooks)
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "user.toml"))
    assert run("compact", "demo", "--to", "5k", "--dry-run").exit_code == 0
    assert not (tmp_path / "ran").exists()
    assert run("compact", "demo", "--to", "5k").exit_code == 0
    assert (tmp_path / "ran").read_text().split() == ["PreCompact", "SessionStart", "PostCompact"]


def test_a_projects_hook_runs_as_far_as_it_was_approved_and_may_say_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S9: what was not looked at is said and not run. CMP-17: a block leaves the session as it is."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "foldline.toml").write_text('[[hooks.PreCompact]]\nargv = ["sh", "no.sh"]\n')
    (project / "no.sh").write_text("""echo '{"decision": "block", "reason": "tests are red"}'\n""")
    monkeypatch.chdir(project)
    (tmp_path / "user.toml").touch()
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.setenv("FOLDLINE_PROJECT_HOOKS", "1")
    done = run("compact", "demo", "--to", "5k")
    assert (done.exit_code, "`foldline hooks approve DIGEST`" in done.stderr) == (0, True)
    [document] = documents(run("hooks", "--json").stdout)
    assert run("hooks", "approve", document["hooks"][0]["digest"]).exit_code == 0
    before = run("export", "demo").stdout
    done = run("compact", "demo", "--to", "3k")
    assert done.exit_code == 4
    assert "tests are red; nothing was changed" in done.stderr
    assert run("export", "demo").stdout == before
