"""Sentences begin and end where a reader would say so, in prose, lists and code of any script.

What looks like an end and is none (abbreviations, numbers, paths, addresses) is passed over.
"""

from __future__ import annotations

import pytest

from foldline.ledger.sentences import code_lines, sentences
from tests.linear import slowness


def pieces(text: str) -> list[str]:
    """The sentences themselves."""
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix it. don't touch config.py. Thanks!", ["Fix it.", "don't touch config.py.", "Thanks!"]),
        ("Use v1.2.3, e.g. from ./src/a.b/c. Then stop", ["Use v1.2.3, e.g. from ./src/a.b/c.", "Then stop"]),
        ("See https://x.org/a.html?q=1. Now go.", ["See https://x.org/a.html?q=1.", "Now go."]),
        ("It is 3.5 GB. Mr. Smith agrees.", ["It is 3.5 GB.", "Mr. Smith agrees."]),
        ("Run `a. b` now. Done", ["Run `a. b` now.", "Done"]),
        ("不要改配置。先跑测试！好吗？", ["不要改配置。", "先跑测试！", "好吗？"]),
        ("- one\n- [ ] two\n3) three\n> four", ["one", "two", "three", "four"]),
        ("一、不要改\n二、先测试", ["不要改", "先测试"]),
        ("# Title\n\nText here.", ["Title", "Text here."]),
        ("यह करो। वह मत करो।", ["यह करो।", "वह मत करो।"]),
        ('Wait... what?! "No." she said', ["Wait...", "what?!", '"No."', "she said"]),
        ("The limit is 5. Never push.", ["The limit is 5.", "Never push."]),
        ("Done in 10 min. Never push.", ["Done in 10 min.", "Never push."]),
        ("Under 200 ms. Also, stop.", ["Under 200 ms.", "Also, stop."]),
        ("It waits 5 s. Never push.", ["It waits 5 s.", "Never push."]),
        ("Take option B. Never push.", ["Take option B.", "Never push."]),
        ("Tabs etc. Never push.", ["Tabs etc.", "Never push."]),
        ("A walk of 5 min. away. Go.", ["A walk of 5 min. away.", "Go."]),
        ("Am 3. Mai ist Schluss.", ["Am 3. Mai ist Schluss."]),
        ("Rules: 1. never push 2. always test", ["Rules: 1. never push 2. always test"]),
        ("you must never delete\nthe audit table", ["you must never delete\nthe audit table"]),
        ("fix login\nadd tests\nnever push", ["fix login", "add tests", "never push"]),
        ("the port is 8080\nthe host is x", ["the port is 8080", "the host is x"]),
        ('See <foldline-fold id="m1">\n- Push.\n</foldline-fold> is it ok?', ["See", "is it ok?"]),
        ('See <foldline-notice id="m1">\n- Push.', ["See"]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_text_is_taken_apart_as_a_reader_would(text: str, expected: list[str]) -> None:
    """No assumption of blanks between words or of labels (kind lost-constraints)."""
    assert pieces(text) == expected


def test_a_line_that_was_wrapped_goes_on_in_the_next() -> None:
    """A rule cut in two at the margin is half a rule."""
    text = "Whatever you do while you work on this repository, never ever touch\nthe files below src/db without asking."
    assert pieces(text) == [text]


def test_each_line_of_fenced_code_is_a_piece_and_the_fences_are_none() -> None:
    """Stops in code end nothing."""
    text = "Look:\n```py\na = b. c\n# never. ever\n```\nDone."
    assert pieces(text) == ["Look:", "a = b. c", "# never. ever", "Done."]
    assert code_lines(text) == {text.index("a ="), text.index("# never")}


@pytest.mark.parametrize(
    "piece",
    [
        ".",
        "?",
        "`",
        "`a",
        "> ",
        "- ",
        "\n",
        "e.g. ",
        "。",
        "```\n",
        "x" * 70 + "\n",
        "1. ",
        "<foldline-x>",
        "the \n",
        "7. X ",
    ],
)
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    """100,000 characters of it."""
    assert slowness(sentences, piece, end="x", size=100_000, scans_max=100) == ""
