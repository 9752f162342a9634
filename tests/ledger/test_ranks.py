"""Which of a user's messages keep their place when not all can."""

from __future__ import annotations

import pytest

from foldline.ledger.ranks import (
    ASIDE,
    FAILED,
    PARTICULAR,
    RAN,
    REACHED_OUT,
    RULE,
    TOLD,
    VERIFIED,
    WISH,
    evidence_rank,
    rank_of,
)


@pytest.mark.parametrize(
    ("said", "rank"),
    [
        ("Never push to main.", RULE),
        ("By the way, never push to main.", RULE),
        ("必须用中文回答。", RULE),
        ("Fix the login bug.", WISH),
        ("Could you fix it? Why does it fail?", WISH),
        ("Let's go with Postgres.", WISH),
        ("The port is 8443.", WISH),
        ("Side note: the port is 8443.", WISH),
        ("端口是 8443。", WISH),
        ("We chose Postgres because the team knows it.", PARTICULAR),
        ("The admin team has one lead, Zara, and two others.", PARTICULAR),
        ("选 Postgres 因为团队熟悉它。", PARTICULAR),
        ("The tests are rather slow.", TOLD),
        ("Why does it fail?", ASIDE),
        ("By the way, the weather was lovely.", ASIDE),
        ("Side note — my connection has been slow.", ASIDE),
        ("Unrelated, but remote work is nice.", ASIDE),
        ("顺便说一下，今天天气不错。", ASIDE),
        ("ok, go ahead", ASIDE),
    ],
)
def test_rules_stay_longest_then_wishes_and_values_then_what_is_told_then_asides(
    said: str, rank: int
) -> None:
    """CMP-8: which of a user's messages keep their place when not all can."""
    assert rank_of(said) == rank


@pytest.mark.parametrize(
    ("told", "rank"),
    [
        ("`npm test` → exit 1; 2 failed", FAILED),
        ("`npm test` → failed (exit 1): 2 failed; moved on at m9", RAN),
        ("`npm test` → ok", VERIFIED),
        ("`sh check.sh` → ok; 12 passed", VERIFIED),
        ("`echo 12 passed` → ok; 12 passed", RAN),
        ("`sh run.sh` → printed: hm; failed at m3, not seen to pass since: boom", VERIFIED),
        ("`git push` → printed: main -> main", REACHED_OUT),
        ("`ls` → ok", RAN),
    ],
)
def test_of_commands_those_that_failed_stay_longest_then_those_that_verified_something(
    told: str, rank: int
) -> None:
    """CMP-8: which commands are told when not all can be; one that says what it was given verifies nothing."""
    assert evidence_rank(told) == rank
