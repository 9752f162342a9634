"""Compactions that help nothing: counted in the log, stopped with their cause, and begun again when one may help."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import ContextExhausted
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.engine.scripted import folding, tier
from tests.judges.panel import violations
from tests.session.making import answer, opened, reopened, worked
from tests.session.modelling import WINDOW, Heard, asks, body_of, kinds
from tests.session.test_conversation import narrow


def full(store: MemoryStore | None = None, *, policy: Any = None, size: int = 1_280, **host: Any) -> Session:
    """A session of nine rounds that is over its line by our own count."""
    session = narrow(opened(store, policy=policy or asks(), host=Host(**host)), WINDOW)
    session.user("read it all, never push to main")
    session.prepare()
    for number in range(7):
        again(session, number, size=size)
    return session


def again(session: Session, number: int, *, size: int = 300) -> None:
    """One more round."""
    session.record(answer(f"look {number}", (f"t{number}", "read")))
    session.tool_result(f"t{number}", "y" * size)


def growing(session: Session, rounds: int) -> list[str]:
    """Why each request's report says that nothing was done, of a session that goes on at the line."""
    told = []
    for number in range(100, 100 + rounds):
        told.append(session.prepare().report.reason or "")
        again(session, number)
    return told


def wordy() -> ScriptedCompleter:
    """Summaries nearly as long as what they stand for."""
    return ScriptedCompleter(*["z" * (7_700 - 240 * number) for number in range(9)])


def test_three_compactions_in_a_row_that_leave_the_request_due_are_the_last() -> None:
    """anomalyco/opencode#27924: counted, stopped, told with the cause; the model is asked no more."""
    heard, completer = Heard(), wordy()
    session = full(completer=completer, listener=heard.listener())
    told = growing(session, 6)
    assert len(completer.requests) == 3
    assert kinds(session).count("compaction") == 2  # the third freed hardly anything, and was refused
    assert session._keeper.state.stalled == 3
    assert ["stopped after 3" in why for why in told] == [False] * 3 + [True] * 3
    assert "stopped after 3 compactions in a row that did not help: what" in told[-1]
    assert "stopped after 3" in next(one.text for one in heard.blocks if one.is_error)


def test_a_session_that_is_opened_again_knows_of_the_spiral() -> None:
    """JRN-8: derived from the log, from a checkpoint too."""
    store, completer = MemoryStore(), wordy()
    session = full(store, completer=completer)
    growing(session, 4)
    asked = len(completer.requests)
    for checkpointed in (True, False):
        if checkpointed:
            session._keeper.checkpoint()
        with reopened(session, store, policy=asks(), host=session._known.host) as after:
            narrow(after, WINDOW)
            assert after._keeper.state.stalled == 3
            assert "stopped after 3" in (after.prepare().report.reason or "")
            assert len(completer.requests) == asked
            session = after


def test_a_request_that_no_longer_fits_the_window_ends_with_the_cause() -> None:
    """anomalyco/opencode#27924: a clear error in the place of a request that cannot be answered; nothing has changed."""
    session = full(completer=wordy())
    growing(session, 4)
    again(session, 4, size=3_000)
    view, seq = [item.message for item in session._view().view], session.seq
    with pytest.raises(ContextExhausted, match=r"stopped after 3 .* the window is 3,000"):
        session.prepare()
    assert [item.message for item in session._view().view] == view
    assert session.seq == seq


def test_what_makes_the_request_fit_again_is_made_without_asking_the_model() -> None:
    """google-gemini/gemini-cli#14766: over the limit any saving that makes it fit is worth it, in a spiral too."""
    completer = wordy()
    session = stalled(full(completer=completer, policy=asks(tier(folding(1, 13, says="short")))))
    again(session, 9, size=2_000)
    request = session.prepare()
    assert request.report.outcome in ("compacted", "unreachable")
    assert violations(request.body, format="anthropic") == []
    assert completer.requests == []


def stalled(session: Session) -> Session:
    """The session after three compactions that did not help."""
    session._keeper.say(*[Draft(kind="progress", body=b'{"progress":false}')] * 3)
    return session


def test_room_below_the_line_a_compaction_by_hand_and_another_model_begin_anew() -> None:
    """anomalyco/opencode#27924: the count starts anew on progress."""
    session = stalled(full(completer=None, size=100))
    session.prepare()
    assert session._keeper.state.stalled == 0
    assert body_of(session, "progress") == {"progress": True}
    session.prepare()
    assert kinds(session).count("progress") == 4
    by_hand = stalled(full(completer=ScriptedCompleter("short")))
    by_hand.compact()
    assert by_hand._keeper.state.stalled == 0
    other = stalled(full(completer=None))
    other.use("claude-sonnet-5")
    assert other._keeper.state.stalled == 0


def test_an_undone_compaction_says_nothing_of_the_next() -> None:
    """Law REPLAY: what does not count is not counted."""
    session = full(completer=wordy())
    session.prepare()
    assert session._keeper.state.stalled == 1
    session.undo()
    assert session._keeper.state.stalled == 0


def test_system_prompt_and_tools_over_the_line_are_named_and_nothing_is_compacted() -> None:
    """anomalyco/opencode#48188: no compaction can help; at once, and before a model is asked."""
    completer = wordy()
    session = full(completer=completer, size=40)
    fixed = "rule " * 1_950
    request = session.prepare(system=fixed)
    assert request.report.outcome == "failed"
    assert "system prompt and tools alone take" in (request.report.reason or "")
    assert "compaction" not in kinds(session)
    assert completer.requests == []
    small = narrow(opened(policy=asks(), counter="length/4"), 2_000)
    small.user("go")
    with pytest.raises(ContextExhausted, match="system prompt and tools alone take"):
        small.prepare(system=fixed)


def test_a_compaction_that_frees_hardly_anything_is_refused_and_says_so() -> None:
    """1jehuang/jcode#170: 29 attempts saved 0.4 %; not made, and counted as no progress."""
    tiny = tier(folding(1, 3, says="v" * 1_100))
    session = full(completer=None, policy=asks(tiny))
    before = [item.message for item in session._view().view]
    report = session.prepare().report
    assert report.outcome == "failed"
    assert "it would free" in (report.reason or "")
    assert [item.message for item in session._view().view] == before
    assert session._keeper.state.stalled == 1


def test_policies_whose_target_is_their_line_are_no_spiral() -> None:
    """PRE-4, PRE-6: down to the line is where they go; each compaction that gets there is progress."""
    session = narrow(opened(policy="cascade", counter="length/4"), 4_000)
    session.user("read it all")
    for number in range(60):
        worked(session, 1, size=600, start=number)
    assert kinds(session).count("compaction") > 3
    assert session._keeper.state.stalled == 0
