"""What is remembered of a view from one request to the next is what the whole view comes to, and costs what is new."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.core.message import Message, Opaque
from foldline.core.view import View, item_of, view_of
from foldline.log.state import Handoff
from foldline.session.fitting import Fitting, Joining, Seen
from foldline.session.following import Following
from foldline.session.session import Session
from foldline.session.setup import Setup
from foldline.testing.builders import assistant, call, result, system, user
from foldline.wire import strict
from foldline.wire.formats import codec
from tests import linear
from tests.properties.test_repair import ANYTHING
from tests.session.making import FORMATS, answer, opened
from tests.session.remembering import check_remembered, check_scope

SETUPS: dict[str, Setup] = {format: opened(format=format)._known.setup for format in FORMATS}
BLOCK = Message(
    role="assistant", parts=(Opaque(type="compaction", raw=b'{"type":"compaction","content":"x"}', slot=0),)
)


def remembered() -> tuple[Seen, Fitting, Joining]:
    return Seen(), Fitting(), Joining()


def grown(view: View, *messages: Message, setup: Setup = SETUPS["openai-chat"]) -> View:
    for message in messages:
        weights, overhead = setup.counter.weights(message)
        view = view.append(item_of(view.next_seq, message, weights=weights, overhead=overhead))
    return view


def talk(*numbers: int) -> list[Message]:
    """A round for each number, and a word of the user's behind it."""
    return [
        message
        for n in numbers
        for message in (assistant(f"step {n}", call("f", id=f"c{n}")), result(f"c{n}", "x"), user(f"on {n}"))
    ]


