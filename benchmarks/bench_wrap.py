"""What a client that keeps a session adds to a call, on a conversation of 2,000 messages.

    python -m benchmarks.bench_wrap [--quick]

Each call sends the whole list with one more turn, as agents do. At most `RATIO_MAX` times what writing the request as JSON costs
in the same run; below the threshold, where nothing is done for it, and behind a compaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from benchmarks.histories import chat_history
from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from foldline.clients.calls import Call, call_of
from foldline.clients.following import Conversations
from foldline.clients.sessions import Terms
from foldline.presets import policy_of
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore
from foldline.wire import strict

RATIO_MAX = 3.0
MESSAGES, MESSAGES_QUICK = 2_000, 100
MODEL = "gpt-4.1"
WINDOW = 2_000_000
"""Tokens: the whole list fits."""
TARGET = 0.3


class Agent:
    """A list that grows by a turn a call, and the conversation of a client that follows it."""

    def __init__(self, messages: list[Any], *, compacted: bool = False) -> None:
        self._messages, self._turn = list(messages), 0
        terms = Terms(open=opened, policy=policy_of("balanced", WINDOW), model=MODEL)
        self._known = Conversations(terms, name="bench")
        self.outgoing_of_values()
        if compacted and self._known.session is not None:
            self._known.session.compact(to=TARGET)

    def body(self) -> dict[str, Any]:
        """The next request."""
        self._turn += 1
        said = [("assistant", f"answer {self._turn}"), ("user", f"step {self._turn}")]
        self._messages += [{"role": role, "content": text} for role, text in said]
        return {"model": MODEL, "messages": self._messages, "temperature": 0}

    def outgoing_of_values(self) -> None:
        """As for a client whose body is a value."""
        self._go(call_of(self.body(), format="openai-chat"))

    def outgoing_of_bytes(self, data: bytes) -> None:
        """As for a client whose body is written already."""
        strict.loads(data)
        self._go(call_of(data, format="openai-chat"))

    def _go(self, call: Call | None) -> None:
        assert call is not None, "it is a request of chat"
        assert self._known.outgoing(call) is not None, "it is a conversation"


def opened(name: str, call: Call) -> Session:
    """In memory: what a disk takes is its own affair."""
    return open_in(MemoryStore(), name, asked=SessionOptions(model=MODEL, format=call.format, window=WINDOW))


def written(body: dict[str, Any]) -> bytes:
    """As the SDKs write it."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    size = MESSAGES_QUICK if quick else MESSAGES
    history = chat_history(size)
    plain, values, data, shrunk = (
        Agent(history),
        Agent(history),
        Agent(history),
        Agent(history, compacted=True),
    )
    pending: list[bytes] = []
    encoding = f"writing a request of {size:,} messages"
    works: dict[str, Callable[[], object]] = {
        encoding: lambda: written(plain.body()),
        "wrap, on values": values.outgoing_of_values,
        "(the request that is next read from bytes)": lambda: pending.append(written(data.body())),
        "wrap, on bytes": lambda: data.outgoing_of_bytes(pending.pop()),
        "wrap, behind a compaction": shrunk.outgoing_of_values,
    }
    medians = cpu_medians(works, quick=quick)
    milliseconds({name: seconds for name, seconds in medians.items() if not name.startswith("(")})
    ours = [name for name in works if name.startswith("wrap")]
    floor = medians[encoding]
    verdict(
        [Bound(f"{name} ÷ {encoding}", medians[name] / floor, most=RATIO_MAX) for name in ours], quick=quick
    )


if __name__ == "__main__":
    main()
