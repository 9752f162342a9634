"""The provider's own service through a wrapped client: asked by policy, in every way that the SDKs send, and exclusive with ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.clients.wrap import wrap
from foldline.engine.policy import Line, Native, Policy
from foldline.presets import policy_of
from foldline.testing.twin import Answer, Call, Received, Twin, endless
from foldline.wire.native import CLEARING_BETA, THRESHOLD_BETA
from tests.clients.agents import MODEL, RULE, WINDOW, asked, client_of, echoed, said, spoken, step
from tests.clients.test_wrap import TURNS, home, run

assert home, "a fixture"
COMPACTS = ("anthropic", "openai-responses")
KEYS = {"anthropic": "messages", "openai-responses": "input"}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own


def compacting() -> Policy:
    """`balanced`, with the provider's service in the place of its tiers."""
    line = Line(percent=60, of="window")
    return replace(policy_of("balanced"), name="native", threshold=line, native=Native(compacts=True))


@pytest.fixture
def twin() -> Iterator[Twin]:
    """A provider that thinks, and compacts where it is asked to."""
    answers = endless(Answer(text="done", thinking="hm"))
    with Twin(answers, window=WINDOW, summaries=["What was done."] * 50) as twin:
        yield twin


def opening_of(request: Received, format: str) -> str:
    """The first message that is sent."""
    return json.dumps(request.parsed[KEYS[format]][0])


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("format", COMPACTS)
def test_the_service_compacts_a_callers_own_list(twin: Twin, format: str, is_async: bool) -> None:
    """Native compaction used by policy, exclusive with ours; its block is sent as it was signed (the twin checks that), what
    stands before it is sent no more, and the log keeps both."""
    client = wrap(
        client_of(format, twin.url, is_async=is_async), session="agent", policy=compacting(), native=True
    )
    messages = run(client, format, turns=TURNS, stream=False, is_async=is_async)
    known = client.foldline
    assert {request.status for request in twin.requests} == {200}
    assert len(twin.requests) == TURNS, "the thinking of the round behind the block stays"
    assert all("context_management" in request.parsed for request in twin.requests)
    if format == "anthropic":
        assert {request.headers["anthropic-beta"] for request in twin.requests} == {THRESHOLD_BETA}
    first = next(n for n, one in enumerate(twin.requests) if "compaction" in opening_of(one, format))
    assert all("compaction" in opening_of(one, format) for one in twin.requests[first:])
    assert len(twin.requests[-1].parsed[KEYS[format]]) < len(messages) // 2
    assert [n for n in range(first + 1, TURNS) if twin.requests[n].extends != n - 1] == []
    assert list(known.session.compactions) == []
    assert known.passed == {}
    kept = json.dumps(list(known.session.messages))
    assert "What was done." in kept or format == "openai-responses"
    assert '"compaction"' in kept
    assert all(f"step {n} w" in kept for n in range(TURNS - 1))
    known.close()


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("how", ["events", "helper"])
def test_a_streamed_answer_brings_the_block_even_to_a_caller_who_drops_it(
    twin: Twin, how: str, is_async: bool
) -> None:
    """The block is taken from what was heard: a caller that puts texts together, or a helper of the SDK that does not know such
    blocks, loses it from its own list, and it is sent all the same."""
    client = wrap(
        client_of("anthropic", twin.url, is_async=is_async),
        session="agent",
        policy=compacting(),
        native=True,
    )
    if how == "events":
        run(client, "anthropic", turns=TURNS, stream=True, is_async=is_async)
    else:
        asyncio.run(ahelped(client)) if is_async else helped(client)
    assert {request.status for request in twin.requests} == {200}
    assert "compaction" in opening_of(twin.requests[-1], "anthropic")
    assert list(client.foldline.session.compactions) == []
    assert client.foldline.passed == {}
    client.foldline.close()


def helped(client: Any) -> None:
    """An agent on the helper `messages.stream`."""
    messages = [said("anthropic", RULE)]
    for n in range(TURNS):
        with client.messages.stream(model=MODEL, max_tokens=200, messages=messages) as stream:
            final = stream.get_final_message()
        texts = [block.text for block in final.content if block.type == "text" and block.text]
        messages += [*spoken("anthropic", "".join(texts)), said("anthropic", step(n))]
    client.close()


async def ahelped(client: Any) -> None:
    """The same, awaited."""
    messages = [said("anthropic", RULE)]
    for n in range(TURNS):
        async with client.messages.stream(model=MODEL, max_tokens=200, messages=messages) as stream:
            final = await stream.get_final_message()
        texts = [block.text for block in final.content if block.type == "text" and block.text]
        messages += [*spoken("anthropic", "".join(texts)), said("anthropic", step(n))]
    await client.close()


