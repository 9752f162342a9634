"""What a compaction asks of the outside: hooks in their order, with the completer between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.errors import CompactionBlocked
from foldline.hooks.hooks import Hook, Hooks
from foldline.presets import policy_of
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import Deltas, Said, ScriptedCompleter
from foldline.wire.completion import CompletionRequest
from tests.session.making import answer, opened, worked
from tests.session.modelling import asks, due, kinds
from tests.session.test_presets import FIRST, LONG_TALK, driven
from tests.session.test_presets import SUMMARY as HONEST

SUMMARY = "The files were read."


def hooks(said: Callable[[Any], Any]) -> Hooks:
    """One callable at every occasion."""
    return Hooks(
        hooks=tuple(Hook(event=event, does=said) for event in ("PreCompact", "SessionStart", "PostCompact"))
    )


def ordered(seen: list[Any], **answers: Any) -> Callable[[Any], Any]:
    """A callable that notes what it is told."""

    def hook(told: Any) -> Any:
        seen.append(told)
        return answers.get(told["hook_event_name"])

    return hook


@pytest.mark.parametrize("by_hand", [False, True], ids=["auto", "manual"])
@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
def test_hooks_run_in_their_order_around_an_automatic_and_a_manual_compaction_alike(
    *, by_hand: bool, is_async: bool
) -> None:
    """HOK-1, HOK-3 and HOK-4, anthropics/claude-code#50467: PreCompact, compaction, SessionStart, PostCompact; once each, with
    the right trigger, the instructions merged and the summary told."""
    seen: list[Any] = []

    def completer(request: CompletionRequest) -> str:
        seen.append(request)
        return SUMMARY

    hook = ordered(seen, PreCompact="mind the port", SessionStart="the branch is fix-login")
    session = due(completer=completer, hooks=hooks(hook), workspace="/w")
    if is_async:
        asyncio.run(session.acompact() if by_hand else session.aprepare())
    else:
        session.compact() if by_hand else session.prepare()
    before, request, started, after = seen
    trigger = "manual" if by_hand else "auto"
    assert (before["hook_event_name"], before["trigger"], before["cwd"]) == ("PreCompact", trigger, "/w")
    assert isinstance(request, CompletionRequest)
    assert (started["hook_event_name"], started["source"]) == ("SessionStart", "compact")
    assert (after["hook_event_name"], after["trigger"]) == ("PostCompact", trigger)
    assert SUMMARY in after["compact_summary"]
    text = session.prepare().data.decode()
    assert "the branch is fix-login" in text
    assert "foldline-context" in text


def test_hooks_are_told_where_the_log_lies_and_where_the_session_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HOK-1: `transcript_path` is the log on disk, which can be read; empty for a session of which none is written. `cwd` is a
    whole path, as in Claude Code, also where the host named none."""
    monkeypatch.chdir(tmp_path)
    for store in (DiskStore(tmp_path / "home"), MemoryStore()):
        seen: list[Any] = []
        session = opened(store, host=Host(hooks=hooks(ordered(seen))))
        session.user("never push to main")
        worked(session, 8)
        session.compact(to=0.5)
        session.close()
        assert {told["hook_event_name"] for told in seen} == {"PreCompact", "SessionStart", "PostCompact"}
        assert {told["cwd"] for told in seen} == {str(tmp_path)}
        [path] = {told["transcript_path"] for told in seen}
        assert bool(path) is isinstance(store, DiskStore)
        assert not path or "never push to main" in Path(path).read_text()


def test_a_block_is_honoured_as_long_as_the_request_fits_and_ends_the_turn_beyond() -> None:
    """CMP-17 and yonatangross/orchestkit#3452: the veto is told; by hand and at the hard limit it raises, nothing changed."""
    hook = ordered([], PreCompact={"decision": "block", "reason": "not now"})
    completer = ScriptedCompleter(SUMMARY)
    session = due(completer=completer, hooks=hooks(hook))
    before = kinds(session)
    report = session.prepare().report
    assert report.outcome == "failed"
    assert "not now" in (report.reason or "")
    assert kinds(session) == before
    with pytest.raises(CompactionBlocked, match="not now"):
        session.compact()
    session.record(answer("more", tokens=2_950))
    session.user("x" * 400)
    with pytest.raises(CompactionBlocked, match="not now"):
        session.prepare()
    assert completer.requests == []
    assert session._known.work is None


