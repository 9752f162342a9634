"""Small sound sessions of every format, as values that can be damaged: what the generated cases start from.

Made from the recorded sessions of `tests/data` by leaving out records and cutting texts, and for the formats without
a recorded one by the writers. Knows nothing of damage; that is `tests/hostile/damage.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from foldline import files
from foldline.log.lines import parse_log, write_log
from foldline.transcripts import detect

DATA = Path(__file__).parents[1] / "data"
KIND = re.compile("[a-z][a-z-]{0,31}")
TEXT_MAX = 64
"""Characters of a text that are kept: more than an id has, so that references still meet."""
LIST_MAX = 5
CLAUDE = "claude-code/shape-fixture-compact-boundary.jsonl"
RECORDS = {
    "claude-code": (CLAUDE, ((0, 24), (74, 80))),
    "codex": ("codex/shape-fixture-compacted.jsonl", ((0, 12), (86, 104))),
    "kimi": ("kimi/shape-fixture-full-compaction.jsonl", ((0, 16), (186, 200))),
    "pi": ("pi/before-compaction-excerpt.jsonl", ((0, 14),)),
}
"""Formats of lines: the file and which of its lines."""
DOCUMENTS = {
    "langgraph": "langgraph/deerflow-b83fbb2a.json",
    "swe-agent": "swe-agent/marshmallow-function-calling.traj",
    "openhands": "openhands/deepseek-nonfncall-5076.json",
    "tau-bench": "tau-bench/gpt-4o-airline-first3.json",
    "trae": "trae/sonnet45-vllm-93e5f3c5-cut.json",
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
BODY: dict[str, Any] = {
    "system": [{"type": "text", "text": "You fix bugs.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Why does the login fail? " * 8},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look at both files.", "signature": "c2ln"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "a.py", "line": 3}},
                {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "ls"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "a.py\n" * 60, "is_error": True},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [
                        {"type": "text", "text": "def login(): ...\n" * 20},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                    ],
                },
                {"type": "text", "text": "and hurry"},
            ],
        },
        {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "eA=="}, {"type": "text", "text": "So."}]},
        {"role": "user", "content": [{"type": "text", "text": "Mend it."}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_3", "name": "Edit", "input": {"path": "a.py", "new": "x" * 90}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_3", "content": "done"}]},
        {"role": "assistant", "content": "Mended."},
        {"role": "user", "content": "Thanks. Now the tests."},
    ],
    "tools": [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}}],
}  # fmt: skip
"""A session with everything the wire formats have words for."""
WRITTEN = ("anthropic", "openai-chat", "openai-responses", "gemini", "atif", "foldline")


class Seed(Struct, frozen=True, kw_only=True):
    """One session: a list of records for a format of lines, else one document."""

    format: str
    lines: bool
    value: Any

    def data(self, value: Any) -> bytes:
        """A value in this format's outer shape. Lone surrogates become escapes."""
        if self.format == "foldline":
            return _framed(value)
        if not self.lines or not isinstance(value, list):
            return json.dumps(value).encode()
        return b"".join(json.dumps(record).encode() + b"\n" for record in value)


def shortened(value: Any) -> Any:
    """The value with short lists and texts, so that damage hits structure. A text that is JSON stays JSON."""
    match value:
        case list():
            return [shortened(item) for item in value[:LIST_MAX]]
        case dict():
            return {key: shortened(item) for key, item in value.items()}
        case str() if value.startswith("{") and len(value) > TEXT_MAX:
            return '{"path": "src/main.py", "line": 7}'
        case str():
            return value[:TEXT_MAX]
        case _:
            return value


def _written(name: str) -> Any:
    """`BODY` in another format; of a log what its lines frame."""
    found = detect.read(json.dumps(BODY).encode(), format="anthropic")
    if name != "foldline":
        return json.loads(files.convert(found, as_format=name).data)
    options = files.CompactOptions(to=0.6, counter="length/4", as_format=name)
    log = parse_log(files.compact(found, options).data)
    assert log.header is not None
    entries = [[entry.kind, json.loads(entry.body)] for entry in log.entries]
    return {"format": log.header.format, "body": json.loads(log.header.body), "entries": entries}


def _framed(value: Any) -> bytes:
    """A log with sound lines around damaged bodies; where even the frame is damaged, just the value."""
    match value:
        case {"format": str(name), "body": dict(body), "entries": list(entries)} if KIND.fullmatch(name):
            sound = [
                (kind, json.dumps(inner).encode())
                for kind, inner in (entry for entry in entries if isinstance(entry, list) and len(entry) == 2)
                if isinstance(kind, str) and KIND.fullmatch(kind) and isinstance(inner, dict)
            ]
            return write_log(format=name, body=json.dumps(body).encode(), entries=sound)
        case _:
            return json.dumps(value).encode()


def _seeds() -> Iterator[Seed]:
    for name, (path, spans) in RECORDS.items():
        lines = (DATA / path).read_bytes().split(b"\n")
        kept = [line for start, end in spans for line in lines[start:end] if line]
        yield Seed(format=name, lines=True, value=[shortened(json.loads(line)) for line in kept])
    for name, path in DOCUMENTS.items():
        yield Seed(format=name, lines=False, value=shortened(json.loads((DATA / path).read_bytes())))
    for name in WRITTEN:
        yield Seed(format=name, lines=False, value=_written(name))


SEEDS: tuple[Seed, ...] = tuple(_seeds())
"""One of every format that is read."""
