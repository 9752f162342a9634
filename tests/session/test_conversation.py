"""What is said, prepared and answered: anchors across restarts, passes by policy, and a checkpoint that fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.budget import Room
from foldline.core.errors import CheckpointFailed, ContextExhausted, InvalidOption, SessionFailed
from foldline.engine.policy import Line
from foldline.log.audit import Audit
from foldline.session.session import Session
from foldline.stores.memory import MemoryJournal, MemoryStore
from tests.judges.panel import violations
from tests.session.making import FORMATS, answer, opened, reopened, worked
from tests.session.test_session_machine import small


def narrow(session: Session, window: int = 3_000) -> Session:
    """The session, planned for a small window."""
    setup = session._known.setup
    planned = replace(setup.planned, window=window, is_window_known=True)
    session._known.setup = replace(setup, planned=planned)
    return session


@pytest.mark.parametrize("format", FORMATS)
def test_a_round_goes_in_and_comes_out_in_every_format(format: str) -> None:
    """Laws LOSSLESS and PAIR: what the provider answered stands in the next request, with the tool's result."""
    session = opened(format=format)
    session.user("look")
    session.prepare()
    session.record(answer("I look", ("c1", "read"), ("c2", "read"), format=format, tokens=30))
    session.tool_result("c2", "two")
    session.tool_result("c1", {"lines": [1, 2]}, is_error=True)
    request = session.prepare()
    assert violations(request.body, format=format) == []
    assert request.tokens.tokens_anchored == 40
    assert "two" in request.data.decode()


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("format", FORMATS)
def test_a_result_that_comes_rounds_later_stands_behind_its_own_call(format: str, rounds: int) -> None:
    """Law PAIR: what came between stays in its order, and each call has its own answer, now and in the next request."""
    session = opened(format=format)
    session.user("look")
    session.record(answer("go on", ("late", "read"), format=format))
    for number in range(rounds):
        session.record(answer(f"step {number}", (f"c{number}", "read"), format=format))
        session.tool_result(f"c{number}", "found it")
    session.tool_result("late", "here it is")
    for _ in range(2):
        request = session.prepare()
        assert violations(request.body, format=format) == []


def test_the_projection_starts_from_the_last_usage_and_survives_a_restart() -> None:
    """TOK-3 and TOK-6: anchor, what came after it, and growth of the fixed part; shrinking subtracts nothing."""
    store = MemoryStore()
    session = opened(store)
    session.user("x" * 400)
    session.prepare(system="s" * 40)
    session.record(answer("yes", tokens=1_000))
    session.user("y" * 400)
    tokens = session.prepare().tokens
    assert (tokens.tokens_anchored, tokens.tokens_estimated) == (1_010, 104)
    assert session.prepare(system="s" * 80).tokens.tokens_estimated == 114
    assert session.prepare(system="s").tokens.tokens_estimated == 104
    with reopened(session, store) as again:
        assert again.prepare().tokens == tokens


def test_a_policy_that_adds_no_growth_adds_none_and_counts_messages_alone_without_an_anchor() -> None:
    """TOK-6 and TOK-8: the switches of the preset `reserve`."""
    session = opened(policy="reserve")
    session.user("x" * 400)
    assert session.prepare(system="s" * 400).tokens.tokens == 104
    session.record(answer("yes", tokens=1_000))
    assert session.prepare(system="s" * 4_000).tokens.tokens == 1_010


def test_a_baseline_is_dropped_when_it_no_longer_fits_the_history() -> None:
    """TOK-5: no usage; the request was another than the log shows; history was rewritten."""
    session = opened()
    session.user("a")
    session.prepare()
    session.record(answer("no usage"))
    assert session.prepare().tokens.tokens_anchored == 0
    session.user("said before the answer to what was prepared")
    session.record(answer("late", tokens=500))
    assert session.prepare().tokens.tokens_anchored == 0, "the first appended item was not the answer"
    session.record(answer("in time", tokens=500))
    assert session.prepare().tokens.tokens_anchored == 510
    session.rollback(to=session.seq - 1)
    assert session.prepare().tokens.tokens_anchored == 0


