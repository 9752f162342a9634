"""Failures of a model in a row, as the log tells them."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.log.failures import WORKSPACES_MAX, failures_after, stalled_after
from foldline.log.replay import Replay, resume
from foldline.log.values import dumps
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, user
from tests.log.drafts import compaction, draft, fold, said


def failed(workspace: str = "") -> dict[str, Any]:
    """What an entry says of one."""
    return {"outcome": "failed", **({"workspace": workspace} if workspace else {})}


def test_failures_are_counted_by_workspace_and_a_success_sets_one_back() -> None:
    """CMP-14: a composite key; nothing else is touched."""
    counts: dict[str, int] = {}
    for told in (failed("/a"), failed("/a"), failed("/b"), failed()):
        counts = failures_after(counts, told)
    assert counts == {"/a": 2, "/b": 1, "": 1}
    assert failures_after(counts, {"outcome": "ok", "workspace": "/a"}) == {"/b": 1, "": 1}


@pytest.mark.parametrize("told", [None, 3, {}, {"outcome": "abandoned"}, {"outcome": None}, []])
def test_what_is_no_outcome_counts_nothing(told: object) -> None:
    """CMP-21: an abort by the user is no failure."""
    assert failures_after({"/a": 2}, told) == {"/a": 2}


@pytest.mark.parametrize(
    ("told", "count"), [(False, 3), (True, 0), (None, 2), ("false", 2), (0, 2)], ids=repr
)
def test_only_what_says_plainly_that_it_was_no_progress_counts(told: object, count: int) -> None:
    """anomalyco/opencode#27924: older logs say nothing of it."""
    assert stalled_after(2, {"progress": told}) == count
    assert stalled_after(2, told) == 2


def test_so_many_workspaces_are_remembered_and_no_more() -> None:
    """Every buffer has a named bound."""
    counts: dict[str, int] = {}
    for number in range(3 * WORKSPACES_MAX):
        counts = failures_after(counts, failed(f"/{number}"))
    assert len(counts) == WORKSPACES_MAX


def test_the_counts_survive_a_restart_by_way_of_a_checkpoint_or_without_one() -> None:
    """CMP-14 and law REPLAY: beside a settle and beside a compaction."""
    store = MemoryStore()
    log = store.create("s", format="neutral", about=b"{}")
    log.append([said(user(f"u{n}")) if n % 2 == 0 else said(assistant("a")) for n in range(6)])
    log.append([draft("begin"), draft("settle", begin=6, outcome="failed", why="x", model=failed("/a"))])
    log.append([compaction(fold(1, 3), model=failed("/a"))])
    replay = Replay()
    replay.run(log.entries())
    assert replay.state.failures == {"/a": 2}
    from foldline.core.entry import Draft
    from foldline.log.checkpoint import checkpoint_body

    log.append([Draft(kind="checkpoint", body=checkpoint_body(replay.state, replay.places))])
    assert resume(log).state.failures == {"/a": 2}
    assert dumps(replay.state.failures) == b'{"/a":2}'
