"""What a session may be called."""

from __future__ import annotations

import pytest

from foldline.core.errors import InvalidOption
from foldline.core.naming import NAME_CHARS_MAX, check_name, is_name


@pytest.mark.parametrize("name", ["a", "fix-login", "2026.11", "A_b", "x" * NAME_CHARS_MAX])
def test_a_name_that_a_folder_has_everywhere_is_one(name: str) -> None:
    """S8."""
    assert is_name(name)
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-a", "é", "a\n", "x" * (NAME_CHARS_MAX + 1), "a\0"])
def test_any_other_is_refused_and_the_rule_is_said(name: str) -> None:
    """S8: no name leads out of a home."""
    assert not is_name(name)
    with pytest.raises(InvalidOption, match="1 to 128 ASCII letters"):
        check_name(name)
