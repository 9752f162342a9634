"""Context editing and compaction by Anthropic's service: what the model then sees, what the answer says of it, which block is
taken back and which is refused by its error code."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.testing.twin import Answer, Twin
from foldline.testing.twin.anthropic_edits import (
    CLEARED,
    ON_DEMAND_BETA,
    after_compaction,
    block_of,
)
from foldline.wire.native import CLEARING_BETA, THRESHOLD_BETA
from tests.testing.twin.client import CLAUDE, Back, ask, send

DEMAND = {"compaction": {"type": "summarize"}}


def called(count: int, *, name: str = "ls", words: str = "word " * 50) -> list[Any]:
    """A conversation with so many calls, each answered."""
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for at in range(count):
        call = {"type": "tool_use", "id": f"t{at}", "name": name, "input": {"path": f"src/{at}"}}
        messages.append({"role": "assistant", "content": [call]})
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{at}", "content": words}]}
        )
    return messages


def clearing(**more: Any) -> dict[str, Any]:
    """A request's context management with one clearing of tool uses."""
    return {"context_management": {"edits": [{"type": "clear_tool_uses_20250919", **more}]}}


def uses(count: int) -> dict[str, Any]:
    return {"type": "tool_uses", "value": count}


def applied(back: Back) -> Any:
    assert back.status == 200, back.data
    return back.body["context_management"]["applied_edits"]


def test_old_results_are_cleared_once_the_trigger_is_passed() -> None:
    """SDK types/beta/beta_clear_tool_uses_20250919_edit_param.py; the newest three stay by default."""
    with Twin() as twin:
        ask(twin, called(6))
        below = applied(ask(twin, called(6), beta=CLEARING_BETA, **clearing(trigger=uses(6))))
        (edit,) = applied(ask(twin, called(6), beta=CLEARING_BETA, **clearing(trigger=uses(5))))
        whole, _, cleared = (request.tokens for request in twin.requests)
    assert below == []
    assert (edit["type"], edit["cleared_tool_uses"]) == ("clear_tool_uses_20250919", 3)
    assert whole - cleared == edit["cleared_input_tokens"] > 0


def test_a_clearing_keeps_what_it_is_told_to() -> None:
    with Twin() as twin:
        kept = clearing(trigger=uses(1), keep=uses(5))
        (edit,) = applied(ask(twin, called(6), beta=CLEARING_BETA, **kept))
        spared = applied(
            ask(twin, called(6), beta=CLEARING_BETA, **clearing(trigger=uses(1), exclude_tools=["ls"]))
        )
    assert edit["cleared_tool_uses"] == 1
    assert spared == []


def test_a_clearing_that_frees_too_little_is_not_made() -> None:
    """It would break the cache for nothing: `clear_at_least`."""
    least = {"type": "input_tokens", "value": 100_000}
    with Twin() as twin:
        assert (
            applied(
                ask(twin, called(6), beta=CLEARING_BETA, **clearing(trigger=uses(1), clear_at_least=least))
            )
            == []
        )


@pytest.mark.parametrize("inputs", [True, ["ls"]])
def test_inputs_may_be_cleared_too(inputs: Any) -> None:
    with Twin() as twin:
        plain = applied(ask(twin, called(6), beta=CLEARING_BETA, **clearing(trigger=uses(1))))
        more = applied(
            ask(twin, called(6), beta=CLEARING_BETA, **clearing(trigger=uses(1), clear_tool_inputs=inputs))
        )
    assert more[0]["cleared_input_tokens"] > plain[0]["cleared_input_tokens"]


def test_a_clearing_breaks_the_cache_from_there_on() -> None:
    """The provider's page on context editing: clearing invalidates the cached prefix at that point."""
    long = called(6, words="word " * 500)
    mark: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
    with Twin() as twin:
        ask(twin, long, **mark)
        ask(twin, long, **mark)
        ask(twin, long, beta=CLEARING_BETA, **clearing(trigger=uses(1)), **mark)
        _, warm, broken = twin.requests
    assert warm.tokens_cached == warm.tokens
    assert broken.tokens_cached == 0
    assert broken.extends is None


