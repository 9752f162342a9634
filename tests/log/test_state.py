"""The state of a session: what it is before anything was said."""

from __future__ import annotations

from foldline.log.state import ROOT, State


def test_a_log_without_entries_comes_to_an_empty_view() -> None:
    """Law LOG: any prefix of a log loads, the shortest too."""
    state = State()
    assert (state.seq, state.ordinals, len(state.root.view)) == (-1, 0, 0)
    assert list(state.scopes) == [ROOT]
    assert state.scopes is not State().scopes
