"""Every content block of Anthropic's SDK: what part it becomes, and that editing it keeps its other keys."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.message import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.testing.judges.anthropic import violations
from foldline.wire.anthropic_blocks import make_block, read_content, write_content

MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
CALLER = {"caller": {"type": "direct"}}
CITED = {"citations": [{"type": "char_location", "cited_text": "a", "document_index": 0}]}


def _served(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": f"{kind}_tool_result", "tool_use_id": "srvtoolu_1", "content": content, **MARK, **more}


BLOCKS: list[tuple[dict[str, Any], type[Part]]] = [
    ({"type": "text", "text": "a", **MARK, **CITED}, Text),
    ({"type": "thinking", "thinking": "hm", "signature": "EuYB"}, Reasoning),
    ({"type": "redacted_thinking", "data": "EuYC"}, Reasoning),
    (
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "n",
            "input": {"a": 1},
            **MARK,
            **CALLER,
            "toolset_name": "t",
        },
        ToolCall,
    ),
    (
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}, **MARK, **CALLER},
        ToolCall,
    ),
    (
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "n", "input": {}, "server_name": "s", **MARK},
        ToolCall,
    ),
    (
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [
                {"type": "text", "text": "a", **MARK},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "doc"}},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "r"}],
                },
                {"type": "tool_reference", "tool_name": "n"},
                {"type": "browser_state", "tabs": [], "state_changes": []},
            ],
            "is_error": False,
            "toolset_name": "t",
            **MARK,
        },
        ToolResult,
    ),
    ({"type": "tool_result", "tool_use_id": "toolu_1", "content": "out", "is_error": True}, ToolResult),
    ({"type": "tool_result", "tool_use_id": "toolu_1"}, ToolResult),
    (_served("mcp", "text", is_error=False), ToolResult),
    (_served("mcp", [{"type": "text", "text": "a"}]), ToolResult),
    (
        _served(
            "web_search", [{"type": "web_search_result", "encrypted_content": "E", "title": "t", "url": "u"}]
        ),
        ToolResult,
    ),
    (
        _served(
            "web_search", {"type": "web_search_tool_result_error", "error_code": "unavailable"}, **CALLER
        ),
        ToolResult,
    ),
    (
        _served("web_fetch", {"type": "web_fetch_result", "url": "u", "content": {"type": "document"}}),
        ToolResult,
    ),
    (
        _served("code_execution", {"type": "code_execution_result", "stdout": "o", "return_code": 0}),
        ToolResult,
    ),
    (_served("bash_code_execution", {"type": "bash_code_execution_result", "stdout": "o"}), ToolResult),
    (_served("text_editor_code_execution", {"type": "text_editor_code_execution_view_result"}), ToolResult),
    (_served("tool_search", {"type": "tool_search_tool_search_result", "tool_references": []}), ToolResult),
    (_served("advisor", {"type": "advisor_redacted_result", "encrypted_content": "E"}), ToolResult),
    (
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"},
            "transformations": {},
        },
        Media,
    ),
    ({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}, **MARK}, Media),
    ({"type": "image", "source": {"type": "file", "file_id": "file_1"}, **MARK}, Media),
    (
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
            "title": "t",
            "context": "c",
            "citations": {"enabled": True},
            **MARK,
        },
        Media,
    ),
    ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "doc"}}, Media),
    ({"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}, Media),
    ({"type": "document", "source": {"type": "file", "file_id": "file_1"}}, Media),
    ({"type": "document", "source": {"type": "content", "content": "text"}}, Media),
    ({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "a"}]}}, Media),
    (
        {
            "type": "document",
            "source": {
                "type": "content",
                "content": [{"type": "image", "source": {"type": "url", "url": "u"}}],
            },
        },
        Opaque,
    ),
    ({"type": "image", "source": {"type": "not_yet_known"}}, Opaque),
    ({"type": "search_result", "source": "s", "title": "t", "content": [], "citations": {}, **MARK}, Opaque),
    ({"type": "container_upload", "file_id": "file_1", **MARK}, Opaque),
    (
        {
            "type": "compaction",
            "content": None,
            "encrypted_content": "E",
            "signature": "S",
            "tool_changes": [],
        },
        Opaque,
    ),
    ({"type": "tool_addition", "tool": {"type": "tool_reference", "name": "n"}, **MARK}, Opaque),
    ({"type": "tool_removal", "tool": {"type": "tool_reference", "name": "n"}}, Opaque),
    ({"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []}, Opaque),
    ({"type": "fallback", "from": {}, "to": {}}, Opaque),
    ({"type": "never_seen_before", "x": 1}, Opaque),
]
IDS = [f"{index}-{block['type']}" for index, (block, _) in enumerate(BLOCKS)]


@pytest.mark.parametrize(("block", "kind"), BLOCKS, ids=IDS)
def test_each_block_becomes_the_part_that_says_most_of_it(block: dict[str, Any], kind: type[Part]) -> None:
    """Sources: `types/content_block_param.py` and `types/beta/beta_content_block_param.py` of `anthropic` 2.14.0."""
    (part,) = read_content([block])
    assert type(part) is kind
    assert part.slot == 0
    assert not part.edited


@pytest.mark.parametrize(("block", "kind"), BLOCKS, ids=IDS)
def test_an_edit_without_a_change_writes_the_same_block(block: dict[str, Any], kind: type[Part]) -> None:
    """Law LOSSLESS: an edited slot keeps every key that the part does not speak for."""
    (part,) = read_content([block])
    if isinstance(part, Media) and block["source"]["type"] == "content":
        return  # its text is written as a text source: the test below
    assert write_content((replace(part, edited=True),), [block]) == [block]


def test_every_block_type_of_the_installed_sdk_is_in_the_table() -> None:
    """An independent judge: the SDK's own unions of block types."""
    types = pytest.importorskip("anthropic.types")
    beta = pytest.importorskip("anthropic.types.beta")
    members = {*typing.get_args(types.ContentBlockParam), *typing.get_args(beta.BetaContentBlockParam)}
    named = set()
    for member in members:
        hint = typing.get_type_hints(member).get("type") if isinstance(member, type) else None
        named |= set(typing.get_args(hint))
    missing = named - {block["type"] for block, _ in BLOCKS}
    assert not missing


