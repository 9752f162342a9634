"""What a session works with, resolved once."""

from __future__ import annotations

import pytest

from foldline.core.errors import InvalidOption, UnknownPolicy
from foldline.session.setup import format_for, setup_for


def test_a_new_session_speaks_what_its_models_provider_speaks() -> None:
    """The format given goes first; plain text counts as OpenAI chat."""
    assert format_for("claude-sonnet-4-5", None) == "anthropic"
    assert format_for("models/gemini-2.5-pro", None) == "gemini"
    assert format_for("gpt-5", None) == format_for(None, None) == "openai-chat"
    assert format_for("gpt-5", "openai-responses") == "openai-responses"
    with pytest.raises(InvalidOption, match="a session speaks one of"):
        format_for(None, "pi")


def test_inside_a_node_only_what_shortens_runs() -> None:
    """FUN-4: budget reduction and microcompact."""
    for policy in ("balanced", "cascade", "ladder-professional"):
        setup = setup_for(format="anthropic", model=None, policy=policy, counter=None, clock=lambda: None)
        names = [tier.name for tier in setup.inside.tiers]
        assert names
        assert set(names) <= {"budget-reduction", "microcompact"}
        assert setup.inside.threshold == setup.policy.threshold
    with pytest.raises(UnknownPolicy):
        setup_for(format="anthropic", model=None, policy="none", counter=None, clock=lambda: None)
