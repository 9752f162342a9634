"""Called: the calls of a history with what came of them, put together once for all that asks for them.

Each draft of a ledger asks for the calls of what it folds, and the report for those of the whole. Knows messages and their ordinals,
not what a call does: that is `book`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from operator import is_
from typing import Any

from msgspec.structs import replace

from foldline.core.message import Message, ToolCall, ToolResult
from foldline.core.view import Item
from foldline.ledger.entries import Done
from foldline.ledger.spoken_calls import spoken_call, spoken_result


class Called:
    """The calls of messages, those included that are spoken and answered."""

    def __init__(self, messages: Iterable[tuple[int, Message]]) -> None:
        """Each message with its ordinal, in order. O(parts)."""
        self.messages = list(messages)
        asked: list[tuple[int, ToolCall]] = []
        waiting: dict[str, int] = {}
        results: dict[int, tuple[int, ToolResult]] = {}
        spoken: tuple[int, ToolCall] | None = None
        self._is_spoken = False
        for seq, message in self.messages:
            if message.role == "assistant":
                said = spoken_call(message)
                spoken = None if said is None else (seq, said)
            elif spoken is not None and (heard := spoken_result(message)) is not None:
                results[len(asked)] = seq, heard
                asked.append(spoken)
                spoken, self._is_spoken = None, True
            for part in message.parts:
                if type(part) is ToolCall:
                    waiting[part.id] = len(asked)
                    asked.append((seq, part))
                elif type(part) is ToolResult and part.call_id in waiting:
                    results[waiting.pop(part.call_id)] = seq, part
        answers = [results.get(place, (seq, None)) for place, (seq, _) in enumerate(asked)]
        self.every = [
            Done(seq=seq, call=call, result=result)
            for (seq, call), (_, result) in zip(asked, answers, strict=True)
        ]
        """In the order in which they were called: results may come in any."""
        self._answered = [seq for seq, _ in answers]
        """Of each call the message that answers it; its own where none does."""

    def within(self, seqs: Set[int]) -> list[Done]:
        """The calls of those of the messages that have these ordinals, each with its result where that is among them."""
        if self._is_spoken:  # what answers a spoken call depends on what stands between
            return Called([(seq, message) for seq, message in self.messages if seq in seqs]).every
        return [
            done if answered in seqs else replace(done, result=None)
            for done, answered in zip(self.every, self._answered, strict=True)
            if done.seq in seqs
        ]

    def is_of(self, items: Sequence[Item]) -> bool:
        """Whether these are its messages."""
        return (
            len(items) == len(self.messages)
            and all(map(is_, [item.message for item in items], [message for _, message in self.messages]))
            and [item.seq for item in items] == [seq for seq, _ in self.messages]
        )


def called_in(items: Sequence[Item], memo: dict[str, Any]) -> Called:
    """The calls of items; from the memo where they are those of the last time."""
    known: Called | None = memo.get("called")
    if known is None or not known.is_of(items):
        known = memo["called"] = Called([(item.seq, item.message) for item in items])
    return known
