"""Tool traffic of OpenAI Responses: every `*_call` item and every output item, as two tables.

Owns how each kind of call spells its name, its arguments and its output. Knows nothing of messages and reasoning,
which `foldline.wire.openai_responses` reads; pieces of an output are `foldline.wire.responses_content`'s.

Shapes: `ResponseInputItemParam` of the official SDK (openai 3.57). Arguments are JSON text here even where the wire
has an object, so that every call can be counted, shown and shortened alike.
"""

from __future__ import annotations

from typing import Any, Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import NEW, Media, Opaque, Text, ToolCall, ToolResult
from foldline.wire.codec import WireValue
from foldline.wire.responses_content import Piece, make_piece, make_pieces, read_pieces, write_pieces
from foldline.wire.strict import dump, dump_text, parse, plain

EMPTY_SCREENSHOT = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
"""One pixel: a computer's output must be a screenshot, so this is what stands for one that was cleared."""


class CallShape(Struct, frozen=True, kw_only=True, gc=False):
    """How one item type spells a call."""

    keys: tuple[str, ...]
    """Where the arguments are."""
    mode: Literal["text", "value", "object"]
    """`text`: the key holds the arguments as a string; `value`: as JSON; `object`: several keys make up one object."""
    name: str | None = None
    """The tool's name where the item does not say it."""
    server: bool = False
    output: str | None = None
    """Key of the result, where the provider puts it into the same item."""


CALLS: dict[str, CallShape] = {
    "function_call": CallShape(keys=("arguments",), mode="text"),
    "custom_tool_call": CallShape(keys=("input",), mode="text"),
    "computer_call": CallShape(keys=("action", "actions"), mode="object", name="computer"),
    "local_shell_call": CallShape(keys=("action",), mode="value", name="local_shell"),
    "shell_call": CallShape(keys=("action",), mode="value", name="shell"),
    "apply_patch_call": CallShape(keys=("operation",), mode="value", name="apply_patch"),
    "tool_search_call": CallShape(keys=("arguments",), mode="value", name="tool_search"),
    "program": CallShape(keys=("code",), mode="object", name="program", server=True),
    "mcp_call": CallShape(keys=("arguments",), mode="text", server=True, output="output"),
    "web_search_call": CallShape(keys=("action",), mode="value", name="web_search", server=True),
    "file_search_call": CallShape(
        keys=("queries",), mode="object", name="file_search", server=True, output="results"
    ),
    "code_interpreter_call": CallShape(
        keys=("code",), mode="object", name="code_interpreter", server=True, output="outputs"
    ),
    "image_generation_call": CallShape(
        keys=("action",), mode="object", name="image_generation", server=True, output="result"
    ),
}

OUTPUTS: dict[str, str] = {
    "function_call_output": "output",
    "custom_tool_call_output": "output",
    "computer_call_output": "output",
    "local_shell_call_output": "output",
    "shell_call_output": "output",
    "apply_patch_call_output": "output",
    "tool_search_output": "tools",
    "program_output": "result",
}
"""Item types that answer a call, and the key of what they answer."""

ANSWERS: dict[str, str] = {
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "tool_search_call": "tool_search_output",
}
"""Kinds of call that only an output of their own kind answers; any other that the client runs is a function's."""
_TEXTUAL = frozenset({"function_call_output", "custom_tool_call_output"})
"""Kinds of output that are text or a list of parts."""
_ASKED = {output: call for call, output in ANSWERS.items()}


def read_call(item: WireValue) -> tuple[ToolCall | ToolResult, ...]:
    """The call of an item, and its result where the provider ran the tool; `edited` where its arguments, null or a value,
    have to be written as text before a provider takes them. Raises `ValueError` on a missing key."""
    kind = item["type"]
    shape = CALLS[kind]
    name = shape.name or item.get("name")
    if not isinstance(name, str):
        raise ValueError(f"{kind}: key 'name' must be a string")
    server = shape.server or item.get("execution") == "server"
    call = ToolCall(
        id=_call_id(item, server=server),
        name=name,
        arguments=_arguments(item, shape),
        server=server,
        kind=kind if kind in ANSWERS and not server else "",
        slot=0,
        edited=shape.mode == "text" and not isinstance(item.get(shape.keys[0]), str),
    )
    if shape.output is None or (item.get(shape.output) is None and item.get("error") is None):
        return (call,)
    return (call, _server_result(item, call, key=shape.output))


def _call_id(item: WireValue, *, server: bool) -> str:
    found = call_id_of(item)
    if server:
        return found or (item["id"] if isinstance(item.get("id"), str) else "")
    if found is not None:
        return found
    raise ValueError(f"{item['type']}: key 'call_id' must be a string")


