"""Others' JSON is read where it can be read, and never ends a reading."""

import pytest

from foldline.core.json_text import decoded, object_in, sorted_json

UNREADABLE = ("", "{", "no json", '{"a": NaN}', '"\ud800"', "[" * 100_000)


def test_what_is_json_is_read() -> None:
    """Objects and other values."""
    assert decoded('{"a": [1, "é"]}') == {"a": [1, "é"]}
    assert decoded("7") == 7


@pytest.mark.parametrize(
    "text", UNREADABLE, ids=["empty", "torn", "words", "no number", "half a pair", "deep"]
)
def test_what_is_none_says_nothing(text: str) -> None:
    """No error, whatever the reason: the text stands as it is."""
    assert decoded(text) is None
    assert object_in(text) == {}
    assert sorted_json(text) == text


def test_an_object_is_asked_for_an_object() -> None:
    """Arguments that are a list or a string name nothing."""
    assert object_in('{"path": "a.py"}') == {"path": "a.py"}
    assert object_in('["a.py"]') == {}


def test_two_spellings_of_one_thing_read_alike() -> None:
    """The order of keys, spaces and escapes are spelling."""
    assert sorted_json('{"b": 1,  "a": "\\u00e9"}') == sorted_json('{"a":"é","b":1}') == '{"a":"é","b":1}'
