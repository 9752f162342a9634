"""What a session does after a refusal: one compaction and one retry, or the reason why not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.errors import (
    CompactionBlocked,
    ContextExhausted,
    FoldlineError,
    InvalidOption,
    InvalidRequest,
)
from foldline.engine.policy import Line, Policy
from foldline.hooks.hooks import Hook, Hooks
from foldline.presets import policy_of
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.testing.completers import ScriptedCompleter
from tests.judges.panel import violations
from tests.session.making import answer, opened, worked
from tests.session.modelling import asks, due, kinds
from tests.session.test_conversation import narrow
from tests.session.test_session_machine import small

TOO_LONG = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "prompt is too long: 2600 tokens > 2000 maximum"},
}


class ApiError(Exception):
    """As an SDK raises it."""

    def __init__(self, body: Any, status_code: int = 400) -> None:
        super().__init__(str(body))
        self.body, self.status_code = body, status_code


def calm(policy: str = "balanced") -> Policy:
    """A policy that compacts nothing of its own accord."""
    return replace(small(policy), threshold=Line(percent=100, of="window"))


def long(policy: Policy | None = None) -> Session:
    """A session with a request that a provider may refuse."""
    session = narrow(opened(policy=policy or calm()), 100_000)
    session.user("read it all")
    worked(session, 12)
    session.prepare()
    return session


def texts(session: Session) -> list[Any]:
    """The view."""
    return [item.message for item in session._view().view]


@pytest.mark.parametrize("error", [ApiError(TOO_LONG), TOO_LONG], ids=["raised", "a body"])
def test_an_overflow_is_followed_by_one_compaction_and_a_request_to_send_once_more(error: Any) -> None:
    """REA-1: smaller than the limit that the provider named, which is planned with from here on."""
    session = long()
    before = session.size
    request = session.recover(error)
    assert request.report.valid
    assert session.size < before
    assert session.context_use()["tokens_total"] <= 1_600
    assert session._known.setup.planned.window == 2_000
    assert violations(request.body, format="anthropic") == []
    assert [kind for kind in kinds(session) if kind == "compaction"] == ["compaction"]


def test_a_second_overflow_before_an_answer_ends_the_turn_and_an_answer_allows_another() -> None:
    """REA-1 and REA-4: at most once for each successful response; the view stays as it is."""
    session = long()
    session.recover(ApiError(TOO_LONG))
    view = texts(session)
    with pytest.raises(InvalidRequest, match="once already"):
        session.recover(ApiError(TOO_LONG))
    assert texts(session) == view
    session.record(answer("at last"))
    session.user("go on")
    worked(session, 12, start=50)
    assert session.recover(ApiError(TOO_LONG)).report.valid


def test_past_the_first_output_nothing_is_replayed() -> None:
    """REA-2: it fails closed."""
    session = long()
    before, seq = texts(session), session.seq
    with pytest.raises(InvalidRequest, match="delivered already"):
        session.recover(ApiError(TOO_LONG), delivered=True)
    assert (texts(session), session.seq) == (before, seq)


def test_reserve_ends_with_a_friendly_invalid_request() -> None:
    """REA-3: no reactive tier."""
    assert not policy_of("reserve").is_reactive
    session = long(policy_of("reserve"))
    before = texts(session)
    with pytest.raises(InvalidRequest, match="2,600 tokens, the limit is 2,000") as caught:
        session.recover(ApiError(TOO_LONG))
    assert (caught.value.tokens_used, caught.value.tokens_limit) == (2_600, 2_000)
    assert texts(session) == before


def test_a_recovery_that_cannot_help_leaves_the_view_as_it_was() -> None:
    """REA-4: what is left is pinned by the laws; no second try."""
    session = narrow(opened(policy=calm()), 100_000)
    session.user("x" * 20_000)
    session.prepare()
    before = texts(session)
    with pytest.raises(InvalidRequest, match="could not be made smaller"):
        session.recover(ApiError(TOO_LONG))
    assert texts(session) == before


def test_an_overflow_without_numbers_teaches_no_limit() -> None:
    """NousResearch/hermes-agent#2600: a guess never."""
    session = long()
    size = session.context_use()["tokens_total"]
    session.recover(ApiError({"error": {"message": "Prompt exceeds max length", "code": "1261"}}))
    assert session._known.setup.planned.window == 100_000
    assert session.context_use()["tokens_total"] <= size // 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"type": "rate_limit_error", "message": "rate limit: too many tokens per minute"}}, 429),
        ({"error": {"message": "invalid api key"}}, 401),
        ({"error": {"message": "overloaded"}}, 529),
    ],
)
def test_what_is_no_refusal_of_a_size_goes_back_as_it_came(body: Any, status: int) -> None:
    """anomalyco/opencode#39620: a throttle starts no compaction."""
    session = long()
    error, seq = ApiError(body, status), session.seq
    with pytest.raises(ApiError) as caught:
        session.recover(error)
    assert caught.value is error
    assert session.seq == seq
    with pytest.raises(FoldlineError):
        session.recover(body, status=status)


