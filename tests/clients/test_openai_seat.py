"""The seat in OpenAI's client stays with it through its options, keeps a custom HTTP client's ways, and reads what is spoken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from foldline.clients.wrap import wrap
from foldline.testing.twin import Answer, Twin, endless
from tests.clients.agents import KEY, MODEL, RULE, client_of, said

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDK's own


@pytest.fixture
def twin() -> Iterator[Twin]:
    """A provider that answers."""
    with Twin(endless(Answer(text="done"))) as twin:
        yield twin


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Sessions of this test alone."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))


def names(client: Any) -> list[Any]:
    return [message.get("content") for message in client.foldline.session.messages]


def test_the_seat_stays_through_options_and_raw_responses(twin: Twin) -> None:
    """`with_options` makes a new client on the same HTTP client."""
    messages = [said("openai-chat", RULE)]
    with client_of("openai-chat", twin.url) as given:
        client = wrap(given, session="s")
        client.with_options(timeout=30).chat.completions.create(model=MODEL, messages=messages)
        assert names(client) == [RULE, "done"]
        raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=messages)
        assert json.loads(raw.content)["choices"][0]["message"]["content"] == "done"
        with client.chat.completions.stream(model=MODEL, messages=messages) as stream:
            deltas = [event.delta for event in stream if event.type == "content.delta"]
        assert "".join(deltas) == "done"
        assert names(client) == [RULE, "done"]
        client.foldline.close()


def test_a_custom_http_client_keeps_its_hooks(twin: Twin) -> None:
    """Proxies, transports and hooks are its caller's; the one that was given is not closed with a wrapped client that is
    dropped."""
    openai = pytest.importorskip("openai", reason="the SDK openai is not installed")
    httpx = pytest.importorskip("httpx2", reason="httpx2 is not installed")
    seen = []
    with httpx.Client(event_hooks={"request": [lambda request: seen.append(request.url.path)]}) as http:
        given = openai.OpenAI(api_key=KEY, base_url=f"{twin.url}/v1", http_client=http)
        client = wrap(given)
        client.responses.create(model=MODEL, input=RULE)
        del client
        given.responses.create(model=MODEL, input=RULE)
        assert seen == ["/v1/responses"] * 2


def test_history_that_the_provider_keeps_passes_and_is_counted(twin: Twin) -> None:
    """A request with `previous_response_id` shows only what is new."""
    openai = pytest.importorskip("openai", reason="the SDK openai is not installed")
    with client_of("openai-responses", twin.url) as given:
        client = wrap(given, session="s")
        with pytest.raises(openai.APIStatusError):
            client.responses.create(model=MODEL, input="go on", previous_response_id="resp_unknown")
        assert client.foldline.passed == {"the provider keeps the history (previous_response_id)": 1}
        assert client.foldline.session is None


def test_other_paths_and_methods_pass(twin: Twin) -> None:
    """Embeddings, files, models."""
    openai = pytest.importorskip("openai", reason="the SDK openai is not installed")
    with client_of("openai-chat", twin.url) as given:
        client = wrap(given)
        for call in (client.models.list, lambda: client.embeddings.create(model=MODEL, input="a")):
            with pytest.raises(openai.APIStatusError):
                call()
        assert client.foldline.passed == {}
