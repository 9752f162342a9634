"""ATIF trajectories: steps read as the messages they stand for."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.errors import InvalidTranscript
from foldline.core.message import Media, Reasoning, Text, Usage, result_text, speaks_for_user
from foldline.transcripts import detect
from foldline.transcripts.atif import READER
from foldline.transcripts.source import open_source
from tests.transcripts.data import bytes_of, calls_in, read_one, results_in

CALL = {"tool_call_id": "c1", "function_name": "now", "arguments": {"tz": "UTC"}}
STEPS: list[dict[str, Any]] = [
    {"step_id": 1, "source": "system", "message": "be kind"},
    {"step_id": 2, "source": "user", "message": "What time is it?"},
    {
        "step_id": 3,
        "source": "agent",
        "message": "Let me check.",
        "reasoning_content": "a clock",
        "tool_calls": [CALL],
        "observation": {"results": [{"source_call_id": "c1", "content": "noon"}]},
        "metrics": {"prompt_tokens": 120, "completion_tokens": 18, "cached_tokens": 20},
    },
    {"step_id": 4, "source": "agent", "message": "Noon."},
]


def trajectory(*steps: dict[str, Any], version: str = "ATIF-v1.8", **more: Any) -> dict[str, Any]:
    agent = {"name": "a", "version": "1", "model_name": "m", "tool_definitions": [{"type": "function"}]}
    return {"schema_version": version, "session_id": "s", "agent": agent, "steps": steps, **more}


def test_a_trajectory_is_recognised_by_its_version() -> None:
    """Formats are recognised by content."""
    assert detect.recognise(bytes_of(trajectory(*STEPS))) == "atif"


def test_steps_become_messages_and_results_follow_their_step() -> None:
    """One agent step is a whole round."""
    found = read_one(READER, trajectory(*STEPS))
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert found.messages[2].parts[0] == Reasoning(text="a clock", slot=0)
    assert [(c.id, c.name, c.arguments) for c in calls_in(found)] == [("c1", "now", '{"tz":"UTC"}')]
    assert [(r.call_id, r.name, result_text(r)) for r in results_in(found)] == [("c1", "now", "noon")]
    assert (found.id, found.model, found.tools) == ("s", "m", b'[{"type":"function"}]')
    assert found.usage == Usage(tokens_input=120, tokens_output=18, tokens_cache_read=20)
    assert found.usage_at == 2


def test_metrics_of_copied_steps_are_not_trusted() -> None:
    """They measured the trajectory the steps came from (requirement TOK-3)."""
    copied = [{**step, "is_copied_context": True} for step in STEPS]
    found = read_one(READER, trajectory(*copied))
    assert len(found.messages) == 5
    assert found.usage is None


def test_an_observation_of_no_call_is_the_environments_and_not_the_users() -> None:
    """Agents without tool calling act through their text."""
    step = {"source": "agent", "message": "ls", "observation": {"results": [{"content": "a.py"}]}}
    found = read_one(READER, trajectory({"source": "user", "message": "go"}, step))
    assert [(m.role, m.text) for m in found.messages] == [
        ("user", "go"),
        ("assistant", "ls"),
        ("user", "a.py"),
    ]
    assert [speaks_for_user(m) for m in found.messages] == [True, False, False]


def test_images_and_references_to_sub_agents_are_read() -> None:
    """ATIF 1.6 and 1.7: content parts, and results that only point to another trajectory."""
    image = {"type": "image", "source": {"media_type": "image/png", "path": "shots/1.png"}}
    delegated = {"source_call_id": "c1", "subagent_trajectory_ref": [{"trajectory_id": "t9"}]}
    found = read_one(
        READER,
        trajectory(
            {"source": "user", "message": [{"type": "text", "text": "see"}, image]},
            {"source": "agent", "message": "", "tool_calls": [CALL], "observation": {"results": [delegated]}},
            subagent_trajectories=[trajectory(*STEPS, trajectory_id="t9")],
        ),
    )
    picture = Media(kind="image", mime="image/png", url="shots/1.png", slot=1)
    assert found.messages[0].parts == (Text(text="see", slot=0), picture)
    assert result_text(results_in(found)[0]) == "[sub-agent trajectory t9]"
    assert found.skipped == (("subagent_trajectories", 1),)


def test_earlier_versions_are_read_and_another_major_is_refused() -> None:
    """Old files load for ever; a later major may mean anything."""
    assert len(read_one(READER, trajectory(*STEPS, version="ATIF-v1.2")).messages) == 5
    with pytest.raises(InvalidTranscript, match=r"ATIF-v2\.0.*convert"):
        READER.read(open_source(bytes_of(trajectory(*STEPS, version="ATIF-v2.0"))))


@pytest.mark.parametrize(
    "step",
    [
        {"source": "robot", "message": "x"},
        {"source": "user", "message": "x", "extra": {"foldline": {"parts": [[0, {"part": "song"}]]}}},
        {
            "source": "agent",
            "message": "x",
            "observation": {"results": [{"source_call_id": "c", "extra": {"foldline": {"parts": [1]}}}]},
        },
    ],
)
def test_a_step_that_makes_no_sense_is_named(step: dict[str, Any]) -> None:
    """What, where, what to do."""
    with pytest.raises(InvalidTranscript, match=r"steps\[1\].*repair or remove"):
        READER.read(open_source(bytes_of(trajectory(STEPS[1], step))))
