"""The Responses dialect: history that the server holds, sealed items, compaction in its three ways, the window."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.wire.usage import read_usage
from tests.testing.twin.client import Back, respond, send

LONG = "word " * 2_000
USER = {"role": "user", "content": "go"}
THINKS = Answer(thinking="Let me see.", text="Listing.", calls=(Call(name="ls", arguments={"p": 1}),))
SEALED: dict[str, Any] = {"include": ["reasoning.encrypted_content"], "store": False}


def output_of(item: dict[str, Any], words: str = "a b") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": item["call_id"], "output": words}


def kinds(back: Back) -> list[str]:
    return [item["type"] for item in back.body["output"]]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"input": "x"}, "Missing required parameter: 'model'."),
        ({"model": "gpt-4o", "input": "x", "messages": []}, "Unknown parameter: 'messages'."),
        (
            {"model": "gpt-4o", "input": "x", "conversation": "conv_1"},
            "Conversation with id 'conv_1' not found.",
        ),
        ({"model": "gpt-4o", "input": "x", "previous_response_id": "resp_9"}, "'resp_9' not found"),
        ({"model": "gpt-4o", "input": [{"type": "ghost"}]}, "Invalid value: 'ghost'."),
        (
            {"model": "gpt-4o", "input": [{"type": "item_reference", "id": "rs_9"}]},
            "Item with id 'rs_9' not found.",
        ),
        (
            {"model": "gpt-4o", "input": [{"type": "function_call_output", "call_id": "c1", "output": "x"}]},
            "No tool call found for function call output with call_id c1.",
        ),
        (
            {"model": "gpt-4o", "input": [{"type": "compaction_trigger"}, USER]},
            "'compaction_trigger' must be the last input item.",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_the_providers_words(body: dict[str, Any], words: str) -> None:
    with Twin() as twin:
        back = send(twin, "/v1/responses", body)
    assert back.status in (400, 404)
    assert words in back.message


def test_a_call_without_its_output_is_refused() -> None:
    """openai/codex#5385."""
    call = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    with Twin() as twin:
        assert respond(twin, [USER, call]).message == "No tool output found for function call c1."


def test_usage_is_one_count_and_the_cache_a_part_of_it() -> None:
    """TOK-4."""
    items: list[Any] = [{"role": "user", "content": LONG}]
    with Twin() as twin:
        items += respond(twin, items, instructions="Be brief.").body["output"]
        usage = respond(twin, [*items, USER], instructions="Be brief.").body["usage"]
        first, second = twin.requests
    read = read_usage(usage, format="openai-responses")
    assert read is not None
    assert (read.tokens_input, read.tokens_cache_read) == (second.tokens, second.tokens_cached)
    assert usage["input_tokens_details"]["cached_tokens"] == first.tokens - first.tokens % 128
    assert second.extends == 0


def test_the_server_may_hold_the_history() -> None:
    """A proxy then sees only the new turn; the tokens are those of all of it."""
    with Twin(replies=[THINKS, "Two files."]) as twin:
        first = respond(twin, LONG).body
        second = respond(twin, [output_of(first["output"][-1])], previous_response_id=first["id"])
        assert second.body["output"][0]["content"][0]["text"] == "Two files."
        assert twin.requests[1].tokens > twin.requests[0].tokens
        assert twin.requests[1].extends == 0


def test_sealed_reasoning_comes_back_as_it_went() -> None:
    """openai/codex#8145: encrypted content that does not verify is an error of its own."""
    with Twin(replies=[THINKS, "ok"]) as twin:
        reasoning, message, call = respond(twin, "hi", **SEALED).body["output"]
        assert reasoning["encrypted_content"]
        again = [USER, reasoning, message, call, output_of(call)]
        assert respond(twin, again, **SEALED).status == 200
        touched = [USER, {**reasoning, "encrypted_content": "gAAAforeign"}, message, call, output_of(call)]
        back = respond(twin, touched, **SEALED)
    assert (back.status, back.body["error"]["code"]) == (400, "invalid_encrypted_content")
    assert back.message == "The encrypted content gAAA...eign could not be verified."


