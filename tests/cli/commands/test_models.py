"""`foldline models`: what there is, for people and as one document."""

from __future__ import annotations

import pytest

from tests.cli import stub_files
from tests.cli.running import documents, run

pytestmark = pytest.mark.usefixtures("stub")


def test_models_are_a_table_and_one_by_name_is_a_page() -> None:
    """Interface: `foldline models [NAME]`."""
    assert "claude-sonnet-5        200,000            3  text" in run("models").stdout
    assert "  tokens window  400,000" in run("models", "gpt-5").stdout


def test_json_prints_them_whole() -> None:
    """One document."""
    (document,) = documents(run("models", "--json").stdout)
    assert document == {"schema": "foldline.models/1", "models": stub_files.models(None)}
