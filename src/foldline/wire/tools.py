"""Tool schemas between wires: the same functions in each provider's shape.

Owns the shapes of a function's declaration. Recognises a shape by its keys, never by the name of a format, since
session files mix them. Tools a provider runs itself have no counterpart elsewhere: they are left out, and named.

    anthropic          {"name", "description", "input_schema"}
    openai-chat        {"type": "function", "function": {"name", "description", "parameters"}}
    openai-responses   {"type": "function", "name", "description", "parameters", "strict"}
    gemini             {"functionDeclarations": [{"name", "description", "parametersJsonSchema"}]}
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.spelling import fit_name, is_fit_name
from foldline.wire.strict import dump, parse

FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""Schema for a tool whose input is free text; its calls are wrapped alike (`splice.arguments_object`)."""
NO_ARGUMENTS = {"type": "object", "properties": {}}

NAMES = {
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,128}"),  # 400 "tools.0.name: String should match pattern …"
    "openai-chat": re.compile(
        r"[a-zA-Z0-9_-]{1,64}"
    ),  # 400 "tool_calls[0].function.name: does not match pattern"
    "openai-responses": re.compile(r"[a-zA-Z0-9_-]{1,128}"),  # diegosouzapw/OmniRoute#4317
    "gemini": re.compile(
        r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"
    ),  # `FunctionDeclaration.name` of google-genai 3.6
}
"""What a function may be called on each wire."""


def tool_name(name: str, *, to: str) -> str:
    """The name of a function on the target's wire: itself where it is accepted, else what is accepted of it with a
    piece of its digest, so that two names never become one. Calls and schemas change alike."""
    return name if NAMES[to].fullmatch(name) else fit_name(name)


class Function(Struct, frozen=True, kw_only=True):
    """A function, in no provider's shape."""

    name: str
    description: str | None
    schema: dict[str, Any]
    strict: bool | None = None


def convert_tools(tools: bytes | None, *, to: str) -> tuple[bytes | None, tuple[str, ...]]:
    """The JSON array of tools in the target's shape, and the names of tools left out. `None` for no tools."""
    if tools is None:
        return None, ()
    functions: list[Function] = []
    left_out: list[str] = []
    for tool in parse(tools):
        found = _functions_of(tool)
        functions.extend(found)
        left_out.extend(_foreign_names(tool, found))
    named = [replace(function, name=tool_name(function.name, to=to)) for function in functions]
    return (dump(_shape(named, to)) if named else None), tuple(left_out)


def fit_tools(tools: bytes | None, *, pattern: str) -> bytes | None:
    """The tools as they came where the target takes their names; else those it refuses under the names that their calls get."""
    if tools is None:
        return None
    came = parse(tools)
    fit = _fit(came, pattern)
    return tools if fit == came else dump(fit)


def _fit(declared: Any, pattern: str) -> Any:
    if isinstance(declared, list):
        return [_fit(one, pattern) for one in declared]
    if not isinstance(declared, dict):
        return declared
    fit = {key: _fit(value, pattern) if key in _DECLARING else value for key, value in declared.items()}
    name = fit.get("name")
    if isinstance(name, str) and not is_fit_name(name, pattern=pattern):
        fit["name"] = fit_name(name)
    return fit


def _functions_of(tool: Any) -> list[Function]:
    if not isinstance(tool, dict):
        return []
    declared = tool.get("functionDeclarations", tool.get("function_declarations"))
    if isinstance(declared, list):
        return [function for item in declared if (function := _function(item)) is not None]
    inner = tool.get("function", tool.get("custom"))
    found = _function({**inner, "type": tool.get("type")} if isinstance(inner, dict) else tool)
    return [found] if found is not None else []


def _function(item: Any) -> Function | None:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        return None
    if item.get("type") not in (None, "function", "custom") and "input_schema" not in item:
        return None
    schema = next((item[key] for key in _SCHEMA_KEYS if isinstance(item.get(key), dict)), None)
    if schema is None:
        schema = FREE_TEXT if item.get("type") == "custom" else NO_ARGUMENTS
    description, strict = item.get("description"), item.get("strict")
    return Function(
        name=item["name"],
        description=description if isinstance(description, str) else None,
        schema=_lower_types(schema),
        strict=strict if isinstance(strict, bool) else None,
    )


_DECLARING = frozenset({"function", "custom", "functionDeclarations", "function_declarations"})
_SCHEMA_KEYS = (
    "input_schema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "parameters",
    "inputSchema",
)


def _lower_types(schema: Any) -> Any:
    """JSON Schema spells types in lower case; Gemini's `Schema` in upper case."""
    if isinstance(schema, dict):
        return {
            key: value.lower() if key == "type" and isinstance(value, str) else _lower_types(value)
            for key, value in schema.items()
        }
    return [_lower_types(item) for item in schema] if isinstance(schema, list) else schema


def _foreign_names(tool: Any, found: list[Function]) -> list[str]:
    """Names of what in `tool` is no function: the provider's own tools."""
    if not isinstance(tool, dict):
        return ["?"]
    if found and "functionDeclarations" not in tool and "function_declarations" not in tool:
        return []
    others = [key for key in tool if key not in ("functionDeclarations", "function_declarations")]
    if found or others != list(tool):
        return others
    return [str(tool.get("name") or tool.get("type") or "?")] if "type" in tool else others


def _shape(functions: list[Function], to: str) -> list[dict[str, Any]]:
    match to:
        case "anthropic":
            return [{**_named(f), "input_schema": f.schema, **_strict(f)} for f in functions]
        case "openai-chat":
            return [
                {"type": "function", "function": {**_named(f), "parameters": f.schema, **_strict(f)}}
                for f in functions
            ]
        case "openai-responses":
            # strict is on unless said otherwise, and refuses most schemas that were not written for it
            return [
                {"type": "function", **_named(f), "parameters": f.schema, "strict": f.strict or False}
                for f in functions
            ]
        case _:
            return [
                {"functionDeclarations": [{**_named(f), "parametersJsonSchema": f.schema} for f in functions]}
            ]


def _named(function: Function) -> dict[str, Any]:
    named: dict[str, Any] = {"name": function.name}
    return {**named, "description": function.description} if function.description else named


def _strict(function: Function) -> dict[str, Any]:
    return {"strict": True} if function.strict else {}
