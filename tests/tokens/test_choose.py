"""Which counter counts: by model, by name, by default, and without toktok."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from foldline.core.errors import InvalidOption
from foldline.tokens.choose import COUNTERS, counter_for
from foldline.tokens.estimate import estimate

TEXT = "Find why login fails, then fix it.\n" * 30


def missing() -> Any:
    raise ImportError("no wheel for this platform")


def test_without_a_model_the_counter_is_o200k_base() -> None:
    """TOK-1 and the interface: o200k_base where no model is given."""
    assert counter_for().name == "o200k_base"
    assert counter_for(wire="anthropic").name == "o200k_base"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-sonnet-4-5", "claude-4.6"),
        ("claude-sonnet-5", "claude-4.7"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-5.2-codex", "o200k_base"),
        ("gemini-3.5-flash", "gemma3"),
        ("dashscope/qwen3-max", "qwen3"),
        ("nobody/knows-this", "o200k_base"),
    ],
)
def test_a_model_is_counted_with_its_own_tokenizer_or_the_nearest(model: str, name: str) -> None:
    """TOK-1: the model's own tokenizer where one is available offline."""
    assert counter_for(model).name == name


@pytest.mark.parametrize("name", COUNTERS)
def test_every_named_counter_counts(name: str) -> None:
    """`--counter` takes each of these names, whatever the model."""
    counter = counter_for("claude-sonnet-5", counter=name)
    assert counter.name == name
    assert 100 < counter.text(TEXT) < 700
    assert counter.text("") == 0


def test_an_unknown_counter_is_refused_with_the_names_that_exist() -> None:
    """An error says what to do next."""
    with pytest.raises(InvalidOption, match="o200k_base"):
        counter_for(counter="gpt2")


@pytest.mark.parametrize("name", COUNTERS)
def test_without_toktok_the_estimate_counts_and_the_name_says_so(name: str) -> None:
    """TOK-2: on Alpine there is no wheel; corrections still apply, on the estimate."""
    counter = counter_for(counter=name, load=missing)
    exact = counter_for(counter=name)
    assert counter.name == (name if name in ("estimate", "length/4") else f"{name} (estimate)")
    assert counter.text(TEXT) == pytest.approx(exact.text(TEXT), rel=0.35)
    assert counter_for(load=missing).text(TEXT) == estimate(TEXT)


def test_importing_the_package_loads_no_tokenizer() -> None:
    """Importing does nothing: `--help` must not pay for a vocabulary."""
    code = "import sys, foldline.tokens.choose, foldline.tokens.models; sys.exit('toktok' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
