"""From a reduced view to what is sent: what is fixed, and which neighbours travel as one."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.message import Message, Text
from foldline.core.view import Item, item_of
from foldline.outgoing import fixed_tokens, joined
from foldline.testing.builders import system
from foldline.testing.counting import OVERHEAD, CharacterCounter
from foldline.wire.anthropic import CODEC
from foldline.wire.codec import Request

COUNTER = CharacterCounter()


def at(seq: int, wire: dict[str, Any], *, synthetic: bool = False) -> Item:
    message = CODEC.decode(wire)
    if synthetic:
        message = Message(role=message.role, parts=message.parts, synthetic="fold", edited=True)
    weights, overhead = COUNTER.weights(message)
    return item_of(seq, message, weights, overhead)


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def test_system_prompt_and_schemas_are_what_no_pass_touches() -> None:
    """`to` is the size of the whole request."""
    request = Request(format="anthropic", messages=(), system=system("x" * 40), tools=b'[{"name": "read"}]')
    assert fixed_tokens(request, COUNTER) == 10 + OVERHEAD + 5
    assert fixed_tokens(Request(format="anthropic", messages=()), COUNTER) == 0


@pytest.mark.parametrize("alternates", [True, False])
def test_neighbours_that_an_edit_made_are_joined_where_roles_must_alternate(alternates: bool) -> None:
    """Law ROLE: a fold beside the next user message goes along with it."""
    items = [
        at(0, says("user", "fold"), synthetic=True),
        at(5, says("user", "go")),
        at(6, says("assistant", "ok")),
    ]
    sent = joined(items, CODEC, alternates=alternates)
    assert [message.text for message in sent] == (["fold\ngo", "ok"] if alternates else ["fold", "go", "ok"])


def test_neighbours_that_came_side_by_side_leave_side_by_side() -> None:
    """Law LOSSLESS: what nobody edited is the caller's own object."""
    items = [at(0, says("user", "a")), at(1, says("user", "b")), at(3, says("user", "c"))]
    sent = joined(items, CODEC, alternates=True)
    assert sent[0] is items[0].message
    assert [message.text for message in sent] == ["a", "b\nc"]


def test_system_messages_are_never_joined() -> None:
    """They are no turns."""
    items = [
        item_of(seq, Message(role="system", parts=(Text(text=text),)), (1,), OVERHEAD)
        for seq, text in ((0, "a"), (4, "b"))
    ]
    assert joined(items, CODEC, alternates=True) == [item.message for item in items]
    assert joined([], CODEC, alternates=True) == []
