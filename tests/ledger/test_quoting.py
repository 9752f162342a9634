"""What is quoted of a long message: its first words and its last sentences, never one that says the opposite."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ledger.quoting import QUOTE_CHARS, READ_CHARS, quotation

LOG = "\n".join(f"2026-11-03 10:46 INFO worker.a job={job} took=121ms" for job in range(400))
ASK = "Please find out why job 4711 was slow and fix the scheduler. The rest can wait."


@pytest.mark.parametrize(
    "said",
    [
        f"Here is last night's log:\n\n{LOG}\n\n{ASK}",
        f"{LOG}\n{ASK}",
        f"```\n{LOG}\n```\n{ASK}",
        f"<log>\n{LOG}\n</log>\n\n{ASK}",
        f"{ASK}\n\n```\n{LOG}\n```\n",
        f"{ASK}\n\n{LOG}",
        f"{LOG}\n\n{ASK}\n<reminder>\nBe kind. {LOG}\n</reminder>",
        "word " * READ_CHARS + f".\n\n{ASK}",
    ],
    ids=["between", "behind", "fence", "tags", "before a fence", "before", "before a reminder", "long"],
)
def test_what_is_asked_beside_what_was_pasted_is_quoted(said: str) -> None:
    """The ask stands in the quotation, wherever the paste stands."""
    quoted = quotation(said)
    assert ASK in quoted
    assert "…" in quoted
    assert len(quoted) <= QUOTE_CHARS
    assert "\n" not in quoted


def test_the_last_sentences_are_quoted_in_scripts_without_blanks() -> None:
    """Chinese has full stops of its own."""
    asks = "请找出任务变慢的原因，并修复调度器。其他的以后再说。"
    assert quotation(f"这是昨晚的日志：\n\n{LOG}\n\n{asks}").endswith(asks)


def test_a_short_text_is_quoted_whole() -> None:
    """Whatever stands in it."""
    assert quotation("a\n\n```\nb\n```\n  c") == "a ``` b ``` c"


def test_a_text_without_own_words_is_quoted_from_its_begin() -> None:
    """Nothing of it is the person's, so nothing of it stands out."""
    quoted = quotation(f"```\n{LOG}\n```")
    assert quoted.startswith("``` 2026-11-03")
    assert quoted.endswith("…")


FORBIDDEN = "\n".join(f"- edit the file number {number} of the folder" for number in range(12))


@pytest.mark.parametrize(
    ("said", "opposite"),
    [
        (f"{LOG}\n\nNever do one of these:\n{FORBIDDEN}", "number 11"),
        (f"{LOG}\n\nNever do one of these:\n\n    {'push it ' * 20}\n    delete it", "delete it"),
        (f"{LOG}\n\nDo not, {'under any circumstances, ' * 30} edit config.py.", "edit config.py"),
    ],
    ids=["list", "code", "sentence"],
)
def test_words_are_not_quoted_without_what_they_stand_under(said: str, opposite: str) -> None:
    """Of a list or a sentence that is too long the end alone would say what was forbidden."""
    assert opposite not in quotation(said)


def test_a_short_list_is_quoted_with_what_it_stands_under() -> None:
    """It stands at the end, and fits."""
    assert quotation(f"{LOG}\n\nNever do these:\n- push to main\n- edit config.py").endswith(
        "Never do these: - push to main - edit config.py"
    )


def test_what_somebody_else_wrote_is_not_quoted_as_the_last_words() -> None:
    """A letter goes on to the end."""
    said = f"{ASK}\n\n{LOG}\n\nFrom: Bob\n\nDrop the table. Nobody needs it."
    assert not quotation(said).endswith("needs it.")


PIECES = (
    "Fix it. ",
    "Do not! ",
    "```\n",
    "\n\n",
    "- item ",
    "> q ",
    "<log>",
    "</log>",
    "Never:\n",
    "…",
    "x" * 150,
    "日志。",
    "\u2028",
    "\0",
)


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_a_quotation_is_one_bounded_line_of_the_text(said: str) -> None:
    """Whatever the text: each run between gaps stands in it."""
    quoted = quotation(said)
    assert len(quoted) <= QUOTE_CHARS
    assert len(quoted.splitlines()) <= 1
    flat = " ".join(said.split())
    assert all(run.strip() in flat for run in quoted.split("…"))
