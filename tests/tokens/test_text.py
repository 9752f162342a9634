"""Character classes, scripts and blobs: what every estimate and correction is made of."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from foldline.tokens.text import ascii_classes, find_blobs, script_classes

BLOB = base64.b64encode(bytes(range(256))).decode()


@given(st.text(st.characters(min_codepoint=1, max_codepoint=0x7F)))
def test_each_ascii_character_is_in_its_class_once(text: str) -> None:
    """Law of the count by deletion: no character is counted twice or lost but control characters."""
    classes = ascii_classes(text.encode())
    assert classes.lower == sum("a" <= c <= "z" for c in text)
    assert classes.upper == sum("A" <= c <= "Z" for c in text)
    assert classes.digit == sum("0" <= c <= "9" for c in text)
    assert classes.space == text.count(" ") + text.count("\t")
    assert classes.newline == text.count("\n") + text.count("\r")
    assert classes.punct == sum("!" <= c <= "~" and not c.isalnum() for c in text)


def test_scripts_are_told_apart() -> None:
    """TOK-2: an estimate that knows CJK must see it, and tell kana from Han and Hangul."""
    scripts = script_classes("abc Привет שלום नमस्ते ไทย かな 漢字。 한글 👍")
    assert (scripts.cyrillic_greek, scripts.hebrew_arabic, scripts.indic, scripts.thai) == (6, 4, 6, 3)
    assert (scripts.kana, scripts.han, scripts.hangul, scripts.other) == (2, 3, 2, 1)


@given(st.text())
def test_every_non_ascii_character_is_in_one_script(text: str) -> None:
    """Nothing is lost: what no script takes is `other`."""
    scripts = script_classes(text)
    fields = [getattr(scripts, name) for name in scripts.__struct_fields__]
    assert sum(fields) == sum(not c.isascii() for c in text)


def test_base64_and_hex_are_blobs_and_paths_rulers_and_prose_are_not() -> None:
    """The Claude correction counts blobs apart; a path counted so would be 40 % too high."""
    path = "/data/worktrees/vllm_core/vllm_gpt5_rerun_0d243f2a/vllm/model_executor/layers/quantization/"
    hexed = "9f86d081884c7d659a2feaa0c55ad015" * 4
    assert find_blobs(b"") == []
    for text in (path, "-" * 200, "=" * 200, "word " * 100, "a" * 200, hexed[:79]):
        assert find_blobs(text.encode()) == [], text
    text = f"data: {BLOB} and {hexed}!"
    assert [text[start:end] for start, end in find_blobs(text.encode())] == [BLOB.rstrip("="), hexed]


@given(
    st.lists(st.sampled_from(["x1y2" * 25, "short", "9" * 80]), max_size=6),
    st.sampled_from([" ", "\n", ", "]),
)
def test_blobs_are_found_wherever_they_stand(words: list[str], gap: str) -> None:
    """The search jumps over most bytes; none of the jumps may miss a blob."""
    text = gap.join(words)
    found = [text[start:end] for start, end in find_blobs(text.encode())]
    assert found == [word for word in words if len(word) >= 80]
