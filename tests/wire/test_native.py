"""What a provider's own service does: the values that ask for it do what they say at the provider twin, and blocks of its
compactions pass byte for byte and in their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

import foldline
from foldline.testing.judges import anthropic
from foldline.testing.twin import Answer, Call, Twin
from foldline.testing.twin.anthropic_edits import ON_DEMAND_BETA, block_of
from foldline.wire import native
from foldline.wire.body import read_body, write_body
from tests.testing.twin.client import CLAUDE, GPT, Back, send

MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
THINKING: dict[str, Any] = {
    "type": "clear_thinking_20251015",
    "keep": {"type": "thinking_turns", "value": 1},
}
TRIGGER = {"type": "compaction_trigger"}


def ask(twin: Twin, messages: list[Any], asked: native.Asked, **more: Any) -> Back:
    """A request to the twin with what is asked of the service."""
    body = {"model": CLAUDE, "max_tokens": 1_000, "messages": messages, **more, **asked.body}
    return send(twin, "/v1/messages", body, {"anthropic-beta": ",".join(asked.betas)} if asked.betas else {})


def called(count: int, name: str = "read_file") -> list[Any]:
    """A conversation with so many calls, each answered."""
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for at in range(count):
        call = {"type": "tool_use", "id": f"t{at}", "name": name, "input": {"path": f"src/{at}.py"}}
        messages.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": f"line {at} " * 40}
        messages.append({"role": "user", "content": [result]})
    return messages


def cascade(calls: int, **more: Any) -> dict[str, Any] | None:
    """The clearing of the document's numbers: at 50 calls, then every 25; the newest five stay."""
    return native.Clearing(first_calls=50, every_calls=25, keep_results=5, **more).edit(calls)


@pytest.mark.parametrize(
    ("calls", "cleared"), [(49, 0), (50, 45), (51, 45), (74, 45), (75, 70), (99, 70), (100, 95), (101, 95)]
)
def test_the_service_clears_at_the_documents_counts_and_no_more(calls: int, cleared: int) -> None:
    """MIC-3 by MIC-2's counts and MIC-8's five; the local messages are unchanged."""
    messages = called(calls)
    before = json.dumps(messages)
    with Twin() as twin:
        response = ask(twin, messages, native.managed([cascade(calls)])).body
    assert native.done(response).tool_uses_cleared == cleared
    assert json.dumps(messages) == before


def test_a_clearing_breaks_the_prompt_cache_once_a_count() -> None:
    """MIC-3, ours (price): between two counts the same results stay cleared, so that the prefix holds."""
    with Twin(cache_tokens_min=1) as twin:
        for calls in range(48, 78):
            messages, asked = called(calls), native.managed([cascade(calls)])
            assert ask(twin, messages, asked, **MARK).status == 200
        broken = [
            calls
            for calls, received in zip(range(48, 78), twin.requests, strict=True)
            if received.extends is None
        ]
    assert broken == [48, 50, 75]  # the first request has nothing to extend


def test_a_clearing_leaves_out_the_tools_it_is_told_to_and_is_not_made_for_little() -> None:
    """MIC-3: `exclude_tools`, `clear_at_least`."""
    with Twin() as twin:
        spared = ask(twin, called(50), native.managed([cascade(50, excluded=("read_file",))])).body
        little = ask(twin, called(50), native.managed([cascade(50, tokens_least=1_000_000)])).body
        enough = ask(twin, called(50), native.managed([cascade(50, tokens_least=100)])).body
    assert native.done(spared) == native.done(little) == native.Done()
    assert native.done(enough).tokens_cleared >= 100


def test_of_a_session_whose_oldest_calls_left_the_view_the_rest_are_cleared_at_the_same_counts() -> None:
    """MIC-3 and MIC-2: due by the session's calls, and of those that the request shows all but the newest five."""
    clearing = native.Clearing(first_calls=50, every_calls=25, keep_results=5)
    with Twin() as twin:
        for calls, shown, cleared in ((75, 30, 25), (80, 35, 25), (99, 54, 25), (49, 49, 0), (60, 9, 0)):
            edit = clearing.edit(calls, shown=shown)
            response = ask(twin, called(shown), native.managed([edit])).body
            assert native.done(response).tool_uses_cleared == cleared, (calls, shown)


