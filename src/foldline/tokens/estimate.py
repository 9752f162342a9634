"""Counts without a tokenizer: the built-in estimate, and the `length / 4` of one preset.

`estimate` is the one character estimate of this project (requirement TOK-2): it answers where toktok has no
wheel, and it knows of CJK, code and digits what `length / 4` does not. How far off it is: `benchmarks/
estimator_error.py` prints it, `docs/concepts/tokens.md` quotes what it printed. It is slower than the exact count
(one pass for each class), so it is never a fast path.
"""

from __future__ import annotations

from math import ceil
from typing import Final

from foldline.tokens.text import DIGIT, LOWER, NEWLINE, PUNCT, SPACE, UPPER

_CLASSES: Final = ((LOWER, "l"), (UPPER, "u"), (DIGIT, "d"), (SPACE, "s"), (NEWLINE, "n"), (PUNCT, "p"))


def _class_table() -> bytes:
    table = bytearray(b"c" * 128 + b"h" * 128)  # c: control characters, h: bytes of non-ASCII characters
    for members, mark in _CLASSES:
        for byte in members:
            table[byte] = ord(mark)
    return bytes(table)


_TABLE: Final = _class_table()

SINGLES: Final = {b"l": 0.091, b"u": 0.817, b"d": 0.924, b"s": 0.038, b"n": 0.886, b"h": 0.206}
"""Tokens for each byte of a class: least squares against o200k_base over 2 kB messages of 17 kinds of text."""

PAIRS: Final = {b"sl": 0.786, b"pl": 1.349, b"lu": 0.734, b"sp": 0.612, b"pd": 0.567}
"""Tokens for each pair of neighbouring bytes of those classes, from the same fit; `pd` (a digit behind punctuation)
from a second one over what the first left unexplained in agent transcripts: lists of numbers came out a third low."""

PUNCT_PAIR: Final = 0.197


def estimate(text: str) -> int:
    """Tokens of a text by the classes of its bytes, rounded up: about o200k_base, without its vocabulary.

    0 for the empty string. A lone surrogate counts as the three bytes U+FFFD has.
    """
    marks = text.encode("utf-8", "surrogatepass").translate(_TABLE)
    tokens = sum(weight * marks.count(mark) for mark, weight in SINGLES.items())
    tokens += sum(weight * marks.count(pair) for pair, weight in PAIRS.items())
    tokens += PUNCT_PAIR * _punct_pairs(marks)
    return ceil(tokens)


def _punct_pairs(marks: bytes) -> int:
    """Pairs of neighbouring punctuation: all punctuation, less one for each run of it."""
    starts = sum(marks.count(before + b"p") for before in (b"l", b"u", b"d", b"s", b"n", b"h", b"c"))
    return marks.count(b"p") - starts - marks.startswith(b"p")


def quarter(text: str) -> int:
    """`length / 4`, rounded up: what the preset `ladder-minimal` asks for, and nothing else uses (requirement TOK-1).

    Against o200k_base it is 16 % low on a mix of agent messages and 60 % low on Chinese and base64.
    """
    return (len(text) + 3) // 4
