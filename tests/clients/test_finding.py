"""Which conversation a list belongs to, of those that are known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldline.clients.chains import Chain, Fixed, ReadList
from foldline.clients.finding import found
from foldline.session.following import Following
from foldline.session.opening import open_in
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore
from tests.clients.lists import assistant, call, conversations, user
from tests.clients.runs import WINDOW, Run

TASK = [user("a"), assistant("b"), user("c"), assistant("d"), user("e"), assistant("f")]


def known(*messages: Any, used: int, born: int = 0, answers: int = 1, has_session: bool = False) -> Chain:
    """A conversation of these messages, of which so many were answered and did not come back yet."""
    kept = Following(open_in(MemoryStore(), "s", asked=SessionOptions())) if has_session else None
    links = ReadList(call(list(messages))).links(0)
    return Chain(links=links, used=used, born=born, answers=answers, kept=kept, steady=len(links) - 1)


def chosen(given: list[Any], *chains: Chain, takes_places: bool = False) -> tuple[int, int, str, int | None]:
    """The chain's number, how many messages it shares, how, and whose place is taken."""
    where = found(ReadList(call(given)), chains, takes_places=takes_places)
    into = None if where.into is None else chains.index(where.into)
    return chains.index(where.chain), where.count, where.how, into


def test_a_list_is_the_one_that_it_goes_on_though_another_has_more_of_it() -> None:
    """A conversation that was run a second time made a session for each request."""
    first = known(*TASK, used=6)
    own = known(*TASK[:2], used=7, born=7, has_session=True)
    assert chosen(TASK[:3], first, own) == (1, 2, "goes on", None)
    dropped = known(*TASK[:1], assistant("other"), used=7, born=7, has_session=True)
    assert chosen(TASK[:3], first, dropped) == (1, 1, "goes on", None), "its answer is none of the list"


def test_one_without_a_session_has_what_was_made_of_the_list_elsewhere() -> None:
    """Law PREFIX: it is a branch of the one that has most of the list, as any list that leaves it there, in its own place."""
    first = known(*TASK, used=6)
    own = known(*TASK[:2], used=7, born=7)
    assert chosen(TASK[:3], first, own) == (0, 3, "branch", 1)
    where = found(ReadList(call(TASK[:3])), [first, own]).branched(ReadList(call(TASK[:3])), now=8)
    assert (where.chain is own, own.parent is first, own.shared, own.born) == (True, True, 3, 7)
    assert [link.said for link in own.links] == [link.said for link in first.links[:3]]
    dropped = known(*TASK[:1], assistant("other"), used=7, born=7)
    read = ReadList(call(TASK[:3]))
    assert found(read, [first, dropped]).branched(read, now=8).chain.born == 8, "it begins anew"


def test_a_second_run_of_a_conversation_that_rests_takes_its_place() -> None:
    """One agent that begins again; a side question that goes no further does not."""
    first = known(*TASK, used=6)
    own = known(*TASK[:2], used=7, born=7)
    own.parent, own.shared = first, 1
    first.fixed = own.fixed = ReadList(call(TASK)).fixed
    assert chosen(TASK[:3], first, own, takes_places=True) == (1, 2, "goes on", 0)
    first.used = 8
    assert chosen(TASK[:3], first, own, takes_places=True) == (0, 3, "branch", 1), "it was asked since"
    side = known(*TASK[:1], assistant("a title"), used=9, born=9)
    side.parent, side.shared = first, 1
    assert chosen([*TASK[:3], user("Sum it up.")], first, side, takes_places=True) == (0, 3, "branch", 1)


def test_what_is_said_anew_is_found_beside_a_longer_conversation() -> None:
    """A second run of an agent that puts the time behind its newest message."""
    stamped = [*TASK[:2], user("c at noon"), assistant("d")]
    first = known(*TASK, used=6, has_session=True)
    own = known(*stamped, used=7, born=7, has_session=True)
    first.steady, own.steady = 5, 2
    own.fixed = first.fixed = Fixed()
    assert chosen(
        [*TASK[:4], user("e at noon")], first, known(*stamped, used=7, born=7, has_session=True)
    ) == (0, 4, "branch", None), "without a sign of it"
    assert chosen([*TASK[:4], user("e at noon")], first, own) == (1, 2, "said anew", None)


