"""`foldline archive`."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from foldline.core.entry import Draft
from foldline.stores.disk import DiskStore
from foldline.stores.disk_log import LogFolder
from tests.cli.running import documents, run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One session."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    journal = DiskStore(tmp_path).create("s", format="anthropic", about=b"{}")
    journal.append([Draft(kind="usage", body=b'{"n":1}')])
    journal.close()
    return tmp_path


def test_packing_away_is_said_and_done(home: Path) -> None:
    """JRN-7. `--dry-run` changes nothing."""
    folder = home / "sessions/s/archive"
    before = (home / "sessions/s/log.jsonl").stat().st_size
    dry = run("archive", "s", "--dry-run")
    assert (dry.exit_code, folder.exists()) == (0, False)
    assert f"{before} bytes of the log would be packed away" in dry.stderr
    [document] = documents(run("archive", "s", "--json").stdout)
    assert document == {
        "schema": "foldline.archive/1",
        "name": "s",
        "bytes": before,
        "dry_run": False,
        "refused": None,
    }
    assert len(list(folder.iterdir())) == 1
    assert "packed away already" in run("archive", "s").stderr


def test_a_disk_that_refuses_is_exit_1_and_says_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: LogFolder, *args: object, **rest: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LogFolder, "pack", full)
    refused = run("archive", "s")
    assert refused.exit_code == 1
    assert "s stays as it is: No space left on device; make room" in refused.stderr


def test_a_session_that_is_written_is_busy(home: Path) -> None:
    """Exit 4."""
    journal = DiskStore(home).write("s")
    assert run("archive", "s").exit_code == 4
    journal.close()
