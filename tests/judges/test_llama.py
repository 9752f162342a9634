"""A real llama.cpp server with a small real model: real tokens, real refusals, real summaries.

Nightly, and skipped with its reason where the two packages are not installed. The model is too small to write a good summary,
which is what it is here for: what it writes goes through the gate, and nothing about the quality of summaries is concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import foldline
from foldline.core.completion import FAILURES
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.twin import Twin
from foldline.wire.usage import read_usage
from tests.judges import doubles, panel
from tests.session.making import answer, opened
from tests.session.modelling import kinds
from tests.session.test_conversation import narrow
from tests.testing.twin.client import Back, send

WINDOW = 2_048
pytestmark = pytest.mark.nightly


class Real:
    """The server, under the one attribute that `send` asks a twin for."""

    def __init__(self, url: str) -> None:
        self.url = url


@pytest.fixture(scope="module")
def llama() -> Iterator[Real]:
    if (reason := doubles.no_llama()) is not None:
        pytest.skip(reason)
    with doubles.running(doubles.llama_command(WINDOW)) as url:
        yield Real(url)


def ask(server: Any, words: str, **more: Any) -> Back:
    body = {
        "model": "smollm2",
        "messages": [{"role": "user", "content": words}],
        "temperature": 0,
        "max_tokens": 8,
        **more,
    }
    return send(server, "/v1/chat/completions", body)


def test_a_real_answer_has_a_usage_that_is_read(llama: Real) -> None:
    """TOK-3: the counts of a real server are an anchor."""
    answer = ask(llama, "Say hi.").body
    usage = read_usage(answer["usage"], format="openai-chat", tokens_window=WINDOW)
    assert usage is not None
    assert 0 < usage.tokens_input < 100
    assert 0 < usage.tokens_output <= 8


def test_a_real_overflow_is_read_with_its_numbers(llama: Real) -> None:
    """E042 of the recorded errors, as the server says it today."""
    back = ask(llama, "word " * 3_000)
    found = foldline.classify_error("llama.cpp", back.status, back.data)
    assert (back.status, found.is_overflow, found.recovery) == (400, True, "compact")
    assert found.tokens_limit == WINDOW
    assert found.tokens_used is not None
    assert found.tokens_used > 3_000


def test_the_twin_refuses_as_the_real_server_does(llama: Real) -> None:
    """The wording of `provider="llama.cpp"`, key by key, with other numbers."""
    real = ask(llama, "word " * 3_000)
    with Twin(window=WINDOW, provider="llama.cpp") as twin:
        ours = ask(twin, "word " * 3_000)
    told, twins = real.body["error"], ours.body["error"]
    assert (ours.status, told.keys() - twins.keys()) == (real.status, set())
    for key in ("code", "type", "n_ctx"):
        assert told[key] == twins[key]
    used, mine = str(told["n_prompt_tokens"]), str(twins["n_prompt_tokens"])
    assert told["message"].replace(used, "N") == twins["message"].replace(mine, "N")


def test_a_real_stream_ends_with_its_usage(llama: Real) -> None:
    back = ask(llama, "Say hi.", stream=True, stream_options={"include_usage": True})
    assert back.events[-1] == "[DONE]"
    assert any(event.get("usage") for event in back.events[:-1])


RULE = "Never push to main."
ROUNDS = 12


def worked_on(url: str, store: MemoryStore, policy: str) -> Session:
    """A session about the size of the model's window, which that model is asked to sum up."""
    pytest.importorskip("openai", reason="the SDK openai is not installed")
    completer = foldline.completer(
        "openai-chat", base_url=f"{url}/v1", model="smollm2", temperature=0, max_tokens=96
    )
    host = Host(completer=completer)
    session = narrow(opened(store, policy=policy, format="openai-chat", host=host), 50 * WINDOW)
    session.user(f"Move the login to the new API. {RULE}")
    for number in range(ROUNDS):
        session.prepare("You are a careful engineer.")
        call = (f"c{number}", "read_file")
        session.record(
            answer(f"I read src/login_{number}.py: it still calls the old API.", call, format="openai-chat")
        )
        line = f"def login_{number}(user): return old_api.call('/v{number}/login', user)  # ERROR {500 + number}\n"
        session.tool_result(call[0], line * 4)
    session.record(answer("All of them were read.", format="openai-chat"))
    session.user("Go on with login_3.")
    return narrow(session, WINDOW)


@pytest.mark.parametrize("policy", ["reserve", "handoff", "cascade"])
def test_what_a_real_small_model_writes_is_taken_or_refused_by_name_and_nothing_is_lost(
    llama: Real, policy: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """CMP-10, CMP-29, CMP-35: log and view are as they were where it fails, the rule stands word for word where it does not,
    and every fault has its name."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    store = MemoryStore()
    session = worked_on(llama.url, store, policy)
    before, log = [item.message for item in session._view().view], bytes(store._logs["s"].data)
    entries = len(kinds(session))
    report = session.compact(to=None if policy == "reserve" else 1_200)
    after, names = (
        [item.message for item in session._view().view],
        [one.name for one in report.summary.failures],
    )
    with capsys.disabled():
        print(f"\n{policy}: {report.outcome}, {report.summary.requests} requests, {names}")  # noqa: T201
    assert report.summary.requests >= 1
    assert set(names) <= set(FAILURES)
    assert bytes(store._logs["s"].data).startswith(log), "the log only grows"
    if report.outcome == "compacted":
        assert report.tokens_after < report.tokens_before
        assert any(RULE in message.text for message in after)
        assert {kind: counts["lost"] for kind, counts in report.retention.items() if counts["lost"]} == {}
    else:
        assert (report.outcome, after) == ("failed", before)
        assert names
        assert kinds(session)[entries:] == ["begin", "settle"]
    request = session.prepare()
    assert panel.violations(request.body, format="openai-chat") == []
    assert len(session.messages) == 2 * ROUNDS + 3
    assert sum(RULE in str(message) for message in session.messages) == 1
