"""Loads the inputs of the fault reports, grows them until reducing pays, and reduces them through the public door.

The inputs are a few words each; a history of fifty tokens cannot become smaller, so a test over it alone could not
fail. `grown` adds filler to every text but the last, and a test then squeezes to every share of `SHARES`, so that
the cut falls before, inside and behind everything the report speaks of. Knows nothing of how foldline works inside.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import foldline
from tests.judges import panel

DATA = Path(__file__).parent.parent / "data" / "bugs"
SHARES = (0.9, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Targets as shares of what came in, each a place where the cut may fall."""
FILLER_WORDS = 160
FORMAT_OF_WIRE = {"anthropic": "anthropic", "openai": "openai-chat", "ollama": "openai-chat"} | {
    name: name for name in ("openai-responses", "gemini")
}
LIST_KEYS = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}
FORMATS = tuple(LIST_KEYS)

ROLES = ("user", "message", "input_text", "text")
"""Strings of a message's envelope."""

Message = dict[str, Any]


class Case(NamedTuple):
    """One report's input."""

    source: str
    format: str
    messages: list[Message]
    op: dict[str, Any]
    payload: dict[str, Any]


class Squeezed(NamedTuple):
    """What a reduction gave."""

    share: float
    messages: list[Message]
    report: dict[str, Any]


def load(id: str) -> Case:
    """The input of one report, with its repeated texts written out."""
    raw = json.loads((DATA / f"{id}.json").read_text(encoding="utf-8"))
    return Case(
        source=raw["source"],
        format=FORMAT_OF_WIRE[raw.get("wire", "anthropic")],
        messages=_expanded(raw.get("messages", [])),
        op=raw["op"],
        payload=_expanded(raw.get("payload", {})),
    )


def _expanded(value: Any) -> Any:
    if isinstance(value, list):
        return [_expanded(part) for part in value]
    if isinstance(value, dict):
        if "$repeat" in value:
            return value["$repeat"] * value["times"]
        return {key: _expanded(part) for key, part in value.items()}
    return value


def grown(messages: list[Message]) -> list[Message]:
    """A copy in which every visible text but the last message's has some hundred words more."""
    numbers = itertools.count(1)

    def more(text: str) -> str:
        if not text.strip():
            return text
        number = next(numbers)
        return text + "\n" + " ".join(f"w{number}x{word}" for word in range(FILLER_WORDS))

    return [_mapped(message, more) for message in messages[:-1]] + copy.deepcopy(messages[-1:])


def _mapped(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    if isinstance(value, str):
        return change(value) if key in ("content", "text", "output") else value
    if isinstance(value, list):
        return [_mapped(part, change, key if isinstance(part, (dict, list)) else "") for part in value]
    if isinstance(value, dict) and key not in ("input", "args", "function"):
        return {name: _mapped(part, change, name) for name, part in value.items()}
    return copy.deepcopy(value)


def squeezed(messages: list[Message], *, format: str, to: float | int) -> Squeezed:
    """The history reduced to a target, or the smallest there is where the target cannot be reached."""
    given = copy.deepcopy(messages)
    try:
        out = foldline.compact(messages, to=to, format=format)
    except foldline.TargetUnreachable as error:
        out = error.result
    assert messages == given, "the input was changed"
    return Squeezed(to, list(out.messages), out.report.to_dict())


def squeezes(messages: list[Message], *, format: str) -> Iterator[Squeezed]:
    """The history reduced to every share, each result judged valid; at least one of them is shorter than it was."""
    shorter = False
    for share in SHARES:
        out = squeezed(messages, format=format, to=share)
        found = judged(out.messages, format=format)
        assert not found, f"at {share}: {found}"
        assert out.report["valid"] is True
        shorter = shorter or len(out.messages) < len(messages)
        yield out
    assert shorter, "nothing was ever folded: the test would prove nothing"


def judged(messages: list[Message], *, format: str) -> list[str]:
    """What the judges say against the messages; calls at the very end may wait."""
    return panel.violations({LIST_KEYS[format]: messages}, format=format, open_tail=True)


def texts(value: Any) -> list[str]:
    """Every string anywhere in a value, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return []


def ends_with(messages: list[Message], last: Message) -> bool:
    """True when the words of `last` close the history and stand nowhere else, perhaps beside a fold in one message."""
    words = [text for text in texts(last) if text not in ROLES]
    said = texts(messages)
    return texts(messages[-1])[-len(words) :] == words and all(said.count(text) == 1 for text in words)


def all_text(value: Any) -> str:
    """Every string anywhere in a value, one a line."""
    return "\n".join(texts(value))
