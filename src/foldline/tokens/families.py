"""Tokenizers of other model families, as a small correction of o200k_base.

One exact base times a small table comes within a few per cent of the open families' own tokenizers, so none of
them is a dependency. A correction is linear: a ratio for Latin text, code and JSON; a difference for each
character of a script whose ratio differs; half a token for each digit where the tokenizer takes digits singly.
The ratios are the medians measured against each family's own vocabulary (`docs/concepts/tokens.md`, with errors).
"""

from __future__ import annotations

from math import ceil
from typing import Final

from msgspec import Struct

from foldline.tokens.text import DIGIT, TextCount, script_classes

HAN_TOKENS: Final = 0.72
"""o200k_base tokens a Han character, measured on Chinese text; likewise the next two."""
KANA_TOKENS: Final = 0.66
HANGUL_TOKENS: Final = 0.58
DIGIT_TOKENS: Final = 0.5
"""What a digit taken singly adds to o200k_base, which takes them by three (0.33 becomes 1, less what is shared)."""


class Family(Struct, frozen=True, kw_only=True, gc=False):
    """One family's tokenizer, as ratios to o200k_base."""

    name: str
    latin: float
    """Latin text, code and JSON."""
    chinese: float
    japanese: float
    korean: float
    single_digits: bool = False
    """True when the tokenizer takes digits one by one."""

    def corrected(self, text: str, tokens: int, *, base: TextCount) -> int:
        total = self.latin * tokens
        if self.single_digits:
            data = text.encode("utf-8", "surrogatepass")
            total += DIGIT_TOKENS * (len(data) - len(data.translate(None, DIGIT)))
        if not text.isascii():
            scripts = script_classes(text)
            total += (self.chinese - self.latin) * HAN_TOKENS * scripts.han
            total += (self.japanese - self.latin) * KANA_TOKENS * scripts.kana
            total += (self.korean - self.latin) * HANGUL_TOKENS * scripts.hangul
        return ceil(total) if total > 0 else 0


FAMILIES: Final = {
    family.name: family
    for family in (
        Family(name="llama3", latin=0.99, chinese=1.00, japanese=0.98, korean=1.03),
        Family(name="qwen3", latin=1.00, chinese=0.92, japanese=0.95, korean=1.09, single_digits=True),
        Family(name="deepseek_v3", latin=1.04, chinese=0.89, japanese=0.97, korean=1.13),
        Family(name="gemma3", latin=1.10, chinese=0.92, japanese=0.81, korean=1.02, single_digits=True),
        Family(name="glm4", latin=1.00, chinese=0.96, japanese=0.98, korean=1.24),
        Family(name="kimi_k2", latin=0.98, chinese=0.95, japanese=0.99, korean=1.24),
        Family(name="mistral_v3", latin=1.05, chinese=1.17, japanese=1.04, korean=1.03, single_digits=True),
    )
}
"""By name. Gemini uses gemma3's vocabulary, by Google's own SDK (its local tokenizer loads Gemma 3's model)."""
