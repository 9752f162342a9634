"""The named policies are values: every name is there, every number sound, `balanced` the default."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from foldline import compact
from foldline.core.budget import Room
from foldline.core.errors import InvalidOption, UnknownPolicy
from foldline.core.needs import Needs
from foldline.engine.policy import Line
from foldline.engine.report import Report
from foldline.passes.microcompact import Microcompact
from foldline.presets import POLICIES, own_policies, policy_of
from foldline.reduce import Goal, Reduced, history_of, reduce
from foldline.settings import plan_for
from foldline.testing.builders import assistant, call, frame_for, moment_for, result, user, view_from
from foldline.testing.counting import CharacterCounter
from foldline.tokens.models import looked_up, names

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
    threshold, target = (line.tokens(Room(tokens_window)) for line in (policy.threshold, policy.target))
    assert 0 <= target <= threshold <= tokens_window
    names = [tier.name for tier in policy.tiers]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_begins_above_what_a_model_takes(name: str) -> None:
    """GPT-5 takes 272,000 tokens of input in a window of 400,000: a line of the whole window would be met too late."""
    for model in names():
        planned = plan_for(model)
        known, _ = looked_up(model)
        threshold = policy_of(name, planned.window).threshold
        assert threshold.tokens(planned.room()) <= known.max_input, model
        assert planned.window_shared == known.window, model


def test_balanced_takes_its_numbers_from_the_requirements() -> None:
    """80 % of the input budget, down to 50 %."""
    policy = policy_of("balanced", 200_000)
    assert policy.threshold.tokens(Room(200_000)) == 144_000
    assert policy.target.tokens(Room(200_000)) == 90_000


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
    assert {line: getattr(policy, line).tokens(Room(200_000)) for line in lines} == lines


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


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file, and a working folder without one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").touch()
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "own.toml"))
    return tmp_path / "own.toml"


def test_an_unknown_policy_lists_what_there_is(own: Path) -> None:
    """The error says what to do next; the user's own stand in the list, whether or not they are sound."""
    with pytest.raises(UnknownPolicy) as caught:
        policy_of("thrifty")
    assert caught.value.known == tuple(POLICIES)
    own.write_text("[policies.mine]\n", encoding="utf-8")
    with pytest.raises(UnknownPolicy) as caught:
        policy_of("thrifty")
    assert caught.value.known == (*POLICIES, "mine")


@pytest.mark.parametrize("name", POLICIES)
def test_the_name_of_a_preset_is_not_for_the_user_to_take(own: Path, name: str) -> None:
    """What `balanced` does must not depend on the folder one stands in, and nobody is to believe that it did."""
    own.write_text(f"[policies.{name}]\n", encoding="utf-8")
    for asked in (own_policies, lambda: policy_of(name, 200_000)):
        with pytest.raises(InvalidOption) as caught:
            asked()
        assert str(own) in str(caught.value)


DUE = [
    ("balanced", "threshold", 144_000),
    ("handoff", "handoff", 126_000),
    ("handoff", "threshold", 144_000),
    ("reserve", "threshold", 167_000),
    ("ladder-minimal", "threshold", 161_501),
    ("ladder-professional", "threshold", 161_501),
    ("ladder-enterprise", "threshold", 160_651),
    ("cascade", "advice", 120_000),
    ("cascade", "threshold", 180_000),
    ("cascade", "forced", 190_000),
]
"""The first number of tokens at which each line of each policy is passed, at a window of 200,000."""


@pytest.mark.parametrize(("name", "which", "first"), DUE)
def test_each_line_is_passed_at_its_number_and_not_a_token_before(name: str, which: str, first: int) -> None:
    """BUD-1 (70 % and 80 % of window less reserve, from there on), BUD-2 (from the threshold on), BUD-3 (over 85 % of
    the effective budget), BUD-4 (90 %, forced at 95 %, advice from 60 %)."""
    line = getattr(policy_of(name, 200_000), which)
    assert isinstance(line, Line)
    assert line.is_reached(first, Room(200_000))
    assert not line.is_reached(first - 1, Room(200_000))


def sized(tokens: int, policy: str) -> Reduced:
    """A history of exactly so many tokens, brought to its policy at a window of 200,000."""
    rounds = [m for n in range(60) for m in (assistant(call(f"c{n}")), result(f"c{n}", "x" * 9_000))]
    counter = CharacterCounter()
    history = history_of([user("go"), *rounds, user("next")], needs=Needs(), counter=counter, tokens_fixed=0)
    grown = history_of(
        [user("go"), *rounds, user("next" + "more" * (tokens - history.tokens))],
        needs=Needs(),
        counter=counter,
        tokens_fixed=0,
    )
    assert grown.tokens == tokens
    goal = Goal(policy=policy_of(policy, 200_000), tokens_window=200_000)
    return reduce(grown, goal, counter=counter, report=Report(format="neutral"))


@pytest.mark.parametrize(
    ("name", "first"), [(name, first) for name, which, first in DUE if which == "threshold"]
)
def test_a_policy_acts_from_its_threshold_on_and_ends_at_its_target(name: str, first: int) -> None:
    """PRE-1, PRE-2, PRE-3, PRE-4, PRE-5, PRE-6, PRE-7: a token below nothing but what runs before every request; from there on down to its target (a
    policy whose one tier needs a model says so)."""
    policy = policy_of(name, 200_000)
    always = {tier.name for tier in policy.tiers if tier.when == "always"}
    below, at = sized(first - 1, name).report, sized(first, name).report
    assert {step.name for step in below.passes} <= always
    if name == "reserve":
        assert (at.outcome, at.passes) == ("unreachable", ())
        return
    assert (at.outcome, at.valid) == ("compacted", True)
    assert at.tokens_after <= policy.target.tokens(Room(200_000))


def test_tiers_run_in_the_order_of_their_policy_and_only_while_the_view_is_over() -> None:
    """BUD-12: cheapest first, counted again after each; the ladder stops at the first that suffices."""
    ladder = [step.name for step in sized(161_501, "ladder-professional").report.passes]
    assert ladder == ["snip"]
    cascade = [step.name for step in sized(195_000, "cascade").report.passes]
    order = [tier.name for tier in policy_of("cascade", 200_000).tiers]
    assert cascade == [name for name in order if name in cascade]


@pytest.mark.parametrize(("tokens_window", "warned"), [(33_000, True), (33_001, False), (200_000, False)])
def test_a_window_that_a_reserve_takes_whole_is_warned_of(tokens_window: int, warned: bool) -> None:
    """BUD-2: at a threshold of 0 a warning says that the window is too small for this policy."""
    history = history_of([user("go")], needs=Needs(), counter=CharacterCounter(), tokens_fixed=0)
    goal = Goal(policy=policy_of("reserve", tokens_window), tokens_window=tokens_window)
    notes = reduce(history, goal, counter=CharacterCounter(), report=Report(format="neutral")).report.notes
    assert [("too small for policy reserve" in note) for note in notes] == [True] * warned


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
