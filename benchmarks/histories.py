"""Made-up agent histories for the benchmarks: the size and shape of real ones, the same bytes at every run.

Rounds of one to three calls, results from 100 to 20,000 characters (most of them small), a user message every dozen
rounds; text of the kinds tools give: code, logs, JSON rows, hits of a search, prose. Knows nothing of timing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

SEED = 20
POOL_CHARS = 200_000
"""Text of each kind that messages take their pieces from."""
RESULT_CHARS = (100, 20_000)
TOOLS = ("read_file", "grep", "bash", "web_fetch", "edit_file")
WORDS = (
    "account adapter batch border buffer cache channel client cursor decode digest encode entry event fetch field "
    "filter frame gate group header index insert label layer limit logger margin merge metric order packet parser "
    "policy queue range record region reload render report result retry route sample schema server signal socket "
    "source stage store stream table target task token trace update value vector window worker"
).split()


def chat_history(messages: int) -> list[dict[str, Any]]:
    """A history of exactly this many OpenAI chat messages; 2,000 are about 1.2 million o200k_base tokens."""
    random = Random(SEED)
    pieces = Pieces(random)
    history: list[dict[str, Any]] = []
    for turn in _rounds(random, pieces):
        if len(history) + len(turn) > messages:
            break
        history += turn
    while len(history) < messages:  # a last round that does not fit gives way to plain talk
        role = "user" if history[-1]["role"] != "user" else "assistant"
        history.append({"role": role, "content": pieces.prose(300)})
    return history


def _rounds(random: Random, pieces: Pieces) -> Iterator[list[dict[str, Any]]]:
    yield [{"role": "user", "content": pieces.prose(900)}]
    number = 0
    while True:
        calls, results = [], []
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            number += 1
            arguments = json.dumps({"path": pieces.path(), "pattern": random.choice(WORDS), "limit": number})
            function = {"name": random.choice(TOOLS), "arguments": arguments}
            calls.append({"id": f"call_{number:06d}", "type": "function", "function": function})
            low, high = RESULT_CHARS
            text = pieces.output(int(low * (high / low) ** (random.random() ** 1.6)))
            results.append({"role": "tool", "tool_call_id": calls[-1]["id"], "content": text})
        said = pieces.prose(random.randint(40, 600))
        yield [{"role": "assistant", "content": said, "tool_calls": calls}, *results]
        if random.random() < 0.08:
            yield [{"role": "user", "content": pieces.prose(random.randint(80, 1_200))}]


class Pieces:
    """Pieces of text, cut out of pools made once."""

    def __init__(self, random: Random) -> None:
        self._random = random
        kinds = (self._code, self._log, self._row, self._hit)
        self._outputs = [_pool(kind) for kind in kinds]
        self._prose = _pool(self._sentence)

    def output(self, chars: int) -> str:
        """What a tool gives, from the start of a line."""
        return self._cut(self._random.choice(self._outputs), chars)

    def prose(self, chars: int) -> str:
        """What a person or a model says."""
        return self._cut(self._prose, chars)

    def path(self) -> str:
        """A path that is rarely the same twice."""
        return f"src/{self._word()}/{self._word()}_{self._random.randint(1, 400)}.py"

    def _cut(self, pool: str, chars: int) -> str:
        start = pool.find("\n", self._random.randrange(POOL_CHARS - chars - 2_000)) + 1
        return pool[start : start + chars]

    def _word(self) -> str:
        return self._random.choice(WORDS)

    def _code(self) -> str:
        name, kind, number = self._word(), self._word(), self._random.randint(0, 9_999)
        return f"    def {name}_{kind}(self, {kind}: int = {number}) -> None:\n        self._{name}[{kind!r}] += {number}\n"

    def _log(self) -> str:
        minute, took, mark = (
            self._random.randint(0, 59),
            self._random.randint(1, 9_000),
            self._random.getrandbits(48),
        )
        return f"2026-03-04T11:{minute:02d}:07.{took:04d}Z INFO {self._word()}.{self._word()} id={mark:012x} took={took}ms\n"

    def _row(self) -> str:
        row = {"id": self._random.randint(1, 10**6), "name": self._word(), "path": self.path(), "ok": True}
        return json.dumps(row) + "\n"

    def _hit(self) -> str:
        return f"{self.path()}:{self._random.randint(1, 2_000)}:    {self._word()} = {self._word()}({self._word()})\n"

    def _sentence(self) -> str:
        return " ".join(self._word() for _ in range(12)) + ".\n"


def _pool(line: Any) -> str:
    made, size = [], 0
    while size < POOL_CHARS:
        made.append(line())
        size += len(made[-1])
    return "".join(made)
