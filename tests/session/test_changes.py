"""Changes from outside: a dry run says what the change then does."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.errors import SessionExists, TargetUnreachable, UnknownSession
from foldline.home import disk_store
from foldline.session.changes import asked_for, compact, fork, rollback, undo
from foldline.session.opening import open_in
from tests.session.making import answer


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one session of forty turns."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    with open_in(disk_store(), "s", asked=asked_for(counter="length/4")) as session:
        for number in range(40):
            session.user(f"question {number} " + "word " * 60)
            session.record(answer(f"answer {number} " + "word " * 60, format="openai-chat"))
    return tmp_path


def stored(home: Path) -> bytes:
    """The log as it lies on disk."""
    return (home / "sessions/s/log.jsonl").read_bytes()


def test_a_dry_run_writes_nothing_and_says_what_the_change_does(home: Path) -> None:
    before = stored(home)
    preview = compact("s", 2_000, dry_run=True)
    assert stored(home) == before
    assert compact("s", 2_000).tokens_after == preview.tokens_after
    for change in (
        lambda dry: undo("s", dry_run=dry),
        lambda dry: rollback("s", to=9, dry_run=dry),
        lambda dry: fork("s", "t", at=5, dry_run=dry),
    ):
        before = stored(home)
        said = change(True)
        assert stored(home) == before
        assert change(False) == said


def test_a_change_never_begins_a_session() -> None:
    """A slip in a name must not make an empty session of that name."""
    for change in (
        lambda: undo("x"),
        lambda: rollback("x", to=0),
        lambda: fork("x", "y"),
        lambda: compact("x", 100),
    ):
        with pytest.raises(UnknownSession):
            change()
    assert disk_store().names() == ("s",)


def test_what_is_refused_leaves_the_session_as_it_was(home: Path) -> None:
    before = stored(home)
    with pytest.raises(TargetUnreachable):
        compact("s", 1)
    with pytest.raises(SessionExists):
        fork("s", "s", dry_run=True)
    assert stored(home) == before
