"""What a session keeps of collapsed spans: in its log, by the messages' own ordinals, each to be taken back by itself."""

from __future__ import annotations

import pytest

from foldline.core.edit import Fold
from foldline.core.errors import TargetUnreachable
from foldline.engine.policy import Tier
from foldline.log.values import members, read_edits
from foldline.passes.collapse import Collapse
from foldline.session.history import Made
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from tests.engine.scripted import policy
from tests.session.making import answer, opened, reopened

TALK = 12
COLLAPSES = policy(Tier(name="collapse", reduce=Collapse(window=TALK)))


def talked(session: Session, *, count: int = TALK) -> None:
    """Talk that decides nothing, then a round with a tool, which does."""
    for _ in range(count // 2):
        session.user("why " * 100)
        session.record(answer("because " * 100))
    session.user("look")
    session.record(answer("I look", (f"c{session.seq}", "read")))
    session.tool_result(f"c{session.seq - 1}", "seen")
    session.record(answer("done", (f"d{session.seq}", "read")))
    session.tool_result(f"d{session.seq - 1}", "seen again")


def spans_of(session: Session, made: Made) -> list[tuple[int, int]]:
    """The messages that a compaction folded, by the ordinals in its entry; half-open."""
    [entry] = [entry for entry in session._keeper.log.entries() if entry.seq == made.seq]
    edits = read_edits(members(entry.body)["edits"])
    return [(span.start, span.end) for edit in edits if isinstance(edit, Fold) for span in edit.spans]


def test_a_span_shows_as_one_summary_and_can_be_unfolded_with_every_byte() -> None:
    """COL-1: the stored messages are never changed; unfolding gives the view there was, in another process too."""
    store = MemoryStore()
    session = opened(store, policy=COLLAPSES)
    talked(session)
    before, stored = session.prepare().data, list(session.messages)
    report = session.compact(to=0.9)
    assert report.passes[0].name == "collapse"
    assert len(session.prepare().messages) == len(stored) - (TALK - 1)
    assert list(session.messages) == stored
    with reopened(session, store, policy=COLLAPSES) as again:
        [address] = report.covers.addresses
        again.unfold(address)
        assert again.prepare().data == before


def test_of_each_span_stand_extent_summary_tokens_and_time_by_messages_that_no_removal_moves() -> None:
    """COL-5: keyed by ordinals and never by a place in the view, so that the first can be taken back beneath the second."""
    session = opened(MemoryStore(clock=lambda: 12_500), policy=COLLAPSES)
    talked(session)
    first = session.compact(to=0.9)
    start = len(session.messages)
    talked(session)
    second = session.compact(to=0.9)
    made = list(session.compactions)
    assert [spans_of(session, one) for one in made] == [[(0, TALK)], [(start, start + TALK)]]
    assert [len(one.summaries) for one in made] == [1, 1]
    assert all(one.report["tokens_before"] > one.report["tokens_after"] for one in made)
    assert [one.happened.time_ms for one in made] == [12_500, 12_500]
    session.unfold(first.covers.addresses[0])
    view = session._view().view
    assert [item.covers[0].start for item in view if item.covers] == [start]
    assert len(view) == len(session.messages) - (TALK - 1)
    assert session.show(second.covers.addresses[0]).text


def test_no_span_is_collapsed_twice_and_none_is_refused_wrongly() -> None:
    """COL-6: what is collapsed already is left alone, and all talk that is not is found, however much of it there is."""
    session = opened(policy=COLLAPSES)
    talked(session)
    session.compact(to=0.9)
    with pytest.raises(TargetUnreachable, match="the history stays at"):
        session.compact(to=0.99)
    start = len(session.messages)
    talked(session, count=400)
    session.compact(to=0.044)
    spans = [span for made in session.compactions for span in spans_of(session, made)]
    assert spans == [(0, TALK), (start, start + 400)]
