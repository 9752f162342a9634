"""The types of the parameters that the twin reads, by dialect: what is of another type is refused in the provider's words.

The judges know the history alone; beside it stand numbers, switches and small objects, which a client may get wrong too. What the
twin does not read may be of any type. Sources: the SDKs' parameter types; the wording of type errors is that of each API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec import Struct

from foldline.testing.twin.refused import Refused

Object = dict[str, Any]


class Words(Protocol):
    """How a provider says that something is of the wrong type."""

    def __call__(self, place: str, wanted: str, *, given: str) -> Refused: ...


class Value(Struct):
    """A kind of number and the number, as Anthropic writes triggers and limits."""

    type: str
    value: int


class Kept(Struct):
    """How much thinking stays."""

    type: Literal["all", "thinking_turns"]
    value: int | None = None


class ClearToolUses(Struct):
    """`clear_tool_uses_20250919`."""

    trigger: Value | None = None
    keep: Value | None = None
    clear_at_least: Value | None = None
    exclude_tools: list[str] | None = None
    clear_tool_inputs: bool | list[str] | None = None


class ClearThinking(Struct):
    """`clear_thinking_20251015`."""

    keep: Kept | Literal["all"] | None = None


class Compact(Struct):
    """`compact_20260112`."""

    trigger: Value | None = None
    instructions: str | None = None
    pause_after_compaction: bool | None = None


EDITS: Final[Mapping[str, type[Struct]]] = {
    "clear_thinking_20251015": ClearThinking,
    "clear_tool_uses_20250919": ClearToolUses,
    "compact_20260112": Compact,
}


class Managed(Struct):
    """Anthropic's context management."""

    edits: list[Object] = []


class Binding(Struct):
    """What becomes of thinking from another conversation."""

    prefix_mismatch_behavior: str | None = None


class Thinking(Struct):
    """Anthropic's thinking."""

    type: str
    budget_tokens: int | None = None
    block_binding: Binding | None = None


class Mark(Struct):
    """A cache mark of a whole request."""

    type: str
    ttl: str = "5m"


class Thread(Struct):
    """A conversation that the server holds."""

    type: Literal["create", "continue"]
    previous_message_id: str | None = None


class Summarize(Struct):
    """A compaction on demand."""

    type: Literal["summarize"]
    instructions: str | None = None


class Spoken(Struct):
    """A block of a system prompt."""

    type: str
    text: str


class Messages(Struct):
    """Of Anthropic's Messages."""

    model: str
    system: str | list[Spoken] = ""
    max_tokens: int = 0
    stream: bool | None = None
    tools: list[Object] | None = None
    tool_choice: Object | None = None
    thinking: Thinking | None = None
    cache_control: Mark | None = None
    context_management: Managed | None = None
    compaction: Summarize | None = None
    thread: Thread | None = None


class StreamOptions(Struct):
    """What a stream of Chat Completions carries."""

    include_usage: bool | None = None


class Chat(Struct):
    """Of OpenAI's Chat Completions."""

    model: str
    messages: list[Any]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    tools: list[Object] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    prompt_cache_key: str | None = None


class Threshold(Struct):
    """One entry of OpenAI's context management."""

    type: str
    compact_threshold: int | None = None


class Responses(Struct):
    """Of OpenAI's Responses, its compact endpoint and its count."""

    model: str | None = None
    input: str | list[Any] | None = None
    instructions: str | None = None
    stream: bool | None = None
    store: bool | None = None
    include: list[str] | None = None
    tools: list[Object] | None = None
    max_output_tokens: int | None = None
    previous_response_id: str | None = None
    context_management: list[Threshold] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    prompt_cache_key: str | None = None


class Generation(Struct, rename="camel"):
    """Gemini's configuration of an answer."""

    max_output_tokens: int | None = None


class Contents(Struct, rename="camel"):
    """Of Gemini's requests."""

    tools: list[Object] | None = None
    generation_config: Generation | None = None


def check(value: Any, kind: type[Struct], *, words: Words, place: str = "") -> None:
    """Raises what `words` makes of place, wanted and given type, for a value that is not of `kind`."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        why, _, where = str(error).partition(" - at ")
        found = _EXPECTED.match(why)
        wanted, given = (found["wanted"], found["given"] or "null") if found else ("valid", "invalid")
        raise words(_path(place, where), wanted, given=given) from None


_EXPECTED: Final = re.compile(r"Expected `(?P<wanted>[^`]+)`(?:, got `(?P<given>[^`]+)`)?")


def _path(place: str, where: str) -> str:
    """`$.edits[...].type` as `edits.0.type`."""
    steps = re.findall(r"\w+", where.replace("[...]", ".0"))
    return ".".join([place, *steps] if place else steps)


_PYDANTIC: Final = {
    "int": "integer",
    "str": "string",
    "bool": "boolean",
    "array": "list",
    "object": "dictionary",
}
_OPENAI: Final = {
    "int": "an integer",
    "str": "a string",
    "bool": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
    "float": "a decimal",
}


def _first(kinds: str) -> str:
    return kinds.partition(" | ")[0]


def anthropic(place: str, wanted: str, *, given: str) -> Refused:
    """As Anthropic says it."""
    return Refused(400, f"{place}: Input should be a valid {_PYDANTIC.get(_first(wanted), _first(wanted))}")


def openai(place: str, wanted: str, *, given: str) -> Refused:
    """As OpenAI says it."""
    want, got = _OPENAI.get(_first(wanted), _first(wanted)), _OPENAI.get(given, given)
    message = f"Invalid type for '{place}': expected {want}, but got {got} instead."
    return Refused(400, message, param=place, code="invalid_type")


def gemini(place: str, wanted: str, *, given: str) -> Refused:
    """As Google says it."""
    return Refused(400, f"Invalid value at '{place}' ({_first(wanted).upper()}), {given}")
