"""Texts are found however JSON spells them, and filled without changing a length or breaking the JSON."""

from __future__ import annotations

import json
import unicodedata
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.log.blanking import element_around, filled, found_as, places_of, spelled, strings

WORD = 'Zoë "7"/x\\y\n日本'


def without(text: str, body: bytes) -> bytes:
    return filled(body, places_of(spelled(text), body))


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("ascii_alone", [True, False])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_text_is_found_at_every_depth_and_in_every_spelling(
    depth: int, ascii_alone: bool, form: Literal["NFC", "NFD"]
) -> None:
    """JSON in JSON, escaped or not, composed or decomposed, slashes escaped or not."""
    said: object = f"before {unicodedata.normalize(form, WORD)} after"
    for _ in range(depth):
        said = json.dumps({"inner": said}, ensure_ascii=ascii_alone)
    for body in (json.dumps({"text": said}, ensure_ascii=ascii_alone),) * 2:
        for spelt in (body, body.replace("/", "\\/") if not depth else body):
            data = spelt.encode()
            left = without(WORD, data)
            assert len(left) == len(data)
            told = json.loads(left)["text"]
            for _ in range(depth):
                told = json.loads(told)["inner"]
            assert told.startswith("before forgotten_")
            assert told.endswith(" after")
            assert without(WORD, left) == left


SIGNS = st.sampled_from('abnrtfu"\\/\n 1é日😀')
BESIDE = st.text(SIGNS, min_size=1, max_size=6)
TEXTS = st.text(SIGNS, min_size=2, max_size=6).filter(lambda text: found_as(text) != "not")


@given(TEXTS, BESIDE, BESIDE, st.integers(0, 2), st.booleans())
@example("nrt", "\n", "", 1, False)
@example('"', "\\", "", 2, True)
@example("é11", "1", "\\", 1, True)
@example("é11", "1", "", 2, True)
@example("\n\n\n\n", "\\" * 8, "", 2, True)
@example("111", "1", "1", 0, False)
def test_whatever_is_forgotten_leaves_json_of_the_same_length(
    text: str, before: str, after: str, depth: int, ascii_alone: bool
) -> None:
    """And the text is gone from the strings that held it, a short one where it was a word."""
    said: object = f"{before}{text}{after}"
    for _ in range(depth):
        said = json.dumps([said], ensure_ascii=ascii_alone)
    data = json.dumps({"text": said, "n": 1111}, ensure_ascii=ascii_alone).encode()
    left = without(text, data)
    assert len(left) == len(data)
    told = json.loads(left)
    is_inside = found_as(text) == "word" and f"{before[-1:]}{after[:1]}".strip(' "/\\') != ""
    if depth == 0 and not is_inside:
        assert text not in told["text"] or set(text) <= set("forgotten_") or before[-1:] == "\\", (told, text)


def test_structure_pictures_and_choices_stay() -> None:
    """Forgetting the word `content` or `user` does not make a message unreadable; a short text stands in base64 by
    chance."""
    picture = "abcd" * 100
    message = {"role": "user", "content": [{"type": "text", "text": "user content"}, {"data": picture}]}
    data = json.dumps(message).encode()
    told = json.loads(without("content", without("user", data)))
    assert told["role"] == "user"
    assert told["content"][0] == {"type": "text", "text": "____ _______"}
    assert without("abcd", data) == data


def test_numbers_are_filled_with_digits() -> None:
    """A number that a tool was given stays one."""
    data = b'{"pin": 123456, "s": "123456", "float": -12.5e3}'
    assert json.loads(without("123456", data)) == {"pin": 111111, "s": "______", "float": -12500.0}


def test_a_word_behind_a_line_feed_is_not_one_that_begins_with_n() -> None:
    """`\\nothing` in JSON holds no `nothing`; in JSON inside JSON its first letter stays, so that both stay JSON."""
    data = json.dumps({"text": "a\nothing"}).encode()
    assert without("nothing", data) == data
    inner = json.dumps({"text": json.dumps("a\nothing")}).encode()
    assert json.loads(json.loads(without("nothing", inner))["text"]) == "a\n______"


def test_the_part_around_a_place_is_found() -> None:
    """The nearest object that is an element of a list."""
    data = b'{"content":[{"type":"text"},{"type":"image","source":{"data":"AAAA"}}]}'
    gap = element_around(data, data.index(b"AAAA"))
    assert gap is not None
    assert json.loads(data[gap.start : gap.end])["type"] == "image"
    told = json.loads(filled(data, [gap]))
    assert told["content"][1]["type"] == "text"
    assert element_around(b'{"a":"b"}', 5) is None
    assert [token.name for token in strings(data) if not token.is_name] == [b"type", b"type", b"data"]


@pytest.mark.parametrize("between", [" ", "\n", "  ", "\t", "\r\n    ", "\u00a0", "\u3000", "\u2009"])
@pytest.mark.parametrize("ascii_alone", [True, False])
@pytest.mark.parametrize("depth", range(3))
def test_white_space_between_words_is_any_white_space(between: str, ascii_alone: bool, depth: int) -> None:
    """A name that a line break parts is that name; one without white space is not."""
    said: object = f"by Jane{between}Roe, not JaneRoe or Jane-Roe"
    for _ in range(depth):
        said = json.dumps([said], ensure_ascii=ascii_alone)
    body = json.dumps({"text": said}, ensure_ascii=ascii_alone).encode()
    for asked in ("Jane Roe", "Jane\n Roe"):
        told = json.loads(without(asked, body))["text"]
        for _ in range(depth):
            (told,) = json.loads(told)
        assert told.startswith("by _") or told.startswith("by forgotten")
        assert told.endswith(", not JaneRoe or Jane-Roe")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("王小明", "anywhere"),
        ("王明", "anywhere"),
        ("김철수", "anywhere"),
        ("Bob", "word"),
        ("Zoë", "word"),
        ("דן", "word"),
        ("A1B", "word"),
        ("王", "not"),
        ("Bo", "not"),
        ("a b", "not"),
        ("...", "not"),
        ("", "not"),
        ("Jane", "anywhere"),
    ],
)
def test_a_short_text_is_found_where_it_is_no_chance(text: str, found: str) -> None:
    """Names of two or three signs can be forgotten, and what stands everywhere cannot."""
    assert found_as(text) == found


@pytest.mark.parametrize("ascii_alone", [True, False])
@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Bob, Bobby, bob, eBob, Bob_2, éBob, Bobé", "___, Bobby, bob, eBob, Bob_2, éBob, Bobé"),
        ("a\nBob\tBob", "a\n___\t___"),
        ("我叫Bob。Bob和王小明", "我叫___。___和王小明"),
        ("Bob", "___"),
        ("(Bob) Bob's “Bob”", "(___) ___'s “___”"),
    ],
)
def test_a_short_word_is_found_as_a_word_of_its_own(ascii_alone: bool, said: str, left: str) -> None:
    """Not inside another word, however the letters around it are spelt; ideographs part words."""
    body = json.dumps({"text": said}, ensure_ascii=ascii_alone).encode()
    assert json.loads(without("Bob", body)) == {"text": left}


@pytest.mark.parametrize("ascii_alone", [True, False])
def test_a_name_of_ideographs_is_found_inside_a_sentence(ascii_alone: bool) -> None:
    """No space parts words there."""
    body = json.dumps({"text": "请问王小明在吗"}, ensure_ascii=ascii_alone).encode()
    assert "王小明" not in json.loads(without("王小明", body))["text"]
    assert json.loads(without("王小明", body))["text"].startswith("请问")
    assert json.loads(without("王小明", body))["text"].endswith("在吗")
