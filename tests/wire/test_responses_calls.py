"""Tool traffic of OpenAI Responses: every kind of call and output, read, cleared and renamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.message import (
    Media,
    Text,
    ToolCall,
    ToolResult,
    calls_of,
    results_of,
)
from foldline.testing.judges.openai_responses import OUTPUT_OF, violations
from foldline.wire.openai_responses import CODEC
from foldline.wire.responses_calls import (
    CALLS,
    EMPTY_SCREENSHOT,
    OUTPUTS,
    make_output,
    write_server_result,
)
from tests.judges.sdk import missing
from tests.judges.sdk import violations as sdk_violations
from tests.wire.histories import PNG
from tests.wire.items import ITEMS, URL, cleared, edited, item, only

GO = {"role": "user", "content": "go"}


@pytest.mark.parametrize(
    ("call", "output"),
    [(name, f"{name}_output") for name in CALLS if f"{name}_output" in OUTPUTS]
    + [("tool_search_call", "tool_search_output")],
)
def test_a_call_and_its_output_pair(call: str, output: str) -> None:
    """Law PAIR, for every kind of call a client or the server answers in an item of its own."""
    asked, answered = item(call).parts[0], item(output).parts[0]

    assert isinstance(asked, ToolCall)
    assert isinstance(answered, ToolResult)
    assert (asked.id, asked.server) == (answered.call_id, answered.server)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_arguments_are_json_text_and_can_be_edited(name: str) -> None:
    """Every call is counted, shown and shortened alike, free text of custom tools apart."""
    message = item(name)
    call = message.parts[0]
    assert isinstance(call, ToolCall)
    if name == "custom_tool_call":
        assert call.arguments == "*** Begin"
    else:
        json.loads(call.arguments)
    new = replace(call, arguments='{"queries":["new"],"code":"new","action":{"type":"new"}}', edited=True)
    again = CODEC.decode(CODEC.encode(edited(message, new, *message.parts[1:]))).parts[0]

    assert isinstance(again, ToolCall)
    assert "new" in again.arguments


def test_a_renamed_pair_is_renamed_on_the_wire() -> None:
    """Repair gives the second of two calls with one id an id of its own."""
    call, result = item("function_call"), item("local_shell_call_output")
    asked = CODEC.encode(edited(call, replace(only(call), id="c1_2", edited=True)))
    answered = CODEC.encode(edited(result, replace(only(result), call_id="c4_2", edited=True)))

    assert (asked["call_id"], asked["id"]) == ("c1_2", "fc_1")
    assert answered["id"] == "c4_2"


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("function_call_output", "cut"),
        ("function_call_output parts", [{"type": "input_text", "text": "cut"}]),
        ("function_call_output object", [{"type": "input_text", "text": "cut"}]),
        ("apply_patch_call_output", "cut"),
        ("computer_call_output", {"type": "computer_screenshot", "image_url": EMPTY_SCREENSHOT}),
    ],
)
def test_a_cleared_output_keeps_its_shape(name: str, wire: Any) -> None:
    """MIC: text for text, a list for a list; a computer's output stays a screenshot."""
    message = item(name)
    out = CODEC.encode(edited(message, cleared(only(message), "cut")))

    assert out == {**ITEMS[name], "output": wire}


def test_a_cleared_shell_output_keeps_its_chunks_and_outcomes() -> None:
    """The outcome says whether the command failed; it outlives the text."""
    message = item("shell_call_output")
    out = CODEC.encode(edited(message, cleared(only(message), "cut")))

    assert [(c["stdout"], c["stderr"], c["outcome"]["exit_code"]) for c in out["output"]] == [
        ("cut", "", 0),
        ("", "", 1),
    ]


def test_failures_are_read_where_the_wire_tells_them() -> None:
    """An exit code, a failed patch, an MCP error."""
    assert only(item("shell_call_output")).is_error
    assert only(item("apply_patch_call_output")).is_error
    assert not only(item("function_call_output")).is_error
    failed = item("mcp_call failed").parts[1]
    assert isinstance(failed, ToolResult)
    assert failed.is_error


def test_a_result_in_progress_is_interim() -> None:
    """A final output will follow."""
    message = CODEC.decode({**ITEMS["function_call_output"], "status": "in_progress"})

    assert only(message).interim


@pytest.mark.parametrize(
    ("name", "key", "wire"),
    [
        ("mcp_call", "output", "cut"),
        ("code_interpreter_call", "outputs", [{"type": "logs", "logs": "cut"}]),
        ("file_search_call", "results", [{"text": "cut"}]),
        ("image_generation_call", "result", None),
    ],
)
def test_a_result_the_provider_put_into_the_call_can_be_cleared(name: str, key: str, wire: Any) -> None:
    """Server-side results may be the largest thing in a history."""
    message = item(name)
    call, result = message.parts
    assert isinstance(result, ToolResult)
    out = CODEC.encode(edited(message, call, cleared(result, "cut")))

    assert out == {**ITEMS[name], key: wire}


