"""Judge of Anthropic Messages bodies (`{"system", "messages", "tools"}`), from the provider's own rules alone.

Sources: the documentation of the Messages API, the types of the official SDK (`anthropic` 2.14), and where the
documentation is silent the API's own error messages as public reports quote them. Knows nothing of `foldline`;
the other wire formats have their own judges beside this one.

Not judged, because a history alone does not show it: whether the model takes a prefilled answer or a system message
in the middle, how many pages a PDF has, whether a signature is genuine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from foldline.testing.judges import rule
from foldline.testing.judges.media import decoded, picture
from foldline.testing.judges.rule import Body, Case, Found, Rule, blank, json_bytes, json_text, judge

MESSAGES_MAX = 100_000
BODY_BYTES_MAX = 32 * 1024 * 1024
CACHE_MARKS_MAX = 4
TOOL_NAME_CHARS_MAX = 200
IMAGES_MAX = 100
IMAGES_FEW_MAX = 20
IMAGE_BASE64_BYTES_MAX = 5 * 1024 * 1024
IMAGE_PIXELS_MAX = 8_000
IMAGE_PIXELS_MAX_OF_MANY = 2_000
IMAGE_MIMES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
ID_PATTERN = re.compile(r"[a-zA-Z0-9_-]+")

REASONING = frozenset({"thinking", "redacted_thinking"})
SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
ASSISTANT_ONLY = frozenset({"tool_use"}) | SERVER_CALLS | REASONING
INSIDE_RESULTS = frozenset({"text", "image", "document", "search_result", "tool_reference", "browser_state"})

_MARK = "cache_control"
KEYS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "text": (frozenset({"type", "text"}), frozenset({_MARK, "citations"})),
    "image": (frozenset({"type", "source"}), frozenset({_MARK, "transformations"})),
    "document": (frozenset({"type", "source"}), frozenset({_MARK, "citations", "context", "title"})),
    "tool_use": (frozenset({"type", "id", "name", "input"}), frozenset({_MARK, "caller", "toolset_name"})),
    "tool_result": (
        frozenset({"type", "tool_use_id"}),
        frozenset({_MARK, "content", "is_error", "toolset_name"}),
    ),
    "server_tool_use": (frozenset({"type", "id", "name", "input"}), frozenset({_MARK, "caller"})),
    "thinking": (frozenset({"type", "thinking", "signature"}), frozenset()),
    "redacted_thinking": (frozenset({"type", "data"}), frozenset()),
}
"""Required and further keys of the blocks a history is made of."""
OTHER_KINDS = frozenset(
    {"search_result", "container_upload", "compaction", "mcp_tool_use", "mid_conv_system"}
)
"""Blocks judged by their type alone; further ones end in `_tool_result` (results of the server's own tools)."""


def violations(body: Body, *, open_tail: bool = False) -> list[str]:
    """What the provider would refuse in `body`, one line each; empty when it would be accepted.

    `open_tail=True` lets the calls of the last assistant message wait for their results.
    """
    return judge(RULES, body, open_tail=open_tail)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _placed(body: Body) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every block of every message with its place and its message; blocks inside results are not among them."""
    for at, message in enumerate(body["messages"]):
        for index, block in enumerate(_blocks(message)):
            yield f"messages.{at}.content.{index}", message, block


def _nested(body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every block, those inside results too."""
    for place, _, block in _placed(body):
        yield place, block
        inner = block.get("content")
        if block["type"] == "tool_result" and isinstance(inner, list):
            for index, part in enumerate(inner):
                yield f"{place}.content.{index}", part


def _calls(message: dict[str, Any]) -> list[str]:
    return [block["id"] for block in _blocks(message) if block["type"] == "tool_use"]


def _results(message: dict[str, Any]) -> list[str]:
    return [block["tool_use_id"] for block in _blocks(message) if block["type"] == "tool_result"]


def _last_assistant(body: Body) -> int:
    roles = [message["role"] for message in body["messages"]]
    return max((at for at, role in enumerate(roles) if role == "assistant"), default=-1)


def _shape(case: Case) -> Found:
    messages = case.body.get("messages")
    if not isinstance(messages, list):
        yield "messages", "missing or no list"
        return
    for key in ("system", "tools"):
        value = case.body.get(key, [])
        text = key == "system" and isinstance(value, str)
        if not text and not (isinstance(value, list) and all(isinstance(part, dict) for part in value)):
            yield key, "no list of objects"
    for at, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            yield f"messages.{at}", "no object with a role"
            continue
        content = message.get("content")
        if not isinstance(content, (str, list)):
            yield f"messages.{at}.content", f"{type(content).__name__} is neither text nor a list"
            continue
        for extra in sorted(message.keys() - {"role", "content"}):
            yield f"messages.{at}.{extra}", "extra inputs are not permitted"
        if isinstance(content, list):
            yield from _shape_of_blocks(f"messages.{at}.content", content)


def _shape_of_blocks(place: str, blocks: list[Any]) -> Found:
    for index, block in enumerate(blocks):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            yield f"{place}.{index}", "no object with a type"
            continue
        required, further = KEYS.get(block["type"], (frozenset(), frozenset()))
        for key in sorted(required - block.keys()):
            yield f"{place}.{index}.{key}", "field required"
        if required and len(block) > len(required):
            for key in sorted(block.keys() - required - further):
                yield f"{place}.{index}.{key}", "extra inputs are not permitted"
        yield from _shape_of_values(f"{place}.{index}", block)


def _shape_of_values(place: str, block: dict[str, Any]) -> Found:
    failed = block["type"] == "compaction"  # one that failed has nulls
    texts = ("text", "id", "name", "tool_use_id", "thinking", "signature", "data")
    for key, value in block.items():
        if key in texts and not isinstance(value, (str, type(None)) if failed else str):
            yield f"{place}.{key}", "no text"
    if block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
        yield f"{place}.input", "no object"
    if block["type"] == "tool_result":
        yield from _shape_of_result(place, block)


def _shape_of_result(place: str, block: dict[str, Any]) -> Found:
    inner = block.get("content", "")
    if isinstance(inner, list):
        for index, part in enumerate(inner):
            if not isinstance(part, dict) or str(part.get("type")) not in INSIDE_RESULTS:
                yield f"{place}.content.{index}", "not a block that a result may hold"
        if all(isinstance(part, dict) for part in inner):
            yield from _shape_of_blocks(f"{place}.content", inner)
    elif not isinstance(inner, str):
        yield f"{place}.content", "neither text nor a list"
    if not isinstance(block.get("is_error", False), bool):
        yield f"{place}.is_error", "no boolean"


def _size(case: Case) -> Found:
    if json_bytes(case.body) > BODY_BYTES_MAX:
        yield "body", f"more than {BODY_BYTES_MAX} bytes"


def _count(case: Case) -> Found:
    if not case.body["messages"]:
        yield "messages", "at least one message is required"
    elif len(case.body["messages"]) > MESSAGES_MAX:
        yield "messages", f"more than {MESSAGES_MAX}"


def _kinds(case: Case) -> Found:
    for place, block in _nested(case.body):
        kind = block["type"]
        if (
            kind not in KEYS
            and kind not in OTHER_KINDS | INSIDE_RESULTS
            and not kind.endswith("_tool_result")
        ):
            yield place, f"input tag {kind!r} does not match any of the expected tags"


def _roles(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        if message["role"] not in ("user", "assistant", "system"):
            yield f"messages.{at}.role", f"unknown role {message['role']!r}"


def _first_user(case: Case) -> Found:
    messages = case.body["messages"]
    opening = messages[0] if messages else {"role": "user"}
    if opening["role"] == "assistant" and all(b["type"] != "compaction" for b in _blocks(opening)[:1]):
        yield "messages.0", "the first message must be the user's"


def _system_place(case: Case) -> Found:
    messages = case.body["messages"]
    for at, message in enumerate(messages):
        if message["role"] != "system":
            continue
        before = messages[at - 1] if at else None
        after = messages[at + 1] if at + 1 < len(messages) else None
        if before is None or before["role"] == "system":
            yield f"messages.{at}", "a system message must follow a user message"
        elif before["role"] == "assistant" and not _ends_in_server_tool(before):
            yield f"messages.{at}", "a system message must follow a user message or a server tool"
        if after is not None and after["role"] != "assistant":
            yield f"messages.{at}", "a system message must be last or before an assistant message"
        if any(block["type"] != "text" for block in _blocks(message)):
            yield f"messages.{at}", "a system message holds text alone"


def _ends_in_server_tool(message: dict[str, Any]) -> bool:
    blocks = _blocks(message)
    return bool(blocks) and (blocks[-1]["type"] == "server_tool_use" or _is_server_result(blocks[-1]))


def _is_server_result(block: dict[str, Any]) -> bool:
    return bool(block["type"].endswith("_tool_result"))


def _block_roles(case: Case) -> Found:
    for place, message, block in _placed(case.body):
        kind = block["type"]
        if kind == "tool_result" and message["role"] != "user":
            yield place, f"{kind} blocks can only be in user messages"
        if (kind in ASSISTANT_ONLY or _is_server_result(block)) and message["role"] != "assistant":
            yield place, f"{kind} blocks can only be in assistant messages"


def _empty(case: Case) -> Found:
    messages = case.body["messages"]
    for at, message in enumerate(messages):
        final_answer = message["role"] == "assistant" and at == len(messages) - 1
        if not message["content"] and not final_answer:
            yield f"messages.{at}", "content must not be empty"
    for place, message, block in _placed(case.body):
        if block["type"] == "text" and blank(block["text"]) and message["content"]:
            yield place, "text blocks must hold text that can be seen"
        if block["type"] == "tool_result" and block.get("is_error") is True and not block.get("content"):
            yield place, "content cannot be empty if `is_error` is true"
    yield from _empty_system(case.body.get("system", ""))


def _empty_system(system: Any) -> Found:
    if isinstance(system, str):
        if system and blank(system):
            yield "system", "text blocks must hold text that can be seen"
        return
    for index, block in enumerate(system):
        if block.get("type") != "text" or blank(str(block.get("text", ""))):
            yield f"system.{index}", "not a text block with text that can be seen"


def _ids(case: Case) -> Found:
    for place, _, block in _placed(case.body):
        name = block.get({"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"], ""))
        if name is not None and not ID_PATTERN.fullmatch(name):
            yield place, f"id {name!r} does not match ^[a-zA-Z0-9_-]+$"


def _ids_once(case: Case) -> Found:
    seen: set[str] = set()
    for place, _, block in _placed(case.body):
        if block["type"] == "tool_use" or block["type"] in SERVER_CALLS:
            if block["id"] in seen:
                yield place, f"tool_use ids must be unique: {block['id']!r}"
            seen.add(block["id"])


def _names(case: Case) -> Found:
    for place, _, block in _placed(case.body):
        if block["type"] == "tool_use" and not 0 < len(block["name"]) <= TOOL_NAME_CHARS_MAX:
            yield place, f"tool name of {len(block['name'])} characters"


def _answered(case: Case) -> Found:
    messages = case.body["messages"]
    waiting = _last_assistant(case.body) if case.open_tail else -1
    for at, message in enumerate(messages):
        if message["role"] != "assistant" or at == waiting:
            continue
        following = messages[at + 1 : at + 2]
        answered = {name for one in following if one["role"] == "user" for name in _results(one)}
        for name in _calls(message):
            if name not in answered:
                yield f"messages.{at}", f"tool_use {name!r} without tool_result immediately after"


def _called(case: Case) -> Found:
    messages = case.body["messages"]
    for at, message in enumerate(messages):
        called = set(_calls(messages[at - 1])) if at and messages[at - 1]["role"] == "assistant" else set()
        for name in _results(message):
            if name not in called:
                yield f"messages.{at}", f"tool_result {name!r} without tool_use in the previous message"


def _answered_once(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        names = _results(message)
        for name in rule.repeated(names):
            yield f"messages.{at}", f"several tool_result blocks for {name!r}"


def _results_first(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        kinds = [block["type"] == "tool_result" for block in _blocks(message)]
        if kinds != sorted(kinds, reverse=True):
            yield f"messages.{at}", "tool_result blocks must come before everything else"


def _signed(case: Case) -> Found:
    for place, _, block in _placed(case.body):
        proof = {"thinking": "signature", "redacted_thinking": "data"}.get(block["type"])
        if proof is not None and not block[proof]:
            yield place, f"empty {proof}"


def _thinking_last(case: Case) -> Found:
    for at, message in enumerate(case.body["messages"]):
        blocks = _blocks(message)
        if message["role"] == "assistant" and blocks and blocks[-1]["type"] in REASONING:
            yield f"messages.{at}", "the final block in an assistant message cannot be thinking"


def _thinking_first(case: Case) -> Found:
    """Thinking is demanded when the body enables it (adaptive thinking may be left out), or when the message has any."""
    for at, message in enumerate(case.body["messages"]):
        kinds = [block["type"] for block in _blocks(message)]
        late = (n for n in range([*kinds, "tool_use"].index("tool_use"), len(kinds)) if kinds[n] in REASONING)
        if (first := next(late, None)) is not None:
            yield f"messages.{at}.content.{first}", "thinking after a tool_use"
    last = _last_assistant(case.body)
    if last < 0:
        return
    said = [block["type"] for block in _blocks(case.body["messages"][last])]
    kinds = [kind for kind in said if kind != "compaction"]  # which stands before all else
    switched_on = (case.body.get("thinking") or {}).get("type") == "enabled"
    thinks = (switched_on and "tool_use" in kinds) or bool(REASONING & set(kinds))
    if kinds and thinks and kinds[0] not in REASONING:
        yield f"messages.{last}.content.{said.index(kinds[0])}", f"expected thinking, but found {kinds[0]}"


def _images(case: Case) -> Found:
    images = [(place, block["source"]) for place, block in _nested(case.body) if block["type"] == "image"]
    if len(images) > IMAGES_MAX:
        yield "body", f"{len(images)} images, at most {IMAGES_MAX}"
    pixels_max = IMAGE_PIXELS_MAX if len(images) <= IMAGES_FEW_MAX else IMAGE_PIXELS_MAX_OF_MANY
    for place, source in images:
        why = _wrong_image(source, pixels_max)
        if why:
            yield place, why


def _wrong_image(source: Any, pixels_max: int) -> str | None:
    kind = source.get("type") if isinstance(source, dict) else None
    if kind in ("url", "file"):
        return None if source.get("url" if kind == "url" else "file_id") else "source without address"
    if kind != "base64" or not isinstance(source.get("data"), str):
        return "source is neither base64 nor url nor file"
    if str(source.get("media_type")) not in IMAGE_MIMES:
        return f"media type {source.get('media_type')!r}"
    raw = decoded(source["data"])
    if raw is None:
        return "data is no base64"
    if len(source["data"]) > IMAGE_BASE64_BYTES_MAX:
        return f"image of more than {IMAGE_BASE64_BYTES_MAX} bytes"
    seen = picture(raw)
    if seen is None or seen.mime != source["media_type"]:
        return f"the data is not {source['media_type']}"
    if max(seen.width or 0, seen.height or 0) > pixels_max:
        return f"{seen.width} × {seen.height} pixels, at most {pixels_max}"
    return None


def _documents(case: Case) -> Found:
    for place, block in _nested(case.body):
        if block["type"] == "document":
            why = _wrong_document(block["source"])
            if why:
                yield place, why


def _wrong_document(source: Any) -> str | None:
    kind = source.get("type") if isinstance(source, dict) else None
    match kind:
        case "base64":
            raw = decoded(source.get("data", ""))
            if source.get("media_type") != "application/pdf":
                return f"media type {source.get('media_type')!r}"
            return None if raw is not None and b"%PDF-" in raw[:1024] else "the data is no PDF"
        case "text":
            plain = source.get("media_type") == "text/plain" and source.get("data")
            return None if plain else "not text/plain, or empty"
        case "content":
            return None if source.get("content") else "empty"
        case "url" | "file":
            return None if source.get("url" if kind == "url" else "file_id") else "source without address"
        case _:
            return f"source type {kind!r}"


def _cache_marks(case: Case) -> Found:
    system = case.body.get("system", "")
    parts: list[dict[str, Any]] = [] if isinstance(system, str) else list(system)
    parts += [block for _, block in _nested(case.body)]
    parts += case.body.get("tools") or []
    marks = sum(part.get(_MARK) is not None for part in parts)
    if marks > CACHE_MARKS_MAX:
        yield "body", f"{marks} blocks with cache_control, at most {CACHE_MARKS_MAX}"


def _server_tools(case: Case) -> Found:
    called: dict[str, str] = {}
    last = f"messages.{_last_assistant(case.body)}."
    for place, _, block in _placed(case.body):
        if block["type"] in SERVER_CALLS:
            called[block["id"]] = place
        elif _is_server_result(block) and called.pop(block.get("tool_use_id", ""), None) is None:
            yield place, f"{block['type']} without its call before it"
    for name, place in called.items():
        if not place.startswith(last):
            yield place, f"call {name!r} of the server's own tool without its result"


_ERRORS = "error message of the API, as quoted in "
RULES: tuple[Rule, ...] = (
    Rule(
        "shape",
        "SDK types/*_block_param.py and *_message_param.py; 'Extra inputs are not permitted': "
        "anthropics/claude-code#4378, Wei-Shaw/sub2api#225, anthropics/anthropic-sdk-typescript#857",
        _shape,
    ),
    Rule("json", _ERRORS + "anthropics/claude-code#69927 (no low surrogate in string)", json_text),
    Rule("size", "API overview, 'Request size limits': 32 MB", _size),
    Rule("count", "SDK types/message_create_params.py, `messages`: at most 100,000; at least one", _count),
    Rule("kinds", "SDK types/message_content_param.py, types/beta/beta_content_block_param.py", _kinds),
    Rule("roles", "SDK types/message_param.py: user, assistant, system", _roles),
    Rule(
        "first-user",
        "livekit/agents#669: 'a non empty user role'; SDK types/beta/beta_compaction_config_param.py: or a compaction",
        _first_user,
    ),
    Rule(
        "system-place",
        "'Mid-conversation system messages', limitations, as quoted in maximhq/bifrost#3945 and "
        "langchain4j/langchain4j#5604",
        _system_place,
    ),
    Rule(
        "block-roles", _ERRORS + "tghamm/Anthropic.SDK#128 (tool_result only in user messages)", _block_roles
    ),
    Rule(
        "empty",
        "measured table in experientiallabs/experiential#804; anomalyco/opencode#6446; home-assistant/core#175637. "
        "Stricter than measured: a blank block is refused beside others too. Failed results: a public TRAE run ends so",
        _empty,
    ),
    Rule("ids", _ERRORS + "maximhq/bifrost#5097: '^[a-zA-Z0-9_-]+$'", _ids),
    Rule(
        "ids-once",
        _ERRORS + "anthropics/claude-code#28515: '`tool_use` ids must be unique'; over the whole request by "
        "HKUDS/nanobot#4444 and NVIDIA-NeMo/Switchyard#502",
        _ids_once,
    ),
    Rule("names", _ERRORS + "openclaw/openclaw#13134: at most 200 characters", _names),
    Rule("answered", _ERRORS + "anthropics/claude-code#8210; 'Handle tool calls'", _answered),
    Rule("called", _ERRORS + "anthropics/claude-code#13460", _called),
    Rule(
        "answered-once", _ERRORS + "vectorize-io/hindsight#4250: 'must have a single result'", _answered_once
    ),
    Rule("results-first", "'Handle tool calls', 'Important formatting requirements'", _results_first),
    Rule("signed", "SDK types/thinking_block_param.py: signature 'exactly as returned by the API'", _signed),
    Rule(
        "thinking-last",
        _ERRORS + "tailcallhq/forgecode#2107, NousResearch/hermes-agent#13010",
        _thinking_last,
    ),
    Rule(
        "thinking-first",
        _ERRORS + "anomalyco/opencode#3077: 'must start with a thinking block'",
        _thinking_first,
    ),
    Rule(
        "images",
        "'Vision', 'General limits': 100 images, 8000 px, 2000 px beyond 20 images; 5 MB of base64 an image; "
        "SDK types/base64_image_source_param.py: media types",
        _images,
    ),
    Rule("documents", "'PDF support'; SDK types/document_block_param.py and *_source_param.py", _documents),
    Rule("cache-marks", "'Prompt caching': up to 4 cache breakpoints", _cache_marks),
    Rule("server-tools", _ERRORS + "anthropics/claude-code#84783; 'Handle tool calls'", _server_tools),
)