@settings(max_examples=settings().max_examples // 2)
@given(pieces=st.lists(ANYTHING, min_size=1, max_size=3), data=st.data())
def test_what_is_remembered_is_what_the_whole_comes_to(
    pieces: list[list[Message]], data: st.DataObject
) -> None:
    """Laws PAIR, ROLE, SAME; whatever arrives, in every format, while the view grows, goes back, branches or is edited, and a
    reminder stands in it."""
    messages = [message for piece in pieces for message in piece]
    for format, setup in SETUPS.items():
        known, view = remembered(), view_of(())
        earlier: list[View] = [view]
        handoff: Handoff | None = None
        for message in messages:
            view = grown(view, message, setup=setup)
            check_remembered(view, setup, remembered=known, handoff=handoff)
            earlier.append(view)
            match data.draw(st.integers(0, 19), label=format):
                case 0:
                    view = data.draw(st.sampled_from(earlier))
                case 1:
                    view = view_of(view.items()[1:], next_seq=view.next_seq)
                case 2:
                    handoff = Handoff(seq=1, offset=1, after=view.next_seq - 1, text="<note>")
                case _:
                    pass


@pytest.mark.parametrize("format", FORMATS)
def test_a_history_that_stays_broken_is_settled_all_the_same(format: str) -> None:
    """Law PAIR: a call that was interrupted long ago is repaired with every request, and not once more looked for."""
    setup, known = SETUPS[format], remembered()
    view = grown(view_of(()), user("go"), assistant(call("f", id="lost")), user("on"), setup=setup)
    counts = []
    for n in range(6):
        view = grown(view, *talk(n), setup=setup)
        counts.append(check_remembered(view, setup, remembered=known))
    assert counts == sorted(set(counts)), "all but the last round is settled"
    assert known[1].of(view, setup).repairs


def test_a_result_that_comes_late_is_put_in_its_round_and_settled_there() -> None:
    """Law PAIR, google/adk-python#7236: what was settled is repaired once more, as a whole."""
    setup, known = SETUPS["openai-chat"], remembered()
    view = grown(view_of(()), user("go"), assistant(call("f", id="slow")), user("on"), *talk(1, 2))
    check_remembered(view, setup, remembered=known)
    view = grown(view, assistant("so"), result("slow", "at last"))
    assert check_remembered(view, setup, remembered=known) == 0, "it reaches back"
    view = grown(view, user("good"), *talk(3, 4))
    assert check_remembered(view, setup, remembered=known) > 12


def test_what_stands_before_a_compaction_of_the_providers_service_is_not_sent() -> None:
    """Decision 0013: its newest block stands for all before it, however the view came to hold it."""
    setup, known = SETUPS["anthropic"], remembered()
    view = grown(view_of(()), user("go"), *talk(1, 2), setup=setup)
    check_remembered(view, setup, remembered=known)
    for n in (3, 4):
        view = grown(view, BLOCK, *talk(n), setup=setup)
        check_remembered(view, setup, remembered=known)
    assert len(known[0].standing) == 4


def test_a_system_message_in_the_middle_is_put_in_its_place_wherever_the_history_ends() -> None:
    """Anthropic takes one behind a user and before the assistant."""
    setup, known = SETUPS["anthropic"], remembered()
    view = grown(view_of(()), user("go"), *talk(1), setup=setup)
    for message in (assistant("so"), system("be brief"), *talk(2), system("now"), *talk(3, 4)):
        view = grown(view, message, setup=setup)
        check_remembered(view, setup, remembered=known)


# ── in a session ─────────────────────────────────────────────────────────────────────────────────────────────────


def long_session(messages: int, *, format: str = "openai-chat", lost: bool = False) -> Session:
    """In a window that has room for it."""
    session = opened(format=format, window=10**8)
    said = [user("go"), *([assistant(call("f", id="lost")), user("on")] if lost else [])]
    said += talk(*range(1, messages // 3))
    writer = codec(format)
    Following(session).take([writer.decode(strict.dump(writer.encode(message))) for message in said])
    session.prepare()
    return session


def turns(sessions: dict[int, Session], size: int, turn: int) -> Any:
    session = sessions[size]

    def work() -> None:
        for n in range(10):
            name = f"t{turn}_{n}"
            session.record(answer("step", (name, "f"), format=session.format, tokens=50))
            session.tool_result(name, "done")
            session.prepare()

    return work


@pytest.mark.parametrize("lost", [False, True], ids=["sound", "repaired"])
def test_a_turn_costs_what_is_new_in_it(lost: bool) -> None:
    """The promise of the README, "a few milliseconds": sixteen times the history, and the same cost; a history with a call that
    was interrupted too."""
    sessions = {size: long_session(size, lost=lost) for size in (300, 4_800)}
    work = partial(turns, sessions)
    told = linear.beside(partial(work, 4_800), partial(work, 300), most=2.0)
    assert not told.wrong, told.wrong
    check_scope(sessions[4_800])


@pytest.mark.parametrize("lost", [False, True], ids=["sound", "repaired"])
def test_a_turn_makes_as_many_calls_in_a_long_session_as_in_a_short_one(lost: bool) -> None:
    """The same, where no clock has a say: of functions, generators and methods alike."""
    sessions = {size: long_session(size, lost=lost) for size in (300, 2_400)}
    made: dict[int, int] = {}
    for size in sessions:
        profile = Profile()
        for turn in range(3):
            profile.runcall(turns(sessions, size, turn))
        made[size] = sum(one.callcount for one in profile.getstats())
    assert made[2_400] <= 1.02 * made[300], made


def test_a_request_that_was_prepared_stays_the_one_it_was() -> None:
    """It is put together when it is asked for, however far the session has gone by then."""
    session, other = long_session(30), long_session(30)
    early, expected = session.prepare(), other.prepare().data
    for n in range(4):
        session.record(answer("step", (f"t{n}", "f"), format=session.format))
        session.tool_result(f"t{n}", "done")
        session.prepare()
    session.compact(to=0.5)
    session.prepare()
    assert early.data == expected


def test_what_is_remembered_goes_with_what_is_taken_back() -> None:
    """Law REPLAY: undo, unfold, rollback, fork, another model and a cleared session are looked at anew."""
    session = long_session(90)
    report = session.compact(to=0.3)
    steps: list[Callable[[], object]] = [
        lambda: session.prepare(),
        lambda: session.unfold(report.covers.addresses[0]),
        lambda: session.compact(to=0.3),
        lambda: session.undo(),
        lambda: session.rollback(to=40),
        lambda: session.user("otherwise"),
        lambda: session.use("gpt-5"),
        lambda: session.clear(),
        lambda: session.user("anew"),
    ]
    for step in steps:
        step()
        check_scope(session)
    fork = session.fork("other", at=30)
    check_scope(fork)
    fork.prepare()
    check_scope(fork)
