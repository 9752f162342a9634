"""Strict JSON: what is refused, what is accepted, and that whatever is accepted has every key once."""

from __future__ import annotations

import inspect
import json
import sys
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.wire import strict
from tests.linear import SCANNED, beside, scan
from tests.wire.values import JSON, spell

HOSTILE = {
    "a list 100,000 deep": (b"[" * 100_000 + b"]" * 100_000, "deeper than 128"),
    "an object 50,000 deep": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "deeper than 128"),
    "a list 900 deep": (b"[" * 900 + b"]" * 900, "deeper than 128"),
    "depth behind a lone surrogate": (b'["\\ud800",' + b"[" * 900 + b"]" * 900 + b"]", "deeper than 128"),
    "five million empty lists": (b"[" + b"[]," * 5_000_000 + b"0]", "more than 1,000,000 arrays and objects"),
    "an integer of a million digits": (b"9" * 1_000_000, "out of range"),
    "one digit too many": (b"9" * (strict.DIGITS_MAX + 1), "out of range"),
    "the same behind a lone surrogate": (b'["\\ud800",' + b"9" * 5_000 + b"]", "out of range"),
    "a float beyond all": (b"1e999", "out of range"),
    "the same float behind a lone surrogate": (b'["\\ud800",1e999]', "out of range"),
    "NaN": (b"NaN", "not valid JSON"),
    "NaN behind a lone surrogate": (b'["\\ud800",NaN]', "NaN is no JSON number"),
    "minus infinity": (b'{"a":-Infinity}', "not valid JSON"),
    "a role given twice": (b'{"role":"user","role":"system"}', "key 'role' is given twice"),
    "a role given twice, once escaped": (b'{"role" : "user", "ro\\u006ce":"system"}', "key 'role'"),
    "one level too many": (b"[" * 129 + b"]" * 129, "deeper than 128"),
    "one level too many behind a text": (
        b'["' + b"x" * 5_000 + b'",' + b"[" * 128 + b"]" * 129,
        "deeper than 128",
    ),
    "a million lists in a few bytes each": (b"[" + b"[]," * 1_000_000 + b"0]", "more than 1,000,000 arrays"),
    "a key twice in a document of the right length": (b'{"a":1,"a":1e6}', "key 'a' is given twice"),
    "the same with white space": (b'{"a":1, "a":1e6}', "key 'a' is given twice"),
    "a key twice behind a megabyte": (
        b'{"x":"' + b"x" * 2**20 + b'", "a":1, "a":2}',
        "key 'a' is given twice",
    ),
    "a key twice behind 20 MB": (
        b'{"x":"' + b"x" * 20_000_000 + b'", "a":1, "a":2}',
        "key 'a' is given twice",
    ),
    "a deep key given twice": (b'[{"a":[{"b":1, "b":1}]}]', "key 'b' is given twice"),
    "a key twice behind a lone surrogate": (b'{"a":"\\ud800","a":1}', "key 'a' is given twice"),
    "a lone surrogate as a key, twice": (b'{"\\ud800":1,"\\uD800":2}', "is given twice"),
    "a raw control character": (b'"a\x1b]0;x\x07"', "not valid JSON"),
    "UTF-16 with a mark": ('{"a":1}'.encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": ('{"a":1}'.encode("utf-16-le"), "UTF-16"),
    "UTF-16, big end first": ('{"a":1}'.encode("utf-16-be"), "UTF-16"),
    "no UTF-8": (b'{"a":"\xff"}', "not valid UTF-8"),
    "no UTF-8 beside a lone surrogate": (b'["\\ud800","\xff"]', "not valid UTF-8"),
    "a surrogate in UTF-8": (b'"\xed\xa0\x80"', "not valid UTF-8"),
    "nothing": (b"", "empty"),
    "white space": (b" \n", "empty"),
    "half a document": (b'{"a":[1,', "cut off"),
    "two documents": (b"{} {}", "trailing characters"),
    "text": (b"hello", "not valid JSON"),
    "a NUL": (b"\0", "UTF-16"),
}


