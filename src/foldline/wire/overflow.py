"""What a provider's refusal means for the history: is it too long, and what would help.

Owns one table of wordings, read in one order: throttle → output cap → structure → bytes → overflow. The order is the
point: messages of all five kinds speak of tokens, limits and maxima, and a recovery begun on the wrong one throws history
away for nothing. Knows errors alone; who recovers, and how often, is the caller's affair.

A normal answer that quotes a refusal is no refusal: of a body with status 2xx only its `error` counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.wire import strict

Recovery: TypeAlias = Literal[
    "compact",
    "lower_max_tokens_then_compact",
    "reduce_bytes_then_compact",
    "lower_max_tokens",
    "reduce_bytes",
    "wait",
    "fix_structure",
    "none",
]

MESSAGE_CHARS_MAX: Final = 4_000
"""Of an error's words this much is read; a refusal says what it has to say at its beginning."""
DEPTH_MAX: Final = 6
"""Errors are wrapped by gateways: in `error`, `innererror`, a message that is JSON itself."""
WRAPPED_IN: Final = ("error", "innererror", "body")
USED_FIELD: Final = "n_prompt_tokens"
LIMIT_FIELD: Final = "n_ctx"
"""Under these llama.cpp says the numbers apart from the words."""


class Refusal(Struct, frozen=True, kw_only=True):
    """What an error means."""

    is_overflow: bool
    """True when the conversation is longer than what it was sent to will take."""
    recovery: Recovery
    """What would help; it names compaction exactly when compaction is the remedy, or the next step of it."""
    tokens_used: int | None = None
    """Tokens of the input, where the provider says them."""
    tokens_limit: int | None = None
    """The limit it names: of the window, or of the input alone."""
    is_known: bool = True
    """False for an error in words that no rule here fits: it may mean anything."""


class _Rule(Struct, frozen=True, kw_only=True):
    """One wording. Groups `used`, `limit`, `output` and `total` are numbers of tokens."""

    pattern: re.Pattern[str]
    recovery: Recovery
    is_overflow: bool = False


def _rule(pattern: str, recovery: Recovery, *, overflow: bool = False) -> _Rule:
    return _Rule(pattern=re.compile(pattern, re.IGNORECASE), recovery=recovery, is_overflow=overflow)


def _overflow(pattern: str) -> _Rule:
    return _rule(pattern, "compact", overflow=True)


_N: Final = r"(\d[\d,]{0,14})"
_USED: Final = r"(?P<used>\d[\d,]{0,14})"
_LIMIT: Final = r"(?P<limit>\d[\d,]{0,14})"
_OUTPUT: Final = r"(?P<output>\d[\d,]{0,14})"
_GAP: Final = r"[^\n]{0,200}?"

