"""Claude's two tokenizers: which model has which, and the correction on fixed strings."""

from __future__ import annotations

import base64
from math import ceil

import pytest

from foldline.tokens.bpe import Exact
from foldline.tokens.claude import BLOB_RATIO, CLAUDE_46, CLAUDE_47, generation_of
from foldline.tokens.text import Corrected
from tests.tokens.sample import NASTY, SURROGATES, real_texts

O200K = Exact("o200k_base")
ENGLISH = "The compaction pass replaced forty old tool results and kept the last five.\n" * 4
GERMAN = "Der Durchlauf ersetzte vierzig alte Ergebnisse und behielt die letzten fünf.\n" * 4
CHINESE = "上下文长度超过限制时应当先压缩再继续。" * 8
JSON = '{"path": "src/app/login.py", "start_line": 120, "end_line": 180, "ok": true}\n' * 4


@pytest.mark.parametrize(
    "model",
    """claude-2.1 claude-instant-1 anthropic.claude-v2:1 claude-3-opus-20240229 claude-3.5-sonnet claude-3-7-sonnet@20250219
    claude-opus-4-20250514 claude-sonnet-4 claude-4-sonnet claude-opus-4@20250514 claude-sonnet-4-5-20250929
    us.anthropic.claude-haiku-4-5-20251001-v1:0 claude-opus-4.6 anthropic/claude-opus-4-6-v1""".split(),
)
def test_claude_up_to_4_6_has_the_older_tokenizer(model: str) -> None:
    """TOK-1: the model's own tokenizer, by any spelling of the model."""
    assert generation_of(model) is CLAUDE_46


@pytest.mark.parametrize(
    "model",
    """claude-opus-4-7 claude-opus-4.7 claude-opus-4-7-20260416 claude-opus-4-8 claude-opus-4-10 claude-sonnet-5
    claude-haiku-5-5 claude-fable-5 claude-mythos-preview claude claude-30 claude-next""".split(),
)
def test_later_and_unknown_claudes_have_the_newer_tokenizer(model: str) -> None:
    """An unknown Claude counts as the newer one: too low a count would end in a refused request."""
    assert generation_of(model) is CLAUDE_47


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        # true / o200k_base in recorded count_tokens answers; ±12 % is the 95th percentile of the held-out error.
        (ENGLISH, 1.07, 1.56),
        (CHINESE, 1.33, 1.33),
        (JSON, 1.28, 1.61),
    ],
)
def test_the_correction_gives_the_recorded_ratio_of_each_kind_of_text(
    text: str, old: float, new: float
) -> None:
    """TOK-1: correction for both generations, against the ratios of recorded answers."""
    plain = O200K.one(text)
    assert Corrected(CLAUDE_46, O200K).one(text) / plain == pytest.approx(old, rel=0.20)
    assert Corrected(CLAUDE_47, O200K).one(text) / plain == pytest.approx(new, rel=0.20)


def test_the_correction_on_fixed_strings_never_moves_unnoticed() -> None:
    """Coefficients are a fit: a change of one is a new fit, with a new measured error in the docs."""
    old, new = Corrected(CLAUDE_46, O200K), Corrected(CLAUDE_47, O200K)
    counts = [(O200K.one(t), old.one(t), new.one(t)) for t in (ENGLISH, GERMAN, CHINESE, JSON)]
    assert counts == [(60, 75, 102), (68, 87, 118), (112, 158, 161), (112, 131, 161)]


def test_base64_counts_by_its_own_ratio_wherever_it_stands() -> None:
    """Base64 and hex are outside the fit: 1.4 of o200k_base, and prose around them as ever."""
    blob = base64.b64encode(bytes(i * 7 % 256 for i in range(600))).decode().rstrip("=")
    counter = Corrected(CLAUDE_47, O200K)
    assert counter.one(blob) == pytest.approx(ceil(BLOB_RATIO * O200K.one(blob)), abs=1)
    mixed = f"{ENGLISH} {blob} {ENGLISH}"
    assert counter.one(mixed) == pytest.approx(counter.one(blob) + 2 * counter.one(ENGLISH), abs=4)


def test_one_and_many_agree_on_everything() -> None:
    """The sum of single counts is the count of all: views keep counts by part."""
    texts = [*real_texts()[:300], *NASTY, *SURROGATES]
    for generation in (CLAUDE_46, CLAUDE_47):
        counter = Corrected(generation, O200K)
        assert counter.many(texts) == [counter.one(text) for text in texts]
        assert counter.one("") == 0
