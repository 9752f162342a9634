"""Counts of requests: the same as foldline's own, by piece, and names that a moved cache mark does not change."""

from __future__ import annotations

from typing import Any

from foldline.outgoing import fixed_tokens
from foldline.testing.twin.measure import Scales, compact, digest
from foldline.tokens.choose import counter_for
from foldline.wire.body import read_body

WIRE: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "Listing."},
        {"type": "tool_use", "id": "t1", "name": "ls", "input": {"p": 1}},
    ],
}


def test_a_request_weighs_what_foldline_says_it_weighs() -> None:
    """TOK-1: a usage of the twin anchors an estimate without drift."""
    messages: list[Any] = [{"role": "user", "content": "列出 files"}, WIRE]
    body = {
        "system": "Be brief.",
        "messages": messages,
        "tools": [{"name": "ls"}],
    }
    request, counter = read_body(body, format="anthropic"), counter_for("claude-sonnet-5", wire="anthropic")
    scales = Scales("anthropic", "claude-sonnet-5")
    total = sum(scales.message(wire).total for wire in messages)
    assert total == sum(map(counter.message, request.messages))
    assert scales.system(body) + scales.tools(body["tools"]) == fixed_tokens(request, counter)
    assert scales.text("") == 0


def test_a_weight_knows_its_parts() -> None:
    weight = Scales("anthropic", "claude-sonnet-5").message(WIRE)
    assert sorted(weight.parts) == [0, 1]
    assert weight.total == weight.overhead + sum(weight.parts.values())


def test_a_name_changes_with_what_the_model_sees_alone() -> None:
    """A cache mark, and the order of an envelope's keys, are not content; the order of arguments is."""
    marked = {"cache_control": {"type": "ephemeral"}, "text": "x", "type": "text"}
    assert digest({"type": "text", "text": "x"}) == digest(marked)
    assert digest({"type": "text", "text": "y"}) != digest(marked)
    one, other = ({"input": {"a": 1, "b": 2}}, {"input": {"b": 2, "a": 1}})
    assert digest(one) != digest(other)
    assert digest({"b": 1, "a": {"d": 1, "c": 2}}) == digest({"a": {"c": 2, "d": 1}, "b": 1})


def test_a_message_is_counted_once_however_often_it_is_sent() -> None:
    scales = Scales("openai-chat", "gpt-4o")
    wire = {"role": "user", "content": "hello"}
    assert scales.message(wire) is scales.message(dict(wire))
    assert scales.pieces([wire])[0].tokens == scales.message(wire).total


def test_json_is_written_as_the_sdks_write_it() -> None:
    assert compact({"a": ["é", 1]}) == '{"a":["é",1]}'
