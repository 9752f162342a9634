"""The proxy's limits are the ones that are promised, and leave room for what providers take."""

from __future__ import annotations

from foldline.proxy import limits
from foldline.testing.judges import anthropic, gemini


def test_a_conversation_may_be_as_large_as_a_provider_takes_and_no_larger() -> None:
    """Test S7: 33 MB are refused, and what the provider that takes most would take is not."""
    assert max(anthropic.BODY_BYTES_MAX, gemini.BODY_BYTES_MAX) == limits.BODY_BYTES_MAX == 32 * 2**20
    assert limits.BODY_BYTES_MAX < 33 * 2**20


def test_every_limit_is_a_positive_number() -> None:
    """Every loop, buffer and wait has a bound."""
    found = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert len(found) >= 12
    assert all(value > 0 for value in found.values())
