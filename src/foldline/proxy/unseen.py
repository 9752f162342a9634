"""What an answer repeats of its request, as whoever asked it said it: without the tool that was added on the way.

A response of OpenAI's Responses names the tools it had and how they might be chosen, whole and in the events that carry all of it.
The other formats repeat nothing. Bytes in, bytes out; only lines and objects that name the tool are written anew, key by key.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw

from foldline.clients.calls import RECALL_NAMED, Call, plain
from foldline.recall.tool import NAME
from foldline.wire import strict
from foldline.wire.slices import fields, items

FORMAT: Final = "openai-responses"
"""The one format whose answers repeat their request."""
UNTOLD: Final = "auto"
"""How tools are chosen where the request does not say."""
_DATA: Final = b"data:"


def repeats(call: Call) -> bool:
    """True where the answer to a request will name the tool that was added."""
    return call.before_recall is not None and call.format == FORMAT


def unseen(answer: bytes, call: Call, *, is_stream: bool) -> bytes:
    """The answer to a request with the tool, as it would be without it. What cannot be read stays as it is."""
    if not is_stream:
        return _read(answer, call) or answer
    return b"".join(_line(line, call) for line in answer.splitlines(keepends=True))


def _line(line: bytes, call: Call) -> bytes:
    """Of a stream, with its end."""
    if not line.startswith(_DATA) or RECALL_NAMED.search(line) is None:
        return line
    made = _read(line[len(_DATA) :], call, within="response")
    return line if made is None else b"%b %b%b" % (_DATA, made, line[len(line.rstrip(b"\r\n")) :])


def _read(data: bytes, call: Call, *, within: str = "") -> bytes | None:
    """An object written anew, itself or what stands in it under a key; `None` where nothing is to be."""
    try:
        strict.loads(data)
        outer = fields(data.strip())
        made = _made(fields(outer[within]) if within else outer, call)
    except (ValueError, KeyError):
        return None
    if made is None:
        return None
    return strict.dump({**outer, within: made} if within else made)


def _made(response: dict[str, Raw], call: Call) -> dict[str, Any] | None:
    tools = items(response["tools"])
    own = [tool for tool in tools if not _is_added(tool)]
    if len(own) == len(tools) or call.before_recall is None:
        return None
    made: dict[str, Any] = {**response, "tools": own}
    if "tool_choice" in made:
        made["tool_choice"] = _choice(call, call.before_recall, repeated=made["tool_choice"])
    return made


def _choice(call: Call, own: Call, *, repeated: Any) -> Any:
    """As it is repeated, where it was sent as the caller has it."""
    if call.body.get("tool_choice") is own.body.get("tool_choice"):
        return repeated
    return own.body.get("tool_choice", UNTOLD)


def _is_added(tool: Raw) -> bool:
    value = plain(tool)
    return isinstance(value, dict) and value.get("type") == "function" and value.get("name") == NAME
