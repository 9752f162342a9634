"""What a library has to do to be measured, and the plain form of a history that goes in and comes out.

A turn is one message without any library's shape; a result comes back as OpenAI chat messages. Imports the standard
library alone, so that a library's memory and import time are its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Chat: TypeAlias = dict[str, Any]
"""A message of OpenAI's chat format."""
Unit: TypeAlias = Literal["tokens", "messages", "target", "none"]
"""What a library is told to keep: tokens or messages at the end, the size of the whole, or nothing."""

OUT_OF_REACH = 10**9
SUMMARY = "SUMMARY: goal, files touched, decisions, next steps. " * 40
"""What the stub model answers, about 2,100 characters. It says nothing of any history."""


@dataclass(frozen=True)
class Call:
    """A tool call; arguments are JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Turn:
    """One message."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    """Of a result: the call it answers, and the tool's name."""
    name: str = ""
    usage: tuple[int, int] = (0, 0)
    """Of an assistant's message: tokens in and out, as a provider would have reported them."""


@dataclass(frozen=True)
class Limits:
    """When a compaction is due, and how much is to be left."""

    due: int
    """Tokens from which a compaction is due; below every history that is given."""
    target: int
    """Tokens that are wanted."""
    keep: int
    """How much of the end a library is told to keep, in its own unit: what is varied until the result has that size."""


NOTHING_DUE = Limits(due=OUT_OF_REACH, target=OUT_OF_REACH, keep=1_000)
"""For the check: a compaction is never due."""


class Peer(Protocol):
    """One library in one configuration."""

    unit: Unit
    sent: list[Any]
    """What the stub model was asked, in the library's own objects; empty where no model is asked."""

    def open(self, turns: Sequence[Turn]) -> Any:
        """The history as the library holds it."""
        ...

    def add(self, history: Any, turn: Turn) -> None:
        """One more message."""
        ...

    def check(self, history: Any) -> None:
        """What the library does before every model call, where nothing is due."""
        ...

    def compact(self, history: Any, limits: Limits) -> Any:
        """The compaction. `None` where the library declined."""
        ...

    def read(self, made: Any) -> list[Chat]:
        """What the model would see afterwards, the system prompt left out."""
        ...

    def asked(self) -> list[str]:
        """`sent` as text."""
        ...


def chat_of(turn: Turn) -> Chat:
    """A turn as a chat message."""
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    message: Chat = {"role": turn.role, "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [chat_call(call.id, call.name, call.arguments) for call in turn.calls]
        message["content"] = turn.text or None
    return message


def chat_call(id: str, name: str, arguments: Any) -> Chat:
    """A call of a chat message; arguments that are no text become JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def arguments_of(call: Call) -> dict[str, Any]:
    """The arguments as an object, which most libraries hold; text that is no object is wrapped in one."""
    try:
        value = json.loads(call.arguments)
    except ValueError:
        value = call.arguments
    return value if isinstance(value, dict) else {"input": value}


def dump_turns(turns: Sequence[Turn]) -> str:
    """Turns as JSON, for another process."""
    return json.dumps([asdict(turn) for turn in turns])


def load_turns(text: str) -> list[Turn]:
    """What `dump_turns` wrote."""
    return [
        Turn(**{**raw, "calls": tuple(Call(**call) for call in raw["calls"]), "usage": tuple(raw["usage"])})
        for raw in json.loads(text)
    ]


class Loop:
    """An event loop that stays, as an agent's does."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end."""
        return self._loop.run_until_complete(work)