@pytest.mark.parametrize(("policy", "anchored"), [("balanced", 0), ("handoff", 0), ("reserve", 510)])
def test_an_answer_without_usage_ends_the_baseline_where_the_policy_says_so(
    policy: str, anchored: int
) -> None:
    """TOK-5: the whole request is counted here then, before a restart and after it; `reserve` goes on from the last usage."""
    store = MemoryStore()
    session = opened(store, policy=policy)
    session.user("a")
    session.prepare()
    session.record(answer("so", tokens=500))
    session.user("b")
    assert session.prepare().tokens.tokens_anchored == 510
    session.record(answer("no usage"))
    session.user("c")
    tokens = session.prepare().tokens
    assert tokens.tokens_anchored == anchored
    with reopened(session, store, policy=policy) as again:
        assert again.prepare().tokens == tokens
        again.record(answer("so", tokens=600))
        assert again.prepare().tokens.tokens_anchored == 610


def test_after_a_compaction_no_older_usage_is_an_anchor() -> None:
    """TOK-9: a finished compaction never re-triggers itself."""
    session = narrow(opened())
    session.user("read")
    worked(session, 8)
    session.prepare()
    session.record(answer("so", tokens=2_500))
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert request.tokens.tokens_anchored == 0
    seq = session.seq
    assert session.prepare().report.outcome == "unchanged"
    assert session.seq == seq


def test_a_fingerprint_is_of_system_tools_and_history() -> None:
    """TOK-7: one snapshot before every request; the same request has the same one."""
    session = opened()
    session.user("a")
    first = session.prepare(system="s", tools=[{"name": "f", "input_schema": {}}]).fingerprint
    assert session.prepare().fingerprint == first
    others = {first, session.prepare(system="t").fingerprint, session.prepare(tools=[]).fingerprint}
    session.user("b")
    others.add(session.prepare().fingerprint)
    assert len(others) == 4


def test_a_second_compaction_without_a_response_is_refused_where_the_preset_says_so() -> None:
    """CMP-18: the flag is set by any compaction and cleared by a whole response; across a restart too."""
    store = MemoryStore()
    session = narrow(opened(store, policy=small("ladder-professional")))
    session.user("read")
    worked(session, 5)
    session.user("and now")
    session.compact(to=0.5)
    session.user("z" * 12_000)
    for _ in range(2):
        with pytest.raises(ContextExhausted, match="once a response"):
            session.prepare()
        log = store._logs["s"]
        log.writer = None
        session = narrow(opened(store, policy=small("ladder-professional")))
    session.record(answer("yes"))
    assert session.prepare().report.outcome in ("compacted", "unreachable")


class Failing(MemoryJournal):
    """A journal whose n-th append fails, and every one after it."""

    left = 0

    def append(self, drafts: Any, *, sync: bool = True) -> Any:
        self.left -= 1
        if self.left < 0:
            raise SessionFailed("s", "the disk is full")
        return super().append(drafts, sync=sync)


@pytest.mark.parametrize("appends", [0, 1, 2])
def test_a_compaction_that_cannot_be_made_durable_leaves_memory_as_it_was(appends: int) -> None:
    """JRN-2, SNP-4: whichever of intent, result and commit fails; opened again, it is wholly there or not at all."""
    store = MemoryStore()
    session = opened(store)
    session.user("read")
    worked(session, 12)
    session.prepare()
    state = session._keeper.state
    journal: Any = session._keeper.log.own
    journal.__class__, journal.left = Failing, appends
    with pytest.raises(CheckpointFailed, match="the disk is full"):
        session.compact(to=0.4)
    assert session._keeper.state is state
    store._logs["s"].writer = None
    again = opened(store)
    counted = [made.counts for made in again.compactions]
    assert counted == ([True] if appends == 2 else [])
    kinds = [entry.kind for entry in again._keeper.log.entries()]
    assert kinds[-1] == {0: "message", 1: "settle", 2: "checkpoint"}[appends]


