"""Repair of a history that only grows: its beginning is repaired once, and what is new is repaired behind it.

    repaired once                          with each request
    [user][a c1][r1] … [a c7][r7][user]  │ [a c8][r8]
                                         cut: an assistant begins behind somebody else

Up to a cut every round is closed, so that `repair` of the whole is that of the beginning and of the rest, one behind the other. What
could reach back over a cut is looked for, and `None` says that it was found: a result for a call before it, an id in another
meaning, a system message out of place. Then the whole has to be repaired, by `foldline.core.repair`, whose answer this one is.
Knows nothing of views and weights; counterpart in a session: `foldline.session.fitting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import Message, Text, ToolCall, ToolResult, calls_of, results_of
from foldline.core.needs import Needs
from foldline.core.pairing import Placed, Repair
from foldline.core.repair import Repaired, cleaned, paired, repair
from foldline.core.system_place import misplaced

AHEAD: Final = Message(role="assistant", parts=(Text(text="…"),))
"""Stands for the assistant's message behind a cut: what stands before it is the end of no history."""


class Ids:
    """The ids that a beginning speaks of. Mutable: grows with it."""

    def __init__(self) -> None:
        self._kinds: dict[str, str | None] = {}
        """By id, the kind of its calls and results; `None` for one that has several."""
        self._loose: set[str] = set()
        """Of results that stood before any call of theirs."""
        self._written: set[str] = set()
        """That a repair gave to calls."""

    def __contains__(self, id: object) -> bool:
        """True for an id that stands for a call."""
        return id in self._kinds or id in self._written

    def take(self, message: Message) -> None:
        """Take in a message as it was before its repair."""
        for part in _pairing(message):
            if isinstance(part, ToolResult) and part.call_id not in self._kinds:
                self._loose.add(part.call_id)
            elif self._kinds.setdefault(_id(part), part.kind) != part.kind:
                self._kinds[_id(part)] = None

    def write(self, message: Message) -> None:
        """Take in a message that a repair wrote."""
        self._written.update(call.id for call in calls_of(message))

    def are_named_in(self, messages: Sequence[Message]) -> bool:
        """True where messages may answer a call that stands before them, or use an id in another meaning."""
        called: set[str] = set()
        for message in messages:
            for part in _pairing(message):
                id = _id(part)
                if id in self._loose or self._kinds.get(id, part.kind) != part.kind:
                    return True
                if isinstance(part, ToolCall):
                    called.add(id)
                elif id in self._kinds and id not in called:
                    return True
        return False


def _pairing(message: Message) -> Iterator[ToolCall | ToolResult]:
    """The parts of a message that make pairs."""
    yield from calls_of(message) if message.role == "assistant" else results_of(message)


def _id(part: ToolCall | ToolResult) -> str:
    return part.id if isinstance(part, ToolCall) else part.call_id


class Beginning:
    """The repaired beginning of one history: what the repair of the rest has to know of it."""

    def __init__(self) -> None:
        self._ids = Ids()
        self._last: Message | None = None
        """Of what was repaired; `None` while there is nothing."""
        self.count = 0
        """Messages of the history that it holds."""

    def take(self, messages: Sequence[Message], needs: Needs) -> Repaired | None:
        """What comes next, up to a cut, repaired; it is of the beginning from here on. `None`, and nothing taken in, where the rest
        cannot be repaired alone."""
        needs = replace(needs, tail_stays_open=False)
        if not _is_plain(messages) or not _stays(messages[-1], needs):
            return None
        given = (*messages, AHEAD)
        made = self._behind(given, needs) if self.count else repair(given, needs)
        done = None if made is None else _before(made, self.count + len(messages))
        if done is None or not _may_stand(done):
            return None
        for message in messages:
            self._ids.take(message)
        own = set(map(id, messages))
        for placed in done.placed:
            if id(placed.message) not in own:
                self._ids.write(placed.message)
        self._last, self.count = done.placed[-1].message, self.count + len(messages)
        return done

    def rest(self, messages: Sequence[Message], needs: Needs) -> Repaired | None:
        """All that comes behind, repaired; `None` where the whole has to be."""
        return self._behind(messages, needs) if self.count and _is_plain(messages) else None

    def _behind(self, messages: Sequence[Message], needs: Needs) -> Repaired | None:
        if self._ids.are_named_in(messages):
            return None
        repairs: list[Repair] = []
        clean = cleaned(messages, needs, repairs=repairs, first=self.count)
        if not clean or clean[0].seq != self.count or clean[0].message.role != "assistant":
            return None
        placed = paired(clean, needs, repairs=repairs, taken=self._ids)
        if needs.system_between and self._are_misplaced(placed):
            return None
        return Repaired(placed=tuple(placed), repairs=tuple(sorted(repairs, key=lambda one: one.seq)))

    def _are_misplaced(self, placed: Sequence[Placed]) -> bool:
        messages = [one.message for one in placed]
        if not any(message.role == "system" for message in messages):
            return False
        assert self._last is not None, "something stands before"
        return any(misplaced([self._last, *messages]))


