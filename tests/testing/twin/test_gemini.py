"""The Gemini dialect: paths, signatures, usage and cache, streams, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Delivery, Fault, Twin, endless
from foldline.testing.twin.gemini import SKIPPED, model_of
from foldline.testing.twin.script import Stop
from foldline.wire.usage import read_usage
from tests.testing.twin.client import GEMINI, generate, send

NEW = "gemini-3-pro-preview"
LONG = "word " * 2_000
FULL = Answer(
    thinking="Let me see what there is.", text="Listing. " * 9, calls=(Call(name="ls", arguments={"p": 1}),)
)


def user(words: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": words}]}


def answered(call: dict[str, Any]) -> dict[str, Any]:
    """The response to a call."""
    told = {"name": call["name"], "response": {"output": "a b"}}
    return {
        "role": "user",
        "parts": [{"functionResponse": {**told, **({"id": call["id"]} if "id" in call else {})}}],
    }


def test_the_model_stands_in_the_path() -> None:
    assert model_of("/v1beta/models/gemini-2.5-pro:generateContent") == "gemini-2.5-pro"
    with Twin() as twin:
        assert generate(twin, "hi", model="gemini-2.5-flash").body["modelVersion"] == "gemini-2.5-flash"
        assert generate(twin, "hi", method="embedContent").status == 404


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([], "contents is not specified"),
        ([{"role": "user", "parts": []}], "contents.parts must not be empty"),
        ([{"role": "assistant", "parts": [{"text": "x"}]}], "Please use a valid role: user, model."),
        ([user("")], "it has an empty text parameter"),
        (
            [user("go"), {"role": "model", "parts": [{"functionCall": {"name": "ls"}}]}, user("x")],
            "the number of function response parts is equal to the number of function call parts of the function call turn.",
        ),
        (
            [user("go"), answered({"name": "ls"})],
            "function response turn comes immediately after a function call turn.",
        ),
    ],
)
def test_what_is_out_of_order_is_refused_in_the_providers_words(contents: list[Any], words: str) -> None:
    """Sources: the rules of `foldline.testing.judges.gemini`."""
    with Twin() as twin:
        back = generate(twin, contents)
    assert (back.status, back.body["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert words in back.message


def test_a_parameter_that_cannot_be_is_refused() -> None:
    """E085 of the recorded errors."""
    with Twin(output_max=100) as twin:
        unknown = generate(twin, "hi", messages=[])
        capped = generate(twin, "hi", generationConfig={"maxOutputTokens": 101})
        anonymous = send(
            twin, f"/v1beta/models/{GEMINI}:generateContent", {}, {"x-goog-api-key": "", "authorization": ""}
        )
    assert 'Unknown name "messages"' in unknown.message
    assert (
        "maxOutputTokens value of 101 but the supported range is from 1 (inclusive) to 101 (exclusive)"
        in capped.message
    )
    assert (anonymous.status, anonymous.body["error"]["status"]) == (403, "PERMISSION_DENIED")


def test_thoughts_are_output_beside_the_candidates() -> None:
    with Twin(replies=[FULL]) as twin:
        answer = generate(twin, "hi").body
        tokens = twin.requests[0].tokens
    usage = answer["usageMetadata"]
    assert usage["promptTokenCount"] == tokens
    assert usage["totalTokenCount"] == tokens + usage["candidatesTokenCount"] + usage["thoughtsTokenCount"]
    parts = answer["candidates"][0]["content"]["parts"]
    assert [("thought" in part, "functionCall" in part) for part in parts] == [
        (True, False),
        (False, False),
        (False, True),
    ]
    assert parts[1]["text"] == "Listing. " * 9


def test_a_prefix_that_was_sent_before_is_read_from_the_cache() -> None:
    with Twin() as twin:
        first = generate(twin, [user(LONG)], systemInstruction={"parts": [{"text": "Be brief."}]}).body
        contents = [user(LONG), first["candidates"][0]["content"], user("go on")]
        usage = generate(twin, contents, systemInstruction={"parts": [{"text": "Be brief."}]}).body[
            "usageMetadata"
        ]
        one, two = twin.requests
    assert usage["cachedContentTokenCount"] == one.tokens == two.tokens_cached
    assert two.extends == 0
    read = read_usage(usage, format="gemini")
    assert read is not None
    assert (read.tokens_input, read.tokens_cache_read) == (two.tokens, one.tokens)


def test_a_signature_comes_back_as_it_went() -> None:
    """langgenius/dify#29187: Gemini 3 refuses a call of the open turn without its signature."""
    with Twin(replies=endless(Answer(calls=(Call(name="ls"),)))) as twin:
        said = generate(twin, "go", model=NEW).body["candidates"][0]["content"]
        call = said["parts"][0]
        contents = [user("go"), said, answered(call["functionCall"])]
        assert generate(twin, contents, model=NEW).status == 200
        bare = {"role": "model", "parts": [{"functionCall": call["functionCall"]}]}
        missing = generate(twin, [user("go"), bare, contents[2]], model=NEW)
        older = generate(twin, [user("go"), bare, contents[2], user("more")], model=NEW)
        touched = {"role": "model", "parts": [{**call, "thoughtSignature": "QUJD"}]}
        foreign = generate(twin, [user("go"), touched, contents[2]])
        skipped = [
            {"role": "model", "parts": [{**call, "thoughtSignature": word}]} for word in sorted(SKIPPED)
        ]
        taken = [generate(twin, [user("go"), said, contents[2]], model=NEW).status for said in skipped]
    assert "Function call is missing a thought_signature in functionCall parts." in missing.message
    assert "function call `default_api:ls` , position 2." in missing.message
    assert older.status == 200
    assert foreign.message == "Unable to submit request because Thought signature is not valid."
    assert taken == [200, 200]


