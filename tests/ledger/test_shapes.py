"""A shape keeps every character at its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ledger.shapes import classes_of, shape_of


@pytest.mark.parametrize(
    ("text", "shape", "classes"),
    [
        ("took=137", "took=000", "aaaa=000"),
        ("v1.2-RC\n端口 8080", "v0.0-RC\n端口 0000", "a0.0-AA\n端口 0000"),
        ("\ud800９é", "\ud800９é", "\ud800９é"),
    ],
)
def test_digits_are_zeros_and_letters_are_their_case(text: str, shape: str, classes: str) -> None:
    """OBS-3: characters beyond ASCII stand for themselves."""
    assert shape_of(text) == shape
    assert classes_of(shape) == classes


@given(st.text())
def test_a_shape_is_as_long_as_its_text(text: str) -> None:
    """OBS-3: what is found in a shape is quoted from the text."""
    assert len(classes_of(shape_of(text))) == len(text)