UNKNOWN = {"error": {"message": "ModelError: the endpoint returned an error"}}


def near(policy: Policy | None = None) -> Session:
    """A session whose next request is nearly as long as one that would be compacted."""
    session = long(policy)
    return narrow(session, session.context_use()["tokens_total"] * 100 // 95)


def test_a_body_that_is_too_large_is_made_smaller_whatever_is_said() -> None:
    """REA-1: HTTP 413, of tokens or of bytes."""
    session = long()
    size = session.context_use()["tokens_total"]
    session.recover(ApiError("<html>413 Request Entity Too Large</html>", 413))
    assert session.context_use()["tokens_total"] <= size // 2


@pytest.mark.parametrize("status", [400, 422])
def test_an_unknown_refusal_of_a_request_near_the_limit_is_taken_for_its_size_once(status: int) -> None:
    """T01, openclaw/openclaw#58839: one compaction, one retry; a second refusal goes back as it came, until an answer."""
    session = near()
    first = session.prepare()
    assert first.report.outcome == "unchanged"
    again = session.recover(ApiError(UNKNOWN, status))
    assert len(again.data) < len(first.data)
    error = ApiError(UNKNOWN, status)
    with pytest.raises(ApiError) as caught:
        session.recover(error)
    assert caught.value is error
    assert kinds(session).count("compaction") == 1
    assert session._known.setup.learned is None, "a guess is no limit"


@pytest.mark.parametrize(
    ("says", "status", "delivered", "where"),
    [
        (UNKNOWN, 400, False, "far from the limit"),
        (UNKNOWN, 401, False, "near"),
        (UNKNOWN, 500, False, "near"),
        (UNKNOWN, 400, True, "near"),
        (UNKNOWN, 400, False, "reserve"),
        ({"error": {"message": "Your credit balance is too low"}}, 400, False, "near"),
        ({"error": {"message": "messages: roles must alternate"}}, 400, False, "near"),
    ],
    ids=["far from it", "status", "fault", "delivered", "reserve", "money", "structure"],
)
def test_other_refusals_in_unknown_words_go_back_as_they_came(
    says: Any, status: int, delivered: bool, where: str
) -> None:
    """T01: only near the limit, only of what a request holds, only before anything was delivered, and never words that are known."""
    session = (
        near(calm("reserve") if where == "reserve" else None) if where != "far from the limit" else long()
    )
    error = ApiError(says, status)
    with pytest.raises(ApiError) as caught:
        session.recover(error, delivered=delivered)
    assert caught.value is error
    assert "compaction" not in kinds(session)


def test_refused_reasoning_is_left_out_of_closed_rounds_once() -> None:
    """anthropics/claude-code#13479: its own kind of refusal; the open round keeps its own, the log all of it."""
    session = narrow(opened(policy=calm()), 100_000)
    session.user("think")
    for number in range(2):
        thought = {"type": "thinking", "thinking": f"hm {number}", "signature": "c2ln"}
        call = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {}}
        session.record({"role": "assistant", "content": [thought, call]})
        if number == 0:
            session.tool_result("t0", "x")
    error = ApiError({"error": {"message": "messages.1.content.0: Invalid `signature` in `thinking` block"}})
    request = session.recover(error)
    assert "hm 0" not in request.data.decode()
    assert "hm 1" in request.data.decode()
    assert "hm 0" in str(list(session.messages))
    with pytest.raises(ApiError):
        session.recover(error)


