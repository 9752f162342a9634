"""Kinds of entries that say one thing, and change no view."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.errors import SessionCorrupt
from foldline.log.kinds import KINDS
from foldline.log.replay import SHAPING, Replay, resume
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, user
from tests.log.drafts import compaction, draft, fold, said


def replayed(*drafts: Any) -> Replay:
    """A log of these entries, read."""
    log = MemoryStore().create("s", format="neutral", about=b"{}")
    log.append(list(drafts))
    replay = Replay()
    replay.run(log.entries())
    return replay


def test_none_of_them_shapes_a_view_but_system_and_tools() -> None:
    """Law REPLAY: what they say stands beside the views."""
    assert set(KINDS) & SHAPING == {"system", "tools", "undo", "unfold", "rollback"}


def test_tools_that_are_no_list_are_damage() -> None:
    """A log is read by what it says, and every tool of a list is converted, counted and sent."""
    with pytest.raises(SessionCorrupt, match="tools stand in a list"):
        replayed(said(user("u")), draft("tools", tools=True))


def test_compactions_without_progress_are_counted_until_one_helps() -> None:
    """anomalyco/opencode#27924: beside a compaction, beside a settle and alone; an entry that says nothing counts nothing."""
    talk = [said(user(f"u{n}")) if n % 2 == 0 else said(assistant("a")) for n in range(8)]
    stalled = (
        draft("progress", progress=False),
        draft("begin"),
        draft("settle", begin=9, outcome="failed", why="x", progress=False),
        compaction(fold(1, 3), progress=False),
        draft("begin"),
        draft("settle", begin=12, outcome="abandoned", why="x"),
    )
    assert replayed(*talk, *stalled).state.stalled == 3
    assert replayed(*talk, *stalled, draft("progress", progress=True)).state.stalled == 0
    assert replayed(*talk, *stalled, draft("model", model="another")).state.stalled == 0
    assert replayed(*talk, *stalled, draft("undo", entry=11)).state.stalled == 2


def test_the_count_stands_in_checkpoints() -> None:
    """JRN-1: a restarted session knows it without reading what went before."""
    from foldline.core.entry import Draft
    from foldline.log.checkpoint import checkpoint_body

    log = MemoryStore().create("s", format="neutral", about=b"{}")
    log.append([said(user("u")), draft("progress", progress=False), draft("progress", progress=False)])
    replay = Replay()
    replay.run(log.entries())
    log.append([Draft(kind="checkpoint", body=checkpoint_body(replay.state, replay.places))])
    assert resume(log).state.stalled == 2


@pytest.mark.parametrize(
    "broken",
    [draft("settle", begin="x"), draft("node", id="", name="n", expose="io"), draft("node_end", id="n")],
)
def test_one_that_cannot_be_read_says_where(broken: Any) -> None:
    """Law LOG: an entry of a known kind is read or named."""
    with pytest.raises(SessionCorrupt):
        replayed(said(user("u")), broken)