def call_id_of(item: WireValue) -> str | None:
    """The id that pairs a call with its output; a local shell's output has it under `id`."""
    found = item.get(
        "id" if item["type"] == "local_shell_call_output" and "call_id" not in item else "call_id"
    )
    return found if isinstance(found, str) else None


def _arguments(item: WireValue, shape: CallShape) -> str:
    key = shape.keys[0]
    match shape.mode:
        case "text":
            value = item.get(key)
            return value if isinstance(value, str) else dump_text(value if value is not None else {})
        case "value":
            return dump_text(item.get(key, {}))
        case "object":
            return dump_text({key: item[key] for key in shape.keys if item.get(key) is not None})
        case _:
            assert_never(shape.mode)


def _server_result(item: WireValue, call: ToolCall, *, key: str) -> ToolResult:
    value, error = item.get(key), item.get("error")
    content: tuple[Piece, ...]
    if key == "result" and isinstance(value, str):
        content = (Media(kind="image", mime="image/png", data=value, slot=0),)
    elif value is not None:
        content = read_pieces(value)
    else:
        content = (Opaque(type="error", raw=dump(error), slot=NEW),)
    return ToolResult(
        call_id=call.id, name=call.name, content=content, is_error=error is not None, server=True, slot=1
    )


def write_call(item: WireValue, call: ToolCall) -> WireValue:
    """`item` with the edited id, name and arguments of `call`. Raises `ValueError` where the wire needs JSON and has none."""
    shape = CALLS[item["type"]]
    key = shape.keys[0]
    item = _renamed(item, call.id)
    if shape.name is None:
        item = {**item, "name": call.name}
    match shape.mode:
        case "text":
            return {**item, key: call.arguments}
        case "value":
            return {**item, key: parse(call.arguments.encode())}
        case "object":
            return {**item, **parse(call.arguments.encode())}
        case _:
            assert_never(shape.mode)


def _renamed(item: WireValue, call_id: str) -> WireValue:
    """`item` under another pairing id, which a repair may have given it."""
    old = call_id_of(item)
    if old is None or old == call_id:
        return item
    return {**item, "id" if "call_id" not in item else "call_id": call_id}


def write_server_result(item: WireValue, result: ToolResult) -> WireValue:
    """`item` with the edited result of a tool the provider ran."""
    key = CALLS[item["type"]].output
    if key is None:
        return item
    if key == "result":
        images = [piece.data for piece in result.content if isinstance(piece, Media)]
        return {**item, key: images[0] if images else None}
    if key == "results":
        return {**item, key: _write_found(item[key], result.content)}
    kind = "logs" if key == "outputs" else "input_text"
    return {**item, key: write_pieces(result.content, item.get(key), text_type=kind)}


def _write_found(old: list[Any], pieces: tuple[Piece, ...]) -> list[Any]:
    found = []
    for piece in pieces:
        before = old[piece.slot] if piece.slot != NEW else {}
        edited = isinstance(piece, Text) and (piece.edited or piece.slot == NEW)
        found.append({**before, "text": piece.text} if isinstance(piece, Text) and edited else before)
    return found


def read_output(item: WireValue) -> ToolResult:
    """The result an output item holds; `edited` where it is neither text nor a list of parts, one of which a provider wants. Raises
    `ValueError` without a `call_id`."""
    kind, value = item["type"], item.get(OUTPUTS[item["type"]])
    server = kind == "program_output" or item.get("execution") == "server"
    failed = item.get("status") == "failed"
    content: tuple[Piece, ...]
    if kind == "shell_call_output" and isinstance(value, list):
        content = _read_shell(value)
        failed = failed or any(_shell_failed(chunk) for chunk in value)
    elif kind == "tool_search_output":
        content = (Opaque(type="tools", raw=dump(value), slot=0),)
    else:
        content = read_pieces(value)
    unfit = kind in _TEXTUAL and not _is_output(value)
    if unfit:
        content = tuple(map(_in_words, content))
    name = item.get("name")
    return ToolResult(
        call_id=_call_id(item, server=server),
        name=name if isinstance(name, str) else None,
        content=content,
        is_error=failed,
        interim=item.get("status") == "in_progress",
        server=server,
        kind="" if server else _ASKED.get(kind, ""),
        slot=0,
        edited=unfit,
    )


def _is_output(value: Any) -> bool:
    """True for text, or a list of parts."""
    return isinstance(value, str) or (isinstance(value, list) and all(map(_is_part, value)))


def _is_part(item: Any) -> bool:
    part = plain(item)
    return isinstance(part, dict) and isinstance(part.get("type"), str)


