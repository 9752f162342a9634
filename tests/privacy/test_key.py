"""The key of fingerprints is made once, whole, and for the user alone."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foldline.core.errors import InvalidOption
from foldline.privacy.key import KEY, KEY_BYTES, NEW, key_in, redactor_in


def test_a_home_has_one_key_however_many_ask(tmp_path: Path) -> None:
    """Equality of fingerprints is across sessions and processes."""
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: key_in(tmp_path / "home"), range(32)))
    assert len(keys) == 1
    assert len(keys.pop()) == KEY_BYTES
    assert redactor_in(tmp_path / "home").mark(b"x") == redactor_in(tmp_path / "home").mark(b"x")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_user_can_read_it_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    """S17."""
    before = os.umask(umask)
    try:
        key_in(tmp_path / "a" / "home")
    finally:
        os.umask(before)
    home = tmp_path / "a" / "home"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in home.iterdir())


def test_what_an_interruption_left_is_made_anew(tmp_path: Path) -> None:
    """A key cut short is none: fingerprints need all of it."""
    (tmp_path / NEW).write_bytes(b"half")
    (tmp_path / KEY).write_bytes(b"short")
    for file in tmp_path.iterdir():
        file.chmod(0o600)
    assert key_in(tmp_path, make=lambda size: b"k" * size) == b"k" * KEY_BYTES
    assert not (tmp_path / NEW).exists()


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    """S8: no symbolic link is followed to a state file."""
    (tmp_path / "elsewhere").write_bytes(b"k" * KEY_BYTES)
    (tmp_path / KEY).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidOption, match="symbolic link"):
        key_in(tmp_path)
