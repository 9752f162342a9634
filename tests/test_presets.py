"""The named policies are values: every name is there, every number sound, `balanced` the default."""

from __future__ import annotations

import inspect

import pytest

from foldline import compact
from foldline.core.errors import UnknownPolicy
from foldline.passes.microcompact import Microcompact
from foldline.presets import POLICIES, policy_of
from foldline.testing.builders import assistant, call, frame_for, moment_for, result, user, view_from

WINDOWS = (8_000, 128_000, 200_000, 1_000_000)


def test_the_default_policy_is_balanced() -> None:
    """interface.md."""
    assert inspect.signature(compact).parameters["policy"].default == "balanced"
    assert policy_of("balanced").name == "balanced"


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("tokens_window", WINDOWS)
def test_a_policy_aims_below_where_it_begins(name: str, tokens_window: int) -> None:
    """Law GAIN: a target at or above the threshold would compact before every request."""
    policy = policy_of(name, tokens_window)
    assert policy.name == name
    threshold, target = (line.tokens(tokens_window) for line in (policy.threshold, policy.target))
    assert 0 <= target <= threshold <= tokens_window
    names = [tier.name for tier in policy.tiers]
    assert len(set(names)) == len(names)


def test_balanced_takes_its_numbers_from_the_requirements() -> None:
    """80 % of the input budget, down to 50 %."""
    policy = policy_of("balanced", 200_000)
    assert policy.threshold.tokens(200_000) == 144_000
    assert policy.target.tokens(200_000) == 90_000


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("handoff", {"threshold": 144_000, "handoff": 126_000}),
        ("reserve", {"threshold": 200_000 - 20_000 - 13_000}),
        ("ladder-minimal", {"threshold": 161_500}),
        ("ladder-professional", {"threshold": 161_500}),
        ("ladder-enterprise", {"threshold": 160_650}),
        ("cascade", {"threshold": 180_000, "forced": 190_000, "advice": 120_000}),
    ],
)
def test_the_lines_of_each_policy_are_those_of_its_design(name: str, lines: dict[str, int]) -> None:
    """Published with each design, at a window of 200,000: typed here, so that a changed number is noticed as one."""
    policy = policy_of(name, 200_000)
    assert {line: getattr(policy, line).tokens(200_000) for line in lines} == lines


@pytest.mark.parametrize(
    ("name", "tier", "values"),
    [
        ("handoff", "budget-reduction", {"limit": 60_000, "per_turn": 120_000}),
        ("handoff", "microcompact", {"idle_over_s": 60, "keep_rounds": 3}),
        ("ladder-minimal", "snip", {"unit": "messages", "over_messages": 50}),
        ("ladder-professional", "snip", {"over_messages": 20, "removed_min": 5, "keep_rounds": 10}),
        ("ladder-professional", "microcompact", {"limit": 4_000, "head": 1_500, "tail": 500}),
        ("ladder-professional", "collapse", {"window": 15}),
        ("cascade", "budget-reduction", {"limit": 4_000, "head": 2_400, "tail": 1_600}),
        ("cascade", "microcompact", {"first_calls": 50, "every_calls": 25, "idle_from_s": 90 * 60}),
        ("cascade", "snip", {"unit": "turns"}),
    ],
)
def test_the_tiers_of_each_policy_have_the_numbers_of_its_design(
    name: str, tier: str, values: dict[str, object]
) -> None:
    """Published with each design."""
    (reduce,) = [one.reduce for one in policy_of(name, 200_000).tiers if one.name == tier]
    assert {key: getattr(reduce, key) for key in values} == values


def test_an_unknown_policy_lists_what_there_is() -> None:
    """The error says what to do next."""
    with pytest.raises(UnknownPolicy) as caught:
        policy_of("thrifty")
    assert caught.value.known == tuple(POLICIES)
    assert "balanced" in str(caught.value)


def test_a_tier_that_runs_by_idle_time_alone_is_said_to_need_a_session() -> None:
    """Only a session knows when the provider was last called; without one the tier never has anything to do."""
    for name in POLICIES:
        for tier in policy_of(name, 200_000).tiers:
            if isinstance(tier.reduce, Microcompact) and tier.reduce.idle_over_s is not None:
                assert (name, tier.needs) == ("handoff", "session")
    talk = [
        user("go"),
        *[m for n in range(9) for m in (assistant(call(f"c{n}")), result(f"c{n}", "x" * 400))],
    ]
    view = view_from([*talk, user("next")])
    (idle,) = [tier.reduce for tier in policy_of("handoff").tiers if tier.name == "microcompact"]
    assert idle is not None
    assert idle.plan(view, moment_for(view, 1), frame_for(view)).edits == ()
    assert idle.plan(view, moment_for(view, 1, idle_s=61.0), frame_for(view)).edits
