"""Each preset in a session, driven past its lines: every tier of its document acts at its number and not a token before, with a model
and without one. The numbers stand here once more, as the documents have them, at a window of 200,000 tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

from foldline.core.errors import ContextExhausted
from foldline.presets import POLICIES
from foldline.session.hosting import Host
from foldline.session.request import Prepared
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.judges.panel import violations
from tests.session.making import answer, opened
from tests.session.modelling import blind, kinds
from tests.session.test_compacting import ended as settle
from tests.session.test_conversation import narrow

WINDOW = 200_000
LAST = "go on with it"
SUMMARY = (
    "<summary>The repository was read and the slow path was found. The change was made where the batch is built, the checks were run, "
    "and what is left is to run them once more and to say what came of it.</summary>"
)
FIRST = {
    "handoff": 144_000,
    "reserve": 167_000,
    "ladder-minimal": 161_501,
    "ladder-professional": 161_501,
    "ladder-enterprise": 160_651,
    "cascade": 180_000,
    "balanced": 144_000,
}
"""The first size of a request for which something has to go (BUD-1, BUD-2, BUD-3, BUD-4, TOK-11)."""
Talk: TypeAlias = Callable[[Session], None]


def said(words: str, size: int) -> str:
    """These words in so many characters."""
    return words + "x" * (size - len(words))


def rounds(count: int, *, size: int, tool: str = "read_file", words: int = 20) -> Talk:
    """So many rounds of one call, the model's words and the results of so many characters."""

    def say(session: Session) -> None:
        session.user("look at every part")
        for n in range(count):
            session.record(answer(said(f"look {n} ", words), (f"t{n}", tool)))
            session.tool_result(f"t{n}", said(f"line {n} of it ", size))

    return say


def talk(*sizes: int) -> Talk:
    """Messages of so many characters, the user's and the model's in turn, and nothing that decides."""

    def say(session: Session) -> None:
        for n, size in enumerate(sizes):
            text = said(f"we talk of {n} and more ", size)
            session.record(answer(text)) if n % 2 else session.user(text)

    return say


@cache
def beside() -> int:
    """Tokens of what is appended behind the answer whose usage is known, and of that answer's output."""
    session = opened()
    session.user("hi")
    session.prepare()
    session.record(answer("so far", tokens=100))
    session.user(LAST)
    return int(session.context_use()["tokens_projected"]) - 100


def driven(policy: str, say: Talk, *, tokens: int, store: MemoryStore | None = None, **asked: Any) -> Session:
    """A session whose next request is projected at exactly so many tokens."""
    session = narrow(opened(store, policy=policy, model="claude-sonnet-4-5", **asked), WINDOW)
    say(session)
    session.prepare()
    session.record(answer("so far", tokens=tokens - beside()))
    session.user(LAST)
    assert session.context_use()["tokens_projected"] == tokens
    return session


def asks(*replies: Any) -> Host:
    """A host whose model writes these, or the one honest summary."""
    return Host(completer=ScriptedCompleter(*(replies or (SUMMARY,))))


def passes(request: Prepared) -> list[str]:
    """The tiers that did something for a request; it is valid for its provider, whatever they did."""
    assert violations(request.body, format="anthropic") == []
    return [step.name for step in request.report.passes]


WORK = rounds(60, size=8_000)
LONG_TALK = talk(*[9_000] * 56)
FEW_LARGE = rounds(8, size=70_000, tool="bash")
SIXTEEN = talk(*[38_000] * 14)
FOURTEEN = talk(*[80_000] * 6, *[16_000] * 6)
TURNS = talk(*[11_000] * 60)

TIERS = [
    ("handoff", WORK, "snip", "snip"),
    ("handoff", LONG_TALK, "auto-compact", "ledger"),
    ("reserve", WORK, "auto-compact", None),
    ("ladder-minimal", WORK, "snip", "snip"),
    ("ladder-professional", WORK, "snip", "snip"),
    ("ladder-professional", FEW_LARGE, "microcompact", "microcompact"),
    ("ladder-professional", SIXTEEN, "collapse", "collapse"),
    ("ladder-professional", FOURTEEN, "auto-compact", "fold-range"),
    ("ladder-enterprise", WORK, "snip", "snip"),
    ("ladder-enterprise", FEW_LARGE, "microcompact", "microcompact"),
    ("ladder-enterprise", SIXTEEN, "collapse", "collapse"),
    ("ladder-enterprise", FOURTEEN, "auto-compact", "fold-range"),
    ("cascade", TURNS, "snip", "snip"),
    ("balanced", FEW_LARGE, "budget-reduction", "budget-reduction"),
    ("balanced", LONG_TALK, "auto-compact", "ledger"),
]
"""Policy, what was said, and the tier that brings it below its line, with a model and without one."""


