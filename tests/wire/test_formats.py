"""The registry of wire formats, and recognising one by content."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.errors import UnknownFormat
from foldline.wire.formats import CODECS, PLAIN, codec, detect, is_plain

PLAIN_TURN = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
TEXT = {"type": "text", "text": "a"}


@pytest.mark.parametrize("name", CODECS)
def test_every_name_has_its_codec(name: str) -> None:
    """`interface.md`, Formats: the four wire formats."""
    assert codec(name).name == name == codec(name).rules.format


def test_another_name_is_refused_with_the_names_there_are() -> None:
    """Errors say what to do next (`style.md`, 10)."""
    with pytest.raises(UnknownFormat, match="anthropic, openai-chat, openai-responses, gemini"):
        codec("cohere")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            {
                "role": "assistant",
                "content": [TEXT, {"type": "tool_use", "id": "a", "name": "n", "input": {}}],
            },
            "anthropic",
        ),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}, "anthropic"),
        (
            {"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "a"}]},
            "anthropic",
        ),
        ({"role": "assistant", "content": [{"type": "compaction", "content": None}]}, "anthropic"),
        ({"role": "user", "content": [{"type": "image", "source": {}}]}, "anthropic"),
        ({"role": "user", "content": [{**TEXT, "cache_control": {"type": "ephemeral"}}]}, "anthropic"),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "thinking", "thinking": ""}]},
            "anthropic",
        ),
        ({"role": "tool", "tool_call_id": "a", "content": "x"}, "openai-chat"),
        ({"role": "function", "name": "f", "content": "x"}, "openai-chat"),
        ({"role": "assistant", "content": None, "tool_calls": []}, "openai-chat"),
        ({"role": "assistant", "content": "", "reasoning_content": ""}, "openai-chat"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, "openai-chat"),
        ({"role": "developer", "content": "x"}, "openai-chat"),
        ({"role": "system", "content": "x"}, "openai-chat"),
        ({"type": "function_call", "call_id": "a", "name": "n", "arguments": ""}, "openai-responses"),
        ({"type": "function_call_output", "call_id": "a", "output": ""}, "openai-responses"),
        ({"type": "reasoning", "summary": []}, "openai-responses"),
        ({"type": "compaction", "encrypted_content": "E"}, "openai-responses"),
        ({"type": "message", "role": "user", "content": "x"}, "openai-responses"),
        ({"role": "user", "content": [{"type": "input_text", "text": "a"}]}, "openai-responses"),
        ({"role": "assistant", "content": [{"type": "output_text", "text": "a"}]}, "openai-responses"),
        ({"role": "user", "parts": [{"text": "a"}]}, "gemini"),
        ({"role": "model", "parts": []}, "gemini"),
    ],
    ids=str,
)
def test_one_telling_message_decides_wherever_it_stands(message: dict[str, Any], name: str) -> None:
    """`--from auto` and `format="auto"` recognise by content (`interface.md`, Formats)."""
    assert detect([message]) == name
    assert detect([*PLAIN_TURN, message]) == name
    assert detect({"messages": [*PLAIN_TURN, message]}) == name


@pytest.mark.parametrize("messages", [[], PLAIN_TURN, [{"role": "user", "content": [TEXT]}]], ids=str)
def test_plain_text_counts_as_openai_chat(messages: list[Any]) -> None:
    """`interface.md`: plain text messages that fit two formats count as `openai-chat`."""
    assert detect(messages) == "openai-chat"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"contents": []}, "gemini"),
        ({"systemInstruction": {}, "contents": []}, "gemini"),
        ({"input": "hi"}, "openai-responses"),
        ({"instructions": "be brief", "input": []}, "openai-responses"),
        ({"messages": PLAIN_TURN}, "openai-chat"),
        ({"messages": PLAIN_TURN, "system": None}, "openai-chat"),
        ({"messages": PLAIN_TURN, "system": "be brief"}, "anthropic"),
        ({"messages": PLAIN_TURN, "tools": [{"name": "n", "input_schema": {}}]}, "anthropic"),
        ({"messages": PLAIN_TURN, "tools": [{"type": "function", "function": {"name": "n"}}]}, "openai-chat"),
        (
            {"messages": PLAIN_TURN, "system": "s", "tools": [{"type": "function", "function": {}}]},
            "openai-chat",
        ),
        ({"messages": [{"role": "tool", "content": ""}], "system": "s"}, "openai-chat"),
    ],
    ids=str,
)
def test_a_body_is_known_by_its_keys_where_its_messages_are_plain(body: dict[str, Any], name: str) -> None:
    """Keys of a body come after messages, which cannot lie."""
    assert detect(body) == name


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (3, "expected a list of messages, got int"),
        ("text", "expected a list of messages, got str"),
        ({"a": 1}, "expected a body with messages, input or contents"),
        ({"messages": {}}, "expected a body"),
        ([["a"]], "message 0 is no object but list"),
        ([{"role": "user", "content": "a"}, None], "message 1 is no object but NoneType"),
    ],
)
def test_what_is_neither_list_nor_body_is_refused(value: Any, why: str) -> None:
    """Exit code 1: what, where, what to do."""
    with pytest.raises(UnknownFormat, match=why):
        detect(value)


@pytest.mark.parametrize(
    ("message", "plain"),
    [
        ({"role": "user", "content": "a"}, True),
        ({"role": "assistant", "content": [TEXT]}, True),
        ({"role": "user", "content": [TEXT, {**TEXT, "cache_control": {}}]}, False),
        ({"role": "user", "content": "a", "name": "bob"}, False),
        ({"role": "system", "content": "a"}, False),
        ({"role": "assistant", "content": None}, False),
        ({"role": "tool", "tool_call_id": "a", "content": "a"}, False),
    ],
    ids=str,
)
def test_plain_means_that_both_formats_take_it_as_it_is(message: dict[str, Any], plain: bool) -> None:
    """Only then the stricter roles of both are obeyed (`interface.md`)."""
    assert is_plain([*PLAIN_TURN, message]) is plain


def test_the_plain_rules_are_the_stricter_of_both_in_every_row() -> None:
    """A history that obeys them may be sent to either."""
    chat, anthropic = codec("openai-chat").rules, codec("anthropic").rules
    assert PLAIN.needs.first == chat.needs.first & anthropic.needs.first
    assert PLAIN.needs.alternates == (chat.needs.alternates or anthropic.needs.alternates)
    assert PLAIN.needs.blank_text == (chat.needs.blank_text and anthropic.needs.blank_text)
    assert PLAIN.needs.ids_max == chat.needs.ids_max
    assert PLAIN.needs.ids_pattern == anthropic.needs.ids_pattern
    assert PLAIN.needs.ids_once == (chat.needs.ids_once or anthropic.needs.ids_once)
    assert PLAIN.needs.reasoning_may_end == (
        chat.needs.reasoning_may_end and anthropic.needs.reasoning_may_end
    )


def test_an_sdks_objects_are_recognised_like_their_dicts() -> None:
    """`response.content` in a caller's messages is what tells the format."""

    class Block:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"type": "tool_use", "id": "a", "name": "n", "input": {}}

    assert detect([*PLAIN_TURN, {"role": "assistant", "content": [Block()]}]) == "anthropic"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"messages": [{"role": "user", "content": [{"type": 5}, "text"]}]}, "openai-chat"),
        ({"messages": PLAIN_TURN, "tools": [5, {"functionDeclarations": []}]}, "gemini"),
        ({"messages": PLAIN_TURN, "tools": [{"name": "n"}]}, "openai-chat"),
    ],
    ids=str,
)
def test_odd_blocks_and_tools_do_not_decide(body: dict[str, Any], name: str) -> None:
    """Recognising never fails for what a reader refuses later, with its place."""
    assert detect(body) == name
