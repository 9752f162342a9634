"""What a message says is one digest, however it is spelt; what it does not say makes no difference."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.clients.digests import loose, said, unmarked
from foldline.core.message import Message
from foldline.wire import strict
from foldline.wire.formats import codec


def read(wire: Any, format: str = "anthropic") -> Message:
    return codec(format).decode(strict.dump(wire))


TOOL = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a", "cache_control": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}]}
MARK = {"cache_control": {"type": "ephemeral"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
ODD = {"type": "container_upload", "file_id": "f"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hello", [{"type": "text", "text": "hello"}]),
        ([{"type": "text", "text": "hello"}], [{"type": "text", "text": "hello", **MARK}]),
        ([TOOL], [{**TOOL, "input": {"cache_control": 1, "path": "a"}}]),
        ([RESULT], [{**RESULT, "is_error": False, **MARK}]),
        ([IMAGE], [{**IMAGE, **MARK}]),
        ([ODD], [{**ODD, **MARK}]),
    ],
)
def test_two_spellings_of_one_message_are_equal(one: Any, other: Any) -> None:
    """Parts or text, cache marks, the order of keys, defaults."""
    role = "assistant" if one == [TOOL] else "user"
    assert said(read({"role": role, "content": one})) == said(read({"role": role, "content": other}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hello", "hello "),
        ([RESULT], [{**RESULT, "is_error": True}]),
        ([RESULT], [{**RESULT, "tool_use_id": "t2"}]),
        ([IMAGE], [{**IMAGE, "source": {**IMAGE["source"], "data": "aGo="}}]),  # type: ignore[dict-item]
        ([ODD], [{**ODD, "file_id": "g"}]),
        ("a", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    ],
)
def test_what_says_something_else_is_not(one: Any, other: Any) -> None:
    """A word, a flag, an id, a byte of a picture."""
    assert said(read({"role": "user", "content": one})) != said(read({"role": "user", "content": other}))
    assert said(read({"role": "assistant", "content": "a"})) != said(read({"role": "user", "content": "a"}))


def test_reasoning_and_white_space_are_left_out_of_the_loose_one() -> None:
    """Callers drop what they do not show, and trim."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    text = {"type": "text", "text": " hello\n"}
    whole = read({"role": "assistant", "content": [thought, text, {"type": "text", "text": " "}, TOOL]})
    short = read({"role": "assistant", "content": [{"type": "text", "text": "hello"}, TOOL]})
    assert said(whole) != said(short)
    assert loose(whole) == loose(short)


def test_made_up_ids_say_nothing() -> None:
    """Gemini's calls may have none."""
    call = {"functionCall": {"name": "read", "args": {}}}
    message = read({"role": "model", "parts": [call]}, "gemini")
    assert said(message) == said(read({"role": "model", "parts": [call]}, "gemini"))


def test_cache_marks_are_taken_off_content_alone() -> None:
    """They belong to one request; a provider refuses more than four. A tool's own argument of that name stays."""
    wire = {"role": "assistant", "content": [{"type": "text", "text": "a", **MARK}, {**TOOL, **MARK}]}
    clean = strict.parse(unmarked(json.dumps(wire).encode()))
    assert clean["content"] == [{"type": "text", "text": "a"}, TOOL]
    nested = {"role": "user", "content": [{**RESULT, "content": [{"type": "text", "text": "x", **MARK}]}]}
    assert strict.parse(unmarked(strict.dump(nested)))["content"] == [RESULT]
    plain = b'{"role": "user", "content": "a"}'
    assert unmarked(plain) is plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("so it is", ["so ", "it", " is"]),
        ("so it is\n\nindeed", ["so it is", "indeed"]),
        (["a", TOOL, "b"], [" a ", TOOL, "b", "\n"]),
    ],
)
def test_an_answer_put_together_from_a_stream_is_the_same(one: Any, other: Any) -> None:
    """Pieces of Gemini's stream kept apart, a line feed between two texts, none: known loosely, and not to the letter."""

    def made(content: Any) -> Message:
        parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
        return read({"role": "assistant", "content": content if isinstance(content, str) else parts})

    assert loose(made(one)) == loose(made(other))
    assert said(made(one)) != said(made(other))
    assert loose(made("so it is not")) != loose(made("so it is"))
    assert loose(made(["a", TOOL, "b"])) != loose(made(["a", "b", TOOL]))
