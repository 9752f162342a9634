"""Tests of the command line run over a stand-in for the facade; the real one has its own tests, and `test_end_to_end`
runs both together."""

from __future__ import annotations

import sys

import pytest

from tests.cli import stub_files


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in in the place of the facade, and no setting of the outside."""
    for name in stub_files.STANDS_FOR:
        monkeypatch.setitem(sys.modules, name, stub_files)
    monkeypatch.setattr(stub_files, "TEXT", "text")
    for name in ("FOLDLINE_DEBUG", "COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
