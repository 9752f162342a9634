"""The provider's own service in a session: asked by policy, exclusive with ours, its blocks kept, and derived from the log."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.engine.policy import Clears, Line, Native, Policy
from foldline.presets import policy_of
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore
from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.wire import native
from tests.session.making import reopened
from tests.session.modelling import kinds
from tests.session.test_conversation import narrow
from tests.testing.twin.client import CLAUDE, GPT, Back, send

PATHS = {"anthropic": "/v1/messages", "openai-responses": "/v1/responses"}
MODELS = {"anthropic": CLAUDE, "openai-responses": GPT}
TOOLS: Any = {
    "anthropic": [{"name": name, "input_schema": {"type": "object"}} for name in ("read_file", "todo")],
    "openai-responses": [{"type": "function", "name": "read_file", "parameters": {"type": "object"}}],
}
CALLS = endless(Answer(text="Looking.", calls=(Call(name="read_file", arguments={"path": "a.py"}),)))


def compacting(line: int = 60) -> Policy:
    """`balanced`, with the provider's service in the place of its tiers."""
    return replace(
        policy_of("balanced"),
        name="native",
        threshold=Line(percent=line, of="window"),
        native=Native(compacts=True),
    )


def begun(
    policy: Any, *, format: str = "anthropic", store: MemoryStore | None = None, window: int = 4_000
) -> Session:
    """A session whose host passes everything on."""
    asked = SessionOptions(policy=policy, format=format, native=True, counter="o200k_base")
    session = narrow(open_in(store or MemoryStore(), "s", asked=asked), window)
    session.user("Find why login fails. Never push to main.")
    return session


def sent(twin: Twin, session: Session) -> Back:
    """The next request, at the twin, with everything that it asks for."""
    format = session.format
    request = session.prepare(tools=TOOLS[format])
    body = {"model": MODELS[format], **request.body}
    if format == "anthropic":
        body["max_tokens"] = 500
    headers = {"anthropic-beta": ",".join(request.betas)} if request.betas else {}
    back = send(twin, PATHS[format], body, headers)
    assert back.status == 200, back.body
    session.record(back.body)
    return back


def went_on(twin: Twin, session: Session, rounds: int, *, size: int = 60) -> list[Back]:
    """So many rounds of a call each."""
    told = []
    for number in range(rounds):
        told.append(sent(twin, session))
        for call in session.waiting:
            session.tool_result(call.id, f"line {number} " * size)
    return told


@pytest.mark.parametrize("format", list(PATHS))
def test_the_service_compacts_and_what_stands_before_its_block_is_no_longer_sent(format: str) -> None:
    """Used by policy, exclusive with ours, blocks kept byte-exact (the twin checks their signatures), and the log
    keeps the block and what it replaced."""
    with Twin(replies=CALLS, summaries=["What was done: nothing yet."] * 50) as twin:
        session = begun(compacting(), format=format)
        backs = went_on(twin, session, 24)
        bodies = [received.parsed for received in twin.requests]
    assert sum(native.done(back.body).compactions for back in backs) >= 2
    assert "compaction" not in kinds(session)
    key = "messages" if format == "anthropic" else "input"
    lengths = [len(body[key]) for body in bodies]
    assert max(lengths) < len(session.messages)
    assert any(later < before for before, later in pairwise(lengths))
    first = next(json.dumps(body[key][0]) for body in reversed(bodies))
    assert '"compaction"' in first
    assert "Find why login fails" in str(list(session.messages))
    assert max(received.tokens for received in twin.requests) < 4_000


def test_what_the_service_did_is_told_in_the_report_and_in_the_log() -> None:
    """Our log keeps both, and says so."""
    with Twin(replies=CALLS, summaries=[None, "What was done.", "More."]) as twin:
        session = begun(compacting())
        notes: list[str] = []
        for _ in range(24):
            went_on(twin, session, 1)
            notes += session.prepare().report.notes
    assert any("could not" in note for note in notes)
    assert any("compacted the conversation" in note for note in notes)
    told = [json.loads(e.body) for e in session._keeper.log.entries() if e.kind == "message"]
    found = [one["native"] for one in told if "native" in one]
    assert {"failed": 1} in found
    assert {"compactions": 1} in found


