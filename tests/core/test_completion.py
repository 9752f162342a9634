"""What requests to a model cost together."""

from __future__ import annotations

from foldline.core.completion import spent
from foldline.core.message import Usage


def test_what_requests_cost_together_is_the_sum_of_what_was_said() -> None:
    """TOK-3: a request whose provider said nothing adds nothing; where none said, nothing is known, and not 0."""
    first = Usage(tokens_input=100, tokens_output=7, tokens_cache_read=60, tokens_cache_write=5)
    second = Usage(tokens_input=30, tokens_output=2, tokens_cache_read=10, tokens_cache_write=1)
    both = Usage(tokens_input=130, tokens_output=9, tokens_cache_read=70, tokens_cache_write=6)
    assert spent([first, None, second]) == both
    assert spent([None, None]) is None
    assert spent([]) is None
