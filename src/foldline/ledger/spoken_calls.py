"""Spoken calls: tools that a model without calls of its own asks for in its text, and hears of in a user's.

    assistant: I run it.  <function=terminal>             user (the host): EXECUTION RESULT of [terminal]:
               <parameter=command>make</parameter>                         2 failed
               </function>

So OpenHands drives such models. Read as the calls and results they are, for the ledger alone: what goes to the model stays text.
Knows single messages; `book` puts a result to its call.
"""

from __future__ import annotations

import msgspec

from foldline.core.message import Message, Text, ToolCall, ToolResult, is_injected

OPENS, CLOSES = "<function=", "</function>"
PARAMETER, PARAMETER_CLOSES = "<parameter=", "</parameter>"
RESULT, RESULT_CLOSES = "EXECUTION RESULT of [", "]:"
NAME_CHARS_MAX = 64
PARAMETERS_MAX = 32


def spoken_call(message: Message) -> ToolCall | None:
    """The call that an assistant's text ends with, if any."""
    said = next((part for part in reversed(message.parts) if isinstance(part, Text)), None)
    if said is None or OPENS not in said.text:
        return None
    name, closed, body = said.text.rpartition(OPENS)[2].partition(">")
    if not closed or len(name) > NAME_CHARS_MAX or not name.isprintable():
        return None
    arguments: dict[str, str] = {}
    for piece in body.partition(CLOSES)[0].split(PARAMETER)[1 : PARAMETERS_MAX + 1]:
        key, _, value = piece.partition(">")
        arguments[key[:NAME_CHARS_MAX]] = value.partition(PARAMETER_CLOSES)[0].strip("\n")
    return ToolCall(id="", name=name, arguments=msgspec.json.encode(arguments).decode())


def spoken_result(message: Message) -> ToolResult | None:
    """The result that a host gives as a user's text, if the message is one."""
    if not is_injected(message) or not message.text.startswith(RESULT):
        return None
    _, closed, output = message.text.partition(RESULT_CLOSES)
    return ToolResult(call_id="", content=(Text(text=output.lstrip("\n")),)) if closed else None
