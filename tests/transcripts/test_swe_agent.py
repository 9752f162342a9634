"""SWE-agent trajectories: calls by id in newer files, by position in older ones."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from foldline.core.message import calls_of, result_text, speaks_for_user
from foldline.transcripts import detect
from foldline.transcripts.swe_agent import READER
from tests.transcripts.data import DATA, calls_in, read_one, results_in

NEWER = DATA / "swe-agent/marshmallow-function-calling.traj"
OLDER = DATA / "swe-agent/pydicom-1458-gpt4.traj"


def traj(*history: Mapping[str, object], **more: object) -> dict[str, object]:
    return {"trajectory": [{"action": "x", "observation": "y"}], "history": history, **more}


def test_both_generations_are_recognised_by_content() -> None:
    """Formats are recognised by content, never by name."""
    assert detect.recognise(NEWER.read_bytes()[:65536]) == "swe-agent"
    assert detect.recognise(OLDER.read_bytes()[:65536]) == "swe-agent"


def test_a_newer_file_pairs_by_ids_and_reuses_one_in_a_later_round() -> None:
    """Counted by a script of its own: 24 messages, 11 calls, all answered."""
    found = read_one(READER, NEWER)
    assert (len(found.messages), len(calls_in(found)), len(results_in(found))) == (24, 11, 11)
    assert [c.id for c in calls_in(found)] == [r.call_id for r in results_in(found)]
    assert found.model == "gpt-4o"
    assert [m.role for m in found.messages[:4]] == ["system", "user", "assistant", "tool"]


def test_a_newer_file_says_that_its_model_saw_less() -> None:
    """Elision happens when the prompt is made, not in the file."""
    (note,) = read_one(READER, NEWER).notes
    assert "last 5 observations" in note


def test_an_older_file_pairs_by_position_and_finds_its_last_observation_in_the_trajectory() -> None:
    """26 messages, 12 actions; the observation of `submit` is not in the history, and not lost: what it came to says that
    it was submitted."""
    found = read_one(READER, OLDER)
    assert (len(found.messages), len(calls_in(found)), len(results_in(found))) == (27, 12, 12)
    assert "diff --git a/pydicom/pixel_data_handlers" in result_text(results_in(found)[-1])
    first = calls_in(found)[0]
    assert (first.name, json.loads(first.arguments)) == ("create", {"command": "create reproduce_bug.py\n"})
    assert not first.wire_id
    assert results_in(found)[0].call_id == first.id
    assert "[File: /pydicom__pydicom/reproduce_bug.py" in result_text(results_in(found)[0])


@pytest.mark.parametrize("last", [{"action": "pwd", "observation": "/"}, {"action": "ls\n"}, {}, None])
def test_a_trajectory_that_ends_elsewhere_gives_the_last_action_no_result(last: object) -> None:
    entry = {"role": "assistant", "content": "hm", "thought": "hm", "action": "ls\n"}
    document = {"history": [{"role": "user", "content": "go"}, entry], "trajectory": [last]}
    assert results_in(read_one(READER, document)) == []


def test_an_older_file_loses_no_word_of_the_assistant() -> None:
    """The content is thought and action in a fence; both must be told, once."""
    raw = json.loads(OLDER.read_bytes())["history"]
    said = [entry for entry in raw if entry["role"] == "assistant"]
    found = [message for message in read_one(READER, OLDER).messages if message.role == "assistant"]
    for entry, message in zip(said, found, strict=True):
        (call,) = calls_of(message)
        left = entry["content"].replace(message.text, "", 1)
        assert left.replace("`", "").strip() == json.loads(call.arguments)["command"].strip()


def test_a_demonstration_is_read_but_nobody_said_it() -> None:
    """The model saw it; it is no wish of a user."""
    found = read_one(READER, OLDER)
    users = [message for message in found.messages if message.role == "user"]
    assert [speaks_for_user(message) for message in users] == [False, True]
    assert users[0].text.startswith("Here is a demonstration")


def test_content_that_says_more_than_thought_and_action_is_kept_whole() -> None:
    """Nothing said may be lost to a tidy split."""
    entry = {
        "role": "assistant",
        "content": "DISCUSSION hm\n```\nls\n```\nbye",
        "thought": "hm",
        "action": "ls\n",
    }
    found = read_one(
        READER, traj({"role": "user", "content": "go"}, entry, {"role": "user", "content": "a.py"})
    )
    assert found.messages[1].text == entry["content"]
    assert [m.role for m in found.messages] == ["user", "assistant", "tool"]


def test_another_agents_entries_are_left_out_and_counted() -> None:
    """`history` may hold several agents' prompts; the first one's is the conversation."""
    found = read_one(
        READER,
        traj(
            {"role": "user", "content": "go", "agent": "main"},
            {"role": "user", "content": "sub", "agent": "reviewer"},
        ),
    )
    assert len(found.messages) == 1
    assert found.skipped == (("agent reviewer", 1),)


def test_an_observation_for_several_calls_answers_each_of_them() -> None:
    """Providers refuse a call without a result (law PAIR)."""
    calls = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in "ab"]
    found = read_one(
        READER,
        traj(
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "content": "both", "tool_call_ids": ["a", "b"]},
        ),
    )
    assert [(r.call_id, result_text(r)) for r in results_in(found)] == [("a", "both"), ("b", "")]
