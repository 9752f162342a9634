"""A fact is found once in a text and remembered with it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable

from foldline.ledger.facts import KINDS, TEXT_BYTES, Fact, FactCache, Found, name_of
from foldline.ledger.found_in_text import Finder


def test_each_kind_of_fact_is_found_and_no_other() -> None:
    """OBS-3: the kinds are a closed set."""
    text = "src/app.py port=8080 see ABC-1234 def load_rows(x)\nValueError: no such row\n"
    assert {fact.kind for fact in Finder()(text)} <= set(KINDS)
    assert {"paths", "identifiers", "numbers", "errors"} <= {fact.kind for fact in Finder()(text)}


class Counted:
    """A finder that notes what it was asked for."""

    def __init__(self) -> None:
        self.searched: list[str] = []

    def many(self, texts: Iterable[str]) -> list[Found]:
        asked = list(texts)
        self.searched += asked
        return [self._found(Fact(kind="paths", key=text, text=text)) for text in asked]

    def forget(self) -> None:
        """Nothing is remembered here."""

    def _found(self, path: Fact) -> Found:
        return Found(facts=(path,), names=(name_of(path),), numbers=1, errors=1)


class Rows:
    """A finder that takes every line as a number with its key."""

    def many(self, texts: Iterable[str]) -> list[Found]:
        return [self._found(*map(self._fact, text.split("\n"))) for text in texts]

    def forget(self) -> None:
        """Nothing is remembered here."""

    def _found(self, *rows: Fact) -> Found:
        return Found(facts=rows, names=tuple(map(name_of, rows)), numbers=0, errors=len(rows))

    def _fact(self, line: str) -> Fact:
        key, value = line.split("=")
        return Fact(kind="numbers", key=key, text=line, value=value)


def test_a_settled_cache_knows_its_facts_and_remembers_no_lines() -> None:
    """OBS-3: style rule 11; what makes the reading of a history faster takes as much memory as its facts."""
    finder = Finder()
    cache = FactCache(finder)
    texts = [f"src/app.py:{number}: port={number}" for number in range(100)]
    cache.learn(texts)
    found = list(map(cache.found, texts))
    assert finder._reader._said
    cache.settle()
    assert not finder._reader._said
    assert list(map(cache.found, texts)) == found == FactCache(Finder())._extract.many(texts)


def test_a_text_is_searched_once_in_whatever_part_it_stands() -> None:
    """OBS-3: the text of a part never changes, and the same history comes back longer at the next call."""
    finder = Counted()
    cache = FactCache(finder)
    first = cache.of("a.py")
    assert cache.of("".join(["a.", "py"])) is first
    cache.learn(["a.py", "b.py", "b.py"])
    assert cache.of("b.py")[0].key == "b.py"
    assert finder.searched == ["a.py", "b.py"]
    assert len(cache) == 2
    assert "b.py" in cache
    assert "c.py" not in cache


def test_a_text_is_remembered_with_the_names_of_its_facts_and_where_each_sort_begins() -> None:
    """OBS-3: cheap enough to be always on; what is compared are names, which tell every value of a number apart."""
    text = "see src/app.py\nport=8080\nValueError: no such row\nport=9090"
    found = FactCache(Finder()).found(text)
    assert found.names[: found.numbers] == ("psrc/app.py", "sValueError")
    assert found.names[found.numbers : found.errors] == ("nport\x008080", "nport\x009090")
    assert found.names[found.errors :] == ("eValueError: no such row",)
    assert found.names == tuple(map(name_of, found.facts))


def test_the_cache_is_bounded_and_forgets_first_what_was_not_asked_for() -> None:
    """OBS-3: style rule 11, every buffer has a named bound."""
    finder = Counted()
    cache = FactCache(finder, bytes_max=40 * TEXT_BYTES)
    for number in range(200):
        cache.of(f"{number:010d}")
        cache.of("read at every step")
    assert len(cache) <= 40
    assert finder.searched.count("read at every step") == 1


def test_the_cache_takes_no_more_memory_than_its_bound_where_texts_are_short_and_full_of_facts() -> None:
    """OBS-3, JRN-19: style rule 11; what a session keeps of what it said long ago is mostly facts, not characters."""
    bound = 8 << 20
    cache = FactCache(Rows(), bytes_max=bound)

    tracemalloc.start()
    try:
        for number in range(5_000):
            cache.found("\n".join(f"port{number}_{row}={number}" for row in range(16)))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 1.5 * bound


def test_the_facts_of_many_texts_are_those_of_each_and_are_found_once() -> None:
    """JRN-19: also of more than the bound holds at a time; whoever waits is told how far it is."""

    class Counted(Finder):
        searched = 0

        def many(self, texts: Iterable[str]) -> list[Found]:
            asked = list(texts)
            self.searched += len(asked)
            return super().many(asked)

    texts = [f"src/part{number}.py has port={number}" + " more" * 400 for number in range(1_000)]
    cache = FactCache(counted := Counted(), bytes_max=2 << 20)
    told: list[tuple[int, int]] = []
    cache.heard = lambda done, total: told.append((done, total))
    assert [found.facts for found in cache.all_of(texts)] == [Finder()(text) for text in texts]
    assert counted.searched == len(texts)
    assert len(told) >= 5
    assert told == sorted(told)
    assert told[-1] == (sum(map(len, texts)),) * 2
    assert list(cache.all_of([])) == []


def test_large_texts_are_found_in_batches_of_a_bounded_size() -> None:
    """OBS-3: a history is never copied whole."""
    cache = FactCache(Finder())
    texts = [f"src/part{number}.py\n" * 20_000 for number in range(4)]
    cache.learn(texts)
    assert [cache.of(text)[0].text for text in texts] == [f"src/part{number}.py" for number in range(4)]
