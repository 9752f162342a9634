"""The twin taken for OpenAI by OpenAI's own SDK: both APIs, sync and async, streams, tools, images, server-held history, native
compaction, and every error as the SDK's typed exception."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Delivery, Fault, Twin
from tests.judges import sdk
from tests.testing.judges.samples import chat_image, png

if sdk.missing("openai-chat"):
    pytest.skip(str(sdk.missing("openai-chat")), allow_module_level=True)

import openai

MODEL = "gpt-4o"
HELLO: list[Any] = [{"role": "user", "content": "hi"}]
FULL = Answer(thinking="Let me see.", text="Listing. " * 9, calls=(Call(name="ls", arguments={"path": "é"}),))


def client(twin: Twin, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{twin.url}/v1", api_key="sk-test", **{"max_retries": 0, **more})


def test_an_answer_is_the_sdks_completion() -> None:
    with Twin(replies=[FULL]) as twin, client(twin) as api:
        completion = api.chat.completions.create(model=MODEL, messages=HELLO)
    choice = completion.choices[0]
    assert choice.message.content == FULL.text
    assert choice.message.tool_calls is not None
    assert choice.message.tool_calls[0].to_dict()["function"] == {"name": "ls", "arguments": '{"path":"é"}'}
    assert choice.finish_reason == "tool_calls"
    assert completion.usage is not None
    assert completion.usage.prompt_tokens == twin.requests[0].tokens


@pytest.mark.parametrize("delivery", [Delivery(), Delivery(bytes_per_write=3, pings=(0, 2, 5))])
def test_a_stream_is_put_together_by_the_sdk(delivery: Delivery) -> None:
    rough = Answer(text=FULL.text, calls=FULL.calls, delivery=delivery)
    with Twin(replies=[rough]) as twin, client(twin) as api:
        with api.chat.completions.stream(
            model=MODEL, messages=HELLO, stream_options={"include_usage": True}
        ) as stream:
            completion: Any = stream.until_done().get_final_completion()
    message = completion.choices[0].message
    assert (message.content, message.tool_calls[0].function.arguments) == (FULL.text, '{"path":"é"}')
    assert completion.usage.prompt_tokens == twin.requests[0].tokens


def test_the_async_client_is_answered_too() -> None:
    async def both(twin: Twin) -> tuple[Any, Any]:
        async with openai.AsyncOpenAI(base_url=f"{twin.url}/v1", api_key="sk-test") as api:
            completion = await api.chat.completions.create(model=MODEL, messages=HELLO)
            response = await api.responses.create(model=MODEL, input="hi")
            return completion.choices[0].message.content, response.output_text

    with Twin(replies=["one", "two"]) as twin:
        assert asyncio.run(both(twin)) == ("one", "two")


def test_what_the_sdk_gives_back_is_in_order() -> None:
    """A loop that returns the SDK's own message, with an image; nothing is refused."""
    picture = chat_image("data:image/png;base64," + png())
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "look"}, picture]}]
    with Twin(replies=[Answer(calls=FULL.calls), "done"]) as twin, client(twin) as api:
        message = api.chat.completions.create(model=MODEL, messages=messages).choices[0].message
        assert message.tool_calls is not None
        messages += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "a b"}]
        assert (
            api.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content == "done"
        )
        assert twin.requests[1].extends == 0


def test_responses_come_whole_and_in_a_stream() -> None:
    with Twin(replies=[FULL, FULL]) as twin, client(twin) as api:
        whole = api.responses.create(model=MODEL, input="hi")
        with api.responses.stream(model=MODEL, input="hi") as stream:
            streamed = stream.until_done().get_final_response()
    assert whole.output_text == streamed.output_text == FULL.text
    assert [item.type for item in streamed.output] == ["reasoning", "message", "function_call"]
    assert streamed.usage is not None
    assert streamed.usage.input_tokens == twin.requests[1].tokens


def test_sealed_reasoning_and_calls_come_back_as_the_sdk_gives_them() -> None:
    with Twin(replies=[FULL, "Two files."]) as twin, client(twin) as api:
        sealed: Any = {"include": ["reasoning.encrypted_content"], "store": False}
        first = api.responses.create(model=MODEL, input=HELLO, **sealed)
        call: Any = first.output[-1]
        items: list[Any] = [*HELLO, *first.output]
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": "a b"})
        assert api.responses.create(model=MODEL, input=items, **sealed).output_text == "Two files."


