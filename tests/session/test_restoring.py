"""What the agent needs to go on, behind the summary and in the same commit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.restore import PlanMode, Restorer, Sources
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.judges.panel import violations
from tests.session.making import opened, worked
from tests.session.modelling import asks, due
from tests.session.test_conversation import narrow
from tests.session.test_session_machine import small

SUMMARY = "The files were read."


def planning(path: Path) -> Restorer:
    """Of an agent in plan mode, in a folder."""
    plan = PlanMode(path=str(path / "plan.md"), exists=False)
    return Restorer(workspace=str(path), sources=Sources(cwd=lambda: str(path), plan_mode=lambda: plan))


def texts(session: Session) -> str:
    """What the view says."""
    return "\n".join(item.message.text for item in session._view().view)


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
def test_what_is_restored_stands_behind_the_summary_after_a_restart_too(
    tmp_path: Path, *, is_async: bool
) -> None:
    """RST-1, RST-3, RST-6 and CMP-40: a user message, valid, within the target, in the same commit."""
    store = MemoryStore()
    session = due(store, completer=ScriptedCompleter(SUMMARY), restore=planning(tmp_path))
    request = asyncio.run(session.aprepare()) if is_async else session.prepare()
    assert request.report.outcome == "compacted"
    assert violations(request.body, format="anthropic") == []
    said = request.data.decode()
    assert said.index(SUMMARY) < said.index("plan.md") < said.index("what it says")
    assert "You are in plan mode" in said
    assert request.report.tokens_after <= (request.report.tokens_target or 0)
    assert any(note.startswith("restored: plan mode") for note in request.report.notes)
    live = texts(session)
    session.close()
    again = opened(store, policy=asks())
    assert texts(again) == live


def test_the_next_compaction_restores_anew_and_keeps_one_copy(tmp_path: Path) -> None:
    """RST-1 and CMP-16: what was restored leaves with the summary that it stood behind."""
    session = narrow(opened(policy=small("balanced"), host=due(completer=None)._known.host))
    session._known.host = replace(session._known.host, restore=planning(tmp_path))
    session.user("look at everything")
    worked(session, 12)
    session.user("go on")
    session.compact(to=0.5)
    worked(session, 12, start=40)
    session.user("go on and on")
    report = session.compact(to=0.5)
    assert report.outcome == "compacted"
    assert texts(session).count("You are in plan mode") == 1
    assert session.prepare().report.valid


def test_a_callback_that_fails_is_a_note_and_no_failure(tmp_path: Path) -> None:
    """Restoring never fails a compaction."""

    def broken() -> Any:
        raise RuntimeError("no such folder")

    restorer = Restorer(workspace=str(tmp_path), sources=Sources(cwd=broken))
    session = due(completer=ScriptedCompleter(SUMMARY), restore=restorer)
    report = session.prepare().report
    assert report.outcome == "compacted"
    assert any("no such folder" in note for note in report.notes)
