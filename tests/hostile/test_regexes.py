"""No regular expression of this package is slow on text made to slow it down (S13).

Every expression in `src` is found by walking the modules, and used as the code uses it (`search`, `match`, …) on texts
that `tests/hostile/attacks.py` makes from its own words. Those a first short text shows to be suspicious must pass the
whole rule (`tests/linear.py`): time in proportion up to 500 kB, and there no longer than some plain looks at each character.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

import foldline
from tests.hostile.attacks import attacks
from tests.linear import SCANNED, STOP_S, scan, slowness, spent

SHORT, LONG = 4_000, 500_000
"""Characters of the text that shows a suspicion, and of the one that proves it."""
SUSPICIOUS = 15
"""Plain looks at each character of the short text."""
SCANS_MAX = 30
"""The same of the long one; the aim is 8."""
METHODS = frozenset({"match", "fullmatch", "search", "finditer", "findall", "sub", "split"})
LOOKS = 3
"""How often a short text is tried before it is suspicious: clocks of processor time may tick only every 4 ms."""


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


def use(found: Found, method: str, text: str) -> None:
    """One use, as the code makes it."""
    given: Any = text.encode("utf-8", "surrogatepass") if isinstance(found.pattern.pattern, bytes) else text
    call = getattr(found.pattern, method)
    done = call(given[:0], given) if method == "sub" else call(given)
    if method == "finditer":
        deque(done, maxlen=0)


@cache
def suspicious_s() -> float:
    """Seconds of a short text from which on the long one is looked at: what is right decides the rule alone."""
    return SUSPICIOUS * min(spent(scan) for _ in range(LOOKS)) * SHORT / len(SCANNED)


def is_suspicious(found: Found, method: str, text: str) -> bool:
    """True when every look at a short text is slow; one that has to be stopped is looked at once."""
    for _ in range(LOOKS):
        took_s = spent(partial(use, found, method, text), STOP_S)
        if took_s < suspicious_s():
            return False
        if took_s == inf:
            break
    return True


@cache
def slowest(found: Found) -> str | None:
    """What is wrong with an expression, or `None`."""
    for method, piece, end in product(found.methods, attacks(found.pattern), ("", "\0")):
        short = piece * (SHORT // len(piece) + 1) + end
        if is_suspicious(found, method, short):
            work = partial(use, found, method)
            wrong = slowness(work, piece, size=LONG, scans_max=SCANS_MAX, end=end)
            if wrong:
                return f"{method} of {piece!r} ends {end!r}: {wrong}"
    return None


@pytest.mark.parametrize("found", ALL, ids=[found.name for found in ALL])
def test_an_expression_is_linear_on_its_own_prefixes_alternatives_and_near_misses(found: Found) -> None:
    """S13: a file's content must not be able to stop the program."""
    assert slowest(found) is None


@pytest.mark.parametrize("pattern", [r"(\w+\s?)*$", r"\s*,?\s*:"])
def test_the_rule_finds_what_is_slow(pattern: str) -> None:
    """A check that cannot fail is a defect; the first one took 40 s on 29 characters."""
    assert slowest(Found(name="bad", pattern=re.compile(pattern), methods=("search",))) is not None


def half_matched(pattern: re.Pattern[Any]) -> bool:
    """True where a possessive quantifier stands on a group of which a part may match and the rest fail."""
    parser: Any = importlib.import_module("re._parser")
    return any(
        name == "POSSESSIVE_REPEAT" and not is_all_or_nothing(list(operand[2]))
        for name, operand in steps(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    )


def steps(parsed: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Every step of a parsed expression, at any depth."""
    for operator, operand in parsed:
        yield str(operator), operand
        for inner in within_step(str(operator), operand):
            yield from steps(inner)


def within_step(name: str, operand: Any) -> Iterable[Any]:
    """The expressions that a step holds."""
    match name:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [operand[2]]
        case "SUBPATTERN":
            return [operand[3]]
        case "BRANCH":
            return list(operand[1])
        case "ATOMIC_GROUP":
            return [operand]
        case "ASSERT" | "ASSERT_NOT":
            return [operand[1]]
        case "GROUPREF_EXISTS":
            return [one for one in operand[1:] if one is not None]
        case _:
            return []


def is_all_or_nothing(parsed: list[Any]) -> bool:
    """Whether nothing can fail behind the first character of each alternative."""
    first, rest = parsed[0], parsed[1:]
    if any(not may_follow(step) for step in rest):
        return False
    inner = list(within_step(str(first[0]), first[1]))
    alone = str(first[0]) in ("SUBPATTERN", "BRANCH")
    return (
        all(is_all_or_nothing(list(one)) for one in inner) if alone else all(len(one) == 1 for one in inner)
    )


def may_follow(step: Any) -> bool:
    """Whether a step never fails but at the end of a text: what may be missing, or any character."""
    name, operand = str(step[0]), step[1]
    if name in ("MAX_REPEAT", "POSSESSIVE_REPEAT"):
        return bool(operand[0] == 0)
    if name != "IN" or len(operand) != 2:
        return name == "ANY"
    one, other = (str(kind).replace("_NOT_", "_") for _, kind in operand)
    return one == other  # a class and what is not in it


@pytest.mark.parametrize("found", ALL, ids=[found.name for found in ALL])
def test_no_possessive_group_can_stop_half_way(found: Found) -> None:
    """CPython up to 3.11.4 goes on behind the half of an alternative that failed (gh-106052), and so ate the sign that
    ends a text; an atomic group does not."""
    assert not half_matched(found.pattern)


@pytest.mark.parametrize(
    ("pattern", "is_half"),
    [
        (r"(?:[a-z]|\\{1,7}[nr]){4,100}+", True),
        (r"(?>(?:[a-z]|\\{1,7}[nr]){4,100})", False),
        (r"(?:[a-z]*/)*+", True),
        (r"(?:ab)++", True),
        (r"(?s:[^\"]|\\.)*+", False),
        (r"(?:[a-z]++[0-9]*+)++", False),
        (r"[a-z]++", False),
    ],
)
def test_the_rule_tells_which_groups_can(pattern: str, is_half: bool) -> None:
    """The one that ate the end of a text first."""
    assert half_matched(re.compile(pattern)) is is_half


def test_every_expression_is_looked_at() -> None:
    """The walk finds the expressions that the source compiles by name."""
    names = {found.name.split("-")[0] for found in ALL}
    assert {
        "wire.strict._TOKEN",
        "transcripts.source._TOKEN",
        "transcripts.document._KEY",
        "core.address._BLOCK",
    } <= names