@pytest.mark.parametrize("has_model", [True, False], ids=["with a model", "without"])
@pytest.mark.parametrize(("policy", "said", "with_model", "without"), TIERS)
def test_a_tier_acts_from_its_line_on_and_not_a_token_before(
    policy: str, said: Talk, with_model: str, without: str | None, *, has_model: bool
) -> None:
    """PRE-1, PRE-2, PRE-3, PRE-4, PRE-5, PRE-6, PRE-7, BUD-12: in a session, by its provider's count, from both sides."""
    host, first = asks() if has_model else Host(), FIRST[policy]
    below = driven(policy, said, tokens=first - 1, host=host)
    assert passes(below.prepare()) == []
    assert "compaction" not in kinds(below)
    session = driven(policy, said, tokens=first, host=host)
    request = session.prepare()
    wanted = with_model if has_model else without
    assert passes(request) == ([] if wanted is None else [wanted])
    assert kinds(session).count("compaction") == (wanted is not None)
    if wanted is not None:
        assert request.report.tokens_after < first
    asked = session._known.host.completer
    if isinstance(asked, ScriptedCompleter):
        assert len(asked.requests) == (wanted == "auto-compact")
    assert LAST in request.data.decode()


def test_every_tier_of_every_preset_is_in_a_test_here() -> None:
    """A tier that is added to a preset is driven too: here, or in a test of its own below."""
    own = {
        "handoff": {"budget-reduction", "hand-off", "microcompact"},
        "ladder-minimal": {"ledger"},
        "ladder-professional": {"ledger"},
        "ladder-enterprise": {"ledger", "rebuild"},
        "cascade": {"budget-reduction", "microcompact", "collapse", "auto-compact", "ledger"},
        "balanced": {"microcompact"},
    }
    for name in POLICIES:
        driven_here = {tier for policy, _, *tiers in TIERS if policy == name for tier in tiers if tier}
        assert {tier.name for tier in POLICIES[name](WINDOW).tiers} == driven_here | own.get(name, set()), (
            name
        )


# ── handoff ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("size", "is_cut"), [(60_000, False), (60_400, True)])
def test_handoff_cuts_a_result_over_its_limit_before_every_request(size: int, *, is_cut: bool) -> None:
    """PRE-1 and BUD-8: 60,000 characters a result at this window, at once and whatever the size of the request."""
    session = narrow(opened(policy="handoff", model="claude-sonnet-4-5"), WINDOW)
    rounds(1, size=size)(session)
    assert passes(session.prepare()) == ["budget-reduction"] * is_cut


@pytest.mark.parametrize(("sizes", "is_cut"), [((60_000, 60_000), False), ((59_000, 59_000, 2_400), True)])
def test_handoff_cuts_the_results_of_a_turn_to_their_total(sizes: tuple[int, ...], *, is_cut: bool) -> None:
    """PRE-1 and BUD-8: 120,000 characters for all results of one turn."""
    session = narrow(opened(policy="handoff", model="claude-sonnet-4-5"), WINDOW)
    session.user("look at all of it")
    session.record(answer("", *((f"t{n}", "read_file") for n in range(len(sizes)))))
    for n, size in enumerate(sizes):
        session.tool_result(f"t{n}", "y" * size)
    assert passes(session.prepare()) == ["budget-reduction"] * is_cut


@pytest.mark.parametrize(("idle_s", "clears"), [(60, False), (61, True)])
def test_handoff_clears_after_a_minute_and_keeps_three_tool_turns(idle_s: int, *, clears: bool) -> None:
    """PRE-1 and MIC-5: the cache has expired after more than 60 seconds; three rounds keep their results."""
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    session = driven("handoff", rounds(9, size=2_000), tokens=9_000, store=store, clock=lambda: now[0])
    now[0] += idle_s * 1_000
    request = session.prepare()
    assert passes(request) == ["microcompact"] * clears
    said = request.data.decode()
    assert [n for n in range(9) if f"line {n} of it" in said] == list(range(6 if clears else 0, 9))


