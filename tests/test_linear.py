"""The judge of growth lets good works pass under any noise, and catches bad ones (a check that cannot fail is a defect)."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from math import inf

import pytest

from tests.linear import GRAIN_S, STOP_S, TURNS, Stopped, Work, beside, growth, scan, slowness, spent


@pytest.fixture(autouse=True)
def _untraced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is judged here does its work in expressions, which no trace of lines slows down."""
    monkeypatch.setattr("tests.linear.sys.gettrace", lambda: None)


@pytest.mark.parametrize(
    ("pattern", "piece"),
    [
        pytest.param(r"\s*,?\s*:", " ", id="quadratic"),
        pytest.param(r"(\w+\s?)*$", "a", id="exponential"),
        pytest.param(r"(?:a?){25}a{25}$", "a", id="exponential and bounded"),
        pytest.param(r"\w{0,2000}b", "a", id="two thousand looks at each character"),
    ],
)
def test_an_expression_that_backtracks_is_caught(pattern: str, piece: str) -> None:
    """S13: in finite time, whatever it would have taken."""
    search = re.compile(pattern).search
    assert slowness(search, piece, size=20_000, scans_max=30, end="\0")


@pytest.mark.parametrize("pattern", [r"\w+\s", r"[a-z]+b|c", r"(?:a{2})*+b"])
def test_an_expression_in_proportion_passes(pattern: str) -> None:
    """S13."""
    find = re.compile(pattern).findall
    assert slowness(find, "ab ", size=100_000, scans_max=30, end="\0") == ""


def test_python_that_looks_back_over_all_it_has_is_caught() -> None:
    """No expression: a list searched for each of its members."""

    def distinct(text: str) -> list[str]:
        seen: list[str] = []
        for place in range(len(text)):
            if (word := text[: place % 7] + str(place)) not in seen:
                seen.append(word)
        return seen

    assert "beside" in slowness(distinct, "a", size=8_000, scans_max=1e9)
    assert (
        slowness(lambda text: {str(place) for place in range(len(text))}, "a", size=8_000, scans_max=1e9)
        == ""
    )


def test_what_keeps_the_result_of_an_input_is_caught_all_the_same() -> None:
    """Each turn has another input: a cache would make the second look like nothing."""
    search = lru_cache(re.compile(r"\s*,?\s*:").search)
    assert slowness(search, " ", size=8_000, scans_max=30, end="\0")


@pytest.mark.parametrize(("traced", "told"), [(None, "beside a plain look"), (print, "")])
def test_what_looks_at_each_character_too_often_is_caught_where_lines_are_not_traced(
    monkeypatch: pytest.MonkeyPatch, traced: object, told: str
) -> None:
    """It takes time in proportion, and far more than it may."""
    search = re.compile("(?=" + "(?=a)" * 400 + ")a").findall
    monkeypatch.setattr("tests.linear.sys.gettrace", lambda: traced)
    wrong = slowness(search, "a", size=100_000, scans_max=1)
    assert told in wrong
    assert bool(wrong) == bool(told)


def told(large: Iterator[float], small: Iterator[float]) -> str:
    """The verdict when a clock says this, turn by turn."""

    def clock(work: Work, _: float) -> float:
        return next(large if work is scan else small)

    return beside(lambda _: scan, lambda _: lambda: None, most=8, clock=clock).wrong


def test_noise_costs_turns_and_no_verdict() -> None:
    """Whatever a busy machine adds in all turns but one, on either side."""
    large, small = iter([9.0, 9.0, 0.9, 9.0, 9.0]), iter([5.0, 0.2, 0.2, 0.2, 0.2])
    assert told(iter([90.0, 9.0, 0.9]), iter([0.2, 0.2, 0.2])) == ""
    assert told(large, small) == ""
    assert next(large) == 9.0, "one good turn is enough"
    small = iter([0.1] * TURNS)
    assert "took 0.900 s beside 0.100 s" in told(iter([0.9] * TURNS), small)
    assert next(small, None) is None, "before it is called bad it had all its turns"


def test_what_a_work_is_judged_beside_is_stopped_as_well() -> None:
    """It may be as bad: once it has taken as long as the work, it need not end."""
    given: list[float] = []

    def clock(work: Work, stop_s: float) -> float:
        given.append(stop_s)
        return 3.0 if work is scan else inf

    assert beside(lambda _: scan, lambda _: lambda: None, most=8, clock=clock).wrong == ""
    assert given == [STOP_S, 3.0]
    given.clear()
    assert "was stopped" in beside(lambda _: lambda: None, lambda _: lambda: None, most=8, clock=clock).wrong
    assert given == [STOP_S, STOP_S, 2 * 8 * STOP_S, STOP_S]


def test_what_is_quicker_than_a_clock_can_tell_is_not_judged() -> None:
    """And costs one turn."""
    assert told(iter([GRAIN_S]), iter([])) == ""


def test_a_work_is_stopped_and_leaves_the_process_as_it_was() -> None:
    """Whatever the work catches itself."""

    def never() -> None:
        while True:
            with suppress(Exception):
                re.search(r"(\w+\s?)*$", "a" * 40 + "\0")

    assert spent(never, 0.05) == inf
    assert gc.isenabled()
    assert spent(lambda: None) < inf
    assert not issubclass(Stopped, Exception)


def test_growth_is_looked_at_from_small_inputs_on_and_no_input_is_used_twice() -> None:
    """What is exponential must not be begun at its full size; what is kept for an input must not make it look quick."""
    made: list[tuple[int, int]] = []

    def work(size: int, number: int) -> Work:
        made.append((size, number))
        return lambda: search("x" * size * 2_000)

    search = re.compile(r"\w+\d").match
    assert growth(work, size=768).wrong == ""
    assert list(dict.fromkeys(size for size, _ in made)) == [48, 192, 768]
    assert len(set(made)) == len(made)
