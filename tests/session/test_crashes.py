"""D1 for sessions: in every state that a power cut may leave, a session opens and shows the view before the call that was
under way, or the view after it, and nothing between; and it can be worked with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foldline.core.errors import FoldlineError
from foldline.log.values import dumps, message_json
from foldline.session.conversation import Conversation
from foldline.session.session import Session
from foldline.stores.disk import DiskStore
from foldline.testing.crashes import MODELS, Model, check_crashes, crash_states
from foldline.testing.disk import Image, SimulatedDisk, copy, fails_at, nothing_fails
from tests.session.making import answer, opened, worked


class Watched:
    """Sessions on a simulated disk, and what each showed after each call that returned."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.disk = disk
        self.seen: list[dict[str, bytes]] = [{}]
        """View of each session by name, call by call."""
        self.before: Image | None = None
        """What was on disk for good before the calls that are watched."""

    @property
    def store(self) -> DiskStore:
        return DiskStore("/", fs=self.disk, clock=lambda: None)

    def did(self, *sessions: Session) -> None:
        """A call returned: this is what the sessions show now."""
        self.seen.append({**self.seen[-1], **{session.name: shown(session) for session in sessions}})
        self.disk.ack(len(self.seen) - 1)

    def kept(self, disk: SimulatedDisk, acked: int) -> None:
        """Every session that was made is there, and shows the view of then or of the next call."""
        store = DiskStore("/", fs=disk, clock=lambda: None)
        before, after = self.seen[acked], self.seen[min(acked + 1, len(self.seen) - 1)]
        assert set(before) <= set(store.names())
        for name in store.names():
            with opened(store, name) as session:
                view = shown(session)
                empty = b"" if name not in before else None
                assert view in (before.get(name), after.get(name), empty), f"{name} shows another view"
                session.user("go on")
                session.prepare()
                assert shown(session) != view


def shown(session: Conversation) -> bytes:
    """The view, as bytes."""
    items = session._view().view.items()
    return b"\n".join(dumps([item.seq, message_json(item.message)]) for item in items)


def talking(watched: Watched) -> None:
    """A user, an answer with a call, its result; opened again between."""
    session = opened(watched.store)
    watched.did(session)
    for number in range(2):
        session.user(f"question {number}")
        watched.did(session)
        session.record(answer("look", (f"t{number}", "read")))
        watched.did(session)
        session.tool_result(f"t{number}", "found it")
        watched.did(session)
        session.close()
        session = opened(watched.store)
    session.close()


def long_session(watched: Watched) -> Session:
    """A session that is worth compacting."""
    session = opened(watched.store, durability="turn")
    session.user("read everything, and use tabs only")
    worked(session, 12)
    session.user("and now?")
    session.prepare()
    session.close()
    session = opened(watched.store)
    watched.did(session)
    watched.seen, watched.before = watched.seen[1:], copy(watched.disk.image)
    watched.disk.trace.clear()
    return session


def compacting(watched: Watched) -> None:
    """A compaction, its undo, another one, a rollback."""
    session = long_session(watched)
    session.compact(to=0.5)
    watched.did(session)
    session.undo()
    watched.did(session)
    session.compact(to=0.4)
    watched.did(session)
    session.rollback(to=4)
    watched.did(session)
    session.close()


def forking(watched: Watched) -> None:
    """A fork of a compacted session, both gone on with."""
    session = long_session(watched)
    session.compact(to=0.5)
    watched.did(session)
    fork = session.fork("other")
    watched.did(session, fork)
    fork.user("this way")
    watched.did(fork)
    session.user("that way")
    watched.did(session)
    fork.close()
    session.close()


def archiving(watched: Watched) -> None:
    """A compaction whose history is packed away."""
    session = long_session(watched)
    session.compact(to=0.5)
    watched.did(session)
    session.close()
    journal = watched.store.write("s")
    assert journal.archive() == ""
    journal.close()
    session = opened(watched.store)
    session.user("go on")
    watched.did(session)
    session.undo()
    watched.did(session)
    session.close()


WORKLOADS: tuple[Callable[[Watched], None], ...] = (talking, compacting, forking, archiving)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.__name__)
def test_a_power_cut_leaves_the_view_before_a_call_or_after_it(
    workload: Callable[[Watched], None], model: Model
) -> None:
    """D1, law REPLAY, JRN-2: a compaction is wholly there or not at all."""
    disk = SimulatedDisk()
    watched = Watched(disk)
    workload(watched)
    assert check_crashes(disk, watched.kept, model=model, before=watched.before) > 20


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.__name__)
def test_a_second_power_cut_while_a_session_is_mended_leaves_one_of_the_two_views(
    workload: Callable[[Watched], None], model: Model
) -> None:
    """D2, JRN-2: an intent that is settled, a result that is committed, a torn end that is cut off: each may be interrupted
    itself, at every point, and the next to open it does it then."""
    watched, count = Watched(SimulatedDisk()), 0
    workload(watched)
    for crash in crash_states(watched.disk.trace, model=model, before=watched.before):
        before = copy(crash.image)
        again = SimulatedDisk(crash.image)
        store = DiskStore("/", fs=again, clock=lambda: None)
        for name in store.names():
            opened(store, name).close()
        if not any(step.kind in ("write", "truncate") for step in again.trace):
            continue  # nothing was to be mended
        for second in crash_states(again.trace, model=model, before=before):
            watched.kept(SimulatedDisk(second.image), crash.acked)
            count += 1
    assert count > 30


def test_a_compaction_that_is_there_without_its_commit_is_found() -> None:
    """D17: the harness sees a view that is neither."""
    disk = SimulatedDisk()
    watched = Watched(disk)
    compacting(watched)
    watched.seen[1] = watched.seen[0]
    with pytest.raises(AssertionError, match="another view"):
        check_crashes(disk, watched.kept, model="ext4", before=watched.before)


def test_every_error_below_a_compaction_leaves_memory_as_it_was() -> None:
    """JRN-2, D3: memory is replaced when the checkpoint is durable, and not before."""
    number, failed = 0, True
    while failed:
        disk = SimulatedDisk()
        session = long_session(Watched(disk))
        before = shown(session)
        number += 1
        disk.fault = fails_at(disk.calls + number, 5)
        failed = False
        try:
            session.compact(to=0.5)
        except FoldlineError:
            failed = True
            assert shown(session) == before
        disk.fault = nothing_fails
        again = opened(DiskStore("/", fs=disk.reboot(), clock=lambda: None))
        assert failed or shown(again) == shown(session)
        again.close()
    assert number > 6
