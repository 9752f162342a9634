"""From a model's name to its tokenizer and its media rule: two small tables, read top to bottom.

Names come in every spelling (`anthropic/claude-sonnet-4.5`, `us.anthropic.claude-…-v1:0`, `gpt-4o-2024-08-06`), so
the tables look for what a vendor's names have in common. Knows names alone; `foldline.tokens.models` has the
numbers, `foldline.tokens.choose` makes counters.
"""

from __future__ import annotations

import re
from typing import Final

from foldline.tokens.claude import CLAUDE_46, generation_of
from foldline.tokens.media import (
    ANTHROPIC,
    ANTHROPIC_HIGH,
    GEMINI,
    GEMINI_3,
    OPENAI,
    MediaRule,
    openai_patches,
    openai_tiles,
)

FAMILY_DEFAULT: Final = "o200k_base"
"""Tokenizer of a model nobody knows: the newest public one, and within 5 % of most open families on English and code."""

_FAMILIES: Final = (
    (re.compile(pattern), family)
    for pattern, family in (
        (r"distill-llama", "llama3"),
        (r"distill-qwen", "qwen3"),
        (
            r"gpt-3\.5|gpt-35|gpt-4(?![o.0-9])(?!-(?:1|5))|text-embedding|davinci-002|babbage-002",
            "cl100k_base",
        ),
        (r"gpt-?[4-9]|gpt-oss|chatgpt|codex|(?:^|[/.:])o[1-9](?:-|$)", "o200k_base"),
        (r"gemini|gemma|learnlm", "gemma3"),
        (r"qwen|qwq|qvq", "qwen3"),
        (r"deepseek", "deepseek_v3"),
        (r"(?:^|[/.:-])glm|zai[/.]", "glm4"),
        (r"kimi|moonshot", "kimi_k2"),
        (r"mi[sx]tral|codestral|devstral|magistral|pixtral|voxtral", "mistral_v3"),
        (r"llama", "llama3"),
    )
)
FAMILIES_BY_NAME: Final = tuple(_FAMILIES)


def family_of(model: str) -> str:
    """The tokenizer a model uses, one of `foldline.tokens.choose.COUNTERS`; `FAMILY_DEFAULT` for an unknown one."""
    name = model.lower()
    if "claude" in name:
        return generation_of(name).name
    return next((family for pattern, family in FAMILIES_BY_NAME if pattern.search(name)), FAMILY_DEFAULT)


_OPENAI_MEDIA: Final = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (r"gpt-4o-mini", openai_tiles("openai-4o-mini", base=2_833, tile=5_667)),
        (r"gpt-4\.1-nano|gpt-5-nano", openai_patches("openai-nano", factor=2.46)),
        (
            r"gpt-4\.1-mini|gpt-5(?:\.[0-9])?-mini|gpt-5\.[0-9]-nano",
            openai_patches("openai-mini", factor=1.62),
        ),
        (r"o4-mini", openai_patches("openai-o4-mini", factor=1.72)),
        (r"(?:^|[/.:])o[1-4](?:-|$)", openai_tiles("openai-o", base=75, tile=150)),
        (r"computer-use", openai_tiles("openai-computer-use", base=65, tile=129)),
        (r"gpt-5(?:\.1)?(?![.0-9])", openai_tiles("openai-5", base=70, tile=140)),
        (r"gpt-5\.[23](?![0-9])", openai_patches("openai-5.2", factor=1.2)),
        (r"gpt-(?:5\.|[6-9])", openai_patches("openai-5.4", factor=1.2, patches_max=2_500)),
    )
)
"""OpenAI, "Images and vision", calculating costs. The factor 1.2 of GPT-5.2 and later is not on that page: users
measured it. GPT-4o, 4.1 and 4.5 have the rule `OPENAI`."""

_BY_WIRE: Final = {"anthropic": ANTHROPIC_HIGH, "gemini": GEMINI_3, "claude-code": ANTHROPIC_HIGH}


def media_of(model: str | None, wire: str | None) -> MediaRule:
    """What media cost: by the model where its maker has a rule, else by the wire format, else OpenAI's older rule."""
    name = (model or "").lower()
    if "claude" in name:
        return ANTHROPIC if generation_of(name) is CLAUDE_46 else ANTHROPIC_HIGH
    if "gemini" in name:
        return GEMINI if re.search(r"gemini-(?:[12](?![0-9])|pro-vision|exp)", name) else GEMINI_3
    for pattern, rule in _OPENAI_MEDIA:
        if pattern.search(name):
            return rule
    return _BY_WIRE.get(wire or "", OPENAI)
