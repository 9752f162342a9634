"""Writing ATIF 1.8: documents that its own models accept, from which the history can be read again."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from foldline.core.message import (
    Media,
    Message,
    Meta,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    Usage,
    calls_of,
    result_text,
    results_of,
    speaks_for_user,
)
from foldline.testing.builders import assistant, call, result, thinking, user
from foldline.testing.strategies import broken_sessions, sessions
from foldline.transcripts import detect
from foldline.transcripts.atif import READER
from foldline.transcripts.atif_write import WRITER, AtifWriter
from foldline.transcripts.transcript import NewHistory, Transcript
from tests.transcripts.data import DATA, read_one


def written(*messages: Message, writer: AtifWriter = WRITER, **values: Any) -> dict[str, Any]:
    transcript = Transcript(
        **{"format": "pi", "wire": "anthropic", "messages": messages, "id": "s", **values}
    )
    document: dict[str, Any] = json.loads(writer.write(transcript, NewHistory(messages=messages)))
    return document


def told(messages: tuple[Message, ...] | list[Message]) -> list[Any]:
    """What the messages say, whoever's form they are in."""
    out: list[Any] = []
    for message in messages:
        calls = [(c.id, c.name, c.arguments) for c in calls_of(message)]
        results = [(r.call_id, result_text(r), r.is_error) for r in results_of(message)]
        thoughts = [(p.text, p.signature) for p in message.parts if isinstance(p, Reasoning)]
        media = [p.data or p.url for p in message.parts if isinstance(p, Media)]
        out.append((message.role, message.text, thoughts, calls, results, media))
    return out


def accept(document: dict[str, Any]) -> None:
    """Fail unless the real models accept the document; where they are not installed,
    `test_the_real_models_accept_what_is_written_and_refuse_what_is_not` is skipped and says so."""
    if find_spec("atif") is not None:
        import_module("atif").Trajectory.model_validate(document)


ROUND = (
    user("what time?"),
    assistant(thinking("hm", "sig"), "I look", call("now", "c1", tz="UTC"), call("date", "c2")),
    result("c1", "noon"),
    result("c2", "boom", is_error=True),
    assistant("noon"),
)


def test_the_real_models_accept_what_is_written_and_refuse_what_is_not() -> None:
    """The judge is the format's own package (PyPI `atif`), not this project's reading of it."""
    models = pytest.importorskip(
        "atif", reason="the package `atif` is not among the judges; install it to ask it"
    )
    document = written(*ROUND)
    models.Trajectory.model_validate(document)
    document["steps"][1]["observation"]["results"][0]["source_call_id"] = "nobody"
    with pytest.raises(ValueError, match="does not match any tool_call"):
        models.Trajectory.model_validate(document)


def test_results_stand_in_the_observation_of_the_step_that_asked() -> None:
    """Three steps: user, agent with its two results, agent."""
    document = written(*ROUND)
    accept(document)
    assert [step["source"] for step in document["steps"]] == ["user", "agent", "agent"]
    assert [step["step_id"] for step in document["steps"]] == [1, 2, 3]
    results = document["steps"][1]["observation"]["results"]
    assert [(r["source_call_id"], r["content"]) for r in results] == [("c1", "noon"), ("c2", "boom")]
    assert document["schema_version"] == "ATIF-v1.8"
    assert not any("is_copied_context" in step for step in document["steps"])


def test_what_is_written_reads_back_with_signatures_and_errors() -> None:
    """What ATIF has no word for is kept under `extra.foldline`."""
    assert told(read_one(READER, written(*ROUND)).messages) == told(ROUND)


def test_parts_without_a_word_in_atif_come_back_too() -> None:
    """Documents, opaque parts, broken arguments, images in results."""
    document = Media(kind="document", mime="application/pdf", data="JVBE", name="a.pdf")
    image = Media(kind="image", mime="image/png", data="iVBO")
    messages = (
        user("see", document, image, "and"),
        assistant(ToolCall(id="c", name="f", arguments="{broken"), Opaque(type="x", raw=b'{"type":"x"}')),
        result("c", "text", image),
    )
    made = written(*messages)
    accept(made)
    back = read_one(READER, made)
    assert told(back.messages) == told(messages)
    assert back.messages[0].parts[1] == replace(document, slot=1)
    assert any(isinstance(part, Opaque) for part in back.messages[1].parts)


def test_an_id_used_again_in_a_later_round_pairs_by_round() -> None:
    """Real histories count their calls from 0 in every round (law PAIR: by round, never by id alone)."""
    messages = (
        user("q"),
        assistant(call("f", "c0")),
        result("c0", "one"),
        assistant(call("f", "c0")),
        result("c0", "two"),
    )
    steps = written(*messages)["steps"]
    assert [step["observation"]["results"][0]["content"] for step in steps[1:]] == ["one", "two"]