@pytest.mark.parametrize(("data", "why"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bytes_are_refused_in_words_and_quickly(data: bytes, why: str) -> None:
    """The threat model's row "hostile input": no traceback, no recursion, and no more time than a plain look at each
    byte, and ten at each of 300,000, would take."""

    def refused() -> None:
        with pytest.raises(strict.BadJson, match=why):
            strict.loads(data)

    assert beside(lambda _: refused, lambda _: scan, most=10 + len(data) / len(SCANNED)).wrong == ""


def test_a_line_over_its_bound_is_refused_before_it_is_read() -> None:
    """Every buffer has a named bound (`style.md`, 11)."""
    with pytest.raises(strict.BadJson, match="more than the 10 accepted"):
        strict.loads(b'"0123456789"', bytes_max=10)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'"\\ud83d cut"', "\ud83d cut"),
        (b'"\\udc00 cut"', "\udc00 cut"),
        (b'{"a":"\\ud800","b":{"a":1}}', {"a": "\ud800", "b": {"a": 1}}),
        (b'"\\ude00 low"', "\ude00 low"),
        (b'"\\uDE00\\uD83D"', "\ude00\ud83d"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"a\\u0000b"', "a\0b"),
        ('"a\u2028b\x85c"'.encode(), "a\u2028b\x85c"),
        (b"9" * 4_300, 10**4_300 - 1),
        (b"[" * 128 + b"]" * 128, None),
        (b'{"a":{"a":1},"b":[{"a":1},{"a":2}]}', {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}),
        (b'{"a":"{\\"a\\":1,\\"a\\":2}"}', {"a": '{"a":1,"a":2}'}),
    ],
)
def test_what_real_logs_hold_is_read(data: bytes, value: Any) -> None:
    """Issues of other projects: claude-code#69927 (lone surrogates), byte order marks of editors on Windows."""
    read = strict.loads(data)
    assert value is None or read == value
    assert strict.parse(data.removeprefix(b"\xef\xbb\xbf")) == read


@pytest.mark.parametrize(
    "data",
    [
        b'["' + b"[" * 2_000_000 + b'"]',
        b"{" + b",".join(b'"%d":0' % key for key in range(300_000)) + b"}",
        b'[ "' + b"x" * 2_000_000 + b'", {"a": 1}]',
        b'"' + b"\\n" * 1_000_000 + b'"',
    ],
    ids=["brackets in text", "many keys", "white space", "escapes"],
)
def test_large_and_odd_is_not_hostile(data: bytes) -> None:
    """Bounds hold back attacks, not tool output: what is legal and affordable is read."""
    assert strict.loads(data) == json.loads(data)
    ours, theirs = partial(strict.loads, data), partial(json.loads, data)
    assert beside(lambda _: ours, lambda _: theirs, most=10).wrong == ""


@given(JSON, st.integers(0, 2**32))
def test_any_spelling_of_a_value_reads_as_that_value(value: Any, seed: int) -> None:
    """Law LOSSLESS begins with the reading: the standard library says the same of every legal spelling."""
    data = spell(value, seed)
    assert strict.loads(data) == json.loads(data) == strict.parse(data)


def _has_duplicates(data: bytes) -> bool:
    seen: list[bool] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    json.loads(data, object_pairs_hook=note)
    return any(seen)


_PAIRS = st.lists(
    st.tuples(
        st.sampled_from(
            ['"a"', '"a" ', '"\\u0061"', '"a\\\\"', '"\\\\\\":"', '""', '"é"', '"\\u00e9"', '"\\ud800"']
        ),
        st.sampled_from(["1", "1e5", '":"', '" : "', '"\\u003a"', '{"a":1}', '[{"a":1,"a" :2}]', '"\\/"']),
    ),
    max_size=4,
)


@pytest.mark.parametrize("proof_bytes", [strict.PROOF_BYTES_MAX, 0], ids=["small document", "large document"])
@given(pairs=_PAIRS)
def test_a_key_given_twice_is_found_in_any_disguise(
    monkeypatch_module: pytest.MonkeyPatch, pairs: list[tuple[str, str]], proof_bytes: int
) -> None:
    """Duplicate keys spoof roles (`{"role":"user","role":"system"}`); the cheap proof may err on no input."""
    monkeypatch_module.setattr(strict, "PROOF_BYTES_MAX", proof_bytes)
    data = ("{" + ",".join(f"{key}:{value}" for key, value in pairs) + "}").encode()
    if _has_duplicates(data):
        with pytest.raises(strict.BadJson, match="given twice"):
            strict.loads(data)
    else:
        assert strict.loads(data) == json.loads(data)


@pytest.fixture(scope="module")
def monkeypatch_module() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@given(
    st.binary(max_size=40) | st.text(alphabet='{}[]",:\\ud8901eE+-.nulltrue \n', max_size=40).map(str.encode)
)
def test_any_bytes_give_a_value_or_one_kind_of_error(data: bytes) -> None:
    """The reader's contract: `BadJson` and nothing else."""
    try:
        value = strict.loads(data)
    except strict.BadJson:
        return
    assert strict.loads(strict.dump(value)) == value


