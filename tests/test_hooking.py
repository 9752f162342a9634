"""The user's hooks run, a project's as far as the user approved them and a person is there (S9, S16)."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from foldline.core.errors import InvalidOption
from foldline.environment import FOLDLINE_PROJECT_HOOKS
from foldline.hooking import approve, configured, listed, revoke
from foldline.hooks import Hook, Occasion

AUTO = Occasion(session_id="s", trigger="auto", cwd="/")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a hook, and a project with one of its own."""
    (tmp_path / "user.toml").touch()
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(FOLDLINE_PROJECT_HOOKS.name, raising=False)
    (tmp_path / "user.toml").write_text('[[hooks.PreCompact]]\nargv = ["echo", "of the user"]\n')
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "foldline.toml").write_text('[[hooks.PreCompact]]\nargv = ["sh", "hook.sh"]\n')
    (tmp_path / "project" / "hook.sh").write_text("echo of the project\n")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def digest() -> str:
    """Of the project's hook, as it is now."""
    return listed()[1].digest


def said(*, project_hooks: bool | None = None) -> str:
    """What the configured hooks say before a compaction."""
    return configured(project_hooks=project_hooks).pre_compact(AUTO).instructions


def test_the_users_hook_runs_and_a_projects_does_not_by_itself() -> None:
    """S9: a repository brings no commands along (CVE-2025-59536)."""
    hooks = configured(project_hooks=True)
    assert hooks.pre_compact(AUTO).instructions == "of the user"
    assert len(hooks.notes) == 1
    assert "`foldline hooks approve DIGEST`" in hooks.notes[0]
    assert [one.state for one in listed()] == ["runs", "waiting"]


def test_an_approved_one_runs_until_it_changes(places: Path) -> None:
    """S9: a changed hook needs new approval."""
    approve(digest())
    assert [one.state for one in listed()] == ["runs", "approved"]
    assert said(project_hooks=True) == "of the user\n\nof the project"
    (places / "project" / "hook.sh").write_text("echo evil\n")
    assert said(project_hooks=True) == "of the user"
    assert [one.state for one in listed()] == ["runs", "waiting"]
    (places / "project" / "hook.sh").write_text("echo of the project\n")
    assert said(project_hooks=True) == "of the user\n\nof the project"


def test_without_a_terminal_a_projects_do_not_run_even_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    """S9: headless refuses project hooks; a flag or the environment says otherwise, and can forbid them at a terminal."""
    approve(digest())
    assert said() == "of the user"
    assert "no person is at a terminal" in configured().notes[0]
    monkeypatch.setenv(FOLDLINE_PROJECT_HOOKS.name, "1")
    assert said() == "of the user\n\nof the project"
    monkeypatch.setenv(FOLDLINE_PROJECT_HOOKS.name, "0")
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert said() == "of the user"
    monkeypatch.delenv(FOLDLINE_PROJECT_HOOKS.name)
    assert said() == "of the user\n\nof the project"
    assert said(project_hooks=False) == "of the user"


def test_what_is_approved_is_what_was_shown(places: Path) -> None:
    """S16: a change between showing and approving makes another digest, and nothing is approved."""
    shown = digest()
    (places / "project" / "hook.sh").write_text("echo evil\n")
    with pytest.raises(InvalidOption, match="no hook of this project has this digest now"):
        approve(shown)
    assert said(project_hooks=True) == "of the user"
    for part in (digest()[:16], "", "x"):
        with pytest.raises(InvalidOption):
            approve(part)


def test_an_approval_is_taken_back() -> None:
    """And only one that there is."""
    approve(digest())
    revoke(digest())
    assert [one.state for one in listed()] == ["runs", "waiting"]
    with pytest.raises(InvalidOption, match="nothing is approved"):
        revoke(digest())


def test_another_folder_is_another_project(places: Path) -> None:
    """The same files elsewhere were not shown."""
    approve(digest())
    (places / "project").rename(places / "moved")
    os.chdir(places / "moved")
    assert [one.state for one in listed()] == ["runs", "waiting"]


def test_one_that_cannot_be_looked_through_is_said(places: Path) -> None:
    """It is listed, does not run, and stops nothing else."""
    text = '[[hooks.PreCompact]]\nargv = ["sh", "hook.sh"]\nfiles = ["gone.txt"]\n'
    (places / "project" / "foldline.toml").write_text(text)
    hooks = configured(project_hooks=True)
    assert hooks.pre_compact(AUTO).instructions == "of the user"
    assert "gone.txt" in hooks.notes[0]
    assert listed()[1].to_dict()["state"] == "unreadable"


def test_in_the_users_own_folder_their_file_is_read_once(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Working where the user's file lies makes no project of it."""
    monkeypatch.setenv("FOLDLINE_CONFIG", str(places / "project" / "foldline.toml"))
    assert [one.state for one in listed()] == ["runs"]


def test_a_hosts_own_stand_behind_those_of_the_settings() -> None:
    """And where there are no files, alone; nothing is made in the home for it."""
    host = Hook(event="PreCompact", does=lambda _: "of the host")
    assert configured(more=(host,)).pre_compact(AUTO).instructions == "of the user\n\nof the host"


def test_without_hooks_nothing_is_made(places: Path) -> None:
    """No home, no key."""
    (places / "user.toml").write_text("")
    assert configured(project=places).pre_compact(AUTO).instructions == ""
    assert not (places / "home").exists()


def test_known_kinds_of_secrets_do_not_reach_the_model(places: Path) -> None:
    """What a command says passes what a log passes."""
    key = "ghp_" + "R4kT9zQw7LmX2pVb8NcY5hJd3GfS6aEu1oWi"
    (places / "user.toml").write_text(f'[[hooks.PreCompact]]\nargv = ["echo", "{key}"]\n')
    assert key not in said()
    assert "⟦secret:" in said()
