"""Text that comes out of `neutral` can do nothing to a terminal, and loses nothing a person could see."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.cli.neutral import is_harmless, neutral, neutral_json
from tests.cli.payloads import FORBIDDEN, PAYLOADS


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_payload_survives(name: str) -> None:
    """Threat 9 (terminal injection): most payloads survive the usual removal of colour sequences."""
    assert not FORBIDDEN.search(neutral(PAYLOADS[name]))
    assert not FORBIDDEN.search(neutral(PAYLOADS[name], keep_newlines=False))


def test_the_payloads_are_found_in_raw_text() -> None:
    """The net above can fail: raw, every payload but the markup of another library is caught by it."""
    assert [name for name, text in PAYLOADS.items() if not FORBIDDEN.search(text)] == ["markup"]


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "漢字とかな　全角",
        "emoji 🎉 and ⚠️ style",
        "a family 👩\u200d👩\u200d👧 with a ❤️\u200d🔥, a 👩🏽\u200d🚀 and a 🐈\u200d⬛",
        "é combined e\u0301",
        "العربية עברית",
        "a\u00a0b",
        "½ × –",
    ],
)
def test_what_people_read_stays_as_it_is(text: str) -> None:
    """Escaping must not make CJK, emoji, accents or right-to-left letters unreadable."""
    assert neutral(text) == text


def test_escapes_are_short_and_say_what_was_there() -> None:
    """The reader sees that something was there, and what."""
    assert neutral("\x1b[2J\x9b\u202e\x00\r\U000e0041") == "\\e[2J\\x9b\\u{202e}\\x00\\r\\u{e0041}"


def test_a_joiner_that_joins_no_emoji_is_shown() -> None:
    """Between letters, at an end and beside another it could hide a difference."""
    assert neutral("pay\u200dpal") == "pay\\u{200d}pal"
    assert neutral("👩\u200d") == "👩\\u{200d}"
    assert neutral("👩\u200d\u200d👩") == "👩\\u{200d}\\u{200d}👩"


def test_line_feeds_and_tabs_stay_in_text_and_show_in_a_line() -> None:
    """A text keeps its lines; a cell of a table must not break its row."""
    assert neutral("a\n\tb") == "a\n\tb"
    assert neutral("a\n\tb", keep_newlines=False) == "a\\n\\tb"


def test_every_code_point_is_drawn_or_escaped() -> None:
    """The whole kind, not the list: no control, format, surrogate, private or unassigned code point passes."""
    acting = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    passed = [code for code in range(sys.maxunicode + 1) if is_harmless(code)]
    assert not [code for code in passed if unicodedata.category(chr(code)) in acting]
    assert len(passed) > 100_000


@given(st.text(st.characters(categories=None)))
def test_neutral_text_is_harmless_and_stays_as_it_is(text: str) -> None:
    """Any text, lone surrogates included; neutralising twice changes nothing."""
    once = neutral(text)
    assert not FORBIDDEN.search(once.replace("\u200d", "")), "a joiner may stand inside an emoji"
    assert neutral(once) == once


@given(st.text(st.characters(categories=None)))
def test_neutral_json_is_harmless_and_the_same_value(text: str) -> None:
    """A JSON document keeps its meaning to the last code point; lone surrogates included."""
    document = json.dumps({text: [text]}, ensure_ascii=False)
    shown = neutral_json(document)
    assert not FORBIDDEN.search(shown)
    assert json.loads(shown) == json.loads(document)


def test_json_lines_keep_their_lines() -> None:
    """A carriage return between records is white space to JSON and an overwrite to a terminal."""
    assert neutral_json('{"a": 1}\r\n{"b":\t2}\n') == '{"a": 1} \n{"b":\t2}\n'
