"""To choose another of the things of which a project takes one takes the first choice back, and nothing else does."""

from __future__ import annotations

import pytest

from foldline.ledger.alternatives import others_of
from tests.ledger.taking_back import supersedes


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Use tabs for indentation.", "On second thought, use spaces."),
        ("Always use tabs.", "On second thought, use spaces."),
        ("Use tabs.", "Use spaces instead."),
        ("缓存用 Redis。", "我们还是用 Memcached 吧"),
        ("我们用 Redis 做缓存。", "我们还是用 Memcached 吧。"),
        ("必须用 Redis。", "我们还是用 Memcached 吧"),
        ("Use Redis for the cache.", "Actually, use Memcached for the cache."),
        ("Run it with pytest.", "Actually, run it with unittest."),
        ("Use pytest.", "Run it with unittest instead."),
    ],
)
def test_a_choice_that_is_made_anew_no_longer_stands(earlier: str, later: str) -> None:
    """Kind stale-instruction: both choices stood as rules, and the agent could follow either."""
    (found,) = supersedes(later, [(0, earlier)])
    assert found.stands == ()


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never use tabs.", "On second thought, use spaces."),
        ("Use pytest.", "On second thought, use spaces."),
        ("Use Redis for sessions.", "Actually, use Memcached for the page cache."),
        ("Use tabs in Makefiles.", "On second thought, use spaces in Python files."),
        ("Use tabs.", "Use spaces."),
        ("Use npm and yarn.", "Actually, use pnpm."),
        ("Use Postgres.", "On second thought, don't use MySQL."),
        ("Use tabs.", "Bob said: on second thought, use spaces."),
        ("Use tabs.", "Should we use spaces instead?"),
        ("Use tabs.", "If the linter complains, use spaces instead."),
        ("Always use Postgres, never SQLite.", "On second thought, use MySQL."),
        ("Use pytest.", "Actually, run it with unittest."),
        ("Use black/ and redis.conf as they are.", "On second thought, use ruff."),
    ],
)
def test_in_doubt_both_choices_stand(earlier: str, later: str) -> None:
    """A wrong supersession hides a rule: prefer none."""
    assert supersedes(later, [(0, earlier)]) == ()


def test_what_could_stand_in_the_place_of_a_choice_is_known() -> None:
    """Kind stale-instruction: only texts that name one of these are read for another choice."""
    assert others_of("Use tabs.") == {"spaces", "制表符", "空格"}
    assert others_of("Use tabs and Redis.") == others_of("Write docs.") == frozenset()
