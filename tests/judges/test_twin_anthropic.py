"""The twin taken for Anthropic by Anthropic's own SDK: sync, async, streams, tools, images, thinking, the tool runner, native
compaction, and every error as the SDK's typed exception."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Delivery, Fault, Step, Twin, endless
from tests.judges import sdk
from tests.testing.judges.samples import image

if sdk.missing("anthropic"):
    pytest.skip(str(sdk.missing("anthropic")), allow_module_level=True)

import anthropic

MODEL = "claude-sonnet-5"
HELLO: list[Any] = [{"role": "user", "content": "hi"}]
TOOLS: list[Any] = [
    {"name": "ls", "description": "Lists.", "input_schema": {"type": "object", "properties": {}}}
]
FULL = Answer(thinking="Let me see.", text="Listing. " * 9, calls=(Call(name="ls", arguments={"path": "é"}),))


def client(twin: Twin, **more: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=twin.url, api_key="sk-test", **{"max_retries": 0, **more})


def test_an_answer_is_the_sdks_message() -> None:
    with Twin(replies=[FULL]) as twin, client(twin) as api:
        message = api.messages.create(model=MODEL, max_tokens=1_000, messages=HELLO, tools=TOOLS)
    thinking, text, call = message.content
    assert (thinking.type, text.type, call.type) == ("thinking", "text", "tool_use")
    assert call.type == "tool_use"
    assert call.input == {"path": "é"}
    assert message.stop_reason == "tool_use"
    assert message.usage.input_tokens == twin.requests[0].tokens


@pytest.mark.parametrize("delivery", [Delivery(), Delivery(bytes_per_write=3, pings=(0, 2, 5))])
def test_a_stream_is_put_together_by_the_sdk(delivery: Delivery) -> None:
    rough = Answer(thinking=FULL.thinking, text=FULL.text, calls=FULL.calls, delivery=delivery)
    with Twin(replies=[FULL, rough]) as twin, client(twin) as api:
        whole = api.messages.create(model=MODEL, max_tokens=1_000, messages=HELLO, tools=TOOLS)
        with api.messages.stream(model=MODEL, max_tokens=1_000, messages=HELLO, tools=TOOLS) as stream:
            text = "".join(stream.text_stream)
            streamed = stream.get_final_message()
    assert text == FULL.text
    assert [block.type for block in streamed.content] == [block.type for block in whole.content]
    assert streamed.usage.input_tokens == whole.usage.input_tokens
    assert streamed.stop_reason == whole.stop_reason


def test_an_event_that_comes_twice_reaches_the_sdk_twice() -> None:
    """What a client makes of it is the client's affair; the twin only sends it."""
    doubled = Answer(text="ab", delivery=Delivery(duplicated=(2,)))
    with Twin(replies=[doubled]) as twin, client(twin) as api:
        with api.messages.stream(model=MODEL, max_tokens=1_000, messages=HELLO) as stream:
            assert stream.get_final_text() == "abab"


def test_the_async_client_is_answered_too() -> None:
    async def both(twin: Twin) -> tuple[str, str]:
        async with anthropic.AsyncAnthropic(base_url=twin.url, api_key="sk-test") as api:
            message = await api.messages.create(model=MODEL, max_tokens=9, messages=HELLO)
            async with api.messages.stream(model=MODEL, max_tokens=9, messages=HELLO) as stream:
                return str(getattr(message.content[0], "text", "")), await stream.get_final_text()

    with Twin(replies=["one", "two"]) as twin:
        assert asyncio.run(both(twin)) == ("one", "two")


def test_what_the_sdk_gives_back_is_in_order() -> None:
    """A loop that returns the SDK's own blocks: thinking, calls, results, an image; nothing is refused."""
    with Twin(replies=[FULL, FULL, "done"]) as twin, client(twin) as api:
        messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "look"}, image()]}]
        for _ in range(2):
            answer = api.messages.create(model=MODEL, max_tokens=1_000, messages=messages, tools=TOOLS)
            result = {
                "type": "tool_result",
                "tool_use_id": getattr(answer.content[-1], "id", ""),
                "content": "a b",
            }
            messages += [
                {"role": "assistant", "content": answer.content},
                {"role": "user", "content": [result]},
            ]
        last = api.messages.create(model=MODEL, max_tokens=1_000, messages=messages, tools=TOOLS)
        assert getattr(last.content[0], "text", "") == "done"
        assert [received.extends for received in twin.requests] == [None, 0, 1]


def test_the_tool_runner_runs_to_its_end() -> None:
    @anthropic.beta_tool
    def ls(path: str) -> str:
        """Lists a folder.

        Args:
            path: Which.
        """
        return f"{path}: a b"

    replies: list[Step] = [Answer(calls=(Call(name="ls", arguments={"path": "."}),)), "Two files."]
    with Twin(replies=replies) as twin, client(twin) as api:
        runner = api.beta.messages.tool_runner(model=MODEL, max_tokens=1_000, messages=HELLO, tools=[ls])
        last = runner.until_done()
    assert getattr(last.content[0], "text", "") == "Two files."
    assert twin.requests[1].parsed["messages"][-1]["content"][0]["content"] == ".: a b"


