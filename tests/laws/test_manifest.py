"""Every row of the table of laws is held by something: a breach that it catches, or a test that names it.

Counterpart of `tests/test_manifest.py`, which asks the same of requirements.
"""

from __future__ import annotations

from functools import cache

import pytest

from foldline.core.laws import LAWS, Law
from tests.laws.breaches import CHANGES, HISTORIES
from tests.test_manifest import TESTS, ids_named

all_named = cache(lambda: ids_named(TESTS))
EVERY = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)


@EVERY
def test_a_law_is_named_by_a_test(law: Law) -> None:
    """A law that no test names is a wish."""
    assert all_named().get(law.id)


@EVERY
def test_a_law_with_a_check_is_broken_by_an_example(law: Law) -> None:
    """A checker that cannot fail is a defect; one that stands in the table where it is not called is another."""
    assert (law.of_history is not None) == (law.holds == "history")
    assert (law.of_change is not None) == (law.holds == "change")
    assert (law.id in {case.law for case in HISTORIES}) == (law.holds == "history")
    assert (law.id in {case.law for case in CHANGES}) == (law.holds == "change")
