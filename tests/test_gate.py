"""The gate: floors by kind, repair within the budget, refusal with its reason."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

import foldline
from foldline.core.edit import Fold, Frame, Plan
from foldline.core.ports import Moment
from foldline.core.rounds import outline_of
from foldline.core.view import View
from foldline.engine.policy import Floor, Line, Policy, Tier
from foldline.engine.report import Report
from foldline.gate import below_floors
from foldline.ledger.retention import KINDS
from foldline.passes.folding import fold_of, may_fold
from foldline.presets import FLOORS, POLICIES, policy_of
from foldline.testing.completers import ScriptedCompleter
from tests.session.modelling import asks

WINDOW = Line(percent=80, of="window")
RULE = "Never touch db/schema.sql."
History = list[dict[str, Any]]


class Forgetful(Struct, frozen=True, kw_only=True):
    """Folds all it may and says nothing of it, at most `says` words of no use."""

    name: str = "forgetful"
    says: int = 0

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """One fold."""
        structure = outline_of(view)
        units = [unit for unit in structure.units if may_fold(structure, unit, frame=frame)]
        gone = [item for unit in units for item in structure.items[unit.start : unit.end]]
        if moment.tokens_excess <= 0 or not gone:
            return Plan()
        edits: tuple[Fold, ...] = (fold_of(gone, "Gone." + " word" * self.says, frame=frame),)
        return Plan(edits=edits)


def policy(*floors: Floor, says: int = 0) -> Policy:
    """A policy with these floors that forgets all."""
    return Policy(
        name="forgetful",
        sentence="For tests.",
        source="none",
        threshold=WINDOW,
        target=WINDOW,
        floors=floors,
        tiers=(Tier(name="forgetful", reduce=Forgetful(says=says)),),
    )


def session() -> History:
    """A rule, a path and much talk between."""
    talk = [
        {"role": role, "content": f"{word} {n} of src/part_{n}.py " + "and on it goes " * 20}
        for n in range(8)
        for role, word in (("assistant", "Part"), ("user", "Question"))
    ]
    return [{"role": "user", "content": f"Speed up the import. {RULE}"}, *talk, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}]  # fmt: skip


def counts(total: int, *, in_view: int, lost: int = 0) -> dict[str, int]:
    return {
        "total": total,
        "in_view": in_view,
        "recallable": total - in_view - lost,
        "lost": lost,
        "altered": 0,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_below_its_floor_from_the_first_fact_too_few_on(kind: str) -> None:
    """OBS-3: a floor for each kind, from both sides."""
    floor = Floor(kind=kind, in_view=75, not_lost=100)
    enough = Report(format="test", retention_evicted={kind: counts(8, in_view=6)})
    assert below_floors(enough, [floor]) == ()
    few = Report(format="test", retention_evicted={kind: counts(8, in_view=5)})
    assert [(one.kind, one.what, one.floor, one.reached) for one in below_floors(few, [floor])] == [
        (kind, "in_view", 75, 62)
    ]
    lost = Report(format="test", retention_evicted={kind: counts(8, in_view=7, lost=1)})
    assert [(one.what, one.reached) for one in below_floors(lost, [floor])] == [("not_lost", 87)]
    assert below_floors(Report(format="test", retention_evicted={kind: counts(0, in_view=0)}), [floor]) == ()


def test_a_rule_that_a_pass_forgot_is_put_back_within_the_budget() -> None:
    """OBS-3, `design.md`, retention: a summary below the set rate is repaired."""
    out = foldline.compact(session(), 400, policy=policy(Floor(kind="constraints", in_view=100)))
    assert (out.report.outcome, out.report.below_floor, out.report.notes) == ("compacted", (), ())
    assert RULE in str(out.messages)
    assert out.report.retention["constraints"]["in_view"] == out.report.retention["constraints"]["total"] > 0
    assert out.report.tokens_after <= 400
    again = foldline.compact(out.messages, 10**9)
    assert again.report.tokens_before <= 400


def test_where_users_wrote_more_than_the_target_promises_room_for_rules_may_go_and_a_note_says_so() -> None:
    """OBS-3: beyond 60 % of the target in a stated order, rules last."""
    full = foldline.compact(session(), 400, policy=policy(says=200)).report.tokens_after
    out = foldline.compact(session(), full, policy=policy(Floor(kind="constraints", in_view=100), says=200))
    assert out.report.outcome == "compacted"
    assert any(
        "passages of recognised rules that left (one may hold several rules)" in note
        for note in out.report.notes
    )


def test_a_rule_that_finds_no_room_makes_the_target_unreachable() -> None:
    """CMP-30: a rule is never dropped silently; the smallest history that keeps it is given."""
    quiet = [
        {"role": "user", "content": f"Speed up the import. {RULE}"},
        {"role": "assistant", "content": "Part. " * 900},
        {"role": "user", "content": "Go on."},
    ]
    full = foldline.compact(quiet, 800, policy=policy(says=200)).report.tokens_after
    with pytest.raises(foldline.TargetUnreachable, match="what users ruled takes") as raised:
        foldline.compact(quiet, full, policy=policy(Floor(kind="constraints", in_view=100), says=200))
    result = raised.value.result
    assert RULE in str(result.messages)
    assert full < result.report.tokens_after < result.report.tokens_before
    assert foldline.compact(result.messages, 10**9).report.tokens_before <= result.report.tokens_after


def test_a_kind_that_cannot_be_put_back_makes_the_compaction_refused() -> None:
    """OBS-3: which kinds and how much of each is the policy's to say."""
    out = foldline.compact(session(), 400, policy=policy(Floor(kind="paths", in_view=50)))
    assert out.report.outcome == "failed"
    assert out.messages == session()
    assert "50 %" in (out.report.reason or "")
    assert foldline.compact(session(), 400, policy=policy(Floor(kind="paths"))).report.outcome == "compacted"


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_preset_but_reserve_has_a_floor_for_every_kind(name: str) -> None:
    """OBS-3: a floor for each kind; `reserve`, whose document checks nothing of a summary, has none."""
    floors = policy_of(name, 200_000).floors
    assert floors == (() if name == "reserve" else FLOORS)
    assert [floor.kind for floor in FLOORS] == list(KINDS)
    assert {floor.kind for floor in FLOORS if floor.in_view == 100} == {"constraints", "pins"}
    assert all(floor.not_lost == 100 for floor in FLOORS)


