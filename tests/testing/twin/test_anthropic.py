"""The Messages dialect: parameters, usage and cache, signatures of thinking, output caps, counting."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.testing.twin.anthropic import BINDING_BETA, WINDOW_BETA
from foldline.wire.usage import read_usage
from tests.testing.twin.client import CLAUDE, ask, send

LONG = "word " * 1_200
MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"max_tokens": None}, "max_tokens: Input should be a valid integer"),
        (
            {"max_tokens": 999_999},
            "max_tokens: 999999 > 128000, which is the maximum allowed number of output tokens",
        ),
        ({"temprature": 1}, "temprature: Extra inputs are not permitted"),
        ({"context_management": {"edits": []}}, "context_management: Extra inputs are not permitted"),
        ({"compaction": {"type": "summarize"}}, "compaction: Extra inputs are not permitted"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9}}, "greater than or equal to 1024"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2_000}}, "`max_tokens` must be greater than"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(more: dict[str, Any], words: str) -> None:
    with Twin() as twin:
        back = ask(twin, "hi", **more)
    assert back.status == 400
    assert words in back.message


def test_a_request_needs_key_version_and_what_is_required() -> None:
    with Twin() as twin:
        assert send(twin, "/v1/messages", {}, {"x-api-key": "", "authorization": ""}).status == 401
        assert "anthropic-version" in send(twin, "/v1/messages", {}, {"anthropic-version": ""}).message
        assert send(twin, "/v1/messages", {"model": CLAUDE}).message == "messages: Field required"


def test_old_sampling_parameters_are_still_taken() -> None:
    with Twin() as twin:
        assert ask(twin, "hi", temperature=1, top_p=0.9, top_k=5).status == 200


def test_usage_holds_three_counts_that_add_up() -> None:
    """TOK-4: Anthropic's input excludes cache reads and writes."""
    marked = [user(text(LONG, **MARK), text("now?"))]
    with Twin() as twin:
        first, second = (ask(twin, marked).body["usage"] for _ in range(2))
        tokens = twin.requests[0].tokens
    assert first["cache_creation_input_tokens"] > 1_024
    assert first["cache_creation"]["ephemeral_5m_input_tokens"] == first["cache_creation_input_tokens"]
    assert second["cache_read_input_tokens"] == first["cache_creation_input_tokens"]
    assert (second["cache_creation_input_tokens"], second["input_tokens"]) == (0, first["input_tokens"])
    for usage in (first, second):
        read = read_usage(usage, format="anthropic")
        assert read is not None
        assert read.tokens_input == tokens


def test_a_conversation_that_grows_reads_what_it_sent_before() -> None:
    """Law PREFIX by the provider's own accounting; a mark may stand on a result, a tool or the whole request."""
    messages: list[Any] = [user(text(LONG))]
    with Twin(replies=endless(Answer(calls=(Call(name="ls"),)))) as twin:
        for turn in range(3):
            answer = ask(twin, messages, tools=[{"name": "ls", "input_schema": {}}], **MARK).body
            messages.append({"role": "assistant", "content": answer["content"]})
            result = {"type": "tool_result", "tool_use_id": answer["content"][0]["id"], "content": f"{turn}"}
            messages.append(user(result))
        received = twin.requests
    assert [request.extends for request in received] == [None, 0, 1]
    assert [request.tokens_cached for request in received[1:]] == [request.tokens for request in received[:2]]


def test_a_changed_message_breaks_the_prefix_behind_it() -> None:
    with Twin() as twin:
        ask(twin, [user(text(LONG, **MARK), text("a"))])
        ask(twin, [user(text(LONG + "!", **MARK), text("a"))])
        received = twin.requests
    assert (received[1].tokens_cached, received[1].tokens_shared, received[1].extends) == (0, 0, None)


@pytest.mark.parametrize(
    ("change", "shared"),
    [({"system": "Other."}, False), ({"tool_choice": {"type": "any"}}, False), ({"metadata": {}}, True)],
)
def test_what_invalidates_the_cache_of_messages_is_told_apart(change: dict[str, Any], shared: bool) -> None:
    """The provider's page on prompt caching: system, tool choice and thinking invalidate messages."""
    marked = [user(text(LONG, **MARK))]
    with Twin() as twin:
        ask(twin, marked, system="Be brief.")
        ask(twin, marked, **{"system": "Be brief.", **change})
        assert (twin.requests[1].tokens_cached > 0) is shared


