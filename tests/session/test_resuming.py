"""Going on at the last summary: what a compaction had kept whole is ended at resume, by an edit of its own."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from foldline.engine.policy import Policy
from foldline.log.lineage import read_lineage
from foldline.log.replay import resume
from foldline.presets import policy_of
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from tests.session.making import answer, opened, worked
from tests.session.test_session_machine import small


def at_summary() -> Policy:
    """A policy with passes of its own that resumes as `reserve` does."""
    return replace(small("balanced"), resumes_at_summary=True)


def compacted(store: MemoryStore, **asked: Any) -> Session:
    """A session with a fold, a tail that it kept, and a turn behind it."""
    session = opened(store, **{"policy": at_summary(), **asked})
    session.user("Never push to main. Look at everything.")
    worked(session, 12)
    session.record(answer("that was it"))
    session.user("and now the rest")
    session.record(answer("the rest is fine"))
    session.compact(to=0.4)
    session.user("go on")
    session.record(answer("I go on"))
    return session


def said(session: Session) -> list[str]:
    """The texts of the view."""
    return [item.message.text for item in session._view().view]


def test_resume_keeps_the_summary_what_followed_it_and_what_the_last_user_message_protects() -> None:
    """JRN-8: `reserve` ends the tail at resume; the log says so once and the view stays the log's (law REPLAY)."""
    assert policy_of("reserve").resumes_at_summary
    store = MemoryStore()
    session = compacted(store)
    before = said(session)
    tail = [text for text in before if text.startswith("look") or text == "the rest is fine"]
    assert tail, "the compaction kept rounds whole"
    seq = session.seq
    session.close()
    again = opened(store, policy=at_summary())
    assert again.seq == seq + 1
    assert said(again)[-2:] == ["go on", "I go on"]
    assert not [text for text in said(again) if text in tail]
    assert sum("foldline-fold" in text for text in said(again)) == 1
    pages = read_lineage(store, "s")
    assert [item.message.text for item in resume(pages).state.root.view] == said(again)
    request = again.prepare()
    assert request.report.valid
    address = next(text for text in said(again) if "foldline-fold" in text).split('"')[1]
    assert "the rest is fine" in (again.show(address).text or "")
    again.close()
    third = opened(store, policy=at_summary())
    assert third.seq == seq + 1, "a tail that is ended is not ended again"


def test_the_last_user_message_stays_where_it_is_older_than_the_boundary() -> None:
    """JRN-8 and law TAIL: verbatim, in its place, with an open round whole."""
    store = MemoryStore()
    session = opened(store, policy=at_summary())
    session.user("look at everything")
    worked(session, 12)
    session.prepare()
    session.record(answer("one more", ("c1", "read")))
    session.compact(to=0.4)
    session.close()
    again = opened(store, policy=at_summary())
    assert said(again)[0] == "look at everything"
    assert [call.id for call in again.waiting] == ["c1"]
    again.tool_result("c1", "x")
    assert again.prepare().report.valid


def test_any_other_policy_resumes_with_the_same_view() -> None:
    """JRN-8: the default; nothing is written by resuming (JRN-19)."""
    store = MemoryStore()
    session = compacted(store, policy=small("balanced"))
    before, seq = said(session), session.seq
    session.close()
    again = opened(store, policy=small("balanced"))
    assert (said(again), again.seq) == (before, seq)


def test_the_end_of_a_tail_can_be_taken_back() -> None:
    """JRN-16: it is an entry like any other."""
    store = MemoryStore()
    session = compacted(store)
    before = said(session)
    session.close()
    again = opened(store, policy=at_summary())
    again.undo(again.seq)
    assert said(again) == before
