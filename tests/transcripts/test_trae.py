"""TRAE trajectories: deltas put together, each response with the context it grew to."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping

from foldline.core.message import Usage, result_text, speaks_for_user
from foldline.transcripts import detect
from foldline.transcripts.source import open_source
from foldline.transcripts.trae import READER
from tests.transcripts.data import DATA, bytes_of, calls_in, read_one, results_in

RECORDED = DATA / "trae/sonnet45-vllm-93e5f3c5-cut.json"


def step(*sent: Mapping[str, object], calls: int = 0, content: str = "", **usage: int) -> dict[str, object]:
    names = [
        {"call_id": f"c{n}", "name": "bash", "arguments": {"command": "ls"}, "id": None} for n in range(calls)
    ]
    return {"input_messages": sent, "response": {"content": content, "usage": usage, "tool_calls": names}}


def test_a_recorded_run_is_the_concatenation_of_its_deltas() -> None:
    """23 calls; what the last one came to was never sent."""
    found = read_one(READER, RECORDED)
    assert (len(found.messages), len(calls_in(found)), len(results_in(found))) == (48, 23, 22)
    assert [c.id for c in calls_in(found)][:-1] == [r.call_id for r in results_in(found)]
    assert (found.model, found.wire) == ("claude-sonnet-4-5-20250929", "anthropic")
    assert [m.role for m in found.messages[:5]] == ["system", "system", "user", "assistant", "tool"]


def test_what_the_last_calls_came_to_is_taken_from_the_step_that_made_them() -> None:
    """It was sent to nobody any more, and is what the next one needs to know: that the command failed and said nothing."""
    told = {"call_id": "c0", "success": False, "result": "", "error": "", "id": None}
    document = {
        "task": "t",
        "llm_interactions": [step({"role": "user", "content": "q"}, calls=1)],
        "agent_steps": [{"tool_results": [told]}, {"tool_results": None, "error": "400"}],
    }
    (result,) = results_in(read_one(READER, document))
    assert (result.call_id, result.is_error, result_text(result)) == ("c0", True, "")
    assert results_in(read_one(READER, document | {"agent_steps": [{"tool_results": []}]})) == []
    odd = [{"tool_results": [{"call_id": ["c0"]}, {"call_id": None}]}]
    assert results_in(read_one(READER, document | {"agent_steps": odd})) == []


def test_every_response_has_its_usage_and_the_context_only_grows() -> None:
    """Requirement TOK-3: a real curve of what each request held."""
    found = read_one(READER, RECORDED)
    curve = [
        m.meta.usage.tokens_input for m in found.messages if m.meta is not None and m.meta.usage is not None
    ]
    assert len(curve) == 23
    assert curve == sorted(curve)
    assert found.usage == Usage(tokens_input=27_478, tokens_output=156)
    assert found.usage_at == 47


def test_the_rule_for_cached_tokens_is_the_providers() -> None:
    """Requirement TOK-4: Anthropic counts them beside the input, OpenAI inside."""
    one = step(
        {"role": "user", "content": "q"},
        content="a",
        input_tokens=10,
        output_tokens=1,
        cache_read_input_tokens=7,
    )
    for provider, tokens in (("anthropic", 17), ("openai", 10)):
        found = read_one(READER, {"task": "t", "provider": provider, "llm_interactions": [one]})
        assert found.usage is not None
        assert found.usage.tokens_input == tokens


def test_a_failed_result_is_an_error_and_keeps_both_streams() -> None:
    """`success` alone says so: warnings on the error stream of a success are no failure."""
    failed = {"call_id": "c0", "success": False, "result": "out", "error": "Traceback", "id": None}
    warned = {"call_id": "c1", "success": True, "result": "out", "error": "warning", "id": None}
    found = read_one(
        READER,
        {
            "task": "t",
            "llm_interactions": [
                step({"role": "user", "content": "q"}, calls=2),
                step(*({"role": "user", "content": None, "tool_result": told} for told in (failed, warned))),
            ],
        },
    )
    assert [(r.is_error, result_text(r)) for r in results_in(found)] == [
        (True, "out\nTraceback"),
        (False, "out\nwarning"),
    ]


def test_reminders_of_the_host_are_not_taken_for_the_user() -> None:
    """After the first request every user text is the host's; the task is the only wish."""
    found = read_one(
        READER,
        {
            "task": "t",
            "llm_interactions": [
                step({"role": "user", "content": "the task"}, content="a"),
                step({"role": "user", "content": "<system-reminder>use task_done"}, content="b"),
            ],
        },
    )
    assert [m.text for m in found.messages if speaks_for_user(m)] == ["the task"]


def test_a_trajectory_is_recognised_behind_a_task_longer_than_the_head() -> None:
    """`task` is the first key and may be long."""
    data = bytes_of(
        {"task": "x" * 70_000, "start_time": "", "llm_interactions": [step({"role": "user", "content": "q"})]}
    )
    assert detect.recognise(data[:65_536]) == "trae"
    assert detect.recognise(RECORDED.read_bytes()[:65_536]) == "trae"


def test_reading_a_large_trajectory_takes_less_than_three_times_its_size() -> None:
    """A single document is cut into slices; what repeats the conversation (`agent_steps`) is never built."""
    steps = [step({"role": "user", "content": "word " * 2_000}, content="word " * 200) for _ in range(400)]
    data = bytes_of({"task": "t", "llm_interactions": steps, "agent_steps": steps})
    tracemalloc.start()
    found = READER.read(open_source(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found[0].messages) == 800
    assert peak + len(data) < 3 * len(data)
