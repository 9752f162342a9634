"""Ten thousand damaged sessions and more: refused in words, or everything done with them is sound.

Sessions of every format with their values or their bytes damaged, random JSON, random bytes, and sessions made by the
grammar of the laws. Each case is drawn from a number, so a failure names the case: `one(seed, number)` repeats it. What
must hold is `tests/hostile/survive.py`; `HYPOTHESIS_PROFILE=nightly` runs thirty times as many.
"""

from __future__ import annotations

import random
import resource
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.core.message import Message
from foldline.testing.strategies import broken_sessions
from foldline.wire.body import write_body
from foldline.wire.codec import Request
from foldline.wire.convert import convert
from foldline.wire.formats import CODECS
from tests.hostile.damage import damaged, damaged_bytes
from tests.hostile.seeds import SEEDS, Seed
from tests.hostile.survive import survive

SCALE = settings().max_examples // 60
CASES = 600 * SCALE
"""Damaged sessions of each format."""
NOISE = 1_500 * SCALE
MEMORY_BYTES_MAX = 256 * 2**20
"""What all cases of one format together may add to the process."""
WORDS = (
    "role",
    "user",
    "assistant",
    "content",
    "type",
    "message",
    "text",
    "messages",
    "id",
    "uuid",
    "",
    "\ud800",
)


def one(seed: Seed, number: int) -> str:
    """Case `number` of a seed: values damaged, bytes damaged, or both; read by name or by content."""
    draw = random.Random(f"{seed.format}-{number}")
    value = seed.value if number % 3 == 2 else damaged(seed.value, draw)
    data = seed.data(value)
    if number % 3:
        data = damaged_bytes(data, draw)
    return survive(data, draw, format="auto" if number % 4 else seed.format)


class Named:
    """Puts the case into the traceback of whatever goes wrong."""

    def __init__(self, case: str) -> None:
        self.case = case

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            error.add_note(self.case)


@pytest.mark.parametrize("seed", SEEDS, ids=[seed.format for seed in SEEDS])
def test_damaged_sessions_are_refused_in_words_or_handled_soundly(seed: Seed) -> None:
    """S12: no error but the documented ones, place and next step named, at most a second and
    bounded memory each; what comes out is valid, reads again, and does not get worse."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes = set()
    for number in range(CASES):
        with Named(f"case {number} of {seed.format}"):
            outcomes.add(one(seed, number))
    assert outcomes >= {"refused", "compacted", "unreachable"}, "the cases must reach every outcome"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    assert grown < MEMORY_BYTES_MAX


def noise(draw: random.Random, depth: int = 0) -> Any:
    """Any JSON value, leaning to what sessions are made of."""
    kind = draw.randrange(7 if depth < 5 else 4)
    if kind == 0:
        return draw.choice((None, True, 0, -1, 1.5, 10**18, 2**64))
    if kind < 4:
        return draw.choice(WORDS)
    if kind == 4:
        return [noise(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {draw.choice(WORDS): noise(draw, depth + 1) for _ in range(draw.randrange(5))}


def test_json_without_a_meaning_is_refused_or_handled_soundly() -> None:
    """S12: documents and lines that only look like a session."""
    shape = Seed(format="noise", lines=True, value=None)
    for number in range(NOISE):
        draw = random.Random(f"json-{number}")
        value: Any = (
            [noise(draw) for _ in range(draw.randrange(6))] if number % 2 else {"messages": noise(draw)}
        )
        survive(shape.data(value), draw)


def test_bytes_without_a_meaning_are_refused_in_words() -> None:
    """S12."""
    for number in range(NOISE):
        draw = random.Random(f"bytes-{number}")
        assert survive(draw.randbytes(draw.choice((0, 1, 2, 9, 60, 700))), draw) == "refused"


@given(messages=broken_sessions(), format=st.sampled_from(CODECS), draw=st.randoms(use_true_random=False))
@settings(max_examples=100 * SCALE)
def test_sessions_that_arrive_broken_are_handled_soundly(
    messages: list[Message], format: str, draw: random.Random
) -> None:
    """Laws PAIR, ROLE and TRACE, from a file to a file: results late, twice or missing, ids used twice, empty text."""
    request = convert(Request(format="", messages=tuple(messages)), format).request
    survive(write_body(request), draw, format=format)
