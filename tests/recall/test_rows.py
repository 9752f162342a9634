"""Filters become marks in the index and conditions on its rows."""

from __future__ import annotations

from foldline.recall.rows import Filters, Reach, condition, kind_named, marked, marks_of, role_of
from foldline.recall.texts import KINDS, ROLES


def test_a_failed_result_is_a_result() -> None:
    """Who asks for results gets those that failed too."""
    marks = marks_of(role="tool", kind="error", tool=3).split()
    assert set(marked(Filters(kind="result"), None)) <= set(marks)
    assert set(marked(Filters(kind="error", role="tool"), 3)) <= set(marks)
    assert not set(marked(Filters(kind="error"), None)) <= set(
        marks_of(role="tool", kind="result", tool=3).split()
    )


def test_sessions_and_times_are_conditions_with_values_apart() -> None:
    """Nothing of a name is written into SQL."""
    filters = Filters(reach=(Reach(session="a'"), Reach(session="b", ordinals=4)), since_ms=1, until_ms=2)
    sql, values = condition(filters, {"a'": 7, "b": 8})
    assert sql == "(r.session = ? OR (r.session = ? AND r.ordinal < ?)) AND r.time >= ? AND r.time <= ?"
    assert values == [7, 8, 4, 1, 2]
    assert condition(Filters(), {}) == ("", [])


def test_a_session_that_the_index_does_not_know_has_no_rows() -> None:
    assert condition(Filters(reach=(Reach(session="x"),)), {}) == ("0", [])


def test_roles_and_kinds_are_kept_as_numbers() -> None:
    assert [role_of(number) for number in range(len(ROLES))] == list(ROLES)
    assert [kind_named(number) for number in range(len(KINDS))] == list(KINDS)
