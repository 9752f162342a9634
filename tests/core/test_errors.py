"""Errors carry fields, one tree, and words that say what to do next."""

from __future__ import annotations

import inspect

import pytest

from foldline.core import errors


def test_every_error_derives_from_one_and_stands_in_the_tree_at_the_top_of_its_module() -> None:
    """What a caller may catch is drawn where it is defined."""
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]
    drawn = errors.__doc__ or ""
    assert [c.__name__ for c in classes if c.__name__ not in drawn] == []
    assert [c for c in classes if not issubclass(c, errors.FoldlineError)] == [
        errors.ForgetUnfinished,
        errors.UnknownModel,
    ]
    assert issubclass(errors.UnknownModel, UserWarning)


@pytest.mark.parametrize(
    ("error", "fields", "words"),
    [
        (
            errors.InvalidTranscript("a.jsonl", 3, "no JSON"),
            {"path": "a.jsonl", "line": 3},
            "a.jsonl:3: no JSON",
        ),
        (errors.InvalidTranscript("a.json", None, "no JSON"), {"line": None}, "a.json: no JSON"),
        (errors.UnknownFormat("x", ("a", "b"), why="no x"), {"name": "x"}, "no x; known formats: a, b"),
        (
            errors.UnknownPolicy("x", ("a", "b")),
            {"known": ("a", "b")},
            "no policy is called 'x'; there are: a, b",
        ),
        (errors.UnknownAddress("m1", "nothing there"), {"address": "m1"}, "m1: nothing there"),
        (errors.InvalidOption("to", 0, why="above 0"), {"option": "to", "value": 0}, "to=0: above 0"),
        (errors.LawViolation("PAIR", "message 3", "alone"), {"law": "PAIR"}, "law PAIR at message 3: alone"),
        (errors.LawViolation("PAIR", "message 3"), {"where": "message 3"}, "law PAIR at message 3"),
        (
            errors.TargetUnreachable(2_000, 1_000, "pinned", "the result"),
            {"tokens_min": 2_000, "tokens_target": 1_000, "result": "the result"},
            "the smallest valid history has 2,000 tokens, the target is 1,000: pinned",
        ),
        (errors.SessionCorrupt(4_096, "torn"), {"offset": 4_096}, "damaged at byte 4,096: torn"),
    ],
)
def test_an_error_says_what_where_and_why(
    error: errors.FoldlineError, fields: dict[str, object], words: str
) -> None:
    """Fields for programs, one line for people."""
    assert {name: getattr(error, name) for name in fields} == fields
    assert str(error) == words


def test_an_option_out_of_bounds_is_a_value_error_too() -> None:
    """Callers who know Python's own tree need not know ours."""
    assert isinstance(errors.InvalidOption("to", 0, why="above 0"), ValueError)
