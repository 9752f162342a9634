"""Fault reports of kind `transcript-resume` and `transcript-size`, as far as reading other people's files goes.

What a damaged file still holds is read, in order, to its end; what could not be read is counted and said. The
inputs are lines of a session log; here they are written as the session formats that exist (Claude Code, pi).
Resuming and listing our own log, and torn tails of it, belong to durable sessions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline.cli.main import main
from tests.bugs.case import judged, load, texts

Written = Callable[[list[dict[str, Any]]], list[str]]
SPACE = "00000000-0000-4000-8000-"


def uuid(number: int) -> str:
    return f"{SPACE}{number:012d}"


def claude_code(records: list[dict[str, Any]]) -> list[str]:
    """Lines of a Claude Code session, each record the child of the one before it."""
    lines = []
    for record in records:
        envelope = {
            "type": record["role"],
            "uuid": uuid(record["id"]),
            "parentUuid": uuid(record["id"] - 1) if record["id"] > 1 else None,
            "sessionId": "s1",
            "isSidechain": False,
            "version": "2.1.0",
            "cwd": "/home/user/project",
            "timestamp": f"2026-01-01T00:00:{record['id']:02d}.000Z",
            "message": {"role": record["role"], "content": _blocks(record)},
        }
        if record["role"] == "assistant":
            envelope["message"] |= {
                "id": f"msg_{record['id']}",
                "type": "message",
                "model": "claude-sonnet-5",
            }
        lines.append(json.dumps(envelope, ensure_ascii=False))
    return lines


def _blocks(record: dict[str, Any]) -> Any:
    return (
        [{"type": "text", "text": record["content"]}] if record["role"] == "assistant" else record["content"]
    )


def pi(records: list[dict[str, Any]]) -> list[str]:
    """Lines of a pi session."""
    head = {
        "type": "session",
        "id": "s1",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/home/user/project",
        "provider": "anthropic",
        "modelId": "claude-sonnet-5",
        "thinkingLevel": "off",
    }
    lines = [json.dumps(head)]
    for record in records:
        message = {"role": record["role"], "content": [{"type": "text", "text": record["content"]}]}
        stamp = f"2026-01-01T00:00:{record['id']:02d}.000Z"
        lines.append(
            json.dumps({"type": "message", "timestamp": stamp, "message": message}, ensure_ascii=False)
        )
    return lines


WRITERS: dict[str, Written] = {"claude-code": claude_code, "pi": pi}
every_format = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


def talk(*said: str) -> list[dict[str, Any]]:
    """Records as the inputs have them: user and assistant in turn."""
    return [
        {"id": at, "role": "user" if at % 2 else "assistant", "content": text}
        for at, text in enumerate(said, start=1)
    ]


def read(path: Path, raw: bytes) -> tuple[list[str], str]:
    """The texts that a converted session holds, and what was said to the person about it."""
    path.write_bytes(raw)
    ran = CliRunner().invoke(main, ["convert", str(path), "--as", "anthropic"])
    assert ran.exit_code == 0, ran.output
    messages = json.loads(ran.stdout)["messages"]
    assert judged(messages, format="anthropic") == []
    said = [
        text for message in messages for text in texts(message["content"]) if text not in ("text", "user")
    ]
    return said, ran.stderr


@every_format
def test_a_line_that_cannot_be_read_does_not_end_the_reading(tmp_path: Path, write: Written) -> None:
    """anthropics/claude-code#50347: resume stopped silently at the first bad line, days before the end."""
    assert "trunc" in load("P01").payload["file_text"]
    lines = write(talk("a", "b", "lost", "d", "e"))
    lines[-3] = lines[-3][: len(lines[-3]) // 2]
    said, told = read(tmp_path / "s.jsonl", "\n".join([*lines, ""]).encode())
    assert said == ["a", "b", "d", "e"] or said == ["a", "b\nd", "e"]
    assert "1" in told


@every_format
def test_a_block_of_nul_bytes_is_passed_over(tmp_path: Path, write: Written) -> None:
    """anthropics/claude-code#49876: after an interrupted append the model got only the part before the block."""
    nul = max(load("P02").payload["file_text"].split("\n"), key=lambda line: line.count("\0"))
    lines = write(talk("a", "b", "c"))
    said, _ = read(tmp_path / "s.jsonl", "\n".join([*lines[:-2], nul, *lines[-2:], ""]).encode())
    assert said == ["a", "b", "c"]


@every_format
def test_a_block_of_nul_bytes_before_a_record_on_one_line_costs_at_most_that_record(
    tmp_path: Path, write: Written
) -> None:
    """Sibling of anthropics/claude-code#49876: the append went on behind the block, without a line feed."""
    lines = write(talk("a", "b", "c", "d"))
    lines[-2] = "\0" * 64 + lines[-2]
    said, _ = read(tmp_path / "s.jsonl", "\n".join([*lines, ""]).encode())
    assert said[-1].endswith("d")
    assert "a" in said


@every_format
@pytest.mark.parametrize("left", [0.1, 0.5, 0.99])
def test_a_torn_last_line_is_dropped_and_said(tmp_path: Path, write: Written, left: float) -> None:
    """letta-ai/letta-code#3590: loading threw. Our own log cuts the tear off before it appends: `tests/stores/test_damage.py`."""
    assert load("P04").payload["file_text"].endswith('"us')
    lines = [line.encode() for line in write(talk("漢字", "ok", "漢字🙂漢字" * 20))]
    torn = lines[-1][: int(len(lines[-1]) * left)]
    said, told = read(tmp_path / "s.jsonl", b"\n".join([*lines[:-1], torn]))
    assert said == ["漢字", "ok"]
    assert told


@every_format
def test_a_line_torn_inside_a_character_is_no_crash(tmp_path: Path, write: Written) -> None:
    """Sibling of letta-ai/letta-code#3590: the tear falls inside a multi-byte character."""
    lines = [line.encode() for line in write(talk("a", "b", "漢"))]
    at = lines[-1].index("漢".encode()) + 1
    said, _ = read(tmp_path / "s.jsonl", b"\n".join([*lines[:-1], lines[-1][:at]]))
    assert said == ["a", "b"]


@every_format
def test_a_damaged_file_is_never_read_as_empty(tmp_path: Path, write: Written) -> None:
    """anthropics/claude-code#53821: byte order mark, CRLF, blank lines, U+2028 inside a text, torn end."""
    assert load("P07").payload["file_text"].startswith("\ufeff")
    lines = write(talk("a", "line\u2028sep", "torn"))
    raw = "\ufeff" + "\r\n".join([*lines[:-1], "", lines[-1][:30]])
    said, told = read(tmp_path / "s.jsonl", raw.encode())
    assert said == ["a", "line\u2028sep"]
    assert told


@every_format
def test_records_of_a_newer_version_are_kept_or_counted_never_fatal(tmp_path: Path, write: Written) -> None:
    """google/adk-python#4082: a compaction record came back as something else and crashed the next turn. Round trips
    of our own records belong to durable sessions; unknown records and fields of others are read past here."""
    record = load("P05").payload["record"]
    lines = write(talk("a", "b", "c"))
    newer = json.dumps(
        {**record, "type": "compaction_v9", "uuid": uuid(77), "parentUuid": None, "sessionId": "s1"}
    )
    wider = json.loads(lines[-1])
    wider["future_field"] = record["future_field"]
    raw = "\n".join([*lines[:-1], newer, json.dumps(wider), ""])
    said, _ = read(tmp_path / "s.jsonl", raw.encode())
    assert said == ["a", "b", "c"]


@every_format
@pytest.mark.parametrize("command", ["compact", "convert", "check", "context"])
def test_a_session_file_is_never_written_to(tmp_path: Path, write: Written, command: str) -> None:
    """tontinton/maki#814: compaction rewrote the session from the summary. That our own log only ever grows is
    `tests/session/test_compacting.py`'s (D11) and `tests/stores/test_crashes.py`'s."""
    count = load("P06").payload["lines_before"]
    path = tmp_path / "s.jsonl"
    path.write_text(
        "\n".join([*write(talk(*(f"line {n} " * 30 for n in range(count)))), ""]), encoding="utf-8"
    )
    before = path.read_bytes()
    more = {"compact": ["--to", "30%", "-o", str(tmp_path / "out")], "convert": ["--as", "gemini"]}.get(
        command, []
    )
    ran = CliRunner().invoke(main, [command, str(path), *more])
    assert ran.exit_code == 0, ran.output
    assert path.read_bytes() == before


def boundary(number: int) -> list[str]:
    """The two records with which Claude Code marks a compaction."""
    mark = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": uuid(number),
        "parentUuid": None,
        "logicalParentUuid": uuid(number - 1),
        "sessionId": "s1",
        "timestamp": "2026-01-01T01:00:00.000Z",
        "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
    }
    summary = {
        "type": "user",
        "uuid": uuid(number + 1),
        "parentUuid": uuid(number),
        "sessionId": "s1",
        "isCompactSummary": True,
        "isVisibleInTranscriptOnly": True,
        "timestamp": "2026-01-01T01:00:01.000Z",
        "message": {
            "role": "user",
            "content": "This session is being continued from a previous conversation.",
        },
    }
    return [json.dumps(mark), json.dumps(summary)]


