"""OpenAI Responses items: what came in goes out, an edit touches what it edits, and every kind of item is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.message import (
    NEW,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    calls_of,
    results_of,
)
from foldline.wire.openai_responses import CODEC
from foldline.wire.responses_calls import CALLS, EMPTY_SCREENSHOT, OUTPUTS
from tests.wire.histories import PNG

URL = f"data:image/png;base64,{PNG}"

ITEMS: dict[str, dict[str, Any]] = {
    "easy": {"role": "user", "content": "hi"},
    "developer": {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": "be kind"}],
    },
    "parts": {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "see", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "input_image", "image_url": URL, "detail": "high"},
            {"type": "input_image", "file_id": "file_1", "detail": "auto"},
            {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,aGVsbG8="},
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
            {"type": "input_image", "image_url": None, "detail": "auto"},
            {"type": "input_hologram", "beam": 1},
        ],
    },
    "output": {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "final_answer",
        "content": [
            {"type": "output_text", "text": "yes", "annotations": [{"type": "file_path"}], "logprobs": []},
            {"type": "refusal", "refusal": "no"},
        ],
    },
    "reasoning": {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}],
        "encrypted_content": "QUJD",
    },
    "function_call": {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "shell",
        "arguments": '{"cmd":"ls"}',
        "status": "completed",
    },
    "function_call_output": {"type": "function_call_output", "id": "o1", "call_id": "c1", "output": "a.py"},
    "function_call_output parts": {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [{"type": "input_text", "text": "shot"}, {"type": "input_image", "image_url": URL}],
    },
    "function_call_output object": {
        "type": "function_call_output",
        "call_id": "c1",
        "output": {"type": "input_text", "text": "a.txt", "detail": None},
    },
    "custom_tool_call": {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** Begin"},
    "custom_tool_call_output": {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
    "computer_call": {
        "type": "computer_call",
        "id": "cc_1",
        "call_id": "c3",
        "action": {"type": "click", "x": 1, "y": 2, "button": "left"},
        "pending_safety_checks": [],
        "status": "completed",
    },
    "computer_call_output": {
        "type": "computer_call_output",
        "call_id": "c3",
        "output": {"type": "computer_screenshot", "image_url": URL},
    },
    "local_shell_call": {
        "type": "local_shell_call",
        "id": "ls_1",
        "call_id": "c4",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    },
    "local_shell_call_output": {"type": "local_shell_call_output", "id": "c4", "output": "a.py"},
    "shell_call": {"type": "shell_call", "call_id": "c5", "action": {"commands": ["ls"]}},
    "shell_call_output": {
        "type": "shell_call_output",
        "call_id": "c5",
        "output": [
            {"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
            {"stdout": "", "stderr": "boom", "outcome": {"type": "exit", "exit_code": 1}},
        ],
    },
    "apply_patch_call": {
        "type": "apply_patch_call",
        "call_id": "c6",
        "status": "completed",
        "operation": {"type": "delete_file", "path": "a.py"},
    },
    "apply_patch_call_output": {
        "type": "apply_patch_call_output",
        "call_id": "c6",
        "status": "failed",
        "output": "no such file",
    },
    "tool_search_call": {
        "type": "tool_search_call",
        "call_id": "c7",
        "execution": "client",
        "arguments": {"query": "x"},
    },
    "tool_search_output": {"type": "tool_search_output", "call_id": "c7", "tools": [{"name": "t"}]},
    "mcp_call": {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "s",
        "name": "find",
        "arguments": '{"q":1}',
        "output": "found it",
    },
    "mcp_call failed": {
        "type": "mcp_call",
        "id": "mcp_2",
        "server_label": "s",
        "name": "find",
        "arguments": "{}",
        "error": {"type": "mcp_error", "message": "down"},
    },
    "web_search_call": {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    },
    "file_search_call": {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["x"],
        "results": [
            {"file_id": "f", "score": 0.5, "text": "chunk one"},
            {"file_id": "g", "text": "chunk two"},
        ],
    },
    "code_interpreter_call": {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "container_id": "k",
        "status": "completed",
        "code": "print(1)",
        "outputs": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://example.com/p.png"}],
    },
    "image_generation_call": {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": PNG,
    },
    "program": {"type": "program", "id": "p1", "call_id": "c8", "code": "run()", "fingerprint": "f"},
    "program_output": {
        "type": "program_output",
        "id": "p2",
        "call_id": "c8",
        "result": "done",
        "status": "completed",
    },
    "compaction": {"type": "compaction", "id": "cmp_1", "encrypted_content": "eHg="},
    "compaction_trigger": {"type": "compaction_trigger"},
    "item_reference": {"id": "msg_9"},
    "configuration_update": {"type": "configuration_update", "reasoning": {"effort": "low"}},
    "mcp_approval_response": {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    "output without call": {"type": "function_call_output", "name": "t", "output": "late"},
    "unknown": {"type": "hologram_call", "id": "h", "beam": [1, 2]},
}


def decode(name: str) -> Message:
    return CODEC.decode(ITEMS[name])


def edited(message: Message, *parts: Part) -> Message:
    return replace(message, parts=parts, edited=True)


def new_text(text: str, part: Any) -> Any:
    """The part with another text, as a pass makes it."""
    return replace(part, text=text, edited=True)


def cleared(result: ToolResult, *texts: str) -> ToolResult:
    """The result with other texts, as microcompact makes it."""
    return replace(result, content=tuple(Text(text=text) for text in texts), edited=True)


def only(message: Message) -> Any:
    assert len(message.parts) == 1
    return message.parts[0]


@pytest.mark.parametrize("name", sorted(ITEMS))
def test_an_item_leaves_as_it_came(name: str) -> None:
    """Law LOSSLESS: the caller's own dict, and the very bytes."""
    item = ITEMS[name]
    spaced = json.dumps(item, indent=2).encode()

    assert CODEC.encode(CODEC.decode(item)) is item
    assert CODEC.encode_bytes(CODEC.decode(spaced)) == spaced
    assert CODEC.encode(CODEC.decode(spaced)) == item


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    name=st.sampled_from(sorted(ITEMS)),
    more=st.dictionaries(st.text(min_size=1, max_size=6).map("x_".__add__), json_values, max_size=3),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
)
def test_an_item_with_any_further_keys_leaves_as_it_came(
    name: str, more: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    """Law LOSSLESS: unknown keys, white space and escapes are kept."""
    raw = json.dumps({**ITEMS[name], **more}, indent=indent, ensure_ascii=ascii_only).encode(
        "utf-8", "surrogatepass"
    )
    try:
        raw.decode()
    except UnicodeDecodeError:
        return  # a lone surrogate cannot be written unescaped

    assert CODEC.encode_bytes(CODEC.decode(raw)) == raw


SPLICED = ["parts", "output", "function_call_output parts", "shell_call_output"]


@given(data=st.data(), name=st.sampled_from(SPLICED))
def test_editing_one_piece_leaves_its_siblings_as_they_were(data: st.DataObject, name: str) -> None:
    """Law LOSSLESS beside an edit: the same bytes, white space and unknown keys included."""

    def spaced(value: Any) -> str:
        return json.dumps(value, separators=(" ,  ", " :  "))

    raw = spaced(ITEMS[name]).encode()
    message = CODEC.decode(raw)
    result = message.parts[0] if isinstance(message.parts[0], ToolResult) else None
    pieces: tuple[Any, ...] = result.content if result else message.parts
    at = data.draw(st.sampled_from([i for i, piece in enumerate(pieces) if isinstance(piece, Text)]))
    changed = tuple(new_text("EDITED", piece) if i == at else piece for i, piece in enumerate(pieces))
    parts = (replace(result, content=changed, edited=True),) if result else changed
    out = CODEC.encode_bytes(edited(message, *parts))

    key = "output" if result else "content"
    touched = pieces[at].slot // 2 if name == "shell_call_output" else pieces[at].slot
    assert "EDITED" in json.dumps(json.loads(out)[key][touched])
    for index, piece in enumerate(ITEMS[name][key]):
        assert (spaced(piece).encode() in out) is (index != touched)


@pytest.mark.parametrize(
    ("name", "role", "kinds"),
    [
        ("easy", "user", [Text]),
        ("developer", "system", [Text]),
        ("parts", "user", [Text, Media, Media, Media, Media, Media, Opaque, Opaque]),
        ("output", "assistant", [Text, Text]),
        ("reasoning", "assistant", [Reasoning]),
        ("function_call", "assistant", [ToolCall]),
        ("function_call_output", "tool", [ToolResult]),
        ("mcp_call", "assistant", [ToolCall, ToolResult]),
        ("web_search_call", "assistant", [ToolCall]),
        ("compaction", "assistant", [Opaque]),
        ("compaction_trigger", "user", [Opaque]),
        ("item_reference", "assistant", [Opaque]),
        ("configuration_update", "system", [Opaque]),
        ("mcp_approval_response", "user", [Opaque]),
        ("output without call", "user", [Opaque]),
        ("unknown", "assistant", [Opaque]),
    ],
)
def test_an_item_is_read_as_one_message(name: str, role: str, kinds: list[type]) -> None:
    """One input item, one message; what is not known is opaque and never vanishes."""
    message = decode(name)

    assert (message.role, [type(part) for part in message.parts]) == (role, kinds)


@pytest.mark.parametrize(
    ("call", "output"),
    [(name, f"{name}_output") for name in CALLS if f"{name}_output" in OUTPUTS]
    + [("tool_search_call", "tool_search_output")],
)
def test_a_call_and_its_output_pair(call: str, output: str) -> None:
    """Law PAIR, for every kind of call a client or the server answers in an item of its own."""
    asked, answered = decode(call).parts[0], decode(output).parts[0]

    assert isinstance(asked, ToolCall)
    assert isinstance(answered, ToolResult)
    assert (asked.id, asked.server) == (answered.call_id, answered.server)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_arguments_are_json_text_and_can_be_edited(name: str) -> None:
    """Every call is counted, shown and shortened alike, free text of custom tools apart."""
    message = decode(name)
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
    call, result = decode("function_call"), decode("local_shell_call_output")
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
    message = decode(name)
    out = CODEC.encode(edited(message, cleared(only(message), "cut")))

    assert out == {**ITEMS[name], "output": wire}


def test_a_cleared_shell_output_keeps_its_chunks_and_outcomes() -> None:
    """The outcome says whether the command failed; it outlives the text."""
    message = decode("shell_call_output")
    out = CODEC.encode(edited(message, cleared(only(message), "cut")))

    assert [(c["stdout"], c["stderr"], c["outcome"]["exit_code"]) for c in out["output"]] == [
        ("cut", "", 0),
        ("", "", 1),
    ]


def test_failures_are_read_where_the_wire_tells_them() -> None:
    """An exit code, a failed patch, an MCP error."""
    assert only(decode("shell_call_output")).is_error
    assert only(decode("apply_patch_call_output")).is_error
    assert not only(decode("function_call_output")).is_error
    failed = decode("mcp_call failed").parts[1]
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
    message = decode(name)
    call, result = message.parts
    assert isinstance(result, ToolResult)
    out = CODEC.encode(edited(message, call, cleared(result, "cut")))

    assert out == {**ITEMS[name], key: wire}


def test_server_calls_wait_for_nobody() -> None:
    """Law PAIR holds for calls the client answers."""
    for name in ("mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "program"):
        assert calls_of(decode(name)) == ()
        assert results_of(decode(name)) == ()


def test_reasoning_carries_its_encrypted_content_as_its_signature() -> None:
    """Signed reasoning is atomic, and bound to its provider."""
    reasoning = only(decode("reasoning"))

    assert (reasoning.text, reasoning.signature, reasoning.provider) == (
        "short\nlong",
        "QUJD",
        "openai-responses",
    )


def test_reasoning_without_proof_is_unsigned() -> None:
    """Open models give their reasoning in the clear."""
    item = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}

    assert only(CODEC.decode(item)).provider is None


def test_text_documents_are_read_as_text_and_written_as_base64() -> None:
    """`Media.data` of a text document is its text."""
    document = next(p for p in decode("parts").parts if isinstance(p, Media) and p.name == "a.txt")
    fresh = CODEC.encode(Message(role="user", parts=(replace(document, slot=NEW),)))

    assert (document.data, document.kind) == ("hello", "document")
    assert fresh["content"][0]["file_data"] == "data:text/plain;base64,aGVsbG8="


def test_annotations_go_with_the_text_they_point_into() -> None:
    """They hold offsets into the old wording."""
    message = decode("output")
    out = CODEC.encode(edited(message, new_text("short", message.parts[0]), message.parts[1]))

    assert out["content"][0] == {"type": "output_text", "text": "short", "annotations": []}
    assert out["content"][1] == ITEMS["output"]["content"][1]


def test_text_stays_a_string_while_it_is_one() -> None:
    """An easy message has no list of parts until it needs one."""
    message = decode("easy")
    one = CODEC.encode(edited(message, new_text("ho", message.parts[0])))
    two = CODEC.encode(edited(message, message.parts[0], Text(text="more")))

    assert one == {"role": "user", "content": "ho"}
    assert [piece["text"] for piece in two["content"]] == ["hi", "more"]


def test_what_is_made_here_has_the_shape_of_the_reference() -> None:
    """Types `EasyInputMessageParam`, `ResponseFunctionToolCallParam`, `FunctionCallOutput` of openai 3.57."""
    made = [
        Message(role="assistant", parts=(Text(text="a"),)),
        Message(role="user", parts=(Text(text="u"), Media(kind="image", mime="image/png", data=PNG))),
        Message(role="assistant", parts=(ToolCall(id="c", name="t", arguments="{}"),)),
        Message(role="tool", parts=(ToolResult(call_id="c"),)),
    ]

    assert [CODEC.encode(message) for message in made] == [
        {"type": "message", "role": "assistant", "content": "a"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "u"},
                {"type": "input_image", "detail": "auto", "image_url": URL},
            ],
        },
        {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
    ]


