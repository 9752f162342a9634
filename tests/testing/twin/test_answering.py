"""Answers: counted, cut at the cap, stopped for the right reason, with ids."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from foldline.testing.twin.answering import arguments, arguments_value, deltas, first, frame, overridden, said
from foldline.testing.twin.measure import Scales
from foldline.testing.twin.script import Answer, Call

SCALES = Scales("openai-chat", "gpt-4o")


def ids() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"call_{next(numbers)}"


def test_an_answer_stops_for_what_it_holds() -> None:
    calls = (Call(name="ls"), Call(name="cat", id="mine"))
    spoken = said(Answer(text="x"), SCALES, cap=None, id=ids())
    called = said(Answer(calls=calls), SCALES, cap=None, id=ids())
    assert (spoken.stop, called.stop) == ("end", "tool_calls")
    assert [call.id for call in called.calls] == ["call_0", "mine"]
    assert said(Answer(text="x", stop="pause"), SCALES, cap=None, id=ids()).stop == "pause"


def test_a_text_over_the_cap_is_really_cut() -> None:
    """A summariser with too small an output cap gives half a summary, which must be noticed."""
    heard = said(Answer(text="one two three four five", calls=(Call(name="ls"),)), SCALES, cap=3, id=ids())
    assert (heard.text, heard.stop, heard.calls, heard.tokens) == ("one two three", "length", (), 3)


def test_an_answer_of_nothing_still_costs_a_token() -> None:
    """Anthropic, types/message.py: `output_tokens` is non-zero even for an empty answer."""
    assert said(Answer(), SCALES, cap=None, id=ids()).tokens == 1


def test_a_beginning_is_the_longest_that_fits() -> None:
    assert first("one two three", 2, scales=SCALES) == "one two"
    assert first("one", 0, scales=SCALES) == ""


def test_arguments_may_be_broken_where_a_dialect_sends_text() -> None:
    assert arguments(Call(name="ls", arguments='{"p":')) == '{"p":'
    assert arguments(Call(name="ls", arguments={"p": "é"})) == '{"p":"é"}'
    assert arguments_value(Call(name="ls", arguments='{"p": 1}')) == {"p": 1}


def test_the_script_has_the_last_word_on_usage() -> None:
    assert overridden({"a": 1, "b": 2}, {"b": None, "c": 3}) == {"a": 1, "c": 3}


def test_a_stream_is_made_of_whole_events() -> None:
    assert "".join(deltas("x" * 100)) == "x" * 100
    assert frame({"a": 1}, "ping") == b'event: ping\ndata: {"a":1}\n\n'
    assert frame("[DONE]") == b"data: [DONE]\n\n"
