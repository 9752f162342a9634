"""A session that is compacted by a model: asked with the lock free, landed whole or not at all, and told of."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from foldline.core.errors import CheckpointFailed, InvalidOption, SessionFailed
from foldline.engine.policy import Line
from foldline.hooks.hooks import Hook, Hooks
from foldline.session.hosting import Host, Listener
from foldline.session.outside import Restoring, restored_for
from foldline.session.session import Session
from foldline.stores.memory import MemoryJournal, MemoryStore
from foldline.testing.completers import Deltas, ScriptedCompleter
from foldline.wire.completion import CompletionRequest
from tests.engine.scripted import Asking, asking_tier, folding, tier
from tests.judges.panel import violations
from tests.session.making import answer, opened
from tests.session.modelling import Heard, asks, blind, body_of, due, kinds
from tests.session.test_conversation import narrow

SUMMARY = "The files were read."


def texts(session: Session) -> list[str]:
    """What the view says."""
    return [item.message.text for item in session._view().view]


def data_of(store: MemoryStore, name: str = "s") -> bytes:
    """The bytes of a session's log."""
    return bytes(store._logs[name].data)


def test_a_request_over_the_line_waits_for_the_models_summary() -> None:
    """CMP-1: the compaction is finished first, the original request never sent; intent, result and commit are in the log."""
    completer = ScriptedCompleter(SUMMARY)
    heard = Heard()
    session = due(completer=completer, listener=heard.listener())
    before = session.size
    request = session.prepare(system="be kind")
    assert request.report.outcome == "compacted"
    assert session.size < before
    assert SUMMARY in request.data.decode()
    assert violations(request.body, format="anthropic") == []
    assert kinds(session)[-3:] == ["begin", "compaction", "checkpoint"]
    [asked] = completer.requests
    assert asked.system == "be kind"
    assert asked.is_fork
    assert (heard[0], heard[1]) == (True, False)
    [block] = heard.blocks
    assert SUMMARY in block.text
    assert block.message is not None
    assert block.message["role"] == "user"


def test_the_fork_extends_the_live_prefix_of_the_conversation() -> None:
    """CMP-2: the very messages of the request before it, with system and tools as they were."""
    completer = ScriptedCompleter(SUMMARY)
    session = narrow(opened(policy=asks(), host=due(completer=completer)._known.host))
    session.user("read it all")
    tools = [{"name": "read", "input_schema": {}}]
    for number in range(8):
        request = session.prepare("be kind", tools)
        tokens = 2_500 if number == 7 else 100
        session.record(answer(f"look {number}", (f"t{number}", "read"), tokens=tokens))
        session.tool_result(f"t{number}", "line " * 100)
    session.prepare()
    asked = completer.requests[-1]
    assert asked.messages[: len(request.messages)] == request.messages
    assert (asked.system, asked.tools) == (request.system, request.tools)


def test_the_async_twin_awaits_an_async_completer_and_leaves_the_loop_free() -> None:
    """Interface: `aprepare` and `acompact` are real; the lock is free while the model writes."""

    async def talk() -> None:
        begun, done = asyncio.Event(), asyncio.Event()

        async def completer(request: CompletionRequest) -> str:
            begun.set()
            await done.wait()
            return SUMMARY

        session = due(completer=completer)
        preparing = asyncio.create_task(session.aprepare())
        await begun.wait()
        await session.auser("one more thing")
        done.set()
        request = await preparing
        assert request.report.outcome == "compacted"
        assert texts(session)[-1] == "one more thing"

    asyncio.run(talk())


def test_a_sync_call_waits_for_an_async_completer() -> None:
    """Interface: a completer over an async client serves a session that is used with sync calls too, each time in the same
    event loop, to which its connections belong."""
    loops = set[int]()

    async def completer(request: CompletionRequest) -> str:
        loops.add(id(asyncio.get_running_loop()))
        return SUMMARY

    for _ in range(3):
        session = due(completer=completer)
        assert SUMMARY in session.prepare().data.decode()
        background = due(completer=completer, policy=asks(threshold=Line(percent=99, of="window")))
        assert background.compact_in_background()
        ended(background)
        assert SUMMARY in background.prepare().data.decode()
    assert len(loops) == 1


