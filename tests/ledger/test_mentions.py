"""Which facts of a history are wanted again, and in what order."""

from __future__ import annotations

import pytest

from foldline.ledger.facts import Fact
from foldline.ledger.found_in_text import Finder, extract
from foldline.ledger.mentions import PART_FACTS_MAX, Mentions, Wanted


def told(*texts: str, own: frozenset[int] = frozenset()) -> Mentions:
    """The mentions of texts, the newest first; those at the places `own` in somebody's own words."""
    return Mentions((found, place in own) for place, found in enumerate(Finder().many(texts)))


def wanted(mentions: Mentions, *shown: str) -> list[str]:
    return [fact.text for fact in ranked(mentions.wanted(frozenset(shown)))]


def ranked(found: Wanted) -> list[Fact]:
    """The facts that are wanted, the most wanted first."""
    return [found.columns.facts[place] for place in found.ranked]


def test_the_newest_mention_comes_first_and_what_the_view_shows_is_left_out() -> None:
    """CMP-8: what was looked at last is asked for next."""
    mentions = told("src/c.py", "src/b.py", "src/a.py")
    assert wanted(mentions) == ["src/c.py", "src/b.py", "src/a.py"]
    assert wanted(mentions, "psrc/b.py") == ["src/c.py", "src/a.py"]


def test_what_is_said_often_or_in_own_words_comes_before_what_is_a_little_newer() -> None:
    """CMP-8: what the user or the agent names comes back, and so does what stands in many results."""
    assert wanted(told("src/c.py", "src/b.py", "src/a.py", own=frozenset({2}))) == [
        "src/c.py",
        "src/a.py",
        "src/b.py",
    ]
    often = told("src/c.py", "src/b.py", "src/a.py", "src/a.py", "src/a.py")
    assert wanted(often) == ["src/c.py", "src/a.py", "src/b.py"]


def test_the_values_of_a_number_come_from_the_newest_back_led_by_the_newest() -> None:
    """OBS-3: an older value alone would pass for the one that holds, also where the view shows the newest."""
    mentions = told("port=3", "port=1\nport=2")
    assert wanted(mentions) == ["port=3", "port=2", "port=1"]
    assert wanted(mentions, "nport\x003") == ["port=3", "port=2", "port=1"]


def test_of_a_failure_that_came_again_the_newest_line_stands() -> None:
    """CMP-8: one line for a failure, whatever its numbers were."""
    mentions = told("ValueError: no row 7 in src/", "ValueError: no row 3 in src/")
    assert [text for text in wanted(mentions) if "ValueError:" in text] == ["ValueError: no row 7 in src/"]


def test_of_one_part_no_kind_gives_more_than_its_bound_and_numbers_the_last() -> None:
    """CMP-8: a listing of a thousand files is data, not a thousand facts."""
    lines = [f"folder{n // 30}/part{n}.py key{n}=7" for n in range(300)]
    [found] = Finder().many(["\n".join(lines)])
    facts = ranked(Mentions([(found, False)]).wanted(frozenset()))
    assert sum(fact.kind == "paths" for fact in facts) <= PART_FACTS_MAX
    assert sum(fact.kind == "numbers" for fact in facts) <= PART_FACTS_MAX


def test_what_an_earlier_ledger_carried_is_older_than_all_else() -> None:
    """CMP-16: facts are carried on, and give way to newer ones."""
    carried = extract("src/old.py\nport=9\nsrc/c.py")
    found = [fact.text for fact in ranked(told("src/c.py", "port=3").wanted(frozenset(), carried))]
    assert found == ["src/c.py", "port=3", "src/old.py", "port=9"]


@pytest.mark.parametrize("first", [0, 1, 3, 5])
def test_a_history_that_grew_is_told_as_one_read_at_once(first: int) -> None:
    """Law SAME: what was found at an earlier compaction changes nothing."""
    texts = ("src/a.py port=1", "lib/a.py", "src/a.py port=2", "def load_rows", "ValueError: no src/b.py")
    parts = [(found, place % 2 == 0) for place, found in enumerate(Finder().many(texts))]
    grown = Mentions()
    grown.grow(parts[:first])
    assert grown.wanted(frozenset(), extract("old.py")).ranked
    grown.grow(parts[first:])
    whole = Mentions(reversed(parts))
    for shown in ((), ("plib/a.py",), ("nport\x002", "psrc/a.py")):
        one, other = grown.wanted(frozenset(shown)), whole.wanted(frozenset(shown))
        assert ranked(one) == ranked(other)
        assert sorted(one.places) == sorted(one.ranked)
