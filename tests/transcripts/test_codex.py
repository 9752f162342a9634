"""Codex rollouts: what the model saw, once, after the last compaction."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from foldline.core.errors import InvalidTranscript
from foldline.core.message import Opaque, Reasoning, ToolCall, ToolResult
from foldline.transcripts import codex
from foldline.transcripts.codex import READER
from foldline.transcripts.source import open_source
from tests.transcripts.data import read_lines, words

DATA = Path(__file__).parent.parent / "data" / "codex" / "shape-fixture-compacted.jsonl"


def row(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}


META = row("session_meta", {"id": "s", "cwd": "/p", "base_instructions": {"text": "be good"}})


def message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def item(payload: dict[str, Any]) -> dict[str, Any]:
    return row("response_item", payload)


def said(role: str, text: str) -> dict[str, Any]:
    return item(message(role, text))


def event(kind: str, **more: Any) -> dict[str, Any]:
    return row("event_msg", {"type": kind} | more)


def tokens(total: int, window: int = 258_400) -> dict[str, Any]:
    usage = {"input_tokens": total - 10, "cached_input_tokens": 5, "output_tokens": 10, "total_tokens": total}
    return event("token_count", info={"last_token_usage": usage, "model_context_window": window})


read = partial(read_lines, READER.read)


def test_the_recorded_shapes_are_read() -> None:
    """Six compactions; the live context is what the last one left and what came after it."""
    (transcript,) = READER.read(open_source(DATA))
    rows = [json.loads(line) for line in DATA.read_bytes().splitlines()]
    places = [at for at, row in enumerate(rows) if row["type"] == "compacted"]
    assert len(places) == 6
    later = sum(row["type"] == "response_item" for row in rows[places[-1] :])
    assert len(transcript.messages) == len(rows[places[-1]]["payload"]["replacement_history"]) + later
    assert transcript.id == "019fc8be-3658-7ca3-9e29-000000000000"


def test_items_are_read_once_and_events_are_their_second_copy() -> None:
    """`event_msg` is a user-facing copy of the same content: use one or the other."""
    transcript = read(
        META,
        event("user_message", message="hi"),
        said("user", "hi"),
        said("assistant", "yo"),
        event("agent_message", message="yo"),
    )
    assert words(transcript) == ["hi", "yo"]
    assert dict(transcript.skipped) == {"event_msg agent_message": 1, "event_msg user_message": 1}
    assert transcript.system is not None
    assert transcript.system.text == "be good"


def test_an_item_keeps_its_bytes() -> None:
    """LOSSLESS: the origin is the payload's very slice."""
    payload = '{ "type":"message", "role":"user","content":[{"type":"input_text","text":"\\u00e9"}] }'
    transcript = read(META, f'{{"type":"response_item","timestamp":"x","payload":{payload},"ordinal":3}}')
    assert transcript.messages[0].origin == payload.encode()


