"""The table of models: spellings, windows and who stated them, limits that make no sense, unknown names."""

from __future__ import annotations

import warnings

import pytest

from foldline.core.errors import InvalidOption, UnknownModel
from foldline.tokens.models import model, names, spellings


@pytest.mark.parametrize(
    ("name", "known_as", "window", "max_input", "max_output"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5", 200_000, 200_000, 64_000),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", 200_000, 200_000, 64_000),
        ("openrouter/anthropic/claude-sonnet-4.5:beta", "claude-sonnet-4-5", 200_000, 200_000, 64_000),
        ("Claude-Haiku-4-5-20251001", "claude-haiku-4-5", 200_000, 200_000, 64_000),
        ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5", 200_000, 200_000, 64_000),
        ("claude-sonnet-4-20250514", "claude-sonnet-4", 200_000, 200_000, 64_000),
        ("gpt-4o-2024-08-06", "gpt-4o", 128_000, 128_000, 16_384),
        ("openai/gpt-5", "gpt-5", 400_000, 272_000, 128_000),
        ("gpt-5-2025-08-07", "gpt-5", 400_000, 272_000, 128_000),
    ],
)
def test_a_model_is_found_under_any_spelling(
    name: str, known_as: str, window: int, max_input: int, max_output: int
) -> None:
    """Provider prefixes, dated and regional names; and `max_input_tokens`, which is the whole window for some
    models and a limit on input alone for others, is kept apart as both."""
    found = model(name)
    assert (found.known_as, found.window, found.max_input, found.max_output) == (
        known_as,
        window,
        max_input,
        max_output,
    )
    assert (found.name, found.source) == (name, "table")


def test_a_bedrock_name_is_stripped_of_region_vendor_date_and_version() -> None:
    """Each step is a spelling the table may know."""
    assert list(spellings("us.anthropic.claude-opus-4-1-20250805-v1:0"))[-1] == "claude-opus-4-1"
    assert model("us.anthropic.claude-opus-4-1-20250805-v1:0").window == 200_000


def test_prices_are_dollars_per_million_tokens() -> None:
    """Cache prices decide whether a cut pays; a model without them says so with `None`."""
    prices = model("claude-sonnet-4-5").prices
    assert (prices.input, prices.output, prices.cache_read, prices.cache_write) == (3.0, 15.0, 0.3, 3.75)
    assert model("gpt-4").prices.cache_read is None


def test_the_window_is_the_first_that_is_known_of_and_says_who_stated_it() -> None:
    """anomalyco/opencode#15871: override, provider metadata, error-confirmed limit, name, table; the source is shown."""
    name = "claude-opus-4-5[1m]"
    overrides = {"claude-opus-4-5": {"window": 500_000}}
    windows = [
        model(name, overrides=overrides, stated=2, confirmed=3),
        model(name, stated=400_000, confirmed=3),
        model(name, confirmed=300_000),
        model(name),
        model("claude-opus-4-5"),
    ]
    assert [(found.window, found.source) for found in windows] == [
        (500_000, "override"),
        (400_000, "stated"),
        (300_000, "confirmed"),
        (1_000_000, "name"),
        (200_000, "table"),
    ]


def test_an_override_goes_before_the_table_field_by_field() -> None:
    """A user's file says what it knows; the rest stays."""
    overrides = {"GPT-5": {"max_output": 20_000, "prices": {"input": 9.5}, "family": "cl100k_base"}}
    found = model("openai/gpt-5", overrides=overrides)
    assert (found.window, found.max_input, found.max_output) == (400_000, 272_000, 20_000)
    assert (found.prices.input, found.family, found.source) == (9.5, "cl100k_base", "table")


@pytest.mark.parametrize(
    "values", [{"windw": 1}, {"window": "large"}, {"window": 0}, {"max_output": -5}, {"family": "gpt2"}]
)
def test_an_override_that_cannot_be_read_is_refused_by_name(values: dict[str, object]) -> None:
    """A misspelt field must not silently change nothing."""
    with pytest.raises(InvalidOption, match=r"models\.my-model"):
        model("my-model", overrides={"my-model": values})


@pytest.mark.parametrize("price", [float("inf"), float("nan"), -1])
def test_a_price_is_a_number_that_json_can_say(price: float) -> None:
    """TOK-10: as a limit, so that `--json` is JSON and no cost is below nothing."""
    with pytest.raises(InvalidOption, match=r"models\.m\.prices\.output"):
        model("m", overrides={"m": {"window": 1_000, "prices": {"output": price}}})
    assert model("m", overrides={"m": {"window": 1_000, "prices": {"output": 0}}}).prices.output == 0


def test_a_limit_that_makes_no_sense_is_clamped_and_reported() -> None:
    """anomalyco/opencode#49965: an output limit equal to the window leaves no room, and every step compacts."""
    found = model("local", overrides={"local": {"window": 32_768, "max_output": 32_768, "max_input": 40_000}})
    assert (found.max_input, found.max_output) == (32_768, 16_384)
    assert len(found.notes) == 2
    assert "32,768" in found.notes[1]


@pytest.mark.parametrize(("name", "window"), [("claude-epic-9", 200_000), ("nobody/knows-this", 128_000)])
def test_an_unknown_model_gets_a_stated_default_and_a_warning(name: str, window: int) -> None:
    """The default is the size most models have at least; the warning says what to do."""
    with pytest.warns(UnknownModel, match=r"foldline models"):
        found = model(name)
    assert (found.window, found.source, found.known_as) == (window, "default", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model(name, overrides={name: {"window": 50_000}}).source == "override"


def test_the_snapshot_is_whole_and_every_row_makes_sense() -> None:
    """Generated by scripts/make_models.py: every limit within its window, no output that leaves no room."""
    assert len(names()) > 2_000
    for name in names():
        found = model(name)
        assert 0 < found.max_input <= found.window, name
        assert found.max_output is None or 0 < found.max_output <= found.window // 2, name
