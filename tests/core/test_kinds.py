"""Values of no kind that an option takes are refused by its name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foldline.core.errors import InvalidOption
from foldline.core.kinds import (
    refuse_no_flag,
    refuse_no_name,
    refuse_no_number,
    refuse_no_text,
    whole_number,
)


@pytest.mark.parametrize(
    ("refuse", "sound", "wrong"),
    [
        (refuse_no_text, ["", "x"], [None, 5, b"x", True]),
        (refuse_no_name, ["x", " ü "], ["", " \n\u3000", None, 5]),
        (refuse_no_number, [0, -1, 10**30], [None, "5", 1.5, True, False]),
        (refuse_no_flag, [True, False], [None, 0, 1, "no"]),
    ],
)
def test_a_kind_is_taken_or_refused(
    refuse: Callable[..., None], sound: list[object], wrong: list[object]
) -> None:
    """The error names the option and says what to give. True is no number, 1 no yes."""
    for value in sound:
        refuse(first=sound[-1], option=value)
    for value in wrong:
        with pytest.raises(InvalidOption, match="give ") as caught:
            refuse(option=value)
        assert caught.value.option == "option"
        assert caught.value.value is value


def test_what_may_be_left_out_may_be_none() -> None:
    """And the error says that it may."""
    refuse_no_text(or_none=True, option=None)
    refuse_no_number(or_none=True, option=None)
    refuse_no_name(or_none=True, option=None)
    with pytest.raises(InvalidOption, match="or leave it out"):
        refuse_no_number(or_none=True, option="5")


def test_a_whole_number_is_of_any_library_and_no_class() -> None:
    """`int` itself has the method of its values; what raises from it is not called a number either."""

    class Counted:
        def __index__(self) -> int:
            return 7

    assert [whole_number(value) for value in (5, Counted(), True, 1.0, "5", int, Counted, None)] == [
        5, 7, None, None, None, None, None, None,
    ]  # fmt: skip
