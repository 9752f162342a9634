"""Whether what a compaction began with still stands when it ends."""

from __future__ import annotations

import pytest

from foldline.core.edit import Drop, Frame
from foldline.core.errors import CheckpointFailed, TargetUnreachable
from foldline.core.view import Span, View
from foldline.log import checkpoint
from foldline.session.session import Session
from foldline.session.working import landed, still_stands
from foldline.stores.memory import MemoryStore
from tests.engine.scripted import folding
from tests.session.making import answer, opened, reopened, worked


def begun() -> Session:
    """A few rounds."""
    session = opened()
    session.user("look")
    worked(session, 3)
    return session


def view_in(session: Session) -> View:
    """The session's view."""
    session._weigh()
    return session._view().view


def test_what_was_appended_leaves_everything_standing_and_what_was_edited_does_not() -> None:
    """JRN-10: every message that an edit names is there as it was."""
    session = begun()
    before = view_in(session)
    edits = folding(1, 5).edits(before)
    session.user("more")
    assert still_stands(before, view_in(session), edits=edits)
    session._keeper.edit(scope="", edits=folding(3, 5).edits(before), report={})
    assert not still_stands(before, view_in(session), edits=edits)
    assert still_stands(before, view_in(session), edits=folding(1, 3).edits(before))


def test_a_compaction_leaves_no_more_messages_than_a_checkpoint_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """JRN-3: many short messages in a large window are no reason to fail; the target is lowered, and the report says so."""
    monkeypatch.setattr(checkpoint, "MESSAGES_MAX", 20)
    store = MemoryStore()
    session = opened(store)
    for number in range(30):
        session.user(f"message {number} " + "word " * 10)
        session.record(answer(f"answer {number} " + "text " * 10))
    session.user("and now?")
    previewed = session.preview(to=0.9)
    report = session.compact(to=0.9)
    assert report.outcome == previewed.outcome == "compacted"
    assert report.messages_after == previewed.messages_after <= 20
    assert any("a checkpoint holds 20" in note for note in report.notes)
    shown = list(session.messages)
    with reopened(session, store) as again:
        assert again.prepare().messages[-1] == {"role": "user", "content": "and now?"}
        assert list(again.messages) == shown


def test_a_target_that_cannot_be_lowered_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no policy makes smaller fails as before, with memory as it was."""
    monkeypatch.setattr(checkpoint, "MESSAGES_MAX", 1)
    session = begun()
    worked(session, 6)
    with pytest.raises((CheckpointFailed, TargetUnreachable)):
        session.compact(to=0.8)


def test_edits_land_where_the_laws_allow_it_and_nowhere_else() -> None:
    """Laws TAIL and ROUND judge them on the view as it is now."""
    session = begun()
    view = view_in(session)
    frame = Frame(counter=session._known.setup.counter, needs=session._known.setup.needs)
    after = landed(view, folding(1, 5).edits(view), frame=frame)
    assert after is not None
    assert len(after) == len(view) - 3
    assert landed(view, (Drop(span=Span(start=0, end=1)),), frame=frame) is None
    assert landed(view, folding(2, 4).edits(view), frame=frame) is None
    session.record(answer("open", ("c", "read")))