def test_a_sync_call_that_would_hold_up_its_own_event_loop_says_which_call_to_make() -> None:
    """Errors say what to do next; at the first call, not only where the model is asked; nothing is left half done."""

    async def completer(request: CompletionRequest) -> str:
        return SUMMARY

    async def talk() -> None:
        calm = narrow(opened(policy=asks(), host=Host(completer=completer)), 100_000)
        calm.user("hello")
        with pytest.raises(InvalidOption, match="twin"):
            calm.prepare()
        assert (await calm.aprepare()).messages
        # what cannot be known to await before it is called
        session = due(completer=ScriptedCompleter(SUMMARY, is_async=True))
        before = texts(session)
        with pytest.raises(InvalidOption, match="twin"):
            session.prepare()
        assert texts(session) == before
        assert session._known.work is None
        assert body_of(session, "settle")["outcome"] == "abandoned"
        assert SUMMARY in (await session.aprepare()).data.decode()

    asyncio.run(talk())


def test_in_an_event_loop_a_background_compaction_asks_an_async_client_there() -> None:
    """A client's connections belong to the loop in which the conversation uses it."""
    loops = set[int]()

    async def completer(request: CompletionRequest) -> str:
        loops.add(id(asyncio.get_running_loop()))
        return SUMMARY

    async def talk() -> None:
        session = due(completer=completer)
        assert session.compact_in_background()
        await session._known.task
        assert SUMMARY in (await session.aprepare()).data.decode()
        assert loops == {id(asyncio.get_running_loop())}

    asyncio.run(talk())


@pytest.mark.parametrize("words", ["Event loop is closed", "<Event> is bound to a different event loop"])
def test_a_client_of_another_event_loop_is_named_and_no_failure_of_the_model(words: str) -> None:
    """CMP-14: what the program did wrong is not the network's fault, and does not turn the model off."""

    def completer(request: CompletionRequest) -> str:
        try:
            raise RuntimeError(words)
        except RuntimeError as error:
            raise ConnectionError("Connection error.") from error

    session = due(completer=completer)
    with pytest.raises(InvalidOption, match="another event loop"):
        session.prepare()
    assert session._keeper.state.failures == {}
    assert body_of(session, "settle")["outcome"] == "abandoned"


def test_what_arrives_while_the_summary_is_written_stands_behind_it_in_order_exactly_once() -> None:
    """openclaw/openclaw#35522, BaranziniLab/biorouter#51: kept, in order; law REPLAY holds."""
    store = MemoryStore()
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        for number in range(30):
            held[0].user(f"URGENT {number}")
        return SUMMARY

    session = due(store, completer=ScriptedCompleter(meanwhile))
    held.append(session)
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert texts(session)[-30:] == [f"URGENT {number}" for number in range(30)]
    assert any("30 messages came meanwhile" in note for note in request.report.notes)
    live = texts(session)
    session.close()
    again = opened(store, policy=asks())
    assert texts(again) == live


def test_a_compaction_whose_messages_are_gone_is_given_up_and_says_so() -> None:
    """JRN-10: only where every consumed message is still there as it was."""
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        keeper = held[0]._keeper
        keeper.edit(scope="", edits=folding(3, 5).edits(keeper.state.root.view), report={})
        return SUMMARY

    heard = Heard()
    session = due(completer=ScriptedCompleter(meanwhile), listener=heard.listener())
    held.append(session)
    request = session.prepare()
    assert request.report.outcome == "failed"
    assert "given up" in (request.report.reason or "")
    assert SUMMARY not in request.data.decode()
    assert body_of(session, "settle")["outcome"] == "abandoned"
    assert [block.is_error for block in heard.blocks] == [True]
    session._known.host = due(completer=ScriptedCompleter(SUMMARY))._known.host
    assert session.compact(to=0.9).outcome == "compacted"
    assert any(SUMMARY in text for text in texts(session))


