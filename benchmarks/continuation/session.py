"""Sessions for the benchmarks: read from any format foldline knows, weighed once, cut where a round ends.

Owns the text of a message as the judge sees it, apart by who spoke: own words (the agent's text, reasoning and
arguments of calls, the user's text) and what was shown (results, injected text). Knows nothing of facts needed. A system
prompt that opens a session is the host's, stands in every request and cannot be compacted: it is no part of what is cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.continuation.judge import Fact, facts_in, occurs, words_in, words_of
from foldline.core.errors import FoldlineError
from foldline.core.message import Part, Reasoning, Text, ToolCall, ToolResult, result_text, speaks_for_user
from foldline.core.ports import TokenCounter
from foldline.core.rounds import outline_of
from foldline.core.view import Item, view_of
from foldline.reduce import History
from foldline.transcript_history import history_for
from foldline.transcripts import detect

PREFIX_TOKENS_MIN = 20_000
"""A shorter prefix is no case for compaction."""
PI_COMPACTION = b'{"type":"compaction"'
REST_MESSAGES_MIN = 12
"""Fewer messages after a cut say too little of what is needed next."""


class Words(Struct, frozen=True, kw_only=True):
    """One message as text."""

    own: str
    """What the agent or the user said."""
    shown: str
    """What a tool or the host showed."""

    @property
    def text(self) -> str:
        return f"{self.own}\n{self.shown}"


class LeftOut(NamedTuple):
    """A file, conversation or cut that is not counted, and why."""

    name: str
    why: str


class Session:
    """A whole session, weighed, with the text of each message and where facts first stand. Found once, kept."""

    def __init__(self, name: str, history: History, counter: TokenCounter) -> None:
        self.name, self.history, self.counter = name, history, counter
        items = history.view.items()
        start = next((n for n, item in enumerate(items) if item.message.role != "system"), len(items))
        self.items = items[start:]
        self.system = "\n".join(item.message.text for item in items[:start])
        """What the host says before everything else."""
        self.tokens = sum(item.tokens for item in self.items)
        self.words = tuple(words_of_item(item) for item in self.items)
        self._facts: dict[int, tuple[Fact, ...]] = {}
        self._first: dict[Fact, int] = {}
        self._vocabulary = [words_in(words.text) for words in self.words]
        self._places: dict[str, list[int]] = {}
        for index, vocabulary in enumerate(self._vocabulary):
            for word in vocabulary:
                self._places.setdefault(word, []).append(index)

    def facts(self, index: int) -> tuple[Fact, ...]:
        """The facts of one message."""
        if index not in self._facts:
            self._facts[index] = facts_in(self.words[index].text)
        return self._facts[index]

    def first(self, fact: Fact) -> int:
        """Index of the first message that holds the fact; the number of messages when none does."""
        if fact not in self._first:
            self._first[fact] = self._find(fact)
        return self._first[fact]

    def _find(self, fact: Fact) -> int:
        words = words_of(fact)
        rarest = min((self._places.get(word, []) for word in words), key=len, default=[])
        for index in rarest:
            vocabulary = self._vocabulary[index]
            if all(word in vocabulary for word in words) and occurs(fact, self.words[index].text):
                return index
        return len(self.items)

    def prefix(self, at: int) -> History:
        """The history before message `at`, as it stood there; system prompt and tools left out."""
        items = self.items[:at]
        end = max(item.seq for item in items) + 1
        originals = self.history.originals[:end]
        return replace(
            self.history,
            view=view_of(items, next_seq=end),
            tokens_fixed=0,
            originals=originals,
            shown=originals[items[0].seq :],
        )

    def cuts(self, count: int, *, tokens_min: int = PREFIX_TOKENS_MIN) -> tuple[int, ...]:
        """At most `count` places where a round has just ended, evenly spaced by tokens from `tokens_min` up to
        `REST_MESSAGES_MIN` messages before the end."""
        rest_min = REST_MESSAGES_MIN
        view = view_of(self.items, next_seq=self.history.view.next_seq)
        starts = [unit.start for unit in outline_of(view).units]
        sums = [0]
        for item in self.items:
            sums.append(sums[-1] + item.tokens)
        fit = [at for at in starts if sums[at] >= tokens_min and len(self.items) - at >= rest_min]
        if not fit:
            return ()
        low, high = sums[fit[0]], sums[fit[-1]]
        wanted = [low + (high - low) * n / max(1, count - 1) for n in range(count)]
        return tuple(sorted({min(fit, key=lambda at: (abs(sums[at] - tokens), at)) for tokens in wanted}))


def words_of_item(item: Item) -> Words:
    """A message's text, apart by who spoke."""
    message = item.message
    speaks = message.role == "assistant" or speaks_for_user(message)
    own: list[str] = []
    shown: list[str] = []
    for part in message.parts:
        (shown if isinstance(part, ToolResult) or not speaks else own).append(part_text(part))
    return Words(own="\n".join(filter(None, own)), shown="\n".join(filter(None, shown)))


