"""Names that code defines and uses."""

from __future__ import annotations

from foldline.ledger.found_in_text import extract


def texts(text: str) -> list[str]:
    return [fact.text for fact in extract(text) if fact.kind == "symbols"]


def test_code_gives_the_names_it_defines_and_uses() -> None:
    """OBS-3: names of functions and classes are asked for again."""
    code = "def extract(a):\nclass Bar:\n    return fooBar(x_y_z, MAX_LEN) + plain\n"
    assert set(texts(code)) == {"extract", "fooBar", "x_y_z", "MAX_LEN"}
