"""How each provider says that a request is too long: as the reports quote it, and so that `classify_error` reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline.testing.twin import Twin
from foldline.testing.twin.overflow import WORDINGS, Sizes, over
from tests.testing.twin.client import Back, ask, chat, generate, respond

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "wire" / "provider_errors.json").read_text(encoding="utf-8")
)
REPORTED = {
    "E001": ("anthropic", Sizes(input=210_118, limit=200_000)),
    "E002": ("anthropic", Sizes(input=170_636, output=34_048, limit=200_000)),
    "E006": ("openai-responses", Sizes(input=2, limit=1)),
    "E009": ("openai", Sizes(input=179_668, tools=77, limit=128_000)),
    "E012": ("azure-openai", Sizes(input=4_221, output=4_000, limit=8_192)),
    "E019": ("gemini", Sizes(input=1_058_724, limit=1_048_576)),
    "E022": ("vertex", Sizes(input=131_335, limit=131_072)),
    "E023": ("xai", Sizes(input=537_812, limit=131_072)),
    "E027": ("mistral", Sizes(input=140_000, limit=131_072)),
    "E028": ("deepseek", Sizes(input=1_051_539, output=1, limit=1_048_576)),
    "E030": ("vllm", Sizes(input=180_225, output=16_384, limit=196_608)),
    "E034": ("tgi", Sizes(input=70_655, output=1_024, limit=16_384)),
    "E037": ("openrouter", Sizes(input=187_889, tools=4_241, output=16_000, limit=202_752)),
    "E040": ("github-copilot", Sizes(input=391_491, limit=128_000)),
    "E042": ("llama.cpp", Sizes(input=13_392, limit=8_192)),
    "E047": ("ollama", Sizes(input=13_192, limit=8_192)),
    "E051": ("dashscope", Sizes(input=204_801, limit=204_800)),
    "E053": ("moonshot", Sizes(input=269_030, limit=262_144)),
    "E055": ("zai", Sizes(input=2, limit=1)),
    "E059": ("cohere", Sizes(input=4_292, limit=4_081)),
    "E062": ("fireworks", Sizes(input=140_000, limit=131_072)),
    "E065": ("anthropic-gateway", Sizes(input=2, limit=1)),
}
"""By case: whose words they are, and the numbers in them."""


def words_of(case: dict[str, Any]) -> str:
    body = case["body"]
    return str(body if isinstance(body, str) else body.get("error", body)["message"])


@pytest.mark.parametrize("id", REPORTED)
def test_the_words_are_those_of_the_report(id: str) -> None:
    """Fault reports of kind overflow-recognition: the very text, with the very numbers."""
    case = next(case for case in CASES if case["id"] == id)
    provider, sizes = REPORTED[id]
    refused = over(sizes, provider=provider)
    assert refused is not None
    assert refused.message == words_of(case)
    assert refused.status == case["status"]


def _sent(twin: Twin, provider: str) -> Back:
    """A request that is too long, in the dialect of a provider."""
    words = "word " * 4_000
    if provider in ("gemini", "vertex"):
        return generate(twin, words)
    if provider == "openai-responses":
        return respond(twin, words)
    wire = "anthropic" in provider or provider == "bedrock"
    return (ask if wire else chat)(twin, words, max_tokens=100)


@pytest.mark.parametrize("provider", WORDINGS)
def test_every_wording_is_read_as_an_overflow(provider: str) -> None:
    """The twin's body as a client gets it."""
    with Twin(window=1_000, provider=provider) as twin:
        back = _sent(twin, provider)
    found = foldline.classify_error(provider, back.status, back.data)
    assert found.is_overflow, back.data
    assert found.recovery == "compact"
    assert found.tokens_used in (None, twin.requests[0].tokens)
    assert found.tokens_limit in (None, 1_000)


def test_what_fits_is_not_refused() -> None:
    for provider, wording in WORDINGS.items():
        assert over(Sizes(input=90, output=10, limit=100), provider=provider) is None
        both = over(Sizes(input=90, output=11, limit=100), provider=provider)
        assert (both is not None) is bool(wording.both)
        assert wording.source
