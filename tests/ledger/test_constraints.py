"""A rule is found wherever it stands, as a verbatim piece of the text, and a long sentence gives only its clauses.

What counts as a rule in each language is tested with its table.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from foldline.ledger.constraints import CHARS_LIMIT, CHARS_MAX, LIST_CHARS_MAX, constraints
from tests.linear import slowness

PAD = "the report about the harvest in the valley was long and mild, "


def texts(text: str) -> list[str]:
    """The rules alone."""
    return [found.text for found in constraints(text)]


def test_a_rule_at_the_end_of_a_long_prompt_is_found() -> None:
    """bastani-inc/atomic#2172: a constraint past the first thousand characters was lost."""
    text = "Background paragraph about the system. " * 60 + "Constraint: do not add dependencies."
    assert texts(text) == ["Constraint: do not add dependencies."]


def test_of_a_long_sentence_the_clauses_around_the_rule_are_kept() -> None:
    """A page without a full stop is not one rule."""
    text = "When " + PAD * 20 + "never touch src/db, not even to read it, " + PAD * 20
    (found,) = texts(text)
    assert "never touch src/db, not even to read it" in found
    assert len(found) <= CHARS_MAX


def test_two_rules_in_one_long_sentence_are_two() -> None:
    """Far apart, each with its own clause."""
    text = "Well, never touch src/db, " + PAD * 20 + "always answer in French, " + PAD * 20
    found = texts(text)
    assert ["never touch src/db" in found[0], "always answer in French" in found[-1]] == [True, True]


def test_a_clause_without_end_is_cut_at_words() -> None:
    """Pasted data after a rule is no part of it."""
    (found,) = texts("never print " + "word " * 1_000)
    assert len(found) <= CHARS_LIMIT
    assert found.startswith("never print word")


def test_a_rule_that_points_back_brings_what_it_points_to() -> None:
    """ "Let's not do that" says nothing without the sentence before it."""
    text = "Last time someone deployed on Fridays. It blew up. So — let's not do that this time."
    assert texts(text) == [text]


def test_a_rule_that_points_back_over_a_blank_line_brings_nothing() -> None:
    """What stands in another paragraph is another matter."""
    assert texts("It blew up on Friday.\n\nPlease don't do that again.") == ["Please don't do that again."]


def test_a_rule_in_the_last_clause_of_a_long_sentence_keeps_what_leads_to_it() -> None:
    """What follows goes before what precedes; where nothing follows, what precedes stays."""
    (found,) = texts(PAD * 20 + "and if the disk is full, never write to it")
    assert found.endswith("if the disk is full, never write to it")
    assert CHARS_MAX // 2 < len(found) <= CHARS_MAX


def test_in_code_only_comments_are_read() -> None:
    """`raise ValueError("must be positive")` is no rule of the user's."""
    text = '```py\nraise ValueError("x must be positive")  # never catch this\nmust_not = never()\n```'
    assert texts(text) == ['raise ValueError("x must be positive")  # never catch this']


def test_a_call_named_in_prose_does_not_make_it_code() -> None:
    """The rule is what is said about it."""
    assert texts("never call os.system(cmd)") == ["never call os.system(cmd)"]


def test_every_piece_stands_in_the_text_where_it_says_and_none_overlap() -> None:
    """Verbatim, always."""
    text = "Never a. 不要改 b。\n- Always c, never d; only e.\n" * 5
    found = constraints(text)
    assert found
    assert all(text[rule.start : rule.end] == rule.text for rule in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    "piece",
    [
        "never ",
        "keep ",
        "use x ",
        "不",
        "先不要",
        ", ",
        "a(",
        "no no ",
        "x # never\n",
        "must ",
        "before you ",
        "ne ",
    ],
)
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    """50,000 characters of it, and a fifth of that in spaces."""

    def work(text: str) -> object:
        return constraints(f"{text}{' ' * (len(text) // 5)}x")

    assert slowness(work, piece, size=50_000, scans_max=100) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Critical: never deploy on Fridays. That is a hard rule.",
        "Never push to main. This must hold for tags too.",
        "Never touch src/db. It is off limits.",
    ],
)
def test_a_rule_that_only_points_back_to_another_is_one_with_it(text: str) -> None:
    """CMP-8: by itself it would say nothing, and take the room of the one it speaks of."""
    assert [rule.text for rule in constraints(text)] == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Never:\n- delete the audit table\n- push to main\n\nFix it.",
            ["Never:\n- delete the audit table\n- push to main"],
        ),
        (
            "Do NOT do any of the following:\n\n* delete the audit table\n* push to main",
            ["Do NOT do any of the following:\n\n* delete the audit table\n* push to main"],
        ),
        ("以下事情禁止:\n1. 删除审计表\n2. 推送到 main", ["以下事情禁止:\n1. 删除审计表\n2. 推送到 main"]),
        (
            "You may only edit these files:\n- src/a.py\n- src/b.py",
            ["You may only edit these files:\n- src/a.py\n- src/b.py"],
        ),
        ("1. Never:\n   - push\n   - merge\n2. Fix it.", ["Never:\n   - push\n   - merge"]),
        ("## Forbidden\n- push\n- merge", ["Forbidden\n- push\n- merge"]),
        (
            "Follow these rules, you must:\n- Never push.\n- Always test.",
            ["Follow these rules, you must:", "Never push.", "Always test."],
        ),
        ("Never push.\n- fix x\n- fix y", ["Never push."]),
        (
            "Whatever you do, you must never delete\nthe audit table.",
            ["Whatever you do, you must never delete\nthe audit table."],
        ),
    ],
)
def test_a_rule_that_opens_a_list_is_one_with_what_the_list_says(text: str, expected: list[str]) -> None:
    """CMP-8: a head without its items says nothing ("Never:"), and counted as kept."""
    assert [rule.text for rule in constraints(text)] == expected


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Never:\n{}\n- push", ["Never:"]),
        ("Never touch src/db. {} That is a hard rule.", ["Never touch src/db.", "That is a hard rule."]),
    ],
)
def test_no_rule_reaches_over_a_ledger_that_was_pasted(text: str, rules: list[str]) -> None:
    """What stands in it is not the person's word, whatever stands around it."""
    pasted = '<foldline-fold id="m1">\n- You may push. (m0 user)\n</foldline-fold>'
    assert texts(text.format(pasted)) == rules


def test_of_a_list_without_end_only_so_much_is_one_rule() -> None:
    """A pasted list does not fill the ledger."""
    text = "Never touch:\n" + "".join(f"- src/folder{n}/file.py\n" for n in range(500))
    (first, *_) = constraints(text)
    assert len(first.text) <= LIST_CHARS_MAX
    assert first.text.endswith("/file.py")
