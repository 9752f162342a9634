"""No regular expression of this package is slow on text made to slow it down (S13).

Every expression in `src` is found by walking the modules, and used as the code uses it (`search`, `match`, …) on texts
that `tests/hostile/attacks.py` makes from its own words. Those a first short text shows to be suspicious must pass the
whole rule: 500 kB in a fraction of a second, and twice the text in little more than twice the time.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from msgspec import Struct

import foldline
from tests.hostile.attacks import attacks

SHORT, LONG = 4_000, 500_000
"""Characters of the text that shows a suspicion, and of the one that proves it."""
SUSPICIOUS_S = 0.0035
SECONDS_MAX = 1.0
"""For `LONG` characters; the aim is 0.2 s on a quiet core, a shared one is given five times as long."""
GROWTH_MAX = 3.0
"""For twice the text; the aim is 2.5."""
METHODS = frozenset({"match", "fullmatch", "search", "finditer", "findall", "sub", "split"})
LOOKS = 3
"""How often a short text is tried before it counts as slow: clocks of processor time may tick only every 4 ms."""


class Found(Struct, frozen=True, kw_only=True):
    """One expression and how it is used."""

    name: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


def within(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """The expressions in a module's value."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, (list, tuple, set, frozenset, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from within(inner, depth + 1)


def expressions() -> Iterator[Found]:
    """Every expression once, under the first name it has."""
    named = [module.name for module in pkgutil.walk_packages(foldline.__path__, "foldline.")]
    modules = [importlib.import_module(name) for name in named if not name.endswith("__main__")]
    seen: set[int] = set()
    for module in modules:
        for name, value in vars(module).items():
            for number, pattern in enumerate(within(value)):
                if id(pattern) in seen:
                    continue
                seen.add(id(pattern))
                users = [user for user in modules if vars(user).get(name) is value]
                used = {call for user in users for call in calls_on(name, Path(user.__file__ or ""))}
                where = f"{module.__name__.removeprefix('foldline.')}.{name}" + (
                    f"-{number}" if number else ""
                )
                yield Found(name=where, pattern=pattern, methods=tuple(sorted(used)) or ("search",))


@cache
def source_of(path: Path) -> str:
    """A module's text."""
    return path.read_text(encoding="utf-8")


def calls_on(name: str, path: Path) -> frozenset[str]:
    """What a module does with an expression that it knows by a name."""
    return METHODS & set(re.findall(rf"\b{re.escape(name)}\.(\w+)\(", source_of(path)))


ALL = tuple(expressions())


class TooLong(Exception):
    """An expression that did not come back."""


def seconds(found: Found, method: str, text: str) -> float:
    """CPU seconds of one use; stopped soon after what is allowed."""
    given: Any = text.encode("utf-8", "surrogatepass") if isinstance(found.pattern.pattern, bytes) else text
    call = getattr(found.pattern, method)
    arguments = (given[:0], given) if method == "sub" else (given,)
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_MAX * 1.2)
    started = process_time()
    try:
        done = call(*arguments)
        if method == "finditer":
            for _ in done:
                pass
    except TooLong:
        return SECONDS_MAX * 1.2
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return process_time() - started


def at_best(found: Found, method: str, text: str) -> float:
    """CPU seconds of the quickest of `LOOKS` uses; one that is slow beyond doubt is used once."""
    quickest = SECONDS_MAX
    for _ in range(LOOKS):
        quickest = min(quickest, seconds(found, method, text))
        if not SUSPICIOUS_S <= quickest < SECONDS_MAX:
            break
    return quickest


def _stop(*_: object) -> None:
    raise TooLong


def stretched(piece: str, size: int, end: str) -> str:
    """A piece repeated to a size, with an end that does not fit."""
    return (piece * (size // len(piece) + 1))[:size] + end


@cache
def slowest(found: Found) -> str | None:
    """What is wrong with an expression, or `None`."""
    for method in found.methods:
        for piece in attacks(found.pattern):
            for end in ("", "\0"):
                short = at_best(found, method, stretched(piece, SHORT, end))
                if short > SECONDS_MAX:
                    return f"{method} of {piece!r} ends {end!r}: {short:.2f} s for {SHORT:,} characters"
                if short < SUSPICIOUS_S:
                    continue
                once = seconds(found, method, stretched(piece, LONG // 2, end))
                twice = seconds(found, method, stretched(piece, LONG, end))
                if twice > SECONDS_MAX or (once > SECONDS_MAX / 10 and twice > once * GROWTH_MAX):
                    return (
                        f"{method} of {piece!r} ends {end!r}: {once:.2f} s, {twice:.2f} s for twice as much"
                    )
    return None


@pytest.mark.parametrize("found", ALL, ids=[found.name for found in ALL])
def test_an_expression_is_linear_on_its_own_prefixes_alternatives_and_near_misses(found: Found) -> None:
    """S13: a file's content must not be able to stop the program."""
    assert slowest(found) is None


@pytest.mark.parametrize("pattern", [r"(\w+\s?)*$", r"\s*,?\s*:"])
def test_the_rule_finds_what_is_slow(pattern: str) -> None:
    """A check that cannot fail is a defect; the first one took 40 s on 29 characters."""
    assert slowest(Found(name="bad", pattern=re.compile(pattern), methods=("search",))) is not None


def test_every_expression_is_looked_at() -> None:
    """The walk finds the expressions that the source compiles by name."""
    names = {found.name.split("-")[0] for found in ALL}
    assert {
        "wire.strict._TOKEN",
        "transcripts.source._TOKEN",
        "transcripts.document._KEY",
        "core.address._BLOCK",
    } <= names
