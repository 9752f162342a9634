"""Opening: new or gone on with, refused where it is not what was asked for, and nothing held that was not opened."""

from __future__ import annotations

from pathlib import Path

import pytest

import foldline
from foldline.core.errors import InvalidOption, SessionBusy, UnknownPolicy
from foldline.home import disk_store
from foldline.stores.memory import MemoryStore
from foldline.wire import strict
from tests.session.making import opened


def test_the_home_is_looked_up_when_a_session_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`FOLDLINE_HOME`, and the argument before it."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "env"))
    foldline.open("a").close()
    foldline.open("b", home=tmp_path / "given").close()
    assert (disk_store().names(), disk_store(tmp_path / "given").names()) == (("a",), ("b",))


def test_a_session_is_held_by_one_at_a_time_and_let_go_of_after_an_error(tmp_path: Path) -> None:
    """JRN-1: one writer; an option that is refused holds nothing."""
    with foldline.open("a", format="anthropic", home=tmp_path), pytest.raises(SessionBusy):
        foldline.open("a", home=tmp_path)
    with pytest.raises(InvalidOption, match="speaks anthropic"):
        foldline.open("a", format="gemini", home=tmp_path)
    foldline.open("a", home=tmp_path).close()


def test_wrong_options_make_no_session(tmp_path: Path) -> None:
    """Refused before anything is written."""
    nameless = ({"model": ""}, {"model": " \n"}, {"counter": ""})
    unkind = ({"completer": 5}, {"hooks": 5}, {"restore": 5}, {"listener": 0})
    for wrong in ({"durability": "never"}, {"format": "pi"}, {"counter": "none"}, *nameless, *unkind):
        with pytest.raises(InvalidOption):
            foldline.open("a", home=tmp_path, **wrong)
    with pytest.raises(UnknownPolicy):
        foldline.open("a", home=tmp_path, policy="none")
    with pytest.raises(InvalidOption):
        foldline.open("../a", home=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_session_keeps_the_model_it_was_begun_with() -> None:
    """The first line names it; a later word goes before it."""
    store = MemoryStore()
    opened(store, model="claude-sonnet-4-5").close()
    session = opened(store)
    assert session.model == "claude-sonnet-4-5"
    session.close()
    assert opened(store, model="claude-opus-4-1").model == "claude-opus-4-1"


def test_a_window_of_its_own_is_what_context_shows() -> None:
    """A session that is kept in a smaller window than its model has (`foldline proxy --window`) says so in its first line."""
    store = MemoryStore()
    opened(store, window=32_000).close()
    assert strict.loads(store.read("s").about)["tokens_window"] == 32_000
