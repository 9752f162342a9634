"""A permission is kept where it may be one, and lifts a rule only where it is nothing else."""

from __future__ import annotations

import pytest

from foldline.ledger.permissions import allowed_by, allows, permissions
from tests.linear import slowness


@pytest.mark.parametrize(
    ("sentence", "verb", "thing"),
    [
        ("You may now push to main.", "push", "to main"),
        ("Actually you may push to main now.", "push", "to main"),
        ("OK, you can edit config/app.yaml now.", "edit", "config/app.yaml"),
        ("Adding requests is OK after all.", "adding", "requests"),
        ("src/db is no longer frozen.", "", "src/db"),
        ("Scratch that, the schema can be changed.", "changed", "the schema"),
        ("It's now fine to add numpy.", "add", "numpy"),
        ("The freeze is over, you may run migrations again.", "run", "migrations"),
    ],
)
def test_what_is_allowed_is_read_of_a_sentence_that_only_allows(sentence: str, verb: str, thing: str) -> None:
    """The act and its object, without what the sentence opens with and ends on."""
    found = allowed_by(sentence)
    assert found is not None
    assert (found.verb, found.thing) == (verb, thing)


@pytest.mark.parametrize(
    "sentence",
    [
        "The README says you can run migrations now.",
        "You can run the tests now, not migrations.",
        "You may not run migrations now.",
        "He may now run migrations.",
        "You may now want to run migrations.",
        "You can now run migrations by hand with `make mig`, that is how Bob does it.",
        "So you can run migrations now",
        'Print "you may run migrations now" when done.',
        "Running migrations is not fine now.",
        "You may run migrations.",
        "文档说现在可以运行迁移了，对吧。",
        "现在可以先运行迁移了。",
    ],
)
def test_what_says_more_or_less_allows_nothing(sentence: str) -> None:
    """A wrong "taken back" is grave, a wrong "stays in force" is cheap."""
    assert allowed_by(sentence) is None


def test_a_permission_is_kept_although_it_lifts_nothing() -> None:
    """What is allowed can be read where the rule was."""
    text = "Hello. You can run the tests now, not migrations. Is it fine now?"
    assert permissions(text) == ("You can run the tests now, not migrations.",)
    assert allows("现在可以改 src/db 了")


@pytest.mark.parametrize(
    "piece", ["ok, ", "you may ", "x is fine ", "可以", "now ", "adding x ", "the x is over, "]
)
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    """Whatever stands in it."""
    assert slowness(permissions, piece, size=20_000, scans_max=200) == ""
    assert slowness(allowed_by, piece, size=20_000, scans_max=200) == ""
    assert slowness(lambda text: allowed_by(text[:190] + " now."), piece, size=200, scans_max=2_000) == ""
