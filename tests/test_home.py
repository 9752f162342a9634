"""The folder of the sessions, and the store in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.errors import InvalidOption
from foldline.home import disk_store, home_at


def test_the_folder_is_the_one_given_else_the_one_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """interface.md: looked up when it is used, never at import; nothing is made by asking."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "of-environment"))
    assert home_at() == home_at(None) == tmp_path / "of-environment"
    assert home_at(str(tmp_path / "a")) == home_at(tmp_path / "a") == tmp_path / "a"
    assert disk_store(tmp_path / "a").home == tmp_path / "a"
    assert disk_store().names() == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("home", ["", "a\0b", "\ud800", b"x", 5, True, ["x"], object()])
def test_what_names_no_folder_is_refused(home: object) -> None:
    """Before anything is made, by the name of the option."""
    with pytest.raises(InvalidOption) as caught:
        disk_store(home)  # type: ignore[arg-type]
    assert caught.value.option == "home"
