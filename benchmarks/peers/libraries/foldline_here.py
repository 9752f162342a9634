"""This project, through the same door as the others.

`Held` is a history kept in memory, as a session keeps it: each message weighed once, so that a check is one decode, one
count and one comparison. `Stateless` is `foldline.compact` called on the caller's whole list each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import foldline
from benchmarks.bench_compact import without_facts
from benchmarks.peers.peer import OUT_OF_REACH, Chat, Limits, Turn, Unit, chat_of
from foldline.core.budget import Room
from foldline.core.view import View, item_of
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.memory import forget
from foldline.outgoing import joined
from foldline.presets import policy_of
from foldline.reduce import Goal, History, Reduced, history_of, reduce
from foldline.tokens.choose import counter_for
from foldline.wire.formats import codec

FORMAT = "openai-chat"
KNOWN_SHARE = 0.13
"""Size of the compaction that finds the facts first: as small as the one that is measured, so that it finds them all."""


class _View:
    """A history in memory, and the message that has just come."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.view: View = history.view
        self.came: list[Chat] = []


class Held:
    """A policy on a history whose messages are weighed already."""

    unit: Unit = "target"
    facts_known = False

    def __init__(self, policy: Policy | None = None) -> None:
        self.sent: list[Any] = []
        self._policy = policy or policy_of("balanced")
        self._chat = codec(FORMAT)
        self._counter = counter_for(counter=self._policy.counter or "o200k_base")
        self._needs = self._chat.rules.needs
        self.report: Report | None = None

    def open(self, turns: Sequence[Turn]) -> Any:
        messages = [self._chat.decode(chat_of(turn)) for turn in turns]
        history = history_of(messages, needs=self._needs, counter=self._counter, tokens_fixed=0)
        if self.facts_known:
            self._reduce(history, int(history.tokens * KNOWN_SHARE))
        return _View(history)

    def add(self, history: Any, turn: Turn) -> None:
        history.came.append(chat_of(turn))

    def check(self, history: Any) -> None:
        while history.came:
            message = self._chat.decode(history.came.pop())
            weights, overhead = self._counter.weights(message)
            item = item_of(history.view.next_seq, message, weights=weights, overhead=overhead)
            history.view = history.view.append(item)
        if history.view.tokens >= self._policy.threshold.tokens(Room(OUT_OF_REACH)):
            raise AssertionError("the threshold is out of reach")

    def compact(self, history: Any, limits: Limits) -> Any:
        return self._reduce(history.history, limits.keep)

    def _reduce(self, history: History, to: int) -> Reduced:
        goal = Goal(policy=self._policy, to=to)
        return reduce(history, goal, counter=self._counter, report=Report(format=FORMAT))

    def read(self, made: Any) -> list[Chat]:
        self.report = made.report
        sent = joined(made.view.items(), self._chat, rules=self._chat.rules)
        return [dict(self._chat.encode(message)) for message in sent]

    def asked(self) -> list[str]:
        return []


class FactsKnown(Held):
    """The same after a first compaction: the facts of every message are found."""

    facts_known = True


class Template(Held):
    """`balanced` without a look for facts: one line a message where rounds are folded."""

    def __init__(self) -> None:
        super().__init__(without_facts(policy_of("balanced")))


class LadderMinimal(Held):
    """The preset that drops the oldest messages and leaves a notice. It counts characters, so what it is told to reach is
    varied, as for the other libraries."""

    unit: Unit = "tokens"

    def __init__(self) -> None:
        super().__init__(policy_of("ladder-minimal"))


class Stateless:
    """`foldline.compact(messages, to=…)`: decode, count, reduce, encode, and the whole report with its retention. The
    facts that an earlier call found are forgotten."""

    unit: Unit = "target"
    facts_known = False

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.report: Report | None = None

    def open(self, turns: Sequence[Turn]) -> Any:
        messages = [chat_of(turn) for turn in turns]
        forget()
        if self.facts_known:
            foldline.compact(messages, to=KNOWN_SHARE, format=FORMAT)
        return messages

    def add(self, history: Any, turn: Turn) -> None:
        history.append(chat_of(turn))

    def check(self, history: Any) -> None:
        foldline.compact(history, to=OUT_OF_REACH, format=FORMAT)

    def compact(self, history: Any, limits: Limits) -> Any:
        return foldline.compact(history, to=limits.keep, format=FORMAT)

    def read(self, made: Any) -> list[Chat]:
        self.report = made.report
        return [dict(message) for message in made.messages]

    def asked(self) -> list[str]:
        return []


class StatelessKnown(Stateless):
    """The same where an earlier call has found the facts."""

    facts_known = True