def test_a_session_that_is_opened_again_sends_the_same_bytes() -> None:
    """JRN-8, law REPLAY: where the service's block stands follows from the log."""
    store = MemoryStore()
    with Twin(replies=CALLS, summaries=["Done so far."] * 50) as twin:
        session = begun(compacting(), store=store)
        went_on(twin, session, 16)
        before = session.prepare()
        with reopened(session, store, policy=compacting(), native=True, counter="o200k_base") as again:
            narrow(again, 4_000)
            after = again.prepare()
            assert (after.data, after.betas) == (before.data, before.betas)
            assert after.messages[0]["content"][0]["type"] == "compaction"
            sent(twin, again)


def test_after_a_compaction_of_ours_the_service_is_asked_no_more() -> None:
    """Exclusive per session: after a refusal for size, or by hand, ours takes over; the service's block stays first."""
    with Twin(replies=CALLS, summaries=["Done so far."] * 50) as twin:
        session = begun(compacting())
        went_on(twin, session, 16)
        assert "context_management" in session.prepare().body
        report = session.compact(to=1_200)
        assert report.outcome == "compacted"
        request = session.prepare()
        assert "context_management" not in request.body
        assert request.betas == (native.THRESHOLD_BETA,)
        assert request.messages[0]["content"][0]["type"] == "compaction"
        sent(twin, session)
        session.undo()
        assert "context_management" in session.prepare().body


def test_a_session_whose_host_passes_nothing_on_asks_for_nothing() -> None:
    """By default ours does it."""
    asked = SessionOptions(policy=compacting(), format="anthropic", counter="o200k_base")
    session = narrow(open_in(MemoryStore(), "s", asked=asked), 4_000)
    session.user("go")
    request = session.prepare()
    assert request.body.keys() == {"messages"}
    assert request.betas == ()


@pytest.mark.parametrize(("format", "asks"), [("gemini", False), ("openai-chat", False), ("anthropic", True)])
def test_only_a_provider_that_has_the_service_is_asked(format: str, *, asks: bool) -> None:
    """Where the provider has it; elsewhere the policy's tiers run."""
    session = begun(compacting(), format=format)
    assert session._is_served is asks
    assert ("context_management" in session.prepare().body) is asks


def test_the_service_clears_in_the_place_of_the_policys_own_clearing() -> None:
    """MIC-3: at the document's counts, the newest five stay, the eight tools alone; local messages unchanged, one break of
    the prompt cache a count."""
    policy = replace(
        policy_of("cascade"), native=Native(clears=Clears(first_calls=10, every_calls=5, tokens_least=0))
    )
    with Twin(replies=CALLS, cache_tokens_min=1) as twin:
        session = begun(policy, window=100_000)
        backs = went_on(twin, session, 18)
        cleared = [native.done(back.body).tool_uses_cleared for back in backs]
        edits = [received.parsed.get("context_management") for received in twin.requests]
    assert cleared == [0] * 10 + [5] * 5 + [10] * 3
    assert edits[9] is None
    assert edits[10]["edits"][0]["exclude_tools"] == ["todo"]
    assert [kind for kind in kinds(session) if kind in ("edit", "compaction")] == []
    assert all("cleared" not in str(message) for message in session.prepare().messages)
    notes = [note for note in session.prepare().report.notes if "cleared" in note]
    assert notes == []  # told once, with the request after the response
    assert session._keeper.state.calls == 18


def test_cascade_clears_by_the_service_at_anthropic_and_on_its_own_elsewhere() -> None:
    """PRE-6: service at Anthropic, else local."""
    assert policy_of("cascade").native.clears == Clears()
    for format, names in (("anthropic", False), ("openai-chat", True)):
        session = begun("cascade", format=format)
        assert ("microcompact" in [tier.name for tier in session._policy.tiers]) is names
    local = SessionOptions(policy="cascade", format="anthropic", counter="o200k_base")
    assert "microcompact" in [t.name for t in open_in(MemoryStore(), "s", asked=local)._policy.tiers]


def test_for_another_model_the_service_is_asked_too() -> None:
    """TOK-10: another window, the same host, which passes on what is asked."""
    session = begun(compacting())
    before = session.prepare()
    session.use("claude-sonnet-4-5")
    after = session.prepare()
    assert after.betas == before.betas != ()
    assert json.dumps(after.body).count(str(200_000 * 60 // 100)) == 1
