"""What is weighed once."""

from __future__ import annotations

import pytest

from foldline.core import weighed
from foldline.core.message import Message, Text
from foldline.core.weighed import Weighed
from foldline.testing.builders import user
from foldline.testing.counting import CharacterCounter


class Counting(CharacterCounter):
    """Says what it counted."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def weights(self, message: Message) -> tuple[tuple[int, ...], int]:
        self.counted += [part.text for part in message.parts if isinstance(part, Text)]
        return super().weights(message)


def test_a_part_and_a_message_are_weighed_once_and_what_is_remembered_is_bounded() -> None:
    """TOK-1: by identity, so that a part that only reads alike is weighed for itself."""
    counter, known = Counting(), Weighed()
    parts = [Text(text=f"part {number}") for number in range(weighed.WEIGHED_MAX)]
    message = user("a message")
    first = known.parts(parts, counter)
    assert known.message(message, counter) == known.message(message, counter) == counter.weights(message)
    assert known.parts(parts[::-1], counter) == first[::-1]
    assert counter.counted == [*[part.text for part in parts], "a message", "a message"]
    counter.counted.clear()
    assert known.parts([Text(text="one more"), parts[0]], counter) == [2, first[0]]
    assert counter.counted == ["one more", "part 0"]


def test_messages_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that works for days."""
    monkeypatch.setattr(weighed, "WEIGHED_MAX", 2)
    counter, known = Counting(), Weighed()
    messages = [user("one"), user("two"), user("three")]
    for message in (*messages, messages[0]):
        known.message(message, counter)
    assert counter.counted == ["one", "two", "three", "one"]
