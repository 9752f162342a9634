"""Where a part may stand; what becomes of one that stands wrong is `test_repair`'s, what is said of it `test_provider_rules`'."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.core.message import Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.core.part_places import late_reasoning, out_of_shape, why_not
from foldline.testing.builders import assistant, call, user

THOUGHT = Reasoning(text="so", signature="c2ln", provider="anthropic")
BLOCK = Opaque(type="compaction", raw=b"{}")


def test_a_part_that_was_read_in_another_shape_is_named_until_it_is_written() -> None:
    """Law LOSSLESS: what came in stays as it came; the codec marks what the provider refuses of it."""
    parts = (
        Text(text="[foldline: image]", edited=True),
        ToolCall(id="1", name="f", arguments="{}", edited=True),
    )
    message = Message(role="assistant", parts=parts)
    assert [kind for kind, _ in out_of_shape(message)] == ["refused-shape", "no-arguments"]
    assert out_of_shape(replace(message, edited=True)) == ()
    assert out_of_shape(user("x")) == ()


def test_what_only_a_model_writes_stands_in_its_messages_alone() -> None:
    """Anthropic: `tool_use` blocks can only be in assistant messages; thinking, and results of the server's own tools, too."""
    made = ToolCall(id="1", name="f", arguments="{}")
    served = ToolResult(call_id="1", server=True)
    first = Needs(reasoning_first=True)
    assert all(why_not(part, user("x"), needs=first) for part in (made, served, THOUGHT))
    assert not any(why_not(part, assistant("x"), needs=first) for part in (made, served, THOUGHT))
    assert not why_not(THOUGHT, user("x"), needs=Needs())
    assert not why_not(ToolResult(call_id="1"), user("x"), needs=first)


def test_reasoning_without_a_signature_is_refused_where_all_is_signed() -> None:
    """Anthropic: 400 "Invalid `signature` in `thinking` block"; other servers of its wire sign nothing (can1357/oh-my-pi#908)."""
    unsigned = Reasoning(text="so")
    assert why_not(unsigned, assistant("x"), needs=Needs(reasoning_signed=True))
    assert not why_not(THOUGHT, assistant("x"), needs=Needs(reasoning_signed=True))
    assert not why_not(unsigned, assistant("x"), needs=Needs())


@pytest.mark.parametrize(
    ("parts", "ever", "newest"),
    [
        ((THOUGHT, "x", call("f")), False, False),
        ((BLOCK, THOUGHT, "x"), False, False),
        (("x", THOUGHT, "y"), False, True),
        ((call("f"), THOUGHT, call("g")), True, True),
        (("x", THOUGHT), False, False),
        (("x", call("f")), False, False),
    ],
)
def test_reasoning_stands_first(
    parts: tuple[str | Reasoning | ToolCall | Opaque, ...], ever: bool, newest: bool
) -> None:
    """Anthropic: "must start with a thinking block", of the newest answer; behind a call it stands nowhere."""
    message = assistant(*parts)
    assert bool(late_reasoning(message, is_last=False)) is ever
    assert bool(late_reasoning(message, is_last=True)) is newest