@pytest.mark.parametrize(("tokens", "reminds"), [(125_999, False), (126_000, True), (144_000, False)])
def test_handoff_reminds_in_its_band_alone(tokens: int, *, reminds: bool) -> None:
    """PRE-1, HND-1: from 70 % of what the window leaves for input, and below 80 %."""
    session = driven("handoff", rounds(55, size=8_000), tokens=tokens)
    session.prepare()
    assert ("handoff" in kinds(session)) is reminds


def test_handoff_snips_down_to_its_band_and_keeps_ten_tool_turns() -> None:
    """PRE-1, SNP-3 and SNP-7: to 126,000, reads first, never of the newest ten; the summary follows only where it is still due."""
    session = driven("handoff", WORK, tokens=144_000, host=asks())
    request = session.prepare()
    assert request.report.tokens_after <= 126_000
    said = request.data.decode()
    assert all(f"line {n} of it" in said for n in range(50, 60))
    large = driven("handoff", rounds(11, size=51_000), tokens=165_000, host=asks())
    assert passes(large.prepare()) == ["snip", "auto-compact"]


def test_handoff_keeps_the_newest_fifth_within_its_bound() -> None:
    """PRE-1, CMP-9 and CMP-10: what replaces the history has 50,000 tokens at most, and ends with the newest messages."""
    request = driven("handoff", LONG_TALK, tokens=144_000, host=asks()).prepare()
    text = request.data.decode()
    kept = [n for n in range(56) if said(f"we talk of {n} and more ", 9_000) in text]
    assert kept == list(range(45, 56)), "with the last answer twelve of 57"
    assert len(text) // 4 <= 50_000