def test_a_models_summary_that_keeps_too_little_is_refused_and_the_ledger_stands_in_its_place() -> None:
    """A floor of the policy's own: what the model wrote names none of the paths that left, and the ladder goes on without it."""
    path = Floor(kind="paths", in_view=30)
    last = policy_of("balanced").tiers[-1]
    completer = ScriptedCompleter("All went as it should. " * 4)
    out = foldline.compact(session(), to=400, policy=asks(last, end=13, floors=(path,)), completer=completer)
    assert [failure.name for failure in out.report.summary.failures] == ["below_floor"]
    assert "paths" in out.report.summary.failures[0].why
    assert len(completer.requests) == 1
    assert (out.report.outcome, out.report.below_floor) == ("compacted", ())
    assert [step.name for step in out.report.passes][-1] == "ledger"


def test_how_much_of_what_left_was_read_is_said_for_each_kind_of_fold() -> None:
    """OBS-3: a ledger is made from all of it, a notice that quotes nothing from nothing."""
    ledger = foldline.compact(session(), 600).report.summary
    assert (ledger.kind, ledger.seen_tokens) == ("ledger", ledger.evicted_tokens)
    notice = foldline.compact(session(), 600, policy="cascade").report.summary
    assert notice.kind == "notice"
    assert 0 <= notice.seen_tokens < notice.evicted_tokens / 10
