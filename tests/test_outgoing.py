"""From a reduced view to what is sent: what is fixed, and which neighbours travel as one."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

from foldline.core.message import Message
from foldline.core.view import Item, item_of
from foldline.outgoing import fixed_tokens, joined
from foldline.testing.builders import system
from foldline.testing.counting import OVERHEAD, CharacterCounter
from foldline.wire.anthropic import CODEC
from foldline.wire.codec import Request
from foldline.wire.formats import PLAIN, codec

COUNTER = CharacterCounter()


def at(seq: int, wire: dict[str, Any], *, synthetic: bool = False) -> Item:
    message = CODEC.decode(wire)
    if synthetic:
        message = Message(role=message.role, parts=message.parts, synthetic="fold", edited=True)
    weights, overhead = COUNTER.weights(message)
    return item_of(seq, message, weights=weights, overhead=overhead)


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def test_system_prompt_and_schemas_are_what_no_pass_touches() -> None:
    """`to` is the size of the whole request."""
    request = Request(format="anthropic", messages=(), system=system("x" * 40), tools=b'[{"name": "read"}]')
    assert fixed_tokens(request, COUNTER) == 10 + OVERHEAD + 5
    assert fixed_tokens(Request(format="anthropic", messages=()), COUNTER) == 0


def test_neighbours_that_an_edit_made_are_joined_where_roles_must_alternate() -> None:
    """Law ROLE: between the two stood messages that are gone."""
    items = [at(0, says("user", "a")), at(5, says("user", "go")), at(6, says("assistant", "ok"))]
    assert [message.text for message in joined(items, CODEC, rules=CODEC.rules)] == ["a\ngo", "ok"]
    chat = codec("openai-chat")
    assert [message.text for message in joined(items, CODEC, rules=chat.rules)] == ["a", "go", "ok"]


def test_a_fold_stays_a_message_of_its_own_but_for_plain_text() -> None:
    """Law END: a fold that was joined to the last user message could never be folded again."""
    items = [at(0, says("user", "fold"), synthetic=True), at(5, says("user", "go"))]
    assert [message.text for message in joined(items, CODEC, rules=CODEC.rules)] == ["fold", "go"]
    assert [message.text for message in joined(items, CODEC, rules=PLAIN)] == ["fold\ngo"]


def test_neighbours_that_came_side_by_side_leave_side_by_side() -> None:
    """Law LOSSLESS: what nobody edited is the caller's own object."""
    items = [at(0, says("user", "a")), at(1, says("user", "b")), at(3, says("user", "c"))]
    sent = joined(items, CODEC, rules=CODEC.rules)
    assert sent[0] is items[0].message
    assert [message.text for message in sent] == ["a", "b\nc"]


@pytest.mark.parametrize("said", [["I begin."], ["I begin.", "With a file."]])
def test_a_models_calls_join_its_words_where_calls_may_not_stand_behind_them(said: list[str]) -> None:
    """Law ROLE: Gemini takes a function call turn only behind a user turn or a function response turn, however many turns of
    the model's own stand before the call."""
    reader = codec("gemini")
    wires: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"text": "begin"}]},
        *({"role": "model", "parts": [{"text": words}]} for words in said),
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
    ]
    items = [
        item_of(seq, message, weights=weights, overhead=overhead)
        for seq, message in enumerate(reader.decode(wire) for wire in wires)
        for weights, overhead in [COUNTER.weights(message)]
    ]
    sent = [reader.encode(message) for message in joined(items, reader, rules=reader.rules)]
    assert sent == [
        wires[0],
        {"role": "model", "parts": [part for one in wires[1:] for part in one["parts"]]},
    ]


def test_system_messages_are_joined_only_where_two_may_not_stand_in_a_row() -> None:
    """They are no turns; Anthropic wants each behind a user's message."""
    items = [at(0, says("user", "go")), at(1, says("system", "a")), at(4, says("system", "b"))]
    chat = codec("openai-chat")
    assert [message.text for message in joined(items, CODEC, rules=chat.rules)] == ["go", "a", "b"]
    assert [message.text for message in joined(items, CODEC, rules=CODEC.rules)] == ["go", "a\nb"]
    assert joined([], CODEC, rules=CODEC.rules) == []


def test_a_system_message_that_a_fold_left_alone_moves_to_where_it_is_taken() -> None:
    """Law ROLE: last, or before the assistant's next message, behind a user."""
    items = [
        at(0, says("user", "fold"), synthetic=True),
        at(3, says("system", "rule")),
        at(5, says("user", "go")),
    ]
    assert [m.text for m in joined(items, CODEC, rules=CODEC.rules)] == ["fold", "go", "rule"]
    items.append(at(6, says("assistant", "ok")))
    assert [m.text for m in joined(items, CODEC, rules=CODEC.rules)] == ["fold", "go", "rule", "ok"]
    chat = codec("openai-chat")
    assert [m.text for m in joined(items, CODEC, rules=chat.rules)] == ["fold", "rule", "go", "ok"]


WIRES: dict[str, Callable[[str], dict[str, Any]]] = {
    "anthropic": lambda text: {"role": "user", "content": [{"type": "text", "text": text}]},
    "openai-chat": lambda text: {"role": "user", "content": text},
    "openai-responses": lambda text: {"type": "message", "role": "user", "content": text},
    "gemini": lambda text: {"role": "user", "parts": [{"text": text}]},
}


@pytest.mark.parametrize("wire", WIRES)
def test_a_long_run_of_neighbours_becomes_what_joining_them_one_by_one_makes(wire: str) -> None:
    """Law ROLE: 17 user messages between which everything was folded. Halves are joined first, so that what is joined
    is not read again with each message that follows: 40,000 short ones took 47 s."""
    reader = codec(wire)
    messages = [reader.decode(WIRES[wire](f"word {number}")) for number in range(17)]
    items = [
        item_of(2 * number, message, weights=(1,), overhead=1) for number, message in enumerate(messages)
    ]
    [sent] = joined(items, reader, rules=PLAIN)
    assert reader.encode(sent) == reader.encode(reduce(reader.join, messages))
    assert sent.text == "\n".join(f"word {number}" for number in range(17))
