"""What a summariser is told: text only, in the user's language, under the form's own headings."""

from __future__ import annotations

import pytest

from foldline.ledger.entries import HEADINGS
from foldline.summary.instructions import (
    FIELDS_SIX,
    HEADINGS_SEVEN,
    MATERIAL,
    SECTIONS_NINE,
    TEXT_ONLY,
    FormName,
    Wish,
    chunk_instruction,
    instruction,
)

FORMS: tuple[FormName, ...] = ("ledger", "handoff", "reserve", "ladder", "full", "segments")


def test_reserve_forbids_tools_at_both_ends() -> None:
    """Requirement CMP-19: the instruction opens and closes with it."""
    lines = instruction("reserve", Wish(focus="the API", remark="it was cut off")).split("\n")
    assert lines[0] == lines[-1] == TEXT_ONLY


@pytest.mark.parametrize("form", FORMS)
def test_every_form_wants_text_alone_and_calls_what_tools_said_material(form: FormName) -> None:
    """Trust: what a tool, a file or a page says is reported, never followed."""
    text = instruction(form, Wish())
    assert text.startswith(TEXT_ONLY)
    assert MATERIAL in text
    assert "<summary>" in text


def test_each_form_has_its_own_headings() -> None:
    """Requirements CMP-7 (six fields), CMP-8 (seven headings), and the nine sections of `reserve`."""
    handoff = instruction("handoff", Wish())
    assert all(heading in handoff for heading in HEADINGS_SEVEN)
    assert len(HEADINGS_SEVEN) == 7
    assert {heading for _, heading in HEADINGS} - set(HEADINGS_SEVEN) == {"Files read"}
    reserve = instruction("reserve", Wish())
    assert [f"{n}. {name}" in reserve for n, (name, _) in enumerate(SECTIONS_NINE, start=1)] == [True] * 9
    assert "<analysis>" in reserve
    ladder = instruction("ladder", Wish())
    assert [f"- {field}" in ladder for field in FIELDS_SIX] == [True] * 6


@pytest.mark.parametrize("form", FORMS)
def test_language_focus_and_remark_are_said(form: FormName) -> None:
    """Requirement CMP-15: instructions reach the summary; the language is named where it is known (issue I01 of the log)."""
    text = instruction(form, Wish(language="Portuguese", focus="the API design", remark="it was cut off"))
    assert "Write in Portuguese" in text
    assert "the API design" in text
    assert "it was cut off" in text
    assert "language of the user's own newest messages" in instruction(form, Wish())


def test_sizes_are_those_of_the_documents() -> None:
    """Requirements COL-4 (100 to 300 tokens a segment) and CMP-37 (2,000 to 5,000)."""
    assert "100 to 300 tokens" in instruction("segments", Wish())
    assert "2,000 to 5,000 tokens" in instruction("full", Wish())
    assert "400 to 800 tokens" in instruction("full", Wish(tokens_max=800))
    assert "tokens" not in instruction("reserve", Wish()).split("</summary>")[-1].replace(
        "token", "tokens", 0
    )
    assert "at most 900 tokens" in instruction("ledger", Wish(tokens_max=900))


def test_a_piece_is_told_which_it_is() -> None:
    """A source too long for one request is read in pieces, each noted on its own."""
    text = chunk_instruction(2, 5, wish=Wish(language="Korean", tokens_max=400))
    assert "piece 2 of 5" in text
    assert "Write in Korean" in text