def test_in_the_background_a_block_reaches_nobody_as_a_fault() -> None:
    """HOK-1 and CMP-17: nobody waits there for what is raised; nothing has changed, and the next request goes out."""
    hook = ordered([], PreCompact={"decision": "block", "reason": "not now"})
    completer = ScriptedCompleter(SUMMARY, is_async=True)

    async def talk(session: Session) -> None:
        assert await session.acompact_in_background()
        await session._known.task
        assert (await session.aprepare()).report.outcome == "failed"

    session = due(completer=completer, hooks=hooks(hook))
    before = kinds(session)
    asyncio.run(talk(session))
    assert kinds(session) == before
    assert completer.requests == []


def test_in_reserve_a_block_is_shown_and_does_not_block() -> None:
    """HOK-2: hooks never block there."""
    assert not policy_of("reserve").hooks_may_block
    hook = ordered([], PreCompact={"decision": "block", "reason": "not now"})
    policy = replace(asks(), hooks_may_block=False)
    session = due(completer=ScriptedCompleter(SUMMARY), hooks=hooks(hook), policy=policy)
    report = session.prepare().report
    assert report.outcome == "compacted"
    assert any("not now" in note for note in report.notes)


def test_after_a_compaction_that_came_to_nothing_no_hook_is_told_of_one() -> None:
    """HOK-3: PostCompact after a successful compaction only."""
    seen: list[Any] = []
    session = due(completer=ScriptedCompleter(""), hooks=hooks(ordered(seen)))
    session.prepare()
    assert [told["hook_event_name"] for told in seen] == ["PreCompact"]


def test_a_session_that_changed_meanwhile_runs_no_hook_behind() -> None:
    """JRN-10: neither SessionStart nor PostCompact."""
    seen: list[Any] = []
    held: list[Session] = []

    def meanwhile(request: CompletionRequest) -> str:
        held[0].clear()
        return SUMMARY

    session = due(completer=meanwhile, hooks=hooks(ordered(seen)))
    held.append(session)
    session.compact()
    assert [told["hook_event_name"] for told in seen] == ["PreCompact"]


def test_what_a_hook_adds_waits_until_no_call_waits_for_its_result() -> None:
    """Law PAIR: between a call and its results nothing stands."""
    hook = ordered([], SessionStart="the branch is fix-login")
    session = due(completer=ScriptedCompleter(SUMMARY), hooks=hooks(hook))
    session.record(answer("one more", ("c1", "read")))
    session.compact()
    assert "fix-login" not in str([item.message for item in session._view().view])
    session.tool_result("c1", "x")
    assert "fix-login" in session.prepare().data.decode()


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
@pytest.mark.parametrize("as_deltas", [False, True], ids=["whole", "deltas"])
def test_what_a_completer_had_to_change_is_told_once_in_the_report(
    *, is_async: bool, as_deltas: bool
) -> None:
    """A conversation that was converted for another provider loses something, and its report says what;
    it stands in the log too."""
    note = "the conversation was converted from anthropic to openai-chat"
    said = Said(text=HONEST, notes=(note,))
    reply = Deltas((HONEST, said)) if as_deltas else said
    host = Host(completer=ScriptedCompleter(reply, is_async=is_async))
    session = driven("handoff", LONG_TALK, tokens=FIRST["handoff"], host=host)
    request = asyncio.run(session.aprepare()) if is_async else session.prepare()
    assert request.report.outcome == "compacted"
    assert request.report.notes.count(note) == 1
    [made] = session.compactions
    assert made.report["notes"].count(note) == 1
