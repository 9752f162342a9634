"""Counting messages: every kind of part, and the law that a message is its parts and its overhead."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.ports import TokenCounter
from foldline.tokens.bpe import Exact
from foldline.tokens.choose import COUNTERS, counter_for
from foldline.tokens.counter import (
    CALL_OVERHEAD,
    MESSAGE_OVERHEAD,
    RESULT_OVERHEAD,
    Counter,
    encrypted_tokens,
)
from foldline.tokens.media import ANTHROPIC
from tests.tokens import images

O200K = Exact("o200k_base")
COUNTER = Counter(name="o200k_base", count=O200K, media=ANTHROPIC)

texts = st.text(max_size=30)
inner = st.builds(Text, text=texts) | st.builds(Media, kind=st.just("image"), data=texts)
parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, text=texts),
    st.builds(ToolCall, id=st.just("c1"), name=st.sampled_from(["bash", "read"]), arguments=texts),
    st.builds(ToolResult, call_id=st.just("c1"), content=st.lists(inner, max_size=3).map(tuple)),
    st.builds(Reasoning, text=texts, signature=st.none() | texts, redacted=st.booleans()),
    st.builds(Media, kind=st.sampled_from(["image", "document", "audio", "video", "file"]), data=texts),
    st.builds(Opaque, type=st.just("x"), raw=st.binary(max_size=30)),
)
messages = st.builds(Message, role=st.just("assistant"), parts=st.lists(parts, max_size=4).map(tuple))


@given(st.lists(messages, max_size=5), st.sampled_from([None, "claude-sonnet-5", "qwen3-max"]))
def test_a_message_is_its_parts_and_its_overhead_alone_or_in_a_batch(
    history: list[Message], model: str | None
) -> None:
    """TOK-1; counts per immutable part add up, so a view never recounts what was counted."""
    counter = counter_for(model)
    batch = counter.weights_of(history)
    assert batch == [counter.weights(message) for message in history]
    for message, (weights, overhead) in zip(history, batch, strict=True):
        assert weights == tuple(counter.part(part) for part in message.parts)
        assert counter.message(message) == overhead + sum(weights)


def test_a_counter_fits_the_port() -> None:
    """Passes and engine know the port alone."""
    counter: TokenCounter = COUNTER
    assert counter.name == "o200k_base"
    assert counter.texts(["one two", ""]) == [counter.text("one two"), 0]


def test_a_message_pays_for_its_role_markers_and_calls_for_their_json() -> None:
    """TOK-1: role markers (about 4 tokens) and the JSON around a tool call are counted."""
    call = ToolCall(id="call_1", name="bash", arguments='{"command":"ls"}')
    result = ToolResult(call_id="call_1", content=(Text(text="README.md"),))
    assert COUNTER.message(Message(role="user", parts=())) == MESSAGE_OVERHEAD == 4
    assert COUNTER.part(call) == CALL_OVERHEAD + O200K.one('bash\n{"command":"ls"}')
    assert COUNTER.part(result) == RESULT_OVERHEAD + O200K.one("README.md")


def test_the_constants_for_call_and_result_are_what_their_json_costs() -> None:
    """The source of the two numbers: the wire's own JSON with nothing in it."""
    assert O200K.one('{"type":"tool_use","id":"","name":"","input":}') == CALL_OVERHEAD
    assert O200K.one('{"type":"tool_result","tool_use_id":"","content":""}') == RESULT_OVERHEAD


def test_images_cost_the_same_inside_a_tool_result() -> None:
    """markusylisiurunen/tau#452: the same image rule inside tool results."""
    shot = Media(kind="image", mime="image/png", data=images.png(1000, 1000, padding=300_000))
    assert COUNTER.part(shot) == 1296
    assert (
        COUNTER.part(ToolResult(call_id="c", content=(shot, Text(text="ok")))) == RESULT_OVERHEAD + 1296 + 1
    )


def test_a_text_document_is_counted_as_its_text() -> None:
    """Anthropic sends text documents in plain."""
    text = "First the facts, then the rules.\n" * 40
    assert COUNTER.part(Media(kind="document", mime="text/plain", data=text)) == O200K.one(text)


def test_a_signature_beside_readable_reasoning_is_free_and_encrypted_reasoning_is_not() -> None:
    """Reasoning: the visible text; what only the provider can read by its length, never zero, never as text."""
    blob = "Q0FB" * 1_000
    signed = Reasoning(text="I should look first.", signature=blob, provider="anthropic")
    redacted = Reasoning(signature=blob, redacted=True, provider="anthropic")
    summary = Reasoning(text="I should look first.", signature=blob, provider="openai-responses")
    assert COUNTER.part(signed) == O200K.one("I should look first.")
    assert COUNTER.part(redacted) == encrypted_tokens(blob) == 800
    assert COUNTER.part(summary) == 800
    assert COUNTER.part(Reasoning(text="plain")) == O200K.one("plain")


def test_an_opaque_part_is_counted_by_its_json_without_its_blobs() -> None:
    """An unknown part passes through, so it costs; base64 inside it is not text."""
    plain = Opaque(type="container_upload", raw=b'{"type":"container_upload","file_id":"file_1"}')
    assert COUNTER.part(plain) == O200K.one('{"type":"container_upload","file_id":"file_1"}')
    raw = json.dumps({"type": "new_image", "data": "iVBORw0KGgoAAAANSUhEUgAA" * 60_000}).encode()
    assert 4_784 < COUNTER.part(Opaque(type="new_image", raw=raw)) < 4_834
    encrypted = json.dumps({"type": "compaction", "encrypted_content": "gAAAAAB" * 500}).encode()
    assert 700 < COUNTER.part(Opaque(type="compaction", raw=encrypted)) < 750
    assert COUNTER.part(Opaque(type="x", raw=b"\xff\xfe{")) > 0


def test_tool_schemas_are_counted_and_none_cost_nothing() -> None:
    """TOK-1: tool-schema counts; Anthropic adds a system prompt of its own to any request with tools."""
    schemas = json.dumps([{"name": "bash", "input_schema": {"type": "object"}}])
    assert COUNTER.tools("") == COUNTER.tools("[]") == 0
    assert COUNTER.tools(schemas) == O200K.one(schemas)
    claude = counter_for("claude-sonnet-5")
    assert claude.tools(schemas) == claude.text(schemas) + 346
    assert claude.tools("[]") == 0


@pytest.mark.parametrize("name", COUNTERS)
def test_surrogates_in_any_part_do_not_raise(name: str) -> None:
    """Real JavaScript logs hold lone surrogates in results, arguments and names."""
    bad = "a\ud800b"
    history = [
        Message(
            role="assistant",
            parts=(
                Text(text=bad),
                ToolCall(id=bad, name=bad, arguments=bad),
                ToolResult(call_id=bad, content=(Text(text=bad), Media(kind="image", data=bad, mime=bad))),
                Reasoning(text=bad, signature=bad),
                Media(kind="document", data=bad, mime="text/plain"),
            ),
        )
    ]
    counter = counter_for(counter=name)
    assert sum(overhead + sum(parts) for parts, overhead in counter.weights_of(history)) > 0
