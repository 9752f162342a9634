"""Shortening JSON: the result is JSON, says where something went, and changes nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.clamp_json import DEPTH_MAX, PARSE_MAX_CHARS, clamp_json

MARK = "[mark]"


def clamped(value: Any, chars: int, *, indent: int | None = None) -> Any:
    """The shortened value, read again."""
    out = clamp_json(json.dumps(value, indent=indent), chars, mark=MARK)
    assert out is not None
    assert len(out) <= chars
    assert MARK in out
    return json.loads(out)


def test_long_strings_are_cut_inside_and_short_ones_stay() -> None:
    """Structure is worth more than one field's middle."""
    out = clamped({"path": "a.py", "content": "x" * 5000, "ok": True, "none": None}, 400)
    assert list(out) == ["path", "content", "ok", "none"]
    assert out["content"].startswith("xx")
    assert out["content"].endswith("xx")
    assert MARK in out["content"]
    assert (out["path"], out["ok"], out["none"]) == ("a.py", True, None)


def test_long_lists_lose_their_middle_and_say_how_many() -> None:
    """The first and the last items stay."""
    out = clamped(list(range(10_000)), 400)
    assert out[:2] == [0, 1]
    assert out[-1] == 9999
    [said] = [item for item in out if isinstance(item, str)]
    assert said == f"{10_000 - (len(out) - 1)} items {MARK}"


def test_objects_with_many_keys_lose_the_last_and_say_how_many() -> None:
    """Under a key that the object does not have."""
    out = clamped({f"k{n}": n for n in range(5_000)}, 400)
    assert out["k0"] == 0
    assert out["…"] == f"{5_000 - (len(out) - 1)} keys {MARK}"
    taken = clamped({"…": 0, "……": 1} | {f"k{n}": n for n in range(5_000)}, 400)
    assert (taken["…"], taken["……"]) == (0, 1)


def test_nested_values_are_thinned_at_every_level() -> None:
    """Lists of objects of lists, as search results are."""
    out = clamped({"hits": [{"lines": ["text " * 30] * 50} for _ in range(50)]}, 2000)
    assert out["hits"][0]["lines"][0].startswith("text")


def test_what_lies_too_deep_gives_way_to_the_mark() -> None:
    """Depth is bounded."""
    value: Any = "deep"
    for _ in range(DEPTH_MAX + 20):
        value = [value]
    out = clamp_json(json.dumps({"v": value, "text": "x" * 900}), 500, mark=MARK)
    assert out is not None
    assert json.loads(out)


@pytest.mark.parametrize(
    "number", ["1e400", "-0", "1.10", "0.1e-7", "12345678901234567890123", "1E5", "9" * 5000]
)
def test_numbers_keep_their_spelling(number: str) -> None:
    """A number read as a float and written again is another number, or none (1e400)."""
    text = f'{{"n":{number},"text":"{"x" * 9000}"}}'
    out = clamp_json(text, 500 + len(number), mark=MARK)
    assert out is not None
    assert f'"n":{number},' in out
    json.loads(out, parse_int=str, parse_float=str)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "plain text " * 90,
        '"' + "x" * 900 + '"',
        "12345",
        "[1, 2" + "x" * 900,
        '{"a": 1, "a": "' + "x" * 900 + '"}',
        '{"a": NaN, "b": "' + "x" * 900 + '"}',
        '{"a": -Infinity, "b": "' + "x" * 900 + '"}',
        '{"a": "\\ud83d", "b": "' + "x" * 900 + '"}',
        "[" * 100_000,
        "[" + " " * PARSE_MAX_CHARS + "]",
    ],
    ids=lambda text: text[:12] or "empty",
)
def test_what_is_no_plain_json_document_is_not_thinned(text: str) -> None:
    """Duplicate keys, NaN and half pairs would be smoothed over without a word; depth and size are bounded."""
    assert clamp_json(text, 300, mark=MARK) is None


def test_what_cannot_be_made_short_enough_is_not_thinned() -> None:
    """Keys are never cut, so this object has no shorter form."""
    assert clamp_json(json.dumps({"k" * 500: 1, "l" * 500: 2}), 300, mark=MARK) is None
    assert clamp_json(json.dumps(["x" * 70, "y" * 70]), 100, mark=MARK) is None


def test_what_is_short_once_its_spaces_are_gone_is_not_thinned() -> None:
    """Nothing would say that it was changed."""
    assert clamp_json(json.dumps(list(range(50)), indent=40), 300, mark=MARK) is None


def test_indented_json_stays_indented() -> None:
    """It was meant to be read."""
    out = clamp_json(json.dumps({"rows": list(range(500))}, indent=2), 300, mark=MARK)
    assert out is not None
    assert out.startswith('{\n  "rows": [\n    0,')


def test_text_beyond_ascii_is_not_spelt_in_escapes() -> None:
    """Escapes cost three times the tokens."""
    out = clamp_json(json.dumps({"note": "漢字" * 400, "other": "é"}), 300, mark=MARK)
    assert out is not None
    assert "漢字" in out
    assert '"é"' in out


@pytest.mark.parametrize(("chars", "fits"), [(60, False), (300, False), (600, True), (800, True)])
def test_strings_only_never_loses_a_key_or_an_item(chars: int, fits: bool) -> None:
    """Fault report L04: a call's arguments keep their keys, or stay as they are (NousResearch/hermes-agent#13574)."""
    value = {f"key{n}": ["x" * 200, n] for n in range(4)}
    out = clamp_json(json.dumps(value), chars, mark=MARK, strings_only=True)
    assert (out is not None) is fits
    if out is not None:
        kept = json.loads(out)
        assert list(kept) == list(value)
        assert [row[1] for row in kept.values()] == [0, 1, 2, 3]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=5), inner, max_size=8),
    max_leaves=10,
)


@given(
    st.lists(JSON, min_size=1) | st.dictionaries(st.text(max_size=10), JSON, min_size=1),
    st.integers(20, 2000),
)
def test_whatever_comes_out_is_json_within_the_limit(value: Any, chars: int) -> None:
    """And carries the mark."""
    out = clamp_json(json.dumps(value), chars, mark=MARK)
    if out is not None:
        assert len(out) <= chars
        assert MARK in out
        assert type(json.loads(out)) is type(value)
