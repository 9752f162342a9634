"""The Chat Completions dialect: parameters, usage and cache, streams, servers that cut without a word."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.testing.twin.script import Stop
from foldline.wire.usage import read_usage
from tests.testing.twin.client import GPT, chat, send

LONG = "word " * 2_000
FULL = Answer(
    thinking="Let me see.",
    text="Listing. " * 9,
    calls=(Call(name="ls", arguments='{"p": '), Call(name="cat")),
)


@pytest.mark.parametrize(
    ("more", "words", "code"),
    [
        ({"model": None}, "Missing required parameter: 'model'.", "missing_required_parameter"),
        ({"max_token": 3}, "Unknown parameter: 'max_token'.", "unknown_parameter"),
        (
            {"max_tokens": 99_999},
            "max_tokens is too large: 99999. This model supports at most 16384",
            "invalid_value",
        ),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(more: dict[str, Any], words: str, code: str) -> None:
    with Twin() as twin:
        back = chat(twin, "hi", **more)
    assert (back.status, back.body["error"]["code"]) == (400, code)
    assert words in back.message


def test_a_request_needs_a_key() -> None:
    with Twin() as twin:
        assert send(twin, "/v1/chat/completions", {}, {"authorization": ""}).status == 401


def test_usage_is_one_count_and_the_cache_a_part_of_it() -> None:
    """TOK-4: OpenAI's input already includes cache hits, which come in steps of 128."""
    messages: list[Any] = [{"role": "user", "content": LONG}]
    with Twin() as twin:
        chat(twin, messages)
        messages += [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "go on"}]
        usage = chat(twin, messages).body["usage"]
        first, second = twin.requests
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    assert cached == first.tokens - first.tokens % 128 == second.tokens_cached
    assert second.extends == 0
    read = read_usage(usage, format="openai-chat")
    assert read is not None
    assert (read.tokens_input, read.tokens_cache_read) == (second.tokens, cached)
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_cache_key_of_ones_own_is_a_cache_of_ones_own() -> None:
    with Twin() as twin:
        for key in ("a", "b", "a"):
            chat(twin, LONG, prompt_cache_key=key)
        assert [request.tokens_cached > 0 for request in twin.requests] == [False, False, True]


def test_tools_are_a_part_of_the_prefix_and_of_the_count() -> None:
    tools = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}]
    with Twin() as twin:
        chat(twin, LONG)
        chat(twin, LONG, tools=tools)
        first, second = twin.requests
    assert second.tokens > first.tokens
    assert second.tokens_shared == 0


def assembled(events: list[Any]) -> dict[str, Any]:
    """The message that a client puts together from a stream."""
    message: dict[str, Any] = {"tool_calls": []}
    for event in events[:-1]:
        for choice in event["choices"]:
            for key, value in choice["delta"].items():
                if key != "tool_calls":
                    message[key] = message.get(key, "") + value if isinstance(value, str) else value
                    continue
                for call in value:
                    if call["index"] == len(message["tool_calls"]):
                        message["tool_calls"].append({**call, "function": dict(call["function"])})
                    else:
                        message["tool_calls"][call["index"]]["function"]["arguments"] += call["function"][
                            "arguments"
                        ]
    return message


def test_a_stream_comes_to_the_same_message() -> None:
    with Twin(replies=[FULL, FULL]) as twin:
        whole = chat(twin, "hi").body["choices"][0]["message"]
        events = chat(twin, "hi", stream=True, stream_options={"include_usage": True}).events
    streamed = assembled(events)
    assert (events[-1], events[-2]["choices"]) == ("[DONE]", [])
    assert events[-2]["usage"]["prompt_tokens"] > 0
    assert streamed["content"] == whole["content"]
    assert streamed["reasoning_content"] == whole["reasoning_content"]
    spoken = [[call["function"] for call in message["tool_calls"]] for message in (streamed, whole)]
    assert spoken[0] == spoken[1]


def test_a_stream_without_the_option_says_no_usage() -> None:
    with Twin() as twin:
        events = chat(twin, "hi", stream=True).events
    assert all("usage" not in event for event in events[:-1])


@pytest.mark.parametrize(
    ("stop", "said"),
    [("end", "stop"), ("length", "length"), ("filter", "content_filter"), ("refusal", "stop")],
)
def test_every_reason_to_stop_is_spelt_as_the_provider_does(stop: Stop, said: str) -> None:
    with Twin(replies=endless(Answer(text="no", stop=stop))) as twin:
        choice = chat(twin, "hi").body["choices"][0]
        deltas = [event["choices"][0]["delta"] for event in chat(twin, "hi", stream=True).events[:-1]]
    assert choice["finish_reason"] == said
    assert choice["message"]["refusal"] == ("no" if stop == "refusal" else None)
    assert any(delta.get("refusal" if stop == "refusal" else "content") == "no" for delta in deltas)


def test_a_server_may_cut_the_input_without_a_word() -> None:
    """ollama/ollama#3839: no error, and a usage far below what was sent."""
    with Twin(window=1_000, truncates=True) as twin:
        back = chat(twin, LONG)
        assert back.status == 200
        assert back.body["usage"]["prompt_tokens"] == 500
        assert twin.requests[0].tokens > 2_000


def test_input_and_wanted_output_must_fit_together() -> None:
    """E012 of the recorded errors."""
    with Twin(window=2_500) as twin:
        back = chat(twin, LONG, max_tokens=1_000)
        tokens = twin.requests[0].tokens
    assert back.body["error"]["code"] == "context_length_exceeded"
    assert (
        f"you requested {tokens + 1_000} tokens ({tokens} in the messages, 1000 in the completion)"
        in back.message
    )
    assert twin.requests[0].parsed["model"] == GPT
