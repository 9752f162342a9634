"""A fact is found once in a part and remembered with it."""

from __future__ import annotations

from foldline.core.message import Text
from foldline.ledger.facts import KINDS, Fact, FactCache
from foldline.ledger.found_in_text import Finder


def test_each_kind_of_fact_is_found_and_no_other() -> None:
    """OBS-3: the kinds are a closed set."""
    text = "src/app.py port=8080 see ABC-1234 def load_rows(x)\nValueError: no such row\n"
    assert {fact.kind for fact in Finder()(text)} <= set(KINDS)
    assert {"paths", "identifiers", "numbers", "errors"} <= {fact.kind for fact in Finder()(text)}


def test_a_part_is_searched_once_and_another_part_of_the_same_text_is_a_part_of_its_own() -> None:
    """OBS-3: a part is immutable, so what was found in it holds for ever."""
    searched: list[str] = []

    def extract(text: str) -> tuple[Fact, ...]:
        searched.append(text)
        return (Fact(kind="paths", key=text, text=text),)

    cache = FactCache(extract)
    part, twin = Text(text="a.py"), Text(text="a.py")
    first = cache.of(part, part.text)
    assert cache.of(part, part.text) is first
    assert searched == ["a.py"]
    cache.of(twin, twin.text)
    assert searched == ["a.py", "a.py"]
    assert len(cache) == 2


def test_text_that_is_no_part_is_searched_each_time_and_not_remembered() -> None:
    """The cache is bounded by the history it serves."""
    cache = FactCache(Finder())
    assert cache.in_text("port=8080") == cache.in_text("port=8080")
    assert len(cache) == 0
