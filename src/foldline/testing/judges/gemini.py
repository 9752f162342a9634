"""Judge of Gemini generateContent bodies (`{"systemInstruction", "contents", "tools"}`), from the provider's rules alone.

Sources: the API reference as the types of the official SDK carry it (`google-genai` 3.6), the documentation, and
where both are silent the API's own error messages as public reports quote them. Keys are read in both spellings the
API takes (`functionCall`, `function_call`). Knows nothing of `foldline`.

Not judged: missing thought signatures, since which models demand them is not in a history; neighbours of one role,
which the first models refused (Portkey-AI/gateway#258) and today's take (google/adk-go#1302).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from foldline.testing.judges.media import decoded, picture
from foldline.testing.judges.rule import Body, Case, Found, Rule, blank, json_bytes, json_text, judge

BODY_BYTES_MAX = 20 * 1024 * 1024
DATA_KEYS = frozenset(
    {
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
    }
    | {"toolCall", "toolResponse"}
)
FURTHER_KEYS = frozenset(
    {"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata", "audioTranscription"}
    | {"mediaProcessing", "speechMetadata", "documentMetadata", "spreadsheetMetadata"}
)
MODEL_ONLY = frozenset({"functionCall", "executableCode", "codeExecutionResult", "toolCall"})
_UNDERSCORE = re.compile(r"_([a-z])")


def violations(body: Body, *, open_tail: bool = False) -> list[str]:
    """What the provider would refuse in `body`, one line each; empty when it would be accepted.

    `open_tail=True` lets the calls of the last content wait for their responses.
    """
    return judge(RULES, body, open_tail=open_tail)


def _camel(value: dict[str, Any]) -> dict[str, Any]:
    if "_" not in "".join(value):
        return value
    return {_UNDERSCORE.sub(lambda match: match[1].upper(), key): inner for key, inner in value.items()}


def _role(content: dict[str, Any]) -> str:
    """`tool` and the older `function` are taken for the user's where a content holds responses alone: the SDK's README sends them so."""
    role = str(content.get("role") or "user")
    answers = role in ("tool", "function") and all("functionResponse" in part for part in _parts(content))
    return "user" if answers else role


def _parts(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [_camel(part) for part in content["parts"]]


def _placed(case: Case) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for at, content in enumerate(case.body["contents"]):
        for index, part in enumerate(_parts(content)):
            yield f"contents.{at}.parts.{index}", content, part


def _of(content: dict[str, Any] | None, key: str) -> list[dict[str, Any]]:
    return [part[key] for part in _parts(content) if key in part] if content is not None else []


def _shape(case: Case) -> Found:
    contents = case.body.get("contents")
    if not isinstance(contents, list):
        yield "contents", "missing or no list"
        return
    for at, content in enumerate(contents):
        if not isinstance(content, dict) or not isinstance(content.get("parts"), list):
            yield f"contents.{at}", "no object with a list of parts"
            continue
        for extra in sorted(content.keys() - {"role", "parts"}):
            yield f"contents.{at}.{extra}", "unknown name"
        for index, part in enumerate(content["parts"]):
            if isinstance(part, dict):
                yield from _shape_of_part(f"contents.{at}.parts.{index}", _camel(part))
            else:
                yield f"contents.{at}.parts.{index}", "no object"


def _shape_of_part(place: str, part: dict[str, Any]) -> Found:
    for extra in sorted(part.keys() - DATA_KEYS - FURTHER_KEYS):
        yield f"{place}.{extra}", "unknown name"
    if len(part.keys() & DATA_KEYS) != 1:
        yield place, f"exactly one kind of data wanted, found {sorted(part.keys() & DATA_KEYS)}"
    if not isinstance(part.get("text", ""), str):
        yield f"{place}.text", "no text"
    wanted = {
        "functionCall": ("name", str, "args", True),
        "functionResponse": ("name", str, "response", False),
    }
    for key, (name, kind, inner, optional) in wanted.items():
        if key not in part:
            continue
        value = part[key]
        if not isinstance(value, dict) or not isinstance(value.get(name), kind) or not value[name]:
            yield f"{place}.{key}", "no object with a name"
        elif not isinstance(value.get("id", ""), str):
            yield f"{place}.{key}.id", "no text"
        elif not isinstance(value.get(inner, {} if optional else None), dict):
            yield f"{place}.{key}.{inner}", "no object"


def _size(case: Case) -> Found:
    if json_bytes(case.body) > BODY_BYTES_MAX:
        yield "body", f"more than {BODY_BYTES_MAX} bytes"


def _count(case: Case) -> Found:
    if not case.body["contents"]:
        yield "contents", "contents is not specified"
    for at, content in enumerate(case.body["contents"]):
        if not content["parts"]:
            yield f"contents.{at}.parts", "contents.parts must not be empty"


def _roles(case: Case) -> Found:
    for at, content in enumerate(case.body["contents"]):
        if _role(content) not in ("user", "model"):
            yield f"contents.{at}.role", "please use a valid role: user, model"


def _first_user(case: Case) -> Found:
    contents = case.body["contents"]
    if contents and _role(contents[0]) != "user":
        yield "contents.0", "the first content must be the user's"


def _part_roles(case: Case) -> Found:
    for place, content, part in _placed(case):
        if part.keys() & MODEL_ONLY and _role(content) != "model":
            yield place, "the model's own part in a user content"
        if "functionResponse" in part and _role(content) == "model":
            yield place, "functionResponse in a model content"


def _call_place(case: Case) -> Found:
    contents = case.body["contents"]
    for at, content in enumerate(contents):
        if _of(content, "functionCall") and (at == 0 or _role(contents[at - 1]) != "user"):
            yield (
                f"contents.{at}",
                "a function call turn comes immediately after a user or function response turn",
            )


def _answered(case: Case) -> Found:
    contents = case.body["contents"]
    for at, content in enumerate(contents):
        calls = _of(content, "functionCall")
        following = contents[at + 1] if at + 1 < len(contents) else None
        if not calls or (following is None and case.open_tail):
            continue
        responses = _of(following, "functionResponse")
        if len(calls) != len(responses):
            yield (
                f"contents.{at}",
                f"{len(responses)} function response parts for {len(calls)} function call parts",
            )
        elif Counter(call["name"] for call in calls) != Counter(response["name"] for response in responses):
            yield f"contents.{at}", "the responses are not named as the calls are"


def _called(case: Case) -> Found:
    contents = case.body["contents"]
    for at, content in enumerate(contents):
        if _of(content, "functionResponse") and not (at and _of(contents[at - 1], "functionCall")):
            yield f"contents.{at}", "a function response turn comes immediately after a function call turn"


def _ids(case: Case) -> Found:
    contents = case.body["contents"]
    for at, content in enumerate(contents[:-1]):
        called = [call["id"] for call in _of(content, "functionCall") if call.get("id")]
        answered = [
            response["id"] for response in _of(contents[at + 1], "functionResponse") if response.get("id")
        ]
        if called and answered and Counter(called) != Counter(answered):
            yield f"contents.{at + 1}", "the responses' ids are not the calls'"
        if len(called) != len(set(called)):
            yield f"contents.{at}", "two calls with one id"


def _empty(case: Case) -> Found:
    for place, _, part in _placed(case):
        if "text" in part and blank(part["text"]) and not part.get("thoughtSignature"):
            yield place, "empty text parameter"


def _signatures(case: Case) -> Found:
    for place, _, part in _placed(case):
        signature = part.get("thoughtSignature")
        if signature is not None and (not isinstance(signature, str) or _unsigned(signature)):
            yield place, "thoughtSignature is no base64"


def _unsigned(signature: str) -> bool:
    return decoded(signature.replace("-", "+").replace("_", "/")) is None


def _media(case: Case) -> Found:
    for place, _, part in _placed(case):
        why = None
        if "inlineData" in part:
            why = _wrong_blob(part["inlineData"])
        elif "fileData" in part and not _file_uri(part["fileData"]):
            why = "fileData without fileUri"
        if why:
            yield place, why


def _file_uri(file: Any) -> Any:
    return _camel(file).get("fileUri") if isinstance(file, dict) else None


_EITHER = str.maketrans("-_", "+/")
"""Bytes of Google's APIs are base64 of either alphabet (the JSON mapping of protocol buffers), and google-genai writes the one for URLs."""