def test_a_cold_cache_reads_nothing_of_an_unbroken_prefix() -> None:
    with Twin() as twin:
        ask(twin, [user(text(LONG, **MARK))])
        twin.expire_cache()
        ask(twin, [user(text(LONG, **MARK))])
        assert (twin.requests[1].tokens_cached, twin.requests[1].extends) == (0, 0)


def test_another_model_has_a_cache_of_its_own() -> None:
    with Twin() as twin:
        ask(twin, [user(text(LONG, **MARK))])
        ask(twin, [user(text(LONG, **MARK))], model="claude-opus-5")
        assert twin.requests[1].tokens_cached == 0


def thought(twin: Twin, **more: Any) -> dict[str, Any]:
    """A thinking block that the twin made."""
    block: dict[str, Any] = ask(twin, "hi", **more).body["content"][0]
    return block


def back(block: dict[str, Any], *, question: str = "hi") -> list[Any]:
    """A conversation in which a thinking block comes back."""
    said = {"role": "assistant", "content": [block, text("Hello.")]}
    return [{"role": "user", "content": question}, said, {"role": "user", "content": "go on"}]


def test_signed_thinking_comes_back_as_it_went() -> None:
    with Twin(
        replies=[Answer(thinking="hm", text="x"), "ok", Answer(thinking="x", redacted=True), "ok"]
    ) as twin:
        assert ask(twin, back(thought(twin))).status == 200
        assert ask(twin, back(thought(twin))).status == 200


def test_thinking_that_was_touched_is_refused() -> None:
    """anthropics/claude-code#13479; the last answer and an older one are refused in different words."""
    with Twin(replies=[Answer(thinking="hm", text="x")]) as twin:
        touched = {**thought(twin), "thinking": "hm!"}
        newest = ask(twin, back(touched))
        older = ask(
            twin, [*back(touched), {"role": "assistant", "content": "y"}, {"role": "user", "content": "z"}]
        )
        foreign = ask(twin, back({"type": "thinking", "thinking": "hm", "signature": "QUJD"}))
    assert "in the latest assistant message cannot be modified" in newest.message
    assert older.message == "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert foreign.message == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_thinking_may_be_bound_to_its_conversation() -> None:
    """anomalyco/opencode#48637: after a fold in front of it, signed thinking is refused, or dropped where the client asks."""
    drop = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}}
    with Twin(replies=endless(Answer(thinking="hm", text="x")), binds_thinking=True) as twin:
        block = thought(twin)
        assert ask(twin, back(block)).status == 200
        moved = ask(twin, back(block, question="[folded]"))
        dropped = ask(twin, back(block, question="[folded]"), beta=BINDING_BETA, **drop)
        tokens = [request.tokens for request in twin.requests]
    assert moved.status == 400
    assert "The block is bound to a different conversation" in moved.message
    assert dropped.body["input_transformations"] == [
        {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}
    ]
    assert tokens[3] > 0


def test_input_and_wanted_output_must_fit_together_unless_the_beta_is_asked_for() -> None:
    """E002 of the recorded errors, and stop reason `model_context_window_exceeded`."""
    with Twin(replies=["word " * 500] * 2, window=2_000) as twin:
        tight = ask(twin, LONG, max_tokens=1_000)
        lenient = ask(twin, LONG, max_tokens=1_000, beta=WINDOW_BETA).body
        tokens = twin.requests[0].tokens
    assert f"exceed context limit: {tokens} + 1000 > 2000" in tight.message
    assert lenient["stop_reason"] == "model_context_window_exceeded"
    assert lenient["usage"]["output_tokens"] <= 2_000 - tokens


def test_counting_says_what_a_request_would_cost() -> None:
    with Twin() as twin:
        body = {"model": CLAUDE, "messages": [user(text(LONG))], "system": "Be brief."}
        counted = send(twin, "/v1/messages/count_tokens", body).body
        ask(twin, body["messages"], system="Be brief.")
        assert counted == {"input_tokens": twin.requests[1].tokens}


def test_an_answer_is_cut_at_the_output_cap() -> None:
    with Twin(replies=["one two three four five six"]) as twin:
        answer = ask(twin, "hi", max_tokens=3).body
    assert answer["stop_reason"] == "max_tokens"
    assert answer["usage"]["output_tokens"] <= 3


def test_an_image_costs_tokens() -> None:
    from tests.testing.judges.samples import image

    with Twin() as twin:
        ask(twin, [user(text("what is this?"))])
        ask(twin, [user(text("what is this?"), image())])
        assert twin.requests[1].tokens > twin.requests[0].tokens
