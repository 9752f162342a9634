"""The tables are asked only where one of their words or their script occurs, and give their rows in order.

What each table finds is tested beside it: `test_rules_english`, `test_rules_european`, `test_rules_east_asian`.
"""

from __future__ import annotations

import re
from random import Random
from re import _parser as parser  # type: ignore[attr-defined]  # the only reading of a pattern there is

import pytest

from foldline.ledger.rule_words import WORD, Row, Rows, row
from foldline.ledger.rules_english import ENGLISH
from foldline.ledger.rules_european import EUROPEAN

NEVER = row("prohibition", "never", r"\bnever\b")
AT_MOST = row("limit", "most", r"\bat most \d")
HAN = row("prohibition", "", r"不要")
ROWS = Rows((NEVER, AT_MOST), ((re.compile(r"[\u3400-\u9fff]"), (HAN,)),))
STRINGS = 2_000
"""Made of each pattern: each of some hundred alternatives comes up several times."""
CLASSES = {"CATEGORY_DIGIT": "3", "CATEGORY_SPACE": " ", "CATEGORY_NOT_WORD": "-"}


def made(tree: object, random: Random) -> str:
    """A string that a pattern may match; what it asks around a place is left out, so that it may not."""
    out = ""
    for name, value in ((str(name), value) for name, value in tree):  # type: ignore[attr-defined]
        match name:
            case "LITERAL":
                out += chr(value)
            case "IN" if str(value[0][0]) != "NEGATE":
                out += made([random.choice(value)], random)
            case "RANGE":
                out += chr(random.randint(*value))
            case "CATEGORY":
                out += CLASSES.get(str(value), "x")
            case "ANY" | "IN" | "NOT_LITERAL":
                out += random.choice("x ")
            case "BRANCH":
                out += made(random.choice(value[1]), random)
            case "SUBPATTERN":
                out += made(value[3], random)
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, repeated = value
                out += "".join(
                    made(repeated, random) for _ in range(random.choice((least, min(least + 1, most))))
                )
            case _:
                assert name in {"AT", "ASSERT", "ASSERT_NOT"}, name
    return out


def unheard(entry: Row, random: Random) -> set[str]:
    """What the pattern of a row matches though none of its words stands in it: no sentence ever comes so far."""
    tree = parser.parse(entry.pattern.pattern, entry.pattern.flags)
    strings = (made(tree, random) + end for _ in range(STRINGS // 2) for end in ("", " x"))
    found = (match[0] for string in strings for match in entry.pattern.finditer(string))
    return {text for text in found if entry.words.isdisjoint(WORD.findall(text.lower()))}


def test_rows_come_in_the_order_of_the_table_whatever_the_order_of_the_words() -> None:
    """Law SAME: no order of a set reaches the output."""
    assert ROWS.for_sentence("At MOST 3, and never 4") == [NEVER, AT_MOST]


def test_a_sentence_without_the_words_costs_no_pattern() -> None:
    """Most sentences hold no rule."""
    assert ROWS.for_sentence("mostly harmless, nevermore") == []


def test_a_table_of_a_script_is_tried_where_its_script_is_written() -> None:
    """Chinese sets no blanks between words, so there is no word to look for first."""
    assert ROWS.for_sentence("不要改") == [HAN]


@pytest.mark.parametrize(
    "entry", [pytest.param(entry, id=min(entry.words)) for entry in (*ENGLISH, *EUROPEAN)]
)
def test_every_alternative_of_a_row_holds_one_of_its_words(entry: Row) -> None:
    """CMP-8: an alternative without one is never tried, and the rule it was written for is lost."""
    assert sorted(unheard(entry, Random(7)), key=len)[:10] == []


def test_an_alternative_without_a_word_of_its_row_is_found_out() -> None:
    """The check itself: "other than" was such a one."""
    entry = row("condition", "except apart", r"^(?:except|apart from|other than) \w")
    assert unheard(entry, Random(7)) == {"other than x"}
