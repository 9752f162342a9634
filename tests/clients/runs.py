"""Runs of one task, as of an eval that is run again: an agent whose model answers the same question with the same words.

A run keeps its own list and sends all of it each time. It may take another way from a turn on, or be given answers that are none of
those in its list, as one that replays what was recorded.
"""

from __future__ import annotations

from typing import Any

from foldline.clients.following import Conversations
from tests.clients.lists import answer, assistant, call, long, sent, user

WINDOW = 12_000
"""Of the model: every second turn of a run is folded from the fourth on."""
TURN_TOKENS = 900


class Run:
    """One run. `other_from`: the turn from which on it goes a way of that name; `is_recorded`: what is answered does not come back."""

    def __init__(
        self, *, other_from: int | None = None, way: str = "another way", is_recorded: bool = False
    ) -> None:
        self._other_from, self._way, self._is_recorded = other_from, way, is_recorded
        self.turns = 0
        self.sent: list[list[Any]] = []
        """What went out, request by request."""
        self.breaks = 0
        """Requests that did not begin with the one before."""
        self.messages: list[Any] = [self._step()]

    def _words(self, turn: int) -> str:
        is_other = self._other_from is not None and turn >= self._other_from
        return f"step {turn}, {self._way}" if is_other else f"step {turn}"

    def _step(self) -> Any:
        return user(f"{self._words(self.turns)} {long(f'w{self.turns}x', TURN_TOKENS)}")

    def ask(self, known: Conversations) -> None:
        """A request, whose answer is dropped."""
        asked = call(self.messages)
        going = known.outgoing(asked)
        assert going is not None
        shown = sent(going, asked)
        assert shown[-1] == self.messages[-1]
        if self.sent:
            self.breaks += shown[: len(self.sent[-1])] != self.sent[-1]
        self.sent.append(shown)
        given = "Noted." if self._is_recorded else self._answer()
        known.answered(going.ticket, answer(given))

    def _answer(self) -> str:
        return f"looked at {self._words(self.turns)}"

    def turn(self, known: Conversations) -> None:
        """A request, and what the agent appends then."""
        self.ask(known)
        self.messages.append(assistant(self._answer()))
        self.turns += 1
        self.messages.append(self._step())

    def to(self, turns: int, known: Conversations) -> Run:
        """All turns up to that one."""
        while self.turns < turns:
            self.turn(known)
        return self
