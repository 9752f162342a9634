"""Other families' tokenizers as corrections of o200k_base: fixed strings against the families' own counts."""

from __future__ import annotations

import pytest

from foldline.tokens.bpe import Exact
from foldline.tokens.families import FAMILIES
from foldline.tokens.text import Corrected
from tests.tokens.sample import NASTY, SURROGATES, real_texts

O200K = Exact("o200k_base")

PROSE = (
    "The compaction pass replaced forty old tool results and kept the last five, so the session went on.\n"
    * 5
)
CODE = "def total(items):\n    return sum(item.tokens for item in items if item.kind != 'media')\n" * 6
NUMBERS = "2026-11-29 21:54:25.123456 latency=1843 bytes=904112 status=200 port=51872\n" * 6
CHINESE = "上下文长度超过限制时应当先压缩再继续，旧的消息被折叠成摘要，原文仍可以取回。" * 6
KOREAN = "긴 대화를 컨텍스트 창 안에 유지하기 위해 오래된 메시지를 요약합니다. " * 6

OWN_COUNTS: dict[str, tuple[int, int, int, int, int]] = {
    "llama3": (105, 120, 186, 186, 139),
    "qwen3": (105, 120, 318, 150, 156),
    "deepseek_v3": (100, 132, 186, 144, 163),
    "gemma3": (105, 156, 318, 150, 115),
    "glm4": (105, 120, 204, 150, 175),
    "kimi_k2": (100, 120, 186, 138, 175),
    "mistral_v3": (105, 132, 318, 222, 115),
}
"""PROSE, CODE, NUMBERS, CHINESE, KOREAN counted with each family's own vocabulary (splintr-rs 0.22)."""


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_comes_near_its_own_count_on_every_kind_of_text(name: str) -> None:
    """TOK-1: the small family table, within 30 % on the worst kind of text, 10 % on the mix."""
    counter = Corrected(FAMILIES[name], O200K)
    counts = [counter.one(text) for text in (PROSE, CODE, NUMBERS, CHINESE, KOREAN)]
    for count, own in zip(counts, OWN_COUNTS[name], strict=True):
        assert count == pytest.approx(own, rel=0.30), (counts, OWN_COUNTS[name])
    assert sum(counts) == pytest.approx(sum(OWN_COUNTS[name]), rel=0.10)


def test_digits_taken_singly_cost_more() -> None:
    """Half a token a digit where a tokenizer takes digits one by one (Qwen, Gemma, Mistral)."""
    digits = "1234567890" * 20
    plain = O200K.one(digits)
    for name, family in FAMILIES.items():
        ratio = Corrected(family, O200K).one(digits) / plain
        assert (ratio > 2) == (name in ("qwen3", "gemma3", "mistral_v3")), name


def test_one_and_many_agree_and_nothing_is_negative() -> None:
    """The sum of single counts is the count of all, whatever the text."""
    texts = [*real_texts()[:200], *NASTY, *SURROGATES]
    for family in FAMILIES.values():
        counter = Corrected(family, O200K)
        counts = counter.many(texts)
        assert counts == [counter.one(text) for text in texts]
        assert min(counts) == 0
        assert counter.one("") == 0
