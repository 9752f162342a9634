"""Several streamed answers that reach their caller as one, over what the twin streams in each format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.clients.answers import Heard
from foldline.clients.calls import call_of
from foldline.clients.splicing import Splice, is_one_answer
from foldline.testing.judges import anthropic, gemini, openai_chat, openai_responses
from foldline.testing.twin import Answer, Call
from foldline.wire.events import Events
from tests.clients.agents import FORMATS
from tests.clients.sequences import check_sequence
from tests.proxy.sessions import Agent, Turn
from tests.proxy.upstreams import recorded

LOOKS = Call(name="recall", arguments={"query": "auth"}, id="looks")
RUNS = Call(name="bash", arguments={"n": 1}, id="runs")
SAID = "let me look that up, one moment please"
MEANWHILE = "this takes but a moment, it is a long log"
FINAL = "it is port 8080, as you said"
KINDS = {
    "at once": Answer(calls=(LOOKS,)),
    "after a thought": Answer(thinking="hm, where was that", calls=(LOOKS,)),
    "after a text": Answer(text=SAID, calls=(LOOKS,)),
    "after both": Answer(text=SAID, thinking="hm, where was that", calls=(LOOKS,)),
    "behind another call": Answer(text=SAID, calls=(RUNS, LOOKS)),
    "in front of another call": Answer(text=SAID, thinking="hm", calls=(LOOKS, RUNS)),
    "in front of a text": Answer(thinking="hm", calls=(LOOKS, RUNS), behind=MEANWHILE),
    "between texts": Answer(text=SAID, calls=(LOOKS,), behind=MEANWHILE),
}
ENDS = {
    "a text": Answer(text=FINAL),
    "a thought and a text": Answer(text=FINAL, thinking="there it is"),
    "calls": Answer(text=FINAL, thinking="and now", calls=(RUNS, Call(name="bash", arguments={}, id="too"))),
    "a call alone": Answer(calls=(RUNS,)),
    "a text behind calls": Answer(text=FINAL, calls=(RUNS,), behind="and that is all"),
}


@cache
def frames_of(format: str, name: str) -> tuple[bytes, ...]:
    return tuple(recorded(format, {**KINDS, **ENDS}[name], Agent(format, first="hello").body()))


def frames(format: str, answer: Answer) -> tuple[bytes, ...]:
    """As the twin streams it, one of those above."""
    return frames_of(format, next(name for name, one in {**KINDS, **ENDS}.items() if one is answer))


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def spliced(format: str, answers: Sequence[Answer], *, size: int = 10**9) -> bytes:
    """What a caller gets of all of them, which come in pieces of so many bytes."""
    splice, told = Splice(format), b""
    for answer in answers:
        for piece in pieces(b"".join(frames(format, answer)), size):
            told += splice.take(piece)
        told += splice.close()
        told += splice.goes_on() if answer is not answers[-1] else splice.released()
    return told


def whole(format: str, data: bytes) -> Any:
    heard = Heard(format, is_stream=True)
    heard.take(data)
    return heard.response()


def texts_of(format: str, answer: Answer, *, is_last: bool) -> list[str]:
    """What a person reads of it. Responses: a thought that leads to a call that is not made is not said."""
    has_thought = is_last or format != "openai-responses" or bool(answer.text)
    return [text for text in (answer.thinking if has_thought else "", answer.text, answer.behind) if text]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("format", FORMATS)
@given(size=st.integers(1, 200))
def test_an_answer_that_does_not_call_it_is_passed_on_in_its_bytes(format: str, end: str, size: int) -> None:
    """LOSSLESS: however it is cut into pieces."""
    data = b"".join(frames(format, ENDS[end]))
    assert spliced(format, [ENDS[end]], size=size) == data


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r"], ids=["CRLF", "CR"])
@pytest.mark.parametrize("format", FORMATS)
@given(size=st.integers(1, 60))
def test_every_end_of_a_line_is_one(format: str, line_end: bytes, size: int) -> None:
    """The framing of server-sent events has three; a piece may end between the two bytes of one."""
    answers = [b"".join(frames(format, one)) for one in (KINDS["after both"], ENDS["calls"])]
    whole_lines, splice, told = spliced(format, [KINDS["after both"], ENDS["calls"]]), Splice(format), b""
    for data in answers:
        for piece in pieces(data.replace(b"\n", line_end), size):
            told += splice.take(piece)
        told += splice.close()
        told += splice.goes_on() if data is answers[0] else splice.released()
    assert told == whole_lines.replace(b"\n", line_end)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_answers_behind_each_other_are_one(format: str, kind: str, end: str) -> None:
    """Invisible to the client. All that was said is said once, in order; nothing of what was looked up is; the same in any
    pieces."""
    answers = [KINDS[kind], KINDS[kind], ENDS[end]]
    told = spliced(format, answers)
    check_sequence(format, Events().feed(told))
    response = whole(format, told)
    shown = json.dumps(response.get("output", response))
    expected = [text for one in answers for text in texts_of(format, one, is_last=one is answers[-1])]
    if format == "anthropic" and expected[:1] == [SAID]:
        expected = [text for text in expected if text != ENDS[end].thinking]  # no message may hold it then
    at = 0
    for text in expected:
        at = shown.index(text, at) if format != "openai-chat" else shown.index(text)
    assert shown.count(SAID) == expected.count(SAID)
    assert shown.count('"bash"') == len(ENDS[end].calls)
    assert spliced(format, answers, size=7) == told


JUDGES = {
    "anthropic": anthropic.violations,
    "openai-chat": openai_chat.violations,
    "openai-responses": openai_responses.violations,
    "gemini": gemini.violations,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_list_that_holds_an_answer_of_several_is_sound(format: str, kind: str) -> None:
    """Independent judges: whoever goes on without the proxy has a list that its provider takes. (The ids of these answers are alike:
    each comes of a twin of its own.)"""
    for end, one in ENDS.items():
        agent = Agent(format, first="hello")
        calls = tuple(Call(name=call.name, id=call.id) for call in one.calls)
        said = Turn(text="", calls=calls, results=("seen",) * len(calls), user="go on")
        agent.take(whole(format, spliced(format, [KINDS[kind], KINDS[kind], one])), said)
        found = JUDGES[format](json.loads(agent.body()))
        assert [one for one in found if not one.startswith("ids-once")] == [], end


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_said_goes_out_before_the_answer_has_ended(format: str) -> None:
    """Streaming still works. Each delta of a text goes out with the event that brings it, in an answer behind another one too."""
    splice = Splice(format)
    for answer in (KINDS["after a text"], ENDS["a text"]):
        told = b""
        for frame in frames(format, answer):
            ready = splice.take(frame)
            assert splice._held or ready or b"_start" in frame or not told or b"role" in frame
            told += ready
        first, last = answer.text.split()[0].encode(), answer.text.split()[-1].encode()
        assert first in told
        assert last in told or format == "gemini", "Gemini ends with its last words"
        splice.goes_on()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_an_answer_torn_anywhere_shows_no_call_of_it(format: str, kind: str) -> None:
    """Test S5: before each of the events of the first answer, and of the one behind it."""
    for torn in (0, 1):
        answers = [KINDS[kind], KINDS[kind]]
        for count in range(len(frames(format, answers[torn]))):
            splice = Splice(format)
            told = b"" if not torn else splice.take(b"".join(frames(format, answers[0]))) + splice.goes_on()
            told += splice.take(b"".join(frames(format, answers[torn])[:count]))
            check_sequence(format, Events().feed(told), is_whole=False)


ERRORS: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "openai-chat": {"error": {"message": "overloaded"}},
    "openai-responses": {"type": "error", "message": "overloaded", "sequence_number": 99},
    "gemini": {"error": {"code": 503, "message": "overloaded"}},
}


@pytest.mark.parametrize("format", FORMATS)
def test_an_error_in_place_of_the_end_is_told_and_the_calls_are_not(format: str) -> None:
    """What breaks off is told as what it is; behind it nothing is asked on."""
    splice, error = Splice(format), b"data: %b\n\n" % json.dumps(ERRORS[format]).encode()
    *before, _ = frames(format, KINDS["between texts"])
    ends = (b'finish_reason":"', b"finishReason", b'"usage":{"prompt', b"message_delta")
    sent = [frame for frame in before if not any(end in frame for end in ends)]
    told = splice.take(b"".join(sent) + error)
    *events, last = Events().feed(told)
    assert {**last, "sequence_number": 99} == {**ERRORS[format], "sequence_number": 99}
    check_sequence(format, events, is_whole=False)
    assert SAID.split()[0] in told.decode()
    assert MEANWHILE.split()[0] in told.decode()
    assert not splice.calls
    assert splice.released() == b""


def test_a_last_event_without_a_blank_line_is_told() -> None:
    """Some servers leave it out."""
    splice = Splice("openai-chat")
    data = b"".join(frames("openai-chat", ENDS["a text"])).rstrip()
    assert splice.take(data) + splice.close() + splice.released() == data


def test_comments_and_unknown_lines_are_passed_on_where_they_stand() -> None:
    """LOSSLESS: gateways keep clients alive with comments; `id:` and `retry:` are the server's."""
    splice = Splice("anthropic")
    first, *rest = frames("anthropic", ENDS["a text"])
    assert splice.take(b": PROCESSING\r\n\r\n") == b": PROCESSING\r\n\r\n"
    data = first + b": still there\n\n" + b"retry: 9\r\nid: 7\r\n" + b"".join(rest) + b"data: not json\n\n"
    assert splice.take(data) + splice.released() == data


