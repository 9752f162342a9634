"""What a caller says, as messages of the session's format."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.errors import InvalidOption
from foldline.core.message import ToolCall, ToolResult, result_text
from foldline.session.incoming import fixed_part, result_message, user_message, waiting_call
from foldline.testing.builders import assistant, call, view_from
from foldline.wire.formats import codec
from tests.session.making import FORMATS

PARTS: dict[str, Any] = {
    "anthropic": [{"type": "text", "text": "a"}],
    "openai-chat": [{"type": "text", "text": "a"}],
    "openai-responses": [{"type": "input_text", "text": "a"}],
    "gemini": [{"text": "a"}],
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_text_parts_and_a_whole_message_say_the_same(format: str) -> None:
    """Law LOSSLESS: parts and messages go in as they are."""
    text, parts = user_message("a", format=format), user_message(PARTS[format], format=format)
    assert text.text == parts.text == "a"
    whole = codec(format).encode(parts)
    assert user_message(whole, format=format).parts == parts.parts
    for wrong in (3, None, {"role": "tool"}, [3]):
        with pytest.raises(InvalidOption):
            user_message(wrong, format=format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_result_is_a_text_parts_or_any_json(format: str) -> None:
    """Law PAIR: under the call's own id."""
    asked = ToolCall(id="c1", name="read", arguments="{}")
    for output, said in (("text", "text"), ({"n": 1}, '"n"'), (PARTS[format], "a"), ("", ""), ([1, 2], "1")):
        message = result_message(asked, output, is_error=False, format=format)
        [part] = [part for part in message.parts if isinstance(part, ToolResult)]
        assert part.call_id == "c1"
        assert said in result_text(part)
    with pytest.raises(InvalidOption):
        result_message(asked, object(), is_error=False, format="openai-chat")


def test_the_latest_call_of_an_id_is_the_one_that_waits() -> None:
    """Real histories use an id again."""
    view = [*view_from([assistant(call("one", "c"))]), *view_from([assistant(call("two", "c"))])]
    assert waiting_call(view, "c").name == "two"
    with pytest.raises(InvalidOption):
        waiting_call(view, "d")


def test_a_system_prompt_and_tools_are_read_as_their_format_has_them() -> None:
    """What is none is refused."""
    request = fixed_part("be kind", [{"name": "f"}], format="anthropic")
    assert (request.system is not None and request.system.text, request.tools) == (
        "be kind",
        b'[{"name":"f"}]',
    )
    for system, tools in ((3, None), (None, "f"), (None, [object()])):
        with pytest.raises(InvalidOption):
            fixed_part(system, tools, format="anthropic")
