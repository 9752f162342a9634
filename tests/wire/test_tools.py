"""Tool schemas: the same functions in each provider's shape, and what is no function is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.wire.tools import FREE_TEXT, NAMES, NO_ARGUMENTS, convert_tools, fit_tools, tool_name

SCHEMA = {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]}
SHAPES: dict[str, list[dict[str, Any]]] = {
    "anthropic": [{"name": "read", "description": "reads", "input_schema": SCHEMA}],
    "openai-chat": [
        {"type": "function", "function": {"name": "read", "description": "reads", "parameters": SCHEMA}}
    ],
    "openai-responses": [
        {"type": "function", "name": "read", "description": "reads", "parameters": SCHEMA, "strict": False}
    ],
    "gemini": [
        {"functionDeclarations": [{"name": "read", "description": "reads", "parametersJsonSchema": SCHEMA}]}
    ],
}


def converted(tools: list[Any], to: str) -> tuple[Any, tuple[str, ...]]:
    out, left_out = convert_tools(json.dumps(tools).encode(), to=to)
    return (None if out is None else json.loads(out)), left_out


@pytest.mark.parametrize("source", sorted(SHAPES))
@pytest.mark.parametrize("to", sorted(SHAPES))
def test_a_function_has_the_same_meaning_in_every_shape(source: str, to: str) -> None:
    """Types `ToolParam`, `ChatCompletionToolParam`, `FunctionToolParam`, `FunctionDeclaration` of the SDKs."""
    assert converted(SHAPES[source], to) == (SHAPES[to], ())


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ({"type": "web_search_20250305", "name": "web_search"}, "web_search"),
        ({"type": "file_search", "vector_store_ids": []}, "file_search"),
        ({"googleSearch": {}}, "googleSearch"),
    ],
)
def test_a_tool_of_the_provider_itself_is_left_out_and_named(tool: dict[str, Any], name: str) -> None:
    """No other provider runs it."""
    out, left_out = converted([tool, *SHAPES["openai-chat"]], "anthropic")

    assert out == SHAPES["anthropic"]
    assert left_out == (name,)


def test_functions_and_a_search_in_one_gemini_tool_are_told_apart() -> None:
    """One `Tool` object may hold both."""
    both = [{**SHAPES["gemini"][0], "googleSearch": {}}]

    assert converted(both, "openai-chat") == (SHAPES["openai-chat"], ("googleSearch",))


def test_gemini_types_in_capitals_become_json_schema() -> None:
    """`Schema` of the Gemini API spells OBJECT and STRING."""
    tool = [
        {
            "function_declarations": [
                {
                    "name": "read",
                    "description": "reads",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"p": {"type": "STRING"}},
                        "required": ["p"],
                    },
                }
            ]
        }
    ]

    assert converted(tool, "anthropic") == (SHAPES["anthropic"], ())


@pytest.mark.parametrize(
    ("tool", "schema"),
    [
        ({"type": "custom", "name": "patch", "format": {"type": "text"}}, FREE_TEXT),
        ({"type": "custom", "custom": {"name": "patch"}}, FREE_TEXT),
        ({"type": "function", "name": "patch", "parameters": None}, NO_ARGUMENTS),
    ],
)
def test_a_tool_without_a_schema_gets_the_one_its_calls_fit(tool: dict[str, Any], schema: Any) -> None:
    """Calls of a custom tool are wrapped in `{"input": …}`."""
    out, left_out = converted([tool], "anthropic")

    assert out == [{"name": "patch", "input_schema": schema}]
    assert left_out == ()


def test_strict_stays_where_it_was_asked_for() -> None:
    """Responses switches it on by default, which most schemas do not bear."""
    strict = [{**SHAPES["openai-responses"][0], "strict": True}]
    out, _ = converted(strict, "openai-chat")

    assert out[0]["function"]["strict"] is True


def test_no_tools_are_none() -> None:
    """Nothing in, nothing out; an empty list is no list of tools."""
    assert convert_tools(None, to="anthropic") == (None, ())
    assert convert_tools(b"[]", to="gemini") == (None, ())


@pytest.mark.parametrize("to", sorted(NAMES))
def test_a_name_changes_only_where_it_is_refused_and_never_into_another(to: str) -> None:
    """MCP servers name tools with dots, OpenAI chat takes 64 characters."""
    names = ["read", "fs.read", "fs_read", "fs read", "1st", "ü", "", "x" * 65, "x" * 66, "x" * 200]
    new = [tool_name(name, to=to) for name in names]

    assert all(NAMES[to].fullmatch(name) for name in new)
    assert len(set(new)) == len(names)
    assert [n for n, was in zip(new, names, strict=True) if n == was] == [
        n for n in names if NAMES[to].fullmatch(n)
    ]


def test_what_is_no_tool_at_all_is_counted_as_left_out() -> None:
    """Nothing vanishes in silence, though it has no name."""
    assert converted([5, *SHAPES["anthropic"]], "openai-chat") == (SHAPES["openai-chat"], ("?",))


def test_of_declared_tools_only_refused_names_change_and_the_rest_stays_as_it_came() -> None:
    """What is no declaration at all is the provider's to refuse."""
    pattern = r"[a-z_]{1,64}"
    sound = b'[ {"name":"ls"}, 5 ]'
    assert fit_tools(sound, pattern=pattern) is sound
    assert fit_tools(None, pattern=pattern) is None
    [fit, other] = json.loads(
        fit_tools(b'[{"name":"fs.ls","description":"fs.ls"},"x"]', pattern=pattern) or b""
    )
    assert fit["name"] != "fs.ls"
    assert (fit["description"], other) == ("fs.ls", "x")
