"""What opens a client's sessions: by name below a home, without one in memory, without its secrets."""

from __future__ import annotations

from pathlib import Path

from foldline.clients.opening import opening
from foldline.home import disk_store
from foldline.session.hosting import Host
from tests.clients.lists import call, user

SECRET = "sk-ant-api03-" + "a1B2" * 22 + "-abcdefAA"


def test_a_name_is_a_session_on_disk_and_none_is_one_in_memory(tmp_path: Path) -> None:
    """JRN: durable where it has a name; its secrets are taken out before anything is written."""
    opened = opening("balanced", home=tmp_path, model=None, host=Host())
    asked = call([user("a")])
    with opened("s", asked) as session:
        session.user(f"my key is {SECRET}")
        assert (session.format, session.model) == ("openai-chat", "gpt-4o")
    with opened("", asked) as session:
        session.user("b")
    assert disk_store(tmp_path).names() == ("s",)
    assert SECRET not in (tmp_path / "sessions/s/log.jsonl").read_text()
