"""Taking one session out of an index that holds no text."""

from __future__ import annotations

import pytest

from foldline.recall.index import Index
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from tests.recall.logs import draft, written
from tests.recall.test_index import found


def many(store: MemoryStore, *names: str) -> None:
    for name in names:
        calls = {"type": "tool_use", "id": "t", "name": f"tool_{name}", "input": {"path": f"src/{name}.py"}}
        written(
            store, name,
            [draft({"role": "assistant", "content": [calls]})]
            + [user(f"alpha {name} number{count} 数据库") for count in range(50)],
        )  # fmt: skip


@pytest.mark.parametrize("gone", ["a", "b", "c"])
def test_a_session_is_taken_out_alone_and_the_others_are_not_read_anew(gone: str) -> None:
    """S18: what is left is what an index of the other sessions alone would find."""
    store, index, alone = MemoryStore(), Index(None), Index(None)
    many(store, "a", "b", "c")
    for name in "abc":
        index.update(name, store.read(name))
        if name != gone:
            alone.update(name, store.read(name))
    assert index.take_out(gone, store.read(gone))
    for query in ("alpha", f"alpha {gone}", "number7", "数据库", "py", f"tool_{gone}"):
        assert found(index, query) == found(alone, query), query
    for name in "abc":
        if name != gone:
            read: list[int] = []
            index.update(name, store.read(name), progress=read.append)
            assert read == []
    index.update(gone, store.read(gone))
    assert len(found(index, f"alpha {gone}")) == 50


def test_a_log_that_says_something_else_by_now_takes_everything_out() -> None:
    """S18: an index without text cannot be told words that nobody has any more."""
    store, index = MemoryStore(), Index(None)
    many(store, "a", "b")
    for name in "ab":
        index.update(name, store.read(name))
    old = next(one for one in store.read("a").entries() if b"number3 " in one.body)
    body = old.body.replace(b"alpha", b"gamma")
    store.rewrite("a", lambda one: body if one.seq == old.seq else None)
    assert index.take_out("a", store.read("a"))
    assert found(index, "alpha") == []
    assert index.size()[0] == 0


def test_a_fork_is_taken_out_with_its_own_messages_alone() -> None:
    """S18, JRN-9: its first message has the ordinal after its parent's last."""
    store, index = MemoryStore(), Index(None)
    entries = written(store, "a", [user("alpha"), user("beta")])
    cut = entries[1].offset + entries[1].size
    written(store, "b", [user("alpha too")], about={"parent": {"name": "a", "seq": 1, "byte": cut}})
    index.update("a", store.read("a"))
    index.update("b", store.read("b"), base=2)
    assert found(index, "alpha") == [("b", 2, 0), ("a", 0, 0)]
    assert index.take_out("b", store.read("b"))
    assert found(index, "alpha") == [("a", 0, 0)]
