"""Claude's two tokenizers, as a correction of o200k_base.

Anthropic publishes no tokenizer. The coefficients are a least-squares fit of o200k_base and character classes to
recorded answers of Anthropic's own `count_tokens`, as kept by the ctok project (MIT), with the error on answers
held out of the fit in `docs/concepts/tokens.md`. Two generations differ by about a third: every Claude up to 4.6,
and all from 4.7 on. An unknown Claude counts as the newer one: too high costs an early compaction, too low a
refused request.
"""

from __future__ import annotations

import re
from itertools import chain
from math import ceil
from typing import Final

from msgspec import Struct

from foldline.tokens.text import TextCount, ascii_classes, find_blobs, script_classes

BLOB_RATIO: Final = 1.4
"""Base64 and hex are outside the fit: 1.4 of o200k_base (measured 1.27 to 1.39 for base64, less for hex)."""


class Generation(Struct, frozen=True, kw_only=True, gc=False):
    """One tokenizer's coefficients: tokens for each o200k_base token and for each character of a class."""

    name: str
    base: float
    lower: float
    upper: float
    digit: float
    punct: float
    space: float
    newline: float
    cyrillic_greek: float
    hebrew_arabic: float
    indic: float
    thai: float
    kana: float
    han: float
    hangul: float
    other: float

    def corrected(self, text: str, tokens: int, *, base: TextCount) -> int:
        data = text.encode("utf-8", "surrogatepass")
        spans = find_blobs(data)
        if not spans:
            return self._fitted(text, data, tokens=tokens)
        blobs = [data[start:end].decode("ascii") for start, end in spans]
        edges = [0, *chain.from_iterable(spans), len(data)]
        data = b"".join(data[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
        text = data.decode("utf-8", "surrogatepass")
        return ceil(BLOB_RATIO * sum(base.many(blobs))) + self._fitted(text, data, tokens=base.one(text))

    def _fitted(self, text: str, data: bytes, *, tokens: int) -> int:
        ascii_ = ascii_classes(data)
        total = self.base * tokens
        total += self.lower * ascii_.lower + self.upper * ascii_.upper + self.digit * ascii_.digit
        total += self.punct * ascii_.punct + self.space * ascii_.space + self.newline * ascii_.newline
        if not text.isascii():
            scripts = script_classes(text)
            total += self.cyrillic_greek * scripts.cyrillic_greek + self.hebrew_arabic * scripts.hebrew_arabic
            total += self.indic * scripts.indic + self.thai * scripts.thai + self.kana * scripts.kana
            total += self.han * scripts.han + self.hangul * scripts.hangul + self.other * scripts.other
        return ceil(total)


CLAUDE_46: Final = Generation(
    name="claude-4.6",
    base=1.021,
    lower=0.040,
    upper=0.145,
    digit=0.032,
    punct=0.073,
    space=0.038,
    newline=0.221,
    cyrillic_greek=0.127,
    hebrew_arabic=0.394,
    indic=0.507,
    thai=0.464,
    kana=0.096,
    han=0.287,
    hangul=0.589,
    other=0.711,
)
"""Claude 3 to 4.6."""

CLAUDE_47: Final = Generation(
    name="claude-4.7",
    base=0.994,
    lower=0.156,
    upper=0.622,
    digit=0.0,
    punct=0.256,
    space=0.007,
    newline=0.066,
    cyrillic_greek=0.144,
    hebrew_arabic=0.415,
    indic=0.523,
    thai=0.477,
    kana=0.123,
    han=0.321,
    hangul=0.629,
    other=0.763,
)
"""Claude 4.7 and later (Opus 4.7 and 4.8, everything called 5)."""

_OLD = re.compile(
    r"claude[-_. ]?(?:v?[123](?![0-9])|instant)"
    r"|claude-(?:opus|sonnet|haiku)-(?:3|4(?:[-.][0-6])?(?![0-9]|[-.][0-9]{1,2}(?![0-9])))"
    r"|claude-4(?:[-.][0-6])?-(?:opus|sonnet|haiku)"
)


def generation_of(model: str) -> Generation:
    """The tokenizer of a Claude model, by any of its spellings (`claude-sonnet-4-5`, `anthropic.claude-3-opus…`)."""
    return CLAUDE_46 if _OLD.search(model.lower()) else CLAUDE_47
