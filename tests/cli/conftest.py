"""Tests of the command line run over a stand-in for the facade; the real one has its own tests, and `test_end_to_end`
runs both together."""

from __future__ import annotations

import sys

import pytest

import foldline
from tests.cli import stub_files


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in in the place of `foldline.files`, and no setting of the outside."""
    monkeypatch.setitem(sys.modules, "foldline.files", stub_files)
    monkeypatch.setattr(foldline, "files", stub_files, raising=False)
    monkeypatch.setattr(stub_files, "TEXT", "text")
    for name in ("FOLDLINE_DEBUG", "COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
