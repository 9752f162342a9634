"""Kimi wire files: events replayed into messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline.core.errors import InvalidTranscript
from foldline.core.message import Media, Reasoning, Text, ToolResult, calls_of
from foldline.transcripts.kimi import ELIDED, READER
from foldline.transcripts.source import open_source
from foldline.transcripts.transcript import Transcript
from tests.transcripts.data import read_lines, words

DATA = Path(__file__).parent.parent / "data" / "kimi" / "shape-fixture-full-compaction.jsonl"
META = {"type": "metadata", "protocol_version": "1.4", "created_at": 1}


def prompt(text: str, kind: str = "user") -> dict[str, Any]:
    message = {
        "role": "user",
        "content": [{"type": "text", "text": text}],
        "toolCalls": [],
        "origin": {"kind": kind},
    }
    return {"type": "context.append_message", "message": message, "time": 1000}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"type": kind} | more, "time": 2000}


def step(name: str, *parts: dict[str, Any], end: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    usage = {"inputOther": 5, "output": 7, "inputCacheRead": 100, "inputCacheCreation": 0}
    begun = event("step.begin", uuid=name)
    ended = event("step.end", uuid=name, usage=usage, finishReason="end_turn", messageId=f"chatcmpl-{name}")
    return [begun, *(event(stepUuid=name, **_kind(part)) for part in parts), end or ended]


def _kind(part: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "content.part", "part": part} if "type" in part else part


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(id: str) -> dict[str, Any]:
    return {"kind": "tool.call", "toolCallId": id, "name": "Bash", "args": {"command": "ls"}}


def result(id: str, output: Any = "ok", **more: Any) -> dict[str, Any]:
    return event("tool.result", parentUuid=id, toolCallId=id, result={"output": output} | more)


def compaction(**more: Any) -> dict[str, Any]:
    return {
        "type": "context.apply_compaction",
        "summary": "working",
        "contextSummary": "in short",
        "compactedCount": 2,
    } | more


def read(*rows: Any) -> Transcript:
    flat = [line for row in rows for line in (row if isinstance(row, list) else [row])]
    return read_lines(READER.read, *flat)


def test_the_recorded_compaction_leaves_the_users_messages_and_the_summary() -> None:
    """`keptUserMessageCount` is 8, and nothing follows."""
    (transcript,) = READER.read(open_source(DATA))
    assert [message.synthetic for message in transcript.messages] == [*[None] * 8, "summary"]
    assert all(message.role == "user" for message in transcript.messages)
    assert (transcript.wire, transcript.usage) == ("openai-chat", None)
    assert transcript.system is not None
    assert transcript.system.text.startswith("You are Kimi Code CLI")


def test_the_recorded_session_before_its_compaction_has_all_calls_answered() -> None:
    """The inventory: 19 calls, each with its result."""
    head = b"".join(
        line for line in DATA.read_bytes().splitlines(keepends=True) if b"apply_compaction" not in line
    )
    (transcript,) = READER.read(open_source(head))
    calls = [call.id for message in transcript.messages for call in calls_of(message)]
    answers = [part.call_id for m in transcript.messages for part in m.parts if isinstance(part, ToolResult)]
    assert len(calls) == 19
    assert sorted(calls) == sorted(answers)
    assert transcript.model == "kimi-k2.7-code"


def test_a_step_is_one_message_and_its_results_follow() -> None:
    """Parallel calls and their results come mixed in the log."""
    transcript = read(
        META,
        prompt("go"),
        [
            event("step.begin", uuid="s"),
            event("content.part", stepUuid="s", part={"type": "think", "think": "hm"}),
            event("content.part", stepUuid="s", part=say("looking")),
            event("tool.call", stepUuid="s", toolCallId="a", name="Bash", args={"command": "ls"}),
            result("a"),
            event("tool.call", stepUuid="s", toolCallId="b", name="Bash", args={}),
            result("b", "bad", isError=True),
            event("step.end", uuid="s"),
        ],
    )
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "tool"]
    parts = transcript.messages[1].parts
    assert isinstance(parts[0], Reasoning)
    assert parts[0].provider is None
    assert [call.id for call in calls_of(transcript.messages[1])] == ["a", "b"]
    last = transcript.messages[3].parts[0]
    assert isinstance(last, ToolResult)
    assert (last.call_id, last.name, last.is_error) == ("b", "Bash", True)


def test_results_that_come_after_the_end_of_their_step_are_kept() -> None:
    """Background tools answer late."""
    transcript = read(META, prompt("go"), step("s", call("a")), result("a"), step("t", say("done")))
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool", "assistant"]


def test_a_step_that_never_ended_is_kept() -> None:
    """A torn log ends inside a step."""
    transcript = read(META, prompt("go"), step("s", say("half"))[:-1])
    assert words(transcript) == ["go", "half"]


def test_usage_is_that_of_the_last_step() -> None:
    """TOK-4: inputOther is what neither cache count holds."""
    transcript = read(META, prompt("go"), step("s", say("a")), prompt("more"))
    assert transcript.usage is not None
    assert (transcript.usage.tokens_input, transcript.usage.tokens_output, transcript.usage_at) == (105, 7, 1)


def test_messages_with_another_origin_are_injected() -> None:
    """Reminders of the host have role user."""
    transcript = read(META, prompt("go"), prompt("<system-reminder>", kind="injection"))
    assert [message.meta is not None and message.meta.injected for message in transcript.messages] == [
        False,
        True,
    ]


def test_a_compaction_keeps_user_messages_and_then_tells_the_summary() -> None:
    """Real user messages only, the newest ones; the summary stands last."""
    transcript = read(
        META, prompt("one"), step("s", say("a")), prompt("note", kind="injection"), prompt("two"), prompt("three"),
        compaction(keptUserMessageCount=2), prompt("four"),
    )  # fmt: skip
    assert words(transcript) == ["two", "three", "in short", "four"]
    assert transcript.usage is None


def test_a_compaction_that_left_out_the_middle_says_so() -> None:
    """`keptHeadUserMessageCount`: the first ones, a notice, the last ones."""
    prompts = [prompt(word) for word in ("one", "two", "three", "four")]
    transcript = read(META, prompts, compaction(keptUserMessageCount=2, keptHeadUserMessageCount=1))
    assert words(transcript) == ["one", ELIDED, "four", "in short"]


def test_the_older_compaction_keeps_what_it_did_not_cover() -> None:
    """Without `keptUserMessageCount`: the summary, then the history from `compactedCount` on."""
    transcript = read(META, prompt("one"), step("s", say("a")), prompt("two"), compaction())
    assert words(transcript) == ["in short", "two"]


def test_clear_and_undo_take_messages_away() -> None:
    """`context.clear` and `context.undo` with a count of user messages."""
    rows = [prompt("one"), *step("s", say("a")), prompt("two"), *step("t", say("b"))]
    assert words(read(META, rows, {"type": "context.undo", "count": 1}, prompt("x"))) == ["one", "a", "x"]
    assert words(read(META, rows, {"type": "context.undo", "count": 9}))[-1] == "b"
    assert words(read(META, rows, {"type": "context.clear"}, prompt("x"))) == ["x"]
    assert READER.read(open_source(json.dumps({"type": "context.clear"}).encode())) == ()


def test_images_in_prompts_and_results_are_media() -> None:
    """Results may hold lists of parts."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}
    asked = prompt("x")
    asked["message"]["content"] = [image]
    transcript = read(META, asked, step("s", call("a")), result("a", [say("see"), image]))
    assert isinstance(transcript.messages[0].parts[0], Media)
    last = transcript.messages[2].parts[0]
    assert isinstance(last, ToolResult)
    assert [type(part) for part in last.content] == [Text, Media]


