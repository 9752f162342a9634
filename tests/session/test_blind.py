"""A session whose model nothing is known of: nobody can say how full the window is, and local passes go by other measures."""

from __future__ import annotations

import pytest

from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from tests.judges.panel import violations
from tests.session.making import answer, opened, reopened, worked
from tests.session.modelling import kinds

PROTECTED = 10
"""Tool turns that stay."""


def folded(session: Session) -> list[int]:
    """Ordinals that the view no longer shows as they were said."""
    shown = {item.seq for item in session._view().view if item.message.synthetic is None}
    return sorted(set(range(len(session.messages))) - shown)


@pytest.mark.parametrize("model", [None, "nobody-knows-this-one"])
@pytest.mark.filterwarnings("ignore::foldline.UnknownModel")
def test_from_thirty_messages_on_old_tool_turns_leave(model: str | None) -> None:
    """SNP-7, TOK-10: usage unknown, so at thirty messages and not before, whatever their size; the newest ten tool turns stay,
    and it is no compaction."""
    store = MemoryStore()
    session = opened(store, model=model, policy="handoff")
    session.user("read them all")
    worked(session, 14)
    assert session.size == 29
    session.prepare()
    assert folded(session) == []
    session.record(answer("done so far"))
    session.user("go on")
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert [one.name for one in request.report.passes] == ["snip"]
    assert folded(session) == list(range(1, 1 + 2 * (14 - PROTECTED)))
    assert violations(request.body, format="anthropic") == []
    assert "compaction" not in kinds(session)
    assert session.prepare().data == request.data, "and not again for the same view"
    assert len(session.messages) == 31, "nothing is lost"
    with reopened(session, store, policy="handoff", model=model) as again:
        assert again.prepare().data == request.data


def test_where_the_window_is_known_its_fill_decides() -> None:
    """SNP-7: a session of thirty small messages in a large window is left alone."""
    session = opened(model="claude-sonnet-4-5", policy="handoff")
    session.user("read them all")
    worked(session, 20)
    assert session.prepare().report.outcome == "unchanged"
    assert "edit" not in kinds(session)


def test_a_model_that_becomes_known_ends_it() -> None:
    """SNP-7: the next request is planned by the window."""
    session = opened(policy="handoff")
    session.user("read them all")
    worked(session, 10)
    session.use("claude-sonnet-4-5")
    worked(session, 10, start=10)
    assert session.prepare().report.outcome == "unchanged"
    assert folded(session) == []


def test_no_tool_turn_leaves_a_node_that_runs() -> None:
    """FUN-4: never snip inside, in the state unknown either."""
    session = opened(policy="handoff")
    session.user("go")
    with session.node("worker", input="read them all") as node:
        worked(node, 20)
        assert node.prepare().report.outcome == "unchanged"
