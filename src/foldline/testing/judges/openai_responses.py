"""Judge of OpenAI Responses bodies (`{"instructions", "input", "tools"}`), from the provider's own rules alone.

Sources: the API reference as the types of the official SDK carry it (`openai` 3.57), and where it is silent the
API's own error messages as public reports quote them. Knows nothing of `foldline`.

Not judged: whether an item that was stored with its reasoning is sent without it (only the server knows that),
whether encrypted content is genuine, limits on images.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from foldline.testing.judges.openai_chat import wrong_image_url
from foldline.testing.judges.rule import Body, Case, Found, Rule, blank, json_text, judge

CALL_ID_CHARS_MAX = 64
NAME_PATTERN = re.compile(r"[a-zA-Z0-9_-]{1,128}")
OUTPUT_OF: dict[str, str] = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "tool_search_call": "tool_search_output",
    "program": "program_output",
}
"""Calls that the client answers, and the item that answers each."""
CALL_OF = {output: call for call, output in OUTPUT_OF.items()}
SERVER_ITEMS = frozenset(
    {
        "file_search_call",
        "web_search_call",
        "image_generation_call",
        "code_interpreter_call",
        "mcp_list_tools",
    }
    | {"mcp_approval_request", "mcp_approval_response", "mcp_call", "compaction", "compaction_trigger"}
    | {"item_reference", "additional_tools", "configuration_update"}
)
CLIENT_RUN = frozenset({"function_call", "custom_tool_call"})
"""Calls of the client's own tools, which must always be answered; the other pairs may run on the server."""
KINDS = frozenset({"message", "reasoning"}) | OUTPUT_OF.keys() | CALL_OF.keys() | SERVER_ITEMS
INPUT_PARTS = frozenset({"input_text", "input_image", "input_file", "input_audio"})
OUTPUT_PARTS = frozenset({"output_text", "refusal"})
PARTS = {"user": INPUT_PARTS, "system": INPUT_PARTS, "developer": INPUT_PARTS, "assistant": OUTPUT_PARTS}


def violations(body: Body, *, open_tail: bool = False) -> list[str]:
    """What the provider would refuse in `body`, one line each; empty when it would be accepted.

    `open_tail=True` lets the calls after the last message of the user wait for their results.
    """
    return judge(RULES, body, open_tail=open_tail)


def _kind(item: dict[str, Any]) -> str:
    return str(item.get("type", "message"))


def _items(body: Body) -> list[Any]:
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _placed(case: Case) -> Iterator[tuple[str, Any]]:
    for at, item in enumerate(_items(case.body)):
        yield f"input.{at}", item


def _parts(item: dict[str, Any]) -> list[Any]:
    """Content parts of a message, or of an output."""
    content = item.get("output" if _kind(item) in CALL_OF else "content")
    if _kind(item) == "shell_call_output":  # a list of what each command wrote, not of parts
        return []
    return content if isinstance(content, list) else []


def _call_id(item: dict[str, Any]) -> Any:
    if _kind(item) == "local_shell_call_output":  # names its call under `id`, as its type has it
        return item.get("call_id", item.get("id"))
    return item.get("call_id")


def _shape(case: Case) -> Found:
    given = case.body.get("input")
    if not isinstance(given, (str, list)):
        yield "input", "missing, or neither text nor a list"
        return
    if not isinstance(case.body.get("instructions", ""), (str, type(None))):
        yield "instructions", "no text"
    for place, item in _placed(case):
        if not isinstance(item, dict) or not isinstance(item.get("type", "message"), str):
            yield place, "no object with a type"
            continue
        if not all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in _parts(item)):
            yield place, "a part is no object with a type"
        yield from _shape_of_item(place, item)


def _shape_of_item(place: str, item: dict[str, Any]) -> Found:
    kind = _kind(item)
    wanted: dict[str, type | tuple[type, ...]] = {}
    if kind == "message":
        wanted = {"role": str, "content": (str, list)}
    elif kind == "reasoning":
        wanted = {"summary": list}
    elif kind in CLIENT_RUN:
        wanted = {"call_id": str, "name": str, "arguments" if kind == "function_call" else "input": str}
    elif kind in ("function_call_output", "custom_tool_call_output"):
        wanted = {"call_id": str, "output": (str, list)}
    for key, types in wanted.items():
        if not isinstance(item.get(key), types):
            yield f"{place}.{key}", f"required, and {type(item.get(key)).__name__} is of the wrong type"


def _count(case: Case) -> Found:
    if not case.body["input"]:
        yield "input", "empty"


def _kinds(case: Case) -> Found:
    for place, item in _placed(case):
        if _kind(item) not in KINDS:
            yield f"{place}.type", f"unknown item type {_kind(item)!r}"


def _roles(case: Case) -> Found:
    for place, item in _placed(case):
        if _kind(item) == "message" and item["role"] not in PARTS:
            yield f"{place}.role", f"unknown role {item['role']!r}"


def _part_kinds(case: Case) -> Found:
    for place, item in _placed(case):
        allowed = INPUT_PARTS if _kind(item) in CALL_OF else PARTS.get(item.get("role", ""), INPUT_PARTS)
        if _kind(item) != "message" and _kind(item) not in CALL_OF:
            continue
        for index, part in enumerate(_parts(item)):
            if part["type"] not in allowed:
                yield f"{place}.content.{index}", f"{part['type']!r} is not one of {sorted(allowed)}"
            elif part["type"] in ("input_text", "output_text") and not isinstance(part.get("text"), str):
                yield f"{place}.content.{index}.text", "no text"