def test_only_what_follows_the_last_compaction_is_live(tmp_path: Path) -> None:
    """openai/codex#28866: resuming parsed the whole file. Memory on large files is a benchmark's matter."""
    assert load("Q01").payload["generate"]["last_compaction_at"] > 0
    old = claude_code(talk(*(f"old {number}" for number in range(58))))
    new = [
        json.loads(line) | {"uuid": uuid(100 + at), "parentUuid": uuid(99 + at)}
        for at, line in enumerate(
            claude_code(
                [
                    {"id": 2, "role": "assistant", "content": "new answer"},
                    {"id": 3, "role": "user", "content": "new question"},
                ]
            )
        )
    ]
    new[0]["parentUuid"] = uuid(61)
    raw = "\n".join([*old, *boundary(60), *(json.dumps(record) for record in new), ""])
    said, _ = read(tmp_path / "s.jsonl", raw.encode())
    assert said == [
        "This session is being continued from a previous conversation.",
        "new answer",
        "new question",
    ]


def test_records_of_sub_agents_in_the_main_file_are_not_the_conversation(tmp_path: Path) -> None:
    """anthropics/claude-code#23373: 102 MB for 14 messages. Listing sessions without reading them whole
    (earendil-works/pi#4122): `tests/session/test_library.py`."""
    numbers = load("Q02").payload["generate"]
    main_lines = claude_code(talk(*(f"main {number}" for number in range(numbers["main_messages"]))))
    side = []
    for agent in range(8):
        for step in range(numbers["progress_records_each"] // 8):
            record = json.loads(
                claude_code(
                    [{"id": 2 - step % 2, "role": "assistant" if step % 2 else "user", "content": "side"}]
                )[0]
            )
            record |= {"uuid": uuid(1_000 + agent * 100 + step), "isSidechain": True}
            record["parentUuid"] = uuid(999 + agent * 100 + step) if step else None
            side.append(json.dumps(record))
        side.append(
            json.dumps(
                {"type": "progress", "uuid": uuid(9_000 + agent), "sessionId": "s1", "data": "x" * 200}
            )
        )
    said, _ = read(tmp_path / "s.jsonl", "\n".join([*main_lines[:7], *side, *main_lines[7:], ""]).encode())
    assert said == [f"main {number}" for number in range(numbers["main_messages"])]
