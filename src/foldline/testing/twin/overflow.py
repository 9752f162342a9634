"""How each provider says that a request is too long: its status, its words, its body.

One table by provider. The texts are real ones, quoted from public reports with their numbers taken out; each names its source.
`foldline.classify_error` must read every one of them, which a test holds against the reports themselves. Knows numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from foldline.testing.twin.refused import Refused


class Wording(Struct, frozen=True, kw_only=True):
    """One provider's way. In a text stand `{used}`, `{limit}`, `{output}`, `{total}`, `{messages}`, `{tools}`, `{excess}`."""

    input: str
    """When the input alone is longer than the limit."""
    both: str = ""
    """When input and wanted output together are; empty: that is accepted, and the output cut."""
    status: int = 400
    kind: str = "invalid_request_error"
    code: str | int | None = None
    param: str | None = None
    more: Mapping[str, str] = {}
    """Further keys of the error, by the name of their number."""
    bare: bool = False
    """True where the message stands at the top of the body, not in an `error`."""
    silent: bool = False
    """True where the body is empty."""
    source: str


class Sizes(Struct, frozen=True, kw_only=True):
    """A request in tokens."""

    input: int
    tools: int = 0
    output: int = 0
    """Wanted by the request."""
    limit: int = 0


ANTHROPIC: Final = "prompt is too long: {used} tokens > {limit} maximum"
_OPENAI: Final = (
    "This model's maximum context length is {limit} tokens. However, your messages resulted in {used} tokens ({messages} in "
    "the messages, {tools} in the functions). Please reduce the length of the messages or functions."
)
_COMPLETION: Final = (
    "This model's maximum context length is {limit} tokens. However, you requested {total} tokens ({used} in the messages, "
    "{output} in the completion). Please reduce the length of the messages or completion."
)
_LONG: Final = "context_length_exceeded"

