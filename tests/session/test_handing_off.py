"""The hand-off: one hidden reminder an epoch, in every request, shown to nobody."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.budget import Room
from foldline.core.entry import Draft
from foldline.core.errors import SessionBusy
from foldline.engine.policy import Line
from foldline.log.state import SUPPRESSED
from foldline.presets import policy_of
from foldline.session.handing_off import band_of, reminder
from foldline.session.library import transcript_of
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from tests.judges.panel import violations
from tests.session.making import FORMATS, answer, opened, reopened, worked
from tests.session.test_conversation import narrow
from tests.session.test_session_machine import small

WINDOW = 20_000
BAND, DUE = 14_600, 17_000
"""Tokens between the lines that `small("handoff")` has in that window, and over them."""


def banded(store: MemoryStore | None = None, *, format: str = "anthropic", tokens: int = BAND) -> Session:
    """A session whose next request has about so many tokens by the provider's count."""
    session = narrow(opened(store, policy=handed(), format=format), WINDOW)
    session.user("read it all")
    session.prepare()
    session.record(answer("I read", ("c1", "read"), format=format, tokens=tokens))
    session.tool_result("c1", "what it says")
    return session


def handed() -> Any:
    """`handoff` with lines at 70 and 80 % of a small window."""
    lines = {"handoff": Line(percent=70, of="window"), "threshold": Line(percent=80, of="window")}
    return replace(small("handoff"), **lines)


def kinds(session: Session) -> list[str]:
    """Of the log's entries."""
    return [entry.kind for entry in session._keeper.log.entries()]


@pytest.mark.parametrize(
    ("tokens", "band"),
    [
        (125_999, "below_handoff"),
        (126_000, "handoff_band"),
        (143_999, "handoff_band"),
        (144_000, "compaction_due"),
    ],
)
def test_the_band_begins_at_its_line_and_ends_where_a_compaction_is_due(tokens: int, band: str) -> None:
    """HND-1: from 70 % and below 80 % of a window of 200,000 less its reserve."""
    assert band_of(tokens, policy_of("handoff", 200_000), room=Room(200_000)) == band
    assert band_of(tokens, policy_of("balanced", 200_000), room=Room(200_000)) != "handoff_band"


@pytest.mark.parametrize("format", FORMATS)
def test_in_the_band_one_reminder_goes_out_with_every_request_and_survives_a_restart(format: str) -> None:
    """HND-1 and HND-3: durable, one an epoch, at the same place; each later request extends the one before."""
    store = MemoryStore()
    session = banded(store, format=format)
    first = session.prepare()
    assert kinds(session).count("handoff") == 1
    assert first.data.decode().count("foldline-reminder id=") == 1
    assert violations(first.body, format=format) == []
    assert "foldline-reminder" in str(first.messages[-1])
    session.record(answer("so far: I read it", format=format, tokens=BAND + 50))
    session.user("go on")
    second = session.prepare()
    assert second.messages[: len(first.messages)] == first.messages
    assert kinds(session).count("handoff") == 1
    with reopened(session, store, policy=handed()) as again:
        narrow(again, WINDOW)
        assert again.prepare().data == second.data


@pytest.mark.parametrize("tokens", [900, DUE])
def test_outside_the_band_there_is_no_reminder(tokens: int) -> None:
    """HND-1: none in any other state."""
    session = banded(tokens=tokens)
    session.prepare()
    assert "handoff" not in kinds(session)


def test_while_a_call_waits_or_the_model_speaks_last_no_reminder_is_written() -> None:
    """HND-1, law PAIR: it never stands between a call and its result."""
    session = banded()
    session.record(answer("more", ("c2", "read"), tokens=BAND))
    session.prepare()
    assert "handoff" not in kinds(session)
    session.tool_result("c2", "x")
    session.record(answer("done", tokens=BAND))
    session.prepare()
    assert "handoff" not in kinds(session)


def test_without_a_known_window_no_reminder_is_written() -> None:
    """TOK-10: in the state `unknown` a hand-off must not be."""
    session = narrow(opened(policy=handed()), WINDOW)
    setup = session._known.setup
    session._known.setup = replace(setup, planned=replace(setup.planned, is_window_known=False))
    session.user("read")
    session.prepare()
    session.record(answer("I read", ("c1", "read"), tokens=BAND))
    session.tool_result("c1", "x")
    session.prepare()
    assert "handoff" not in kinds(session)


