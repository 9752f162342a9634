"""The seat in Gemini's client sees every round, of automatic function calling and of chats too, and what it stands on is there."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from foldline.clients.wrap import wrap
from foldline.testing.twin import Answer, Call, Fault, Twin, endless
from tests.clients.agents import MODEL, RULE, client_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDK's own


@pytest.fixture
def twin() -> Iterator[Twin]:
    """A provider that answers."""
    with Twin(endless("done")) as twin:
        yield twin


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Sessions of this test alone."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))


def test_the_sdk_still_has_what_the_seat_stands_on() -> None:
    """Four calls with the body third; a new version of the SDK fails here first."""
    module = pytest.importorskip("google.genai._api_client", reason="the SDK google-genai is not installed")
    for name in ("request", "request_streamed", "async_request", "async_request_streamed"):
        parameters = list(inspect.signature(getattr(module.BaseApiClient, name)).parameters)
        assert parameters == ["self", "http_method", "path", "request_dict", "http_options"]


def test_every_round_of_automatic_function_calling_is_in_the_session() -> None:
    """The SDK runs the tool and asks again, all within one call."""

    def weather(city: str) -> str:
        """The weather in a city."""
        return f"sunny in {city}"

    calls = Answer(calls=(Call(name="weather", arguments={"city": "Bern"}),))
    with Twin([calls, "It is sunny."]) as scripted:
        client = wrap(client_of("gemini", scripted.url), session="s")
        answer = client.models.generate_content(model=MODEL, contents=RULE, config={"tools": [weather]})
        assert answer.text == "It is sunny."
        messages = [str(message) for message in client.foldline.session.messages]
        assert ["sunny in Bern" in message for message in messages] == [False, False, True, False]
        client.foldline.close()
        client.close()


def test_a_chat_of_the_sdk_is_one_conversation(twin: Twin) -> None:
    """It keeps the list itself."""
    client = wrap(client_of("gemini", twin.url), session="s")
    chat = client.chats.create(model=MODEL)
    for text in (RULE, "go on"):
        assert chat.send_message(text).text == "done"
        assert "".join(chunk.text for chunk in chat.send_message_stream(text)) == "done"
    assert len(list(client.foldline.session.messages)) == 8
    client.foldline.close()
    client.close()


def test_a_refusal_is_the_sdks_own_error() -> None:
    """Not ours."""
    errors = pytest.importorskip("google.genai.errors", reason="the SDK google-genai is not installed")
    with Twin([Fault(status=400, message="no"), Fault(status=400, message="no")]) as scripted:
        client = wrap(client_of("gemini", scripted.url))
        with pytest.raises(errors.ClientError):
            client.models.generate_content(model=MODEL, contents=RULE)
        with pytest.raises(errors.ClientError):
            list(client.models.generate_content_stream(model=MODEL, contents=RULE))
        client.close()