def test_old_thinking_is_cleared_by_turns() -> None:
    on = {"thinking": {"type": "adaptive"}}
    keep: list[tuple[Any, int]] = [({"type": "thinking_turns", "value": 1}, 1), ("all", 0)]
    with Twin(
        replies=[Answer(thinking="hm " * 50, text="a"), Answer(thinking="so " * 50, text="b")] + ["ok"] * 2
    ) as twin:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        for _ in range(2):
            messages.append({"role": "assistant", "content": ask(twin, messages).body["content"]})
            messages.append({"role": "user", "content": "more"})
        for kept, turns in keep:
            edits = {"edits": [{"type": "clear_thinking_20251015", "keep": kept}]}
            found = applied(ask(twin, messages, beta=CLEARING_BETA, context_management=edits, **on))
            assert [edit["cleared_thinking_turns"] for edit in found] == [1] * turns


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ([{"type": "clear_all"}], "does not match any of the expected tags"),
        ([{"type": "clear_tool_uses_20250919"}] * 2, "only once"),
        ([{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}], "must be first"),
        ([{"type": "clear_thinking_20251015"}], "requires `thinking` to be enabled"),
    ],
)
def test_edits_that_cannot_be_are_refused(edits: list[Any], words: str) -> None:
    with Twin() as twin:
        back = ask(twin, "hi", beta=CLEARING_BETA, context_management={"edits": edits})
    assert back.status == 400
    assert words in back.message


def test_counting_says_what_there_was_before_the_edits() -> None:
    body = {"model": CLAUDE, "messages": called(6), **clearing(trigger=uses(1))}
    with Twin() as twin:
        counted = send(twin, "/v1/messages/count_tokens", body, {"anthropic-beta": CLEARING_BETA}).body
        ask(twin, called(6))
        assert counted["context_management"]["original_input_tokens"] == twin.requests[1].tokens
        assert counted["input_tokens"] < twin.requests[1].tokens


def threshold(value: int, **more: Any) -> dict[str, Any]:
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": value}, **more}
    return {"context_management": {"edits": [edit]}, "beta": THRESHOLD_BETA}


def test_a_compaction_at_its_threshold_comes_as_a_block_before_the_answer() -> None:
    """SDK types/beta/beta_compact_20260112_edit_param.py; its cost stands in `iterations` alone."""
    with Twin(replies=["Goes on."], summaries=["What was done."]) as twin:
        answer = ask(twin, called(6), **threshold(100)).body
    block, text = answer["content"]
    assert (block["type"], block["content"], text["text"]) == ("compaction", "What was done.", "Goes on.")
    compaction, message = answer["usage"]["iterations"]
    assert (compaction["type"], message["type"]) == ("compaction", "message")
    assert message["input_tokens"] == answer["usage"]["input_tokens"] < compaction["input_tokens"]
    assert answer["context_management"] == {"applied_edits": []}


def test_below_its_threshold_nothing_is_compacted() -> None:
    with Twin() as twin:
        answer = ask(twin, called(6), **threshold(100_000)).body
    assert [block["type"] for block in answer["content"]] == ["text"]
    assert "iterations" not in answer["usage"]


def test_what_stands_before_a_block_is_dropped_by_the_server() -> None:
    with Twin(replies=["Goes on.", "ok"], summaries=["What was done."]) as twin:
        messages = called(6)
        answer = ask(twin, messages, **threshold(100)).body
        messages += [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "more"}]
        ask(twin, messages, **threshold(100_000))
        assert twin.requests[1].tokens < 40


def test_a_pause_hands_the_turn_back() -> None:
    with Twin(replies=["Goes on."]) as twin:
        answer = ask(twin, called(6), **threshold(100, pause_after_compaction=True)).body
    assert [block["type"] for block in answer["content"]] == ["compaction"]
    assert answer["stop_reason"] == "compaction"


def test_a_failed_compaction_is_a_block_without_content_and_no_more() -> None:
    with Twin(replies=["Goes on.", "ok"], summaries=[None]) as twin:
        answer = ask(twin, called(6), **threshold(100)).body
        again = [
            *called(6),
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": "x"},
        ]
        assert ask(twin, again, **threshold(100_000)).status == 200
    assert answer["content"][0]["content"] is None


