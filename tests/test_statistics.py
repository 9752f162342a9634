"""What all sessions come to, with costs at declared prices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foldline.statistics import cost_of, statistics
from foldline.tokens.models import model
from tests.stores.test_statistics import filled


def row(name: str, **tokens: int) -> dict[str, Any]:
    told = dict.fromkeys(("tokens_input", "tokens_output", "tokens_cache_read", "tokens_cache_write"), 0)
    return {"model": name, **told, **tokens}


def test_the_document_adds_up_over_sessions(tmp_path: Path) -> None:
    """JRN-11: compactions, tokens freed a pass, retention, costs; rebuilt from nothing it is the same."""
    store = filled("a", "b")
    document = statistics(store, tmp_path)
    assert document["sessions"] == 2
    assert document["events"] == {"COMPRESSION": 2, "TOOL_CALL": 2, "TOOL_RESULT": 2, "USER_INPUT": 2}
    [compactions] = document["compactions"]
    assert compactions == {
        "policy": "balanced",
        "count": 2,
        "tokens_before": 2000,
        "tokens_after": 1400,
        "tokens_freed": 600,
    }
    assert document["passes"] == [{"name": "microcompact", "runs": 2, "edits": 4, "tokens_freed": 600}]
    assert document["retention"] == {
        "paths": {"total": 8, "in_view": 6, "recallable": 2, "lost": 0, "altered": 0}
    }
    assert [(tool["tool"], tool["calls"], tool["failed"]) for tool in document["tools"]] == [("run", 2, 0)]
    assert document["unpriced"] == ["m"]
    (tmp_path / "statistics.sqlite").unlink()
    assert statistics(store, tmp_path) == document
    assert statistics(store, tmp_path, session="a")["events"]["USER_INPUT"] == 1
    store.remove("b")
    assert statistics(store, tmp_path)["events"]["USER_INPUT"] == 1


def test_cached_tokens_are_a_part_of_the_input_and_have_their_own_price() -> None:
    """TOK-4: never counted twice."""
    name = "claude-sonnet-4-5"
    prices = model(name).prices
    assert prices.input is not None
    assert prices.output is not None
    assert prices.cache_read is not None
    million = 1_000_000
    assert cost_of(row(name, tokens_input=million)) == prices.input
    assert cost_of(row(name, tokens_input=million, tokens_cache_read=million)) == prices.cache_read
    assert cost_of(row(name, tokens_output=million)) == prices.output


@pytest.mark.parametrize("name", ["", "no-such-model-anywhere"])
def test_a_model_without_a_price_has_no_cost(name: str) -> None:
    """It is named instead of being counted as free."""
    assert cost_of(row(name, tokens_input=5)) is None
