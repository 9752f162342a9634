"""Usage: what a provider said one response cost, normalised so that every input token is counted once.

Owns one table: for each wire format, and for each session format that stores counts under names of its own, where the
numbers stand and whether the input already contains the cache. Knows nothing of messages; its counterpart, which adds
an estimate of what came after, is the budget.

    Anthropic   input_tokens ─┐ cache_read ─┐ cache_creation ─┐     three disjoint counts: added
    OpenAI      prompt_tokens ──────────────┘ (cached inside) │     one count: the cache is a part of it
    Gemini      promptTokenCount ─ (cached inside) · thoughts are output · tool prompts are input

Zero and missing are "unknown", never a measurement (Gitlawb/openclaude#2136, joryirving/home-ops#9725).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from foldline.core.message import Usage


class UsageShape(Struct, frozen=True, kw_only=True, gc=False):
    """Where one format keeps its counts. A path is dotted; of several paths in one field the first that holds a
    number counts."""

    input: tuple[str, ...]
    output: tuple[str, ...]
    cache_inside: bool
    """True when the input count already contains cache reads and writes."""
    cache_read: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    input_extra: tuple[str, ...] = ()
    """Input the first count leaves out."""
    output_extra: tuple[str, ...] = ()
    """Output the first count leaves out."""
    source: str
    """Where the rule is written down or was measured."""


_OPENAI_DETAILS = ("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens")
_OPENAI_WRITES = ("prompt_tokens_details.cache_write_tokens", "input_tokens_details.cache_write_tokens")

SHAPES: dict[str, UsageShape] = {
    "anthropic": UsageShape(
        input=("input_tokens",),
        output=("output_tokens",),
        cache_inside=False,
        cache_read=("cache_read_input_tokens",),
        cache_write=("cache_creation_input_tokens",),
        total=("total_tokens",),  # not Anthropic's own: look-alikes send it, and it settles what they mean
        source="requirement TOK-4; types/usage.py of anthropic 2.14: separate counts",
    ),
    "openai-chat": UsageShape(
        input=("prompt_tokens", "input_tokens"),
        output=("completion_tokens", "output_tokens"),
        cache_inside=True,
        cache_read=(*_OPENAI_DETAILS, "prompt_cache_hit_tokens"),
        cache_write=_OPENAI_WRITES,
        total=("total_tokens",),
        source="types/completion_usage.py of openai 3.57: total_tokens is prompt + completion; anomalyco/opencode#4416",
    ),
    "openai-responses": UsageShape(
        input=("input_tokens", "prompt_tokens"),
        output=("output_tokens", "completion_tokens"),
        cache_inside=True,
        cache_read=_OPENAI_DETAILS,
        cache_write=_OPENAI_WRITES,
        total=("total_tokens",),
        source="types/responses/response_usage.py of openai 3.57: cached_tokens break down the input",
    ),
    "gemini": UsageShape(
        input=("promptTokenCount", "prompt_token_count"),
        output=("candidatesTokenCount", "candidates_token_count"),
        cache_inside=True,
        cache_read=("cachedContentTokenCount", "cached_content_token_count"),
        total=("totalTokenCount", "total_token_count"),
        input_extra=("toolUsePromptTokenCount", "tool_use_prompt_token_count"),
        output_extra=("thoughtsTokenCount", "thoughts_token_count"),
        source="google-genai 3.6: the prompt count includes cached content; total = prompt + candidates + tool use + thoughts",
    ),
    "gemini-cli": UsageShape(
        input=("input",),
        output=("output",),
        cache_inside=True,
        cache_read=("cached",),
        total=("total",),
        input_extra=("tool",),
        output_extra=("thoughts",),
        source="chatRecordingTypes.ts of gemini-cli: the counts of generateContent under short names",
    ),
    "codex": UsageShape(
        input=("input_tokens",),
        output=("output_tokens",),
        cache_inside=True,
        cache_read=("cached_input_tokens",),
        cache_write=("cache_write_input_tokens",),
        total=("total_tokens",),
        source="last_token_usage of token_count events: total_tokens = input + output while 3,584 are cached",
    ),
    "pi": UsageShape(
        input=("input",),
        output=("output",),
        cache_inside=False,
        cache_read=("cacheRead",),
        cache_write=("cacheWrite",),
        total=("totalTokens",),
        source="measured: totalTokens is the sum of the four in 484 of 484 records of a real session",
    ),
    "kimi": UsageShape(
        input=("inputOther",),
        output=("output",),
        cache_inside=False,
        cache_read=("inputCacheRead",),
        cache_write=("inputCacheCreation",),
        source="step.end events: inputOther is what neither cache count holds",
    ),
    "trae": UsageShape(
        input=("input_tokens",),
        output=("output_tokens",),
        cache_inside=True,
        cache_read=("cache_read_input_tokens",),
        cache_write=("cache_creation_input_tokens",),
        source="measured: gpt-5 runs give 271,104 of 271,315 input tokens as cached; a run on provider"
        " `anthropic` is read as `anthropic`",
    ),
    "langgraph": UsageShape(
        input=("input_tokens",),
        output=("output_tokens",),
        cache_inside=True,
        cache_read=("input_token_details.cache_read",),
        cache_write=("input_token_details.cache_creation",),
        total=("total_tokens",),
        source="langchain-core `UsageMetadata`: input_tokens is the sum of all input token types",
    ),
    "atif": UsageShape(
        input=("prompt_tokens",),
        output=("completion_tokens",),
        cache_inside=True,
        cache_read=("cached_tokens",),
        source="ATIF 1.8 `Metrics`: cached_tokens is a subset of prompt_tokens",
    ),
}
"""One row a format; the names are the format names of the package, `gemini-cli` apart."""


class UsageReading(Struct, frozen=True, kw_only=True, gc=False):
    """What a usage value says, and why not where it says nothing."""

    usage: Usage | None = None
    reason: str | None = None
    """Why `usage` is `None`: `missing`, `zero`, `above window`."""
    tokens_claimed: int = 0
    """The input that was claimed, where it is above the window."""
    corrected: bool = False
    """True when arithmetic proved that the format's own rule would count the cache twice."""