def test_the_tool_runner_compacts_natively() -> None:
    """`compact_before_next_turn`: the block comes back first, verbatim, and its signature holds."""

    @anthropic.beta_tool
    def ls() -> str:
        """Lists."""
        return "a b " * 200

    replies: list[Step] = [Answer(calls=(Call(name="ls"),)), Answer(calls=(Call(name="ls"),)), "Done."]
    with Twin(replies=replies, summaries=["What was done."]) as twin, client(twin) as api:
        runner = api.beta.messages.tool_runner(
            model=MODEL, max_tokens=1_000, messages=HELLO, tools=[ls], betas=["compact-2026-09-04"]
        )
        stops = []
        for message in runner:
            stops.append(message.stop_reason)
            if len(stops) == 1:
                runner.compact_before_next_turn()
    assert stops == ["tool_use", "compaction", "tool_use", "end_turn"]
    assert twin.requests[2].parsed["messages"][0]["content"][0]["type"] == "compaction"
    assert twin.requests[2].tokens < twin.requests[1].tokens


def test_context_editing_is_the_sdks_response() -> None:
    edits: Any = {
        "edits": [
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "tool_uses", "value": 1},
                "keep": {"type": "tool_uses", "value": 0},
            }
        ]
    }
    messages: list[Any] = [
        *HELLO,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"t{at}", "name": "ls", "input": {}} for at in "ab"],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": f"t{at}", "content": "word " * 99} for at in "ab"
            ],
        },
    ]
    with Twin(replies=endless("ok")) as twin, client(twin) as api:
        message = api.beta.messages.create(
            model=MODEL,
            max_tokens=9,
            messages=messages,
            context_management=edits,
            betas=["context-management-2025-06-27"],
        )
        counted = api.beta.messages.count_tokens(
            model=MODEL, messages=messages, context_management=edits, betas=["context-management-2025-06-27"]
        )
    assert message.context_management is not None
    (edit,) = message.context_management.applied_edits
    assert edit.type == "clear_tool_uses_20250919"
    assert edit.cleared_tool_uses == 2
    assert counted.context_management is not None
    assert (
        counted.context_management.original_input_tokens == counted.input_tokens + edit.cleared_input_tokens
    )


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=400), anthropic.BadRequestError),
        (Fault(status=401), anthropic.AuthenticationError),
        (Fault(status=402), anthropic.APIStatusError),
        (Fault(status=403), anthropic.PermissionDeniedError),
        (Fault(status=404), anthropic.NotFoundError),
        (Fault(status=413), anthropic.APIStatusError),
        (Fault(status=429), anthropic.RateLimitError),
        (Fault(status=500), anthropic.InternalServerError),
        (Fault(status=529), anthropic.APIStatusError),
    ],
)
def test_a_fault_is_the_sdks_typed_error(fault: Fault, kind: type[anthropic.APIStatusError]) -> None:
    with Twin(replies=[fault]) as twin, client(twin) as api:
        with pytest.raises(kind) as raised:
            api.messages.create(model=MODEL, max_tokens=9, messages=HELLO)
    assert raised.value.status_code == fault.status
    assert isinstance(raised.value.body, dict)
    assert raised.value.body["type"] == "error"


def test_a_compaction_error_has_the_code_that_the_sdk_reads() -> None:
    """SDK _exceptions.py, `extract_error_code`."""
    block: Any = {"type": "compaction", "content": "x", "signature": "QUJD"}
    with Twin() as twin, client(twin) as api:
        with pytest.raises(anthropic.BadRequestError) as raised:
            api.beta.messages.create(
                model=MODEL,
                max_tokens=9,
                messages=[{"role": "assistant", "content": [block]}, *HELLO],
                betas=["compact-2026-09-04"],
            )
    assert type(raised.value).__name__ == "CompactionSignatureInvalidError"


def test_the_sdk_waits_as_long_as_it_is_told_and_tries_again() -> None:
    replies: list[Step] = [
        Fault(status=429, retry_after_s=0.01),
        Fault(status=529, retry_after_s=0.01),
        "at last",
    ]
    with Twin(replies=replies) as twin, client(twin, max_retries=2) as api:
        message = api.messages.create(model=MODEL, max_tokens=9, messages=HELLO)
    assert getattr(message.content[0], "text", "") == "at last"
    assert [received.status for received in twin.requests] == [429, 529, 200]


def test_an_error_in_a_stream_is_the_sdks_typed_error() -> None:
    broken = Answer(text="x" * 200, delivery=Delivery(end="error", end_after=3))
    with Twin(replies=[broken]) as twin, client(twin) as api:
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            with api.messages.stream(model=MODEL, max_tokens=99, messages=HELLO) as stream:
                stream.until_done()


def test_a_reset_before_the_answer_is_a_connection_error() -> None:
    with Twin(replies=[Answer(delivery=Delivery(end="reset"))]) as twin, client(twin) as api:
        with pytest.raises(anthropic.APIConnectionError):
            api.messages.create(model=MODEL, max_tokens=9, messages=HELLO)


def test_a_time_limit_of_the_client_ends_a_stall() -> None:
    stalled = Answer(text="x" * 200, delivery=Delivery(wait_s=600))
    with Twin(replies=[stalled]) as twin, client(twin, timeout=0.2) as api:
        with pytest.raises(anthropic.APITimeoutError):
            api.messages.create(model=MODEL, max_tokens=9, messages=HELLO)


def test_the_twin_knows_the_parameters_that_the_sdk_knows() -> None:
    """The tables were copied by hand; a new SDK shows what has been added."""
    from anthropic.types import message_create_params
    from anthropic.types.beta import message_create_params as beta_params

    from foldline.testing.twin.anthropic import BETA_KEYS, KEYS

    plain = message_create_params.MessageCreateParamsStreaming.__annotations__.keys()
    assert plain | message_create_params.MessageCreateParamsNonStreaming.__annotations__.keys() == KEYS
    beta = beta_params.MessageCreateParamsStreaming.__annotations__.keys() - {"betas"}
    assert beta == KEYS | BETA_KEYS.keys()
