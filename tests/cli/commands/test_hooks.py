"""`foldline hooks`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import documents, run


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a hook, and a project with one of its own whose words and files would act on a terminal."""
    (tmp_path / "user.toml").touch()
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    (tmp_path / "user.toml").write_text('[[hooks.PostCompact]]\nargv = ["true"]\n')
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "foldline.toml").write_text(
        '[[hooks.PreCompact]]\nargv = ["sh", "hook.sh", "\\u001b]0;x"]\ntrigger = "auto"\nblocks_on_exit_2 = true\n'
    )
    (folder / "hook.sh").write_text("echo \x1b[2J hello\n")
    monkeypatch.chdir(folder)
    return folder


def listed() -> list[dict[str, Any]]:
    """What `--json` lists."""
    [document] = documents(run("hooks", "--json").stdout)
    assert document["schema"] == "foldline.hooks/1"
    hooks: list[dict[str, Any]] = document["hooks"]
    return hooks


def test_hooks_are_listed_with_all_that_an_approval_is_for() -> None:
    """Words, settings, program, files with their digests, and nothing that acts on a terminal."""
    [users, projects] = listed()
    assert (users["state"], users["digest"]) == ("runs", None)
    assert (projects["state"], projects["trigger"], projects["blocks_on_exit_2"]) == ("waiting", "auto", True)
    assert [row["file"] for row in projects["files"]] == ["hook.sh"]
    page = run("hooks", "--contents")
    assert page.exit_code == 0
    for text in ("PostCompact", "PreCompact (auto alone)", "waiting", projects["digest"], "hello", "blocks"):
        assert text in page.stdout
    assert "\x1b" not in page.stdout


def test_approving_and_revoking_is_by_the_digest_that_was_shown(project: Path) -> None:
    """S16: what has changed since is not approved (exit 2)."""
    digest = listed()[1]["digest"]
    assert run("hooks", "approve", digest).stderr == "foldline: 1 hook approved\n"
    assert listed()[1]["state"] == "approved"
    assert run("hooks", "revoke", digest, "--json").exit_code == 0
    assert listed()[1]["state"] == "waiting"
    (project / "hook.sh").write_text("echo evil\n")
    refused = run("hooks", "approve", digest)
    assert refused.exit_code == 2
    assert "no hook of this project has this digest now" in refused.stderr


def test_another_projects_hooks_are_looked_at_by_its_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before one goes there."""
    monkeypatch.chdir("/")
    assert len(listed()) == 1
    [document] = documents(run("hooks", "--project", str(project), "--json").stdout)
    assert len(document["hooks"]) == 2


@pytest.mark.parametrize(
    "arguments", [("approve",), ("revoke",), ("list", "0" * 64), ("run",), ("approve", "abc")]
)
def test_what_is_not_named_rightly_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    """Exit 2; nothing is approved."""
    assert run("hooks", *arguments).exit_code == 2
    assert listed()[1]["state"] == "waiting"


def test_without_hooks_it_says_where_to_begin(project: Path) -> None:
    """An empty page would say nothing."""
    (project.parent / "user.toml").write_text("")
    (project / "foldline.toml").unlink()
    page = run("hooks")
    assert (page.exit_code, page.stdout) == (0, "")
    assert "docs/guides/hooks.md" in page.stderr