def test_server_tools_are_told_apart_from_the_clients_own() -> None:
    """Their results stand in the same message; pairing must not look for them in the next one (law PAIR)."""
    parts = read_content([block for block, _ in BLOCKS])
    for (block, _), part in zip(BLOCKS, parts, strict=True):
        if isinstance(part, (ToolCall, ToolResult)):
            assert part.server == (block["type"] not in ("tool_use", "tool_result"))


def test_a_servers_error_object_is_an_error() -> None:
    """`web_search_tool_result_error` and its siblings carry no `is_error`."""
    (part,) = read_content(
        [_served("web_search", {"type": "web_search_tool_result_error", "error_code": "x"})]
    )
    assert isinstance(part, ToolResult)
    assert part.is_error


def test_reasoning_says_who_signed_it_and_whether_it_can_be_read() -> None:
    """Signed reasoning is dropped where another provider is the target (`interface.md`)."""
    signed, redacted, unsigned = read_content(
        [
            {"type": "thinking", "thinking": "hm", "signature": "S"},
            {"type": "redacted_thinking", "data": "D"},
            {"type": "thinking", "thinking": "hm", "signature": ""},
        ]
    )
    assert signed == Reasoning(text="hm", signature="S", provider="anthropic", slot=0)
    assert redacted == Reasoning(signature="D", redacted=True, provider="anthropic", slot=1)
    assert unsigned == Reasoning(text="hm", slot=2)


def test_a_document_of_text_blocks_is_one_text() -> None:
    """Its tokens are those of its text (TOK-8); shortened, it is written as a text source."""
    block = {
        "type": "document",
        "source": {"type": "content", "content": [{"type": "text", "text": "a"}]},
        "title": "t",
    }
    (part,) = read_content([block])
    assert part == Media(kind="document", mime="text/plain", data="a", name="t", slot=0)
    assert write_content((replace(part, data="b", edited=True),), [block]) == [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "b"},
            "title": "t",
        }
    ]