def test_the_server_holds_the_history() -> None:
    with Twin(replies=["one", "two"]) as twin, client(twin) as api:
        first = api.responses.create(model=MODEL, input="hi")
        second = api.responses.create(model=MODEL, input="more", previous_response_id=first.id)
        assert second.output_text == "two"
        assert twin.requests[1].tokens > twin.requests[0].tokens


def test_compaction_and_counting_are_the_sdks_values() -> None:
    with Twin(replies=["one", "after"], summaries=["What was done."]) as twin, client(twin) as api:
        first = api.responses.create(model=MODEL, input="hi")
        items: list[Any] = [*HELLO, *first.output, {"role": "user", "content": "more"}]
        compacted = api.responses.compact(model=MODEL, input=items)
        assert [item.type for item in compacted.output] == ["message", "message", "compaction"]
        counted = api.responses.input_tokens.count(model=MODEL, input=items)
        assert counted.input_tokens == twin.requests[1].tokens
        block: Any = compacted.output[-1]
        triggered = api.responses.create(model=MODEL, input=[*items, {"type": "compaction_trigger"}])
        assert [item.type for item in triggered.output] == ["compaction"]
        again = api.responses.create(model=MODEL, input=[block, *HELLO])
        assert again.output_text == "after"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=400), openai.BadRequestError),
        (Fault(status=401), openai.AuthenticationError),
        (Fault(status=403), openai.PermissionDeniedError),
        (Fault(status=404), openai.NotFoundError),
        (Fault(status=422), openai.UnprocessableEntityError),
        (Fault(status=429), openai.RateLimitError),
        (Fault(status=500), openai.InternalServerError),
        (Fault(status=503), openai.InternalServerError),
    ],
)
def test_a_fault_is_the_sdks_typed_error(fault: Fault, kind: type[openai.APIStatusError]) -> None:
    with Twin(replies=[fault, fault]) as twin, client(twin) as api:
        for ask in (
            lambda: api.chat.completions.create(model=MODEL, messages=HELLO),
            lambda: api.responses.create(model=MODEL, input="hi"),
        ):
            with pytest.raises(kind) as raised:
                ask()
            assert raised.value.status_code == fault.status


def test_an_overflow_has_its_code_whole_and_in_a_stream() -> None:
    words = "word " * 500
    with Twin(window=100) as twin, client(twin) as api:
        with pytest.raises(openai.BadRequestError) as chat:
            api.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": words}])
        with pytest.raises(openai.BadRequestError) as response:
            api.responses.create(model=MODEL, input=words)
        with pytest.raises(openai.APIError) as streamed:
            with api.responses.stream(model=MODEL, input=words) as stream:
                stream.until_done()
    assert {raised.value.code for raised in (chat, response, streamed)} == {"context_length_exceeded"}


def test_the_sdk_waits_as_long_as_it_is_told_and_tries_again() -> None:
    with (
        Twin(replies=[Fault(status=429, retry_after_s=0.01), "at last"]) as twin,
        client(twin, max_retries=1) as api,
    ):
        assert (
            api.chat.completions.create(model=MODEL, messages=HELLO).choices[0].message.content == "at last"
        )
    assert [received.status for received in twin.requests] == [429, 200]


@pytest.mark.parametrize("end", ["cut", "reset"])
def test_a_broken_stream_is_a_connection_error(end: Any) -> None:
    broken = Answer(text="x" * 200, delivery=Delivery(end=end, end_after=3))
    with Twin(replies=[broken, broken]) as twin, client(twin) as api:
        with pytest.raises(openai.APIConnectionError):
            list(api.chat.completions.create(model=MODEL, messages=HELLO, stream=True))
        with pytest.raises(openai.APIConnectionError):
            list(api.responses.create(model=MODEL, input="hi", stream=True))


def test_the_twin_knows_the_parameters_that_the_sdk_knows() -> None:
    """The tables were copied by hand; a new SDK shows what has been added."""
    from openai.types.chat import completion_create_params as chat
    from openai.types.responses import input_token_count_params as count
    from openai.types.responses import response_compact_params as compact
    from openai.types.responses import response_create_params as create

    from foldline.testing.twin import openai_chat, openai_responses

    assert chat.CompletionCreateParamsStreaming.__annotations__.keys() == openai_chat.KEYS
    sent_by_codex = {"client_metadata"}  # and taken, though no SDK knows it
    known = create.ResponseCreateParamsStreaming.__annotations__.keys() | {"stream"}
    assert known | sent_by_codex == openai_responses.KEYS
    assert compact.ResponseCompactParams.__annotations__.keys() == openai_responses.COMPACT_KEYS
    assert count.InputTokenCountParams.__annotations__.keys() == openai_responses.COUNT_KEYS