def part_text(part: Part) -> str:
    """What can be read in a part. Arguments of a call are read as JSON, so that escapes hide nothing."""
    match part:
        case Text() | Reasoning():
            return part.text
        case ToolCall():
            return _arguments(part.arguments)
        case ToolResult():
            return result_text(part)
        case _:
            return ""


def _arguments(text: str) -> str:
    try:
        return "\n".join(_leaves(json.loads(text), ""))
    except (ValueError, RecursionError):
        return text


def _leaves(value: Any, key: str) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _leaves(inner, str(name))
        case list():
            for inner in value:
                yield from _leaves(inner, "")
        case str():
            yield value
        case _:
            yield f"{key}: {value}" if key else str(value)


def files_in(paths: Iterable[str]) -> Iterator[str]:
    """Files as they are named, and those below a folder."""
    for path in map(Path, paths):
        yield from (
            sorted(str(file) for file in path.rglob("*") if file.is_file()) if path.is_dir() else [str(path)]
        )


def load(path: str, counter: TokenCounter, *, tokens_min: int = PREFIX_TOKENS_MIN) -> tuple[Session, ...]:
    """Every conversation of a file that is long enough to be cut, Claude Code's side chains among them."""
    return tuple(
        found for found in conversations(path, counter, tokens_min=tokens_min) if isinstance(found, Session)
    )


def conversations(path: str, counter: TokenCounter, *, tokens_min: int) -> Iterator[Session | LeftOut]:
    """The conversations of a file, those that are too short with the reason. A file that no reader knows is one too."""
    data = Path(path).read_bytes()
    try:
        parts = [detect.read(text, name=path) for text in (without_compactions(data), *side_chains(data))]
    except FoldlineError:
        yield LeftOut(Path(path).name, "no session in a format that foldline reads")
        return
    for part, transcripts in enumerate(parts):
        for number, transcript in enumerate(transcripts):
            name = Path(path).stem + "".join(f"#{n}" for n in (part, number) if n)
            session = Session(name, history_for(transcript, counter, wire=transcript.wire), counter)
            if session.tokens >= tokens_min:
                yield session
            else:
                yield LeftOut(name, f"shorter than {tokens_min:,} tokens")


def without_compactions(data: bytes) -> bytes:
    """A pi file without its records of compactions, so that the reader gives the session as it was lived."""
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(PI_COMPACTION))


def side_chains(data: bytes) -> tuple[bytes, ...]:
    """The conversations of sub-agents that a Claude Code file holds inline, each as a file of its own."""
    if b'"isSidechain":true' not in data:
        return ()
    chains: dict[str, list[bytes]] = {}
    chain_of: dict[str, str] = {}
    for line in data.splitlines(keepends=True):
        record = json.loads(line)
        if record.get("isSidechain") is True:
            chain = chain_of.get(record.get("parentUuid"), record["uuid"])
            chain_of[record["uuid"]] = chain
            chains.setdefault(chain, []).append(line)
    return tuple(b"".join(lines) for lines in chains.values())
