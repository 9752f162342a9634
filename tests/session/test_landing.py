"""The end of a compaction: taken in where it still holds, given up where it does not."""

from __future__ import annotations

from foldline.session.session import Session
from foldline.testing.completers import ScriptedCompleter
from foldline.wire.completion import CompletionRequest
from tests.session.making import opened
from tests.session.modelling import Heard, asks, body_of, due, filled
from tests.session.test_conversation import narrow


def test_a_compaction_by_hand_that_names_no_size_keeps_what_it_freed() -> None:
    """CMP-15: at any usage, at once; the policy's own target is a note."""
    session = due(completer=ScriptedCompleter("s"), policy=asks(end=7))
    report = session.compact()
    assert report.outcome == "compacted"
    assert any("own target" in note for note in report.notes)


def test_what_no_longer_makes_the_view_smaller_is_given_up() -> None:
    """Law GAIN, on the view as it is when it lands."""
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        return "x" * 40_000

    session = due(completer=ScriptedCompleter(meanwhile))
    held.append(session)
    before = [item.message for item in session._view().view]
    assert session.prepare().report.outcome in ("failed", "unchanged", "unreachable")
    assert [item.message for item in session._view().view] == before


def test_a_reasonless_end_says_why_in_the_log_and_to_the_session_that_began() -> None:
    """JRN-18: on failure the error block goes to the session that started it."""
    heard, other = Heard(), Heard()
    session = due(completer=ScriptedCompleter(""), listener=heard.listener())
    bystander = filled(narrow(opened(name="b", policy=asks(), host=session._known.host), 100_000))
    bystander._known.host = due(completer=None, listener=other.listener())._known.host
    session.prepare()
    assert body_of(session, "settle")["why"] == heard.blocks[0].text
    assert heard.blocks[0].is_error
    assert other == []
