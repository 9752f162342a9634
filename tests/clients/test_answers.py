"""An answer is heard on its way and taken in once it is whole; one that is not is left to the next request's list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.clients.answers import Answer, Heard, is_complete, refusal_of
from foldline.clients.following import Conversations
from tests.clients.lists import answer, call, conversations, user
from tests.wire.test_streamed import CHAT, RESPONSES, STREAMS


def heard(known: Conversations, *, is_stream: bool) -> Answer:
    going = known.outgoing(call([user("hi")]))
    assert going is not None
    return Answer(known, going.ticket, is_stream=is_stream)


def log(known: Conversations) -> list[Any]:
    assert known.session is not None
    return [message["content"] for message in known.session.messages]


def frames(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def test_a_whole_answer_is_taken_in_once() -> None:
    """In pieces, and however often its end is said."""
    known = conversations()
    one = heard(known, is_stream=False)
    data = json.dumps(answer("hello")).encode()
    one.take(data[:10])
    one.take(data[10:])
    one.end()
    one.end()
    assert log(known) == ["hi", "hello"]


def test_a_stream_is_taken_in_at_its_end() -> None:
    """What it came to, with its usage."""
    known = conversations()
    one = heard(known, is_stream=True)
    begun = [one.has_begun]
    one.take(frames(CHAT))
    assert [*begun, one.has_begun] == [False, True]
    one.end()
    assert log(known) == ["hi", "Looking"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"choices": []}', frames(CHAT[:5])])
@pytest.mark.parametrize("is_stream", [False, True])
def test_what_is_not_whole_is_not_taken_in(data: bytes, is_stream: bool) -> None:
    """A stream that broke off, or that its caller stopped reading."""
    known = conversations()
    one = heard(known, is_stream=is_stream)
    one.take(data)
    one.end()
    assert log(known) == ["hi"]


@pytest.mark.parametrize("format", list(STREAMS))
def test_each_format_says_when_it_is_whole(format: str) -> None:
    """Why it ended."""
    from foldline.wire.streamed import streamed

    reader = streamed(format)
    assert not is_complete(reader.response(), format=format)
    for event in STREAMS[format]:
        reader.take(event)
    assert is_complete(reader.response(), format=format)
    assert not is_complete([], format=format)


@pytest.mark.parametrize(
    ("events", "body"),
    [
        ([{"error": {"message": "too long"}}], {"error": {"message": "too long"}}),
        (
            [{"type": "response.created"}, {"type": "error", "message": "too long", "code": "x"}],
            {"error": {"type": "error", "message": "too long", "code": "x"}},
        ),
        (
            [*RESPONSES[:1], {"type": "response.failed", "response": {"error": {"message": "too long"}}}],
            {"error": {"message": "too long"}},
        ),
        (RESPONSES, None),
        ([{"type": "ping"}, CHAT[0], {"error": {"message": "late"}}], None),
    ],
)
def test_a_refusal_in_place_of_an_answer_is_known_from_one_behind_it(
    events: list[dict[str, Any]], body: Any
) -> None:
    """REA-2: past the first piece of an answer it fails closed."""
    one = heard(conversations(), is_stream=True)
    one.take(frames(events))
    assert one.has_begun
    assert one.refusal == body


def test_the_body_of_a_refusal_is_its_json_or_its_text() -> None:
    """Gateways answer in HTML."""
    assert refusal_of(b'{"error": 1}') == {"error": 1}
    assert refusal_of(b"<html>\xff") == "<html>\ufffd"


class Broken:
    """A reader that stumbles."""

    begun = False

    def take(self, event: Any) -> Any:
        raise TypeError("unhashable")

    def response(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("is_value", [False, True])
def test_what_cannot_be_heard_is_not_taken_in_and_raises_nothing(
    monkeypatch: pytest.MonkeyPatch, is_value: bool
) -> None:
    """What passes to the caller is what came, whatever is stumbled over here; that is said and counted once."""
    monkeypatch.setattr("foldline.clients.answers.streamed", lambda format: Broken())
    known = conversations()
    one = heard(known, is_stream=True)
    if is_value:
        one.event({"id": "x"})
    else:
        one.take(frames(CHAT))
    assert one.has_begun, "nothing is held back for it"
    one.take(frames(CHAT))
    assert one.response() == {}
    told = one.end()
    assert told is not None
    assert isinstance(told.error, TypeError)
    assert one.end() is None
    assert known.passed == {"an answer was delivered and not taken in (TypeError)": 1}
    assert log(known) == ["hi"]


@pytest.mark.parametrize("format", list(STREAMS))
def test_the_type_of_an_event_may_be_anything(format: str) -> None:
    """Of gateways and new versions; the events around it are heard."""
    plain, odd = Heard(format, is_stream=True), Heard(format, is_stream=True)
    plain.take(frames(STREAMS[format]))
    odd.take(frames([{"type": ["x"]}, {"type": {}}, *STREAMS[format], {"type": []}]))
    assert {**plain.response(), "type": ""} == {**odd.response(), "type": ""}
    assert odd.unheard is None


def test_a_stream_of_gemini_as_one_array_is_the_answer_that_its_events_make() -> None:
    """`streamGenerateContent` without `alt=sse`."""
    events, array = Heard("gemini", is_stream=True), Heard("gemini", is_stream=False)
    events.take(frames(STREAMS["gemini"]))
    array.take(json.dumps([*STREAMS["gemini"], 5]).encode())
    assert array.response() == events.response()
    assert is_complete(array.response(), format="gemini")
