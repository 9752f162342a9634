"""Facts in columns: what is asked of thousands of them at once, and stays known when they become more."""

from __future__ import annotations

from foldline.ledger.columns import CODE, NO_KEY, Columns, Prices
from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import Fact, FactKind
from foldline.ledger.standing_within import Standing
from foldline.testing.counting import CharacterCounter


def fact(kind: FactKind, text: str) -> Fact:
    """A fact of a kind whose key is its text."""
    return Fact(kind=kind, key=text, text=text)


FACTS = (
    fact("paths", "src/app.py"),
    Fact(kind="numbers", key="limit", text="limit: 100", value="100"),
    Fact(kind="errors", key=f"{IN_CODE}except", text="except OSError:"),
    Fact(kind="numbers", key="limit", text="limit: 50", value="50"),
    fact("identifiers", "load_rows"),
    fact("symbols", "load_rows"),
    fact("symbols", "limit"),
    fact("paths", "two words.py"),
)


def test_each_fact_has_its_place_and_a_number_the_place_of_its_key() -> None:
    """CMP-8: what an index asks of a fact stands in columns."""
    columns = Columns(FACTS)
    assert columns.by_sort(range(len(columns))) == {
        "paths": [0, 7],
        "numbers": [1, 3],
        CODE: [2],
        "identifiers": [4],
        "symbols": [5, 6],
    }
    assert columns.keys == [NO_KEY, 0, NO_KEY, 0, *[NO_KEY] * 4]
    assert (columns.key_texts, columns.texts[1:4]) == (["limit"], ["100", "except OSError:", "50"])
    assert (columns.odd, columns.twins()) == ({7}, {5: [4]})
    assert columns.reading({"load_rows", "except OSError:", "100"}) == {4, 5}


def test_facts_that_are_added_later_are_told_as_those_that_came_at_once() -> None:
    """Law SAME: what was found out of a history that grew holds, and of its new facts it is found out."""
    prices = Prices(CharacterCounter().texts)
    standing = Standing(["src/app.py", "app.py"])
    more = (fact("paths", "app.py"), fact("symbols", "src/app.py"))
    grown, whole = Columns(FACTS), Columns([*FACTS, *more])
    assert grown.within(standing).keys() == {6}
    grown.priced(prices)
    assert grown.add(more) == range(8, 10)
    assert grown.priced(prices) == whole.priced(prices)
    assert grown.twins() == whole.twins() == {5: [4], 9: [0]}
    assert grown.within(standing) == whole.within(standing) == {6: frozenset(), 8: frozenset({0, 9})}


def test_a_fact_that_reads_another_way_now_is_priced_and_placed_anew() -> None:
    """OBS-3: a failure goes by its newest line, a path by its newest spelling."""
    prices = Prices(CharacterCounter().texts)
    columns = Columns(FACTS)
    before = list(columns.priced(prices)[0])
    columns.renew(0, Fact(kind="paths", key="src/app.py", text="./src/my app.py"))
    columns.renew(4, fact("identifiers", "load_rows2"))
    columns.renew(7, fact("paths", "two.py"))
    after = columns.priced(prices)[0]
    assert [place for place in range(8) if before[place] != after[place]] == [0, 7]
    assert list(after) == Columns(columns.facts).priced(Prices(CharacterCounter().texts))[0]
    assert (columns.odd, columns.twins()) == ({0}, {})