def test_citations_go_with_the_text_they_quote() -> None:
    """They point into the old wording; every other key of the block stays."""
    block = {"type": "text", "text": "abc", **CITED, **MARK}
    (part,) = read_content([block])
    assert write_content((replace(part, text="a", edited=True),), [block]) == [
        {"type": "text", "text": "a", **MARK}
    ]


def test_inside_a_result_only_the_edited_slot_changes() -> None:
    """Clearing one piece of a result keeps its siblings and the result's own keys (design, core)."""
    block = BLOCKS[6][0]
    (part,) = read_content([block])
    assert isinstance(part, ToolResult)
    inner = (replace(part.content[0], text="cut", edited=True), *part.content[1:])
    (written,) = write_content((replace(part, content=inner, edited=True),), [block])
    assert written == {**block, "content": [{"type": "text", "text": "cut", **MARK}, *block["content"][1:]]}
    assert all(new is old for new, old in zip(written["content"][1:], block["content"][1:], strict=True))


def test_a_notice_may_take_the_slot_of_an_image() -> None:
    """A cleared image becomes text; the block is new but its cache mark stays where it was."""
    block = BLOCKS[20][0]
    notice = Text(text="[image cleared]", slot=0, edited=True)
    assert write_content((notice,), [block]) == [{"type": "text", "text": "[image cleared]", **MARK}]


@pytest.mark.parametrize("content", ["out", "", None, [], [{"type": "text", "text": "out"}]])
def test_a_cleared_result_keeps_the_shape_of_its_content(content: Any) -> None:
    """A string stays a string, a list a list; nothing is written where nothing was."""
    block = {"type": "tool_result", "tool_use_id": "a", "content": content}
    (part,) = read_content([block])
    assert isinstance(part, ToolResult)
    (same,) = write_content((replace(part, edited=True),), [block])
    assert same == block
    (cleared,) = write_content((replace(part, content=(Text(text="[cleared]"),), edited=True),), [block])
    shape = list if isinstance(content, list) else str
    assert isinstance(cleared["content"], shape)
    assert "[cleared]" in str(cleared["content"])


@pytest.mark.parametrize(
    "part",
    [
        Text(text="a"),
        Reasoning(text="a", signature="s", provider="anthropic"),
        Reasoning(signature="d", redacted=True, provider="anthropic"),
        ToolCall(id="a", name="n", arguments='{"a":1}'),
        ToolResult(call_id="a", content=(Text(text="x"),)),
        ToolResult(call_id="a", content=(Text(text="x"), Media(kind="image", mime="image/png", data="QUJD"))),
        ToolResult(call_id="a", is_error=True),
        Media(kind="image", url="https://example.com/a.png"),
        Media(kind="document", mime="text/plain", data="doc", name="t"),
        Media(kind="document", ref="file_1"),
        Opaque(type="compaction", raw=b'{"type":"compaction","content":null}'),
    ],
    ids=repr,
)
def test_a_part_made_here_reads_back_as_itself(part: Part) -> None:
    """Written and read again, a part differs in its slots alone."""
    (read,) = read_content([make_block(part)])
    if isinstance(read, ToolResult):
        read = replace(read, content=tuple(replace(inner, slot=-1) for inner in read.content))
    assert replace(read, slot=-1) == part


def test_a_call_under_another_id_keeps_the_input_that_came() -> None:
    """A repair renames calls; the arguments are the very object."""
    block = {"type": "tool_use", "id": "a", "name": "n", "input": {"q": 1}}
    (call,) = read_content([block])
    assert isinstance(call, ToolCall)
    (out,) = write_content((replace(call, id="b", edited=True),), [block])
    assert out == {**block, "id": "b"}
    assert out["input"] is block["input"]


@pytest.mark.parametrize("given", [None, "text"])
def test_an_input_that_is_no_object_is_written_as_one_before_it_is_sent(given: Any) -> None:
    """A saved session may hold null there; the API wants an object (SDK types/tool_use_block_param.py)."""
    messages: list[Any] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": given}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
    ]
    out = foldline.compact(messages, format="anthropic")
    assert violations({"messages": out.messages}) == []
    assert messages[1]["content"][0]["input"] == given
