"""`foldline fork`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import documents, run
from tests.cli.sessions import EXCERPT, imported


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    imported()
    return tmp_path / "home"


def test_a_fork_holds_no_copy_and_goes_its_own_way(home: Path) -> None:
    """JRN-9: the visible history by reference; neither touches the other."""
    assert "would go on from entry 22" in run("fork", "demo", "other", "--dry-run").stderr
    assert not (home / "sessions/other").exists()
    assert "23 messages in view" in run("fork", "demo", "other").stderr
    sizes = [(home / f"sessions/{name}/log.jsonl").stat().st_size for name in ("demo", "other")]
    assert sizes[1] < sizes[0] / 10
    run("compact", "other", "--to", "5k")
    [one] = documents(run("context", "demo", "--json").stdout)
    [two] = documents(run("context", "other", "--json").stdout)
    assert two["tokens_total"] < one["tokens_total"] / 2
    [verified] = documents(run("verify", "--all", "--json").stdout)
    assert [row["state"] for row in verified["sessions"]] == ["clean", "clean"]


def test_a_fork_leaves_after_the_entry_that_is_named() -> None:
    [document] = documents(run("fork", "demo", "other", "--at", "5", "--json").stdout)
    assert (document["entry"], document["messages"]) == (5, 6)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("demo", "demo"), 1),
        (("nix", "other"), 1),
        (("demo", "../x"), 2),
        (("demo", "other", "--at", "99"), 2),
    ],
)
def test_what_cannot_be_forked_is_refused_and_leaves_nothing(
    arguments: tuple[str, ...], code: int, home: Path
) -> None:
    done = run("fork", *arguments)
    assert done.exit_code == code
    assert [path.name for path in (home / "sessions").iterdir()] == ["demo"]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("fork", "demo", "other", "--at", "99999"), "--at 99999: "),
        (("compact", "demo", "--to", "5k", "--base-url", "x", "--dry-run"), "--base-url x: "),
        (("compact", "demo", "--to", "5k", "--counter", "abacus", "--dry-run"), "--counter abacus: "),
        (("recall", "x", "--since", "yesterday"), "--since yesterday: "),
        (("compact", str(EXCERPT), "--to", "5k", "--pin", "nowhere", "--dry-run"), "--pin nowhere: "),
        (("undo", "demo", "999"), "entry 999: "),
    ],
)
def test_a_wrong_option_is_named_as_it_is_typed(args: tuple[str, ...], named: str) -> None:
    """Nobody types `at` or `base_url`; an argument has no dashes."""
    done = run(*args)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"foldline: {named}")
    (document,) = documents(run(*args, "--json").stdout)
    assert document["message"].startswith(named)


def test_a_dry_run_refuses_the_names_that_the_fork_would_refuse() -> None:
    """One that is taken, and one that no session may have."""
    for name, code in (("demo", 1), ("x/y", 2)):
        for more in (("--dry-run",), ()):
            assert run("fork", "demo", name, *more).exit_code == code, (name, more)