def test_what_a_caller_changes_in_a_request_stays_there() -> None:
    """Law LOSSLESS: a cache mark on a message is the caller's own."""
    session = opened()
    content = [{"type": "text", "text": "a"}]
    session.user(content)
    content[0]["text"] = "b"
    request = session.prepare()
    request.messages[0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert session.prepare().messages == [{"role": "user", "content": [{"type": "text", "text": "a"}]}]


def test_what_a_policy_does_before_every_request_is_an_edit_and_no_compaction() -> None:
    """BUD-6: `cascade` cuts a result the first time it would be sent; the prefix before it stays, and so does the anchor."""
    session = opened(policy="cascade")
    session.user("read")
    session.prepare()
    session.record(answer("I read", ("c", "read"), tokens=100))
    session.tool_result("c", "word " * 2_000)
    request = session.prepare()
    assert len(request.data) < 5_500
    assert request.tokens.tokens_anchored == 110
    assert list(session.compactions) == []
    assert session.prepare().data == request.data


def test_idle_time_comes_from_the_clock_of_the_log() -> None:
    """MIC-4 and MIC-10: after 90 minutes old results are cleared, whatever the count."""
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    session = opened(store, policy="cascade", clock=lambda: now[0])
    session.user("read")
    worked(session, 9, size=1_600)
    large = len(session.prepare().data)
    now[0] = 5_400_000
    assert len(session.prepare().data) < large


def test_an_option_that_says_nothing_is_refused_before_anything_is_written() -> None:
    """The log holds nothing that no provider would take."""
    session = opened()
    with pytest.raises(InvalidOption, match="say something first"):
        session.prepare()
    session.user("a")
    seq = session.seq
    for call in (
        lambda: session.user(3),
        lambda: session.user({"role": "assistant", "content": "x"}),
        lambda: session.record("x"),
        lambda: session.record({"role": "user", "content": "x"}),
        lambda: session.record({"choices": [{"message": {"role": "assistant", "content": "x"}}]}),
        lambda: session.tool_result("nobody", "x"),
        lambda: session.prepare(tools="f"),
        lambda: session.prepare(system=3),
        lambda: session.compact(to=2.0),
    ):
        with pytest.raises(InvalidOption):
            call()
    assert session.seq == seq


def waiting(session: Session) -> list[tuple[str, str]]:
    """Id and name of each call that has no result yet."""
    return [(call.id, call.name) for call in session.waiting]


@pytest.mark.parametrize("format", FORMATS)
def test_after_a_break_what_has_its_result_is_not_run_again(format: str) -> None:
    """JRN-15: the last step that succeeded is in the log; only what has no result yet is still to be run."""
    store = MemoryStore()
    session = opened(store, format=format)
    session.user("look at both")
    assert waiting(session) == []
    session.record(answer("", ("c1", "read"), ("c2", "write"), format=format))
    assert waiting(session) == [("c1", "read"), ("c2", "write")]
    session.tool_result("c1", "one")
    with reopened(session, store) as again:
        assert waiting(again) == [("c2", "write")]
        again.tool_result("c2", "two")
        assert waiting(again) == []


def test_a_session_says_what_fills_its_context_and_how_near_its_line_it_is() -> None:
    """UIX-1, BUD-5 and BUD-11: by kind, adding up; against the line of the policy in force; after a response its own total;
    recomputed after a compaction and for another model."""
    session = narrow(opened(policy=small("balanced")))
    session.user("read")
    worked(session, 3)
    session.prepare(system="be kind", tools=[{"name": "read", "input_schema": {}}])
    session.record(answer("so", tokens=1_190))
    told = session.context_use()
    assert sum(told["by_kind"].values()) == told["tokens_total"]
    assert told["by_kind"]["system"] > 0
    assert told["by_kind"]["tools"] > 0
    line = session.policy.threshold.tokens(Room(3_000))
    assert (told["tokens_projected"], told["tokens_threshold"]) == (1_200, line)
    assert told["percent"] == round(100 * 1_200 / line)
    session.user("and now")
    session.compact(to=0.5)
    after = session.context_use()
    assert after["tokens_anchored"] == 0
    assert after["percent"] < told["percent"]
    session.use("claude-sonnet-4-5")
    assert session.context_use()["tokens_window"] > 3_000


def test_a_history_that_the_server_cut_in_silence_is_told_and_its_count_is_no_anchor() -> None:
    """In the report, in the log and as an event; no limit is learned from it (a guess never)."""
    session = narrow(opened(), 100_000)
    session.user("read it all")
    worked(session, 4, size=12_000)
    session.prepare()
    session.record(answer("so far", ("t", "read"), tokens=2_048))
    session.tool_result("t", "ok")
    request = session.prepare()
    assert any("drops the beginning of the history in silence" in note for note in request.report.notes)
    assert request.tokens.tokens_anchored == 0
    assert session._known.setup.planned.window == 100_000
    events = Audit(lambda data: "", session._known.setup.counter)
    told = [one for entry in session._keeper.log.entries() for one in events.events(entry)]
    mismatches = [one for one in told if one["type"] == "USAGE_MISMATCH"]
    assert [(one["kind"], one["reported_tokens"]) for one in mismatches] == [("truncated", 2_048)]
    assert not any("in silence" in note for note in session.prepare().report.notes)  # once


def test_a_count_that_sticks_while_the_history_grows_is_told() -> None:
    """anomalyco/opencode#45168: the server drops the head by itself, and the count stands at its limit."""
    session = narrow(opened(), 100_000)
    session.user([{"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}])
    session.prepare()
    session.record(answer("so far", ("t0", "read"), tokens=32_768))
    for number in range(1, 3):
        session.tool_result(f"t{number - 1}", "y" * 4_000)
        request = session.prepare()
        session.record(answer("so far", (f"t{number}", "read"), tokens=32_768))
    session.tool_result("t2", "y")
    request = session.prepare()
    assert any("in silence" in note for note in request.report.notes)
    assert request.tokens.tokens > 32_768 + 2_000  # from the last count that may be believed


def test_more_input_than_the_window_is_told_and_is_no_limit() -> None:
    """anthropics/claude-code#82863: such a sample is no anchor; a silent overflow is said."""
    session = narrow(opened(), 2_000)
    session.user("go")
    session.prepare()
    session.record(answer("x", tokens=9_000))
    session.user("more")
    request = session.prepare()
    assert any("9,000 tokens of input, and the window is planned as 2,000" in n for n in request.report.notes)
    assert request.tokens.tokens_anchored == 0
    assert session._known.setup.planned.window == 2_000


@pytest.mark.parametrize(
    ("cap", "tokens", "sent"),
    [
        (8_000, 20_000, 8_000),
        (64_000, 60_000, 39_726),
        (64_000, 30_000, 64_000),
        (64_000, 99_000, 4_096),
        (900, 99_000, 900),
    ],
)
def test_an_output_cap_that_the_window_has_no_room_for_is_lowered_and_nothing_is_compacted_for_it(
    cap: int, tokens: int, sent: int
) -> None:
    """CMP-41: to what is left, never below 4,096, never raised; reported; in the async twin and after a refusal too."""
    policy = replace(small("balanced"), threshold=Line(percent=100, of="window"))
    session = narrow(opened(policy=policy), 100_000)
    session.user("go")
    session.prepare()
    session.record(answer("x", ("t", "read"), tokens=tokens - 10))
    session.tool_result("t", "")
    request = session.prepare(output_cap=cap)
    assert request.output_cap == sent
    assert request.report.outcome == "unchanged"
    lowered = [note for note in request.report.notes if "output cap lowered" in note]
    assert bool(lowered) is (sent < cap)
    assert asyncio.run(session.aprepare(output_cap=cap)).output_cap == sent
    assert session.prepare().output_cap is None


@pytest.mark.parametrize(
    ("cap", "line"), [(None, 144_000), (64_000, 108_800), (8_000, 153_600), (0, 160_000), (-1, 144_000)]
)
def test_the_output_cap_that_a_request_names_is_the_reserve_that_its_line_leaves(
    cap: int | None, line: int
) -> None:
    """BUD-1: the explicit cap as it is, else a tenth of the window; a compaction is due from 80 % of what is left, for the request
    and for the display, and comes below it."""
    session = narrow(opened(), 200_000)
    session.user("read it")
    worked(session, 1, size=400_000)
    counted = session.prepare(output_cap=cap).tokens.tokens
    session.user("x" * 4 * (line - 20 - counted))
    below = session.prepare(output_cap=cap)
    assert line - 40 < below.tokens.tokens < line
    assert (below.report.reason, below.output_cap) == ("below the threshold", cap)
    assert session.context_use()["tokens_threshold"] == line
    session.user("x" * 4 * 40)
    due = session.prepare(output_cap=cap)
    assert due.report.outcome == "compacted"
    assert due.tokens.tokens < line


@pytest.mark.parametrize(("cap", "line"), [(None, 126_000), (64_000, 95_200)])
def test_a_hand_off_is_due_from_70_percent_of_what_the_output_cap_leaves(cap: int | None, line: int) -> None:
    """BUD-1, HND-1: on the line, and not one token before it."""

    def went(tokens: int) -> tuple[int, bool]:
        session = narrow(opened(policy="handoff"), 200_000)
        session.user("go")
        session.prepare(output_cap=cap)
        session.record(answer("x", ("t", "read"), tokens=tokens))
        session.tool_result("t", "")
        request = session.prepare(output_cap=cap)
        return request.tokens.tokens, session._keeper.state.handoff is not None

    beside = went(1_000)[0] - 1_000
    assert went(line - 1 - beside) == (line - 1, False)
    assert went(line - beside)[1]


def test_an_output_cap_that_is_lowered_moves_no_line() -> None:
    """BUD-1 beside CMP-41: what came at once leaves no room for the cap, which is lowered; the line is the one of a request without a
    cap, and that one is kept."""
    session = narrow(opened(), 200_000)
    session.user("x" * 4 * 140_000)
    lowered = session.prepare(output_cap=64_000)
    assert lowered.report.outcome == "unchanged"
    assert lowered.output_cap is not None
    assert lowered.output_cap < 60_000
    assert session.context_use()["tokens_threshold"] == 144_000
    session.user("x" * 4 * 5_000)
    assert session.prepare(output_cap=64_000).report.reason != "below the threshold"


def test_without_a_known_window_an_output_cap_stays_as_it_is() -> None:
    """TOK-10: nothing is decided by a default."""
    session = opened()
    session.user("x" * 4_000_000)
    assert session.prepare(output_cap=9_000).output_cap == 9_000
    with pytest.raises(InvalidOption, match="output_cap"):
        session.prepare(output_cap="9k")  # type: ignore[arg-type]


@pytest.mark.parametrize("format", FORMATS)
def test_a_result_stands_behind_the_message_that_calls_where_the_model_went_on_meanwhile(format: str) -> None:
    """Law PAIR: Anthropic's "`tool_use` ids were found without `tool_result` blocks immediately after", and OpenAI's 400."""
    session = opened(format=format)
    session.user("begin")
    session.record(answer("I look", ("w1", "read"), format=format))
    session.record(answer("while it runs", format=format))
    session.tool_result("w1", "found")
    session.user("go on")
    request = session.prepare()
    assert request.report.valid
    assert violations(request.body, format=format) == []


def test_facts_are_looked_for_behind_the_answer_from_half_the_way_to_the_threshold_on() -> None:
    """OBS-3: neither a request nor the cut waits for them; far below it nothing is looked for."""
    session = narrow(opened(policy="balanced"), window=80_000)
    facts = session._known.memo["facts"]
    for text, is_half_way in (("src/early.py " + "x " * 400, False), ("src/late.py " + "x " * 80_000, True)):
        session.user(text)
        session.prepare()
        assert text not in facts
        session.record(answer("done"))
        assert (text in facts) is is_half_way
    assert "src/early.py " + "x " * 400 in facts
