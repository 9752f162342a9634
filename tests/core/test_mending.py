"""Half surrogate pairs in messages."""

from __future__ import annotations

import pytest

from foldline.core.mending import mended, mended_part, mended_result, torn
from foldline.core.message import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult

TORN = "a\ud83d"
WHOLE = "a\ufffd"


@pytest.mark.parametrize(
    ("part", "fit"),
    [
        (Text(text=TORN), Text(text=WHOLE, edited=True)),
        (Reasoning(text=TORN), Reasoning(text=WHOLE, edited=True)),
        (
            ToolCall(id="c", name="run", arguments='{"a":"\\ud83d"}'),
            ToolCall(id="c", name="run", arguments='{"a":"\\ufffd"}', edited=True),
        ),
        (
            ToolResult(call_id="c", content=(Text(text="fine"), Text(text=TORN))),
            ToolResult(call_id="c", content=(Text(text="fine"), Text(text=WHOLE, edited=True)), edited=True),
        ),
    ],
)
def test_each_kind_of_part_is_mended(part: Part, fit: Part) -> None:
    """anthropics/claude-code#69927: no provider takes half a pair."""
    assert mended_part(part) == fit
    message = Message(role="assistant", parts=(part,))
    assert mended(message).parts == (fit,)
    assert list(torn([message, mended(message)])) == [0]


@pytest.mark.parametrize(
    "part",
    [
        Text(text="\U0001f600"),
        Reasoning(text=TORN, signature="signed"),
        ToolCall(id="c", name="run", arguments='{"a":"\\ud83d\\ude00"}'),
        ToolResult(call_id="c", content=(Text(text="fine"), Media(kind="image"))),
        Media(kind="image"),
    ],
)
def test_what_is_sound_or_signed_is_the_same_object(part: Part) -> None:
    """Law LOSSLESS: what has nothing to mend is not written anew."""
    message = Message(role="assistant", parts=(part,))
    assert mended(message) is message
    assert mended_part(part) is part
    assert list(torn([message])) == []


def test_a_sound_result_is_the_same_object() -> None:
    """Law LOSSLESS."""
    result = ToolResult(call_id="c", content=(Text(text="fine"),))
    assert mended_result(result) is result
