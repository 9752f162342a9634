"""What an event of a stream is, and how it reads behind other answers."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.clients.dialects import DIALECTS, Kind


def chat(delta: dict[str, Any], **choice: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None, **choice}]}


def parts(*told: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(told)}, **candidate}]}


def item(kind: str, place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": place, "item": {"type": kind}}


KINDS: list[tuple[str, dict[str, Any], Kind]] = [
    ("anthropic", {"type": "message_start", "message": {}}, "waits"),
    ("anthropic", {"type": "ping"}, "passes"),
    ("anthropic", {"type": "content_block_start", "content_block": {"type": "thinking"}}, "says"),
    ("anthropic", {"type": "content_block_start", "content_block": {"type": "server_tool_use"}}, "says"),
    ("anthropic", {"type": "content_block_start", "content_block": {"type": "tool_use"}}, "calls"),
    ("anthropic", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, "ends"),
    ("anthropic", {"type": "error", "error": {}}, "breaks"),
    ("anthropic", {"type": "of another year"}, "passes"),
    ("openai-chat", chat({"role": "assistant", "content": ""}), "waits"),
    ("openai-chat", chat({"reasoning_content": "hm"}), "says"),
    ("openai-chat", chat({"content": "a", "tool_calls": [{"index": 0}]}), "calls"),
    ("openai-chat", chat({"function_call": {"name": "look"}}), "calls"),
    ("openai-chat", chat({}, finish_reason="stop"), "ends"),
    ("openai-chat", {"choices": [], "usage": {"total_tokens": 1}}, "ends"),
    ("openai-chat", {"choices": [], "prompt_filter_results": []}, "waits"),
    ("openai-chat", {"error": {"message": "overloaded"}}, "breaks"),
    ("openai-responses", {"type": "response.created", "response": {}}, "waits"),
    ("openai-responses", item("reasoning"), "waits"),
    ("openai-responses", item("message"), "says"),
    ("openai-responses", item("web_search_call"), "says"),
    ("openai-responses", item("function_call"), "calls"),
    ("openai-responses", item("local_shell_call"), "calls"),
    ("openai-responses", {"type": "response.incomplete", "response": {}}, "ends"),
    ("openai-responses", {"type": "response.failed", "response": {}}, "breaks"),
    ("openai-responses", {"type": "keepalive"}, "passes"),
    ("gemini", parts({"text": ""}), "waits"),
    ("gemini", parts({"text": "hm", "thought": True}), "says"),
    ("gemini", parts({"executableCode": {}}), "says"),
    ("gemini", parts({"text": "a"}, {"functionCall": {"name": "look"}}), "calls"),
    ("gemini", parts({"text": "a"}, finishReason="STOP"), "ends"),
    ("gemini", {"promptFeedback": {"blockReason": "OTHER"}}, "ends"),
    ("gemini", {"error": {"code": 503}}, "breaks"),
]


@pytest.mark.parametrize(("format", "event", "kind"), KINDS)
def test_an_event_is_what_its_format_says(format: str, event: dict[str, Any], kind: Kind) -> None:
    """`--recall` is invisible to the client, and streaming still works."""
    assert DIALECTS[format]().kind(event) == kind


@pytest.mark.parametrize(("format", "event", "kind"), KINDS)
def test_an_event_of_the_first_answer_stays_as_it_is(format: str, event: dict[str, Any], kind: Kind) -> None:
    """LOSSLESS."""
    assert DIALECTS[format]().told(event) is event


def test_reasoning_of_responses_is_said_with_what_it_led_to() -> None:
    """OpenAI refuses an item of reasoning "without its required following item" (continuedev/continue#8933)."""
    dialect = DIALECTS["openai-responses"]()
    delta = {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}
    assert [dialect.kind(one) for one in (item("reasoning"), delta)] == ["waits", "waits"]
    assert dialect.kind(item("message", 1)) == "says"
    assert dialect.kind({**delta, "type": "response.output_text.delta", "output_index": 1}) == "says"


def test_a_usage_that_says_only_the_output_gets_the_input_of_its_own_answer() -> None:
    """TOK-3: who reads how full the window is reads the last request's count."""
    dialect = DIALECTS["anthropic"]()
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
    for tokens in (10, 25):
        usage = {"input_tokens": tokens, "cache_read_input_tokens": 0, "output_tokens": 1}
        dialect.told({"type": "message_start", "message": {"usage": usage}})
        dialect.told(block)
        if tokens == 10:
            dialect.go_on()
    told = dialect.told({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 7}})
    assert told is not None
    assert told["usage"] == {"output_tokens": 7, "input_tokens": 25, "cache_read_input_tokens": 0}


