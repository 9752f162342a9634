"""A made-up conversation of an agent: 2,000 messages, about a million tokens, the same bytes at every run.

Rounds of one to three calls, results of 100 to 20,000 characters (most of them small) of the kinds tools give, a user
message now and then. Its text is random, so that it shows what a library costs and nothing of what it keeps. Imports
the standard library alone: the process that measures a library holds nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from benchmarks.peers.peer import Call, Turn

SEED = 7
MESSAGES = 2_000
"""With the system prompt, which every library here holds apart; the last round is not cut."""
SYSTEM_CHARS = 6_000
RESULT_CHARS = (100, 200)
"""Smallest result, and how many times larger the largest is."""
SKEW = 1.4
USER_SHARE = 0.06
"""Rounds before which a user speaks."""
TOOLS = ("read_file", "grep", "bash", "web_fetch", "edit_file")
WORDS = (
    "context token agent budget server request handler config module retry cache window index buffer "
    "parse build deploy error warning result value update delete insert query session model prompt tool "
    "summary message history compact recover persist stream chunk event queue worker thread socket"
).split()
CODE, LOG, ROWS, HITS, PROSE = range(5)


def conversation(messages: int = MESSAGES) -> list[Turn]:
    """The turns after the system prompt, without usage: `histories` adds what a provider would have counted."""
    random = Random(SEED)
    _text(random, SYSTEM_CHARS, PROSE)
    turns: list[Turn] = []
    ids = 0
    while len(turns) + 1 < messages:
        if not turns or random.random() < USER_SHARE:
            turns.append(Turn(role="user", text=_text(random, random.randint(80, 1_200), PROSE)))
        calls = []
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            ids += 1
            calls.append(_call(random, ids))
        said = _text(random, random.randint(40, 600), PROSE)
        turns.append(Turn(role="assistant", text=said, calls=tuple(calls)))
        turns += [_result(random, call) for call in calls]
    return turns


def _call(random: Random, number: int) -> Call:
    name = random.choice(TOOLS)
    path = f"src/{random.choice(WORDS)}/{random.choice(WORDS)}.py"
    arguments = {"path": path, "pattern": random.choice(WORDS), "n": random.randint(1, 500)}
    return Call(id=f"call_{number:06d}", name=name, arguments=json.dumps(arguments))


def _result(random: Random, call: Call) -> Turn:
    least, times = RESULT_CHARS
    chars = int(least * (times ** (random.random() ** SKEW)))
    return Turn(role="tool", text=_text(random, chars, random.randint(0, 4)), call_id=call.id, name=call.name)


def _text(random: Random, chars: int, kind: int) -> str:
    pieces: list[str] = []
    size = 0
    for piece in _pieces(random, kind):
        pieces.append(piece)
        size += len(piece)
        if size >= chars:
            break
    text = "".join(pieces)[:chars]
    return text[:-2] + "]" if kind == ROWS and chars > 300 else text


def _pieces(random: Random, kind: int) -> Iterator[str]:
    number = random.randint

    def word() -> str:
        return random.choice(WORDS)

    opens = "["
    while True:
        match kind:
            case 0:
                yield (
                    f"    def {word()}_{word()}(self, {word()}: int = {number(0, 999)}) -> {word().title()}:\n"
                    f"        return self._{word()}[{word()!r}] + {number(0, 9_999)}\n"
                )
            case 1:
                yield (
                    f"2026-11-{number(1, 28):02d}T{number(0, 23):02d}:{number(0, 59):02d}:{number(0, 59):02d}."
                    f"{number(0, 999):03d}Z {random.choice(('INFO', 'WARN', 'ERROR'))} {word()}.{word()} "
                    f"id={random.getrandbits(48):012x} took={number(1, 9_000)}ms\n"
                )
            case 2:
                row = {"id": number(1, 10**6), "name": word(), "path": f"src/{word()}/{word()}.py"}
                row |= {"score": round(random.random(), 6), "ok": random.random() > 0.5}
                yield opens + json.dumps(row)
                opens = ","
            case 3:
                yield f"src/{word()}/{word()}.py:{number(1, 2_000)}:    {word()} = {word()}({word()})\n"
            case _:
                yield " ".join([word() for _ in range(12)]) + ". "