def test_a_result_no_call_asked_for_is_kept_without_a_call() -> None:
    """ATIF demands that a result's call stands in its own step."""
    document = written(user("q"), result("gone", "late"), assistant("a"))
    accept(document)
    assert told(read_one(READER, document).messages) == told(
        (user("q"), result("gone", "late"), assistant("a"))
    )


def test_usage_times_and_models_become_metrics_and_their_sum() -> None:
    """`prompt_tokens` holds cached ones, as `tokens_input` does (requirement TOK-4)."""
    usage = Usage(tokens_input=100, tokens_output=7, tokens_cache_read=60)
    meta = Meta(time_s=0.5, model="m1", usage=usage, id="r1")
    answer = Message(role="assistant", parts=(Text(text="a", slot=0),), meta=meta)
    document = written(user("q"), answer, user("q"), answer)
    accept(document)
    step = document["steps"][1]
    assert step["timestamp"] == "1970-01-01T00:00:00.500000Z"
    assert step["metrics"] == {"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 60}
    assert document["final_metrics"] == {
        "total_steps": 4,
        "total_prompt_tokens": 200,
        "total_completion_tokens": 14,
        "total_cached_tokens": 120,
    }
    back = read_one(READER, document)
    assert (back.usage, back.usage_at) == (usage, 3)


def test_a_compacted_history_is_a_continuation() -> None:
    """Every step was carried over from an earlier trajectory, whose file may point here."""
    fold = Message(role="user", parts=(Text(text="folded"),), synthetic="fold")
    document = written(ROUND[0], fold, *ROUND[1:])
    accept(document)
    assert all(step["is_copied_context"] for step in document["steps"])
    back = read_one(READER, document)
    assert [m.synthetic for m in back.messages[:2]] == [None, "fold"]
    assert not speaks_for_user(back.messages[1])
    before = written(*ROUND, writer=AtifWriter(continued_as="session.cont-1.json"))
    accept(before)
    assert before["continued_trajectory_ref"] == "session.cont-1.json"
    assert before["trajectory_id"] != document["trajectory_id"]


def test_tools_are_written_in_openais_shape() -> None:
    """ATIF asks for OpenAI-style definitions; a provider's own tool stands as it is."""
    tools = [
        {"name": "f", "description": "d", "input_schema": {"type": "object"}},
        {"type": "web_search_20250305"},
    ]
    document = written(user("q"), tools=json.dumps(tools).encode())
    accept(document)
    first, second = document["agent"]["tool_definitions"]
    assert first["type"] == "function"
    assert (first["function"]["name"], first["function"]["parameters"]["type"]) == ("f", "object")
    assert second == tools[1]
    assert written(user("q"), tools=b'[5, "f"]')["agent"]["tool_definitions"] == []


def test_the_same_history_gives_the_same_bytes() -> None:
    """Law SAME: ids are digests of content."""
    transcript = Transcript(format="pi", wire="anthropic", messages=ROUND)
    once = WRITER.write(transcript, NewHistory(messages=ROUND))
    assert once == WRITER.write(transcript, NewHistory(messages=ROUND))
    assert once.endswith(b"}\n")


RECORDED = [
    "langgraph/deerflow-5aa47db1-cjk.json",
    "swe-agent/pydicom-1458-gpt4.traj",
    "openhands/sonnet4-fncall-5046.json",
    "trae/sonnet45-vllm-93e5f3c5-cut.json",
]


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_sessions_are_accepted_and_read_back(name: str) -> None:
    """Real agents' histories, by way of ATIF."""
    path: Path = DATA / name
    (found,) = detect.read(path)
    document = json.loads(WRITER.write(found, NewHistory(messages=found.messages)))
    accept(document)
    assert told(read_one(READER, document).messages) == told([m for m in found.messages if m.parts])


@given(sessions())
def test_any_sound_session_says_the_same_after_atif(messages: list[Message]) -> None:
    """Property: steps lose no text, call, result, reasoning or medium, and keep their order."""
    document = written(*messages)
    back = read_one(READER, document)
    everything = [message for message in messages if message.parts]
    assert sorted(map(repr, told(back.messages))) == sorted(map(repr, _apart(everything)))


def _apart(messages: list[Message]) -> list[Any]:
    """Told, with each result of a message on its own."""
    out: list[Any] = []
    for entry in told(messages):
        role, text, thoughts, calls, results, media = entry
        if not results:
            out.append(entry)
        out += [(role, text, thoughts, calls, [one], media) for one in results]
    return out


@given(broken_sessions())
def test_any_broken_session_is_still_a_valid_document(messages: list[Message]) -> None:
    """Orphans, doubles and late results: the format's own models must accept what is written."""
    document = written(*messages)
    assert [step["step_id"] for step in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    for step in document["steps"]:
        known = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        answers = step.get("observation", {"results": []})["results"]
        assert {told["source_call_id"] for told in answers if "source_call_id" in told} <= known
    accept(document)
