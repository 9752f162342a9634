"""The tables are asked only where one of their words or their script occurs, and give their rows in order.

What each table finds is tested beside it: `test_rules_english`, `test_rules_european`, `test_rules_east_asian`.
"""

from __future__ import annotations

import re

from foldline.ledger.rule_words import Rows, row

NEVER = row("prohibition", "never", r"\bnever\b")
AT_MOST = row("limit", "most", r"\bat most \d")
HAN = row("prohibition", "", r"不要")
ROWS = Rows((NEVER, AT_MOST), ((re.compile(r"[\u3400-\u9fff]"), (HAN,)),))


def test_rows_come_in_the_order_of_the_table_whatever_the_order_of_the_words() -> None:
    """Law SAME: no order of a set reaches the output."""
    assert ROWS.for_sentence("At MOST 3, and never 4") == [NEVER, AT_MOST]


def test_a_sentence_without_the_words_costs_no_pattern() -> None:
    """Most sentences hold no rule."""
    assert ROWS.for_sentence("mostly harmless, nevermore") == []


def test_a_table_of_a_script_is_tried_where_its_script_is_written() -> None:
    """Chinese sets no blanks between words, so there is no word to look for first."""
    assert ROWS.for_sentence("不要改") == [HAN]