def test_what_arrives_while_a_model_is_awaited_stands_behind_its_summary_in_order_exactly_once() -> None:
    """openclaw/openclaw#35522, BaranziniLab/biorouter#51, awaited: thirty messages come from other tasks; law REPLAY holds."""

    async def talk() -> None:
        begun, done = asyncio.Event(), asyncio.Event()

        async def completer(request: CompletionRequest) -> str:
            begun.set()
            await done.wait()
            return SUMMARY

        store = MemoryStore()
        session = due(store, completer=completer)
        preparing = asyncio.create_task(session.aprepare())
        await begun.wait()
        for number in range(30):
            await session.auser(f"URGENT {number}")
        done.set()
        request = await preparing
        assert request.report.outcome == "compacted"
        assert any("30 messages came meanwhile" in note for note in request.report.notes)
        live = texts(session)
        assert live[-30:] == [f"URGENT {number}" for number in range(30)]
        session.close()
        assert texts(opened(store, policy=asks())) == live

    asyncio.run(talk())


APPEND = MemoryJournal.append
TURNS: tuple[Callable[[Session], object], ...] = (
    lambda session: session.rollback(to=session.seq - 4),
    lambda session: session.clear(),
    lambda session: session.close(),
)


@pytest.mark.parametrize("turn", TURNS, ids=["rollback", "clear", "close"])
@pytest.mark.parametrize("failing", [False, True], ids=["well", "failing"])
def test_a_session_that_changed_meanwhile_gets_nothing_of_it(
    turn: Callable[[Session], object], *, failing: bool
) -> None:
    """JRN-10 and JRN-17: no summary, no error block, no hook, in any session; the state falls back to idle, and it may be
    compacted again."""
    held: list[Session] = []
    heard = Heard()

    def meanwhile(request: CompletionRequest) -> str:
        turn(held[0])
        if failing:
            raise RuntimeError("the provider is down")
        return SUMMARY

    store = MemoryStore()
    session = due(store, completer=ScriptedCompleter(meanwhile), listener=heard.listener())
    held.append(session)
    try:
        session.compact()
    except SessionFailed:
        assert session._keeper.is_closed
    assert heard == [True, False]
    assert session._known.work is None
    again = session
    if session._keeper.is_closed:
        again = narrow(opened(store, policy=asks()))
    assert SUMMARY not in "".join(texts(again))
    assert "compaction" not in kinds(again)
    assert again._keeper.state.open_begin is None
    if turn is not TURNS[1]:
        again._known.host = due(completer=ScriptedCompleter(SUMMARY))._known.host
        assert again.compact().outcome == "compacted"


@pytest.mark.parametrize("turn", TURNS, ids=["rollback", "clear", "close"])
@pytest.mark.parametrize("failing", [False, True], ids=["well", "failing"])
def test_a_session_that_changed_while_its_model_was_awaited_gets_nothing_of_it(
    turn: Callable[[Session], object], *, failing: bool
) -> None:
    """JRN-10 and JRN-17, awaited: the turn comes from another task of the loop."""

    async def talk() -> None:
        begun, done = asyncio.Event(), asyncio.Event()

        async def completer(request: CompletionRequest) -> str:
            begun.set()
            await done.wait()
            if failing:
                raise RuntimeError("the provider is down")
            return SUMMARY

        store, heard = MemoryStore(), Heard()
        session = due(store, completer=completer, listener=heard.listener())
        compacting = asyncio.create_task(session.acompact())
        await begun.wait()
        await asyncio.to_thread(turn, session)
        done.set()
        with contextlib.suppress(SessionFailed):
            await compacting
        assert heard == [True, False]
        assert session._known.work is None
        again = narrow(opened(store, policy=asks())) if session._keeper.is_closed else session
        assert SUMMARY not in "".join(texts(again))
        assert "compaction" not in kinds(again)
        assert again._keeper.state.open_begin is None

    asyncio.run(talk())


