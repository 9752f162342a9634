"""Seeded faults: with each of them one named test turns red, and without it is green.

A test that cannot fail is a defect; so is a law whose check could be emptied without anyone noticing.
"""

from __future__ import annotations
import __future__

import inspect
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core import laws
from foldline.core.errors import FoldlineError
from foldline.core.laws import LAWS
from tests.laws.breaches import CHANGES, HISTORIES
from tests.laws.mutations import MUTATIONS, Mutation
from tests.laws.test_laws import (
    test_a_change_that_breaks_one_law_is_caught_by_that_law_alone as change_is_caught,
)
from tests.laws.test_laws import (
    test_a_history_that_breaks_one_law_is_caught_by_that_law_alone as history_is_caught,
)

NOTICED = (AssertionError, FoldlineError, LookupError, TypeError, ValueError, pytest.fail.Exception)
"""How a test may turn red."""


def mutated(mutation: Mutation) -> FunctionType:
    """The function with its one edit, in the namespace of its module."""
    original = vars(mutation.owner)[mutation.name]
    source = textwrap.dedent(inspect.getsource(original))
    assert source.count(mutation.old) == 1, f"rewrite the row: {mutation.fault}"
    code = compile(
        source.replace(mutation.old, mutation.new),
        "<mutation>",  # no file, and so nothing to measure the coverage of
        "exec",
        flags=__future__.annotations.compiler_flag,
    )
    made: dict[str, Any] = {}
    exec(code, original.__globals__, made)
    function = made[mutation.name]
    assert isinstance(function, FunctionType)
    return function


def replace_everywhere(
    monkeypatch: pytest.MonkeyPatch, mutation: Mutation, function: Callable[..., Any]
) -> None:
    """Put a function in the place of another, under whatever name a module has imported it."""
    original = vars(mutation.owner)[mutation.name]
    monkeypatch.setattr(mutation.owner, mutation.name, function)
    for name, module in list(sys.modules.items()):
        if name.startswith(("foldline.", "tests.")):
            for key, value in list(vars(module).items()):
                if value is original:
                    monkeypatch.setattr(module, key, function)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.fault)
def test_a_seeded_fault_is_noticed(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named test is green, and red with the fault."""
    mutation.noticed_by()
    replace_everywhere(monkeypatch, mutation, mutated(mutation))
    with pytest.raises(NOTICED):
        mutation.noticed_by()


@pytest.mark.parametrize(
    "law", [law for law in LAWS if law.of_history or law.of_change], ids=lambda law: law.id
)
def test_a_law_that_checks_nothing_is_noticed(law: laws.Law, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every law with a check: empty it, and each of its examples turns red."""
    blind = replace(law, of_history=None, of_change=None)
    monkeypatch.setattr(laws, "LAWS", tuple(blind if row is law else row for row in LAWS))
    for history in (case for case in HISTORIES if case.law == law.id):
        with pytest.raises(AssertionError):
            history_is_caught(history)
    for change in (case for case in CHANGES if case.law == law.id):
        with pytest.raises(AssertionError):
            change_is_caught(change)
