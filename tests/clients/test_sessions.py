"""When a conversation gets a session, and under which name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from foldline.clients.calls import Call
from foldline.clients.chains import Chain, ReadList, Unreadable
from foldline.clients.digests import said
from foldline.clients.sessions import NAME_DIGITS, Sessions, Terms, taken
from foldline.core.errors import InvalidOption, SessionBusy
from foldline.core.message import Message
from foldline.presets import policy_of
from foldline.session.following import Following, Kept
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore
from tests.clients.lists import assistant, call, long, user


def terms(*, policy: str = "balanced", store: MemoryStore | None = None) -> Terms:
    store = store or MemoryStore()

    def opened(name: str, _: object) -> Session:
        return open_in(store, name, asked=SessionOptions(format="openai-chat", model="gpt-4o", policy=policy))

    return Terms(open=opened, policy=policy_of(policy, 128_000), names=store.names)


def chain_of(read: ReadList) -> Chain:
    return Chain(links=read.links(0))


def test_a_session_is_begun_where_a_reduction_cannot_be_ruled_out() -> None:
    """A token is at least a byte; what is always shortened begins with four thousand of them (BUD-6)."""
    sessions = Sessions(terms(policy="handoff"), name="main")
    assert not sessions.due.may_be(ReadList(call([user("hello")])))
    assert sessions.due.may_be(ReadList(call([user(long("w", 60_000))])))


@pytest.mark.parametrize(
    ("format", "part"),
    [
        ("anthropic", {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}),
        ("anthropic", {"type": "document", "source": {"type": "file", "file_id": "file_1"}}),
        ("openai-chat", {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}),
        ("openai-responses", {"type": "input_image", "image_url": "https://x.example/a.png"}),
        ("openai-responses", {"type": "input_file", "file_id": "file_1"}),
        ("gemini", {"fileData": {"fileUri": "https://x.example/a.pdf", "mimeType": "application/pdf"}}),
    ],
)
def test_what_is_only_named_weighs_more_than_its_name(format: str, part: dict[str, Any]) -> None:
    """TOK-1: a picture by its URL is some bytes and thousands of tokens; no size in bytes rules a reduction out then."""
    sessions = Sessions(terms(), name="main")
    listed = [{"role": "user", "parts" if format == "gemini" else "content": [part] * 40}]
    asked = Call(
        format=format, model="gpt-4o", body={}, messages=[json.dumps(one).encode() for one in listed]
    )
    assert sum(map(len, asked.messages)) < 8_000
    assert sessions.due.may_be(ReadList(asked))
    counted = ReadList(asked)
    assert counted.tokens(None) <= counted.size
    named_in_a_call = {
        "role": "user",
        "content": json.dumps({"url": "https://x.example", "n": "x" * 60}) * 40,
    }
    assert not sessions.due.may_be(ReadList(call([named_in_a_call])))


def test_conversations_that_begin_alike_have_names_of_their_own() -> None:
    """STO: one writer of a session; the second one is numbered, and the named session is nobody else's."""
    sessions = Sessions(terms(), name="main")
    read = ReadList(call([user("You are a reviewer.")]))
    made = [sessions.begun(chain_of(read), read, is_first=False) for _ in range(3)]
    mark = made[0].name
    assert mark == f"main.{said(read.message(0)).hex()[:NAME_DIGITS]}"
    assert [one.name for one in made] == [mark, f"{mark}.2", f"{mark}.3"]
    assert [one.places for one in made] == [[(0, 0, frozenset())]] * 3
    sessions.begun(chain_of(read), read, is_first=True)
    with pytest.raises(SessionBusy):
        sessions.begun(chain_of(read), read, is_first=True)


ASKED = [user("Refactor."), assistant("How?"), user("By file.")]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_branch_is_found_again_after_a_restart_in_whatever_order(order: Sequence[int]) -> None:
    """A proxy that is restarted goes on with the same bytes; no log is cut back for another branch's sake."""
    lists = [[*ASKED, *more] for more in ([], [assistant("ok"), user("a")], [assistant("ok"), user("b")])]
    store = MemoryStore()
    first = Sessions(terms(store=store), name="main")
    reads = [ReadList(call(one)) for one in lists]
    made = [first.begun(chain_of(read), read, is_first=False) for read in reads]
    names = [one.name for one in made]
    assert len(set(names)) == 3
    for one in made:
        one.kept.session.close()
    again = Sessions(terms(store=store), name="main")
    for place in order:
        found = again.begun(chain_of(reads[place]), reads[place], is_first=False)
        assert found.name == names[place]
        assert found.places == made[place].places
    assert sorted(store.names()) == sorted(names)


def test_one_task_given_again_and_again_has_a_session_each_time() -> None:
    """More often than names differ by a number of two digits; nobody is told that a session is busy."""
    store = MemoryStore()
    sessions = Sessions(terms(store=store), name="main")
    lists = [[user("Run the tests."), assistant(f"run {n}"), user("again")] for n in range(70)]
    names = set()
    for one in lists:
        read = ReadList(call(one))
        made = sessions.begun(chain_of(read), read, is_first=False)
        names.add(made.name)
        made.kept.session.close()
    assert len(names) == len(lists)


def test_what_no_log_takes_is_unreadable() -> None:
    """Its request passes as it came."""

    class Refusing(Following):
        def take(self, messages: Sequence[Message]) -> list[Kept]:
            raise InvalidOption("message", messages, why="it could not be read again")

    kept = Refusing(open_in(MemoryStore(), "s", asked=SessionOptions(format="openai-chat")))
    with pytest.raises(Unreadable, match="its messages cannot be kept here"):
        taken(kept, [])