def test_odd_records_are_counted_or_named_never_fatal() -> None:
    """Newer clients write newer records; hostile ones write anything."""
    transcript = read(
        META,
        prompt("go"),
        "{torn",
        {"type": "future"},
        {"type": "context.append_message", "message": 5},
        {"type": "context.append_loop_event", "event": {"type": "tool.call"}},
        {"type": "context.append_loop_event", "event": {"type": "future"}},
        {"type": "context.append_loop_event", "event": 5},
        compaction(contextSummary=None, summary=None),
        {"type": "context.undo", "count": "x"},
    )
    assert words(transcript) == ["go"]
    assert dict(transcript.skipped) == {"future": 1, "loop event future": 1, "metadata": 1}
    assert transcript.notes[0].startswith("5 lines")


def test_torn_anywhere_the_rest_is_read() -> None:
    """letta-ai/letta-code#3590."""
    rows = [META, prompt("漢"), *step("s", say("b"))]
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in rows).encode()
    counts = set()
    for end in range(1, len(data) + 1):
        try:
            found = READER.read(open_source(data[:end]))
        except InvalidTranscript:
            continue
        counts.add(len(found[0].messages) if found else 0)
    assert counts == {0, 1, 2}


@pytest.mark.parametrize(
    ("line", "sure"),
    [(META, 100), (prompt("x"), 95), ({"type": "metadata"}, 0), ({"type": "usage.record", "time": 1}, 70)],
)
def test_a_log_is_recognised_by_its_events(line: dict[str, Any], sure: int) -> None:
    """interface.md: by content."""
    assert READER.recognise(json.dumps(line).encode()) == sure