@pytest.mark.parametrize("format", ["openai-chat", "gemini"])
def test_texts_that_a_caller_joins_are_parted(format: str) -> None:
    """A sentence of one answer does not run into the first word of the next."""
    dialect = DIALECTS[format]()
    made = {"openai-chat": lambda text: chat({"content": text}), "gemini": lambda text: parts({"text": text})}
    for told, text in (("let me look", "let me look"), ("\n\nso it is", "so it is"), (".", ".")):
        assert dialect.told(made[format](text)) == made[format](told)
        if text == "let me look":
            dialect.go_on()


@pytest.mark.parametrize(
    ("format", "event", "said"),
    [
        (
            "openai-chat",
            chat({"content": "a", "tool_calls": [{}]}, finish_reason="x"),
            chat({"content": "a"}),
        ),
        ("openai-chat", chat({"tool_calls": [{}]}), None),
        (
            "openai-chat",
            chat({"role": "assistant", "content": None, "tool_calls": [{}]}),
            chat({"role": "assistant", "content": None}),
        ),
        ("openai-chat", chat({"content": "b"}, finish_reason="tool_calls"), chat({"content": "b"})),
        ("openai-chat", chat({}, finish_reason="tool_calls"), None),
        (
            "gemini",
            parts({"text": "a"}, {"functionCall": {"name": "x"}}, {"text": "b"}, finishReason="STOP"),
            parts({"text": "a"}, {"text": "b"}),
        ),
        ("gemini", parts({"functionCall": {"name": "x"}}), None),
        ("gemini", parts({"text": "b"}, finishReason="STOP"), parts({"text": "b"})),
        (
            "anthropic",
            {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}},
            None,
        ),
        ("anthropic", {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, None),
        ("openai-responses", item("function_call"), None),
        ("openai-responses", {"type": "response.completed", "response": {}}, None),
    ],
)
def test_what_an_event_says_beside_its_calls_is_said(format: str, event: Any, said: Any) -> None:
    """A text and a call may come in one event, with the end of an answer too."""
    assert DIALECTS[format]().beside_calls([event]) == [said]


def test_reasoning_that_led_to_a_call_goes_with_it_and_other_items_close_up() -> None:
    """OpenAI refuses an item of reasoning "without its required following item" (continuedev/continue#8933)."""
    dialect = DIALECTS["openai-responses"]()
    kinds = ("reasoning", "function_call", "reasoning", "message", "reasoning")
    kept = dialect.beside_calls([item(kind, place) for place, kind in enumerate(kinds)])
    assert kept == [None, None, item("reasoning", 2), item("message", 3), None]
    told = [dialect.told(event) for event in kept if event is not None]
    assert told == [item("reasoning", 0), item("message", 1)]


def block(kind: str, place: int) -> dict[str, Any]:
    return {"type": "content_block_start", "index": place, "content_block": {"type": kind}}


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        (["text"], ["thinking", "text"], ["text"]),
        (["text"], ["redacted_thinking", "thinking", "tool_use"], ["tool_use"]),
        (["thinking", "text"], ["thinking", "text"], ["thinking", "text"]),
        (["redacted_thinking"], ["thinking", "text"], ["thinking", "text"]),
        (["compaction", "thinking", "text"], ["thinking", "text"], ["thinking", "text"]),
        (["compaction"], ["thinking", "text"], ["thinking", "text"]),
        (["text", "thinking", "text"], ["text"], ["text"]),
    ],
)
def test_no_thought_stands_in_a_message_of_anthropics_that_began_with_none(
    first: list[str], then: list[str], told: list[str]
) -> None:
    """The API: "If an assistant message contains any thinking blocks, the first block must be thinking" (anthropics/claude-code#20705).
    What one answer says itself stays as it is (LOSSLESS)."""
    dialect = DIALECTS["anthropic"]()
    for place, kind in enumerate(first):
        event = block(kind, place)
        assert dialect.told(event) is event
    dialect.go_on()
    delta = {"type": "content_block_delta"}
    events = [one for n, kind in enumerate(then) for one in (block(kind, n), {**delta, "index": n})]
    made = [one for one in map(dialect.told, events) if one is not None]
    places = range(len(first), len(first) + len(told))
    wanted = zip(told, places, strict=True)
    assert made == [one for kind, n in wanted for one in (block(kind, n), {**delta, "index": n})]


def test_a_response_that_failed_shows_no_call() -> None:
    """Its calls were held back, and are not made."""
    dialect = DIALECTS["openai-responses"]()
    output = [{"type": "message", "id": "m"}, {"type": "function_call", "id": "f"}]
    event = {"type": "response.failed", "response": {"id": "r", "output": output}}
    assert dialect.told(event) == {**event, "response": {"id": "r", "output": output[:1]}}