WORDINGS: Final[Mapping[str, Wording]] = {
    "anthropic": Wording(
        input=ANTHROPIC,
        both="input length and `max_tokens` exceed context limit: {used} + {output} > {limit}, decrease input length or "
        "`max_tokens` and try again",
        source="anthropics/claude-code#820; openclaw/openclaw#20539",
    ),
    "anthropic-gateway": Wording(
        input="API Error: The model has reached its context window limit.", source="modu-ai/moai-adk#676"
    ),
    "bedrock": Wording(input=ANTHROPIC, source="strands-agents/harness-sdk#1712"),
    "openai": Wording(
        input=_OPENAI,
        both=_COMPLETION,
        code=_LONG,
        param="messages",
        source="public code; openai/codex#10823",
    ),
    "openai-responses": Wording(
        input="Your input exceeds the context window of this model. Please adjust your input and try again.",
        code=_LONG,
        param="input",
        source="openai/codex#10823",
    ),
    "azure-openai": Wording(
        input=_COMPLETION, both=_COMPLETION, code=_LONG, param="messages", source="public code"
    ),
    "deepseek": Wording(input=_COMPLETION, both=_COMPLETION, source="earendil-works/pi#8196"),
    "xai": Wording(
        input="This model's maximum prompt length is {limit} but the request contains {used} tokens.",
        source="earendil-works/pi#129",
    ),
    "groq": Wording(
        input="Please reduce the length of the messages or completion.",
        code=_LONG,
        param="messages",
        source="langchain-ai/langchain#37533",
    ),
    "groq-tpm": Wording(
        input="Request too large for model `MODEL` in organization `org_x` service tier `on_demand` on tokens per minute "
        "(TPM): Limit {limit}, Requested {used}, please reduce your message size and try again.",
        status=413,
        kind="tokens",
        code="rate_limit_exceeded",
        source="continuedev/continue#10218",
    ),
    "mistral": Wording(
        input="Prompt contains {used} tokens and 0 draft tokens, too large for model with {limit} maximum context length",
        kind="invalid_request_prompt",
        code=3051,
        bare=True,
        source="public code",
    ),
    "vllm": Wording(
        input="This model's maximum context length is {limit} tokens. However, you requested {output} output tokens and your "
        "prompt contains at least {used} input tokens, for a total of at least {total} tokens. Please reduce the length of "
        "the input prompt or the number of requested output tokens. (parameter=input_tokens, value={used})",
        both="This model's maximum context length is {limit} tokens. However, you requested {output} output tokens and your "
        "prompt contains at least {used} input tokens, for a total of at least {total} tokens. Please reduce the length of "
        "the input prompt or the number of requested output tokens. (parameter=input_tokens, value={used})",
        kind="BadRequestError",
        code=400,
        param="input_tokens",
        source="0xku/kon#91",
    ),
    "sglang": Wording(
        input="Requested token count exceeds the model's maximum context length of {limit} tokens. You requested a total of "
        "{total} tokens: {used} tokens from the input messages and {output} tokens for the completion.",
        both="Requested token count exceeds the model's maximum context length of {limit} tokens. You requested a total of "
        "{total} tokens: {used} tokens from the input messages and {output} tokens for the completion.",
        source="public code",
    ),
    "tgi": Wording(
        input="Input validation error: `inputs` tokens + `max_new_tokens` must be <= {limit}. Given: {used} `inputs` tokens "
        "and {output} `max_new_tokens`",
        both="Input validation error: `inputs` tokens + `max_new_tokens` must be <= {limit}. Given: {used} `inputs` tokens "
        "and {output} `max_new_tokens`",
        status=422,
        kind="validation",
        source="public code",
    ),
    "together": Wording(
        input="The input ({used} tokens) is longer than the model's context length ({limit} tokens).",
        source="public code",
    ),
    "openrouter": Wording(
        input="This endpoint's maximum context length is {limit} tokens. However, you requested about {total} tokens "
        "({messages} of text input, {tools} of tool input, {output} in the output). Please reduce the length of either one, "
        "or use the context-compression plugin to compress your prompt automatically.",
        both="This endpoint's maximum context length is {limit} tokens. However, you requested about {total} tokens "
        "({messages} of text input, {tools} of tool input, {output} in the output). Please reduce the length of either one, "
        "or use the context-compression plugin to compress your prompt automatically.",
        source="autohandai/code-cli#100",
    ),
    "github-copilot": Wording(
        input="prompt token count of {used} exceeds the limit of {limit}",
        code="model_max_prompt_tokens_exceeded",
        source="public code",
    ),
    "llama.cpp": Wording(
        input="request ({used} tokens) exceeds the available context size ({limit} tokens), try increasing it",
        kind="exceed_context_size_error",
        code=400,
        more={"n_prompt_tokens": "used", "n_ctx": "limit"},
        source="HKUDS/OpenHarness#199",
    ),
    "ollama": Wording(
        input="prompt too long; exceeded max context length by {excess} tokens", source="public code"
    ),
    "lm-studio": Wording(
        input="The number of tokens to keep from the initial prompt is greater than the context length",
        source="public code",
    ),
    "dashscope": Wording(
        input="<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {limit}]",
        code="invalid_parameter_error",
        source="QwenLM/qwen-code#98",
    ),
    "moonshot": Wording(
        input="Invalid request: Your request exceeded model token limit: {limit} (requested: {used})",
        source="MoonshotAI/kimi-cli#2011",
    ),
    "zai": Wording(input="Prompt exceeds max length", code="1261", source="mangowhoiscloud/geode#668"),
    "minimax": Wording(
        input="invalid params, context window exceeds limit (2013)", code=2013, source="public code"
    ),
    "fireworks": Wording(
        input="The prompt is too long: {used}, model maximum context length: {limit}",
        source="langchain-ai/langchain#37457",
    ),
    "cohere": Wording(
        input="too many tokens: total number of tokens in the prompt cannot exceed {limit} - received {used}. Try using a "
        "shorter prompt, or enabling prompt truncating.",
        bare=True,
        source="public code",
    ),
    "cerebras": Wording(input="", silent=True, source="public code"),
    "gemini": Wording(
        input="The input token count ({used}) exceeds the maximum number of tokens allowed ({limit}).",
        source="google-gemini/gemini-cli#14766",
    ),
    "vertex": Wording(
        input="Unable to submit request because the input token count is {used} but model only supports up to {limit}. Reduce "
        "the input token count and try again.",
        source="public code",
    ),
}
"""By provider: names for `Twin(provider=…)`."""


def over(sizes: Sizes, *, provider: str) -> Refused | None:
    """What the provider says of a request that does not fit; `None` of one that does."""
    wording = WORDINGS[provider]
    if sizes.input > sizes.limit:
        return _refused(wording, sizes, text=wording.input)
    if wording.both and sizes.input + sizes.output > sizes.limit:
        return _refused(wording, sizes, text=wording.both)
    return None


def _refused(wording: Wording, sizes: Sizes, *, text: str) -> Refused:
    numbers = {
        "used": sizes.input,
        "limit": sizes.limit,
        "output": sizes.output,
        "total": sizes.input + sizes.output,
        "messages": sizes.input - sizes.tools,
        "tools": sizes.tools,
        "excess": sizes.input - sizes.limit,
    }
    refused = Refused(
        wording.status, text.format(**numbers), kind=wording.kind, param=wording.param, code=None
    )
    refused.more = {key: numbers[number] for key, number in wording.more.items()}
    if wording.silent:
        refused.body = b""
    elif wording.bare:
        refused.body = _bare(wording, refused.message)
    else:
        refused.more = {**({"code": wording.code} if wording.code is not None else {}), **refused.more}
    return refused


def _bare(wording: Wording, message: str) -> dict[str, Any]:
    told: dict[str, Any] = {"object": "error", "message": message, "type": wording.kind}
    return {**told, "code": wording.code} if wording.code is not None else {"message": message}