@pytest.mark.parametrize(
    ("used", "born", "second"),
    [((6, 9), (0, 7), 1), ((6, 9), (0, 5), 0), ((9, 6), (0, 5), 1)],
    ids=["the first run ended there", "two at once", "two at once, the other asked first"],
)
def test_of_two_runs_at_one_place_each_goes_on_its_own(
    used: tuple[int, int], born: tuple[int, int], second: int
) -> None:
    """One that rests since the other was begun has ended there; of two that go on side by side, the one that waited longest is next."""
    chains = [
        known(*TASK[:2], used=when, born=since, has_session=True)
        for when, since in zip(used, born, strict=True)
    ]
    assert chosen(TASK[:3], *chains) == (second, 2, "goes on", None)


def test_a_run_that_is_one_request_behind_another_stays_where_it_is() -> None:
    """Both would be gone on with: the one by the next request, the other by the same once more."""
    ahead = known(*TASK[:4], used=9, has_session=True)
    behind = known(*TASK[:2], used=8, born=5, has_session=True)
    assert chosen(TASK[:3], ahead, behind) == (1, 2, "goes on", None)
    rests = known(*TASK[:2], used=4, has_session=True)
    ahead.born = 5
    assert chosen(TASK[:3], ahead, rests) == (0, 3, "goes on", None), "a run that ended there is left alone"
    elsewhere = known(*TASK[:1], assistant("other"), used=8, born=5, has_session=True)
    assert chosen(TASK[:3], ahead, elsewhere) == (0, 3, "goes on", None), "it has another answer"
    without = known(*TASK[:2], used=8, born=5)
    assert chosen(TASK[:3], ahead, without) == (0, 3, "goes on", None), "and no session is begun for it"


TURNS = 7
RUNS = st.lists(
    st.tuples(st.none() | st.integers(1, TURNS - 1), st.booleans(), st.integers(2, TURNS)),
    min_size=1,
    max_size=3,
)
STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["turn"] * 12 + ["ask", "restart"])),
    min_size=4 * TURNS,
    max_size=4 * TURNS,
)


@given(is_proxy=st.booleans(), runs=RUNS, steps=STEPS, is_in_turn=st.booleans())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_list_that_goes_on_from_a_conversation_that_is_known_begins_no_session(
    is_proxy: bool, runs: list[tuple[int | None, bool, int]], steps: list[Any], is_in_turn: bool
) -> None:
    """Laws TAIL and PREFIX, requirement STO: any runs of one task, one after the other or mixed, with requests sent twice and
    restarts. What has a session is gone on with in it, and each run has one at most."""
    store = MemoryStore()
    client = conversations(store=store, window=WINDOW, is_proxy=is_proxy)
    others = [
        (Run(other_from=turn, way=f"way {n}", is_recorded=told), end)
        for n, (turn, told, end) in enumerate(runs)
    ]
    all_runs = [(Run(), TURNS), *others]
    restarts = 0
    for place, what in steps:
        going = [run for run, end in all_runs if run.turns < end]
        if not going:
            break
        run = going[0 if is_in_turn else place % len(going)]
        if what == "restart":
            client.close()
            client = conversations(store=store, window=WINDOW, is_proxy=is_proxy)
            restarts += 1
        read, before = ReadList(call(run.messages)), store.names()
        chains = (client._first, *client._branches)
        counts = [(read.common(chain), chain) for chain in chains if chain.kept is not None]
        has_session = any(count and count >= len(one.links) - one.answers for count, one in counts)
        if what == "ask":
            run.ask(client)
        else:
            run.turn(client)
        assert not has_session or store.names() == before
    client.close()
    assert len(store.names()) <= len(all_runs) + restarts