def test_a_model_that_cannot_help_is_followed_by_what_can() -> None:
    """REA-1: escalation without a model, in the async twin too."""
    from tests.engine.scripted import folding, tier

    ledger = tier(folding(1, 13, says="the ledger", name="ledger"))
    policy = asks(ledger, threshold=Line(percent=100, of="window"))
    down = ScriptedCompleter(RuntimeError("prompt is too long"), is_async=True)
    session = due(completer=down, policy=policy)
    request = asyncio.run(session.arecover(ApiError({"error": {"message": "prompt is too long"}})))
    assert "the ledger" in request.data.decode()
    assert down.requests


def test_where_the_target_is_out_of_reach_what_fits_the_limit_is_sent() -> None:
    """REA-1: a small limit that was just learned makes a target that nothing reaches; the turn is saved all the same."""
    session = narrow(opened(policy=calm()), 100_000)
    session.user("y" * 5_200)  # stays, and is more than half of the limit
    worked(session, 12)
    session.prepare()
    request = session.recover(ApiError(TOO_LONG))
    assert session.context_use()["tokens_total"] <= 2_000
    assert request.report.valid
    assert "y" * 5_200 in str(request.messages)


@pytest.mark.parametrize("policy", ["balanced", "ladder-professional", "handoff", "cascade"])
def test_the_request_to_send_once_more_is_made_by_one_compaction(policy: str) -> None:
    """REA-1, law ONCE and CMP-18: over the new line of a small limit it goes out all the same; the next one is compacted for."""
    session = narrow(opened(policy=small(policy)), 100_000)
    session.user("y" * 5_600)  # of the limit of 2,000 more than any line
    worked(session, 6)
    session.prepare()
    request = session.recover(ApiError(TOO_LONG))
    assert kinds(session).count("compaction") == 1
    assert request.report.outcome == "compacted"
    assert request.report.tokens_after <= 2_000
    assert violations(request.body, format="anthropic") == []


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("policy", ["ladder-professional", "ladder-enterprise"])
def test_a_ladder_that_is_exhausted_has_a_last_resort_in_a_session_too(
    policy: str, *, is_async: bool
) -> None:
    """CMP-39: the newest three messages or none, beside what always stays; the next request goes out."""
    completer = ScriptedCompleter("- the user wants it all read", is_async=is_async)
    session = narrow(opened(policy=policy, host=Host(completer=completer)), 6_000)
    session.user("Read it all.")
    session.prepare()
    for number in range(14):
        session.record(answer(f"look {number}", (f"t{number}", "read")))
        session.tool_result(f"t{number}", f"line {number} " * 260)
    session._keeper.replay.state = replace(session._keeper.state, compacted=True)
    with pytest.raises(ContextExhausted):
        session.prepare()
    before = session.size
    report = asyncio.run(session.alast_resort()) if is_async else session.last_resort()
    assert report.outcome == "compacted"
    assert session.size < before
    session.record(answer("on it"))
    session.user("and now?")
    assert violations(session.prepare().body, format="anthropic") == []
    other = narrow(opened(policy="balanced"), 6_000)
    other.user("go")
    with pytest.raises(InvalidOption, match="last resort"):
        other.last_resort()


def test_after_a_compaction_the_system_prompt_is_what_the_host_says() -> None:
    """CMP-38: from its configuration, never from the summary."""
    session = due(completer=ScriptedCompleter("You are a pirate."))
    assert session.prepare(system="Be kind.").system == "Be kind."
    assert kinds(session).count("compaction") == 1
    assert session.prepare().system == "Be kind."
    assert session.prepare(system="Be brief.").system == "Be brief."


def hooked(*hooks: Hook, completer: Any = None, policy: Policy | None = None) -> Session:
    """A session with a request that a provider may refuse, and hooks."""
    host = Host(completer=completer, hooks=Hooks(hooks=hooks) if hooks else None)
    session = narrow(opened(policy=policy or calm(), host=host), 100_000)
    session.user("read it all")
    worked(session, 12)
    session.prepare()
    return session


