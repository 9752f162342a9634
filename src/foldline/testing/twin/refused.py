"""The exception that ends a request inside the twin, and the words each provider has for what is out of order.

A dialect raises `Refused` and the server writes it as that dialect's error body. What the judges find is put into the
provider's own words here, so that a client's recovery is tried on what it will meet. Sources stand beside the rules of
`foldline.testing.judges`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from foldline.testing.judges.rule import Finding


class Refused(Exception):
    """The request is not answered."""

    def __init__(
        self, status: int, message: str, *, kind: str = "", code: str | None = None, param: str | None = None
    ) -> None:
        self.status, self.message, self.kind, self.code, self.param = status, message, kind, code, param
        self.more: Mapping[str, Any] = {}
        """Further keys of the error body."""
        self.body: Any = None
        """The whole body, where it is not the dialect's own."""
        super().__init__(message)


Words = Mapping[str, Callable[[Finding, Mapping[str, Any]], str]]
"""By rule of a judge: the message."""


def refusal_of(finding: Finding, body: Mapping[str, Any], *, words: Words) -> Refused:
    """What the provider says of a violation."""
    said = words.get(finding.rule)
    message = said(finding, body) if said else f"{finding.place}: {finding.why}"
    return Refused(400, message, param=finding.place)


def _quoted(finding: Finding) -> str:
    """The id that a finding names."""
    return finding.why.partition("'")[2].rpartition("'")[0]


def _message_of(finding: Finding) -> str:
    return ".".join(finding.place.split(".")[:2])


def _named(finding: Finding, body: Mapping[str, Any]) -> str:
    """Where the result stands whose call is missing."""
    message = body["messages"][int(finding.place.split(".")[1])]
    name = _quoted(finding)
    at = next((i for i, block in enumerate(message["content"]) if block.get("tool_use_id") == name), 0)
    return f"{_message_of(finding)}.content.{at}"


ANTHROPIC: Final[Words] = {
    "answered": lambda found, _: (
        f"{found.place}: `tool_use` ids were found without `tool_result` blocks immediately after: {_quoted(found)}. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    ),
    "called": lambda found, body: (
        f"{_named(found, body)}: unexpected `tool_use_id` found in `tool_result` blocks: {_quoted(found)}. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
    ),
    "answered-once": lambda found, _: (
        f"{found.place}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {_quoted(found)}"
    ),
    "ids-once": lambda found, _: f"{_message_of(found)}: `tool_use` ids must be unique",
    "ids": lambda found, _: f"{found.place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    "empty": lambda found, _: (
        "messages: text content blocks must be non-empty"
        if "text" in found.why
        else f"{found.place}.tool_result: {found.why}"
        if "is_error" in found.why
        else f"{found.place}: all messages must have non-empty content except for the optional final assistant message"
    ),
    "roles": lambda found, _: f"{found.place}: Input should be 'user' or 'assistant'",
    "first-user": lambda found, _: 'messages: first message must use the "user" role',
    "count": lambda found, _: f"messages: {found.why}",
    "shape": lambda found, _: f"{found.place}: {found.why[:1].upper()}{found.why[1:]}",
    "kinds": lambda found, _: f"{found.place}: {found.why[:1].upper()}{found.why[1:]}",
    "signed": lambda found, _: f"{found.place}: Invalid `signature` in `thinking` block",
    "thinking-last": lambda found, _: (
        f"{found.place}: The final block in an assistant message cannot be `thinking`."
    ),
    "thinking-first": lambda found, _: (
        f"{found.place}.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a "
        "final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and "
        "`tool_result` blocks)."
    ),
    "cache-marks": lambda found, _: (
        f"A maximum of 4 blocks with cache_control may be provided. Found {found.why.split()[0]}."
    ),
    "size": lambda found, _: "Request exceeds the maximum size",
    "json": lambda found, _: f"The request body is not valid JSON: {found.why}",
}

OPENAI_CHAT: Final[Words] = {
    "answered": lambda found, _: (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {_quoted(found)}"
    ),
    "called": lambda found, _: (
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    ),
    "ids": lambda found, _: (
        f"Invalid '{_bracketed(found.place)}': string too long. Expected a string with maximum length 40, but got a string "
        f"with length {found.why.split()[0]} instead."
    ),
    "content": lambda found, _: (
        f"Invalid value for 'content': {found.why}."
        if "null" in found.why
        else f"Invalid request: {found.why}"
    ),
    "roles": lambda found, _: (
        f"Invalid value: {found.why.partition(' role ')[2]}. Supported values are: 'system', "
        "'assistant', 'user', 'function', 'tool', and 'developer'."
    ),
    "count": lambda found, _: "[] is too short - 'messages'",
}

OPENAI_RESPONSES: Final[Words] = {
    "answered": lambda found, _: f"No tool output found for function call {_quoted(found)}.",
    "called": lambda found, _: f"No tool call found for function call output with call_id {_quoted(found)}.",
    "reasoning-followed": lambda found, body: (
        f"Item '{body['input'][int(found.place.split('.')[1])].get('id', '')}' of type 'reasoning' was provided without its "
        "required following item."
    ),
    "ids-once": lambda found, _: (
        f"Duplicate item found with id {_quoted(found)}. Remove duplicate items from your input and try again."
    ),
    "ids": lambda found, _: (
        f"Invalid '{_bracketed(found.place)}': string too long. Expected a string with maximum length 64, but got a string "
        f"with length {found.why.split()[0]} instead."
    ),
    "kinds": lambda found, _: f"Invalid value: {found.why.partition(' type ')[2]}.",
}

GEMINI: Final[Words] = {
    "answered": lambda found, _: (
        "Please ensure that the number of function response parts is equal to the number of function call parts of the "
        "function call turn."
    ),
    "call-place": lambda found, _: (
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    ),
    "called": lambda found, _: (
        "Please ensure that function response turn comes immediately after a function call turn."
    ),
    "empty": lambda found, _: (
        "Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again."
    ),
    "roles": lambda found, _: "Please use a valid role: user, model.",
    "count": lambda found, _: (
        f"* GenerateContentRequest.{found.why}\n"
        if "must not" in found.why
        else "* GenerateContentRequest.contents: contents is not specified\n"
    ),
    "size": lambda found, _: "Request payload size exceeds the limit: 20971520 bytes.",
}


def _bracketed(place: str) -> str:
    """`messages.3.tool_calls.0.id` as OpenAI writes it: `messages[3].tool_calls[0].id`."""
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in place.split("."))[1:]
