"""Which conversation a request belongs to, and what becomes of one that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foldline.clients.calls import Call
from foldline.clients.following import Conversations
from foldline.clients.own_summaries import CUES, WHY
from foldline.core.errors import SessionCorrupt, SessionFailed
from foldline.home import disk_store
from foldline.proxy.beginning import Keeping, beginning
from foldline.proxy.desk import Desk, Going, Passed
from foldline.proxy.limits import ROOTS_MAX
from foldline.wire import strict
from tests.clients.lists import answer, assistant, call, long, user


def names(desk: Desk, *lists: list[Any]) -> list[str]:
    found = []
    for messages in lists:
        going = desk.outgoing(call(messages))
        assert isinstance(going, Going)
        desk.done(going)
        found.append(going.name)
    return found


def test_a_conversation_is_known_by_what_is_said_up_to_its_first_answer(tmp_path: Path) -> None:
    """Sub-agents and parallel conversations behind one key never mix, though all begin with the same words."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    begun = [{"role": "user", "content": "<environment>"}, user("a")]
    spelt = [{"role": "user", "content": [{"type": "text", "text": "<environment>"}]}, user("a")]
    trimmed = {"role": "assistant", "content": [{"type": "text", "text": " b "}]}
    one, later, same, other, unanswered = names(
        desk,
        [*begun, assistant("b"), user("c")],
        [*begun, assistant("b"), user("c"), assistant("d"), user("e")],
        [*spelt, trimmed, user("c")],
        [*begun, assistant("another"), user("c")],
        begun,
    )
    assert one == later == same
    assert len({one, other, unanswered}) == 3
    assert one.startswith("proxy-")
    desk.close()


def test_a_short_conversation_that_is_known_waits_for_nothing(tmp_path: Path) -> None:
    """It adds a few milliseconds. Only what waits for a disk, a model or another request of it takes a thread."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    said = [user("hello"), assistant("hi"), user("there")]
    assert desk.at_once(call(said)) is None, "whether it has a session is the disk's to say"
    names(desk, said)
    going = desk.at_once(call([*said, assistant("ok"), user("go on")]))
    assert isinstance(going, Going)
    assert going.body is None
    desk.done(going)
    longer = [*said, assistant("ok"), user(long("w", 200_000))]
    assert desk.at_once(call(longer)) is None, "a session is to be begun"
    names(desk, longer)
    assert desk.at_once(call([*longer, assistant("ok"), user("go on")])) is None, "it has one"
    assert isinstance(desk.at_once(call(said, previous_response_id="r")), Passed)
    assert [root.on_their_way for root in desk._roots.values()] == [0], "nothing was left on its way"
    desk.close()


def test_a_short_request_whose_conversation_is_busy_does_not_wait_for_it(tmp_path: Path) -> None:
    """Who has the turn may be waiting for the event loop. Nothing is done for it, so it needs no turn; nor is its answer taken in."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    said = [user("hello"), assistant("hi"), user("there")]
    names(desk, said)
    [root] = desk._roots.values()
    known, root.conversations._first.waiting = [*root.conversations._first.links], []
    going = desk.at_once(call([*said, assistant("ok"), user("go on")]))
    assert isinstance(going, Going)
    heard = desk.answer(going, is_stream=False)
    heard.take(strict.dump(answer("gone on")))
    assert (desk.end(heard), root.conversations._first.links) == ("", known)
    desk.done(going)
    desk.close()


def test_the_list_that_is_due_says_what_came_before_it(tmp_path: Path) -> None:
    """Short requests are not followed; whichever of a root is due first has the session of its name, the next one a session of its own."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    begun = [user("hello"), assistant("hi"), user("there")]
    [name] = names(desk, begun)
    grown = {word: [*begun, assistant(word), user(long(word, 200_000))] for word in ("one", "two")}
    for word in grown:
        for _ in range(2):
            going = desk.at_once(call([*begun, assistant(word), user("go on")]))
            assert isinstance(going, Going)
            assert (going.body, going.out.ticket.is_apart) == (None, True)
            desk.done(going)
    names(desk, grown["two"], grown["one"])
    [first, second] = sorted(disk_store(tmp_path).names())
    assert (first, second.rpartition(".")[0]) == (name, name)
    desk.close()


def test_short_conversations_leave_nothing_on_disk(tmp_path: Path) -> None:
    """Titles and probes cost nothing; a session begins where a reduction may be due."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    [short] = names(desk, [user("hello"), assistant("hi"), user("there")])
    assert disk_store(tmp_path).names() == ()
    longer = [user("hello"), assistant("hi"), user("there"), assistant("ok"), user(long("w", 200_000))]
    [name] = names(desk, longer)
    assert name == short
    assert disk_store(tmp_path).names() == (name,)
    desk.close()


