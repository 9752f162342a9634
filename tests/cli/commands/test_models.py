"""`foldline models`: what there is, for people and as one document."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.stores.limits import Limit, Limits
from tests.cli import stub_files
from tests.cli.running import documents, run

pytestmark = pytest.mark.usefixtures("stub")


def test_models_are_a_table_and_one_by_name_is_a_page() -> None:
    """Interface: `foldline models [NAME]`."""
    assert run("models").stdout.splitlines() == [
        "name              window  output  $input  $output",
        "claude-sonnet-5  200,000  64,000       3       15",
        "gpt-5            400,000       –    1.25        –",
    ]
    assert "  window  400,000" in run("models", "gpt-5").stdout


def test_json_prints_them_whole() -> None:
    """One document."""
    (document,) = documents(run("models", "--json").stdout)
    assert document == {"schema": "foldline.models/1", "models": stub_files.models(None)}


def test_limits_that_a_provider_named_are_dropped_by_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit that no longer holds can be dropped without touching a file; it goes with a model's name."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    Limits(tmp_path).keep(Limit(model="gpt-5", endpoint="http://x/v1", tokens=32_000, instead_of=272_000))
    monkeypatch.setattr(stub_files, "forget_limits", Limits(tmp_path).forget_model, raising=False)
    assert run("models", "gpt-5", "--forget-limits").stderr == "foldline: 1 limit of gpt-5 forgotten\n"
    (document,) = documents(run("models", "gpt-5", "--forget-limits", "--json").stdout)
    assert (document["model"], document["limits"]) == ("gpt-5", 0)
    assert run("models", "--forget-limits").exit_code == 2
