"""`foldline rollback`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import documents, run
from tests.cli.sessions import imported


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    imported()


def test_a_session_comes_back_to_an_entry_and_on_again() -> None:
    """JRN-16. What came after stays in the log, and can be come back to."""
    assert "6 messages in view (23 now)" in run("rollback", "demo", "--to", "5", "--dry-run").stderr
    [document] = documents(run("rollback", "demo", "--to", "5", "--json").stdout)
    assert (document["entry"], document["messages_before"], document["messages_after"]) == (5, 23, 6)
    assert (
        "demo stands at entry 22: 23 messages in view (6 before)"
        in run("rollback", "demo", "--to", "22").stderr
    )


def test_a_session_comes_back_to_before_a_compaction() -> None:
    [made] = documents(run("compact", "demo", "--to", "5k", "--json").stdout)
    assert made["outcome"] == "compacted"
    [document] = documents(run("rollback", "demo", "--before", "24", "--json").stdout)
    assert (document["entry"], document["messages_after"]) == (22, 23)


@pytest.mark.parametrize(
    "options", [(), ("--to", "1", "--before", "2"), ("--to", "99"), ("--to", "-2"), ("--before", "3")]
)
def test_what_cannot_be_come_back_to_is_refused(options: tuple[str, ...]) -> None:
    done = run("rollback", "demo", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith("foldline: ")
