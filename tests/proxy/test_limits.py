"""The proxy's limits are the ones that are promised, and leave room for what providers take."""

from __future__ import annotations

from foldline.proxy import limits
from foldline.proxy.routes import UPSTREAMS
from foldline.testing.judges import anthropic, gemini


def test_a_conversation_may_be_as_large_as_a_provider_takes_and_no_larger() -> None:
    """Test S7: 33 MB are refused where Anthropic would, and what another provider takes is not."""
    assert limits.BODY_BYTES_MAX["anthropic"] == anthropic.BODY_BYTES_MAX < 33 * 2**20
    assert limits.BODY_BYTES_MAX["gemini"] > gemini.BODY_BYTES_MAX
    assert limits.BODY_BYTES_MAX.keys() == UPSTREAMS.keys()


def test_every_limit_is_a_positive_number() -> None:
    """Every loop, buffer and wait has a bound."""
    told = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert len(told) >= 12
    found = [
        one for value in told.values() for one in (value.values() if isinstance(value, dict) else [value])
    ]
    assert all(value > 0 for value in found)
