"""Half surrogate pairs are mended, and nothing else is touched by it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.address import part_address
from foldline.core.message import Text, ToolCall
from foldline.core.surrogates import is_torn, whole, whole_json

ANY = st.text(st.characters(categories=None))


@given(ANY)
def test_a_mended_text_can_be_encoded_and_stays_mended(text: str) -> None:
    """anthropics/claude-code#69927: a stored half makes every later request body invalid."""
    mended = whole(text)
    assert not is_torn(mended)
    assert whole(mended) == mended
    assert is_torn(text) or mended == text


def test_two_halves_in_a_row_are_the_character_they_are() -> None:
    """A writer that escapes by UTF-16 units gives pairs; they are no damage."""
    assert whole("\ud83d\ude00 \ud83d") == "😀 \ufffd"


@pytest.mark.parametrize(
    ("torn", "mended"),
    [
        (r'{"a": "\ud83d"}', r'{"a": "\ufffd"}'),
        (r'{"a": "\uDE00"}', r'{"a": "\ufffd"}'),
        (r'{"a": "\ud83d\ude00"}', r'{"a": "\ud83d\ude00"}'),
        (r'{"a": "\\ud83d"}', r'{"a": "\\ud83d"}'),
        ('{"a": "\ud83d"}', '{"a": "\ufffd"}'),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_halves_written_as_escapes_are_mended_too(torn: str, mended: str) -> None:
    """Tool arguments are JSON inside JSON; a backslash before a backslash is no escape."""
    assert whole_json(torn) == mended


@given(ANY)
def test_an_address_does_not_change_when_halves_are_mended(text: str) -> None:
    """The engine addresses mended messages, `foldline show` opens the file as it came."""
    assert part_address(0, Text(text=text, slot=0)) == part_address(0, Text(text=whole(text), slot=0))
    arguments = json.dumps({"x": text})
    torn, mended = (ToolCall(id="c", name=n, arguments=a, slot=0) for n, a in
                    ((text, arguments), (whole(text), whole_json(arguments))))  # fmt: skip
    assert part_address(0, torn) == part_address(0, mended)
