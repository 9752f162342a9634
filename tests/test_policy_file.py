"""Policies as tables of `foldline.toml` (decision 0014)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields, replace

import foldline
from foldline.core.errors import InvalidOption
from foldline.core.estimate import Counting
from foldline.engine.policy import Floor, Line, Policy, Tier
from foldline.ledger.retention import KINDS
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.microcompact import Microcompact
from foldline.passes.supersession import MarkSuperseded
from foldline.policy_file import PASSES, TIERS_MAX, read_policy, write_policy
from foldline.presets import POLICIES, policy_of

LEAST = """
[policies.mine]
sentence = "Folds."
threshold = { percent = 80, of = "input" }
target = { percent = 50, of = "input" }
tiers = [{ pass = "fold" }]
"""


def read(text: str, name: str = "mine") -> Policy:
    """The policy of that name in a text."""
    return read_policy(name, tomllib.loads(text)["policies"][name], file="here.toml")


def read_back(policy: Policy) -> Policy:
    """The policy, written and read."""
    return read(write_policy(policy, name=policy.name), policy.name)


@pytest.mark.parametrize("tokens_window", [None, 32_000, 200_000, 1_000_000])
@pytest.mark.parametrize("name", POLICIES)
def test_every_preset_written_out_reads_back_as_the_same_value(name: str, tokens_window: int | None) -> None:
    """PRE-1…7: a file can say everything that a preset says."""
    policy = policy_of(name, tokens_window)
    assert read_back(policy) == policy


LINES = st.builds(
    Line,
    percent=st.integers(1, 100),
    of=st.sampled_from(["input", "effective", "window", "reserve"]),
    reserved=st.integers(0, 10**12),
    over=st.booleans(),
)
SHARES = st.floats(0, 1, allow_nan=False)
CLEARS = st.builds(
    Microcompact,
    name=st.just("clear"),
    kinds=st.none() | st.frozensets(st.sampled_from(["shell", "grep", "other"])),
    idle_over_s=st.none() | st.floats(0, 10**12),
    keep_share=SHARES,
)
CUTS = st.builds(
    BudgetReduction,
    name=st.just("cut"),
    per_tool=st.dictionaries(st.text(), st.integers(1, 10**12), max_size=3).map(lambda one: (*one.items(),)),
)


@given(
    st.text(st.characters(codec="utf-8")),
    st.lists(st.one_of(CLEARS, CUTS), min_size=1, max_size=3),
    st.lists(LINES, min_size=2, max_size=3),
    st.lists(st.sampled_from(KINDS), unique=True),
)
def test_whatever_a_policy_holds_reads_back_as_it_was(
    words: str, passes: list[Any], lines: list[Line], kinds: list[str]
) -> None:
    """Any text, number, table of names or floor: what the writer writes is TOML, and says the same."""
    threshold = lines[0]
    policy = Policy(
        name="any",
        sentence=words,
        source=words,
        threshold=threshold,
        target=replace(lines[1], percent=min(lines[1].percent, threshold.percent)),
        advice=lines[-1],
        tiers=tuple(
            Tier(name=each.name, reduce=each, due=lines[0], when="always", gain_min=7) for each in passes
        ),
        floors=tuple(Floor(kind=kind, in_view=3, not_lost=7) for kind in kinds),
        counting=Counting(growth=False),
        counter="length/4",
    )
    assert read_back(policy) == policy


def test_what_is_left_out_has_the_fields_own_default() -> None:
    """The source is the file, a tier's name its pass's."""
    policy = read(LEAST)
    assert policy.source == "here.toml"
    assert policy.floors == ()
    [tier] = policy.tiers
    assert tier == Tier(name="fold", reduce=FoldOldest())


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_can_be_named(name: str) -> None:
    """By the name under which it stands in `docs/reference/passes.md`, with each of its fields."""
    [tier] = read(LEAST.replace('"fold"', f'"{name}"')).tiers
    assert type(tier.reduce or tier.ask) is PASSES[name]
    assert tier.name == name
    written = write_policy(replace(read(LEAST), tiers=(tier,)), name="mine")
    for field in fields(PASSES[name]):
        assert field.name == "name" or field.default is None or f"\n{field.name} = " in written


WRONG = {
    "a number as text": ("percent = 80", 'percent = "80"', "threshold.percent='80'", "whole number from 1 to 100"),
    "a share of a percent": ("percent = 80", "percent = 0.8", "threshold.percent=0.8", "whole number"),
    "percent too large": ("percent = 80", "percent = 101", "threshold.percent=101", "from 1 to 100"),
    "a line as a number": (
        '{ percent = 80, of = "input" }',
        "80",
        "threshold=80",
        "a table with percent and of",
    ),
    "a line without its budget": (', of = "input" }\ntarget', " }\ntarget", "threshold.of", "one of effective, input"),
    "no such budget": ('of = "input" }\nta', 'of = "money" }\nta', "threshold.of='money'", "one of effective, input"),
    "no threshold": ('threshold = { percent = 80, of = "input" }', "", "threshold=None", "a table with percent"),
    "no tiers": ('tiers = [{ pass = "fold" }]', "", "tiers=None", "[[policies.mine.tiers]]"),
    "no tier at all": ('[{ pass = "fold" }]', "[]", "tiers=[]", f"1 to {TIERS_MAX}"),
    "tiers as a table": ('[{ pass = "fold" }]', '{ pass = "fold" }', "tiers={", "[[policies.mine.tiers]]"),
    "a tier as a text": ('[{ pass = "fold" }]', '["fold"]', "tiers='fold'", "tier 1: write a table"),
    "too many tiers": ('[{ pass = "fold" }]', f"[{'{}, ' * 33}]", "tiers=", f"1 to {TIERS_MAX}"),
    "no pass": ('{ pass = "fold" }', '{ name = "x" }', "tiers.pass=None", "one of budget-reduction"),
    "no such pass": ('"fold"', '"prune"', "tiers.pass='prune'", "one of budget-reduction"),
    "a pass as a number": ('"fold"', "3", "tiers.pass=3", "one of budget-reduction"),
    "a misspelt field": ('"fold"', '"fold", tail_shar = 1', "tiers.tail_shar=1", "did you mean tail_share? there are"),
    "a share above one": ('"fold"', '"fold", tail_share = 60', "tiers.tail_share=60", "a number from 0 to 1"),
    "a share that is no number": ('"fold"', '"fold", tail_share = nan', "tiers.tail_share=nan", "a number from 0 to 1"),
    "another pass's choice": ('"fold"', '"fold", summary = "poem"', "tiers.summary='poem'", "one of ledger, template"),
    "what only marks say": ('"fold"', '"fold", only_marks = true', "tiers.only_marks=True", "no such key"),
    "no yes or no": ('"fold"', '"fold", clamp_edge = 1', "tiers.clamp_edge=1", "true or false"),
    "when": ('"fold"', '"fold", when = "often"', "tiers.when='often'", "one of always, blind, over"),
    "needs": ('"fold"', '"fold", needs = "luck"', "tiers.needs='luck'", "one of nothing, model"),
    "a nested number": (
        '"fold"',
        '"bounded-fold", fold = { tail_share = "x" }',
        "tiers.fold.tail_share='x'",
        "a number from 0 to 1",
    ),
    "no table of names": ('"fold"', '"budget-reduction", per_tool = 3', "tiers.per_tool=3", "a table of names"),
    "a name with a text": (
        '"fold"',
        '"budget-reduction", per_tool = { shell = "x" }',
        "tiers.per_tool={'shell'",
        "a table of names, each with a whole number",
    ),
    "no such tool": ('"fold"', '"microcompact", kinds = ["sh"]', "tiers.kinds=['sh']", "a list of some of file_edit"),
    "no such floor": (
        'sentence = "Folds."',
        'sentence = "Folds."\nfloors = { files = {} }',
        "floors='files'",
        "there are paths",
    ),
    "a floor as a number": (
        'sentence = "Folds."',
        'sentence = "Folds."\nfloors = { pins = 100 }',
        "floors.pins=100",
        "write a table",
    ),
    "no such counter": (
        'sentence = "Folds."',
        'sentence = "Folds."\ncounter = "abacus"',
        "counter='abacus'",
        "one of o200k_base",
    ),
    "no sentence": ('sentence = "Folds."', "", "sentence=None", "give a text"),
    "a key of nothing": ('sentence = "Folds."', 'sentence = "Folds."\nmodel = "m"', "model='m'", "there are tiers"),
    "its name again": ('sentence = "Folds."', 'sentence = "Folds."\nname = "m"', "name='m'", "no such key"),
    "a target above the threshold": ("percent = 50", "percent = 81", "target=", "above the threshold"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "told", "allowed"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_file_key_value_and_what_is_allowed(
    old: str, new: str, told: str, allowed: str
) -> None:
    """A number that is silently passed over is worse than none."""
    text = LEAST.replace(old, new, 1)
    assert text != LEAST
    with pytest.raises(InvalidOption) as caught:
        read(text)
    said = str(caught.value)
    assert said.startswith(f"policies.mine.{told}"), said
    assert "in here.toml" in said
    assert allowed in said
    assert ("tier 1" in said) == bool(re.match(r"policies\.mine\.tiers(\.|='fold')", said))


@pytest.mark.parametrize("name", ["", " ", "a b", "-x", "x" * 65, "\x1b[31m", "a/b"])
def test_a_policy_has_a_name_that_a_line_of_commands_can_hold(name: str) -> None:
    """It is typed behind `--policy` and stands in lists and reports."""
    with pytest.raises(InvalidOption):
        read_policy(name, tomllib.loads(LEAST)["policies"]["mine"], file="here.toml")


def test_a_policy_with_a_pass_that_no_file_can_name_is_not_written() -> None:
    """Superseded words are marked before every policy's tiers; nothing is written that would not read back."""
    own = replace(policy_of("balanced"), tiers=(Tier(name="mark", reduce=MarkSuperseded()),))
    with pytest.raises(InvalidOption) as caught:
        write_policy(own, name="own")
    assert "budget-reduction" in str(caught.value)


def test_a_policy_of_a_file_is_taken_by_its_name_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """interface.md, Policies: a user writes their own in `foldline.toml`. A session keeps it when the file is gone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLDLINE_CONFIG", "/dev/null")
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    (tmp_path / "foldline.toml").write_text(LEAST, encoding="utf-8")
    messages = [{"role": "user", "content": f"{n}: " + "words and words. " * 50} for n in range(20)]
    done = foldline.compact(messages, 1_000, policy="mine")
    assert done.report.policy == "mine"
    assert {one.name for one in done.report.passes} <= {"supersession", "fold"}
    with foldline.open("s", policy="mine") as session:
        assert session.policy == read_policy(
            "mine", tomllib.loads(LEAST)["policies"]["mine"], file="foldline.toml"
        )
        (tmp_path / "foldline.toml").unlink()
        session.use("claude-sonnet-4-5")
        assert session.policy.name == "mine"