def test_a_session_that_changed_between_two_questions_is_asked_about_no_more() -> None:
    """JRN-10: a summary that takes several requests ends with the first one after the change."""
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        held[0].rollback(to=0)
        return ""

    completer = ScriptedCompleter(meanwhile)
    more = asking_tier(Asking(1, 13, name="second"))
    session = due(completer=completer, policy=asks(more))
    held.append(session)
    assert session.prepare().report.outcome == "failed"
    assert len(completer.requests) == 1
    assert session.size == 1
    assert session._known.work is None


def test_an_undo_meanwhile_gives_the_next_compaction_up() -> None:
    """JRN-10: what was planned for another view is not written into this one."""
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        held[0].undo()
        return SUMMARY

    session = due(completer=ScriptedCompleter(SUMMARY, meanwhile), policy=asks(end=7))
    held.append(session)
    whole = texts(session)
    session.compact()
    session.compact()
    assert texts(session) == whole


def test_a_fork_that_is_switched_to_meanwhile_is_left_alone() -> None:
    """JRN-18: the summary goes to the session that began; the fork has its own view."""
    store = MemoryStore()
    forks: list[Session] = []
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        forks.append(held[0].fork("f"))
        return SUMMARY

    session = due(store, completer=ScriptedCompleter(meanwhile))
    held.append(session)
    session.prepare()
    assert SUMMARY in "".join(texts(session))
    assert SUMMARY not in "".join(texts(forks[0]))
    assert forks[0]._keeper.state.open_begin is None


def test_a_second_compaction_while_one_runs_is_skipped() -> None:
    """CMP-34 and odysseus-dev/odysseus#2654: one runs, the other says so; CMP-5: a completer that speaks to its session
    neither recurses nor waits for itself."""
    reports: list[Any] = []
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        thread = threading.Thread(target=lambda: reports.append(held[0].compact()))
        thread.start()
        thread.join()
        reports.append(held[0].compact())
        reports.append(held[0].prepare().report)
        return SUMMARY

    completer = ScriptedCompleter(meanwhile)
    session = due(completer=completer)
    held.append(session)
    assert session.compact().outcome == "compacted"
    assert [report.outcome for report in reports] == ["unchanged"] * 3
    assert "another compaction" in reports[0].reason
    assert len(completer.requests) == 1


def test_a_request_of_another_thread_waits_for_the_compaction_it_needs() -> None:
    """CMP-1: from the threshold on the original request is never sent, whoever asks for it."""
    begun, let_go = threading.Event(), threading.Event()

    def slow(request: CompletionRequest) -> str:
        begun.set()
        let_go.wait(10)
        return SUMMARY

    completer = ScriptedCompleter(slow)
    session = due(completer=completer)
    made: list[bytes] = []
    threads = [threading.Thread(target=lambda: made.append(session.prepare().data)) for _ in range(3)]
    threads[0].start()
    begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    let_go.set()
    for thread in threads:
        thread.join()
    assert len(completer.requests) == 1
    assert len(set(made)) == 1
    assert SUMMARY in made[0].decode()


def test_by_hand_is_ignored_while_the_model_answers() -> None:
    """CMP-33: the answer is not aborted, history is unchanged; afterwards it works."""
    completer = ScriptedCompleter(SUMMARY)
    session = due(completer=completer, policy=asks(threshold=asks().target))
    session._known.setup = session._known.setup
    before = texts(session)
    with session.answering():
        report = session.compact()
        assert (report.outcome, completer.requests) == ("unchanged", [])
        assert "answering" in (report.reason or "")
    assert texts(session) == before
    assert session.compact().outcome == "compacted"