def test_calls_results_reasoning_and_unknown_items_keep_their_kind() -> None:
    """Parallel calls are consecutive items, paired by `call_id`."""
    transcript = read(
        META,
        said("user", "go"),
        item({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}),
        item({"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}),
        item({"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "x"}),
        item({"type": "function_call_output", "call_id": "c1", "output": "ok"}),
        item({"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"}),
        item({"type": "compaction", "encrypted_content": "zzz"}),
        item({"type": "ghost_snapshot", "ghost_commit": {}}),
    )
    kinds = [type(message.parts[0]) for message in transcript.messages[1:]]
    assert kinds == [Reasoning, ToolCall, ToolCall, ToolResult, ToolResult, Opaque]
    assert dict(transcript.skipped) == {"response_item ghost_snapshot": 1}


def test_the_last_replacement_history_is_where_the_live_context_begins() -> None:
    """It replaces all before it and may end in an opaque compaction item."""
    history = [message("user", "kept"), {"type": "compaction", "encrypted_content": "zzz"}]
    transcript = read(
        META,
        row("turn_context", {"model": "gpt-5.6"}),
        "not JSON, and never looked at",
        said("user", "old"),
        tokens(200_000),
        row("compacted", {"message": "", "replacement_history": [message("user", "older")]}),
        row("compacted", {"message": "", "replacement_history": history}),
        said("assistant", "new"),
    )
    assert words(transcript) == ["kept", "Opaque", "new"]
    assert (transcript.id, transcript.model, transcript.notes) == ("s", "gpt-5.6", ())
    assert transcript.usage is None  # measured before the compaction: stale


def test_a_compaction_without_a_history_keeps_the_users_words_and_the_summary() -> None:
    """Older clients rebuild it so; text the client wrote is not the user's."""
    transcript = read(
        META,
        said("user", "<environment_context>x</environment_context>"),
        said("user", "one"),
        said("assistant", "a"),
        said("user", "two"),
        row("compacted", {"message": "in short"}),
        said("user", "three"),
    )
    assert words(transcript) == ["one", "two", "in short", "three"]
    assert [message.synthetic for message in transcript.messages] == [None, None, "summary", None]


def test_user_messages_kept_without_a_history_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client keeps the newest 20,000 tokens of them."""
    monkeypatch.setattr(codex, "KEPT_BYTES_MAX", 10)
    transcript = read(
        META, *(said("user", f"{n}" * 4) for n in range(5)), row("compacted", {"message": "sum"})
    )
    assert words(transcript) == ["3333", "4444", "sum"]


def test_usage_belongs_to_the_last_response_before_its_event() -> None:
    """`info` may be null; zero is unknown (TOK-4)."""
    transcript = read(
        META,
        said("user", "go"),
        said("assistant", "a"),
        tokens(1000),
        said("user", "more"),
        event("token_count", info=None),
        tokens(0, 0),
    )
    assert transcript.usage is not None
    assert (
        transcript.usage.tokens_input,
        transcript.usage.tokens_output,
        transcript.usage.tokens_cache_read,
    ) == (990, 10, 5)
    assert (transcript.usage_at, transcript.tokens_window) == (1, 258_400)


def test_a_rollback_takes_the_last_turns_away() -> None:
    """`thread_rolled_back` counts user turns; injected text opens none."""
    rows = [
        META,
        said("user", "one"),
        said("assistant", "a"),
        said("user", "two"),
        said("assistant", "b"),
        tokens(1000),
    ]
    assert words(read(*rows, event("thread_rolled_back", num_turns=1), said("user", "2b"))) == [
        "one",
        "a",
        "2b",
    ]
    assert read(*rows, event("thread_rolled_back", num_turns=1)).usage is None
    assert words(read(*rows, event("thread_rolled_back", num_turns=99), said("user", "x"))) == ["x"]


def test_a_fork_has_the_id_of_its_first_line() -> None:
    """A forked file starts with copied parent history and a second `session_meta`."""
    parent = row("session_meta", {"id": "parent", "base_instructions": {"text": "parent's"}})
    transcript = read(META, parent, said("user", "copied"), said("assistant", "own"))
    assert (transcript.id, words(transcript)) == ("s", ["copied", "own"])


def test_rollouts_of_the_first_releases_hold_bare_items() -> None:
    """Before July 2025: a bare first line, then items without a payload."""
    head = {"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": "be good", "git": {}}
    rows = [head, message("user", "hi"), {"record_type": "state"}, message("assistant", "yo")]
    transcript = read(*rows)
    assert (transcript.id, words(transcript)) == ("old", ["hi", "yo"])
    assert READER.recognise("\n".join(json.dumps(row, separators=(",", ":")) for row in rows).encode()) > 0


def test_bad_lines_are_skipped_and_named() -> None:
    """anthropics/claude-code#50347, in this format."""
    transcript = read(
        META, said("user", "a"), "{torn", item({"type": "message", "role": "nobody"}), said("user", "b")
    )
    assert words(transcript) == ["a", "b"]
    assert transcript.notes[0].startswith("2 lines could not be read and were left out: 3 (")
    history = row("compacted", {"replacement_history": [message("user", "kept")]})
    assert " 4 (" in read(META, said("user", "a"), history, "{torn", said("user", "b")).notes[0]


def test_torn_anywhere_the_rest_is_read() -> None:
    """letta-ai/letta-code#3590."""
    data = "\n".join(
        json.dumps(line, ensure_ascii=False) for line in (META, said("user", "漢"), said("assistant", "b"))
    ).encode()
    counts = set()
    for end in range(data.index(b"\n") + 1, len(data) + 1):
        try:
            (transcript,) = READER.read(open_source(data[:end])) or (None,)
        except InvalidTranscript:
            transcript = None
        counts.add(len(transcript.messages) if transcript is not None else 0)
    assert counts == {0, 1, 2}


def test_unknown_records_are_counted_and_odd_values_are_no_crash() -> None:
    """Newer clients write newer records."""
    transcript = read(
        row("session_meta", {"id": 5, "base_instructions": 7}),
        row("future", {}),
        {"type": "response_item", "payload": None},
        event("token_count", info={"last_token_usage": "x", "model_context_window": "y"}),
        event("thread_rolled_back", num_turns="z"),
        row("compacted", {"replacement_history": "x", "message": 7}),
        said("user", "go"),
    )
    assert words(transcript) == ["go"]
    assert dict(transcript.skipped)["future"] == 1
