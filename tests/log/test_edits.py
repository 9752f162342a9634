"""The edits of an entry: in runs that can be made at once, and only of messages that are there."""

from __future__ import annotations

import pytest

from foldline.core.edit import Drop, Edit
from foldline.core.view import Span
from foldline.log.edits import batches, first_named, refuse_nowhere
from foldline.testing.builders import result
from tests.log.drafts import cleared, fold


def test_an_edit_that_names_the_place_of_a_fold_begins_a_run_of_its_own() -> None:
    """Law REPLAY: it sees what the fold left."""
    edits: list[Edit] = [
        cleared(5, result("c", "x")),
        fold(1, 2),
        fold(1, 4),
        Drop(span=Span(start=6, end=7)),
        cleared(1, result("c", "x")),
    ]
    assert [len(run) for run in batches(edits)] == [2, 2, 1]
    assert [first_named([edit]) for edit in edits] == [5, 1, 1, 6, 1]


def test_edits_of_messages_that_are_not_there_are_refused() -> None:
    """Law LOG: damage that a checksum cannot see."""
    wrong: list[Edit] = [fold(1, 4), cleared(4, result("c", "x")), Drop(span=Span(start=2, end=2))]
    for edit in wrong:
        with pytest.raises(ValueError, match="not there"):
            refuse_nowhere(edit, messages=4)
        assert first_named([edit]) >= 1
