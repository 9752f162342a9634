"""What is made from the logs is taken away when something was forgotten, and only then."""

from __future__ import annotations

from pathlib import Path

from foldline.privacy.derived import DATABASES, forget_derived


def test_databases_that_may_hold_the_words_go_with_all_that_belongs_to_them(tmp_path: Path) -> None:
    """S18: a write-ahead file keeps words too. They are made anew from the logs."""
    for name in DATABASES:
        for end in ("", "-wal", "-shm"):
            (tmp_path / (name + end)).write_bytes(b"swordfish")
    (tmp_path / "key").write_bytes(b"k")
    tmp_path.chmod(0o700)
    gone = forget_derived(tmp_path)
    assert len(gone) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
    assert forget_derived(tmp_path) == ()
