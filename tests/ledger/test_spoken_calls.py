"""Calls that a model without calls of its own makes in its text are told as calls."""

from __future__ import annotations

from pathlib import Path

from foldline.core.message import Message, Meta, Text
from foldline.core.view import item_of
from foldline.ledger.book import calls_in, entries_of
from foldline.ledger.spoken_calls import spoken_call, spoken_result
from foldline.reading import read
from foldline.testing.builders import assistant, user

OPENHANDS = Path(__file__).parents[1] / "data" / "openhands" / "deepseek-nonfncall-5076.json"
RUN = "I run it.\n<function=terminal>\n<parameter=command>make\n test</parameter>\n<parameter=security_risk>LOW</parameter>\n</function>"


def host(said: str) -> Message:
    """A text with role user that no user wrote."""
    return Message(role="user", parts=(Text(text=said),), meta=Meta(injected=True))


def test_a_recorded_session_of_such_a_model_says_what_it_ran_and_read() -> None:
    """CMP-8: of an OpenHands run (deepseek, no calls of its own) the ledger held a number out of a listing, and nothing that was done."""
    [transcript] = read(str(OPENHANDS))
    items = [
        item_of(n, m, weights=(1,) * len(m.parts), overhead=1) for n, m in enumerate(transcript.messages)
    ]
    told = {(entry.section, entry.text.rpartition("/")[2]) for entry in entries_of(items)}
    assert {("read", "hello.py"), ("evidence", "`python hello.py` → ok")} <= told


def test_the_call_is_the_last_of_a_text_with_its_parameters_as_they_stand() -> None:
    """CMP-8: a model may tell of another call before it makes one."""
    found = spoken_call(assistant(f"Not <function=finish> yet. {RUN}"))
    assert found is not None
    assert (found.name, found.arguments) == ("terminal", '{"command":"make\\n test","security_risk":"LOW"}')
    assert spoken_call(assistant("make test")) is None
    assert spoken_call(assistant("the tag <function= opens one")) is None


def test_only_a_host_answers_and_what_it_does_not_answer_is_no_call() -> None:
    """CMP-8: what a user pastes is no result, and a call that is only spoken of is none."""
    answer = "EXECUTION RESULT of [terminal]:\n2 failed\n[Command finished with exit code 1]"
    heard = spoken_result(host(answer))
    assert heard is not None
    assert spoken_result(user(answer)) is None
    assert spoken_result(host("EXECUTION RESULT of [terminal")) is None

    def told(*messages: Message) -> list[str]:
        items = [item_of(n, m, weights=(1,), overhead=1) for n, m in enumerate(messages)]
        assert len(list(calls_in(items))) == len(
            [entry for entry in entries_of(items) if entry.section == "evidence"]
        )
        return [entry.text for entry in entries_of(items) if entry.section == "evidence"]

    assert told(assistant(RUN), host(answer)) == ["`make test` → failed (exit 1): 2 failed"]
    assert told(assistant(RUN), user(answer)) == []
    assert told(assistant(RUN), assistant("Never mind."), host(answer)) == []
    assert told(assistant(RUN)) == []