THROTTLE: Final = (
    # Requested > Limit: no waiting helps, only a smaller request does (continuedev/continue#10218)
    _rule(rf"tokens per min(?:ute)?\b{_GAP}\bLimit {_LIMIT}, Requested {_USED}", "compact", overflow=True),
    _rule(r"extra usage is required for long context|long context beta is not", "compact", overflow=True),
    _rule(r"tokens? per (?:min(?:ute)?|day|hour)\b|per-minute rate limit|\bTP[MD]\b|rate.?limit", "wait"),
    _rule(r"throttl|too many (?:tokens|requests)[^\n]{0,40}?wait|overloaded|temporarily unavailable", "wait"),
    _rule(r"RESOURCE_EXHAUSTED", "wait"),
    _rule(r"quota|billing|credit balance|insufficient_quota|payment required", "none"),
)
OUTPUT_CAP: Final = (
    # Anthropic: the input fits, input and output together do not
    _rule(
        rf"input length and `?max_tokens`? exceed context limit: {_USED} \+ {_OUTPUT} > {_LIMIT}",
        "compact",
        overflow=True,
    ),
    _rule(
        rf"`?inputs`? tokens \+ `?max_new_tokens`? must be <= {_LIMIT}\. Given: {_USED} `?inputs`? tokens and {_OUTPUT}",
        "compact",
        overflow=True,
    ),
    _rule(
        r"max_?(?:output_?|completion_|new_)?tokens: ?\d+ > \d+, which is the maximum allowed number of output",
        "lower_max_tokens",
    ),
    _rule(
        r"max_?(?:output_?|completion_|new_)?tokens[^\n]{0,60}?(?:supported range|valid range|at most|less than or equal|too large)",
        "lower_max_tokens",
    ),
    _rule(r"max_tokens`? must be greater than `?thinking\.budget_tokens", "fix_structure"),
)
STRUCTURE: Final = (
    _rule(
        r"tool_use_id|tool_result|tool_use\b|tool output found|tool_call_id|function call(?:_output)?\b",
        "fix_structure",
    ),
    _rule(r"redacted_thinking|thinking[^\n]{0,40}?blocks?|signature", "fix_structure"),
    _rule(r"not valid JSON|invalid JSON|surrogate|arguments json string", "fix_structure"),
    _rule(
        r"must be non-empty|must not be empty|last role to be one of|roles must alternate", "fix_structure"
    ),
)
BYTES: Final = (
    _rule(
        r"(?:payload|body|request)[^\n]{0,40}?(?:exceeds|too large|exceeded)[^\n]{0,60}?(?:bytes|\bMB\b)",
        "reduce_bytes",
    ),
    _rule(r"request exceeds the maximum size|request_too_large|request entity too large", "reduce_bytes"),
    _rule(r"number of images|too many images|image[^\n]{0,40}?exceeds", "reduce_bytes"),
    _rule(r"content\[\d+\][^\n]{0,20}?string too long", "reduce_bytes"),
    _rule(r"string too long", "fix_structure"),
    _overflow(r"too many total text bytes"),
)
OVERFLOW: Final = (
    _overflow(rf"prompt is too long: {_USED} tokens > {_LIMIT} maximum"),
    _overflow(rf"prompt is too long: {_USED}, model maximum context length: {_LIMIT}"),
    _overflow(
        rf"maximum context length (?:is|of) {_LIMIT} tokens{_GAP}requested {_OUTPUT} output tokens and your prompt contains at least {_USED}"
    ),
    _overflow(
        rf"maximum context length (?:is|of) {_LIMIT} tokens{_GAP}requested about {_N} tokens \({_USED} of text input, (?P<more>\d[\d,]{{0,14}}) of tool input, {_OUTPUT} in the output"
    ),
    _overflow(
        rf"maximum context length (?:is|of) {_LIMIT} tokens{_GAP}\({_USED} in the messages(?:, \d+ in the functions)?, {_OUTPUT} in the completion"
    ),
    _overflow(
        rf"maximum context length (?:is|of) {_LIMIT} tokens{_GAP}\({_USED} in your prompt; {_OUTPUT} for the completion"
    ),
    _overflow(
        rf"maximum context length (?:is|of) {_LIMIT} tokens{_GAP}: {_USED} tokens from the input messages and {_OUTPUT} tokens for the completion"
    ),
    _overflow(rf"maximum context length (?:is|of) {_LIMIT} tokens{_GAP}resulted in {_USED} tokens"),
    _overflow(rf"maximum prompt length is {_LIMIT} but the request contains {_USED}"),
    _overflow(rf"configured limit of {_LIMIT} tokens{_GAP}resulted in {_USED} tokens"),
    _overflow(rf"input token count \({_USED}\) exceeds the maximum number of tokens allowed \({_LIMIT}\)"),
    _overflow(rf"input token count is {_USED} but model only supports up to {_LIMIT}"),
    _overflow(
        rf"prompt contains {_USED} tokens{_GAP}too large for model with {_LIMIT} maximum context length"
    ),
    _overflow(rf"input \({_USED} tokens\) is longer than the model's context length \({_LIMIT} tokens\)"),
    _overflow(r"input length exceeds the (?:maximum )?context length"),
    _overflow(rf"input length {_USED} exceeds the maximum allowed input length of {_LIMIT}"),
    _overflow(rf"`?inputs`? must have less than {_LIMIT} tokens\. Given: {_USED}"),
    _overflow(rf"prompt token count of {_USED} exceeds the limit of {_LIMIT}"),
    _overflow(rf"request \({_USED} tokens\) exceeds the available context size \({_LIMIT} tokens\)"),
    _overflow(rf"model token limit: {_LIMIT} \(requested: {_USED}\)"),
    _overflow(rf"tokens in the prompt cannot exceed {_LIMIT} - received {_USED}"),
    _overflow(rf"range of input length should be \[\d+, {_LIMIT}\]"),
    _overflow(r"context_length_exceeded|exceed_context_size_error|model_max_prompt_tokens_exceeded"),
    _overflow(
        r"exceeds? the (?:context window|available context size)|context window exceeds limit|reached its context window limit"
    ),
    _overflow(r"(?:prompt|input)(?: is)? too long\b|prompt exceeds max length|exceeded max context length"),
    _overflow(r"tokens to keep from the initial prompt is greater than the context length"),
    _overflow(r"reduce the length of the messages"),
    _overflow(
        r"(?:prompt|输入)(?:内容|长度|文本)?\s?(?:过长|超长|太长)|超[过出]了?模型(?:的)?最大(?:上下文|输入)(?:长度|窗口)"
    ),
    _overflow(r"ContextWindowExceededError"),
)
ORDER: Final = (*THROTTLE, *OUTPUT_CAP, *STRUCTURE, *BYTES, *OVERFLOW)
"""Every wording, in the order in which it is looked for."""
_SAYS_NOTHING: Final = re.compile(r"(?:\d{3} status code \(no body\))?")


