"""The facts that a history states, and that it may be told of as it grows."""

from __future__ import annotations

import pytest

from foldline.ledger.facts import Found
from foldline.ledger.found_in_text import Finder
from foldline.ledger.stated import Stated, key_of

TEXTS = (
    ("src/a.py port=1", "def load_rows"),
    ("row=1\nrow=2\nrow=3",),
    ("ValueError: no src/b.py",),
    ("port=2 src/a.py", ""),
    ("ValueError: no src/b.py", "    raise Error(error)"),
)


def told() -> list[tuple[Found, ...]]:
    """Of each message the facts of its parts."""
    return [tuple(Finder().many(said)) for said in TEXTS]


@pytest.mark.parametrize("first", range(len(TEXTS) + 1))
def test_a_history_that_grew_states_what_it_states_at_once(first: int) -> None:
    """Law SAME: what was told of its beginning at an earlier compaction changes nothing."""
    grown, whole = Stated(), Stated()
    grown.grow(told()[:first])
    grown.grow(told()[first:])
    whole.grow(told())
    assert (grown.names, grown.of_kind, grown.failures) == (whole.names, whole.of_kind, whole.failures)
    for shown in ((), ("nport\x001",), ("nport\x002",)):
        numbers = whole.of_kind["n"]
        keys = whole.keys(numbers)
        assert grown.keys(numbers) == keys
        assert grown.stale(keys, grown.among(shown)) == whole.stale(keys, whole.among(shown))
    for place in range(len(TEXTS)):
        meant = [place == number for number in range(len(TEXTS))]
        assert grown.said_in(meant) == whole.said_in(meant)


def test_names_of_code_are_not_counted() -> None:
    """OBS-3: they are listed where there is room, and nobody is promised them."""
    stated = Stated()
    stated.grow(told())
    assert len(stated.of_kind["p"]) == 2
    assert not [name for name in stated.names if name[0] == "s"]
    assert not stated.among(["sload_rows", "never said"])
    assert {stated.names[place] for place in stated.said_in([True, False, False, False, False])} == {
        "psrc/a.py",
        "nport\x001",
    }


def test_the_newest_value_of_a_key_is_what_holds_and_a_column_has_none() -> None:
    """OBS-3: an older value alone in view would pass for the one that holds."""
    stated = Stated()
    stated.grow(told())
    numbers = stated.of_kind["n"]
    assert stated.keys(numbers) == {key_of(stated.names[place]) for place in numbers} == {"port", "row"}
    assert stated.stale(stated.keys(numbers), stated.among(["nport\x001"])) == {"port"}
    assert stated.stale(stated.keys(numbers), stated.among(["nport\x002"])) == set()
    assert stated.with_key(numbers, {"port"}) == stated.among(["nport\x001", "nport\x002"])
