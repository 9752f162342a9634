"""`foldline formats`: what there is, for people and as one document."""

from __future__ import annotations

import pytest

from tests.cli import stub_files
from tests.cli.running import documents, run

pytestmark = pytest.mark.usefixtures("stub")


def test_formats_are_a_table_and_a_document() -> None:
    """Interface: what is supported."""
    assert run("formats").stdout.splitlines() == ["name  reads  writes", "pi    yes    no"]
    (document,) = documents(run("formats", "--json").stdout)
    assert document == {"schema": "foldline.formats/1", "formats": stub_files.formats()}
