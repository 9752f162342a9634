"""Where a value stands in its clause says whether it is given to a key, or is one of many: no list of nouns can say it."""

from __future__ import annotations

import pytest

from foldline.ledger.assigning import Assigned
from foldline.ledger.stated_values import stated_values


@pytest.mark.parametrize(
    "text",
    [
        "The port is 8080.",
        "port: 8080",
        "port=8080",
        "The deadline is 12 June.",
        "The budget must be at most $500.",
        "Latency must stay under 200 ms.",
        "Keep the budget at $500.",
        "Set the timeout to 30 s.",
        "Make the timeout 60 s.",
        "Use 4 workers.",
        "use port 7000 on staging",
        "Use Python 3.12.",
        "Use MySQL for the database.",
        "The server listens on port 8080.",
        "Der Port ist 8080.",
        "Le port est maintenant 9090.",
        "El puerto es 8080.",
        "端口是 8080",
        "用 4 个线程",
        "ポート は 8080 です",
        "포트는 8080 입니다",
    ],
)
def test_a_value_behind_what_gives_it_belongs_to_its_key(text: str) -> None:
    """CMP-8: of such a key only the newest value shows."""
    (stated,) = stated_values(text)
    assert stated.assigned.sets


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("Look at PR 12.", False),
        ("Issue 12: fix it.", False),
        ("Room 12 is booked.", False),
        ("Gizmo 12 should be fast.", False),
        ("Run it with 4 workers.", False),
        ("Run it with limit = 5.", True),
        ("Set up a call with Anna.", False),
        ("We should talk to Anna.", False),
        ("Meeting on Monday", False),
        ("There is a meeting on Monday.", False),
        ("Set an alarm to 7:00.", False),
        ("Raise the limit by 5.", False),
        ("Use template 3.", False),
        ("You must add 3 tests.", False),
        ("Task: Login", True),
        ("The error is `foo`.", False),
        ('Anna: "foo"', True),
        ("The function is `foo`.", False),
        ("Then use 4 workers.", False),
        ("Use 3 sentences.", False),
        ("请看：12", True),
        ("He is 12.", False),
        ("The port is also 9090.", False),
        ("步骤 1：看", False),
        ("テスト を 3 つ 追加", False),
    ],
)
def test_elsewhere_it_is_one_of_many_or_an_order_of_its_own(text: str, lists: bool) -> None:
    """CMP-30: the next of the kind stands beside it."""
    (stated,) = stated_values(text)
    assert stated.assigned == Assigned(lists=lists)


@pytest.mark.parametrize(
    "text",
    [
        "Look at PR 15 instead.",
        "The port is now 9090.",
        "The meeting moves to Friday.",
        "The backup now runs at 6.",
        "端口改成 9090",
    ],
)
def test_words_that_take_back_are_told_from_words_that_go_on(text: str) -> None:
    """ "Now look at PR 15" goes on to the next, and takes nothing back (CMP-30)."""
    (stated,) = stated_values(text)
    assert stated.assigned.turns
    (goes_on,) = stated_values("Now look at PR 15.")
    assert not goes_on.assigned.turns
