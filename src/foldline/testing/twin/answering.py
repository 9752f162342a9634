"""From a scripted answer to what is said of it: output counted, cut by the request's cap, given its reason to stop and its ids.

What is true of an answer in every dialect; how it is spelt is each dialect's own. A cut answer is what a summariser with too
small an output cap gives, so the text that is sent is really cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from foldline.testing.twin.measure import Scales
from foldline.testing.twin.script import DELTA_CHARS, Answer, Call, Delivery, Stop


class Said(Struct, frozen=True, kw_only=True):
    """An answer as it is sent."""

    text: str
    thinking: str
    redacted: bool
    calls: tuple[Call, ...]
    """Each with an id."""
    behind: str
    """Text behind these."""
    stop: Stop
    tokens: int
    tokens_thinking: int
    usage: Mapping[str, Any]
    delivery: Delivery


def said(answer: Answer, scales: Scales, *, cap: int | None, id: Callable[[], str]) -> Said:
    """The answer, with at most `cap` tokens of output."""
    calls = tuple(Call(name=call.name, arguments=call.arguments, id=call.id or id()) for call in answer.calls)
    thought, spoken = scales.text(answer.thinking), scales.text(answer.text)
    called = sum(scales.text(f"{call.name}\n{arguments(call)}") for call in calls) + scales.text(
        answer.behind
    )
    text, stop = answer.text, answer.stop
    tokens = thought + spoken + called
    if cap is not None and tokens > cap and stop is None:
        text, calls = first(answer.text, max(cap - thought, 0), scales=scales), ()
        stop, tokens = "length", thought + scales.text(text)
    return Said(
        text=text,
        thinking=answer.thinking,
        redacted=answer.redacted,
        calls=calls,
        behind=answer.behind if calls else "",
        stop=stop or ("tool_calls" if calls else "end"),
        tokens=max(tokens, 1),
        tokens_thinking=thought,
        usage=answer.usage,
        delivery=answer.delivery,
    )


def arguments(call: Call) -> str:
    """A call's arguments as JSON text."""
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))


def arguments_value(call: Call) -> Any:
    """A call's arguments as a value, for dialects that send no text."""
    return json.loads(call.arguments) if isinstance(call.arguments, str) else dict(call.arguments)


def first(text: str, tokens_max: int, *, scales: Scales) -> str:
    """The longest beginning of a text that is no more than `tokens_max`."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if scales.text(text[:middle]) <= tokens_max else (low, middle - 1)
    return text[:low]


def deltas(text: str) -> Iterator[str]:
    """A text in the pieces of a stream."""
    for at in range(0, len(text), DELTA_CHARS):
        yield text[at : at + DELTA_CHARS]


def overridden(usage: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A usage in which the script has the last word."""
    return {
        key: value for key, value in {**usage, **changes}.items() if key not in changes or value is not None
    }


def frame(data: Any, event: str | None = None) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {text}\n\n".encode()
