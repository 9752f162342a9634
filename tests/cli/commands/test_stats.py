"""`foldline stats`: one page of numbers over all sessions, one document for scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.environment import FOLDLINE_HOME
from foldline.stores.disk import DiskStore
from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import documents, run
from tests.privacy.test_statistics import CALL, drafts, message


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two sessions."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path))
    for name in ("a", "b"):
        journal = DiskStore(tmp_path).create(name, format="anthropic", about=b'{"model":"claude-sonnet-4-5"}')
        journal.append(drafts())
        journal.close()
    return tmp_path


def test_a_page_shows_compactions_passes_tools_and_cost() -> None:
    """JRN-11."""
    done = run("stats")
    assert done.exit_code == 0
    for word in ("2 sessions", "balanced", "microcompact", "run", "cost  $", "paths", "100%"):
        assert word in done.stdout
    assert "swordfish" not in done.output


def test_json_is_one_document_for_all_or_one() -> None:
    """The same numbers, and nothing else on stdout."""
    (document,) = documents(run("stats", "--json").stdout)
    assert (document["schema"], document["sessions"]) == ("foldline.stats/1", 2)
    (one,) = documents(run("stats", "a", "--json").stdout)
    assert one["events"]["USER_INPUT"] == 1
    assert run("stats", "nowhere").exit_code == 1


def test_no_session_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing yet."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path / "new"))
    assert "nothing yet" in run("stats").stdout


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_no_payload_reaches_the_terminal(payload: str, home: Path) -> None:
    """S10: in the name of a tool and of a model."""
    journal = DiskStore(home).write("a")
    call = {**CALL, "name": payload}
    journal.append([message("assistant", [call], usage={"tokens_input": 1}, meta={"model": payload})])
    journal.close()
    for options in ((), ("--json",)):
        done = run("stats", *options)
        assert done.exit_code == 0
        assert not FORBIDDEN.search(done.output)
