"""LangGraph states and LangChain messages: what stands in the state is what the model is sent."""

from __future__ import annotations

import pytest

from foldline.core.message import Media, Reasoning, Text, ToolCall, ToolResult, Usage, speaks_for_user
from foldline.transcripts import detect
from foldline.transcripts.langgraph import READER
from tests.transcripts.data import DATA, bytes_of, calls_in, read_one, results_in

CJK = DATA / "langgraph/deerflow-5aa47db1-cjk.json"
PARALLEL = DATA / "langgraph/deerflow-b83fbb2a.json"


def ai(content: object = "", **values: object) -> dict[str, object]:
    return {"type": "ai", "content": content, **values}


@pytest.mark.parametrize(
    ("path", "messages", "calls", "thoughts"), [(CJK, 39, 17, 11), (PARALLEL, 27, 17, 0)]
)
def test_a_recorded_thread_has_all_its_messages_calls_and_reasoning(
    path: object, messages: int, calls: int, thoughts: int
) -> None:
    """Counted by a script of its own over the files; all calls are answered."""
    found = read_one(READER, path)
    assert len(found.messages) == messages
    assert len(calls_in(found)) == len(results_in(found)) == calls
    kinds = [part for message in found.messages for part in message.parts if isinstance(part, Reasoning)]
    assert len(kinds) == thoughts
    assert (found.format, found.wire) == ("langgraph", "openai-chat")


def test_a_recorded_thread_says_its_id_and_model_and_every_part_has_an_address() -> None:
    """A part is addressed by its slot."""
    found = read_one(READER, CJK)
    assert found.id == "5aa47db1-d0cb-4eb9-aea5-3dac1b371c5a"
    assert found.model == "deepseek-v3-2-251201"
    assert all([part.slot for part in m.parts] == list(range(len(m.parts))) for m in found.messages)
    assert sum(speaks_for_user(message) for message in found.messages) == 2


@pytest.mark.parametrize(
    "state",
    [
        {"values": {"messages": [{"type": "human", "content": "q"}, ai("a")]}, "next": []},
        {"channel_values": {"messages": [{"type": "human", "content": "q"}, ai("a")]}},
        {"messages": [{"type": "human", "content": "q"}, ai("a")]},
        [{"type": "human", "content": "q"}, ai("a")],
        [{"type": "human", "data": {"content": "q"}}, {"type": "ai", "data": {"content": "a"}}],
        [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", name],
                "kwargs": {"content": text},
            }
            for name, text in (("HumanMessage", "q"), ("AIMessageChunk", "a"))
        ],
    ],
    ids=["thread", "checkpoint", "state", "list", "messages_to_dict", "dumpd"],
)
def test_every_form_of_a_state_is_recognised_and_read_alike(state: object) -> None:
    """The shapes langchain-core and LangGraph write."""
    assert detect.recognise(bytes_of(state)) == "langgraph"
    assert [(m.role, m.text) for m in read_one(READER, state).messages] == [("user", "q"), ("assistant", "a")]


def test_calls_results_errors_and_usage_are_read() -> None:
    """`usage_metadata` already holds cached tokens in `input_tokens` (requirement TOK-4)."""
    told = {
        "input_tokens": 100,
        "output_tokens": 5,
        "total_tokens": 105,
        "input_token_details": {"cache_read": 60, "cache_creation": 10},
    }
    found = read_one(
        READER,
        [
            {"type": "human", "content": "q"},
            ai(
                "text",
                tool_calls=[{"name": "f", "args": {"é": 1}, "id": "c1"}],
                invalid_tool_calls=[{"name": "g", "args": "{broken", "id": "c2", "error": "no JSON"}],
                usage_metadata=told,
            ),
            {"type": "tool", "content": "boom", "tool_call_id": "c1", "name": "f", "status": "error"},
        ],
    )
    assert [(c.id, c.name, c.arguments) for c in calls_in(found)] == [
        ("c1", "f", '{"é":1}'),
        ("c2", "g", "{broken"),
    ]
    (answer,) = results_in(found)
    assert (answer.call_id, answer.name, answer.is_error) == ("c1", "f", True)
    assert found.usage == Usage(
        tokens_input=100, tokens_output=5, tokens_cache_read=60, tokens_cache_write=10, tokens_total=105
    )
    assert found.usage_at == 1


def test_content_lists_hold_reasoning_calls_and_images_each_once() -> None:
    """An Anthropic model's content repeats `tool_calls`; its thinking is signed and must stay whole."""
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "see"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
    ]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO", "detail": "low"}}
    provider = {"model_provider": "anthropic", "stop_reason": "tool_use"}
    found = read_one(
        READER,
        [
            {"type": "human", "content": [{"type": "text", "text": "q"}, image, "loose"]},
            ai(content, tool_calls=[{"name": "f", "args": {}, "id": "c1"}], response_metadata=provider),
            {"type": "tool", "content": [image], "tool_call_id": "c1"},
        ],
    )
    picture = Media(kind="image", mime="image/png", data="iVBO", detail="low", slot=1)
    assert found.messages[0].parts == (Text(text="q", slot=0), picture, Text(text="loose", slot=2))
    assert found.messages[1].parts == (
        Reasoning(text="hm", signature="sig", provider="anthropic", slot=0),
        Text(text="see", slot=1),
        ToolCall(id="c1", name="f", arguments="{}", slot=2),
    )
    (part,) = found.messages[2].parts
    assert isinstance(part, ToolResult)
    assert part.content == (Media(kind="image", mime="image/png", data="iVBO", detail="low", slot=0),)
    assert found.wire == "anthropic"


def test_reasoning_at_which_a_turn_ended_is_the_answer() -> None:
    """The reply of a recorded thread to its user (DeepSeek) was left out of every format that takes no reasoning at the end."""
    assert read_one(READER, CJK).messages[-1].text.endswith("需要我为您添加任何特定功能或调整设计风格吗？")
    thought = {"reasoning_content": "Hm."}
    for message in (
        ai("", additional_kwargs=thought),
        ai("", additional_kwargs=thought, response_metadata={"finish_reason": "length"}),
        ai(
            "",
            additional_kwargs=thought,
            response_metadata={"finish_reason": "stop"},
            tool_calls=[{"name": "f", "args": {}, "id": "c"}],
        ),
        ai("Done.", additional_kwargs=thought, response_metadata={"finish_reason": "stop"}),
    ):
        [told] = read_one(READER, [message]).messages
        assert isinstance(told.parts[0], Reasoning)


def test_a_summary_of_langchains_middleware_is_not_taken_for_the_user() -> None:
    """SummarizationMiddleware writes a human message that no person wrote."""
    summary = {"type": "human", "content": "summary", "additional_kwargs": {"lc_source": "summarization"}}
    found = read_one(READER, [summary, {"type": "human", "content": "q"}])
    assert [speaks_for_user(message) for message in found.messages] == [False, True]


def test_messages_of_unknown_types_are_counted_and_never_fatal() -> None:
    """Unknown record types are kept or skipped with a count."""
    found = read_one(
        READER, [{"type": "human", "content": "q"}, {"type": "remove", "content": ""}, ai("a"), 7]
    )
    assert len(found.messages) == 2
    assert found.skipped == (("remove", 1),)
