"""Usage, format by format: each token once, unknown where nothing is known, refused where it cannot be true."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.message import Usage
from foldline.wire.usage import SHAPES, judge_usage, read_usage

ANTHROPIC = {
    "input_tokens": 10,
    "cache_read_input_tokens": 900,
    "cache_creation_input_tokens": 90,
    "output_tokens": 50,
}
OPENAI_CHAT = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "total_tokens": 1050,
    "prompt_tokens_details": {"cached_tokens": 900},
}
RESPONSES = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 90},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 1050,
}
GEMINI = {
    "promptTokenCount": 990,
    "cachedContentTokenCount": 900,
    "toolUsePromptTokenCount": 10,
    "candidatesTokenCount": 30,
    "thoughtsTokenCount": 20,
    "totalTokenCount": 1050,
}
PI = {"input": 10, "cacheRead": 900, "cacheWrite": 90, "output": 50, "totalTokens": 1050}
KIMI = {"inputOther": 10, "inputCacheRead": 900, "inputCacheCreation": 90, "output": 50}
TRAE = {"input_tokens": 1000, "cache_read_input_tokens": 900, "output_tokens": 50, "reasoning_tokens": 20}
CODEX = {"input_tokens": 1000, "cached_input_tokens": 900, "output_tokens": 50, "total_tokens": 1050}
GEMINI_CLI = {"input": 990, "cached": 900, "tool": 10, "output": 30, "thoughts": 20, "total": 1050}
LANGGRAPH = {
    "input_tokens": 1000,
    "output_tokens": 50,
    "total_tokens": 1050,
    "input_token_details": {"cache_read": 900},
}
ATIF = {"prompt_tokens": 1000, "completion_tokens": 50, "cached_tokens": 900}

EVERY: dict[str, dict[str, Any]] = {
    "anthropic": ANTHROPIC,
    "openai-chat": OPENAI_CHAT,
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
    "gemini-cli": GEMINI_CLI,
    "codex": CODEX,
    "pi": PI,
    "kimi": KIMI,
    "trae": TRAE,
    "langgraph": LANGGRAPH,
    "atif": ATIF,
}


def read(usage: dict[str, Any], format: str, window: int | None = None) -> Usage:
    found = read_usage(usage, format=format, tokens_window=window)
    assert found is not None
    return found


@pytest.mark.parametrize("format", sorted(SHAPES))
def test_the_same_response_reads_the_same_in_every_format(format: str) -> None:
    """TOK-4, TOK-3: a thousand tokens in, of which 900 from the cache, and fifty out, whatever the names are."""
    found = read(EVERY[format], format)

    assert (found.tokens_input, found.tokens_output, found.tokens_cache_read) == (1000, 50, 900)
    assert found.tokens_context == 1050


def test_openai_counts_that_contain_the_cache_are_not_raised_by_it() -> None:
    """TOK-4, anomalyco/opencode#4416: 184,704 input tokens of which 183,936 are cached are 184,704."""
    usage = {
        "input_tokens": 184704,
        "input_tokens_details": {"cached_tokens": 183936},
        "output_tokens": 49,
        "total_tokens": 184753,
    }

    assert read(usage, "openai-chat").tokens_context == 184753
    assert read(usage, "openai-responses").tokens_input == 184704


def test_anthropic_fields_beside_openai_counts_are_ignored_however_large() -> None:
    """TOK-4: gateways add `cache_read_input_tokens` to OpenAI usage."""
    usage = OPENAI_CHAT | {"cache_read_input_tokens": 10**6, "cache_creation_input_tokens": 10**6}

    assert read(usage, "openai-chat") == read(OPENAI_CHAT, "openai-chat")


def test_the_larger_of_total_and_sum_is_the_floor() -> None:
    """TOK-3: usage floor = max(total, prompt + completion)."""
    low = read(OPENAI_CHAT | {"total_tokens": 900}, "openai-chat")
    high = read(OPENAI_CHAT | {"total_tokens": 1200}, "openai-chat")

    assert (low.tokens_context, high.tokens_context) == (1050, 1200)


def test_a_missing_half_falls_back_to_the_other() -> None:
    """TOK-3: only a total, or only the two counts."""
    assert read({"total_tokens": 1050, "completion_tokens": 50}, "openai-chat").tokens_input == 1000
    assert read({"prompt_tokens": 1000, "completion_tokens": 50}, "openai-chat").tokens_context == 1050


@pytest.mark.parametrize("usage", [None, {}, {"service_tier": "standard"}, {"input_tokens": None}])
def test_missing_usage_is_unknown(usage: dict[str, Any] | None) -> None:
    """TOK-3, joryirving/home-ops#9725: unknown is unknown, never a sentinel."""
    assert read_usage(usage, format="anthropic") is None
    assert judge_usage(usage, format="anthropic").reason == "missing"


