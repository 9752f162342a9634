"""What the parts of messages say, read once."""

from __future__ import annotations

from foldline.core.address import block, notice
from foldline.core.message import Text
from foldline.ledger.readings import Readings, read, text_of, whole_text_of
from foldline.testing.builders import assistant, call, image, result, user


def test_media_have_no_text_to_look_for_facts_in() -> None:
    """An image's bytes are no words."""
    assert text_of(image()) == ""


def test_what_foldline_wrote_of_itself_is_left_out() -> None:
    """OBS-3: an address is no fact of the history."""
    shortened = Text(text=f"head\n{notice('9 tokens omitted', 'm3.0@5f0c9a1e')}\ntail")
    fold = Text(text=block("fold", "m1-4@c41d88b0", body="4 messages, folded.\n## Facts\npaths: src/a.py"))
    assert text_of(shortened) == "head\n\ntail"
    assert "m3.0@5f0c9a1e" in whole_text_of(shortened)
    assert text_of(fold) == "## Facts\npaths: src/a.py"


def test_of_a_message_each_part_is_told_and_which_are_folds() -> None:
    """CMP-16: what an earlier ledger lists is carried on as what it is."""
    folded = user(block("fold", "m1-4@c41d88b0", body="4 messages, folded."))
    assert read(folded).folds == (0,)
    asked = assistant("Look.", call("bash", command='echo "hi"'))
    assert read(asked).folds == ()
    assert read(asked).texts == ("Look.", text_of(asked.parts[1]))


def test_a_message_is_read_once_and_those_asked_for_longest_ago_are_forgotten() -> None:
    """Style rule 11: what is remembered is bounded, and says the same."""
    readings = Readings(messages_max=10)
    messages = [result("c", f"line {n}") for n in range(20)]
    first = readings.of(messages[0])
    assert readings.of(messages[0]) is first
    for message in messages:
        assert readings.of(message).texts == read(message).texts
        assert len(readings) <= 10
    assert readings.of(messages[0]).texts == first.texts
