"""The histories that every library is given: the made-up conversation, and real sessions from files.

A session is read by this project's readers and brought to the chat form, so that all are given the same messages. The
system prompt stands apart, as every library here holds it, and is counted for none. A pi session is cut before its first
compaction. Each assistant's message gets the usage that a provider would have reported at that point.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.continuation.session import PI_COMPACTION
from benchmarks.peers.conversation import MESSAGES, conversation
from benchmarks.peers.peer import Call, Chat, Turn, chat_of
from foldline import files
from foldline.core.mending import mended
from foldline.core.message import Message
from foldline.core.ports import TokenCounter
from foldline.tokens.choose import counter_for
from foldline.transcript_history import history_for
from foldline.transcripts import detect
from foldline.wire.formats import codec

FORMAT = "openai-chat"
DATA = Path(__file__).parents[2] / "tests" / "data"
BUNDLED = (
    DATA / "pi" / "before-compaction-excerpt.jsonl",
    DATA / "trae" / "sonnet45-vllm-93e5f3c5-cut.json",
    DATA / "langgraph" / "deerflow-5aa47db1-cjk.json",
)
"""Small real sessions, so that a fresh clone can run it; long ones are given as arguments."""
MADE_UP = "made up"
SYSTEM = "You are a coding agent."


@dataclass(frozen=True)
class History:
    """One history and its size."""

    name: str
    turns: tuple[Turn, ...]
    tokens: int
    system: str = SYSTEM


def made_up(messages: int = MESSAGES) -> History:
    """The conversation of which only cost is measured."""
    return _weighed(MADE_UP, conversation(messages))


def from_file(path: str | Path) -> History:
    """The first conversation of a session file."""
    data = Path(path).read_bytes()
    lines = data.splitlines(keepends=True)
    end = next((at for at, line in enumerate(lines) if line.startswith(PI_COMPACTION)), None)
    if end is not None:
        data = b"".join(lines[:end])
    transcript = detect.read(data, name=str(path))[0]
    history = history_for(transcript, counter(), wire=FORMAT)
    sent = files.outgoing(transcript, history.view.items(), target=FORMAT)
    chat = codec(FORMAT)
    wire = [_encoded(message, chat) for message in sent.request.messages]
    system = "\n".join(message["content"] for message in wire if message["role"] == "system")
    return _weighed(Path(path).stem, turns_of(wire), system=system or SYSTEM)


def _encoded(message: Message, chat: Any) -> Chat:
    wire: Chat = chat.encode(message)
    content = wire.get("content")
    return {**wire, "content": plain(content) if content is not None else ""}


def plain(content: Any) -> str:
    """The text of a message's content; media are left out."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def turns_of(wire: Iterable[Chat]) -> list[Turn]:
    """Chat messages as turns, those of the system left out."""
    names: dict[str, str] = {}
    turns: list[Turn] = []
    for message in wire:
        match message["role"]:
            case "user":
                turns.append(Turn(role="user", text=message["content"]))
            case "tool":
                id = message["tool_call_id"]
                turns.append(
                    Turn(role="tool", text=message["content"], call_id=id, name=names.get(id, "tool"))
                )
            case "assistant":
                calls = tuple(_call(call) for call in message.get("tool_calls") or ())
                names.update({call.id: call.name for call in calls})
                turns.append(Turn(role="assistant", text=message["content"], calls=calls))
            case _:
                pass
    return turns


def _call(call: Chat) -> Call:
    return Call(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"] or "{}")


def counter() -> TokenCounter:
    """What all sizes are counted with."""
    return counter_for(counter="o200k_base")


def messages_of(wire: Iterable[Chat]) -> list[Message]:
    """Chat messages decoded, made storable where they hold half a surrogate pair."""
    chat = codec(FORMAT)
    return [mended(chat.decode(message)) for message in wire]


def _weighed(name: str, turns: list[Turn], *, system: str = SYSTEM) -> History:
    weights = counter().weights_of(messages_of(chat_of(turn) for turn in turns))
    each = [sum(parts) + overhead for parts, overhead in weights]
    sums = list(accumulate(each, initial=0))
    reported = [
        replace(turn, usage=(before, own)) if turn.role == "assistant" else turn
        for turn, before, own in zip(turns, sums[:-1], each, strict=True)
    ]
    return History(name=name, turns=tuple(reported), tokens=sums[-1], system=system)