@pytest.mark.parametrize(
    "answer", [FULL, Answer(text="x"), Answer(), Answer(thinking="x", redacted=True, text="y")]
)
def test_a_stream_comes_to_the_same_content(answer: Answer) -> None:
    with Twin(replies=[answer, answer]) as twin:
        whole = generate(twin, "hi").body["candidates"][0]
        events = generate(twin, "hi", method="streamGenerateContent?alt=sse").events
    assert all(event["usageMetadata"]["promptTokenCount"] for event in events)
    assert events[-1]["candidates"][0]["finishReason"] == whole["finishReason"]
    for thought in (True, False):
        texts = [
            "".join(part.get("text", "") for part in parts if bool(part.get("thought")) is thought)
            for parts in (
                [part for event in events for part in event["candidates"][0]["content"]["parts"]],
                whole["content"]["parts"],
            )
        ]
        assert texts[0] == texts[1]


def test_a_stream_without_sse_is_one_list() -> None:
    with Twin(replies=["one two three four five six seven"]) as twin:
        chunks = generate(twin, "hi", method="streamGenerateContent").body
    assert len(chunks) > 1
    assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize(("stop", "said"), [("end", "STOP"), ("length", "MAX_TOKENS"), ("refusal", "SAFETY")])
def test_every_reason_to_stop_is_spelt_as_the_provider_does(stop: Stop, said: str) -> None:
    with Twin(replies=[Answer(text="x", stop=stop)]) as twin:
        assert generate(twin, "hi").body["candidates"][0]["finishReason"] == said


def test_a_blocked_prompt_has_no_candidates() -> None:
    """E097 of the recorded errors."""
    with Twin(replies=[Answer(stop="filter")]) as twin:
        answer = generate(twin, "hi").body
    assert answer["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    assert "candidates" not in answer


def test_an_error_has_googles_shape() -> None:
    faults = [Fault(status=429), Fault(status=503, message="later", kind="UNAVAILABLE")]
    broken = Answer(text="x " * 90, delivery=Delivery(end="error", end_after=1, error=Fault(status=503)))
    with Twin(replies=[*faults, broken]) as twin:
        limited, busy = generate(twin, "hi").body["error"], generate(twin, "hi").body["error"]
        last = generate(twin, "hi", method="streamGenerateContent?alt=sse").events[-1]
    assert (limited["code"], limited["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert (busy["message"], busy["status"]) == ("later", "UNAVAILABLE")
    assert last["error"]["status"] == "UNAVAILABLE"


def test_counting_says_what_a_request_would_cost() -> None:
    with Twin() as twin:
        counted = generate(twin, LONG, method="countTokens").body
        wrapped = send(
            twin,
            f"/v1beta/models/{GEMINI}:countTokens",
            {"generateContentRequest": {"contents": [user(LONG)]}},
        ).body
        generate(twin, LONG)
        assert counted == wrapped == {"totalTokens": twin.requests[2].tokens}