def test_a_message_of_several_items_is_refused() -> None:
    """One message, one item: `convert` splits, the codec never drops."""
    call = ToolCall(id="c", name="t", arguments="{}")
    with pytest.raises(ValueError, match="split"):
        CODEC.encode(Message(role="assistant", parts=(Text(text="a"), call)))


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"type": "message", "role": "king", "content": "x"},
        {"type": "message", "role": "user"},
        {"type": "function_call", "name": "x", "arguments": "{}"},
        {"type": "function_call", "call_id": "c", "arguments": "{}"},
    ],
)
def test_what_is_no_item_is_refused_by_the_name_of_the_key(item: dict[str, Any]) -> None:
    """`Codec.decode` says what is wrong with which key."""
    with pytest.raises(ValueError, match=r"type|role|content|call_id|name"):
        CODEC.decode(item)


def test_neighbours_are_joined_with_every_key_of_their_parts() -> None:
    """`Codec.join`: the parts of both, in order."""
    joined = CODEC.join(decode("easy"), decode("parts"))
    content = CODEC.encode(joined)["content"]

    assert content == [{"type": "input_text", "text": "hi"}, *ITEMS["parts"]["content"]]
    with pytest.raises(ValueError, match="cannot be one item"):
        CODEC.join(decode("function_call"), decode("easy"))


@pytest.mark.parametrize("value", ["be kind", [{"role": "developer", "content": "be kind"}]])
def test_instructions_leave_as_they_came(value: Any) -> None:
    """The system prompt of this wire: a string, or in stored responses a list of items."""
    system = CODEC.system_of({"instructions": value})
    assert system is not None

    assert CODEC.encode_system(system) is value


def test_instructions_can_be_edited_and_may_be_missing() -> None:
    """One string."""
    system = CODEC.system_of({"instructions": "be kind"})
    assert system is not None

    assert (
        CODEC.encode_system(edited(system, *system.parts, Text(text="and brief"))) == "be kind\n\nand brief"
    )
    assert CODEC.system_of({"instructions": None}) is None
    assert CODEC.system_of({}) is None