def classify_error(
    provider: str | None = None,
    status: int | str | None = None,
    body: Mapping[str, Any] | str | bytes | None = None,
) -> Refusal:
    """What a provider's error means. `body`: the decoded JSON, or the text that came; an SDK's message will do.

    Never raises: what it does not know is no overflow, and `recovery` is `none` (or `wait`, for a server's own fault). A
    server's own fault is an overflow only in unmistakable words: those that name tokens and a limit they are over.
    `provider` settles only what words do not: an empty 400 or 413 of a gateway known to answer an overflow so.
    """
    code = _code(status)
    words = "\n".join(_words(body, code))[:MESSAGE_CHARS_MAX]
    told = _told(words)
    if code is not None and code >= 500:
        return told if told is not None and _is_plain(told, words) else _server_fault(words)
    if told is not None:
        return _with_fields(told, body)
    if code in (400, 413) and provider in _SILENT and _SAYS_NOTHING.fullmatch(words.strip()):
        return Refusal(is_overflow=True, recovery="compact")
    if code == 413:
        return Refusal(is_overflow=False, recovery="reduce_bytes")
    return Refusal(is_overflow=False, recovery="wait" if code == 429 else "none", is_known=code == 429)


def _code(status: object) -> int | None:
    """A status as a number; one that came as text counts too, what is neither is none."""
    if isinstance(status, str) and re.fullmatch(r"[0-9]{3}", status.strip(), re.ASCII):
        return int(status)
    return status if isinstance(status, int) else None


def _told(words: str) -> Refusal | None:
    """What the first wording that fits says."""
    for rule in ORDER:
        found = rule.pattern.search(words)
        if found is not None:
            return _refusal(rule, found)
    return None


