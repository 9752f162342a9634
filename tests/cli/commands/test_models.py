"""`foldline models`: what there is, for people and as one document."""

from __future__ import annotations

import pytest

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
