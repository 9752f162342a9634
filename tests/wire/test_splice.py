"""Splicing: bytes change only where a value is new."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from foldline.core.message import NEW, Message, Text
from foldline.wire.splice import arguments_object, keyed, object_of, only_value, respell, splice, write
from foldline.wire.strict import parse

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def encode(message: Message) -> dict[str, Any]:
    """A codec of one text, for a wire `{"text": …}`."""
    assert isinstance(message.origin, dict)
    return {**message.origin, "text": message.text} if message.edited else message.origin


@given(value=values, indent=st.sampled_from([None, 2]))
def test_a_value_that_is_the_same_object_keeps_its_bytes(value: Any, indent: int | None) -> None:
    """Law LOSSLESS, at any depth."""
    raw = json.dumps(value, indent=indent).encode()
    old = parse(raw)

    assert respell(old, old, raw=raw) == raw


@given(value=st.dictionaries(st.text("abc", max_size=3), values, max_size=4), new=values)
def test_what_is_spelt_anew_reads_back_as_the_new_value(value: dict[str, Any], new: Any) -> None:
    """The bytes are right wherever the old ones were taken from."""
    raw = json.dumps(value, indent=1).encode()
    old = parse(raw)
    items = list(old.values())
    fresh = {**old, "items": [new, *reversed(items)], "new": new}

    assert json.loads(respell(fresh, old, raw=raw)) == fresh


@given(items=st.lists(values, min_size=1, max_size=5), data=st.data())
def test_items_may_go_come_and_change_places(items: list[Any], data: st.DataObject) -> None:
    """Repair moves results to the front, passes drop parts and put in others."""
    raw = json.dumps(items, separators=(" , ", " : ")).encode()
    old = parse(raw)
    kept = data.draw(st.permutations(old))[: data.draw(st.integers(0, len(old)))]
    fresh = [{"new": 1}, *kept]

    assert json.loads(respell(fresh, old, raw=raw)) == fresh


def test_unedited_bytes_come_back_as_they_are() -> None:
    """The same object even, so that nothing is copied."""
    message = Message(role="user", parts=(Text(text="a", slot=0),), origin=b'{ "text" : "a" }')

    assert write(message, encode) is message.origin


def test_an_edit_leaves_the_envelope_its_bytes() -> None:
    """Only the value that changed is written anew."""
    origin = b'{"text": "a", "n": 1.0, "big": 12345678901234567890123, "e": "\\u00e9"}'
    message = Message(role="user", parts=(Text(text="b"),), origin=origin, edited=True)

    assert write(message, encode) == b'{"text":"b","n":1.0,"big":12345678901234567890123,"e":"\\u00e9"}'


def test_text_cut_inside_an_emoji_does_not_stop_an_edit() -> None:
    """Real JavaScript logs hold lone surrogate escapes, of which no slices can be cut."""
    origin = b'{"text": "a", "torn": "\\ud83d"}'
    message = Message(role="user", parts=(Text(text="b"),), origin=origin, edited=True)

    assert json.loads(write(message, encode)) == {"text": "b", "torn": "\ud83d"}


def test_parts_are_kept_edited_made_and_dropped_by_slot() -> None:
    """The picture at the top of the module."""
    kept, old, gone = {"a": 0}, {"a": 1}, {"a": 2}
    parts = [Text(text="x", slot=0), Text(text="y", slot=1, edited=True), Text(text="z", slot=NEW)]
    out = splice(
        parts,
        [kept, old, gone],
        edit=lambda part, was: {**was, "t": part.text},
        make=lambda part: {"t": part.text},
    )

    assert out == [{"a": 0}, {"a": 1, "t": "y"}, {"t": "z"}]
    assert out[0] is kept


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ("*** Begin Patch", {"input": "*** Begin Patch"}),
        ('{"a":', {"input": '{"a":'}),
        ("[1]", {"input": "[1]"}),
        ("\ud83d", {"input": "\ud83d"}),
        ('{"a":1e999}', {"input": '{"a":1e999}'}),
        ('{"a":NaN}', {"input": '{"a":NaN}'}),
        ('{"a":1,"a":2}', {"input": '{"a":1,"a":2}'}),
        ('{"a":' * 3000 + "1" + "}" * 3000, {"input": '{"a":' * 3000 + "1" + "}" * 3000}),
    ],
)
def test_arguments_become_an_object_whatever_they_are(text: str, value: dict[str, Any]) -> None:
    """Anthropic's `input` and Gemini's `args` are objects; models and custom tools write other things."""
    assert arguments_object(text) == value


def test_a_value_under_a_key_goes_in_and_out_as_it_is() -> None:
    """A `Raw` slice of a body stays bytes, a caller's value the caller's."""
    value = ["x"]
    raw = only_value(keyed("system", Raw(b'[ "x" ]')))

    assert only_value(keyed("system", value)) is value
    assert bytes(raw) == b'[ "x" ]'


def test_a_message_that_is_no_object_is_refused() -> None:
    """`Codec.decode` raises `ValueError`."""
    with pytest.raises(ValueError, match="object"):
        object_of(b"[]")


def test_an_edited_message_without_bytes_is_written_compactly() -> None:
    """A caller's dict has no bytes to keep."""
    message = Message(role="user", parts=(Text(text="b"),), origin={"text": "a"})

    assert write(message, encode) == b'{"text":"a"}'
    assert write(replace(message, edited=True), encode) == b'{"text":"b"}'
