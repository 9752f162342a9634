"""The writer of conversations itself: a sound one pleases every judge, a broken one none."""

from __future__ import annotations

import pytest

from tests.bugs.case import FORMATS, grown, judged, load, squeezed
from tests.bugs.neutral import Answer, Ask, Message, Say, Step, written

SOUND: list[Step] = [
    Say("user", "Read both."),
    Ask((("c1", "read"), ("c2", "grep")), text="Reading."),
    Answer((("c1", "A"), ("c2", "B"))),
    Say("assistant", "Done."),
    Say("user", "Thanks."),
]


@pytest.mark.parametrize("format", FORMATS)
def test_a_sound_conversation_is_valid_in_every_format(format: str) -> None:
    """Else a sibling test would start from a fault of its own."""
    assert judged(written(SOUND, format=format), format=format) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_conversation_without_its_answers_is_not(format: str) -> None:
    """The fault must arrive on the wire."""
    assert judged(written([*SOUND[:2], *SOUND[3:]], format=format), format=format)


def test_growing_leaves_calls_blank_texts_and_the_last_message_alone() -> None:
    """Filler must not mend what a report broke."""
    messages: list[Message] = [
        {"role": "user", "content": [{"type": "text", "text": " "}]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"arguments": '{"text": 1}'}}]},
        {"role": "user", "content": "last"},
    ]
    assert grown(messages) == messages
    assert len(grown(load("A01").messages)[0]["content"]) > 800


@pytest.mark.parametrize("id", ["A01", "A11", "A13", "C01"])
def test_an_input_of_a_report_is_read_as_the_format_it_says(id: str) -> None:
    """The fixtures and the door fit together; a large target folds nothing."""
    case = load(id)
    assert squeezed(case.messages, format=case.format, to=100_000).report["format"] == case.format
