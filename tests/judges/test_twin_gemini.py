"""The twin taken for Google by Google's own SDK: whole answers and streams, sync and async, tools, images, thinking, errors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Delivery, Fault, Twin
from tests.judges import sdk

if sdk.missing("gemini"):
    pytest.skip(str(sdk.missing("gemini")), allow_module_level=True)

from google import genai
from google.genai import errors, types

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the SDK's own, where aiohttp is installed
MODEL = "gemini-2.5-pro"
NEW = "gemini-3-pro-preview"
FULL = Answer(thinking="Let me see.", text="Listing. " * 9, calls=(Call(name="ls", arguments={"path": "é"}),))


def client(twin: Twin) -> genai.Client:
    return genai.Client(api_key="test", http_options=types.HttpOptions(base_url=twin.url))


def test_an_answer_is_the_sdks_response() -> None:
    with Twin(replies=[FULL]) as twin, client(twin) as api:
        answer = api.models.generate_content(model=MODEL, contents="hi")
    assert answer.candidates is not None
    assert answer.function_calls is not None
    assert answer.function_calls[0].args == {"path": "é"}
    assert answer.usage_metadata is not None
    assert answer.usage_metadata.prompt_token_count == twin.requests[0].tokens
    assert answer.usage_metadata.thoughts_token_count


@pytest.mark.parametrize("delivery", [Delivery(), Delivery(bytes_per_write=3)])
def test_a_stream_is_read_by_the_sdk(delivery: Delivery) -> None:
    with Twin(replies=[Answer(text=FULL.text, delivery=delivery)]) as twin, client(twin) as api:
        chunks = list(api.models.generate_content_stream(model=MODEL, contents="hi"))
    assert "".join(chunk.text or "" for chunk in chunks) == FULL.text


def test_the_async_client_is_answered_too() -> None:
    async def both(twin: Twin) -> list[str | None]:
        async with client(twin).aio as api:
            whole = await api.models.generate_content(model=MODEL, contents="hi")
            stream = await api.models.generate_content_stream(model=MODEL, contents="hi")
            return [whole.text, *[chunk.text async for chunk in stream]]

    with Twin(replies=["one", "two"]) as twin:
        assert [text for text in asyncio.run(both(twin)) if text] == ["one", "two"]


def test_what_the_sdk_gives_back_is_in_order() -> None:
    """A loop that returns the SDK's own content, signature and all, to a model that demands it."""
    with Twin(replies=[FULL, "Two files."]) as twin, client(twin) as api:
        contents: list[Any] = [types.Content(role="user", parts=[types.Part(text="go")])]
        answer = api.models.generate_content(model=NEW, contents=contents)
        assert answer.candidates is not None
        assert answer.function_calls is not None
        told = types.FunctionResponse(id=answer.function_calls[0].id, name="ls", response={"output": "a b"})
        contents += [
            answer.candidates[0].content,
            types.Content(role="user", parts=[types.Part(function_response=told)]),
        ]
        assert api.models.generate_content(model=NEW, contents=contents).text == "Two files."
        assert twin.requests[1].extends == 0


def test_counting_is_the_sdks_value() -> None:
    with Twin() as twin, client(twin) as api:
        assert api.models.count_tokens(model=MODEL, contents="hi").total_tokens == twin.requests[0].tokens


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=400), errors.ClientError),
        (Fault(status=429), errors.ClientError),
        (Fault(status=500), errors.ServerError),
        (Fault(status=503), errors.ServerError),
    ],
)
def test_a_fault_is_the_sdks_typed_error(fault: Fault, kind: type[errors.APIError]) -> None:
    with Twin(replies=[fault]) as twin, client(twin) as api:
        with pytest.raises(kind) as raised:
            api.models.generate_content(model=MODEL, contents="hi")
    assert raised.value.code == fault.status
    assert raised.value.status


def test_an_overflow_is_a_client_error_with_its_numbers() -> None:
    with Twin(window=100) as twin, client(twin) as api:
        with pytest.raises(errors.ClientError, match=r"exceeds the maximum number of tokens allowed \(100\)"):
            api.models.generate_content(model=MODEL, contents="word " * 500)