def test_reasoning_that_nobody_holds_is_not_found() -> None:
    """can1357/oh-my-pi#41: an id of an answer that was not stored."""
    with Twin(replies=endless(THINKS)) as twin:
        for stored, status in ((True, 200), (False, 404)):
            reasoning, message, call = respond(twin, "hi", store=stored).body["output"]
            reasoning.pop("encrypted_content", None)
            assert respond(twin, [USER, reasoning, message, call, output_of(call)]).status == status


def test_reasoning_without_what_followed_it_is_refused() -> None:
    """continuedev/continue#8933: what a careless cut leaves."""
    with Twin(replies=[THINKS]) as twin:
        reasoning = respond(twin, "hi").body["output"][0]
        back = respond(twin, [USER, reasoning])
    assert (
        f"Item '{reasoning['id']}' of type 'reasoning' was provided without its required following item"
        in back.message
    )


def test_the_compact_endpoint_gives_the_users_messages_and_one_compaction() -> None:
    """SDK types/responses/compacted_response.py."""
    with Twin(replies=["Hello.", "Goes on."], summaries=["What was done."]) as twin:
        items = [{"role": "user", "content": LONG}, *respond(twin, LONG).body["output"], USER]
        back = respond(twin, items, path="/v1/responses/compact")
        assert (back.body["object"], kinds(back)) == (
            "response.compaction",
            ["message", "message", "compaction"],
        )
        assert back.body["output"][1]["content"] == [{"type": "input_text", "text": "go"}]
        after = respond(twin, [*back.body["output"], USER])
        assert after.body["output"][0]["content"][0]["text"] == "Goes on."
        assert twin.requests[2].tokens > 2_000


def test_a_trigger_compacts_the_present_conversation() -> None:
    with Twin(summaries=["What was done."]) as twin:
        back = respond(twin, [{"role": "user", "content": LONG}, {"type": "compaction_trigger"}])
        (item,) = back.body["output"]
        respond(twin, [item, USER])
        assert item["type"] == "compaction"
        assert back.body["usage"]["input_tokens"] == twin.requests[0].tokens
        assert twin.requests[1].tokens < 40


def test_a_threshold_compacts_in_front_of_the_answer() -> None:
    managed: dict[str, Any] = {"context_management": [{"type": "compaction", "compact_threshold": 1_000}]}
    with Twin(replies=["Goes on.", "ok", "ok"]) as twin:
        small = respond(twin, "hi", **managed)
        back = respond(twin, LONG, **managed)
        again = respond(twin, [{"role": "user", "content": LONG}, *back.body["output"], USER], **managed)
        tokens = [received.tokens for received in twin.requests]
    assert kinds(small) == ["message"]
    assert kinds(back) == ["compaction", "message"]
    assert back.body["usage"]["input_tokens"] < 100
    assert (kinds(again), tokens[2] < 100) == (["message"], True)


def test_a_compaction_that_was_touched_is_refused() -> None:
    with Twin() as twin:
        (item,) = respond(twin, [USER, {"type": "compaction_trigger"}]).body["output"]
        back = respond(twin, [{**item, "encrypted_content": item["encrypted_content"][:-4] + "AAAA"}, USER])
    assert back.body["error"]["code"] == "invalid_encrypted_content"


def test_a_compaction_may_fail() -> None:
    with Twin(summaries=[None]) as twin:
        assert respond(twin, [USER, {"type": "compaction_trigger"}]).status == 500


def test_what_does_not_fit_is_refused_or_shortened() -> None:
    """The API reference, `truncation`: disabled is a 400, auto drops the oldest items."""
    items = [{"role": "user", "content": "word " * 400} for _ in range(4)]
    with Twin(window=1_000) as twin:
        refused = respond(twin, items)
        shortened = respond(twin, items, truncation="auto")
    assert refused.body["error"]["code"] == "context_length_exceeded"
    assert shortened.body["usage"]["input_tokens"] <= 1_000


def test_a_shortened_input_loses_calls_with_their_outputs() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    items = [call, output_of(call, "word " * 600), {"role": "user", "content": "word " * 500}]
    with Twin(window=1_000) as twin:
        assert respond(twin, items, truncation="auto").body["usage"]["input_tokens"] < 600


def test_counting_says_what_a_request_would_cost() -> None:
    with Twin() as twin:
        counted = respond(twin, LONG, path="/v1/responses/input_tokens").body
        respond(twin, LONG)
        assert counted == {"object": "response.input_tokens", "input_tokens": twin.requests[1].tokens}
