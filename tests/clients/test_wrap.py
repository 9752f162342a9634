"""A wrapped client is used as before, in every dialect, sync and async, streamed or not; only what is too long is not sent."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline.clients.tickets import RECALLS_MAX, TOLD_MAX
from foldline.clients.wrap import wrap
from foldline.core.errors import InvalidOption
from foldline.session.following import Following, Kept
from foldline.testing.twin import Answer, Call, Received, Twin, endless
from foldline.testing.twin.script import Delivery
from tests.clients.agents import (
    FORMATS,
    MODEL,
    RULE,
    SETTINGS,
    WINDOW,
    asked,
    client_of,
    echoed,
    said,
    spoken,
    step,
    text_in,
)
from tests.engine.scripted import Asking, asking_tier
from tests.engine.scripted import policy as scripted

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
TURNS = 16


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    (tmp_path / "foldline").mkdir()
    (tmp_path / "foldline" / "foldline.toml").write_text(SETTINGS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def twin() -> Iterator[Twin]:
    """A provider whose window is that of the model in the settings."""
    with Twin(endless(Answer(text="done", thinking="hm")), window=WINDOW) as twin:
        yield twin


def sync_agent(client: Any, format: str, *, turns: int, stream: bool) -> list[Any]:
    """So many turns; the agent's own list."""
    messages = [said(format, RULE)]
    for n in range(turns):
        answer = asked(client, format, messages, stream=stream)
        if stream:
            messages += spoken(format, "".join(text_in(format, event) for event in answer))
        else:
            messages += echoed(format, answer)
        messages.append(said(format, step(n)))
    return messages


async def async_agent(client: Any, format: str, *, turns: int, stream: bool) -> list[Any]:
    """The same, awaited."""
    client = client.aio if format == "gemini" else client
    messages = [said(format, RULE)]
    for n in range(turns):
        answer = await asked(client, format, messages, stream=stream)
        if stream:
            messages += spoken(format, "".join([text_in(format, event) async for event in answer]))
        else:
            messages += echoed(format, answer)
        messages.append(said(format, step(n)))
    return messages


