"""OpenHands LLM logs: the request, and the reply that the next request will hold."""

from __future__ import annotations

import json

from foldline.core.message import Usage, speaks_for_user
from foldline.transcripts import detect
from foldline.transcripts.openhands import READER
from foldline.wire.formats import codec
from tests.transcripts.data import DATA, bytes_of, calls_in, read_one, results_in

CALLING = DATA / "openhands/sonnet4-fncall-5046.json"
TEXTUAL = DATA / "openhands/deepseek-nonfncall-5076.json"


def test_a_log_with_tool_calls_ends_with_the_reply_that_waits() -> None:
    """12 messages with 5 calls were sent; the reply calls `finish`, which nothing answers yet."""
    found = read_one(READER, CALLING)
    assert (len(found.messages), len(calls_in(found)), len(results_in(found))) == (13, 6, 5)
    assert calls_in(found)[-1].name == "finish"
    assert found.usage == Usage(tokens_input=6729, tokens_output=199, tokens_total=6928)
    assert (found.usage_at, found.tokens_window) == (12, 200_000)
    assert found.tools is not None
    assert len(json.loads(found.tools)) == 3


def test_messages_keep_their_bytes() -> None:
    """Law LOSSLESS: they are OpenAI chat messages already."""
    raw = json.loads(CALLING.read_bytes())["messages"]
    found = read_one(READER, CALLING)
    chat = codec("openai-chat")
    for message, sent in zip(found.messages, raw, strict=False):
        assert isinstance(message.origin, bytes)
        assert message.origin in CALLING.read_bytes()
        assert chat.encode(message) == sent


def test_a_log_without_tool_calling_is_read_as_the_model_saw_it() -> None:
    """Calls are XML in the text and schemas stand in the prompt; the translation was never sent."""
    found = read_one(READER, TEXTUAL)
    assert (len(found.messages), len(calls_in(found)), found.tools) == (9, 0, None)
    assert "<function=finish>" in found.messages[-1].text
    assert found.tokens_window == 65_536


def test_tool_output_in_user_text_is_not_taken_for_the_user() -> None:
    """`EXECUTION RESULT of [tool]` is the host's writing."""
    users = [m for m in read_one(READER, TEXTUAL).messages if m.role == "user"]
    assert [speaks_for_user(m) for m in users] == [True, False, False, False]


def test_a_log_whose_own_keys_come_after_64_kilobytes_is_read_as_one() -> None:
    """Only the head decides the format, and `messages` comes first; the reply must not be lost for that."""
    log = json.loads(CALLING.read_bytes())
    log["messages"].insert(1, {"role": "user", "content": "y" * 70_000})
    (found,) = detect.read(bytes_of(log))
    assert found.format == "openhands"
    assert calls_in(found)[-1].name == "finish"
