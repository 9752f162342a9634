"""Fault reports of kind `summariser-overflow`: what is asked of a model fits the model that is asked, and where it is refused the
session goes on, or says why not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.budget import Room
from foldline.core.errors import ProviderFailed
from foldline.engine.policy import Line, Policy
from foldline.presets import policy_of
from foldline.providers.bodies import body_for
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.settings import window_asked
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from foldline.wire.completion import CompletionRequest
from tests.bugs.case import all_text, load
from tests.session.making import answer, opened, reopened
from tests.session.modelling import body_of, kinds
from tests.session.test_conversation import narrow

CHARS_A_TOKEN = 4
"""Of the counter `length/4`."""
RESULT_TOKENS = 4_000
TURNS_MIN = 60
SIZES = [pytest.param(10, id="a tenth"), pytest.param(1, id="whole", marks=pytest.mark.nightly)]
"""By how much the numbers of a report are divided: what matters is their ratio."""
SUMMARY = "<summary>Delivery was moved, the check code was noted, and what is left is to carry on with the work.</summary>"


def read_through(session: Session, tokens: int, *, start: int = 0) -> Session:
    """The session with so many tokens of files that were read, none of them the same."""
    for number in range(start, start + tokens // RESULT_TOKENS):
        session.prepare()
        session.record(answer(f"look {number}", (f"t{number}", "read_file"), format=session.format))
        words = f"line {number} of a file that can be read again "
        session.tool_result(f"t{number}", (words * (RESULT_TOKENS * CHARS_A_TOKEN // len(words))))
    return session


def talked(session: Session, tokens: int) -> Session:
    """The session with so many tokens of words that no tool said."""
    piece = min(RESULT_TOKENS, tokens // TURNS_MIN)
    for number in range(tokens // piece):
        words = f"thought {number} about what was decided, and why it was decided so. "
        session.record(answer(words * (piece * CHARS_A_TOKEN // len(words)), format=session.format))
        session.user(f"go on {number}")
        session.prepare()
    return session


def grown(
    tokens: int,
    *,
    window: int,
    policy: Any = "balanced",
    completer: Any = None,
    talks: bool = False,
    **more: Any,
) -> Session:
    """A session that nothing was done for while it grew to so many tokens, then planned for a window."""
    session = opened(policy=policy, host=Host(completer=completer), **more)
    narrow(session, 100 * tokens)
    session.user("read it all, and never push to main")
    (talked if talks else read_through)(session, tokens)
    session.record(answer("read", format=session.format))
    session.user("and now?")
    return narrow(session, window)


def failing(words: str) -> ProviderFailed:
    """What an SDK's completer raises."""
    return ProviderFailed("anthropic", 400, why=words, body={"error": {"message": words}})


def tokens_of(request: CompletionRequest) -> int:
    """Of a request to a model, with its answer."""
    said = json.dumps([request.system, request.tools, request.wire()], ensure_ascii=False)
    return len(said) // CHARS_A_TOKEN + (request.output_cap or 0)


