"""The short ways to write messages down say what they seem to say."""

from __future__ import annotations

import json

from foldline.core.message import Media, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.testing.builders import (
    assistant,
    call,
    frame_for,
    image,
    moment_for,
    result,
    system,
    thinking,
    user,
    view_from,
)


def test_messages_have_the_role_of_their_name_and_a_slot_for_each_part() -> None:
    """Neutral messages: no wire format, results in messages of role `tool`."""
    messages = [system("s"), user("u", image()), assistant("a", call("read")), result("read", "r")]
    assert [m.role for m in messages] == ["system", "user", "assistant", "tool"]
    assert [[p.slot for p in m.parts] for m in messages] == [[0], [0, 1], [0, 1], [0]]
    assert {m.format for m in messages} == {""}


def test_a_call_is_named_by_its_tool_unless_it_has_an_id() -> None:
    """Two calls of one tool need ids of their own."""
    assert call("read", path="a") == ToolCall(id="read", name="read", arguments='{"path":"a"}')
    assert call("read", id="c1").id == "c1"
    assert json.loads(call("read", n=1).arguments) == {"n": 1}


def test_a_result_holds_texts_and_media() -> None:
    """In the order given."""
    (part,) = result("c", "a", image(), is_error=True, interim=True).parts
    assert isinstance(part, ToolResult)
    assert [type(inner).__name__ for inner in part.content] == ["Text", "Media"]
    assert (part.call_id, part.is_error, part.interim) == ("c", True, True)


def test_reasoning_is_signed_by_anthropic_where_a_signature_is_given() -> None:
    """Unsigned reasoning has no provider."""
    assert (thinking("so").provider, thinking("so", "sig").provider) == (None, "anthropic")


def test_media_are_small_and_of_a_stated_kind() -> None:
    """Wide ones for tests of size."""
    assert isinstance(image(), Media)
    assert len(image(3).data or "") == 3 * len(image().data or "")
    assert image(kind="document").mime == "application/pdf"


def test_a_view_is_repaired_and_its_frame_keeps_what_an_engine_would_keep() -> None:
    """What passes are tried on."""
    view = view_from([user("go"), assistant(call("a")), user("on")])
    assert len(view) == 4
    frame = frame_for(view, pins=[1])
    assert frame.pins == {1}
    assert frame.kept == {1, 2}
    strict = view_from([assistant("hi")], needs=Needs(first=frozenset({"user"})))
    assert [item.message.role for item in strict] == ["user", "assistant"]
    moment = moment_for(view, 3, idle_s=5.0)
    assert (moment.tokens_excess, moment.tokens_target, moment.idle_s) == (view.tokens - 3, 3, 5.0)
