"""A real llama.cpp server with a small real model: real tokens, real refusals, real summaries.

Nightly, and skipped with its reason where the two packages are not installed. The model is too small to write a good summary,
which is what it is here for; nothing about the quality of summaries is concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import foldline
from foldline.testing.twin import Twin
from foldline.wire.usage import read_usage
from tests.judges import doubles
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