def test_items_of_a_stream_that_are_given_back_are_compacted_on_the_way(twin: Twin) -> None:
    """Responses: the answer's items belong into the list, whoever compacts."""
    client = wrap(client_of("openai-responses", twin.url), session="agent", policy=compacting(), native=True)
    messages = [said("openai-responses", RULE)]
    for n in range(TURNS):
        events = asked(client, "openai-responses", messages, stream=True)
        [last] = [event for event in events if event.type == "response.completed"]
        messages += [*last.response.output, said("openai-responses", step(n))]
    assert {request.status for request in twin.requests} == {200}
    assert "compaction" in opening_of(twin.requests[-1], "openai-responses")
    client.foldline.close()
    client.close()


def test_a_restarted_client_goes_on_from_the_block(twin: Twin) -> None:
    """The block follows from the log and the list, and so do the bytes."""
    client = wrap(client_of("anthropic", twin.url), session="agent", policy=compacting(), native=True)
    messages = run(client, "anthropic", turns=TURNS, stream=False, is_async=False)
    client.foldline.close()
    again = wrap(client_of("anthropic", twin.url), session="agent", policy=compacting(), native=True)
    asked(again, "anthropic", messages)
    assert twin.requests[-1].extends == TURNS - 1
    again.foldline.close()
    again.close()


def test_a_refusal_for_size_is_recovered_from_by_ours_and_the_service_is_asked_no_more() -> None:
    """Exclusive per session (decision 0013)."""
    with Twin(endless("done"), window=WINDOW // 3) as twin:
        client = wrap(client_of("anthropic", twin.url), session="agent", policy=compacting(), native=True)
        run(client, "anthropic", turns=9, stream=False, is_async=False)
        asks = ["context_management" in request.parsed for request in twin.requests]
        refused = [n for n, request in enumerate(twin.requests) if request.status != 200]
        assert refused
        assert asks == [n <= refused[0] for n in range(len(asks))]
        assert len(list(client.foldline.session.compactions)) >= 1
        client.foldline.close()


def test_cascade_has_old_results_cleared_by_the_service_and_the_tool_runner_goes_on() -> None:
    """MIC-3, PRE-6: at Anthropic the service clears, at the documented counts of calls; messages here stay as they are."""
    calls = [Answer(calls=(Call(name="read_file", arguments={"path": f"f{n}.py"}),)) for n in range(60)]
    anthropic = pytest.importorskip("anthropic", reason="the SDK anthropic is not installed")

    @anthropic.beta_tool  # type: ignore[untyped-decorator]
    def read_file(path: str) -> str:
        """Read a file."""
        return f"{path}: " + "line " * 60

    with Twin([*calls, Answer(text="done")], window=200_000) as twin:
        client = wrap(client_of("anthropic", twin.url), session="agent", policy="cascade", native=True)
        runner = client.beta.messages.tool_runner(
            model="claude-sonnet-5",
            max_tokens=500,
            tools=[read_file],
            messages=[said("anthropic", RULE)],
            thread=False,
        )
        assert runner.until_done().content[0].text == "done"
        asks = [request.parsed.get("context_management") for request in twin.requests]
        assert asks[:50] == [None] * 50
        assert all(ask["edits"][0]["type"] == "clear_tool_uses_20250919" for ask in asks[50:])
        assert all(CLEARING_BETA in one.headers["anthropic-beta"] for one in twin.requests[50:])
        assert all(len(one.parsed["messages"]) == 1 + 2 * n for n, one in enumerate(twin.requests))
        assert "f0.py" in json.dumps(twin.requests[-1].parsed["messages"])
        client.foldline.close()
        client.close()


def test_a_callers_own_betas_go_along(twin: Twin) -> None:
    """Of the client, and of the request."""
    given = client_of("anthropic", twin.url).with_options(default_headers={"anthropic-beta": "of-the-client"})
    client = wrap(given, session="agent", policy=compacting(), native=True)
    asked(client, "anthropic", [said("anthropic", RULE)])
    client.messages.create(
        model=MODEL,
        max_tokens=9,
        messages=[said("anthropic", "Another.")],
        extra_headers={"Anthropic-Beta": "of-the-request"},
    )
    answer = asked(client, "anthropic", [said("anthropic", RULE)])
    assert echoed("anthropic", answer)
    told = [request.headers["anthropic-beta"] for request in twin.requests]
    assert told == [f"of-the-client,{THRESHOLD_BETA}", "of-the-request", f"of-the-client,{THRESHOLD_BETA}"]
    client.foldline.close()
    client.close()


def test_without_being_asked_nothing_is_asked(twin: Twin) -> None:
    """`native` is the host's to say, whatever the policy has; a caller's own asking is the caller's."""
    client = wrap(client_of("anthropic", twin.url), session="agent", policy=compacting())
    asked(client, "anthropic", [said("anthropic", RULE)])
    assert "context_management" not in twin.requests[0].parsed
    client.foldline.close()
    client.close()