def _wrong_blob(blob: Any) -> str | None:
    if not isinstance(blob, dict):
        return "no object"
    mime, data = _camel(blob).get("mimeType"), blob.get("data")
    if not isinstance(mime, str) or "/" not in mime:
        return "mimeType is required"
    raw = decoded(data.translate(_EITHER)) if isinstance(data, str) else None
    if raw is None:
        return "data is no base64"
    seen = picture(raw)
    if mime in ("image/png", "image/jpeg", "image/webp") and (seen is None or seen.mime != mime):
        return f"the data is not {mime}"
    return None


def _system(case: Case) -> Found:
    system = _camel(case.body).get("systemInstruction")
    if system is None:
        return
    parts = system.get("parts") if isinstance(system, dict) else None
    if not isinstance(parts, list) or not parts:
        yield "systemInstruction", "no content with parts"
    elif not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts):
        yield "systemInstruction", "system instructions are text"
    elif all(blank(part["text"]) for part in parts):
        yield "systemInstruction", "empty text parameter"


_ERRORS = "error message of the API, as quoted in "
RULES: tuple[Rule, ...] = (
    Rule(
        "shape",
        "SDK google/genai/types.py: Content, Part ('exactly one field'), FunctionCall, FunctionResponse",
        _shape,
    ),
    Rule("json", _ERRORS + "anthropics/claude-code#69927; JSON (RFC 8259, 8.1) is UTF-8", json_text),
    Rule("size", "Firebase AI Logic, 'Supported input files': total request size limit 20 MB", _size),
    Rule("count", _ERRORS + "vercel/ai#3775: contents is not specified; parts must not be empty", _count),
    Rule("roles", _ERRORS + "the-open-agent/openagent#1666: 'valid role: user, model'", _roles),
    Rule(
        "first-user",
        "microsoft/semantic-kernel#13288 (single turn); not confirmed for longer histories",
        _first_user,
    ),
    Rule(
        "part-roles", "'Function calling': calls in model contents, responses in user contents", _part_roles
    ),
    Rule("call-place", _ERRORS + "google-gemini/gemini-cli#26486", _call_place),
    Rule("answered", _ERRORS + "google-gemini/gemini-cli#4217: equal numbers of parts", _answered),
    Rule("called", _ERRORS + "langchain-ai/langchain#27799", _called),
    Rule(
        "ids", "SDK google/genai/types.py, FunctionCall.id: 'return the response with the matching id'", _ids
    ),
    Rule("empty", _ERRORS + "zuisong/gemini-openai-proxy#86: 'it has an empty text parameter'", _empty),
    Rule("signatures", "'Thought signatures': 'exactly as received'; SDK types.py: bytes", _signatures),
    Rule("media", "SDK google/genai/types.py, Blob and FileData", _media),
    Rule("system", "'System instructions': text parts; SDK types.py, Content", _system),
)