def run(client: Any, format: str, *, turns: int, stream: bool, is_async: bool) -> list[Any]:
    """An agent of either kind, and its client closed behind it."""
    if not is_async:
        try:
            return sync_agent(client, format, turns=turns, stream=stream)
        finally:
            client.close()

    async def whole() -> list[Any]:
        try:
            return await async_agent(client, format, turns=turns, stream=stream)
        finally:
            await (client.aio.aclose() if format == "gemini" else client.close())

    return asyncio.run(whole())


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
def test_an_agent_runs_past_its_window(twin: Twin, format: str, stream: bool, is_async: bool) -> None:
    """CMP-1: checked before every request, and reduced before one would be refused; the provider takes every one, the rule
    of the first message is in all of them, and the log has every word."""
    client = wrap(client_of(format, twin.url, is_async=is_async), session="agent")
    messages = run(client, format, turns=TURNS, stream=stream, is_async=is_async)
    known = client.foldline
    assert [request.status for request in twin.requests] == [200] * TURNS
    assert all("Never touch auth.py" in request.body.decode() for request in twin.requests)
    assert all(json.loads(request.body).get("stream", stream) == stream for request in twin.requests)
    assert known.session.size < len(messages)
    texts = [json.dumps(message) for message in known.session.messages]
    assert all(any(f"step {n} w" in text for text in texts) for n in range(TURNS - 1))
    compactions = len(list(known.session.compactions))
    broken = [n for n in range(1, TURNS) if twin.requests[n].extends != n - 1]
    assert len(broken) == compactions >= 1, "law ONCE: one break of the prefix a compaction"
    known.close()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_below_the_threshold_the_bytes_are_those_of_the_sdk(format: str, stream: bool) -> None:
    """LOSSLESS: a request that nothing was done for is the one that would have been sent."""
    bodies = []
    for is_wrapped in (False, True):
        with Twin(endless(Answer(text="done", thinking="hm")), window=WINDOW) as twin:
            client = client_of(format, twin.url)
            run(wrap(client) if is_wrapped else client, format, turns=3, stream=stream, is_async=False)
            bodies.append([(request.path, request.body) for request in twin.requests])
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_an_overflow_is_recovered_from_before_anything_was_delivered(
    format: str, stream: bool, is_async: bool
) -> None:
    """REA-1, REA-2: a provider whose window is smaller than what is known of it refuses; one compaction, one retry, and the
    agent sees an answer."""
    with Twin(endless("done"), window=WINDOW // 3) as twin:
        client = wrap(client_of(format, twin.url, is_async=is_async), session="agent")
        run(client, format, turns=9, stream=stream, is_async=is_async)
        refused = [n for n, request in enumerate(twin.requests) if request.tokens > WINDOW // 3]
        assert len(twin.requests) == 9 + len(refused)
        assert refused
        assert not any(n + 1 in refused for n in refused)
        client.foldline.close()


@pytest.mark.parametrize("format", FORMATS)
def test_a_restarted_agent_goes_on_with_the_same_bytes(twin: Twin, format: str) -> None:
    """The session is found again by the list; the provider's cache is too."""
    client = wrap(client_of(format, twin.url), session="agent")
    messages = sync_agent(client, format, turns=TURNS, stream=False)
    client.foldline.close()
    client.close()
    again = wrap(client_of(format, twin.url), session="agent")
    asked(again, format, messages)
    assert twin.requests[-1].extends == TURNS - 1
    again.foldline.close()
    again.close()


@pytest.mark.parametrize("format", FORMATS)
def test_what_else_a_client_does_is_its_own_affair(twin: Twin, format: str) -> None:
    """Other calls pass, the given client is as it was, and closing is closing."""
    given = client_of(format, twin.url)
    client = wrap(given)
    assert type(given).__name__ in type(client).__name__
    if format == "anthropic":
        counted = client.messages.count_tokens(model=MODEL, messages=[said(format, RULE)])
        assert counted.input_tokens > 0
    if format == "gemini":
        assert client.models.count_tokens(model=MODEL, contents=RULE).total_tokens > 0
    assert client.foldline.report is None
    asked(given, format, [said(format, RULE)])
    assert client.foldline.session is None
    assert not hasattr(given, "foldline")
    client.close()


def test_what_an_agent_works_on_stands_behind_its_summary(
    twin: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RST-1, RST-5: a caller registers nothing; the files of its calls below the current folder, as they are now."""
    (tmp_path / "app.py").write_text("as it is now")
    monkeypatch.chdir(tmp_path)
    client = wrap(client_of("anthropic", twin.url), session="agent")
    read = {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "app.py"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "as it was"}
    messages: list[Any] = [
        said("anthropic", RULE),
        {"role": "assistant", "content": [read]},
        {"role": "user", "content": [result]},
    ]
    for n in range(TURNS):
        answer = asked(client, "anthropic", messages)
        messages += [*echoed("anthropic", answer), said("anthropic", step(n))]
    assert {request.status for request in twin.requests} == {200}
    assert "as it is now" in twin.requests[-1].body.decode()
    client.foldline.close()
    client.close()


def test_an_open_session_may_be_given(twin: Twin) -> None:
    """What the host does with it meanwhile counts: a pin, a compaction by hand."""
    with foldline.open("mine", model=MODEL, format="openai-chat") as session:
        client = wrap(client_of("openai-chat", twin.url), session=session)
        messages = sync_agent(client, "openai-chat", turns=8, stream=False)
        before = len(json.loads(twin.requests[-1].body)["messages"])
        session.compact(to=9_000)
        asked(client, "openai-chat", messages)
        assert len(json.loads(twin.requests[-1].body)["messages"]) < before
        client.close()


RECALLED = "w1x499"
"""A word of the second step, which is folded by the end."""


def looking(*, wait_s: float = 0.0) -> Callable[[Received], Answer]:
    """A model that once looks up what is no longer shown, as soon as it may, and takes a while to say so."""
    looked: list[Received] = []

    def model(request: Received) -> Answer:
        if not looked and '"recall"' in request.body.decode():
            looked.append(request)
            call = Call(name="recall", arguments={"query": RECALLED}, id="recall_1")
            delivery = Delivery(wait_s=wait_s)
            return Answer(text="let me see", thinking="hm", calls=(call,), delivery=delivery)
        return Answer(text="done", thinking="hm")

    return model


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
def test_what_was_taken_out_is_looked_up_inside(format: str, stream: bool, is_async: bool) -> None:
    """The tool `recall` in a wrapped client: added with the first reduction, answered beside the caller's list, which sees
    nothing of it; what was recalled stays before the model, in the same bytes."""
    with Twin(endless(looking()), window=WINDOW) as twin:
        client = wrap(client_of(format, twin.url, is_async=is_async), session="agent", recall=True)
        messages = run(client, format, turns=TURNS, stream=stream, is_async=is_async)
        requests = twin.requests
        assert {request.status for request in requests} == {200}
        assert len(requests) == TURNS + 1
        at = 1 + next(n for n, request in enumerate(requests) if b'"recall"' in request.body)
        assert RECALLED in last_of(requests[at])
        assert requests[at].extends == at - 1
        assert "let me see" in requests[at].body.decode()
        assert not any('"recall"' in json.dumps(message, default=repr) for message in messages)
        assert "let me see" not in json.dumps(messages, default=repr)
        broken = [n for n in range(1, len(requests)) if requests[n].extends != n - 1]
        assert len(broken) == len(list(client.foldline.session.compactions)) >= 1
        client.foldline.close()


@pytest.mark.parametrize("format", FORMATS)
def test_a_call_of_recall_is_not_delivered_where_the_conversation_went_on_beside_it(format: str) -> None:
    """Two requests of one conversation at a time: the one whose turn is lost is asked once more, without the tool."""
    with Twin(endless(looking(wait_s=0.5)), window=WINDOW) as twin:
        client = wrap(client_of(format, twin.url), session="agent", recall=True)
        messages = sync_agent(client, format, turns=4, stream=False)
        while not any(b'"recall"' in request.body for request in twin.requests):
            count = len(twin.requests)
            with ThreadPoolExecutor(1) as beside:
                late = beside.submit(asked, client, format, messages)
                twin.wait_for(count + 1)
                answer = asked(client, format, messages)
                delivered = [echoed(format, one) for one in (answer, late.result())]
            assert "recall" not in json.dumps(delivered, default=repr)
            messages += [*delivered[0], said(format, step(len(messages)))]
        assert {request.status for request in twin.requests} == {200}
        client.foldline.close()
        client.close()


def last_of(request: Received) -> str:
    """The last message of a request."""
    told = request.parsed
    return json.dumps(next(told[key] for key in ("messages", "input", "contents") if key in told)[-1])


def test_a_callers_own_tools_go_along_and_a_model_that_only_looks_up_is_stopped() -> None:
    """Every loop has a named bound: behind the last recall the tool is gone, and the caller's own are as they were."""

    def model(request: Received) -> Answer:
        if '"recall"' in json.dumps(request.parsed.get("tools")):
            return Answer(calls=(Call(name="recall", arguments={"query": RECALLED}),))
        return Answer(text="done")

    own = {"name": "read_file", "description": "Read it.", "input_schema": {"type": "object"}}
    with Twin(endless(model), window=WINDOW) as twin:
        client = wrap(client_of("anthropic", twin.url), session="agent", recall=True)
        messages: list[Any] = [said("anthropic", RULE)]
        for n in range(TURNS):
            answer = client.messages.create(model=MODEL, max_tokens=200, messages=messages, tools=[own])
            assert answer.stop_reason == "end_turn"
            messages += [*echoed("anthropic", answer), said("anthropic", step(n))]
        looks = [len(request.parsed["tools"]) for request in twin.requests]
        runs = "".join(str(count) for count in looks).split("1")
        assert {len(run) for run in runs if run} == {RECALLS_MAX + TOLD_MAX}
        assert all(request.parsed["tools"][0] == own for request in twin.requests)
        assert own not in messages
        client.foldline.close()
        client.close()


def test_a_recall_that_cannot_be_kept_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is asked once more, without the tool, and it is counted why."""

    def failing(self: Following, response: Any, *, is_spent: bool, is_delivered: bool) -> list[Kept]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Following, "recall", failing)
    asked_so: list[Received] = []
    looks = looking()

    def model(request: Received) -> Answer:
        if request.parsed.get("tool_choice") == "none":
            asked_so.append(request)
            return Answer(text="without")
        return looks(request)

    with Twin(endless(model), window=WINDOW) as twin:
        client = wrap(client_of("openai-chat", twin.url), session="agent", recall=True)
        messages = sync_agent(client, "openai-chat", turns=TURNS, stream=False)
        assert "without" in json.dumps(messages, default=repr)
        assert client.foldline.passed == {"a call of recall was not answered (OSError)": len(asked_so)}
        client.foldline.close()
        client.close()


def test_wrong_options_are_refused_by_name(twin: Twin) -> None:
    """Before anything is opened."""
    with pytest.raises(
        InvalidOption, match=r"client='object': give a client of anthropic, openai or google-genai$"
    ):
        wrap(object())
    with pytest.raises(foldline.UnknownPolicy):
        wrap(client_of("openai-chat", twin.url), policy="none")
    with pytest.raises(InvalidOption, match="give a name with a visible character"):
        wrap(client_of("openai-chat", twin.url), model="")
    with pytest.raises(InvalidOption, match="give the name of a session, or one that is open"):
        wrap(client_of("openai-chat", twin.url), session=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="a session's name has 1 to 128 ASCII letters"):
        wrap(client_of("openai-chat", twin.url), session="a/b")
    with pytest.raises(InvalidOption, match=r"give the genai\.Client itself"):
        wrap(client_of("gemini", twin.url).aio)


def test_while_a_model_writes_a_summary_only_its_own_conversation_waits(twin: Twin) -> None:
    """One client serves many agents: a summary of one of them takes minutes, and holds up no other. A second request of
    the same conversation waits for it, and goes out after it."""
    writes, written = threading.Event(), threading.Event()

    def completer(request: foldline.CompletionRequest) -> str:
        writes.set()
        assert written.wait(30)
        return "The first steps are done, and nothing failed."

    policy = scripted(asking_tier(Asking(1, 11)))
    client = wrap(client_of("openai-chat", twin.url), session="agent", policy=policy, completer=completer)
    messages = [said("openai-chat", RULE)]
    for n in range(8):
        messages += [*spoken("openai-chat", "done"), said("openai-chat", step(n, 3_000))]
    done: list[str] = []

    def ask(name: str) -> None:
        asked(client, "openai-chat", messages)
        done.append(name)

    first = threading.Thread(target=ask, args=("first",))
    first.start()
    assert writes.wait(30)
    second = threading.Thread(target=ask, args=("second",))
    second.start()
    for n in range(3):
        asked(client, "openai-chat", [said("openai-chat", f"Another conversation, {n}.")])
    assert done == []
    written.set()
    for thread in (first, second):
        thread.join(30)
    assert sorted(done) == ["first", "second"]
    assert {request.status for request in twin.requests} == {200}
    assert len(list(client.foldline.session.compactions)) == 1
    client.foldline.close()
    client.close()


def test_a_completer_that_asks_through_the_wrapped_client_itself_does_not_wait_for_itself(twin: Twin) -> None:
    """Its request is none of the conversation's, whose next one waits for it: it passes, and that is counted."""
    held: list[Any] = []

    def completer(request: foldline.CompletionRequest) -> str:
        answer = asked(held[0], "openai-chat", messages)
        return f"The first steps are {answer.choices[0].message.content}, and nothing failed."

    policy = scripted(asking_tier(Asking(1, 11)))
    client = wrap(client_of("openai-chat", twin.url), session="agent", policy=policy, completer=completer)
    held.append(client)
    messages = [said("openai-chat", RULE)]
    for n in range(8):
        messages += [*spoken("openai-chat", "done"), said("openai-chat", step(n, 3_000))]
    asked(client, "openai-chat", messages)
    assert client.foldline.passed == {"its conversation is being summed up": 1}
    assert len(list(client.foldline.session.compactions)) == 1
    client.foldline.close()
    client.close()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_signed_reasoning_that_a_fold_displaced_is_left_out_in_one_retry(
    stream: bool, is_async: bool
) -> None:
    """Anthropic binds thinking to what stood before it, and a fold changes that: its own kind of refusal, one retry without the
    thinking of closed rounds, and none of it from then on; the log has it all."""
    with Twin(endless(Answer(text="done", thinking="hm")), window=WINDOW, binds_thinking=True) as twin:
        client = wrap(client_of("anthropic", twin.url, is_async=is_async), session="agent")

        async def talk() -> None:
            messages = await async_agent(client, "anthropic", turns=12, stream=False)
            for n in range(2):
                answer = await asked(client, "anthropic", messages, stream=stream)
                text = "".join([text_in("anthropic", event) async for event in answer]) if stream else "done"
                messages += [*spoken("anthropic", text), said("anthropic", f"go on {n}")]
            await client.close()

        if is_async:
            asyncio.run(talk())
        else:
            messages = sync_agent(client, "anthropic", turns=12, stream=False)
            for n in range(2):
                answer = asked(client, "anthropic", messages, stream=stream)
                text = "".join(text_in("anthropic", event) for event in answer) if stream else "done"
                messages += [*spoken("anthropic", text), said("anthropic", f"go on {n}")]
            client.close()
        assert [request.status for request in twin.requests] == [200] * 12 + [400, 200, 200]
        assert "Invalid `signature`" in twin.requests[12].refusal
        thoughts = [request.body.count(b'"signature"') for request in twin.requests]
        assert thoughts[11] > 0
        assert thoughts[12] > 0
        assert thoughts[13:] == [0, 0]
        assert twin.requests[14].extends == 13
        held = [message for message in client.foldline.session.messages if "signature" in json.dumps(message)]
        assert len(held) >= 9
        client.foldline.close()
