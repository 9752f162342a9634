"""Names that code defines and uses."""

from __future__ import annotations

from foldline.ledger.found_in_text import extract


def texts(text: str) -> list[str]:
    return [fact.text for fact in extract(text) if fact.kind == "symbols"]


def test_code_gives_the_names_it_defines_and_uses() -> None:
    """OBS-3: names of functions and classes are asked for again."""
    code = "def extract(a):\nclass Bar:\n    return fooBar(x_y_z, MAX_LEN) + plain\n"
    assert set(texts(code)) == {"extract", "fooBar", "x_y_z", "MAX_LEN"}


def test_the_last_words_of_a_sentence_define_nothing() -> None:
    """OBS-3: `safety`, `guards` and `definitions` stood among the names of code of a history in prose."""
    prose = "It needs type safety\nand type guards\n- with clear class definitions"
    assert texts(prose) == []
    assert texts("module M\n  class Fooo\n    export default class Bars\n+ pub struct Unit\n") == [
        "Fooo",
        "Bars",
        "Unit",
    ]
