"""System prompt and tools are refused by their own name, whoever is given them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import foldline
from foldline.core.errors import InvalidOption
from foldline.wire.given import check_system, schemas_of
from tests.session.making import opened

SAID = [{"role": "user", "content": "hello"}]


def compacted(**given: Any) -> object:
    """By the pure function."""
    return foldline.compact(SAID, 100_000, format="openai-chat", **given)


def prepared(**given: Any) -> object:
    """By a session."""
    session = opened(format="openai-chat")
    session.user("hello")
    return session.prepare(**given)


@pytest.mark.parametrize("take", [compacted, prepared])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tools", [{"name": float("nan")}]),
        ("tools", [{"functionDeclarations": 3}]),
        ("tools", [{"name": b"read"}]),
        ("tools", ["read"]),
        ("tools", {"name": "read"}),
        ("system", 3),
        ("system", {"text": object()}),
    ],
)
def test_what_no_provider_could_read_is_refused_by_its_own_name(
    take: Callable[..., object], option: str, value: object
) -> None:
    """The pure function and a session say the same of the same value."""
    with pytest.raises(InvalidOption) as error:
        take(**{option: value})
    assert error.value.option == option


def test_what_is_left_out_is_nothing() -> None:
    """Neither is needed."""
    check_system(None, format="openai-chat")
    assert schemas_of(None) is None
