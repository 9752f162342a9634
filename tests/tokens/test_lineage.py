"""From a model's name to its tokenizer, over every vendor's spelling."""

from __future__ import annotations

import pytest

from foldline.tokens.choose import COUNTERS
from foldline.tokens.lineage import family_of
from foldline.tokens.models import names


@pytest.mark.parametrize(
    ("family", "models"),
    [
        (
            "cl100k_base",
            "gpt-4 gpt-4-0613 gpt-4-turbo-2024-04-09 gpt-3.5-turbo-16k azure/gpt-35-turbo openai/gpt-4-32k",
        ),
        (
            "o200k_base",
            """gpt-4o gpt-4o-mini gpt-4.1-nano gpt-4.5-preview gpt-5 gpt-5.2-codex gpt-6-sol o1 o3-mini openai/o4-mini
            gpt-oss-120b chatgpt-4o-latest codex-mini-latest openai.gpt-oss-20b-1:0""",
        ),
        ("claude-4.6", "claude-3-5-sonnet-latest us.anthropic.claude-opus-4-1-20250805-v1:0"),
        ("claude-4.7", "claude-opus-5 anthropic/claude-whatever"),
        ("gemma3", "gemini-2.5-pro gemini/gemini-4-argon google.gemma-3-27b-it"),
        ("qwen3", "qwen3-coder-plus dashscope/qwq-plus deepseek-r1-distill-qwen-32b"),
        ("deepseek_v3", "deepseek-chat us.deepseek.r1-v1:0 deepseek/deepseek-v3.2"),
        ("glm4", "zai/glm-5 glm-4.6 zai.glm-4.7"),
        ("kimi_k2", "moonshot/kimi-k3 moonshotai.kimi-k2.5 moonshot-v1-128k"),
        ("mistral_v3", "mistral/mistral-large-latest mixtral-8x7b devstral-small codestral-2508"),
        ("llama3", "meta.llama3-1-405b-instruct-v1:0 deepseek-r1-distill-llama-70b"),
        ("o200k_base", "grok-4.7 command-r-plus nobody-knows"),
    ],
)
def test_the_family_is_read_from_any_spelling(family: str, models: str) -> None:
    """TOK-1: the model's own tokenizer; an unknown model counts with the newest public one."""
    assert {model: family_of(model) for model in models.split()} == dict.fromkeys(models.split(), family)


def test_every_model_of_the_table_has_a_counter() -> None:
    """No name of the table leads nowhere."""
    assert {family_of(name) for name in names()} <= set(COUNTERS)
