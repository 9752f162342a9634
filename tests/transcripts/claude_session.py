"""Builds Claude Code session files for tests: short records with the client's own keys."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from foldline.transcripts.claude_code import READER
from foldline.transcripts.source import open_source
from foldline.transcripts.transcript import Transcript

Record = dict[str, Any]


def uuid(name: str) -> str:
    """A well-formed id for a short name."""
    return f"00000000-0000-4000-8000-{name.encode().hex():0>12}"


def record(name: str, parent: str | None, *, kind: str, message: Record | None = None, **more: Any) -> Record:
    """One line of a session."""
    made: Record = {
        "parentUuid": None if parent is None else uuid(parent),
        "isSidechain": False,
        "sessionId": "s",
        "version": "2.1.59",
        "type": kind,
        "uuid": uuid(name),
        "timestamp": "2026-01-01T00:00:00.000Z",
    }
    return made | ({} if message is None else {"message": message}) | more


def user(name: str, parent: str | None, content: Any, **more: Any) -> Record:
    """A user record."""
    return record(name, parent, kind="user", message={"role": "user", "content": content}, **more)


def assistant(name: str, parent: str | None, *blocks: Any, id: str | None = None, **more: Any) -> Record:
    """A line of a response; blocks are texts or wire blocks."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage = more.pop("usage", {"input_tokens": 7, "output_tokens": 1})
    message: Record = {
        "id": id or f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
    }
    message |= {"content": content, "stop_reason": None, "usage": usage}
    return record(name, parent, kind="assistant", message=message | more.pop("message", {}), **more)


def call(id: str) -> Record:
    """A tool_use block."""
    return {"type": "tool_use", "id": id, "name": "Read", "input": {"path": id}}


def answer(name: str, parent: str | None, call_id: str, text: str = "ok") -> Record:
    """A user record that holds one result, twice as the client writes it."""
    block = {"tool_use_id": call_id, "type": "tool_result", "content": text}
    return user(name, parent, [block], toolUseResult={"stdout": text})


def boundary(name: str, **metadata: Any) -> Record:
    """A compaction boundary."""
    metadata = {"trigger": "auto", "preTokens": 100} | metadata
    return record(name, None, kind="system", subtype="compact_boundary", compactMetadata=metadata)


def summary(name: str, parent: str, text: str = "the summary") -> Record:
    """What a compaction left of the conversation."""
    return user(name, parent, text, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def jsonl(records: Iterable[Record | str]) -> bytes:
    """The file of these records; strings are lines of their own."""
    lines = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in records)
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")


def read(*records: Record | str) -> Transcript:
    """The conversation in a session of these records."""
    return read_bytes(jsonl(records))


def read_bytes(data: bytes) -> Transcript:
    """The conversation in a session file."""
    (transcript,) = READER.read(open_source(data))
    return transcript


def said(transcript: Transcript) -> list[str]:
    """What each message says: its texts, its calls and what they answer, in short."""
    return [_said(message) for message in transcript.messages]


def _said(message: Any) -> str:
    words = []
    for part in message.parts:
        match type(part).__name__:
            case "Text":
                words.append(part.text)
            case "ToolCall":
                words.append(f"call {part.id}")
            case "ToolResult":
                words.append(f"result {part.call_id}")
            case other:
                words.append(other)
    return " + ".join(words)
