"""A session as long as a working day: recorded work of agents, done again and again, each time on other files and with other
numbers, so that it is long in what it says and not only in how often.

    python -m tests.session.long_life [MESSAGES]

prints what each tenth of it costs.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import Any

from msgspec import Struct

import foldline
from foldline import reading
from foldline.core.message import Message, Text, ToolResult, calls_of, results_of
from foldline.session.session import Session
from tests.transcripts.data import DATA

RECORDED = ("claude-code", "langgraph", "openhands", "pi", "tau-bench", "trae")
"""Kinds of transcripts that are whole rounds of an agent's work."""
TENTHS = 10


class Turn(Struct, frozen=True, kw_only=True):
    """What the user said, if anything, what the model answered, and what its calls gave."""

    user: str
    text: str
    calls: tuple[tuple[str, str], ...]
    """Name and arguments, as JSON text."""
    results: tuple[tuple[str, bool], ...]
    """Text of each call's result, and whether it failed."""

    @property
    def messages(self) -> int:
        """How many it adds to a session."""
        return bool(self.user) + 1 + len(self.results)


class Tenth(Struct, frozen=True, kw_only=True):
    """What a tenth of a session cost."""

    median_s: float
    """Of a turn."""
    mean_s: float
    """Of a turn, compactions with it."""
    mib: float
    """The most memory."""

    def __str__(self) -> str:
        return f"a turn {self.median_s * 1e3:.2f} ms, with compactions {self.mean_s * 1e3:.2f} ms, {self.mib:.1f} MiB"


class Life(Struct, frozen=True, kw_only=True):
    """What a session was like, turn by turn."""

    messages: int
    compactions: int
    seconds: tuple[float, ...]
    """CPU time."""
    mib: tuple[float, ...]
    """Resident memory of this process after it."""

    def tenth(self, number: int) -> Tenth:
        """One of them, from 0."""
        size = len(self.seconds) // TENTHS
        part = slice(number * size, (number + 1) * size)
        return Tenth(
            median_s=median(self.seconds[part]), mean_s=mean(self.seconds[part]), mib=max(self.mib[part])
        )


def recorded() -> tuple[Turn, ...]:
    """The turns of the transcripts in `tests/data`, in order."""
    paths = sorted(path for kind in RECORDED for path in (DATA / kind).iterdir())
    return tuple(turn for path in paths for told in reading.read(str(path)) for turn in _turns(told.messages))


def _turns(messages: tuple[Message, ...]) -> Iterator[Turn]:
    given = {result.call_id: result for message in messages for result in results_of(message)}
    user = ""
    for message in messages:
        if message.role == "user":
            user = _said(message) or user
        elif message.role == "assistant":
            calls = [call for call in calls_of(message) if call.id in given]
            text = _said(message)
            if not calls and not text:
                continue
            yield Turn(
                user=user,
                text=text,
                calls=tuple((call.name, call.arguments) for call in calls),
                results=tuple((_text(given[call.id]), given[call.id].is_error) for call in calls),
            )
            user = ""


def _said(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def _text(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, Text))


_FOLDER = re.compile(r"(?<=/)[A-Za-z]{3,12}(?=/)")
_NUMBER = re.compile(r"[0-9]{2,9}")


def varied(text: str, time: int) -> str:
    """A text as it is said the n-th time: its folders have other names, and its numbers are others of the same length."""

    def number(match: re.Match[str]) -> str:
        return str((int(match[0]) + 7_919 * time) % 10 ** len(match[0])).zfill(len(match[0]))

    return _FOLDER.sub(lambda match: f"{match[0]}{time}", _NUMBER.sub(number, text)) if time else text


def work(session: Session, turn: Turn, *, number: int, time: int) -> None:
    """One turn, for the n-th time."""
    if turn.user:
        session.user(varied(turn.user, time))
    session.prepare()
    content: list[Any] = [{"type": "text", "text": varied(turn.text, time)}] if turn.text else []
    for place, (name, arguments) in enumerate(turn.calls):
        told = {"type": "tool_use", "id": f"t{number}_{place}", "name": name}
        content.append({**told, "input": _object(varied(arguments, time))})
    session.record({"id": "msg", "role": "assistant", "content": content, "stop_reason": "end_turn"})
    for place, (text, failed) in enumerate(turn.results):
        session.tool_result(f"t{number}_{place}", varied(text, time) or "done", is_error=failed)


def _object(json_text: str) -> dict[str, Any]:
    try:
        told = json.loads(json_text)
    except ValueError:
        return {"input": json_text}
    return told if isinstance(told, dict) else {"input": told}


def lived(home: Path, messages: int) -> Life:
    """A session of at least so many messages, which is the same when it is opened again."""
    turns, seconds, mib = recorded(), list[float](), list[float]()
    said = 0
    with foldline.open("long", format="anthropic", home=home, durability="checkpoint") as session:
        session.user("Find every use of the old client, and keep the public API as it is.")
        for number in count():
            turn = turns[number % len(turns)]
            started = time.thread_time()
            work(session, turn, number=number, time=number // len(turns))
            seconds.append(time.thread_time() - started)
            mib.append(resident())
            said += turn.messages
            if said >= messages:
                break
        made = sum(1 for one in session.compactions if one.counts)
        live = session.prepare().data
    with foldline.open("long", home=home, durability="checkpoint") as again:
        assert again.prepare().data == live
    return Life(messages=said, compactions=made, seconds=tuple(seconds), mib=tuple(mib))


def resident() -> float:
    """MiB of this process in memory; 0 where the system does not say it as Linux does."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def main() -> None:
    """Print the tenths of a session."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as folder:
        life = lived(Path(folder), messages)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.jsonl*"))
    told = [
        f"{life.messages:,} messages, {life.compactions:,} compactions, {size / 1e6:,.1f} MB on disk",
        *(f"tenth {number + 1:2}: {life.tenth(number)}" for number in range(TENTHS)),
    ]
    sys.stdout.write("\n".join([*told, ""]))


if __name__ == "__main__":
    main()
