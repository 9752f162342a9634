"""What a user orders that a decision went against, and what only speaks of it."""

from __future__ import annotations

import pytest

from foldline.ledger.overruling import decided_against, orders_in
from tests.ledger.test_withdrawals import standing

SQLITE = "I decided to use sqlite instead of bolt because it is easier to query."


@pytest.mark.parametrize(
    "decision",
    [
        SQLITE,
        "I chose sqlite over bolt because it is easier to query.",
        "Using sqlite rather than `bolt`, since it is easier to query.",
        "I went with sqlite, not bolt, because it is easier to query.",
        "我决定用 sqlite 而不是 bolt，因为查询更方便。",
    ],
)
def test_what_a_decision_went_against_is_known(decision: str) -> None:
    """By its one word."""
    assert decided_against(decision) == {"bolt"}


@pytest.mark.parametrize(
    "sentence", ["I did it instead of that.", "It took over time.", "I use it over the slow network."]
)
def test_no_other_words_are_what_a_decision_went_against(sentence: str) -> None:
    """They name nothing."""
    assert decided_against(sentence) == frozenset()


@pytest.mark.parametrize(
    "later",
    [
        "Actually let's go with bolt, sqlite needs cgo.",
        "Let's use bolt instead.",
        "Go with bolt.",
        "switch to bolt, please",
        "sqlite needs cgo, so bolt it is.",
        "sqlite needs cgo, back to bolt",
        "I'd rather have bolt.",
        "Please change it to `bolt`",
        "I prefer bolt because it has no cgo",
        "bolt instead please",
        "ok, use bolt not sqlite",
        "还是用 bolt 吧，sqlite 需要 cgo",
        "换成 bolt",
    ],
)
def test_a_user_who_orders_what_was_not_taken_takes_the_decision_back(later: str) -> None:
    """It is told where; the same words of the agent's take nothing back."""
    assert standing(SQLITE, later, is_users=True).endswith("taken back at m2")
    assert orders_in(later) == {"bolt"}


@pytest.mark.parametrize(
    "later",
    [
        "Use bolt for the cache.",
        "use bolt in the tests only",
        "Can we use bolt?",
        "Why not use bolt?",
        "Don't use bolt.",
        "never go back to bolt",
        "If it is slow, switch to bolt.",
        "Maybe use bolt instead.",
        "Bob says we should use bolt.",
        "Use the bolt cutter.",
        "The readers use bolt-like files.",
        "> use bolt",
        "```\nuse bolt\n```",
        "别用 bolt",
        "Use badger.",
        "They use bolt.",
        "We used to use bolt.",
        "The other team and its tests use bolt.",
    ],
)
def test_what_only_speaks_of_it_takes_nothing_back(later: str) -> None:
    """A case, a question, a ban, somebody else's words."""
    assert standing(SQLITE, later, is_users=True) == ""


def test_an_agent_that_uses_it_takes_nothing_back() -> None:
    """It may try it out."""
    assert standing(SQLITE, "Let me use bolt.") == ""


def test_a_decision_that_is_ordered_again_stands() -> None:
    """The user turned round twice."""
    assert standing(SQLITE, "Go with bolt.", "ok, back to sqlite", is_users=True) == ""