@given(JSON)
def test_what_is_dumped_reads_back_the_same(value: Any) -> None:
    """Lone surrogates are escaped, so that the bytes are valid UTF-8 (claude-code#69927)."""
    for data in (strict.dump(value), strict.dump_foreign(value)):
        data.decode("utf-8")
        assert strict.loads(data) == value


def test_raw_slices_are_spliced_in_as_they_are() -> None:
    """An edited message keeps the bytes of its untouched parts, also beside a lone surrogate (law LOSSLESS)."""
    raw = msgspec.Raw(b'{"a" : 1.50}')
    assert strict.dump({"x": raw}) == b'{"x":{"a" : 1.50}}'
    assert strict.dump({"x": [raw, "\ud800"]}) == b'{"x":[{"a" : 1.50},"\\ud800"]}'


@pytest.mark.parametrize(
    "value", [{"a": b"bytes"}, [float("nan")], {1, 2}, {"a": object()}], ids=["bytes", "nan", "set", "object"]
)
def test_what_json_cannot_say_is_an_error_not_something_else(value: Any) -> None:
    """msgspec alone writes bytes as base64, NaN as null and sets as lists, silently."""
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        strict.dump_foreign(value)


@given(JSON)
def test_a_value_of_jsons_own_types_is_what_is_read_of_it(value: Any) -> None:
    """Law SAME: a caller's dicts are judged as their bytes would be, without bytes."""
    assert strict.as_read(value) == strict.parse(strict.dump(value))
    assert strict.is_json({"x": [1, -1.5, None, True, "\ud800", {}]})


@pytest.mark.parametrize(
    "value",
    [("a",), {1: "a"}, 2**63, float("nan"), float("inf"), b"a", msgspec.Raw(b"1"), type("S", (str,), {})("a"), object()],
    ids=["tuple", "key", "large", "nan", "inf", "bytes", "raw", "subclass", "object"],
)  # fmt: skip
def test_what_would_be_read_as_something_else_is_not_taken_for_json(value: Any) -> None:
    """And neither is what stands deep, or goes round in a circle."""
    assert not strict.is_json({"x": [value]})
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = "x"
    for _ in range(strict.DEPTH_MAX + 1):
        deep = [deep]
    assert not strict.is_json(circle)
    assert not strict.is_json(deep)
    assert strict.is_json(deep[0])
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        strict.refuse_foreign(circle)


def test_sdk_objects_are_opened_where_they_stand() -> None:
    """`response.content` goes straight into the next request's messages, as every SDK's guide shows."""

    class Block:
        def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
            assert (mode, exclude_unset) == ("json", True)
            return {"type": "text", "text": "hi"}

    assert strict.dump_foreign({"content": [Block()]}) == b'{"content":[{"type":"text","text":"hi"}]}'


def test_an_error_names_the_byte() -> None:
    """Errors carry fields, and name the place (`style.md`, 10)."""
    with pytest.raises(strict.BadJson) as caught:
        strict.loads(b'{"a":"\xff"}')
    assert caught.value.offset == 6
    assert "(byte 6)" in str(caught.value)


def test_torn_text_does_not_hide_what_else_is_wrong() -> None:
    """Half a surrogate pair is read by another reader; its errors are told alike."""
    with pytest.raises(strict.BadJson, match="not valid JSON"):
        strict.loads(b'{"a":"\\ud800",}')
    with pytest.raises(strict.BadJson, match="nested deeper"):
        strict.loads(b'["\\ud800",' + b"[" * 100_000 + b"]" * 100_000 + b"]")


def test_a_caller_deep_in_its_own_stack_gets_a_value_or_the_one_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Agents call from callbacks of callbacks; no `RecursionError` may come out of a file's content."""
    monkeypatch.setattr(strict, "PROOF_BYTES_MAX", 10_000)
    data = b'{"a" : ' * 100 + b"1" + b"}" * 100
    room = sys.getrecursionlimit() - len(inspect.stack()) - 100
    outcomes = {_outcome_below(depth, data) for depth in range(room - 20, room + 20)}
    assert outcomes <= {"value", "refused"}


def _outcome_below(depth: int, data: bytes) -> str:
    """What reading gives so many calls further down."""
    if depth > 0:
        return _outcome_below(depth - 1, data)
    try:
        strict.loads(data)
    except strict.BadJson:
        return "refused"
    return "value"


def test_an_object_of_another_kind_of_sdk_is_read_by_its_to_dict() -> None:
    """By duck typing: not every client is made with pydantic."""

    class Response:
        def to_dict(self) -> dict[str, Any]:
            return {"role": "user"}

    assert strict.plain(Response()) == {"role": "user"}