@pytest.mark.parametrize("abort", [KeyboardInterrupt(), SystemExit()], ids=["interrupt", "exit"])
def test_an_abort_while_the_model_writes_leaves_everything_as_it_was(abort: BaseException) -> None:
    """CMP-21 and NousResearch/hermes-agent#79391: no failure is counted; the log before is a prefix of the log after."""
    store = MemoryStore()
    heard = Heard()
    session = due(store, completer=ScriptedCompleter(Deltas(("The fi",), abort)), listener=heard.listener())
    before, log = texts(session), data_of(store)
    with pytest.raises(type(abort)):
        session.prepare()
    assert texts(session) == before
    assert data_of(store).startswith(log)
    assert kinds(session)[-2:] == ["begin", "settle"]
    assert session._keeper.state.failures == {}
    assert heard == [True, "The fi", False]
    session.user("what is 2+2?")
    session._known.host = due(completer=ScriptedCompleter(SUMMARY))._known.host
    assert session.prepare().report.outcome == "compacted"


@pytest.mark.parametrize("when", ["at once", "begun", "asked", "written", "landed"])
def test_a_cancelled_task_gives_up_wherever_it_is_cancelled(when: str) -> None:
    """D11: before it began, while it plans, while the model writes, while it lands and behind that: nothing is half done, no
    failure is counted, and the next one works."""

    async def talk() -> None:
        loop = asyncio.get_running_loop()
        armed = [True]

        def cancel(now: str) -> None:
            if now == when and armed[0]:
                loop.call_soon_threadsafe(task.cancel)

        async def completer(request: CompletionRequest) -> str:
            cancel("asked")
            await asyncio.to_thread(lambda: None)
            return SUMMARY

        listener = Listener(
            on_state=lambda is_compacting: cancel("begun" if is_compacting else "written"),
            on_block=lambda block: cancel("landed"),
        )
        store = MemoryStore()
        session = due(store, completer=completer, listener=listener)
        before, log = texts(session), data_of(store)
        task = asyncio.create_task(session.aprepare())
        if when == "at once":
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        armed[0] = False
        now = texts(session)
        assert now == before or (SUMMARY in "".join(now) and "checkpoint" in kinds(session)[-2:])
        assert data_of(store).startswith(log)
        assert session._known.work is None
        assert session._keeper.state.open_begin is None
        assert session._keeper.state.failures == {}
        assert SUMMARY in (await session.aprepare()).data.decode()

    asyncio.run(talk())


@pytest.mark.parametrize("call", ["aprepare", "acompact"])
@pytest.mark.parametrize("waits_in", ["SessionStart", "PostCompact"])
def test_cancelled_behind_the_commit_it_stands_and_its_hooks_are_told(call: str, waits_in: str) -> None:
    """HOK-3, HOK-4, JRN-2: the hook that is waited for is given up, the next is told, and then the task is cancelled."""
    told: list[str] = []

    async def run() -> None:
        begun = asyncio.Event()

        async def hears(payload: Any) -> None:
            told.append(payload["hook_event_name"])
            if payload["hook_event_name"] == waits_in:
                begun.set()
                await asyncio.Event().wait()

        hooks = Hooks(hooks=(Hook(event="SessionStart", does=hears), Hook(event="PostCompact", does=hears)))
        session = due(completer=ScriptedCompleter("A summary."), hooks=hooks)
        task = asyncio.create_task(getattr(session, call)())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert told == ["SessionStart", "PostCompact"]
        assert kinds(session).count("compaction") == 1
        assert session.prepare().report.outcome == "unchanged"

    asyncio.run(run())


def test_a_generator_that_is_closed_settles_its_intent() -> None:
    """Design: closing the questioner is giving up."""
    session = due(completer=ScriptedCompleter(SUMMARY))
    going = session._preparing(None, None)
    outside = next(going)
    while isinstance(outside, Restoring):
        outside = going.send(restored_for(session._known.host, outside))
    going.close()
    assert kinds(session)[-2:] == ["begin", "settle"]
    assert session._known.work is None


