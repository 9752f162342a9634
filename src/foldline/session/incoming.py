"""What a caller says, as messages of the session's wire format: user text, tool results, system prompt, tools.

Takes a text or the format's own values and gives messages with bytes of their own, so that nothing a caller changes later
changes a history. What a model answered is `foldline.wire.response`'s to read.
"""

from __future__ import annotations

from collections.abc import Reversible, Sequence

from foldline.core.errors import InvalidOption
from foldline.core.kinds import refuse_no_flag
from foldline.core.message import Message, Text, ToolCall, ToolResult, calls_of, holds_results
from foldline.core.rounds import unanswered
from foldline.core.view import Item
from foldline.wire import strict
from foldline.wire.body import read_body
from foldline.wire.codec import Request, WireValue
from foldline.wire.formats import codec
from foldline.wire.given import check_system, schemas_of
from foldline.wire.response import plain_value


def user_message(content: object, *, format: str) -> Message:
    """A user message. `content`: a text, a list of the format's content parts, or a whole message of role user. Raises
    `InvalidOption`."""
    if isinstance(content, str):
        return _made(Message(role="user", parts=(Text(text=content),), format=format), format=format)
    opened = plain_value(content)
    if isinstance(opened, list) and all(isinstance(part, dict) for part in opened):
        key = "parts" if format == "gemini" else "content"
        opened = {"role": "user", key: opened}
    if not isinstance(opened, dict):
        raise InvalidOption("content", content, why="give a text, content parts, or a message of role user")
    message = _decoded(opened, option="content", format=format)
    if message.role != "user":
        why = (
            f"its role is {message.role}; answers of a model are recorded, results of tools have tool_result"
        )
        raise InvalidOption("content", content, why=why)
    return message


def result_message(call: ToolCall, output: object, *, is_error: bool, format: str) -> Message:
    """The result of a call. `output`: a text, a list of the format's content parts, or any JSON value. Raises
    `InvalidOption`."""
    refuse_no_flag(is_error=is_error)
    opened = plain_value(output)
    parts = isinstance(opened, list) and all(isinstance(part, dict) and "type" in part for part in opened)
    if isinstance(opened, str):
        text = opened
    else:
        text = "" if parts or format == "gemini" else _json(opened, output)
    result = ToolResult(
        call_id=call.id,
        content=(Text(text=text),) if text else (),
        name=call.name,
        is_error=is_error,
        wire_id=call.wire_id,
        kind=call.kind,
    )
    made = _made(
        Message(role=codec(format).rules.needs.results_role, parts=(result,), format=format), format=format
    )
    if isinstance(opened, str) or not (parts or format == "gemini"):
        return made
    reading = codec(format)
    wire = reading.with_output(dict(reading.encode(made)), opened)
    return _decoded(wire, option="output", format=format)


def waiting_call(items: Reversible[Item], call_id: str) -> ToolCall:
    """The latest call of that id in a view; costs what stands behind it. Raises `InvalidOption` where there is none: a result that
    no call waits for would be left out of every request."""
    for item in reversed(items):
        for part in reversed(item.message.parts):
            if isinstance(part, ToolCall) and part.id == call_id and not part.server:
                return part
    why = "no call in the view has this id; record the response that calls first"
    raise InvalidOption("call_id", call_id, why=why)


def waiting_calls(items: Reversible[Item]) -> tuple[ToolCall, ...]:
    """The calls of the last round that no result answers, in order."""
    last: list[Message] = []
    for item in reversed(items):
        message = item.message
        if message.role != "assistant" and (not holds_results(message) or _speaks(last)):
            break
        last.append(message)
    if not _speaks(last):
        return ()
    last.reverse()
    ids = unanswered(last)
    return tuple(call for message in last for call in calls_of(message) if call.id in ids)


def _speaks(last: Sequence[Message]) -> bool:
    return bool(last) and last[-1].role == "assistant"


def fixed_part(system: object, tools: object, *, format: str) -> Request:
    """System prompt and tool schemas, as they would be sent. Raises `InvalidOption`."""
    check_system(system, format=format)
    return read_body(
        {"messages": [], "system": plain_value(system), "tools": schemas_of(tools)}, format=format
    )


def _made(message: Message, *, format: str) -> Message:
    reader = codec(format)
    return reader.decode(strict.dump(reader.encode(message)))


def _decoded(wire: WireValue, *, option: str, format: str) -> Message:
    try:
        return codec(format).decode(strict.dump_foreign(wire))
    except ValueError as error:
        raise InvalidOption(option, wire, why=f"{error}; give a value of {format}") from error


def _json(opened: object, given: object) -> str:
    try:
        return strict.dump_foreign(opened).decode()
    except ValueError as error:
        raise InvalidOption("output", given, why=f"{error}; give a text or values of JSON") from error
