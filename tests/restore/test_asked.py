"""A callback is asked once, bounded and looked through."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foldline.restore.asked import (
    LINE_CHARS_MAX,
    ROWS_MAX,
    TEXT_CHARS_MAX,
    Notes,
    line_of,
    many,
    one,
    text_of,
)


def test_one_value_or_none() -> None:
    """No callback, no answer and a right answer are no fault."""
    notes = Notes(str)
    assert one("cwd", None, kind=str, notes=notes) is None
    assert one("cwd", lambda: None, kind=str, notes=notes) is None
    assert one("cwd", lambda: "/x", kind=str, notes=notes) == "/x"
    assert notes.said == []
    assert one("cwd", lambda: 3, kind=str, notes=notes) is None
    assert notes.said == ["cwd: gave a int, not a str"]


def test_rows_of_another_kind_are_left_out_and_said() -> None:
    """The others serve."""
    notes = Notes(str)
    assert many("tasks", lambda: ["a", 3, "b"], kind=str, notes=notes) == ("a", "b")
    assert notes.said == ["tasks: gave a int among its rows, not a str"]
    assert many("tasks", lambda: None, kind=str, notes=notes) == ()


def interrupts() -> str:
    raise KeyboardInterrupt


@pytest.mark.parametrize("ask", [one, many])
def test_an_abort_is_no_fault_of_a_callback(ask: Callable[..., object]) -> None:
    """It passes through."""
    with pytest.raises(KeyboardInterrupt):
        ask("tasks", interrupts, kind=str, notes=Notes(str))


def test_notes_are_redacted_said_once_and_bounded() -> None:
    """An error's words may hold a secret, and come a thousand times."""
    notes = Notes(lambda text: text.replace("SECRET", "⟦secret⟧"))
    for number in range(ROWS_MAX * 3):
        notes.add("a", f"SECRET {number // 2}")
    assert notes.said[0] == "a: ⟦secret⟧ 0"
    assert len(notes.said) == len(set(notes.said)) == ROWS_MAX


def test_fields_are_texts_of_a_bounded_length() -> None:
    """Whatever their type says."""
    assert (text_of(3), text_of(None), text_of("a\ud800")) == ("", "", "a�")
    assert len(text_of("x" * 10**6)) == TEXT_CHARS_MAX
    assert line_of("a\n\tb") == "a b"
    assert len(line_of("x" * 10**6)) <= LINE_CHARS_MAX