@pytest.mark.parametrize("output", [0, 12])
def test_zero_input_is_unknown(output: int) -> None:
    """Gitlawb/openclaude#2136: a local server reports zeros all session."""
    usage = {"prompt_tokens": 0, "completion_tokens": output, "total_tokens": 0}

    assert judge_usage(usage, format="openai-chat").reason == "zero"


@pytest.mark.parametrize(("tokens", "known"), [(1_000_000, True), (1_000_001, False)])
def test_a_sample_above_the_window_is_refused(tokens: int, known: bool) -> None:
    """anthropics/claude-code#82863: counts of four times the truth, for one response."""
    reading = judge_usage({"input_tokens": tokens}, format="anthropic", tokens_window=1_000_000)

    assert (reading.usage is not None) is known
    assert reading.reason == (None if known else "above window")


def test_output_may_stand_beside_a_full_input() -> None:
    """Gemini's window is the input's alone: input and output together may exceed it."""
    usage = {"promptTokenCount": 1_040_000, "candidatesTokenCount": 60_000}

    assert read(usage, "gemini", 1_048_576).tokens_context == 1_100_000


def test_a_total_above_the_window_gives_way_to_a_sum_that_fits() -> None:
    """anthropics/claude-code#82863, the sibling: only the total is inflated."""
    found = read(OPENAI_CHAT | {"total_tokens": 400_000}, "openai-chat", 128_000)

    assert found.tokens_context == 1050


def test_a_total_proves_that_the_cache_is_already_inside() -> None:
    """openclaw/openclaw#68470: Anthropic's names with OpenAI's meaning."""
    usage = {
        "input_tokens": 55000,
        "cache_read_input_tokens": 51000,
        "output_tokens": 300,
        "total_tokens": 55300,
    }
    reading = judge_usage(usage, format="anthropic")

    assert reading.corrected
    assert reading.usage is not None
    assert (reading.usage.tokens_input, reading.usage.tokens_context) == (55000, 55300)


def test_the_window_proves_that_the_cache_is_already_inside() -> None:
    """openclaw/openclaw#68470: 150,000 + 140,000 cannot stand in a window of 200,000; without it, they can."""
    usage = {"input_tokens": 150_000, "cache_read_input_tokens": 140_000, "output_tokens": 300}

    assert read(usage, "anthropic", 200_000).tokens_input == 150_000
    assert read(usage, "anthropic", 1_000_000).tokens_input == 290_000


def test_a_true_anthropic_total_adds_the_cache() -> None:
    """TOK-4: a total that agrees with the sum proves nothing wrong."""
    assert read(ANTHROPIC | {"total_tokens": 1050}, "anthropic").tokens_input == 1000


def test_cache_reads_larger_than_the_input_are_never_taken_for_a_part_of_it() -> None:
    """TOK-4: 10 + 900 above a window of 500 is a bad sample, not an input of 10."""
    assert judge_usage(ANTHROPIC, format="anthropic", tokens_window=500).reason == "above window"


def test_the_last_sampling_gives_the_size_and_a_compaction_never_does() -> None:
    """`BetaUsage.iterations` of anthropic 2.14: "Do not derive the context window size from a `compaction` entry"."""
    entry = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 10}
    usage = {
        "input_tokens": 130_000,
        "output_tokens": 20,
        "iterations": [
            {"type": "message", "input_tokens": 90_000, **entry},
            {"type": "message", "input_tokens": 40_000, **entry},
            {"type": "compaction", "input_tokens": 3_000, **entry},
        ],
    }

    assert read(usage, "anthropic").tokens_context == 40_010


def test_a_response_that_only_compacted_says_nothing_of_the_context() -> None:
    """The top level leaves compactions out, so that it is zero here."""
    usage = {
        "input_tokens": 0,
        "output_tokens": 0,
        "iterations": [{"type": "compaction", "input_tokens": 3_000}],
    }

    assert read_usage(usage, format="anthropic") is None


@pytest.mark.parametrize("value", [-5, True, "1000", float("nan"), 2**60])
def test_what_is_no_count_is_missing(value: Any) -> None:
    """TOK-3: counts are whole numbers of tokens."""
    assert read_usage({"input_tokens": value}, format="anthropic") is None


def test_gemini_reads_in_both_spellings() -> None:
    """SDK dicts use snake_case, the wire camelCase."""
    snake = {
        "prompt_token_count": 990,
        "cached_content_token_count": 900,
        "tool_use_prompt_token_count": 10,
        "candidates_token_count": 30,
        "thoughts_token_count": 20,
        "total_token_count": 1050,
    }

    assert read(snake, "gemini") == read(GEMINI, "gemini")
