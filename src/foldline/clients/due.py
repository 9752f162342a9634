"""Whether a reduction may be due for a list that no session keeps yet, now or soon. A session that would find one due is begun before its
request goes out, always; one that may find one due soon is begun behind the answer, which nobody waits for. One begun too early costs
time alone, so what is said here may be too high, and never too low.

    bytes of the list          no token is shorter than a byte: below the line nothing is due, and nearly always that is all
    bytes, and what is counted  else its longest messages are counted, until what is counted and the bytes of the rest are below the line
    the provider's own count   of the last answer, and the bytes of what came since; soon: what it comes to as it is

What is counted is remembered with the look at its message. Pictures, and what is not known here, stay at their bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from foldline.clients.chains import Fixed, ReadList
from foldline.clients.looks import is_text
from foldline.core.message import Message
from foldline.engine.policy import Policy
from foldline.settings import Planned
from foldline.tokens.choose import counter_for
from foldline.tokens.counter import Counter

ALWAYS_BYTES_MIN: Final = 4_000
"""Bytes of the shortest message that is shortened before a request of any size (requirement BUD-6)."""
NOW_SLACK: Final = 1.05
"""So many times what is counted here is taken for what a session would count of the same list, whose messages it weighs one by one."""
SOON_SLACK: Final = 4 / 3
"""So many times what is counted is taken for tokens where it is to be known what is due soon: a session is to hear the provider's own count
before it has to decide, and the two differ by a few per cent, for a model whose tokenizer is not known by some thirty."""
FIXED_MAX: Final = 16
"""System prompts and tools whose count is remembered."""
TRIED_SHARE: Final = 1 / 8
"""Once so much of a list was counted, one that goes on like that beyond the line is not counted further."""


class Due:
    """Of one client."""

    def __init__(self, policy: Policy, plan: Callable[[ReadList], Planned]) -> None:
        self._policy, self._plan = policy, plan
        self._whens = frozenset(tier.when for tier in policy.tiers)
        self._fixed: dict[tuple[Fixed, str], int] = {}
        """Tokens of system prompts and tools that were counted."""

    def is_short(self, read: ReadList) -> bool:
        """True where bytes alone rule a reduction out."""
        if read.is_short is None:
            planned = self._plan(read)
            read.is_short = not self._is_blind(read, planned) and read.size <= self._room(read, planned)
        return read.is_short

    def may_be(self, read: ReadList, *, reported: int = 0) -> bool:
        """True where a reduction cannot be ruled out. `reported`: most tokens by the provider's count, where it gave one. Raises
        `Unreadable`."""
        if self.is_short(read):
            return False
        planned = self._plan(read)
        room = self._room(read, planned)
        if self._is_blind(read, planned) or reported > room or not planned.is_window_known:
            return True
        return not self._is_below(read, planned, room=room, slack=NOW_SLACK)

    def may_be_soon(self, read: ReadList, *, reported: int = 0) -> bool:
        """True for a list that was not found due, and whose next one may be. `reported`: its tokens by the provider's count, where it
        gave one. Raises `Unreadable`."""
        if self.is_short(read):
            return False
        planned = self._plan(read)
        room = self._room(read, planned)
        if reported:
            return reported * SOON_SLACK > room
        return not self._is_below(read, planned, room=room, slack=SOON_SLACK)

    def _is_blind(self, read: ReadList, planned: Planned) -> bool:
        """True where something may be done whatever the size."""
        always = read.longest >= ALWAYS_BYTES_MIN and "always" in self._whens
        return always or ("blind" in self._whens and not planned.is_window_known)

    def _room(self, read: ReadList, planned: Planned) -> int:
        """Tokens of a request for which nothing is due: below the threshold, the hand-off and the advice, and beside the output that it
        asks for, whose cap may have to be lowered else."""
        policy = self._policy
        lines = [line for line in (policy.threshold, policy.handoff, policy.advice) if line is not None]
        within = planned.room(read.call.output_cap)
        least = min(line.tokens(within) - (not line.over) for line in lines)
        return min(least, planned.window_shared - (read.call.output_cap or 0))

    def _is_below(self, read: ReadList, planned: Planned, *, room: int, slack: float) -> bool:
        """True once that is clear; false once a part of the list was counted that goes on beyond the line, or all of it. `slack`: so many
        times what is counted is taken for tokens."""
        name = self._policy.counter or planned.counter
        counter = counter_for(read.call.model, counter=name, wire=read.call.format)
        tried, tokens = read.fixed_size, self._fixed_tokens(read, counter)
        unknown: list[int] = []
        for place, look in enumerate(read.looks):
            if look.counter == counter.name:
                tried, tokens = tried + len(read.wires[place]), tokens + look.tokens
            else:
                unknown.append(place)
        for place in sorted(unknown, key=lambda place: len(read.wires[place]), reverse=True):
            goes_beyond = tried > TRIED_SHARE * read.size and read.size * tokens * slack > room * tried
            if goes_beyond or read.size - tried + tokens * slack <= room:
                break
            look, size = read.looks[place], len(read.wires[place])
            look.counter, look.tokens = counter.name, _tokens(read.weighable(place), counter, size=size)
            tried, tokens = tried + size, tokens + look.tokens
        return read.size - tried + tokens * slack <= room

    def _fixed_tokens(self, read: ReadList, counter: Counter) -> int:
        key = (read.fixed, counter.name)
        found = self._fixed.get(key)
        if found is None:
            if len(self._fixed) >= FIXED_MAX:
                self._fixed.clear()
            found = self._fixed[key] = read.fixed_tokens(counter) + counter.tools_overhead
        return found


def _tokens(message: Message, counter: Counter, *, size: int) -> int:
    """At most so many. A part that is no text may weigh what its bytes do."""
    if not is_text(message):
        return size
    weights, overhead = counter.weights(message)
    return min(size, sum(weights) + overhead)