FAILING: tuple[tuple[str, Any], ...] = (
    ("fails", RuntimeError("500 the provider is down")),
    ("times out", TimeoutError("no answer in 60 s")),
    ("is rate-limited", RuntimeError("429 rate limit exceeded")),
    ("is empty", ""),
    ("breaks off", Deltas(("half a", " summary"), ConnectionError("reset by peer"))),
)


@pytest.mark.parametrize("reply", [reply for _, reply in FAILING], ids=[name for name, _ in FAILING])
@pytest.mark.parametrize("fallback", [False, True], ids=["alone", "with a fallback"])
def test_a_summary_that_fails_changes_nothing_or_is_followed_by_the_policys_next_tier(
    reply: Any, *, fallback: bool
) -> None:
    """D11, CMP-21, CMP-29 and CMP-35: log before is a prefix of log after, memory unchanged where there is no fallback; the
    failure is counted and told."""
    store = MemoryStore()
    heard = Heard()
    more = (tier(folding(1, 13, says="the ledger", name="ledger")),) if fallback else ()
    session = due(store, completer=ScriptedCompleter(reply), policy=asks(*more), listener=heard.listener())
    before, log = texts(session), data_of(store)
    request = session.prepare()
    assert data_of(store).startswith(log)
    assert session._keeper.state.failures == {"": 1}
    if fallback:
        assert request.report.outcome == "compacted"
        assert "the ledger" in request.data.decode()
        assert body_of(session, "compaction")["model"] == {"outcome": "failed"}
        return
    assert request.report.outcome == "failed"
    assert texts(session) == before
    assert body_of(session, "settle")["outcome"] == "failed"
    assert [block.is_error for block in heard.blocks] == [True]
    assert heard[-1] is False or heard[-1] is heard.blocks[-1]


def test_a_checkpoint_that_cannot_be_written_leaves_memory_as_it_was() -> None:
    """JRN-2 and D11: result or commit that does not reach the disk."""
    for broken in ("compaction", "checkpoint"):
        store = MemoryStore()
        session = due(store, completer=ScriptedCompleter(SUMMARY))
        before = texts(session)

        def refuse(journal: MemoryJournal, drafts: Any, *, sync: bool = True, _kind: str = broken) -> Any:
            if any(draft.kind == _kind for draft in drafts):
                raise SessionFailed("s", "no space left on device")
            return APPEND(journal, drafts, sync=sync)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MemoryJournal, "append", refuse)
            with pytest.raises(CheckpointFailed, match="no space"):
                session.prepare()
        assert texts(session) == before
        assert session._known.work is None


def test_after_three_failures_in_a_row_the_model_is_asked_by_hand_alone() -> None:
    """CMP-14 and CMP-36: counted for each workspace and session, across a restart; a success sets it back to none."""
    store = MemoryStore()
    down = ScriptedCompleter(RuntimeError("down"))
    session = due(store, completer=down, workspace="/w")
    for _ in range(4):
        report = session.prepare().report
    assert len(down.requests) == 3
    assert any("3 times in a row" in note for note in report.notes)
    session.close()
    up = ScriptedCompleter(SUMMARY)
    host = due(completer=up, workspace="/w")._known.host
    again = narrow(opened(store, policy=asks(), host=host))
    again.prepare()
    assert again._keeper.state.failures == {"/w": 3}
    assert up.requests == []
    assert again.compact().outcome == "compacted"
    assert again._keeper.state.failures == {}


def test_one_workspaces_failures_say_nothing_of_another() -> None:
    """CMP-14: a composite key, so that one session drags no other down."""
    store = MemoryStore()
    session = due(store, completer=ScriptedCompleter(RuntimeError("down")), workspace="/a")
    for _ in range(3):
        session.prepare()
    session.close()
    up = ScriptedCompleter(SUMMARY)
    again = narrow(opened(store, policy=asks(), host=due(completer=up, workspace="/b")._known.host))
    assert again.prepare().report.outcome == "compacted"