def test_server_calls_wait_for_nobody() -> None:
    """Law PAIR holds for calls the client answers."""
    for name in ("mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "program"):
        assert calls_of(item(name)) == ()
        assert results_of(item(name)) == ()


def test_a_server_call_without_an_id_has_none() -> None:
    """Nothing pairs with it: its result is inside the item."""
    assert only(CODEC.decode({"type": "web_search_call", "action": {"type": "search"}})).id == ""


def test_an_edited_list_of_tools_stays_the_list_it_was() -> None:
    """A search's answer is what the model may call from there on; no text stands in for it."""
    message = item("tool_search_output")
    assert CODEC.encode(edited(message, cleared(only(message), "cut"))) == ITEMS["tool_search_output"]


def test_a_result_stays_outside_an_item_that_has_no_place_for_it() -> None:
    """The provider's own search gives no results to a client that did not ask for them."""
    result = ToolResult(call_id="c1", content=(Text(text="cut"),), server=True, slot=1, edited=True)
    assert write_server_result(ITEMS["function_call"], result) == ITEMS["function_call"]


def test_text_for_a_shell_without_chunks_becomes_its_standard_output() -> None:
    """MIC: the notice with the address must reach the model; what is no text has no place in a chunk."""
    message = CODEC.decode({"type": "shell_call_output", "call_id": "c5", "output": []})
    pieces = (Text(text="cut"), Media(kind="image", data=PNG))
    out = CODEC.encode(edited(message, replace(only(message), content=pieces, edited=True)))
    assert out["output"] == [
        {"outcome": {"type": "exit", "exit_code": 0}, "stdout": "cut", "stderr": ""},
    ]


def test_a_renamed_screenshot_keeps_its_picture() -> None:
    """A repair gives a result another id and leaves what it shows."""
    message = item("computer_call_output")
    out = CODEC.encode(edited(message, replace(only(message), call_id="c3_2", edited=True)))
    assert out == {**ITEMS["computer_call_output"], "call_id": "c3_2"}


@pytest.mark.parametrize("kind", [k for k, shape in CALLS.items() if not shape.server])
def test_a_call_without_a_result_is_answered_by_an_output_of_its_kind(kind: str) -> None:
    """ "No tool output found for custom tool call": only the output item of a call's own kind answers it."""
    asked = ITEMS[kind]
    done = foldline.compact([GO, asked, GO], format="openai-responses")
    answer = done.messages[2]
    assert done.report.valid
    assert OUTPUT_OF[kind] == answer["type"]
    assert violations({"input": done.messages}) == []
    if missing("openai-responses") is None:
        assert sdk_violations({"input": [answer]}, format="openai-responses") == []
    again = CODEC.decode(answer)
    assert (only(again).call_id, only(again).kind) == (asked["call_id"], only(CODEC.decode(asked)).kind)


def test_valid_items_stay_valid_beside_a_custom_call_that_was_left_open() -> None:
    """What goes in valid comes out valid."""
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"}
    called = [
        {"type": "function_call", "call_id": id, "name": "bash", "arguments": "{}"} for id in ("d", "e")
    ]
    output = {"type": "function_call_output", "call_id": "d", "output": "1"}
    done = foldline.compact([GO, custom, called[0], output, called[1]], format="openai-responses")
    assert violations({"input": done.messages}, open_tail=True) == []


def test_a_result_that_leaves_its_item_keeps_what_it_holds() -> None:
    """A late result under a new id is written as a new item of the same kind."""
    shot = Media(kind="image", url=URL, slot=0)
    made = make_output(ToolResult(call_id="c", content=(shot,), kind="computer_call"))
    assert made["output"] == {"type": "computer_screenshot", "image_url": URL}
    stored = Media(kind="image", ref="file_1")
    made = make_output(ToolResult(call_id="c", content=(stored,), kind="computer_call"))
    assert made["output"] == {"type": "computer_screenshot", "file_id": "file_1"}
    found = only(CODEC.decode(ITEMS["tool_search_output"]))
    assert make_output(found)["tools"] == ITEMS["tool_search_output"]["tools"]
    listed = only(CODEC.decode(ITEMS["shell_call_output"]))
    assert make_output(listed)["output"][0]["stdout"].startswith(listed.content[0].text)


@pytest.mark.parametrize("arguments", [None, {"path": "a"}])
def test_arguments_that_are_no_text_are_written_as_text_before_they_are_sent(arguments: Any) -> None:
    """A saved session may hold null or a value there; the API wants a string (SDK response_function_tool_call_param.py)."""
    items: list[Any] = [
        {"role": "user", "content": "go"},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": arguments},
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
    ]
    out = foldline.compact(items, format="openai-responses")
    assert violations({"input": out.messages}) == []
    assert items[1]["arguments"] == arguments


def test_an_empty_call_id_pairs_as_any_other() -> None:
    """A gateway that writes none; `foldline.core.repair` gives both another."""
    items = [
        {"type": "function_call", "call_id": "", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "", "output": "x"},
    ]
    asked, answered = map(CODEC.decode, items)
    assert only(asked).id == only(answered).call_id == ""
    assert CODEC.encode(edited(asked, replace(only(asked), id="c", name="dir", edited=True))) == {
        **items[0],
        "call_id": "c",
        "name": "dir",
    }


def test_an_output_of_odd_pieces_keeps_those_that_have_a_shape() -> None:
    """A saved session may hold anything there; what the API has no part for is told in words."""
    picture = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    item = {"type": "function_call_output", "call_id": "c", "name": "ls", "output": [{"rows": 1}, picture]}
    decoded = CODEC.decode(item)
    result = only(decoded)
    assert [type(piece) for piece in result.content] == [Text, Media]
    out = CODEC.encode(edited(decoded, replace(result, name="dir", edited=True)))
    assert out["name"] == "dir"
    assert out["output"][0] == {"type": "input_text", "text": '{"rows":1}'}
