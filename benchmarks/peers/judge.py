"""What came out of a compaction, looked at by the same eyes for every library: from its messages alone.

Size by one counter, validity by the validators of `tests/judges`, what is still said by `foldline.ledger.retention` and
by headroom's probes, and how much of what left the model was shown before it wrote its summary. No report of a library
is believed, ours included.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from benchmarks.bench_retention import Judge, headroom_judge
from benchmarks.continuation.measure import text_of
from benchmarks.peers.histories import History, counter, messages_of
from benchmarks.peers.peer import Chat, chat_of
from foldline.core.message import Message
from foldline.core.view import Item, item_of
from foldline.ledger.facts import FactCache
from foldline.ledger.found_in_text import Finder
from foldline.ledger.retention import Expected, measure
from foldline.ledger.words import words_of
from tests.judges import panel

Tally = dict[str, tuple[int, int]]
"""Kind → (facts, facts in view)."""
COLUMNS: dict[str, tuple[str, ...]] = {
    "paths, ids": ("paths", "identifiers"),
    "numbers": ("numbers",),
    "errors": ("errors",),
    "user messages": ("user_messages",),
    "rules": ("constraints",),
}
"""A column of the table, and the kinds of foldline's ledger in it."""
PROBES: dict[str, tuple[str, ...]] = {
    "hr paths": ("artifacts",),
    "hr numbers": ("numerics",),
    "hr errors": ("errors",),
}
SHINGLE = 8
"""Words in a row that make a piece of text the same piece elsewhere."""
NOT_FROM_HERE = 10**6
"""Ordinals of messages that no history had."""
_ESCAPES = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|[nrtbf\"'/\\])")
_WORD = re.compile(r"[^\W_]+")


class Verdict(Struct, frozen=True, kw_only=True):
    """One result, judged."""

    tokens: int
    chat: tuple[str, ...]
    """What OpenAI's chat would refuse."""
    anthropic: tuple[str, ...]
    """What Anthropic would refuse, were each message sent as it stands."""
    retention: Tally
    probes: Tally
    """Headroom's; empty where they are missing."""
    evicted: int
    """Pieces of text that are no longer in view."""
    seen: int
    """Of those, pieces that the model was shown."""


def weigh(messages: Sequence[Chat]) -> int:
    """Tokens of chat messages."""
    return sum(sum(parts) + extra for parts, extra in counter().weights_of(messages_of(messages)))


def refused(history: History, messages: Sequence[Chat]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What OpenAI's chat, and Anthropic, would refuse in a result behind the history's system prompt."""
    body = {"messages": [{"role": "system", "content": history.system}, *messages]}
    return (
        tuple(panel.violations(body, format="openai-chat")),
        tuple(panel.violations(anthropic_body(messages), format="anthropic")),
    )


class Bench:
    """One history and its facts, found once for all results."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.chats = [chat_of(turn) for turn in history.turns]
        self.items = _items(messages_of(self.chats), first=0)
        self._facts = FactCache(Finder())
        self._said = _shingles(text_of([item]) for item in self.items)
        self._rules = words_of(self.items).standing_rules()
        found = headroom_judge()
        self._probe: Judge | None = None if isinstance(found, str) else found

    def judge(self, messages: Sequence[Chat], asked: Sequence[str]) -> Verdict:
        """A result: what the model would see, and what the library's own model was asked."""
        items = self._placed(messages)
        text = text_of(items)
        expected = Expected(constraints=self._rules)
        kept = measure(self.items, items, cache=self._facts, expected=expected).whole
        left = self._said - _shingles(text_of([item]) for item in items)
        chat, anthropic = refused(self.history, messages)
        return Verdict(
            tokens=weigh(messages),
            chat=chat,
            anthropic=anthropic,
            retention={kind: (counts.total, counts.in_view) for kind, counts in kept.items()},
            probes=self._probe(self.items, text) if self._probe is not None else {},
            evicted=len(left),
            seen=len(left & _shingles(asked)) if asked else 0,
        )

    def _placed(self, messages: Sequence[Chat]) -> list[Item]:
        """The result's messages; those that came in and stand unchanged are the very items that came in."""
        waiting: dict[str, list[Item]] = {}
        for chat, item in zip(self.chats, self.items, strict=True):
            waiting.setdefault(_key(chat), []).append(item)
        made = _items(messages_of(messages), first=NOT_FROM_HERE)
        placed: list[Item] = []
        for chat, item in zip(reversed(messages), reversed(made), strict=True):
            same = waiting.get(_key(chat))
            placed.append(same.pop() if same else item)
        return placed[::-1]


def _items(messages: Sequence[Message], *, first: int) -> list[Item]:
    weights = counter().weights_of(messages)
    return [
        item_of(first + at, message, weights=parts, overhead=extra)
        for at, (message, (parts, extra)) in enumerate(zip(messages, weights, strict=True))
    ]


def _key(message: Chat) -> str:
    """A message apart from how its JSON is spaced."""
    calls = [
        (call["id"], call["function"]["name"], _object(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    ]
    said = [message["role"], message.get("content") or "", message.get("tool_call_id") or "", calls]
    return json.dumps(said, sort_keys=True)


def _object(arguments: str) -> Any:
    try:
        value = json.loads(arguments)
    except ValueError:
        value = arguments
    return value if isinstance(value, dict) else {"input": value}


def anthropic_body(messages: Iterable[Chat]) -> dict[str, Any]:
    """Chat messages as Anthropic's, mechanically: neighbours of one role are one message, and nothing is mended."""
    found: list[dict[str, Any]] = []
    for message in messages:
        blocks = list(_blocks(message))
        role = "assistant" if message["role"] == "assistant" else "user"
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        else:
            found.append({"role": role, "content": blocks})
    return {"messages": found}


def _blocks(message: Chat) -> Iterable[dict[str, Any]]:
    text = message.get("content") or ""
    if message["role"] == "tool":
        yield {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text}
        return
    if text.strip():
        yield {"type": "text", "text": text}
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = _object(function["arguments"])
        yield {"type": "tool_use", "id": call["id"], "name": function["name"], "input": arguments}


def _shingles(texts: Iterable[str]) -> set[int]:
    """Every run of `SHINGLE` words, however a prompt escapes them: what text is the same text by."""
    found: set[int] = set()
    for text in texts:
        words = _WORD.findall(_ESCAPES.sub(_opened, html.unescape(text)))
        found.update(hash(tuple(words[at : at + SHINGLE])) for at in range(len(words) - SHINGLE + 1))
    return found


def _opened(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else " "


def tally(found: Tally, kinds: Iterable[str]) -> tuple[int, int]:
    """(facts, facts in view) of several kinds."""
    pairs = [found.get(kind, (0, 0)) for kind in kinds]
    return sum(total for total, _ in pairs), sum(held for _, held in pairs)
