"""What a line says is found once, and does not hang on what stands around it."""

from __future__ import annotations

import pytest

from foldline.ledger.found_in_lines import WORDS_A_LINE, LineReader, with_escapes
from foldline.ledger.found_in_text import VALUES_MAX, extract
from foldline.ledger.numbers_in_text import NUMBERS_MAX

LINES = [
    "see src/app.py, port=8080",
    "",
    "12 passed, 1 failed in 4.2s",
    "E   ValueError: no such row",
    "def load_rows(path):",
    "nothing to tell",
]


def test_a_line_says_the_same_alone_and_among_others_before_and_after_it_is_remembered() -> None:
    """Law SAME: the same line has the same facts, whatever was read with it or before."""
    reader = LineReader(words_max=1_000)
    together = reader.read([LINES])[0]
    assert reader.read([LINES]) == [together]
    alone = [said for line in LINES for said in LineReader(words_max=1_000).read([[line]])[0]]
    assert together == alone
    assert len(together) == 4  # two lines say nothing


def test_a_word_that_is_a_null_byte_ends_no_line() -> None:
    """OBS-3, law SAME: what marks the end of a line among its words is no word of any line."""
    lines = ["\0 src/app.py \0", "\0\0 src/other.py", "see src/third.py"]
    said = LineReader(words_max=1_000).read([lines])[0]
    assert [[fact.text for _, fact in line.words] for line in said] == [
        ["src/app.py"],
        ["src/other.py"],
        ["src/third.py"],
    ]


def test_a_line_with_escapes_is_read_with_them_laid_open_and_quoted_as_it_came() -> None:
    """OBS-3: a fact stands verbatim in its text."""
    line = with_escapes(r"{\"limit\": 50}", '{ "limit ": 50}')
    said = LineReader(words_max=1_000).read([[line]])[0]
    assert [fact.text for _, fact in said[0].keyed] == [r"limit\": 50"]


def test_the_reader_forgets_all_when_it_remembers_more_than_its_bound() -> None:
    """OBS-3: style rule 11, every buffer has a named bound."""
    reader = LineReader(words_max=40 * WORDS_A_LINE)
    for number in range(200):
        reader.read([[f"line {number} says port={number}"]])
        assert len(reader._said) <= 40
    assert reader.read([["port=1"]])[0][0].keyed[0][0] == "nport\x001"


@pytest.mark.parametrize("opening", ["+", "-", "(", "`"])
def test_a_definition_is_one_wherever_a_word_that_opens_it_stands(opening: str) -> None:
    """OBS-3: it was found only in a text that held the bare word somewhere else."""
    line = f"{opening}def load(path):"
    assert "load" in [fact.key for fact in extract(line) if fact.kind == "symbols"]


def test_the_first_line_of_a_text_reports_a_failure_as_any_other() -> None:
    """OBS-3: what pytest marks with an E was looked for behind the end of another line."""
    assert [fact.text for fact in extract("E       assert 1 == 2") if fact.kind == "errors"] == [
        "E       assert 1 == 2"
    ]


def test_of_many_numbers_of_one_line_and_of_many_values_of_one_key_the_last_are_kept() -> None:
    """OBS-3: style rule 11; a column of data is no memory."""
    row = " ".join(
        f"k{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}={n}" for n in range(2 * NUMBERS_MAX)
    )
    values = [fact.value for fact in extract(row) if fact.kind == "numbers"]
    assert values == [str(n) for n in range(NUMBERS_MAX, 2 * NUMBERS_MAX)]
    column = "\n".join(f"{'#' * (n // 20)} port={n}" for n in range(200))
    values = [fact.value for fact in extract(column) if fact.kind == "numbers"]
    assert values == [str(n) for n in range(200 - VALUES_MAX, 200)]
