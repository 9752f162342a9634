"""Entries are values."""

from __future__ import annotations

import pytest

from foldline.core.entry import Draft, Entry


def test_entries_are_values_that_nothing_changes() -> None:
    """Style: values are frozen, equal by what they hold."""
    entry = Entry(seq=0, kind="message", body=b"{}", offset=10)
    assert entry == Entry(seq=0, kind="message", body=b"{}", offset=10)
    with pytest.raises(AttributeError):
        entry.seq = 1  # type: ignore[misc]
    assert Draft(kind="message", body=b"{}") != Draft(kind="message", body=b"[]")
