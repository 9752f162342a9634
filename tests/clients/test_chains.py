"""A request's list beside what is known: how far it goes together, and where an answer stands."""

from __future__ import annotations

import pytest

from foldline.clients.chains import Chain, Link, ReadList, beginning_in, link_of
from foldline.session.following import Following
from foldline.session.opening import open_in
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore
from foldline.wire import strict
from foldline.wire.formats import codec
from tests.clients.lists import answer, assistant, call, user


def remembered(*messages: dict[str, str]) -> Chain:
    """What a log with these messages is known as."""
    session = open_in(MemoryStore(), "s", asked=SessionOptions(format="openai-chat", model="gpt-4o"))
    kept = Following(session)
    kept.take([codec("openai-chat").decode(message) for message in messages])
    chain = Chain()
    chain.remember(kept.kept())
    return chain


def test_what_a_log_ends_with_is_known_for_an_answer_and_what_was_asked_before() -> None:
    """Law REPLAY: after a restart the same question may come again, or be said anew."""
    chain = remembered(user("a"), assistant("b"), user("c"), user("d"), assistant("e"))
    assert (len(chain.links), chain.answers, chain.steady) == (5, 1, 2)
    assert chain.before_answer == chain.links[3].seq
    chain = remembered(user("a"), assistant("b"), user("c"))
    assert (chain.answers, chain.steady, chain.before_answer) == (0, 2, -1)
    assert (remembered().answers, remembered().steady) == (0, 0)


def test_a_list_is_compared_by_what_it_says_and_known_by_its_bytes_from_then_on() -> None:
    """Bytes first: what is the same is not decoded again."""
    chain = remembered(user("a"), assistant("b"))
    spelt = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    read = ReadList(call([spelt, assistant("b"), user("c")]))
    assert (len(read), read.common(chain)) == (3, 2)
    assert chain.links[0].look is read.looks[0]
    assert ReadList(call([user("x"), assistant("b")])).common(chain) == 0
    assert read.size > read.longest > 0


def test_an_answer_is_found_where_it_stands() -> None:
    """A client that says its newest message anew still sends back what was answered to it."""
    chain = remembered(user("a"), assistant("b"), user("c"), assistant(" d "))
    read = ReadList(call([user("a"), assistant("b"), user("c and the time"), assistant("d"), user("e")]))
    assert [read.answers_at(place, chain) for place in range(4)] == [False, False, False, True]


def test_answers_without_their_reasoning_are_known_of_a_log_and_then_by_their_bytes() -> None:
    """Law REPLAY: callers of Chat Completions drop `reasoning_content`; after a restart every answer of the log came back so, not
    the last alone. What a user said is held to the letter."""
    thought = {"role": "assistant", "content": "b", "reasoning_content": "hm"}
    chain = remembered(user("a"), thought, user("c"), thought, user("d"))
    given = [user("a"), assistant("b"), user("c"), assistant("b"), user("d"), user("e")]
    assert ReadList(call(given)).common(chain) == 5
    assert ReadList(call([user("a ")])).common(remembered(user("a"))) == 0


def test_the_beginning_of_an_answer_is_told_by_its_role() -> None:
    """A prefill comes back as one message with the answer."""
    told = {
        "openai-chat": {"role": "assistant", "content": "So"},
        "gemini": {"role": "model", "parts": [{"text": "So"}]},
    }
    for format, message in told.items():
        beginning = beginning_in(strict.dump(message), format)
        assert beginning is not None
        assert beginning.text == "So"
    for text in ("go on", "which model", "an assistant"):
        assert beginning_in(strict.dump(user(text)), "openai-chat") is None


def looked_up(*said: str, final: str) -> Chain:
    """What a log is known as whose model said so, each time with a call of recall, and then answered."""
    session = open_in(MemoryStore(), "s", asked=SessionOptions(format="openai-chat", model="gpt-4o"))
    kept = Following(session)
    kept.take([codec("openai-chat").decode(user("a"))])
    function = {"name": "recall", "arguments": '{"query": "a"}'}
    for n, text in enumerate(said):
        asked = {"id": f"c{n}", "type": "function", "function": function}
        kept.recall({**assistant(text), "tool_calls": [asked]}, is_delivered=True)
    [recorded] = kept.record(answer(final))
    [known] = [one for one in kept.kept() if one.message.role == "assistant"]
    assert link_of(recorded).merged == link_of(known).merged, "of the log and of the answer alike"
    chain = Chain()
    chain.remember(kept.kept())
    return chain


@pytest.mark.parametrize(
    ("told", "is_known"),
    [
        ("so it is", True),
        ("let me look\n\nhm\n\nso it is", True),
        ("let me lookhmso it is", True),
        ("hm so it is", True),
        ("let me look", False),
        ("let me look so it is", False),
        ("so it is not", False),
    ],
)
def test_an_answer_behind_look_ups_is_known_by_all_that_was_given_of_it(told: str, is_known: bool) -> None:
    """Law PREFIX: whole alone, with what was streamed before it, or (an attempt that broke off has its calls in the log too) with the
    last of it."""
    chain = looked_up("let me look", "hm", final="so it is")
    read = ReadList(call([user("a"), assistant(told), user("b")]))
    assert read.common(chain) == (2 if is_known else 1)
    assert chain.links[1].merged


def test_an_answer_behind_a_silent_look_up_is_itself() -> None:
    """Nothing was given before it: what is sent is the caller's own message."""
    [_, link] = looked_up("", final="so it is").links
    assert link.merged == frozenset()


def test_a_log_says_what_was_shown_for_a_list_that_its_own_began_with() -> None:
    """Law PREFIX: what was made later is none of it. Known by the last entry when the list was sent, else by the one before the next
    message."""
    first, second, last = (Link(seq=seq) for seq in (0, 4, 7))
    chain = Chain(links=[first, second, last])
    assert [chain.stood(chain.links[:count]) for count in range(4)] == [None, 3, 6, None]
    first.shown = 2
    assert chain.stood([first]) == 2
    assert chain.stood([Link(seq=9)]) is None
    branch = Chain()
    branch.branch_off(chain, 2)
    assert [(link.seq, link.shown) for link in branch.links] == [(0, -1), (4, -1)]
    assert (branch.parent, branch.shared, branch.answers) == (chain, 2, 0)