def _with_fields(told: Refusal, body: object) -> Refusal:
    """An overflow whose words have no numbers, with those that stand beside them (llama.cpp before it wrote both:
    anomalyco/opencode#50187)."""
    if not told.is_overflow or told.tokens_limit is not None:
        return told
    return replace(
        told,
        tokens_used=told.tokens_used or _field(body, USED_FIELD),
        tokens_limit=_field(body, LIMIT_FIELD),
    )


def _field(value: object, name: str, *, depth: int = 0) -> int | None:
    """A number of an error, through whatever a gateway wrapped around it."""
    told = _object(value) if isinstance(value, (str, bytes)) else value
    if depth > DEPTH_MAX or not isinstance(told, Mapping):
        return None
    number = told.get(name)
    if isinstance(number, int) and not isinstance(number, bool) and number > 0:
        return number
    inner = (_field(told.get(key), name, depth=depth + 1) for key in WRAPPED_IN)
    return next((found for found in inner if found is not None), None)


def _is_plain(told: Refusal, words: str) -> bool:
    """True for an overflow that no fault of a server is mistaken for: more tokens than the limit it names, or a gateway's
    own name for it."""
    if not told.is_overflow:
        return False
    used, limit = told.tokens_used, told.tokens_limit
    over = used is not None and limit is not None and (used > limit or "lower" in told.recovery)
    return over or _GATEWAY.search(words) is not None


def _server_fault(words: str) -> Refusal:
    return Refusal(is_overflow=False, recovery="none" if "batch size" in words else "wait")


_GATEWAY: Final = re.compile(r"ContextWindowExceededError|context_length_exceeded")
"""Names that say it without numbers."""

_SILENT: Final = frozenset({"cerebras"})
"""Providers that answer an overflow without a word (pi's table of providers)."""


def _refusal(rule: _Rule, found: re.Match[str]) -> Refusal:
    told = {name: int(text.replace(",", "")) for name, text in found.groupdict().items() if text}
    used, limit, output = told.get("used"), told.get("limit"), told.get("output")
    if used is not None:
        used += told.get("more", 0)
    recovery, is_overflow = rule.recovery, rule.is_overflow
    if used is not None and limit is not None and is_overflow:
        if rule in THROTTLE and used <= limit:
            return Refusal(is_overflow=False, recovery="wait", tokens_used=used, tokens_limit=limit)
        if output and used <= limit:
            recovery, is_overflow = _by_output(used, output=output, limit=limit)
    return Refusal(is_overflow=is_overflow, recovery=recovery, tokens_used=used, tokens_limit=limit)


def _by_output(used: int, *, output: int, limit: int) -> tuple[Recovery, bool]:
    """Where the input alone fits: less output helps, at once where the input is small, else as a first step."""
    if output <= 1:
        return "compact", True
    return ("lower_max_tokens", False) if used * SMALL < limit else ("lower_max_tokens_then_compact", True)


SMALL: Final = 4
"""An input below this fraction of the limit is not what is too long."""


def _words(value: object, status: int | None, *, depth: int = 0) -> Iterator[str]:
    """What an error says: its message, code and type, through whatever a gateway wrapped around it."""
    if depth > DEPTH_MAX:
        return
    told = _object(value) if isinstance(value, (str, bytes)) else value
    if isinstance(told, str):
        yield told
    elif isinstance(told, Mapping) and not (_is_answer(told, status) and depth == 0):
        for key in ("message", "detail", "code", "type", "status", "__type"):
            if isinstance(word := told.get(key), (str, int)):
                yield from _words(str(word), status, depth=depth + 1)
        for key in WRAPPED_IN:
            yield from _words(told.get(key), status, depth=depth + 1)


def _is_answer(body: Mapping[str, Any], status: int | None) -> bool:
    return status is not None and status < 300 and "error" not in body


def _object(text: str | bytes) -> Mapping[str, Any] | str:
    """The JSON object that a text is, or the text."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not text.lstrip().startswith("{"):
        return text
    try:
        value = strict.loads(text.encode("utf-8", "replace"))
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