def test_what_is_none_of_ours_is_passed_and_said_why(tmp_path: Path) -> None:
    """Native compaction and server-held history."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    passed = desk.outgoing(call([user("a")], previous_response_id="r"))
    assert passed == Passed(why="the provider keeps the history (previous_response_id)")
    assert len(desk) == 0
    desk.close()


def test_a_failure_is_a_value_and_the_next_request_begins_anew(tmp_path: Path) -> None:
    """Fail open: its log is broken; once that is mended the conversation is kept again."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    messages = [user("hello"), assistant("hi"), user(long("w", 200_000))]
    [name] = names(desk, messages)
    desk.close()
    log = tmp_path / "sessions" / name / "log.jsonl"
    sound = log.read_bytes()
    log.write_bytes(b'{"format":"something else"}\n' + sound)
    desk = Desk(beginning(Keeping(home=tmp_path)))
    passed = desk.outgoing(call(messages))
    assert isinstance(passed, Passed)
    assert passed.is_fault
    assert SessionCorrupt.__name__ in passed.why or name in passed.why
    log.write_bytes(sound)
    assert names(desk, messages) == [name]
    desk.close()


def test_two_proxies_on_one_home_keep_the_same_conversation_each_for_itself(tmp_path: Path) -> None:
    """STO: one writer of a session; the second proxy has one under a number, and finds it again."""
    messages = [user("hello"), assistant("hi"), user(long("w", 200_000))]
    one, two = Desk(beginning(Keeping(home=tmp_path))), Desk(beginning(Keeping(home=tmp_path)))
    [name] = names(one, messages)
    longer = [*messages, assistant("done"), user("go on")]
    assert names(two, longer) == [name]
    assert disk_store(tmp_path).names() == (name, f"{name}.2")
    two.close()
    two = Desk(beginning(Keeping(home=tmp_path)))
    assert names(two, [*longer, assistant("so"), user("and on")]) == [name]
    assert disk_store(tmp_path).names() == (name, f"{name}.2")
    one.close()
    two.close()


def test_an_answer_is_taken_in_and_a_late_one_is_not(tmp_path: Path) -> None:
    """Of two requests of one conversation the last one counts."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    messages = [user("hello"), assistant("hi"), user(long("w", 150_000))]
    going = desk.outgoing(call(messages))
    assert isinstance(going, Going)
    heard = desk.answer(going, is_stream=False)
    heard.take(
        b'{"id":"r","choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}'
    )
    assert desk.end(heard) == ""
    assert going.conversations.session is not None
    assert going.conversations.session.size == 4
    going.conversations.close()
    late = desk.answer(going, is_stream=False)
    late.take(
        b'{"id":"r","choices":[{"message":{"role":"assistant","content":"late"},"finish_reason":"stop"}]}'
    )
    desk.end(late)
    assert answer("x")["choices"]
    desk.done(going)
    desk.close()


def test_conversations_that_rest_are_forgotten_and_those_on_their_way_are_not() -> None:
    """Memory has an end."""
    begun: list[str] = []

    def begin(name: str, call: Call) -> Conversations:
        begun.append(name)
        return beginning(Keeping(is_durable=False))("", call)

    desk = Desk(begin)
    on_its_way = desk.outgoing(call([user("stays")]))
    assert isinstance(on_its_way, Going)
    for n in range(ROOTS_MAX + 10):
        names(desk, [user(f"n {n}")])
    assert len(desk) == ROOTS_MAX
    names(desk, [user("stays")])
    assert begun.count(on_its_way.name) == 1
    names(desk, [user("n 0")])
    assert len(begun) == ROOTS_MAX + 12
    desk.close()


def test_an_agents_own_summary_is_passed_and_counted_by_why(tmp_path: Path) -> None:
    """Agents that compact themselves are recognised and passed on whole."""
    desk = Desk(beginning(Keeping(home=tmp_path)))
    going = desk.outgoing(call([user("a"), assistant("b"), user(f"{CUES[1]}. Create a handoff summary.")]))
    assert isinstance(going, Going)
    assert (going.body, going.out.why, going.conversations.passed) == (None, WHY, {WHY: 1})
    assert going.conversations.session is None
    assert desk.refused(going, 429, body={"error": {"message": "slow down"}}) is None
    desk.done(going)
    assert desk.counted(call([user("a")])) is None
    assert desk.counted(call([user("unknown")])) is None
    desk.close()


class Failing:
    """Conversations whose second request meets a fault of ours."""

    def __init__(self, kept: Conversations) -> None:
        self.kept, self._asked = kept, 0

    @property
    def session(self) -> Any:
        return self.kept.session

    def told(self, call: Call) -> Any:
        self._asked += 1
        if self._asked == 2:
            raise ZeroDivisionError("a fault of these tests")
        return self.kept.told(call)

    told_at_once = told

    def close(self) -> None:
        self.kept.close()


def test_a_failure_leaves_what_is_on_its_way_beside_it(tmp_path: Path) -> None:
    """The log is read anew once nothing else of the conversation is on its way."""
    begun: list[Any] = []

    def begin(name: str, call: Call) -> Any:
        begun.append(Failing(beginning(Keeping(home=tmp_path))(name, call)))
        return begun[-1]

    desk = Desk(begin)
    messages = [user("hello"), assistant("hi"), user(long("w", 200_000))]
    first = desk.outgoing(call(messages))
    assert isinstance(first, Going)
    session = begun[0].session
    second = desk.outgoing(call(messages))
    assert isinstance(second, Passed)
    assert second.is_fault
    assert session.size == len(messages)
    desk.done(first)
    with pytest.raises(SessionFailed):
        session.user("closed")
    names(desk, messages)
    assert len(begun) == 2
    desk.close()