def _content(case: Case) -> Found:
    for place, item in _placed(case):
        if _kind(item) != "message":
            continue
        content = item["content"]
        if not content or (isinstance(content, str) and blank(content)):
            yield f"{place}.content", "empty"
        for index, part in enumerate(_parts(item)):
            if part["type"] in ("input_text", "output_text") and blank(str(part.get("text", ""))):
                yield f"{place}.content.{index}", "text that cannot be seen"


def _ids(case: Case) -> Found:
    for place, item in _placed(case):
        name = _call_id(item)
        if isinstance(name, str) and not 0 < len(name) <= CALL_ID_CHARS_MAX:
            yield f"{place}.call_id", f"{len(name)} characters, at most {CALL_ID_CHARS_MAX} and at least one"


def _ids_once(case: Case) -> Found:
    seen: set[tuple[str, str]] = set()
    for place, item in _placed(case):
        names = [("id", item.get("id"))] if _kind(item) != "item_reference" else []
        if _kind(item) in OUTPUT_OF:
            names.append(("call_id", _call_id(item)))
        for key, name in names:
            if isinstance(name, str) and name:
                if (key, name) in seen:
                    yield place, f"duplicate item found with {key} {name!r}"
                seen.add((key, name))


def _names(case: Case) -> Found:
    for place, item in _placed(case):
        if _kind(item) in CLIENT_RUN and not NAME_PATTERN.fullmatch(item["name"]):
            yield f"{place}.name", f"{item['name']!r} does not match ^[a-zA-Z0-9_-]+$"


def _waiting_from(case: Case) -> int:
    """Index behind the last message that the model did not write: calls from there on may wait."""
    items = _items(case.body)
    closed = [at for at, item in enumerate(items) if _kind(item) == "message" and item["role"] != "assistant"]
    return max(closed, default=-1) + 1 if case.open_tail else len(items)


def _answered(case: Case) -> Found:
    answered = {(CALL_OF[_kind(item)], _call_id(item)) for _, item in _placed(case) if _kind(item) in CALL_OF}
    waiting = _waiting_from(case)
    for at, item in enumerate(_items(case.body)):
        kind = _kind(item)
        if kind in CLIENT_RUN and at < waiting and (kind, _call_id(item)) not in answered:
            yield f"input.{at}", f"no tool output found for {kind} {_call_id(item)!r}"


def _called(case: Case) -> Found:
    called: set[tuple[str, Any]] = set()
    for place, item in _placed(case):
        kind = _kind(item)
        if kind in OUTPUT_OF:
            called.add((OUTPUT_OF[kind], _call_id(item)))
        if kind in CALL_OF and (kind, _call_id(item)) not in called:
            yield place, f"no tool call found for {kind} with call_id {_call_id(item)!r}"


def _answered_once(case: Case) -> Found:
    seen: set[tuple[str, Any]] = set()
    for place, item in _placed(case):
        if _kind(item) in CALL_OF:
            pair = (_kind(item), _call_id(item))
            if pair in seen:
                yield place, f"second output for {_call_id(item)!r}"
            seen.add(pair)


def _reasoning_followed(case: Case) -> Found:
    following: dict[str, Any] | None = None
    for at, item in reversed(list(enumerate(_items(case.body)))):
        if _kind(item) != "reasoning":
            following = item
        elif following is None:
            yield f"input.{at}", "reasoning without its required following item"
        elif _kind(following) in CALL_OF or (
            _kind(following) == "message" and following["role"] != "assistant"
        ):
            yield f"input.{at}", f"reasoning followed by {_kind(following)} that the model did not write"


def _images(case: Case) -> Found:
    for place, item in _placed(case):
        for index, part in enumerate(_parts(item)):
            if part["type"] != "input_image" or part.get("file_id"):
                continue
            url = part.get("image_url")
            why = wrong_image_url(url) if isinstance(url, str) and url else "neither image_url nor file_id"
            if why:
                yield f"{place}.content.{index}", why


_ERRORS = "error message of the API, as quoted in "
RULES: tuple[Rule, ...] = (
    Rule("shape", "SDK types/responses/response_input_item_param.py; newo-ether/Agora#141 (summary)", _shape),
    Rule("json", _ERRORS + "anthropics/claude-code#69927; JSON (RFC 8259, 8.1) is UTF-8", json_text),
    Rule("count", "API reference, `input`", _count),
    Rule("kinds", "SDK types/responses/response_input_item_param.py, the union", _kinds),
    Rule("roles", "SDK types/responses/easy_input_message_param.py", _roles),
    Rule("part-kinds", _ERRORS + "jeremychone/rust-genai#119: 'output_text' and 'refusal'", _part_kinds),
    Rule("content", "as in Chat Completions; not confirmed for this endpoint", _content),
    Rule("ids", _ERRORS + "AnswerDotAI/fastllm#45: maximum length 64", _ids),
    Rule(
        "ids-once",
        _ERRORS
        + "vercel/ai#13307 (duplicate item found with id); earendil-works/pi#9057 (duplicate call_id)",
        _ids_once,
    ),
    Rule(
        "names",
        "as in Chat Completions (mcp-use/mcp-use#90); at most 128: diegosouzapw/OmniRoute#4317",
        _names,
    ),
    Rule("answered", _ERRORS + "openai/codex#5385: 'No tool output found for function call'", _answered),
    Rule(
        "called",
        _ERRORS + "agentscope-ai/AgentTeams#299: 'No tool call found for function call output'",
        _called,
    ),
    Rule("answered-once", "'Function calling' guide: one output a call", _answered_once),
    Rule(
        "reasoning-followed",
        _ERRORS + "continuedev/continue#8933: 'without its required following item'",
        _reasoning_followed,
    ),
    Rule("images", "SDK types/responses/response_input_image_param.py; 'Images and vision' guide", _images),
)