def test_the_reminder_is_shown_nowhere_and_is_in_no_fork() -> None:
    """HND-3 and JRN-9: not in the history, a page, an export or a transcript, not in a fork's requests."""
    store = MemoryStore()
    session = banded(store)
    assert "foldline-reminder" in session.prepare().data.decode()
    assert "foldline-reminder" not in str(list(session.messages))
    assert "foldline-reminder" not in str(session.page())
    with session.fork("f") as fork:
        assert fork._keeper.state.handoff is None
        narrow(fork)
        fork._known.setup = session._known.setup
        fork.rollback(to=fork.seq)
        assert fork._keeper.state.handoff is None
    with reopened(session, store, policy="balanced"):
        pass
    transcript = transcript_of(store, "s")
    assert "foldline-reminder" not in str(transcript.messages)


def test_a_fork_gets_a_reminder_of_its_own() -> None:
    """JRN-9: what is stripped from a fork does not keep it from its own."""
    store = MemoryStore()
    session = banded(store)
    session.prepare()
    with session.fork("f") as fork:
        fork._known.setup = session._known.setup
        assert fork.prepare().data.decode().count("foldline-reminder id=") == 1
        assert kinds(fork).count("handoff") == 1, "the parent's is hidden"


def test_a_compaction_ends_the_epoch_and_neither_sees_nor_keeps_the_reminder() -> None:
    """HND-3 and HND-4: stripped from what is compacted; a new epoch may have its own; undone, the old one is back."""
    session = banded()
    session.rollback(to=session.seq)  # drops the anchor: what follows is counted
    worked(session, 4, start=10)
    session.prepare()
    session.record(answer("so", ("c9", "read"), tokens=BAND))
    session.tool_result("c9", "x")
    before = session.prepare()
    assert "foldline-reminder" in before.data.decode()
    report = session.compact(to=0.5)
    assert report.outcome == "compacted"
    assert "foldline-reminder" not in session.prepare().data.decode()
    [made] = session.compactions
    assert "reminder" not in str(made.summaries)
    session.undo()
    assert session.prepare().data == before.data


def test_a_second_epoch_has_a_reminder_of_its_own() -> None:
    """HND-4: it begins with the committed checkpoint, and names it."""
    session = banded()
    worked(session, 4, start=10)
    session.user("and so on")
    session.prepare()
    session.compact(to=0.5)
    session.prepare()
    session.record(answer("on", ("c9", "read"), tokens=BAND))
    session.tool_result("c9", "x")
    session.prepare()
    [made] = session.compactions
    assert reminder(made.seq).split("\n")[0] in str(session.prepare().messages)
    assert kinds(session).count("handoff") == 2


def test_racing_writers_leave_one_reminder() -> None:
    """HND-2: two threads that prepare at once, and a second process, which is refused."""
    store = MemoryStore()
    session = banded(store)
    made: list[bytes] = []
    threads = [threading.Thread(target=lambda: made.append(session.prepare().data)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert kinds(session).count("handoff") == 1
    with pytest.raises(SessionBusy):
        opened(store)


def test_an_epoch_that_was_given_two_records_sends_none_until_the_next() -> None:
    """HND-2: as a foreign writer might leave it; suppressed across a restart too."""
    store = MemoryStore()
    session = banded(store)
    session.prepare()
    entry = next(e for e in session._keeper.log.entries() if e.kind == "handoff")
    session.close()
    log = store.write("s")
    log.append([type_of(entry)])
    log.close()
    again = narrow(opened(store, policy=handed()), WINDOW)
    assert again._keeper.state.handoff == SUPPRESSED
    assert "foldline-reminder" not in again.prepare().data.decode()
    again._keeper.checkpoint()
    again.close()
    third = narrow(opened(store, policy=handed()), WINDOW)
    assert third._keeper.state.handoff == SUPPRESSED


def type_of(entry: Any) -> Any:
    """The entry once more."""
    return Draft(kind=entry.kind, body=entry.body)


def test_a_reminder_counts_until_a_usage_has_counted_it() -> None:
    """TOK-5 and TOK-7: the pending control message is part of the projection and of the fingerprint."""
    session = banded(tokens=14_050)
    before = session._fit(session._fix(None, None))[1]
    first = session.prepare()
    assert "handoff" in kinds(session)
    assert first.tokens.tokens > before.tokens + 100
    session.record(answer("it stands so", tokens=14_500))
    assert session.prepare().tokens.tokens == 14_510
    without = banded(tokens=14_050)
    without._known.setup = replace(without._known.setup, policy=replace(handed(), handoff=None))
    other = without.prepare()
    assert other.messages == first.messages[:-1]
    assert other.fingerprint != first.fingerprint
