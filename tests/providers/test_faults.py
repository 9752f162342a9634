"""An SDK's error becomes one of ours: status, words, what to do, and no secret in any of it."""

from __future__ import annotations

from hashlib import sha512

import pytest

from foldline.core.errors import ProviderFailed
from foldline.providers.faults import HIDDEN, WORDS_MAX, failed

OPENAI_KEY = "sk-proj-" + sha512(b"a key").hexdigest()[:64]


class Refused(Exception):
    """As an SDK raises it."""

    def __init__(self, words: str, *, status: object = None, body: object = None) -> None:
        super().__init__(words)
        self.status_code, self.body = status, body


class APIConnectionError(Exception):
    """As an SDK names it."""


def made(error: BaseException, *secrets: str) -> ProviderFailed:
    return failed(error, provider="openai", key="OPENAI_API_KEY", secrets=secrets)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "refused the request (400): no; mend the request"),
        (401, "check the key in the environment variable that the SDK reads (OPENAI_API_KEY)"),
        (404, "check the model's name"),
        (418, "refused the request (418)"),
        (429, "wait, then try again"),
        (529, "failed (529): no; the provider's own fault: try again later"),
    ],
)
def test_each_status_says_what_to_do_next(status: int, words: str) -> None:
    """Every message ends with the next step."""
    error = made(Refused("no", status=status))
    assert words in str(error)
    assert error.status == status


def test_the_providers_own_words_are_taken_from_the_body() -> None:
    """The SDKs print the whole body as Python writes it."""
    body = {"error": {"message": "model 'x' does not exist", "code": "model_not_found"}}
    error = made(Refused(f"Error code: 404 - {body}", status=404, body=body))
    assert error.why == "model 'x' does not exist"
    assert error.body == body
    assert made(Refused("a", status=400, body={"error": "plain"})).why == "plain"
    assert made(Refused("a", status=400, body="<html>")).why == "<html>"
    assert made(Refused("a", status=400, body={"detail": ["b", 4]})).why == "a"


def test_what_never_arrived_names_its_cause() -> None:
    """`Connection error.` alone helps nobody."""
    error = APIConnectionError("Connection error.")
    error.__cause__ = OSError("[Errno 111] Connection refused")
    assert "could not be asked: Connection error: [Errno 111] Connection refused; check the network" in str(
        made(error)
    )
    assert "try again; if it stays so" in str(made(Refused("broken stream", status=True)))


def test_no_secret_is_left_wherever_it_was_echoed() -> None:
    """Keys that the client holds, and what looks like one."""
    words = f"Incorrect API key provided: {OPENAI_KEY}, token tok-of-mine"
    body = {"error": {"message": words, "inner": [words, 5, None]}}
    error = made(Refused(words, status=401, body=body), "tok-of-mine", "")
    for text in (str(error), str(error.body), error.why):
        assert OPENAI_KEY not in text
        assert "tok-of-mine" not in text
        assert HIDDEN in text


def test_long_words_are_bounded() -> None:
    """A gateway's page of HTML."""
    assert len(str(made(Refused("x" * 9 * WORDS_MAX, status=502)))) < WORDS_MAX