def demanded(twin: Twin, messages: list[Any]) -> dict[str, Any]:
    """The answer to a compaction on demand."""
    answer: dict[str, Any] = ask(twin, messages, beta=ON_DEMAND_BETA, **DEMAND).body
    return answer


def test_a_compaction_on_demand_is_the_block_alone() -> None:
    """SDK types/beta/beta_compaction_config_param.py; no step of the script is taken."""
    with Twin(replies=["after"], summaries=["What was done."]) as twin:
        answer = demanded(twin, called(2))
        (block,) = answer["content"]
        after = [{"role": "assistant", "content": [block]}, {"role": "user", "content": "more"}]
        assert ask(twin, after, beta=ON_DEMAND_BETA).body["content"][0]["text"] == "after"
    assert (answer["stop_reason"], block["content"]) == ("compaction", "What was done.")
    assert answer["usage"]["iterations"][0]["type"] == "compaction"


BLOCK = block_of("What was done.")
FIRST = {"role": "assistant", "content": [BLOCK]}
USER = {"role": "user", "content": "more"}


def with_block(**changes: Any) -> list[Any]:
    return [{"role": "assistant", "content": [{**BLOCK, **changes}]}, USER]


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (with_block(signature="QUJD"), "compaction_signature_invalid"),
        (with_block(signature=None), "compaction_signature_invalid"),
        (with_block(content="Something else."), "compaction_content_mismatch"),
        (with_block(tool_changes=[{"type": "tool_removal"}]), "compaction_tool_changes_mismatch"),
        ([FIRST, USER, FIRST, USER], "compaction_block_ambiguous"),
        ([USER, FIRST, USER], "compaction_block_misplaced"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "x"}, BLOCK]}, USER], None),
    ],
)
def test_a_block_that_is_not_as_it_was_given_out_is_refused_by_code(
    messages: list[Any], code: str | None
) -> None:
    """SDK types/compaction_*_error_details.py: the typed 400s."""
    with Twin() as twin:
        back = ask(twin, messages, beta=ON_DEMAND_BETA)
    assert back.status == 400
    assert back.body["error"].get("details", {}).get("error_code") == code


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([FIRST], "compaction_nothing_to_summarize"),
        (called(1)[:2], None),
    ],
)
def test_a_conversation_that_cannot_be_compacted_is_refused_by_code(
    messages: list[Any], code: str | None
) -> None:
    with Twin() as twin:
        back = ask(twin, messages, beta=ON_DEMAND_BETA, **DEMAND)
    assert back.status == 400
    assert back.body["error"].get("details", {}).get("error_code") == code


def test_native_compaction_and_context_management_exclude_each_other() -> None:
    with Twin() as twin:
        beta = f"{ON_DEMAND_BETA},{CLEARING_BETA}"
        assert "cannot be combined" in ask(twin, "hi", beta=beta, **DEMAND, **clearing()).message
        assert "expected tags" in ask(twin, [FIRST, USER]).message
        empty = ask(twin, with_block(content=""), beta=ON_DEMAND_BETA)
    assert "must not be empty" in empty.message


def test_a_stream_carries_a_compaction() -> None:
    """SDK types/beta/beta_compaction_content_block_delta.py."""
    with Twin(summaries=["What was done."]) as twin:
        events = ask(twin, called(2), beta=ON_DEMAND_BETA, stream=True, **DEMAND).events
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert [(delta["type"], delta["content"]) for delta in deltas] == [("compaction_delta", "What was done.")]
    assert events[-2]["delta"]["stop_reason"] == "compaction"


def test_the_last_block_with_a_content_counts() -> None:
    failed = {"role": "assistant", "content": [block_of(None), {"type": "text", "text": "x"}]}
    assert after_compaction([USER, FIRST, USER, failed]) == [
        FIRST,
        USER,
        {"role": "assistant", "content": failed["content"][1:]},
    ]
    assert CLEARED
