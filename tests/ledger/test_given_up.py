"""What a text plainly gives up, in its own words."""

from __future__ import annotations

import pytest

from foldline.ledger.given_up import given_up_in


def named(said: str, *, is_users: bool = True) -> list[tuple[str, str]]:
    """How and what a text gives up."""
    return [(each.how, " ".join(each.what.split())) for each in given_up_in(said, is_users=is_users)]


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("Forget the caching, we don't need it.", [("left", "need it"), ("left", "the caching")]),
        ("Never drop the table.", [("left", "drop the table")]),
        ("Please cancel the order.", [("deed", "the order")]),
        ("The cache is no longer needed.", [("left", "the cache")]),
        ("The Redis approach is wrong.", [("judged", "the redis approach")]),
        ("Replace the cache with a table.", [("judged", "the cache")]),
        ("I don't drop it.", [("judged", "drop it")]),
        ("We can't use Redis.", [("judged", "redis")]),
        ("用 Postgres 代替 Redis。", [("judged", "redis")]),
        ("不用加缓存了。", [("left", "加缓存了")]),
        ("Vergiss den Cache.", [("left", "den cache")]),
    ],
)
def test_what_is_given_up_is_told_by_its_words_and_how(said: str, given: list[tuple[str, str]]) -> None:
    """CMP-8."""
    assert sorted(named(said)) == sorted(given)


@pytest.mark.parametrize(
    "said",
    [
        "Redis is not used.",
        "I don't think that the cache is wrong.",
        "Should we drop the cache?",
        "If it is slow, drop the cache.",
        "Maybe forget the cache.",
        "Don't use the cache yet.",
        "Forget the cache for now.",
        "Bob says we can't use Redis.",
        "He wrote: don't use Redis.",
        "> Forget the cache.",
        "```\nforget the cache\n```",
        "Forget the cache. Just kidding.",
        "Forget the cache. Only in tests though.",
        "There is no cache.",
        "The tests are fast and don't use Redis.",
        "The tests don't use Redis.",
        "先不用缓存",
        "要不要用缓存",
        "不得不用缓存",
        "用别的缓存",
    ],
)
def test_a_doubt_a_case_and_anothers_words_give_up_nothing(said: str) -> None:
    """CMP-8: in doubt all stands."""
    assert named(said) == []


def test_an_agent_that_tells_what_it_found_gives_up_nothing() -> None:
    """CMP-8: "no Redis" is an order of a user's, and a finding of an agent's; a letter in a user's message is nobody's order."""
    assert named("No Redis.") == [("left", "redis")]
    assert named("No Redis.", is_users=False) == []
    assert named("```\nforget the cache\n```", is_users=False) == []