@pytest.mark.parametrize(("messages", "acts"), [(29, False), (31, True)])
def test_handoff_without_a_known_window_only_clears_and_snips(messages: int, *, acts: bool) -> None:
    """PRE-1, TOK-10, SNP-7: from thirty messages on, and no model is asked however large the request."""
    host = asks()
    session = blind(narrow(opened(policy="handoff", host=host), WINDOW))
    rounds((messages - 1) // 2, size=2_000)(session)
    assert passes(session.prepare()) == ["snip"] * acts
    assert isinstance(host.completer, ScriptedCompleter)
    assert host.completer.requests == []


# ── reserve ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reserve_does_one_thing_and_nothing_after_it() -> None:
    """PRE-2, CMP-2, CMP-6, CMP-24: a fork; the summary, then the last two rounds and the user's last message."""
    host = asks()
    request = driven("reserve", WORK, tokens=167_000, host=host).prepare()
    assert isinstance(host.completer, ScriptedCompleter)
    [asked] = host.completer.requests
    assert asked.is_fork
    assert not asked.model or asked.model == "claude-sonnet-4-5"
    said = request.data.decode()
    assert [n for n in range(60) if f"line {n} of it" in said] == [59]
    assert "so far" in said
    assert "the slow path was found" in said


def test_reserve_sends_the_request_as_it_is_where_its_model_fails() -> None:
    """PRE-2 and CMP-35: no fallback, and no tier after it."""
    request = driven("reserve", WORK, tokens=167_000, host=asks(RuntimeError("is down"))).prepare()
    assert request.report.outcome == "failed"
    assert len(request.messages) == 123


def test_reserve_counts_messages_alone_before_the_first_answer() -> None:
    """PRE-2 and TOK-8: system prompt and tools are in no sum without a usage; for `handoff` they are."""
    for policy, counts in (("reserve", False), ("handoff", True)):
        session = narrow(opened(policy=policy), WINDOW)
        session.user("go")
        alone = session.prepare().tokens.tokens
        assert (session.prepare(system="be kind " * 400).tokens.tokens > alone) is counts


# ── the ladders ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("policy", "count"), [("ladder-minimal", 50), ("ladder-professional", 20), ("ladder-enterprise", 20)]
)
def test_a_ladder_snips_above_its_count_of_messages(policy: str, count: int) -> None:
    """PRE-3, PRE-4, PRE-5, SNP-1: more than 50, more than 20; at exactly so many the next level acts."""
    for messages in (count, count + 1):
        behind = 2 + messages % 2  # the answer and the user's last words; the talk ends with the model's
        first = [40_000] if messages % 2 else []
        session = driven(
            policy, talk(*first, *[560_000 // count] * (messages - behind)), tokens=FIRST[policy]
        )
        assert session.size == messages
        request = session.prepare()
        assert ("snip" in passes(request)) is (messages > count)


def test_the_smallest_ladder_has_no_tokenizer_and_no_model() -> None:
    """PRE-3, CMP-39: a length by four; where its snip may not act the ledger makes the request fit, and nobody is asked."""
    session = driven("ladder-minimal", talk(*[15_000] * 40), tokens=FIRST["ladder-minimal"], host=asks())
    assert session.policy.counter == "length/4"
    assert session.policy.asking == ()
    request = session.prepare()
    assert passes(request) == ["ledger"]
    assert request.report.tokens_after < FIRST["ladder-minimal"]


@pytest.mark.parametrize(
    ("tool", "limit"), [("read_file", 8_000), ("bash", 2_000), ("other", 4_000)], ids=["file", "shell", "any"]
)
def test_a_ladder_cuts_results_over_their_tools_limit(tool: str, limit: int) -> None:
    """PRE-4, PRE-5, BUD-7, MIC-1: at 8,000, 2,000 and 4,000 tokens, to the first 1,500 and the last 500."""
    policy, most = "ladder-professional", WINDOW * 95 // 100 * 85 // 100
    weigh = opened()._known.setup.counter
    for tokens, cuts in ((limit, False), (max(limit + 1, 2_050), True)):  # the mark of a cut has its own size
        text = "z" * (4 * tokens)
        assert weigh.text(text) == tokens

        def say(session: Session, text: str = text) -> None:
            talk(*[90_000] * 5)(session)
            session.record(answer("look", ("t", tool)))
            session.tool_result("t", text)

        request = driven(policy, say, tokens=most + 1).prepare()
        assert ("microcompact" in passes(request)) is cuts


@pytest.mark.parametrize(("policy", "half"), [("ladder-professional", 95_000), ("ladder-enterprise", 94_500)])
def test_a_ladders_last_level_goes_to_half_the_budget_and_keeps_ten_messages(policy: str, half: int) -> None:
    """PRE-4, PRE-5, CMP-7, CMP-25, CMP-26: one call of its own, six fields, the instruction to recover behind it."""
    host = asks()
    request = driven(policy, FOURTEEN, tokens=FIRST[policy], host=host).prepare()
    assert isinstance(host.completer, ScriptedCompleter)
    [asked] = host.completer.requests
    assert not asked.is_fork
    said = request.data.decode()
    assert all(f"we talk of {n} and" in said for n in range(4, 12))
    assert request.report.tokens_after <= half
    assert len(request.messages) >= 11


def test_a_ladder_compacts_once_a_response() -> None:
    """PRE-4 and CMP-18: again before one, it says so and the caller has its last resort (CMP-39)."""
    session = driven("ladder-professional", WORK, tokens=161_501)
    session.prepare()
    session.user("and this " * 20_000)
    with pytest.raises(ContextExhausted):
        session.prepare()
    assert session.last_resort().outcome == "compacted"


# ── cascade ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("size", "is_cut"), [(4_000, False), (4_200, True)])
def test_cascade_cuts_a_result_before_every_request(size: int, *, is_cut: bool) -> None:
    """PRE-6 and BUD-6: over 4,000 characters, to the first 2,400 and the last 1,600, whatever the length."""
    session = narrow(opened(policy="cascade", model="claude-sonnet-4-5"), WINDOW)
    rounds(1, size=size)(session)
    assert passes(session.prepare()) == ["budget-reduction"] * is_cut


@pytest.mark.parametrize(("calls", "clears"), [(49, False), (50, True), (74, False), (75, True)])
def test_cascade_clears_at_fifty_calls_and_every_twenty_five(calls: int, *, clears: bool) -> None:
    """PRE-6 and MIC-2: at the counts, and between them nothing new."""
    session = narrow(opened(policy="cascade", model="claude-sonnet-4-5"), WINDOW)
    rounds(calls - 1, size=800)(session)
    session.prepare()
    session.record(answer("one more", ("last", "read_file")))
    session.tool_result("last", "what it says " * 60)
    assert passes(session.prepare()) == ["microcompact"] * clears


@pytest.mark.parametrize(("idle_s", "clears"), [(5_399, False), (5_400, True)])
def test_cascade_clears_after_ninety_minutes(idle_s: int, *, clears: bool) -> None:
    """PRE-6 and MIC-4: whatever the count."""
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    session = driven("cascade", rounds(9, size=2_000), tokens=9_000, store=store, clock=lambda: now[0])
    now[0] += idle_s * 1_000
    assert passes(session.prepare()) == ["microcompact"] * clears


def test_cascade_sums_up_old_turns_in_segments_ahead_of_its_line() -> None:
    """PRE-6, COL-4: in the background, from five to ten turns a call, that can be unfolded; by its line whole turns go first
    (SNP-2)."""
    text = "The parts were talked of one after the other, each holds what its name says, and nothing is open."
    host = asks(text)
    session = driven("cascade", talk(*[5_000] * 48), tokens=120_000, host=host)
    assert session.compact_in_background()
    settle(session)
    request = session.prepare()
    assert passes(request) == ["collapse"]
    assert text in request.data.decode()
    [made] = session.compactions
    assert len(made.summaries) == 1
    assert 10 <= made.report["covers"]["messages"] <= 20
    before = session.size
    session.unfold(made.report["covers"]["addresses"][0])
    assert session.size > before


@pytest.mark.parametrize("has_model", [True, False], ids=["with a model", "without"])
def test_cascade_folds_rounds_of_the_turn_that_may_not_go(*, has_model: bool) -> None:
    """PRE-6, BUD-12: no tier before the ledger acts within the last turn; with a model or without."""
    host = asks() if has_model else Host()
    for first, wanted in ((179_999, []), (180_000, ["ledger"])):
        session = narrow(opened(policy="cascade", model="claude-sonnet-4-5", host=host), WINDOW)
        rounds(40, size=400, words=15_000)(session)
        session.prepare()
        session.record(answer("so far", ("last", "read_file"), tokens=first - 20))
        session.tool_result("last", "y" * 32)
        grown = first - session.context_use()["tokens_projected"]
        session.close()
        session = narrow(opened(policy="cascade", model="claude-sonnet-4-5", host=host), WINDOW)
        rounds(40, size=400, words=15_000)(session)
        session.prepare()
        session.record(answer("so far", ("last", "read_file"), tokens=first - 20 + grown))
        session.tool_result("last", "y" * 32)
        assert session.context_use()["tokens_projected"] == first
        assert passes(session.prepare()) == wanted


@pytest.mark.parametrize(("tokens", "suggests"), [(119_999, False), (120_000, True), (180_000, False)])
def test_cascade_suggests_to_compact_by_hand_from_its_advice_on(tokens: int, *, suggests: bool) -> None:
    """PRE-6 and BUD-4: from 60 % of the window, until a compaction is due anyway; in the display and with each request."""
    session = driven("cascade", talk(*[7_500] * 60), tokens=tokens)
    shown = session.context_use()["notes"]
    assert any("suggests to compact by hand from 120,000" in note for note in shown) is suggests
    notes = session.prepare().report.notes
    assert any("suggests to compact by hand" in note for note in notes) is suggests


@pytest.mark.parametrize(("tokens", "waits"), [(189_999, False), (190_000, True)])
def test_cascade_waits_for_a_running_compaction_from_its_forced_line_on(tokens: int, *, waits: bool) -> None:
    """PRE-6 and BUD-4: below 95 % of the window the request goes out while a summary is written; from there on it waits."""
    session = driven("cascade", talk(*[7_500] * 60), tokens=tokens)
    looked = session._looked_for(None)
    assert session._must_wait(replace(looked, due=True)) is waits


def test_cascade_by_hand_writes_one_summary_and_keeps_two_turns() -> None:
    """PRE-6, CMP-37, BUD-13: straight to the fourth tier."""
    session = driven("cascade", TURNS, tokens=150_000, host=asks())
    report = session.compact()
    assert [step.name for step in report.passes] == ["auto-compact"]
    said = session.prepare().data.decode()
    assert [n for n in range(60) if f"we talk of {n} and" in said] == [58, 59]


# ── balanced ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_balanced_clears_old_results_where_that_suffices_and_folds_where_it_does_not() -> None:
    """PRE-7, MIC-8: down to 90,000 tokens; the newest five results stay, and what is said stays whole."""
    session = driven("balanced", WORK, tokens=144_000)
    request = session.prepare()
    assert request.report.tokens_after <= 90_000
    said = request.data.decode()
    assert all(f"line {n} of it" in said for n in range(55, 60))
