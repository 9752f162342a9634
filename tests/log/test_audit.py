"""The five kinds of events with exactly the document's fields, derived from entries, and nothing that was said."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from foldline.core.entry import Entry
from foldline.log.audit import Audit, Event, timestamp
from foldline.log.values import read_message
from foldline.testing.counting import CharacterCounter

START = 1_779_271_200_000
SECRET = "hunter2-parameters"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def events(*told: tuple[str, dict[str, Any]], step_ms: int = 45) -> list[Event]:
    audit = Audit(digest, CharacterCounter())
    entries = [
        Entry(seq=n, kind=kind, body=json.dumps(body).encode(), offset=n, time_ms=START + n * step_ms)
        for n, (kind, body) in enumerate(told)
    ]
    return [event for entry in entries for event in audit.events(entry)]


def message(role: str, content: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return "message", {"format": "anthropic", "wire": {"role": role, "content": content}, **more}


CALL = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": SECRET}}


def result(**more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t1", "content": f"found {SECRET}", **more}


def test_input_call_and_result_are_events_with_the_documents_fields() -> None:
    """JRN-4: USER_INPUT, TOOL_CALL and TOOL_RESULT; the parameters never, only their hash."""
    told = events(message("user", "do it"), message("assistant", [CALL]), message("user", [result()]))
    tokens = CharacterCounter().part(
        read_message(json.dumps(message("user", [result()])[1]).encode()).parts[0]
    )
    assert told == [
        {"seq": 1, "type": "USER_INPUT", "content_hash": digest(b"do it"), "timestamp": "2026-05-20T10:00:00.000Z"},
        {
            "seq": 2,
            "type": "TOOL_CALL",
            "tool": "read_file",
            "params_hash": digest(json.dumps({"path": SECRET}).encode()),
            "timestamp": "2026-05-20T10:00:00.045Z",
        },
        {
            "seq": 3,
            "type": "TOOL_RESULT",
            "tool": "read_file",
            "result_tokens": tokens,
            "success": True,
            "duration_ms": 45,
            "timestamp": "2026-05-20T10:00:00.090Z",
        },
    ]  # fmt: skip
    assert SECRET not in json.dumps(told)


def test_a_failed_result_says_so_with_the_first_line_of_its_error() -> None:
    """JRN-4: `error` stands where there is one, and nowhere else."""
    failed = result(is_error=True) | {"content": "No such file\nTraceback " + SECRET}
    [event] = [e for e in events(message("assistant", [CALL]), message("user", [failed])) if "success" in e]
    assert (event["success"], event["error"]) == (False, "No such file")
    assert list(event) == [
        "seq",
        "type",
        "tool",
        "result_tokens",
        "success",
        "error",
        "duration_ms",
        "timestamp",
    ]


def test_a_compaction_is_followed_by_a_checkpoint_that_carries_its_level() -> None:
    """JRN-12: level, remaining tokens and pending tasks; the next checkpoint carries none."""
    report = {"passes": [{"name": "a", "edits": 2}, {"name": "b", "edits": 5}, {"name": "c", "edits": 0}]}
    compacted, committed, later = events(
        ("begin", {"reason": "threshold"}),
        ("compaction", {"report": report, "tokens_before": 98_000, "tokens_after": 65_000}),
        ("checkpoint", {"full": True, "tokens": 65_000, "pending": ["fix_bug_1"]}),
        ("checkpoint", {"full": False}),
        step_ms=2,
    )
    assert compacted == {
        "seq": 1,
        "type": "COMPRESSION",
        "level": 2,
        "input_tokens": 98_000,
        "output_tokens": 65_000,
        "duration_ms": 2,
        "timestamp": "2026-05-20T10:00:00.002Z",
    }
    assert {k: v for k, v in committed.items() if k != "timestamp"} == {
        "seq": 2,
        "type": "CHECKPOINT",
        "messages_tokens": 65_000,
        "memory_size": 0,
        "pending_tasks": ["fix_bug_1"],
        "level": 2,
        "remaining_tokens": 65_000,
    }
    assert list(later) == ["seq", "type", "messages_tokens", "memory_size", "pending_tasks", "timestamp"]


def test_what_no_user_said_is_no_input() -> None:
    """Results, folds, notices and injected reminders stand in user messages too."""
    told = events(
        message("user", "fold", synthetic="fold"),
        message("user", "reminder", meta={"injected": True}),
        message("user", [result()]),
        message("user", [result(), {"type": "text", "text": "and now"}]),
        ("usage", {"message": 0}),
        ("message", {"format": "later"}),
    )
    assert [event["type"] for event in told] == ["TOOL_RESULT", "TOOL_RESULT", "USER_INPUT"]


def test_entries_without_a_time_give_events_without_one() -> None:
    """A log that a pure function wrote has no times; nothing is made up."""
    audit = Audit(digest, CharacterCounter())
    bodies = [message("assistant", [CALL])[1], message("user", [result()])[1]]
    told = [
        event
        for n, body in enumerate(bodies)
        for event in audit.events(Entry(seq=n, kind="message", body=json.dumps(body).encode(), offset=n))
    ]
    assert [event["timestamp"] for event in told] == [None, None]
    assert told[1]["duration_ms"] is None
    assert timestamp(10**20) is None
    assert timestamp(0) == "1970-01-01T00:00:00.000Z"


def test_the_same_log_gives_the_same_events() -> None:
    """Law SAME: numbers are unique, and reading twice changes nothing."""
    log = (
        message("user", "a"),
        message("assistant", [CALL, {**CALL, "id": "t2"}]),
        message("user", [result()]),
    )
    assert events(*log) == events(*log)
    assert [event["seq"] for event in events(*log)] == [1, 2, 3, 4]


def test_events_of_a_log_without_content_are_what_they_were() -> None:
    """An `event` entry holds the event itself; its number and time are the log's."""
    [event] = events(("event", {"seq": 9, "type": "USER_INPUT", "content_hash": "ab"}))
    assert event == {
        "seq": 1,
        "type": "USER_INPUT",
        "content_hash": "ab",
        "timestamp": "2026-05-20T10:00:00.000Z",
    }


def test_what_was_brought_in_has_its_own_times_and_no_duration_that_nobody_knows() -> None:
    """JRN-7: the moment of an import is no time of a call; two times of one append are no duration of none."""
    log = (message("assistant", [CALL]), message("user", [result()]))
    call, answered = events(*log, step_ms=0)
    assert answered["duration_ms"] is None
    own = [
        (kind, {**body, "meta": {"time_s": at}})
        for (kind, body), at in zip(log, (1000.0, 1002.5), strict=True)
    ]
    call, answered = events(*own, step_ms=0)
    assert (call["timestamp"], answered["timestamp"]) == (
        "1970-01-01T00:16:40.000Z",
        "1970-01-01T00:16:42.500Z",
    )
    assert answered["duration_ms"] == 2500
    _, answered = events(own[0], log[1])
    assert answered["duration_ms"] == 45, "of one clock, or none"