def test_an_event_behind_another_answer_keeps_its_other_lines() -> None:
    """Only its data is written anew."""
    splice = Splice("anthropic")
    splice.take(b"".join(frames("anthropic", KINDS["after a text"])))
    splice.goes_on()
    start, *rest = frames("anthropic", ENDS["a text"])
    block = rest[0].replace(b"\n", b"\r\n").replace(b"data:", b"id: 7\r\ndata:")
    told = splice.take(start + block)
    assert told.startswith(b"event: content_block_start\r\nid: 7\r\ndata: {")
    assert b'"index":1' in told
    assert told.endswith(b"}\r\n\r\n")


@pytest.mark.parametrize(
    ("format", "more", "is_one"),
    [
        ("openai-chat", {}, True),
        ("openai-chat", {"n": 1}, True),
        ("openai-chat", {"n": 2}, False),
        ("gemini", {"generationConfig": {"candidateCount": 3}}, False),
        ("gemini", {"generationConfig": {}}, True),
    ],
)
def test_several_answers_to_one_request_are_told(format: str, more: dict[str, Any], is_one: bool) -> None:
    """Their events are woven into each other: nothing of them is spliced."""
    body = {**json.loads(Agent(format, first="hello").body()), **more}
    call = call_of(json.dumps(body).encode(), format=format, model="m")
    assert call is not None
    assert is_one_answer(call) == is_one
