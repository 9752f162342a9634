"""Made-up session files for the benchmarks: as long as wanted, the same bytes at every run.

The shapes are those that Claude Code, pi and Codex write: one JSON record a line, linked from the first message to the
last without a branch or a compaction. About 1.7 kB a line for Claude Code, as in real sessions. The text comes from
`histories`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.histories import SEED, Pieces

RESULT_CHARS = 1_400
"""Mean size of a result: with its copy for the client it brings the mean line to 1.7 kB."""
VARIANTS = 400
"""Rounds with text of their own; a long file repeats them under new ids, as making it would else take minutes."""


def write_claude_code(path: Path, lines: int, *, boundary_at: int | None = None) -> None:
    """A Claude Code session of this many lines; `boundary_at`: the line that is a compaction boundary."""
    with path.open("wb") as file:
        for number, record in enumerate(islice(_claude_code(), lines)):
            if number == boundary_at:
                record |= {
                    "type": "system",
                    "subtype": "compact_boundary",
                    "content": "Conversation compacted",
                }
                record |= {"parentUuid": None, "logicalParentUuid": _uuid(number - 1)}
                record |= {"compactMetadata": {"trigger": "auto", "preTokens": 160_000}}
                del record["message"]
                record.pop("toolUseResult", None)
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def write_pi(path: Path, lines: int) -> None:
    """A pi session of this many lines."""
    with path.open("wb") as file:
        header = {
            "type": "session",
            "version": 3,
            "id": _uuid(0),
            "timestamp": _time(0),
            "cwd": "/home/dev/shop",
        }
        file.write(json.dumps(header).encode() + b"\n")
        for number, message in enumerate(islice(_pi(), lines - 1), start=1):
            parent = f"{number - 1:08x}" if number > 1 else None
            record = {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": parent,
                "timestamp": _time(number),
                "message": message,
            }
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _claude_code() -> Iterator[dict[str, Any]]:
    for number, message in enumerate(_rounds()):
        record: dict[str, Any] = {
            "parentUuid": _uuid(number - 1) if number else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/shop",
            "sessionId": "5e550000-0000-4000-8000-000000000000",
            "version": "2.1.0",
            "gitBranch": "main",
            "type": message["role"],
            "message": message,
            "uuid": _uuid(number),
            "timestamp": _time(number),
        }
        if message["role"] == "user" and isinstance(message["content"], list):
            text = message["content"][0]["content"]
            record["toolUseResult"] = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        yield record


def _rounds() -> Iterator[dict[str, Any]]:
    random = Random(SEED)
    pieces = Pieces(random)
    variants = [
        (
            pieces.prose(random.randint(60, 500)),
            pieces.path(),
            pieces.output(random.randint(100, 2 * RESULT_CHARS)),
        )
        for _ in range(VARIANTS)
    ]
    yield {"role": "user", "content": pieces.prose(400)}
    for number in count():
        said, path, output = variants[number % VARIANTS]
        if number % 12 == 11:
            yield {"role": "user", "content": said}
        usage = {"input_tokens": 8, "cache_read_input_tokens": 40_000 + number % 90_000, "output_tokens": 90}
        call = f"toolu_{number:024d}"
        for block in (
            {"type": "text", "text": said},
            {
                "type": "tool_use",
                "id": call,
                "name": "Read",
                "input": {"file_path": f"/home/dev/shop/{path}"},
            },
        ):
            yield {
                "id": f"msg_{number:024d}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [block],
                "stop_reason": "tool_use",
                "usage": usage,
            }
        yield {"role": "user", "content": [{"tool_use_id": call, "type": "tool_result", "content": output}]}


def _pi() -> Iterator[dict[str, Any]]:
    for message in _rounds():
        content = message["content"]
        if isinstance(content, str):
            yield {"role": "user", "content": [{"type": "text", "text": content}], "timestamp": 1}
            continue
        block = content[0]
        if message["role"] == "user":
            text = {"type": "text", "text": block["content"]}
            yield {
                "role": "toolResult",
                "toolCallId": block["tool_use_id"],
                "toolName": "read",
                "content": [text],
                "isError": False,
                "timestamp": 1,
            }
        elif block["type"] == "tool_use":
            call = {"type": "toolCall", "id": block["id"], "name": "read", "arguments": block["input"]}
            usage = {"input": 8, "output": 90, "cacheRead": 40_000, "cacheWrite": 0, "totalTokens": 40_098}
            yield {
                "role": "assistant",
                "content": [call],
                "api": "anthropic-messages",
                "provider": "anthropic",
                "model": "claude-sonnet-4-5",
                "usage": usage,
                "stopReason": "toolUse",
                "timestamp": 1,
            }


def _uuid(number: int) -> str:
    return f"{number:08d}-0000-4000-8000-000000000000"


def _time(number: int) -> str:
    return f"2026-03-{4 + number // 86_400:02d}T{number // 3_600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
