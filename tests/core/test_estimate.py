"""The estimate: what the provider said, and what was counted since, kept apart."""

from __future__ import annotations

from foldline.core.estimate import Counting, Estimate, project
from foldline.core.message import Usage

USAGE = Usage(tokens_input=1_000, tokens_output=200, tokens_cache_read=900)


def test_what_was_appended_after_the_last_response_is_added_to_its_usage() -> None:
    """TOK-3: right after a response its usage is the whole projection."""
    found = project(70, fixed=500, counting=Counting(), usage=USAGE)
    assert found == Estimate(tokens_anchored=1_200, tokens_estimated=70)
    assert found.tokens == 1_270
    assert project(0, fixed=500, counting=Counting(), usage=USAGE).tokens == 1_200


def test_without_an_anchor_everything_is_counted() -> None:
    """TOK-8: the check is never skipped; system prompt, schemas and all messages are estimated."""
    assert project(60, fixed=500, counting=Counting()) == Estimate(tokens_anchored=0, tokens_estimated=560)


def test_a_cached_token_is_an_input_token_once() -> None:
    """TOK-4: cache reads and writes are inside the input, and a projection does not add them."""
    cached = Usage(tokens_input=1_000, tokens_cache_read=900, tokens_cache_write=100)
    assert project(0, fixed=0, counting=Counting(), usage=cached).tokens == 1_000


def test_a_policy_may_leave_system_prompt_and_tools_out_where_nothing_was_reported() -> None:
    """TOK-8: the policies of other libraries count so."""
    assert project(60, fixed=500, counting=Counting()).tokens == 560
    assert project(60, fixed=500, counting=Counting(fixed=False)).tokens == 60


def test_what_system_prompt_and_tools_have_grown_since_is_added_and_what_they_shrank_is_not_taken_off() -> (
    None
):
    """TOK-6: the reported total holds them as they were then; where nobody counted them then, no growth is known."""

    def projected(fixed: int, fixed_then: int | None, *, growth: bool = True) -> Estimate:
        counting = Counting(growth=growth)
        return project(70, fixed=fixed, counting=counting, usage=USAGE, fixed_then=fixed_then)

    assert projected(500, 200) == Estimate(tokens_anchored=1_200, tokens_estimated=370)
    assert projected(200, 500).tokens_estimated == 70
    assert projected(500, None).tokens_estimated == 70
    assert projected(500, 200, growth=False).tokens_estimated == 70
