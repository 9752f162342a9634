"""Signatures: known again, told apart from foreign, altered and moved ones, and the same for the same content."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from foldline.testing.twin import seal


@pytest.mark.parametrize("value", [None, 0, "x", {"summary": "…", "n": [1, None]}, []])
def test_what_was_sealed_is_read_again(value: Any) -> None:
    assert seal.opened(seal.sealed(value)) == value


@pytest.mark.parametrize("given", [None, 3, "", "no base64 at all!", base64.b64encode(b"x" * 40).decode()])
def test_what_the_twin_did_not_make_is_nothing(given: Any) -> None:
    assert seal.opened(given) is None
    assert seal.verdict(given, content="x", before=None) == "foreign"


def test_one_changed_byte_makes_a_seal_foreign() -> None:
    raw = bytearray(base64.b64decode(seal.sealed("x")))
    raw[-1] ^= 1
    assert seal.opened(base64.b64encode(bytes(raw)).decode()) is None


def test_a_signature_tells_altered_content_from_another_conversation() -> None:
    """Anthropic refuses the two with different words (anomalyco/opencode#48637, anthropics/claude-code#13479)."""
    given = seal.signature("thought", before="a")
    assert seal.verdict(given, content="thought", before="a") == "good"
    assert seal.verdict(given, content="thought", before=None) == "good"
    assert seal.verdict(given, content="other", before="a") == "altered"
    assert seal.verdict(given, content="thought", before="b") == "moved"


def test_the_same_content_gets_the_same_signature() -> None:
    assert seal.signature("x", before="") == seal.signature("x", before="")


def test_a_seal_may_come_back_in_the_alphabet_of_addresses() -> None:
    """Google's SDK decodes signatures and writes them anew, url-safe."""
    for value in range(50):
        text = seal.sealed(value).translate(str.maketrans("+/", "-_"))
        assert seal.opened(text) == value
