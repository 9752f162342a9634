"""Members of JSON values cut out in their own bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.wire.slices import fields, items
from tests.wire.values import JSON, TEXTS, spell


@given(st.dictionaries(TEXTS, JSON, max_size=4), st.integers(0, 2**32))
def test_the_fields_of_any_object_are_its_values(value: dict[str, Any], seed: int) -> None:
    """Law LOSSLESS: a slice is the very bytes, also in text with lone surrogates, where msgspec cannot cut."""
    data = spell(value, seed)
    found = fields(data)
    assert {key: json.loads(bytes(raw)) for key, raw in found.items()} == json.loads(data)
    assert all(bytes(raw) in data for raw in found.values())


@given(st.lists(JSON, max_size=4), st.integers(0, 2**32))
def test_the_items_of_any_array_are_its_values(value: list[Any], seed: int) -> None:
    """As above, for arrays."""
    data = spell(value, seed)
    found = items(data)
    assert [json.loads(bytes(raw)) for raw in found] == json.loads(data)
    assert all(bytes(raw) in data for raw in found)


@pytest.mark.parametrize("data", [b"[1]", b"1", b'"a"', b'"\\ud800"', b"null"])
def test_another_value_has_no_fields(data: bytes) -> None:
    """The contract: `ValueError` for what is no object."""
    with pytest.raises(ValueError, match="expected a JSON object"):
        fields(data)


@pytest.mark.parametrize("data", [b"{}", b"1", b'"a"', b'"\\ud800"', b"null"])
def test_another_value_has_no_items(data: bytes) -> None:
    """The contract: `ValueError` for what is no array."""
    with pytest.raises(ValueError, match="expected a JSON array"):
        items(data)