def is_recovered_once(session: Session) -> None:
    """A recovery is left, and but one."""
    assert "compaction" not in kinds(session)
    assert session.recover(ApiError(TOO_LONG)).report.outcome == "compacted"
    with pytest.raises(InvalidRequest, match="once already"):
        session.recover(ApiError(TOO_LONG))


def test_a_recovery_that_a_hook_blocked_is_not_used_up() -> None:
    """REA-1, HOK-1: nothing was made smaller."""
    told: list[str] = []

    def blocks_once(payload: Any) -> Any:
        told.append(payload["hook_event_name"])
        return {"decision": "block", "reason": "the tests run"} if len(told) == 1 else None

    session = hooked(Hook(event="PreCompact", does=blocks_once))
    with pytest.raises(CompactionBlocked, match="the tests run"):
        session.recover(ApiError(TOO_LONG))
    is_recovered_once(session)


def test_a_recovery_that_was_interrupted_or_cancelled_is_not_used_up() -> None:
    """REA-1, JRN-10: the view is as it was, so the next call compacts."""
    calls: list[str] = []

    def interrupts_once(payload: Any) -> None:
        calls.append("")
        if len(calls) == 1:
            raise KeyboardInterrupt

    session = hooked(Hook(event="PreCompact", does=interrupts_once))
    with pytest.raises(KeyboardInterrupt):
        session.recover(ApiError(TOO_LONG))
    is_recovered_once(session)

    async def run() -> None:
        begun = asyncio.Event()

        async def waits_once(payload: Any) -> None:
            if not begun.is_set():
                begun.set()
                await asyncio.Event().wait()

        session = hooked(Hook(event="PreCompact", does=waits_once))
        task = asyncio.create_task(session.arecover(ApiError(TOO_LONG)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert "compaction" not in kinds(session)
        assert (await session.arecover(ApiError(TOO_LONG))).report.outcome == "compacted"
        with pytest.raises(InvalidRequest, match="once already"):
            await session.arecover(ApiError(TOO_LONG))

    asyncio.run(run())


def test_a_recovery_that_was_skipped_or_came_to_nothing_is_not_used_up() -> None:
    """REA-1: another compaction ran; or all that there was could not be made smaller, and then more was said."""
    session = hooked()
    other = session._ahead(focus=None)
    assert other is not None
    with pytest.raises(InvalidRequest, match="another compaction"):
        session.recover(ApiError(TOO_LONG))
    session._over(other)
    is_recovered_once(session)

    session = narrow(opened(policy=calm()), 100_000)
    session.user("x" * 20_000)
    session.prepare()
    with pytest.raises(InvalidRequest, match="could not be made smaller"):
        session.recover(ApiError(TOO_LONG))
    assert not session._recovered


@pytest.mark.parametrize("gives_up", ["cancelled", "interrupted"])
def test_a_recovery_whose_request_nobody_got_gives_it_the_next_time_and_compacts_once(gives_up: str) -> None:
    """REA-1, HOK-3: given up behind the commit. The compaction stands, PostCompact is told, and the request is still to be had;
    another is refused once it was given."""
    told: list[str] = []

    def interrupts(payload: Any) -> None:
        told.append("SessionStart")
        raise KeyboardInterrupt

    begun = asyncio.Event()

    async def waits(payload: Any) -> None:
        told.append("SessionStart")
        begun.set()
        await asyncio.Event().wait()

    def after(payload: Any) -> None:
        told.append("PostCompact")

    does = waits if gives_up == "cancelled" else interrupts
    session = hooked(Hook(event="SessionStart", does=does), Hook(event="PostCompact", does=after))

    async def cancelled() -> None:
        task = asyncio.create_task(session.arecover(ApiError(TOO_LONG)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    if gives_up == "cancelled":
        asyncio.run(cancelled())
    else:
        with pytest.raises(KeyboardInterrupt):
            session.recover(ApiError(TOO_LONG))
    assert told == ["SessionStart", "PostCompact"]
    assert kinds(session).count("compaction") == 1
    assert session.recover(ApiError(TOO_LONG)).report.outcome == "compacted"
    assert kinds(session).count("compaction") == 1
    with pytest.raises(InvalidRequest, match="once already"):
        session.recover(ApiError(TOO_LONG))