@pytest.mark.parametrize("policy", ["reserve", "handoff", "ladder-professional", "cascade", "balanced"])
@pytest.mark.parametrize("divided", SIZES)
def test_a_session_far_beyond_the_window_is_summed_up_by_requests_that_fit(policy: str, divided: int) -> None:
    """K01, earendil-works/pi#8371: the summary's request was as large as what overflowed."""
    payload = {key: number // divided for key, number in load("K01").payload.items()}
    window = payload["window"]
    completer = ScriptedCompleter(SUMMARY)
    tokens = payload["history_tokens"]
    session = grown(tokens, window=window, policy=policy, completer=completer, talks=True)
    assert session.context_use()["tokens_total"] > 2 * window
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert request.tokens.tokens + payload["output_reserve"] <= window
    assert [size for size in map(tokens_of, completer.requests) if size > window] == []
    assert "never push to main" in request.data.decode()


def test_a_failure_of_the_summariser_stands_in_the_log() -> None:
    """K01, earendil-works/pi#8371: it left no trace in the transcript."""
    payload = load("K01").payload
    store = MemoryStore()
    completer = ScriptedCompleter(failing("prompt is too long"))
    session = grown(200_000, window=100_000, policy="reserve", completer=completer, store=store)
    before = len(session._view().view)
    report = session.prepare().report
    assert (report.outcome, len(session._view().view)) == ("failed", before)
    assert payload["history_tokens"] > payload["window"]
    with reopened(session, store, policy="reserve") as again:
        settled = body_of(again, "settle")
        assert settled["outcome"] == "failed"
        assert "overflow" in json.dumps(settled)
        assert len(again._view().view) == before


def request_for(model: str, **more: Any) -> CompletionRequest:
    """A call of its own."""
    said = [{"role": "user", "content": "what was said"}]
    return CompletionRequest(
        format="anthropic", model=model, system=None, tools=None, messages=said, instruction="sum up", **more
    )


@pytest.mark.parametrize("cap", [None, 8_000, 250_000])
def test_no_more_output_is_asked_for_than_the_model_can_write(cap: int | None) -> None:
    """K03, earendil-works/pi#4390: a quarter of the window was asked for, and every compaction was refused."""
    payload = load("K03").payload
    model = payload["provider_error"]["message"].rsplit(" ", 1)[-1]
    body = body_for(request_for(model, output_cap=cap), format="anthropic", model=model, parameters={})
    most = payload["model_max_output"]
    assert body.value["max_tokens"] == min(cap or most, most)
    small = body_for(request_for(model, output_cap=8_000), format="openai-chat", model="gpt-4", parameters={})
    assert small.value["max_completion_tokens"] == 4_096, "the cap is of the model that is asked"


def test_a_refused_cap_is_shown_as_a_failure() -> None:
    """K03, earendil-works/pi#4390: it failed within 250 ms while the screen said that it was done."""
    error = load("K03").payload["provider_error"]
    found = foldline.classify_error("anthropic", error["status"], error["message"])
    assert (found.is_overflow, found.recovery) == (False, "lower_max_tokens")
    completer = ScriptedCompleter(failing(error["message"]))
    session = grown(50_000, window=40_000, policy="reserve", completer=completer)
    report = session.prepare().report
    assert report.outcome == "failed"
    assert {failure.name for failure in report.summary.failures} == {"provider_error"}
    assert "maximum allowed number of output tokens" in str(report.to_dict())


def test_a_request_leaves_room_for_its_answer() -> None:
    """K05, 0xku/kon#91: 180,225 tokens in and 16,384 out were one more than 196,608."""
    payload = load("K05").payload
    window, output = payload["window"], 16_384
    for name in ("balanced", "handoff", "ladder-professional"):
        policy = policy_of(name, window)
        line = policy.threshold.tokens(Room(window, output_cap=output, output_max=output))
        assert line + output < window - 1, name


def test_an_overflow_by_one_is_recovered_from_with_the_numbers_of_the_refusal() -> None:
    """K05, 0xku/kon#91: the next request and its output fit, with a margin; it is sent once more, not again and again."""
    payload = load("K05").payload
    error, window = payload["provider_error"], payload["window"]
    never = policy_with(Line(percent=100, of="window"))
    session = grown(180_225, window=window, policy=never, format="openai-chat")
    session.prepare()
    found = foldline.classify_error("vllm", error["status"], error["body"])
    assert (found.tokens_used, found.tokens_limit) == (180_225, 196_608)
    request = session.recover(error["body"], status=error["status"])
    assert request.tokens.tokens + 16_384 < window
    with pytest.raises(foldline.InvalidRequest, match="once already"):
        session.recover(error["body"], status=error["status"])


def policy_with(threshold: Line) -> Policy:
    """`balanced`, due from another line on."""
    return replace(policy_of("balanced"), threshold=threshold)


@pytest.mark.parametrize("window", [400_000, 16_000])
def test_the_summariser_has_a_window_of_its_own(window: int) -> None:
    """K06, letta-ai/letta#3279: a cap for the agent capped the summariser too, and a larger one could not help. Nor is a
    smaller one sent what only the agent's model could read."""
    payload = load("K06").payload
    assert payload["summariser_window"] == 400_000

    class Larger(ScriptedCompleter):
        tokens_window = window

    completer = Larger(SUMMARY)
    session = grown(
        120_000, window=payload["agent_window_cap"], policy="handoff", completer=completer, talks=True
    )
    assert session.prepare().report.outcome == "compacted"
    sizes = [tokens_of(request) for request in completer.requests]
    assert max(sizes) <= window
    assert (len(sizes) == 1) is (window == payload["summariser_window"])
    assert (max(sizes) > payload["agent_window_cap"]) is (window == payload["summariser_window"])


def test_the_window_of_a_named_summariser_is_the_models() -> None:
    """K06: a completer over an SDK names its model; what is not known of it is not guessed."""

    class Named:
        model = "gpt-4o"

    assert window_asked(Named(), model="claude-sonnet-4-5") == 128_000
    assert window_asked(Named(), model="gpt-4o") is None
    assert window_asked(ScriptedCompleter(SUMMARY), model="gpt-4o") is None
    Named.model = "a-model-that-nobody-knows"
    assert window_asked(Named(), model="gpt-4o") is None


def test_the_window_that_is_really_served_is_learned_from_the_refusal() -> None:
    """K07, anomalyco/opencode#50187: the configured window was eight times as large."""
    payload = load("K07").payload
    error = payload["provider_error"]
    body = {"error": {"code": 400, "type": "exceed_context_size_error", **error}}
    session = grown(20_000, window=payload["configured"], policy=policy_with(Line(percent=100, of="window")))
    session.prepare()
    request = session.recover(body, status=error["status"])
    assert request.tokens.tokens < error["n_ctx"]
    told = " ".join(request.report.notes)
    assert "8,192" in told
    assert session.prepare().tokens.tokens < error["n_ctx"]


def test_over_the_limit_any_saving_that_makes_the_request_fit_is_made() -> None:
    """K10, google-gemini/gemini-cli#14766: 1.8 % was called not beneficial, and nothing was sent any more."""
    payload = load("K10").payload
    window = payload["limit"] // 100
    over, after = payload["counted"] // 100, payload["candidate_after"] // 100
    whole = Line(percent=100, of="window")
    policy = replace(policy_of("balanced"), threshold=whole, target=whole)
    session = grown(over - RESULT_TOKENS, window=window, policy=policy)
    lack = over - session.context_use()["tokens_total"]
    session.record(answer("word " * (lack * CHARS_A_TOKEN // 5)))
    session.user("and now?")
    assert session.context_use()["tokens_total"] >= window > after
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert request.tokens.tokens < window
    assert 0 < request.report.tokens_before - request.report.tokens_after


@pytest.mark.parametrize("policy", ["balanced", "cascade", "handoff"])
def test_before_a_model_is_asked_what_can_be_had_again_is_taken_out(policy: str) -> None:
    """K11, openai/codex#8632: old tool outputs were sent to be summed up, and the request was refused again and again."""
    payload = load("K11").payload
    refused = ScriptedCompleter(failing("context_length_exceeded"))
    session = grown(
        payload["history_tokens"],
        window=payload["window"],
        policy=policy,
        completer=refused,
        format="openai-responses",
    )
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert request.tokens.tokens < payload["window"]
    assert [size for size in map(tokens_of, refused.requests) if size > payload["window"]] == []
    assert len(refused.requests) <= 3
    assert kinds(session).count("compaction") <= 1
    assert "never push to main" in all_text(request.messages)