def read_usage(
    usage: Mapping[str, Any] | None, *, format: str, tokens_window: int | None = None
) -> Usage | None:
    """The usage of one response, or `None` where it says nothing that may be trusted; `judge_usage` says why.

    `format` is a key of `SHAPES` (`KeyError` otherwise); `tokens_window` is the model's window in tokens.
    """
    return judge_usage(usage, format=format, tokens_window=tokens_window).usage


def judge_usage(
    usage: Mapping[str, Any] | None, *, format: str, tokens_window: int | None = None
) -> UsageReading:
    """As `read_usage`, with the reason."""
    shape = SHAPES[format]
    if not usage:
        return UsageReading(reason="missing")
    counts = _last_iteration(usage)
    base, output = _first(counts, shape.input), _first(counts, shape.output)
    total = _first(usage if counts is usage else {}, shape.total)
    if base is None and output is None and total is None:
        return UsageReading(reason="missing")
    base = (base or 0) + (_first(counts, shape.input_extra) or 0)
    output = (output or 0) + (_first(counts, shape.output_extra) or 0)
    read, written = _first(counts, shape.cache_read) or 0, _first(counts, shape.cache_write) or 0
    apart = 0 if shape.cache_inside else read + written
    corrected = bool(apart) and _counts_twice(
        base, apart, sum_inside=base + output, total=total, window=tokens_window
    )
    tokens_input = base if corrected else base + apart
    return _judge(
        Usage(
            tokens_input=tokens_input or max((total or 0) - output, 0),
            tokens_output=output,
            tokens_cache_read=read,
            tokens_cache_write=written,
            tokens_total=total or None,
        ),
        tokens_window=tokens_window,
        corrected=corrected,
    )


def _counts_twice(base: int, apart: int, *, sum_inside: int, total: int | None, window: int | None) -> bool:
    """True when adding the cache to the input contradicts the provider's own total or the window, and not adding
    it does not: names like Anthropic's with a meaning like OpenAI's (openclaw/openclaw#68470)."""
    if total:
        return sum_inside + apart > total and sum_inside <= total and apart <= base
    return window is not None and base + apart > window and apart <= base <= window


def _judge(usage: Usage, *, tokens_window: int | None, corrected: bool) -> UsageReading:
    """Refuse what cannot be a measurement."""
    if usage.tokens_input <= 0:  # no request has an empty input
        return UsageReading(reason="zero")
    if tokens_window is not None and usage.tokens_input > tokens_window:
        # seen for single samples, two and four times the truth (anthropics/claude-code#82863)
        return UsageReading(reason="above window", tokens_claimed=usage.tokens_input)
    inside = usage.tokens_input
    read = min(usage.tokens_cache_read, inside)
    total = usage.tokens_total
    if total and tokens_window is not None and total > tokens_window >= inside + usage.tokens_output:
        total = None  # the sum of the parts fits, so the total is what is wrong
    return UsageReading(
        usage=Usage(
            tokens_input=inside,
            tokens_output=usage.tokens_output,
            tokens_cache_read=read,
            tokens_cache_write=min(usage.tokens_cache_write, inside - read),
            tokens_total=total,
        ),
        corrected=corrected,
    )


def _last_iteration(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    """The counts that give the size of the context: of the last sampling, where Anthropic lists iterations (the top
    level adds them up; an entry of type `compaction` is the cost of a compaction and never gives a size)."""
    iterations = usage.get("iterations")
    if isinstance(iterations, list):
        for entry in reversed(iterations):
            if isinstance(entry, Mapping) and entry.get("type") in ("message", "fallback_message"):
                return entry
    return usage


def _first(counts: Mapping[str, Any], paths: tuple[str, ...]) -> int | None:
    """The first count among `paths`; `None` where none is a number of tokens."""
    for path in paths:
        key, _, inside = path.partition(".")
        value = counts.get(key)
        if inside and value is not None:
            value = (
                value.get(inside) if isinstance(value, (dict, Mapping)) else None
            )  # asking a class is slow
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53:
            return int(value)
    return None
