"""Recall over the sessions of this machine: where they and the index lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.recollect import INDEX, open_recall
from foldline.stores.disk import DiskStore
from foldline.testing.builders import user
from tests.recall.logs import written


def test_sessions_and_index_lie_in_the_home_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read when it is opened, never at import."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    written(DiskStore(tmp_path / "home"), "fix", [user("pool size")])
    recall = open_recall(model="gpt-5")
    assert [hit.session for hit in recall.search("pool").hits] == ["fix"]
    recall.close()
    assert (tmp_path / "home" / INDEX).is_file()


def test_a_home_may_be_named(tmp_path: Path) -> None:
    recall = open_recall(tmp_path)
    assert recall.search("pool").hits == ()
    assert list(tmp_path.iterdir()) == []
