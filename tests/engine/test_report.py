"""The report: what was done, in numbers that can be checked against the views."""

from __future__ import annotations

import json

from foldline.core.edit import Edit, Replace, apply
from foldline.core.message import Text
from foldline.core.view import View
from foldline.engine.report import Cache, Report, cache_of, covers_of, passes_of
from foldline.engine.run import Step
from foldline.testing.builders import assistant, frame_for, user, view_from
from tests.engine.scripted import Scripted, dropping, folding

TALK = [
    message for n in range(4) for message in (user(f"question {n} " * 20), assistant(f"answer {n} " * 20))
]
KEYS = (
    "schema format model policy counter outcome reason messages_before messages_after tokens_before tokens_after "
    "tokens_target passes covers retention retention_evicted summary cache repairs notes below_floor valid violations unmended seconds"
)


def edits_of(view: View, *passes: Scripted) -> tuple[Edit, ...]:
    return tuple(edit for one in passes for edit in one.edits(view))


def test_a_report_is_json_with_every_key_of_its_schema() -> None:
    """interface.md: `foldline.report/1`; keys are there even when there is nothing to say."""
    value = Report(format="pi").to_dict()
    assert list(value) == KEYS.split()
    assert value["schema"] == "foldline.report/1"
    assert json.loads(json.dumps(value)) == value
    assert value["covers"] == {"messages": 0, "addresses": []}
    assert value["summary"] == {"kind": None, "evicted_tokens": 0, "seen_tokens": 0, "attempts": 0}


def test_a_step_is_told_by_its_numbers() -> None:
    """How many edits, how many tokens, how long."""
    view = view_from(TALK)
    step = Step(name="drop", edits=edits_of(view, dropping(0, 1)), tokens_freed=90, seconds=0.123456789)
    (told,) = passes_of((step,))
    assert (told.name, told.edits, told.tokens_freed, told.seconds) == ("drop", 2, 90, 0.123457)


def test_covers_counts_the_messages_that_the_final_view_folds_away() -> None:
    """A fold over a fold counts its originals once; drops and what is still in view are not covered."""
    view = view_from(TALK)
    first = edits_of(view, folding(0, 2))
    once = apply(view, first, frame=frame_for(view))
    second = edits_of(once, folding(0, 4))
    twice = apply(once, second, frame=frame_for(once))
    covers = covers_of((*first, *second), twice)
    assert covers.messages == 4
    assert covers.addresses == ("m0-1@00000000", "m0-3@00000000")
    assert covers_of((), view).messages == 0


def test_a_shortened_part_is_addressed_unless_it_was_folded_later() -> None:
    """The address of the fold opens it too."""
    view = view_from(TALK)
    replaced = [
        Replace(seq=seq, slot=0, part=Text(text="short", slot=0, edited=True), address=f"m{seq}.0@00000000")
        for seq in (1, 3)
    ]
    now = apply(view, replaced, frame=frame_for(view))
    folds = edits_of(now, folding(0, 2))
    after = apply(now, folds, frame=frame_for(now))
    assert covers_of((*replaced, *folds), after).addresses == ("m0-1@00000000", "m3.0@00000000")
    twice = covers_of((*replaced, *replaced), now)
    assert twice.addresses == ("m1.0@00000000", "m3.0@00000000")


def test_the_prefix_that_is_kept_ends_at_the_first_change() -> None:
    """Law PREFIX, in numbers: what stands before it is cached, what follows is read again."""
    view = view_from(TALK)
    after = apply(view, edits_of(view, folding(2, 4)), frame=frame_for(view))
    kept = 50 + sum(item.tokens for item in view.items()[:2])
    assert cache_of(view, after, fixed=50) == Cache(
        prefix_tokens_kept=kept,
        tokens_reread=after.tokens + 50 - kept,
        net_tokens_saved_per_turn=view.tokens - after.tokens,
    )
    assert cache_of(view, view, fixed=50) == Cache(
        prefix_tokens_kept=view.tokens + 50, tokens_reread=0, net_tokens_saved_per_turn=0
    )
