"""The twin beside `@copilotkit/aimock`, a double that others wrote: the same questions, and answers of the same shape.

aimock knows no rules, no budget and no cache, so that only what both do can be compared: every key that it sends the twin sends
too, of the same type, and the events of a stream come in the same order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Fault, Twin
from tests.judges import doubles
from tests.testing.twin.client import CLAUDE, GEMINI, GPT, Back, send

WORDS = "Hello there, this is an answer of some length."
SCRIPT: dict[str, tuple[Any, Any]] = {
    "say hello": ({"content": WORDS}, Answer(text=WORDS)),
    "call ls": (
        {"toolCalls": [{"name": "ls", "arguments": '{"path":"."}'}]},
        Answer(calls=(Call(name="ls", arguments={"path": "."}),)),
    ),
    "too many": (
        {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429},
        Fault(status=429, message="Rate limited", kind="rate_limit_error"),
    ),
}
"""By question: what aimock answers, and what the twin does."""
OWN_IDEA = {"promptTokensDetails", "finishReason"}
"""Keys whose values are not compared: aimock stops a call with FUNCTION_CALL, which Google's SDK does not know."""


def body_of(path: str, question: str) -> dict[str, Any]:
    said = [{"role": "user", "content": question}]
    if "models/" in path:
        return {"contents": [{"role": "user", "parts": [{"text": question}]}]}
    if path.endswith("responses"):
        return {"model": GPT, "input": question}
    if path.endswith("messages"):
        return {"model": CLAUDE, "max_tokens": 100, "messages": said}
    return {"model": GPT, "messages": said}


PATHS = {
    "/v1/messages": ("/v1/messages", {"stream": True}),
    "/v1/chat/completions": ("/v1/chat/completions", {"stream": True}),
    "/v1/responses": ("/v1/responses", {"stream": True}),
    f"/v1beta/models/{GEMINI}:generateContent": (
        f"/v1beta/models/{GEMINI}:streamGenerateContent?alt=sse",
        {},
    ),
}
"""By path: the path of the stream, and what asks for one."""


class Other:
    """aimock, under the one attribute that `send` asks a twin for."""

    def __init__(self, url: str) -> None:
        self.url = url


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Other]:
    if (reason := doubles.no_aimock()) is not None:
        pytest.skip(reason)
    folder: Path = tmp_path_factory.mktemp("aimock")
    fixtures = [{"match": {"userMessage": said}, "response": answer} for said, (answer, _) in SCRIPT.items()]
    (folder / "answers.json").write_text(json.dumps({"fixtures": fixtures}), encoding="utf-8")
    with doubles.running([str(doubles.LLMOCK), "-p", "0", "-f", str(folder), "--strict"]) as url:
        yield Other(url)


def both(aimock: Other, path: str, question: str, **more: Any) -> tuple[Back, Back]:
    """What aimock and the twin answer."""
    body = {**body_of(path, question), **more}
    with Twin(replies=[SCRIPT[question][1]]) as twin:
        return send(aimock, path, body), send(twin, path, body)  # type: ignore[arg-type]  # a url is all it takes


def shape(value: Any, place: str = "") -> dict[str, str]:
    """The type of every value by its path; of a list that of its items, of null none."""
    if isinstance(value, dict):
        return {
            key: kind
            for name, inner in value.items()
            for key, kind in shape(inner, f"{place}.{name}").items()
        }
    if isinstance(value, list):
        return {key: kind for inner in value for key, kind in shape(inner, f"{place}[]").items()}
    return {} if value is None else {place: type(value).__name__}


def missing(other: Any, ours: Any) -> dict[str, str]:
    """What the other sends and we do not, or of another type."""
    known = shape(ours)
    return {
        place: kind
        for place, kind in shape(other).items()
        if known.get(place) != kind and place.rpartition(".")[2] not in OWN_IDEA
    }


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("question", ["say hello", "call ls"])
def test_an_answer_has_every_key_that_another_double_sends(aimock: Other, path: str, question: str) -> None:
    other, ours = both(aimock, path, question)
    assert (other.status, ours.status) == (200, 200)
    assert missing(other.body, ours.body) == {}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("question", ["say hello", "call ls"])
def test_a_stream_has_the_same_events_in_the_same_order(aimock: Other, path: str, question: str) -> None:
    streamed, more = PATHS[path]
    other, ours = both(aimock, streamed, question, **more)
    assert kinds(other) == kinds(ours)
    told = [[event for event in back.events if event != "[DONE]"] for back in (other, ours)]
    assert missing(told[0], told[1]) == {}


def kinds(back: Back) -> list[str]:
    """The kinds of a stream's events, each run of one kind once; events without a kind by what they carry."""
    found = [
        event
        if isinstance(event, str)
        else str(event.get("type") or sorted(event.keys() & {"choices", "candidates"}))
        for event in back.events
    ]
    return [kind for at, kind in enumerate(found) if at == 0 or found[at - 1] != kind]


@pytest.mark.parametrize("path", [path for path in PATHS if "models/" not in path])
def test_an_error_has_the_same_shape(aimock: Other, path: str) -> None:
    other, ours = both(aimock, path, "too many")
    assert other.status == ours.status == 429
    assert missing(other.body, ours.body) == {}


def test_the_comparison_finds_what_is_missing_or_of_another_type() -> None:
    """The checker is tested with broken input; it needs no other double."""
    assert missing({"a": [{"b": 1}], "c": None}, {"a": [{"b": 2, "x": 3}]}) == {}
    assert missing({"a": [{"b": 1}]}, {"a": [{"b": "1"}]}) == {".a[].b": "int"}
    assert missing({"a": 1}, {}) == {".a": "int"}