def _before(done: Repaired, count: int) -> Repaired:
    """What a repair made of so many messages."""
    return Repaired(
        placed=tuple(one for one in done.placed if one.seq < count),
        repairs=tuple(one for one in done.repairs if one.seq < count),
    )


def _may_stand(done: Repaired) -> bool:
    """True for a beginning that stays as it is: somebody speaks in it, no system message looks for its place, and an assistant
    behind it begins a round."""
    speaks = any(one.message.role != "system" for one in done.placed)
    is_moved = any(one.kind == "moved-system" for one in done.repairs)
    return speaks and not is_moved and done.placed[-1].message.role not in ("assistant", "system")


class Grown(Struct, frozen=True, kw_only=True):
    """How a history came to be repaired that has grown."""

    is_anew: bool = False
    """True where `taken` is all of the beginning, which was repaired once more."""
    taken: Repaired | None = None
    """What has become part of the beginning; `None` for nothing."""
    rest: Repaired | None = None
    """What is behind that; `None` where the whole has to be repaired."""


class Growing:
    """One history that grows. Mutable."""

    def __init__(self, needs: Needs) -> None:
        self._needs, self._beginning = needs, Beginning()
        self._again_from = 0
        """Messages that there are before a beginning is tried again: twice as many each time that it was none."""

    @property
    def count(self) -> int:
        """Messages of the beginning: those that need not be given again."""
        return self._beginning.count

    def grown(self, new: Sequence[Message], *, whole: Callable[[], Sequence[Message]]) -> Grown:
        """Repair a history of which `new` is all behind the beginning. `whole`: gives all of it, in the rare case."""
        at, is_anew, taken = last_cut(new), False, None
        if at:
            taken = self._beginning.take(new[:at], self._needs)
            if taken is None and self.count + at >= self._again_from:
                taken = self._begun_anew(whole()[: self.count + at])
                is_anew = taken is not None
        return Grown(
            is_anew=is_anew,
            taken=taken,
            rest=self._beginning.rest(new[at:] if taken is not None else new, self._needs),
        )

    def _begun_anew(self, messages: Sequence[Message]) -> Repaired | None:
        beginning = Beginning()
        taken = beginning.take(messages, self._needs)
        if taken is None:
            self._again_from = 2 * len(messages)
        else:
            self._beginning = beginning
        return taken


def last_cut(messages: Sequence[Message]) -> int:
    """The last place at which an assistant begins behind somebody else; 0 where there is none."""
    for at in range(len(messages) - 1, 0, -1):
        if messages[at].role == "assistant" and messages[at - 1].role != "assistant":
            return at
    return 0


def _stays(message: Message, needs: Needs) -> bool:
    """True for somebody else's message that its own repair leaves something of: what comes next is no part of its round."""
    return message.role != "assistant" and bool(cleaned([message], needs, repairs=[]))


def _is_plain(messages: Sequence[Message]) -> bool:
    """True where no message of the assistant holds a client's result: that one goes or stays by whether anything of the whole
    history has to be mended."""
    return not any(message.role == "assistant" and results_of(message) for message in messages)
