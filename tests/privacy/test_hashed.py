"""A session without content on disk: it works while it lives, leaves events with hashes, and cannot be resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

import foldline
from foldline.core.errors import InvalidOption
from foldline.privacy.hashed import is_hashed
from foldline.stores.disk import DiskStore

WORD = "swordfish"
CALL = {"type": "tool_use", "id": "t1", "name": "run", "input": {"cmd": WORD}}


def bytes_of(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_what_was_said_is_nowhere_on_disk_and_what_happened_is(tmp_path: Path) -> None:
    """JRN-4: the five kinds of events; contents, parameters and the words of errors as hashes or not at all."""
    with foldline.open("s", home=tmp_path, format="anthropic", content="hashed") as session:
        session.user(f"say {WORD}")
        session.prepare(system=f"be {WORD}")
        session.record(
            {"role": "assistant", "content": [CALL], "usage": {"input_tokens": 9, "output_tokens": 1}}
        )
        session.tool_result("t1", f"{WORD} failed", is_error=True)
        request = session.prepare(system=f"be {WORD}")
        assert WORD in str(request.messages), "the view has the words"
        with session.fork("f") as fork:
            fork.user(f"more {WORD}")
            assert WORD in str(fork.prepare().messages)
    assert WORD.encode() not in bytes_of(tmp_path)
    store = DiskStore(tmp_path)
    kinds = [(entry.kind, entry.body.split(b",")[0]) for entry in store.read("s").entries()]
    assert kinds == [
        ("event", b'{"type":"USER_INPUT"'),
        ("event", b'{"type":"TOOL_CALL"'),
        ("event", b'{"type":"TOOL_RESULT"'),
    ]
    assert is_hashed(store.read("f"))


@pytest.mark.parametrize("content", ["full", "hashed"])
def test_it_is_not_resumed_and_says_why(tmp_path: Path, content: str) -> None:
    """Messages, views, checkpoints and addresses cannot be brought back from hashes."""
    with foldline.open("s", home=tmp_path, format="anthropic", content="hashed") as session:
        session.user("one")
    with pytest.raises(InvalidOption, match="cannot be brought back; `foldline events`"):
        foldline.open("s", home=tmp_path, content=content)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="cannot be brought back"):
        foldline.open("s", home=tmp_path)


def test_a_session_with_content_does_not_lose_it(tmp_path: Path) -> None:
    """`hashed` is for a new session: an old one's words are on disk already, and that is said."""
    with foldline.open("s", home=tmp_path, format="anthropic") as session:
        session.user("one")
    with pytest.raises(InvalidOption, match="on disk already"):
        foldline.open("s", home=tmp_path, content="hashed")
    with foldline.open("s", home=tmp_path) as session:
        assert len(session.messages) == 1
    with pytest.raises(InvalidOption, match="one of full, hashed"):
        foldline.open("t", home=tmp_path, content="none")  # type: ignore[arg-type]
