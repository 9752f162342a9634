"""How a conversation begins: by its name, its policy, and the window of the model that a request names."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.home import disk_store
from foldline.proxy.beginning import Keeping, beginning
from tests.clients.lists import assistant, call, long, user

LONG = [user("hello"), assistant("hi"), user(long("w", 200_000))]


def test_a_session_that_there_is_is_gone_on_with(tmp_path: Path) -> None:
    """REPLAY: the state is the log."""
    begin = beginning(Keeping(home=tmp_path))
    for _ in range(2):
        conversations = begin("proxy-a", call(LONG))
        conversations.outgoing(call(LONG))
        assert conversations.session is not None
        assert conversations.session.name == "proxy-a"
        conversations.close()
    again = begin("proxy-a", call(LONG))
    again.outgoing(call([user("hello")]))
    assert again.session is not None
    again.close()


def test_what_is_only_looked_at_leaves_nothing_on_disk(tmp_path: Path) -> None:
    """`--observe`."""
    conversations = beginning(Keeping(home=tmp_path, is_durable=False))("proxy-a", call(LONG))
    going = conversations.outgoing(call(LONG))
    assert going is not None
    assert going.prepared is not None
    assert disk_store(tmp_path).names() == ()
    conversations.close()


def test_the_window_is_that_of_the_model_which_a_request_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """interface.md: the budget comes from the model named in each request."""
    (tmp_path / "foldline.toml").write_text('[models."small"]\nwindow = 4000\n')
    (tmp_path / "foldline.toml").touch()
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "foldline.toml"))
    conversations = beginning(Keeping(home=tmp_path))("proxy-b", call([user("a")]))
    messages = [user("rule"), assistant("ok"), user(long("w", 3_000)), assistant("ok"), user("go on")]
    assert conversations.outgoing(call(messages)) is not None
    assert conversations.session is None
    going = conversations.outgoing(call(messages, model="small"))
    assert going is not None
    assert going.messages is not None
    conversations.close()


def test_a_window_that_is_named_goes_before_the_models(tmp_path: Path) -> None:
    """`--window`: for a server whose window is smaller than the model's."""
    conversations = beginning(Keeping(home=tmp_path, window=4_000))("proxy-c", call([user("a")]))
    messages = [user("rule"), assistant("ok"), user(long("w", 3_000)), assistant("ok"), user("go on")]
    going = conversations.outgoing(call(messages))
    assert going is not None
    assert going.messages is not None
    assert going.prepared is not None
    assert going.prepared.tokens.tokens < 4_000
    conversations.close()