def test_edits_are_put_in_the_order_that_the_service_demands() -> None:
    edits = [native.compacting_at(150_000), cascade(50), THINKING, None]
    asked = native.managed(edits)
    kinds = [edit["type"] for edit in asked.body["context_management"]["edits"]]
    assert kinds == ["clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"]
    assert asked.betas == (native.CLEARING_BETA, native.THRESHOLD_BETA)
    with Twin() as twin:
        assert ask(twin, called(50), asked, thinking={"type": "adaptive"}).status == 200
    assert native.managed([None]) == native.Asked(body={})
    assert native.managed([native.compacting_at(9)]).betas == (native.THRESHOLD_BETA,)


def test_a_compaction_at_a_threshold_is_asked_for_and_counted() -> None:
    edit = native.compacting_at(1_000) | {"instructions": "Keep paths.", "pause_after_compaction": True}
    with Twin(summaries=["What was done.", None]) as twin:
        paused = ask(twin, called(20), native.managed([edit])).body
        failed = ask(twin, called(20), native.managed([native.compacting_at(1_000)])).body
    assert (paused["stop_reason"], native.done(paused).compactions) == ("compaction", 1)
    assert (native.done(failed).compactions, native.done(failed).failed) == (0, 1)


def test_openai_compacts_at_a_threshold_and_by_a_trigger() -> None:
    items = [{"role": "user", "content": "word " * 500}]
    with Twin() as twin:
        asked = native.responses_compacting_at(100)
        at = send(twin, "/v1/responses", {"model": GPT, "input": items, **asked.body}).body
        by = send(twin, "/v1/responses", {"model": GPT, "input": [*items, TRIGGER]}).body
    assert native.done(at).compactions == native.done(by).compactions == 1
    assert native.done({"output": [{"type": "message"}]}) == native.Done()


def test_an_answer_with_the_services_compaction_is_taken_back_byte_for_byte() -> None:
    """Law LOSSLESS: a block is signed, an item sealed; the codecs keep the bytes of both."""
    with Twin(replies=["Goes on."], summaries=["What was done. ✓"]) as twin:
        answer = ask(twin, called(9), native.managed([native.compacting_at(100)])).body
    block, text = (json.dumps(part, separators=(",", ":")) for part in answer["content"])
    body = b'{"messages":[{"role": "assistant",  "content":[%b, %b]},{"role":"user","content":"more"}]}' % (
        block.encode(),
        text.encode(),
    )
    written = write_body(read_body(body, format="anthropic"))
    assert b'{"role": "assistant",  "content":[%b, %b]}' % (block.encode(), text.encode()) in written


def test_a_compaction_of_the_service_stands_first_and_whole_after_ours() -> None:
    """Laws PIN and ROLE: ours works behind the service's block, which nobody here can write anew."""
    first = {"role": "assistant", "content": [block_of("What was done.")]}
    messages = [first, *called(60)]
    out = foldline.compact(messages, to=2_000, format="anthropic")
    assert out.report.to_dict()["outcome"] == "compacted"
    assert out.messages[0] == first
    assert anthropic.violations({"messages": out.messages}) == []
    with Twin() as twin:
        assert ask(twin, out.messages, native.Asked(body={}, betas=(ON_DEMAND_BETA,))).status == 200


def test_a_sealed_item_of_openai_stays_whole_after_ours() -> None:
    with Twin(replies=[Answer(calls=(Call(name="ls"),))]) as twin:
        items: list[Any] = [{"role": "user", "content": "hi"}]
        (sealed,) = send(twin, "/v1/responses", {"model": GPT, "input": [*items, TRIGGER]}).body["output"]
        for at in range(40):
            call = {"type": "function_call", "call_id": f"c{at}", "name": "ls", "arguments": "{}"}
            items += [sealed] if at == 0 else []
            items += [call, {"type": "function_call_output", "call_id": f"c{at}", "output": "word " * 200}]
        items.append({"role": "user", "content": "go on"})
        out = foldline.compact(items, to=2_000, format="openai-responses")
        assert sealed in out.messages
        assert send(twin, "/v1/responses", {"model": GPT, "input": out.messages}).status == 200
