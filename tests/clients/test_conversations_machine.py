"""Random callers of one client, as agents are written: they go on, say their newest message anew, begin their answers, ask for titles,
rewind, run again, start sub-agents, start again, and their disk fails. What must hold is said of every request.

Laws TAIL and PREFIX, and requirement STO: one conversation is one session.
"""

from __future__ import annotations

import errno
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from foldline.clients.following import Conversations
from foldline.core.errors import SessionFailed
from foldline.stores.disk import DiskStore
from foldline.testing.disk import Call, SimulatedDisk
from foldline.testing.judges import openai_chat as judge
from tests.clients.lists import MODEL, answer, assistant, call, conversations, long, sent, user

SIZES = st.sampled_from([10, 900, 30_000])
SAID_ANEW = st.sampled_from(["", "a reminder", "a beginning"])
BEGINNING = "{"


class Callers(RuleBasedStateMachine):
    """One agent that keeps its own list, and what else goes through its client."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = False
        self.store = DiskStore("home", fs=SimulatedDisk(fault=self.fault))
        self.known: Conversations = conversations(store=self.store)
        self.messages: list[Any] = [user("Fix the login. Never touch auth.py.")]
        self.rewound = False
        self.has_begun = False
        """True once its list was known in this run of the program: whoever comes first has the named session."""
        self.turns = 0

    def fault(self, call: Call) -> None:
        if self.is_full and call.kind == "write":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def ask(self, messages: list[Any], *, system: str = "be brief") -> str | None:
        """A request and its answer; `None` where it was not sent."""
        asked = call(messages, system=system)
        try:
            going = self.known.outgoing(asked)
        except SessionFailed:
            assert self.is_full
            return None
        assert going is not None, self.known.passed
        shown = sent(going, asked)
        assert shown[-1] == messages[-1], "what is sent ends with the caller's last message"
        found = judge.violations({"model": MODEL, "messages": shown})
        assert not found, found
        self.turns += 1
        text = f"answer {self.turns}"
        self.known.answered(going.ticket, answer(text))
        return text

    @rule(tokens=SIZES, how=SAID_ANEW)
    def go_on(self, tokens: int, how: str) -> None:
        """A turn of the agent. Its newest message may carry what the next list does not have, or it may begin the answer."""
        messages, beginning = list(self.messages), ""
        if how == "a reminder":
            messages[-1] = user(f"{messages[-1]['content']}\n<now>{self.turns}</now>")
        elif how == "a beginning":
            beginning = BEGINNING
            messages.append(assistant(beginning))
        text = self.ask(messages)
        if text is not None:
            self.has_begun = True
            step = user(f"step {self.turns} {long(f'w{self.turns}x', tokens)}")
            self.messages += [assistant(beginning + text), step]

    @rule()
    def ask_again(self) -> None:
        """A retry, whose answer is dropped."""
        self.has_begun = self.ask(self.messages) is not None or self.has_begun

    @precondition(lambda self: self.has_begun)
    @rule()
    def title(self) -> None:
        """A short request about nothing that is known."""
        self.ask([user("Write a title.")], system="You write titles.")

    @precondition(lambda self: self.has_begun and len(self.messages) > 4)
    @rule()
    def side_question(self) -> None:
        """One that begins like the conversation, and goes no further. The first answer has come back: before that nothing tells it from a
        conversation whose answer was dropped."""
        self.ask([*self.messages[:1], user("Sum it up.")])

    @precondition(lambda self: self.has_begun)
    @rule(turns=st.integers(1, 3), tokens=SIZES)
    def sub_agent(self, turns: int, tokens: int) -> None:
        """Some turns of another conversation, while this one waits."""
        messages = [user(f"You are reviewer {self.turns}.")]
        for n in range(turns):
            text = self.ask(messages, system="You review.")
            if text is None:
                return
            messages += [assistant(text), user(f"review {n} {long(f'r{self.turns}x', tokens)}")]

    @precondition(lambda self: self.has_begun and len(self.messages) > 2)
    @rule(turns=st.integers(1, 3))
    def run_again(self, turns: int) -> None:
        """Its first turns once more, as they were recorded: whatever is answered, the list has what was answered then."""
        for n in range(turns):
            if self.ask(self.messages[: 2 * n + 1]) is None:
                return

    @precondition(lambda self: len(self.messages) > 4)
    @rule()
    def rewind(self) -> None:
        """A turn is said anew."""
        self.messages = [*self.messages[:-2], user(f"another way {self.turns}")]
        self.rewound = True

    @rule()
    def start_again(self) -> None:
        """The program ends and begins anew, with its list."""
        self.known.close()
        self.is_full = self.has_begun = False
        self.known = conversations(store=self.store)

    @rule(is_full=st.booleans())
    def fill_or_empty(self, is_full: bool) -> None:
        """The disk takes no more, or does again."""
        self.is_full = is_full

    def teardown(self) -> None:
        """One conversation is one session, whatever it carried along and whatever else went on: all of it is in `main`, in order, at
        the latest when it has gone on for two turns."""
        self.is_full = False
        if not self.rewound:
            for _ in range(2):
                self.go_on(10, "")
            assert self.ask(self.messages) is not None
            assert self.known.session is not None
            said = [message["content"] for message in self.known.session.messages]
            assert said[:-1] == [message["content"] for message in self.messages]
        self.known.close()


Callers.TestCase.settings = settings(
    max_examples=25, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck)
)
TestCallers = Callers.TestCase