def _in_words(piece: Piece) -> Piece:
    """A piece that its item has no shape for, as text."""
    match piece:
        case Text():
            return replace(piece, slot=NEW)
        case Opaque() if not _is_part(parse(piece.raw)):
            return Text(text=piece.raw.decode(), slot=NEW)
        case _:
            return piece


def _read_shell(chunks: list[Any]) -> tuple[Piece, ...]:
    """Standard output of chunk i has slot 2i, standard error 2i + 1; empty ones are left out."""
    pieces: list[Piece] = []
    for index, chunk in enumerate(chunks):
        for offset, key in enumerate(("stdout", "stderr")):
            text = chunk.get(key) if isinstance(chunk, dict) else None
            if isinstance(text, str) and text:
                pieces.append(Text(text=text, slot=2 * index + offset))
    return tuple(pieces)


def _shell_failed(chunk: Any) -> bool:
    outcome = chunk.get("outcome") if isinstance(chunk, dict) else None
    return isinstance(outcome, dict) and (outcome.get("type") == "timeout" or bool(outcome.get("exit_code")))


def make_output(result: ToolResult) -> WireValue:
    """An output item for a result made here, of the kind that its call asks for."""
    kind, content = ANSWERS.get(result.kind, "function_call_output"), result.content
    words = "\n".join(piece.text for piece in content if isinstance(piece, Text))
    item: WireValue = {"type": kind, "call_id": result.call_id}
    match kind:
        case "local_shell_call_output":
            # `id` is where its call's `call_id` goes (openai-agents, LocalShellAction)
            return {"type": kind, "id": result.call_id, "output": words}
        case "shell_call_output":
            outcome = {"type": "exit", "exit_code": int(result.is_error)}
            return {**item, "output": [{"stdout": words, "stderr": "", "outcome": outcome}]}
        case "apply_patch_call_output":
            return {**item, "status": "failed" if result.is_error else "completed", "output": words}
        case "tool_search_output":
            raw = next((piece.raw for piece in content if isinstance(piece, Opaque)), b"[]")
            return {**item, "execution": "client", "tools": parse(raw)}
        case "computer_call_output":
            return {**item, "output": _make_screenshot(content)}
        case _:
            return {**item, "output": make_pieces(content, text_type="input_text")}


def _make_screenshot(pieces: tuple[Piece, ...]) -> WireValue:
    for piece in pieces:
        if isinstance(piece, Media) and piece.kind == "image":
            made = make_piece(piece, text_type="input_text")
            source = {key: made[key] for key in ("image_url", "file_id") if key in made}
            return {"type": "computer_screenshot", **source}
    return {"type": "computer_screenshot", "image_url": EMPTY_SCREENSHOT}


def write_output(item: WireValue, result: ToolResult) -> WireValue:
    """`item` with the edited id and content of `result`."""
    kind, key = item["type"], OUTPUTS[item["type"]]
    item, value = _renamed(item, result.call_id), item.get(key)
    if isinstance(item.get("name"), str) and result.name is not None:
        item = {**item, "name": result.name}
    if kind == "shell_call_output" and isinstance(value, list):
        return {**item, key: _write_shell(value, result.content)}
    if kind == "tool_search_output":
        return item
    if kind == "computer_call_output":
        return {**item, key: _write_screenshot(value, result.content)}
    return {**item, key: write_pieces(result.content, value, text_type="input_text")}


def _write_shell(chunks: list[Any], pieces: tuple[Piece, ...]) -> list[Any]:
    """Each chunk with what is left of its texts; text that had no chunk goes to the first one's standard output."""
    texts: dict[int, str] = {}
    for piece in pieces:
        if isinstance(piece, Text):
            slot = max(piece.slot, 0)
            texts[slot] = f"{texts[slot]}\n{piece.text}" if slot in texts else piece.text
    if not chunks and texts:
        chunks = [{"outcome": {"type": "exit", "exit_code": 0}}]
    return [
        _write_chunk(chunk, texts.get(2 * index, ""), stderr=texts.get(2 * index + 1, ""))
        for index, chunk in enumerate(chunks)
    ]


def _write_chunk(chunk: Any, stdout: str, *, stderr: str) -> Any:
    if not isinstance(chunk, dict) or (chunk.get("stdout"), chunk.get("stderr")) == (stdout, stderr):
        return chunk
    return {**chunk, "stdout": stdout, "stderr": stderr}


def _write_screenshot(old: Any, pieces: tuple[Piece, ...]) -> Any:
    if any(isinstance(piece, Media) and not piece.edited and piece.slot != NEW for piece in pieces):
        return old
    return {"type": "computer_screenshot", "image_url": EMPTY_SCREENSHOT}
