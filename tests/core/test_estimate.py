"""The estimate: what the provider said, and what was counted since, kept apart."""

from __future__ import annotations

from foldline.core.estimate import Counting, Estimate, estimate, project
from foldline.core.message import Usage

USAGE = Usage(tokens_input=1_000, tokens_output=200, tokens_cache_read=900)


def test_what_was_appended_after_the_last_response_is_added_to_its_usage() -> None:
    """TOK-3: the response that the provider already counted is never added again."""
    found = estimate([10, 20, 400, 30, 40], fixed=500, usage=USAGE, usage_at=2)
    assert found == Estimate(tokens_anchored=1_200, tokens_estimated=70)
    assert found.tokens == 1_270


def test_nothing_is_added_when_the_counted_response_is_the_last_message() -> None:
    """TOK-3: right after a response its usage is the whole projection."""
    assert estimate([10, 20], fixed=500, usage=USAGE, usage_at=1).tokens == 1_200


def test_without_an_anchor_everything_is_counted() -> None:
    """TOK-8: the check is never skipped; system prompt, schemas and all messages are estimated."""
    whole = Estimate(tokens_anchored=0, tokens_estimated=560)
    assert estimate([10, 20, 30], fixed=500) == whole
    assert estimate([10, 20, 30], fixed=500, usage=USAGE) == whole
    assert estimate([10, 20, 30], fixed=500, usage_at=1) == whole


def test_a_cached_token_is_an_input_token_once() -> None:
    """TOK-4: cache reads and writes are inside the input, and a projection does not add them."""
    cached = Usage(tokens_input=1_000, tokens_cache_read=900, tokens_cache_write=100)
    assert estimate([], fixed=0, usage=cached, usage_at=0).tokens == 1_000


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