def test_without_a_known_window_no_summary_is_asked_for_but_by_hand() -> None:
    """TOK-10: in the state `unknown` local passes may run, a compaction by a model must not."""
    completer = ScriptedCompleter(SUMMARY)
    session = blind(due(completer=completer, policy=asks(tier(folding(1, 13, says="local")))))
    report = session.prepare().report
    assert completer.requests == []
    assert report.outcome == "compacted"
    assert any("window is not known" in note for note in report.notes)
    assert session.compact().summary.form is not None


def test_a_compaction_in_the_background_is_taken_in_by_the_next_request() -> None:
    """It swaps at the next prepare, with what arrived meanwhile behind it; one at a time."""
    begun, let_go = threading.Event(), threading.Event()

    def slow(request: CompletionRequest) -> str:
        begun.set()
        let_go.wait(10)
        return SUMMARY

    heard = Heard()
    calm = asks(threshold=asks().threshold.__class__(percent=99, of="window"))
    session = due(completer=ScriptedCompleter(slow), policy=calm, listener=heard.listener())
    assert session.compact_in_background(focus="the port")
    assert begun.wait(10)
    assert not session.compact_in_background()
    session.user("meanwhile")
    assert SUMMARY not in session.prepare().data.decode(), "the request goes on without it"
    let_go.set()
    ended(session)
    request = session.prepare()
    assert SUMMARY in request.data.decode()
    assert texts(session)[-1] == "meanwhile"
    assert heard.blocks
    assert kinds(session).count("begin") == 1


def ended(session: Session) -> None:
    """Wait until what runs in the background has come to something."""
    with session._known.idle:
        work = session._known.work
        assert session._known.idle.wait_for(
            lambda: session._known.work is None or (work is not None and work.reduced is not None), 10
        )


def test_a_background_compaction_that_nobody_takes_in_leaves_no_trace_but_its_intent() -> None:
    """kylepelham/Drift#75: after a restart it is marked as given up, and the new prompt is answered."""
    store = MemoryStore()
    session = due(store, completer=ScriptedCompleter(SUMMARY))
    before = texts(session)
    assert session.compact_in_background()
    ended(session)
    store._logs["s"].writer = None  # the process dies
    again = narrow(opened(store, policy=asks()))
    assert texts(again) == before
    assert body_of(again, "settle")["outcome"] == "abandoned"


def test_a_background_compaction_runs_as_a_task_of_an_event_loop() -> None:
    """The async twin of the same."""

    async def talk() -> None:
        session = due(completer=ScriptedCompleter(SUMMARY, is_async=True))
        assert await session.acompact_in_background()
        await session._known.task
        request = await session.aprepare()
        assert SUMMARY in request.data.decode()

    asyncio.run(talk())


def test_a_listener_that_raises_and_one_that_is_slow_harm_nothing() -> None:
    """A lost delta is not sent again; what a host's ears raise is their own affair."""

    def broken(*_: object) -> None:
        raise RuntimeError("the view is gone")

    listener = Listener(on_state=broken, on_delta=broken, on_block=broken)
    session = due(completer=ScriptedCompleter(Deltas(("The files ", "were read."))), listener=listener)
    assert session.prepare().report.outcome == "compacted"
    assert SUMMARY in "".join(texts(session))


def test_for_a_smaller_model_the_session_is_measured_against_its_window_and_reduced_by_what_can_run() -> None:
    """XiaomiMiMo/MiMo-Code#1840 and earendil-works/pi#6426: on a switch the new window decides, and usage of before the
    switch does not."""
    completer = ScriptedCompleter(RuntimeError("prompt is too long"))
    ledger = tier(folding(1, 13, says="the ledger", name="ledger"))
    session = due(completer=completer, policy=asks(ledger))
    narrow(session, 100_000)
    assert session.prepare().report.outcome == "unchanged"
    narrow(session, 2_000)
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert "the ledger" in request.data.decode()
