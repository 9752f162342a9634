"""What one more turn costs in a long conversation beside a short one: what a session adds must not grow with its history.

    python -m benchmarks.bench_turn [--quick]

A turn is an answer with a call, its result, and the next request, at 500 and at 8,000 messages and far from the threshold: in memory,
on a disk, with a call that was interrupted at the beginning (a history that is repaired with every request), and past the middle of
the way to the threshold, where facts are looked for ahead. Behind `wrap` and the proxy the caller's list comes whole with each
request; there the work grows with it by nature, and is set beside the least that can be done with such a body: read it, write it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from foldline.clients.calls import call_of
from foldline.clients.following import Conversations
from foldline.clients.sessions import Terms
from foldline.core.ports import Store
from foldline.presets import policy_of
from foldline.proxy.bodies import Bodies
from foldline.proxy.desk import Desk, Going
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.wire import strict

SIZES, SIZES_QUICK = (500, 8_000), (50, 100)
WINDOW = 20_000_000
"""Nothing is due in it."""
RESULT = "12 files were read, and the third of them is the one that matters here. " * 5
TURNS = 10
"""At a go: one is too quick to be timed."""
SESSION_MAX = 1.5
LIST_MAX = {"wrap": 1.5, "the proxy's desk": 1.5}
"""Of reading and writing the body. The desk reads of it what it did not have in common with the last one."""
FORMAT = "openai-chat"
USAGE = {"prompt_tokens": 1_000, "completion_tokens": 20, "total_tokens": 1_020}
TOKENS_A_MESSAGE, RESERVED = 74, 20_000
"""About: a window of so many and more than half as many again has its threshold farther away, and not twice as far."""


def asked_for(number: int) -> dict[str, Any]:
    """What the model says in a turn: a call."""
    function = {"name": "read_file", "arguments": json.dumps({"path": f"src/module_{number}.py"})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": f"I read file {number}.", "tool_calls": [call]}


def given_for(number: int) -> dict[str, Any]:
    """What the tool gave."""
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": f"{number}: {RESULT}"}


class Talk:
    """A session of so many messages, and its next turns."""

    def __init__(
        self,
        store: Store,
        size: int,
        *,
        window: int = WINDOW,
        is_broken: bool = False,
        is_counted: bool = True,
    ) -> None:
        self.session = open_in(store, f"s{size}", asked=SessionOptions(format=FORMAT, window=window))
        self._numbers = count()
        self._usage = {"usage": USAGE} if is_counted else {}
        self.session.user("Read all of it.")
        if is_broken:
            self._answered("lost")
            self.session.user("Go on.")
        while self.session.size < size:
            self._turn()
        self.session.prepare()

    def _answered(self, number: Any) -> None:
        choice = {"index": 0, "message": asked_for(number), "finish_reason": "tool_calls"}
        self.session.record({"object": "chat.completion", "choices": [choice], **self._usage})

    def _turn(self) -> None:
        number = next(self._numbers)
        self._answered(number)
        self.session.tool_result(f"call_{number}", given_for(number)["content"])

    def turns(self) -> None:
        """Some turns."""
        for _ in range(TURNS):
            self._turn()
            self.session.prepare()

    def written(self) -> None:
        """The body of a request."""
        assert self.session.prepare().data


class Agent:
    """A list of so many messages that grows by a turn a request, and is followed behind `wrap` or by the proxy's desk."""

    def __init__(self, size: int) -> None:
        self._numbers = count()
        self._messages: list[Any] = [{"role": "user", "content": "Read all of it."}]
        while len(self._messages) < size:
            self._grow()
        terms = Terms(open=self._opened, policy=policy_of("balanced", WINDOW))
        self._known = Conversations(terms, name="bench")
        self._bodies = Bodies()
        self._desk = Desk(lambda name, call: Conversations(terms, name=name))
        self.body = b""
        self.next()
        self.wrapped()
        self.proxied()

    @staticmethod
    def _opened(name: str, call: Any) -> Session:
        return open_in(MemoryStore(), name, asked=SessionOptions(format=call.format, window=WINDOW))

    def _grow(self) -> None:
        number = next(self._numbers)
        self._messages += [asked_for(number), given_for(number)]

    def next(self) -> None:
        """The next request."""
        self._grow()
        self.body = json.dumps({"model": "m", "messages": self._messages}, separators=(",", ":")).encode()

    def floor(self) -> None:
        """The least that can be done with a body: it is read, and written again."""
        strict.dump(json.loads(self.body))

    def wrapped(self) -> None:
        """Behind `wrap`."""
        call = call_of(self.body, format=FORMAT)
        assert call is not None, "it is a request of chat"
        assert self._known.outgoing(call) is not None, "it is a conversation"

    def proxied(self) -> None:
        """At the proxy's desk, from the bytes that came in."""
        call = self._bodies.call(self.body, format=FORMAT)
        assert call is not None, "it is a request of chat"
        going = self._desk.outgoing(call)
        assert isinstance(going, Going), "it is a conversation"
        self._desk.done(going)


def sessions(sizes: tuple[int, int], folder: Path, *, quick: bool) -> list[Bound]:
    """What a turn costs in a session."""
    makes: dict[str, Callable[[int], Talk]] = {
        "in memory": lambda size: Talk(MemoryStore(), size),
        "on a disk": lambda size: Talk(DiskStore(folder), size),
        "repaired": lambda size: Talk(MemoryStore(), size, is_broken=True),
        "past half the way": lambda size: Talk(
            MemoryStore(), size, window=size * TOKENS_A_MESSAGE * 8 // 5 + RESERVED, is_counted=False
        ),
    }
    bounds = []
    for name, make in makes.items():
        talks = {size: make(size) for size in sizes}
        works = {f"a turn {name}, at {size:,} messages": talk.turns for size, talk in talks.items()}
        found = {what: took / TURNS for what, took in cpu_medians(works, quick=quick).items()}
        milliseconds(found)
        short, long = found.values()
        what = f"a turn {name}: at {sizes[1]:,} ÷ at {sizes[0]:,} messages"
        bounds.append(Bound(what, long / short, most=SESSION_MAX))
        if name == "in memory":
            milliseconds(
                cpu_medians({f"(writing its body, at {sizes[1]:,})": talks[sizes[1]].written}, quick=quick)
            )
        for talk in talks.values():
            talk.session.close()
    return bounds


def lists(sizes: tuple[int, int], *, quick: bool) -> list[Bound]:
    """What a request costs whose list comes whole."""
    agent = Agent(sizes[1])
    works: dict[str, Callable[[], object]] = {
        "(next)": agent.next,
        "reading and writing the body": agent.floor,
        "(next, for wrap)": agent.next,
        "wrap": agent.wrapped,
        "(next, for the proxy)": agent.next,
        "the proxy's desk": agent.proxied,
    }
    medians = cpu_medians(works, quick=quick)
    shown = {name: took for name, took in medians.items() if not name.startswith("(")}
    print(f"{'a body of':<64} {len(agent.body) / 1e6:10.4g} MB")
    milliseconds({f"{name}, at {sizes[1]:,} messages": took for name, took in shown.items()})
    floor = shown["reading and writing the body"]
    return [
        Bound(f"{name} ÷ reading and writing the body", shown[name] / floor, most=most)
        for name, most in LIST_MAX.items()
    ]


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    sizes = SIZES_QUICK if quick else SIZES
    with tempfile.TemporaryDirectory() as folder:
        bounds = sessions(sizes, Path(folder), quick=quick)
    verdict([*bounds, *lists(sizes, quick=quick)], quick=quick)


if __name__ == "__main__":
    main()
