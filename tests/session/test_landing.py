"""The end of a compaction: taken in where it still holds, given up where it does not."""

from __future__ import annotations

import hashlib

import pytest
from msgspec.structs import replace

from foldline.session.session import Session
from foldline.session.working import NO_GAIN
from foldline.testing.completers import ScriptedCompleter
from foldline.wire.completion import CompletionRequest
from tests.session.making import answer, opened
from tests.session.modelling import Heard, asks, body_of, due, filled
from tests.session.test_conversation import narrow


def test_a_compaction_by_hand_that_names_no_size_keeps_what_it_freed() -> None:
    """CMP-15: at any usage, at once; the policy's own target is a note."""
    session = due(completer=ScriptedCompleter("s"), policy=asks(end=7))
    report = session.compact()
    assert report.outcome == "compacted"
    assert any("own target" in note for note in report.notes)


def test_a_summary_that_makes_the_view_no_smaller_is_not_taken_in() -> None:
    """Law GAIN, where nothing arrived meanwhile."""
    session = due(completer=ScriptedCompleter("x" * 40_000))
    before = [item.message for item in session._view().view]
    report = session.prepare().report
    assert (report.outcome, report.summary.failures[0].name) == ("failed", "small_gain")
    assert [item.message for item in session._view().view] == before


# Indented lines are cheap by o200k_base and dear by the estimate for Claude; digests are dear by both.
INDENTED = (" " * 70 + "x\n") * 20
DIGESTS = " ".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(23))


@pytest.mark.parametrize("arrived", [0, 1])
def test_what_no_longer_makes_the_view_smaller_is_given_up(arrived: int) -> None:
    """Law GAIN, on the view as it is when it lands, by the counter of the model that is used then, whether or not anything was
    said meanwhile."""
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        held[0].use("gpt-5")
        for _ in range(arrived):
            held[0].user("and this")
        return DIGESTS

    session = narrow(opened(policy=asks(end=15), counter=None, model="claude-opus-4-6"), 3_000)
    held.append(session)
    session.user("read it all")
    for number in range(8):
        session.prepare()
        session.record(answer("look", (f"t{number}", "read"), tokens=2_500 if number == 7 else 100))
        session.tool_result(f"t{number}", INDENTED)
    session._known.host = replace(session._known.host, completer=ScriptedCompleter(meanwhile))
    before = [item.message for item in session._view().view]
    report = session.prepare().report
    assert (report.outcome, report.reason) == ("failed", NO_GAIN)
    assert [item.message for item in session._view().view][: len(before)] == before
    assert len(session._view().view) == len(before) + arrived
    assert body_of(session, "settle")["why"] == NO_GAIN


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
