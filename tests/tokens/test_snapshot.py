"""The script that makes the table of models: what it keeps of the public price table, and how it reads the limits."""

from __future__ import annotations

from typing import Any

from scripts.make_models import reduce


def entry(**fields: Any) -> dict[str, Any]:
    return {
        "mode": "chat",
        "litellm_provider": "openai",
        "max_input_tokens": 200_000,
        "max_output_tokens": 8_000,
    } | fields


def test_a_limit_on_input_alone_is_told_from_a_whole_window() -> None:
    """The public field `max_input_tokens` means the whole window for most models and input alone for GPT-5."""
    table = {
        "gpt-5": entry(max_input_tokens=272_000, max_output_tokens=128_000, input_cost_per_token=1.25e-6),
        "claude-sonnet-4-5": entry(litellm_provider="anthropic", max_output_tokens=64_000),
    }
    assert reduce(table) == {
        "claude-sonnet-4-5": [200_000, None, 64_000],
        "gpt-5": [400_000, 272_000, 128_000, 1.25],
    }


def test_only_chat_models_with_a_window_are_kept_and_no_fine_tunes() -> None:
    """Everything else in the public table is of no use to a counter."""
    table = {
        "text-embedding-3": entry(mode="embedding"),
        "no-window": entry(max_input_tokens=None),
        "ft:gpt-4o": entry(),
        "together-ai-up-to-4b*": entry(),
        "bedrock/us-east-1/1-month-commitment/anthropic.claude-v1": entry(),
        "sample_spec": {"mode": "one of: chat, embedding", "max_input_tokens": "max input tokens"},
        "o1": entry(),
    }
    assert list(reduce(table)) == ["o1"]


def test_a_bare_name_stands_for_its_makers_entry_not_a_resellers() -> None:
    """A reseller's smaller window must not become the model's; where only resellers have it, the commonest counts."""
    table = {
        "reseller/claude-sonnet-4.5": entry(litellm_provider="reseller", max_input_tokens=409_600),
        "anthropic.claude-sonnet-4-5-20250929-v1:0": entry(litellm_provider="bedrock"),
        "a/open-model": entry(litellm_provider="a", max_input_tokens=32_768),
        "b/open-model": entry(litellm_provider="b", max_input_tokens=131_072),
        "c/open-model": entry(litellm_provider="c", max_input_tokens=131_072),
    }
    rows = reduce(table)
    assert rows["claude-sonnet-4-5"][0] == 200_000
    assert rows["reseller/claude-sonnet-4.5"][0] == 409_600
    assert rows["open-model"][0] == 131_072
    assert rows["a/open-model"][0] == 32_768
    assert "b/open-model" not in rows
    assert "anthropic.claude-sonnet-4-5-20250929-v1:0" not in rows
