"""Whether what a compaction began with still stands when it ends."""

from __future__ import annotations

from foldline.core.edit import Drop, Frame
from foldline.core.view import Span, View
from foldline.session.session import Session
from foldline.session.working import landed, still_stands
from tests.engine.scripted import folding
from tests.session.making import answer, opened, worked


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
