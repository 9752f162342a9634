"""What a session works with, resolved once."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.errors import InvalidOption, UnknownPolicy
from foldline.presets import policy_of
from foldline.session.setup import SessionOptions, format_for, setup_again, setup_for
from foldline.stores.limits import Limits


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
        setup = setup_for(SessionOptions(policy=policy), format="anthropic", model=None)
        names = [tier.name for tier in setup.inside.tiers]
        assert names
        assert set(names) <= {"budget-reduction", "microcompact"}
        assert setup.inside.threshold == setup.policy.threshold
    with pytest.raises(UnknownPolicy):
        setup_for(SessionOptions(policy="none"), format="anthropic", model=None)


def test_another_model_changes_nothing_that_was_asked_for(tmp_path: Path) -> None:
    """What a session was opened with is kept whole, so that nothing of it has to be remembered by name."""
    asked = SessionOptions(
        model="claude-sonnet-4-5",
        policy="handoff",
        counter="length/4",
        window=50_000,
        native=True,
        endpoint="http://localhost:8000",
        limits=Limits(tmp_path),
    )
    setup = setup_for(asked, format="anthropic", model=asked.model)
    again = setup_again(setup, model="claude-opus-4-1")
    assert again.asked == setup.asked == asked
    assert (again.model, again.format, again.counter.name) == ("claude-opus-4-1", "anthropic", "length/4")
    assert again.planned.window == setup.planned.window == 50_000
    assert again.policy == setup.policy == policy_of("handoff", 50_000)


def test_a_policy_of_the_users_own_is_that_which_the_session_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file may be another by then."""
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "user.toml"))
    written = (
        '[policies.mine]\nsentence = "Folds."\nthreshold = { percent = 80, of = "input" }\ntarget = { percent = 40, of = "input" }\n'
        '[[policies.mine.tiers]]\npass = "fold"\n'
    )
    (tmp_path / "user.toml").write_text(written)
    setup = setup_for(SessionOptions(policy="mine"), format="anthropic", model=None)
    (tmp_path / "user.toml").write_text(written.replace("80", "60"))
    assert setup_again(setup, model="gpt-4o").policy == setup.policy
