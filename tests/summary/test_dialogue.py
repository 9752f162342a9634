"""Getting a text: refused calls, attempts, overflows, pieces; every way it can end has its name."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.completion import Ask, Reply
from foldline.core.message import Message, ToolResult, Usage
from foldline.core.rounds import outline_of
from foldline.engine.driving import drive
from foldline.summary.dialogue import CHUNKS_MAX, Brief, Told, told_by
from foldline.summary.taken import extracted
from foldline.testing.builders import assistant, call, moment_for, user, view_from
from tests.summary.talking import BROKEN, GOOD, OVERFLOW, Script, frame_of, work

CALLS = Reply(tool_calls=(call("read_file", "c1", path="a"),), stop_reason="tool_use")


def told(
    script: Script,
    messages: list[Message] | None = None,
    *,
    window: int | None = None,
    fixed: int = 0,
    output_max: int | None = None,
    **brief: Any,
) -> Told:
    messages = messages or work(12)
    view = view_from(messages)
    structure = outline_of(view)
    units = [structure.items[unit.start : unit.end] for unit in structure.units[:-1]]
    made = Brief(**{"form": "full", "units": units, "is_fork": False, **brief})
    moment = moment_for(
        view, 100, has_model=True, tokens_window=window, tokens_fixed=fixed, output_max=output_max
    )
    return drive(told_by(made, moment=moment, frame=frame_of(view, messages)), script)


def names(done: Told) -> list[str]:
    return [failure.name for failure in done.asked.failures]


def test_a_text_is_taken_and_what_it_cost_is_told() -> None:
    """Usage of all requests together; all of the source was seen."""
    usage = Usage(tokens_input=900, tokens_output=40, tokens_cache_read=800)
    done = told(Script(Reply(text=GOOD, usage=usage)))
    assert done.text == extracted(GOOD)
    assert (done.asked.requests, done.asked.attempts, done.asked.is_written) == (1, 1, True)
    assert done.asked.usage == usage
    assert done.asked.tokens_seen == done.asked.tokens_source > 0


def test_a_fork_asks_on_the_live_view_and_a_call_of_its_own_on_data() -> None:
    """Requirements CMP-2 and PRE-1: the same messages, the instruction last, nothing overridden; else text alone, no tools."""
    fork, own = Script(GOOD), Script(GOOD)
    messages = work(12)
    told(fork, messages, is_fork=True)
    told(own, messages)
    [ask], [alone] = fork.asked, own.asked
    assert [item.message for item in ask.live] == [item.message for item in view_from(messages)]
    assert (ask.is_fork, ask.messages, ask.system, ask.output_cap) == (True, (), None, None)
    assert (alone.is_fork, alone.live, len(alone.messages)) == (False, (), 1)
    assert "data in delimited blocks" in (alone.system or "")
    assert alone.output_cap == 8_000
    assert "Write in English" in ask.instruction


@pytest.mark.parametrize("is_fork", [True, False])
def test_a_tool_call_is_refused_and_the_loop_goes_on(is_fork: bool) -> None:
    """Requirement CMP-3: no tool runs; the refusal is the tool's result, and behind it the rule stands again."""
    script = Script(CALLS, replace(CALLS, text="Let me look first."), GOOD)
    done = told(script, is_fork=is_fork)
    assert done.text == extracted(GOOD)
    assert (done.asked.requests, done.asked.attempts) == (3, 1)
    behind = script.asked[2].messages
    refusals = [part for message in behind for part in message.parts if isinstance(part, ToolResult)]
    assert [part.call_id for part in refusals] == ["c1", "c1"]
    assert all(part.is_error for part in refusals)
    assert [message.role for message in behind] == ["user", "assistant", "tool", "user", "assistant", "tool"]
    assert script.asked[2].live == script.asked[0].live


def test_three_rounds_of_calls_without_a_text_are_a_failure() -> None:
    """Requirement CMP-3."""
    script = Script(CALLS)
    done = told(script, attempts_max=1)
    assert names(done) == ["tool_call"]
    assert len(script.asked) == 3


def test_the_model_s_own_message_is_what_a_refusal_answers() -> None:
    """Signed reasoning before a call goes back with it, where the completer gives the message."""
    own = assistant("thinking about it", call("read_file", "c1"))
    script = Script(replace(CALLS, messages=(own,)), GOOD)
    told(script, is_fork=True)
    assert script.asked[1].messages[1].parts == own.parts


def test_a_fault_that_a_remark_mends_is_tried_once_more() -> None:
    """earendil-works/pi#7048: retried once, never taken; the remark says what was wrong."""
    script = Script(Reply(text="half a sen", stop_reason="max_tokens"), GOOD)
    done = told(script, attempts_max=2)
    assert done.text == extracted(GOOD)
    assert names(done) == ["cut_off"]
    assert "output limit" in script.asked[1].instruction
    assert [ask.attempt for ask in script.asked] == [1, 2]


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        (Reply(text=""), "empty"),
        (Reply(text="ACK_21"), "acknowledgement"),
        (Reply(text="I'm sorry, I cannot do that."), "refused"),
        (BROKEN, "provider_error"),
    ],
)
def test_what_no_remark_mends_is_not_tried_again(reply: Reply, name: str) -> None:
    """Requirement CMP-29: recorded as a failure, at the price of one request."""
    script = Script(reply)
    done = told(script)
    assert (done.text, names(done), len(script.asked)) == ("", [name], 1)
    assert (done.asked.is_written, done.asked.tokens_seen) == (False, 0)


def test_errors_are_tried_again_where_the_client_does_not() -> None:
    """Requirement CMP-11: the SDK's retries are off, and three attempts is all there are."""
    script = Script(BROKEN)
    assert names(told(script, retries_errors=True)) == ["provider_error"] * 3
    assert names(told(Script(BROKEN, BROKEN, GOOD), retries_errors=True)) == ["provider_error"] * 2


def sizes(script: Script) -> list[int]:
    return [sum(len(message.text) for message in ask.messages) for ask in script.asked]


def test_after_an_overflow_every_attempt_is_strictly_smaller() -> None:
    """Requirement CMP-11: files that can be read again go first, then the oldest whole unit, then what is long; what was
    not shown does not count as seen."""
    script = Script(OVERFLOW, OVERFLOW, GOOD)
    done = told(script, shrinks=True)
    one, two, three = sizes(script)
    assert one > two > three
    assert names(done) == ["overflow", "overflow"]
    assert "[not shown: it can be read again]" in script.asked[1].messages[0].text
    assert 0 < done.asked.tokens_seen < done.asked.tokens_source
    assert names(told(Script(OVERFLOW), shrinks=True)) == ["overflow"] * 3


def test_without_anything_to_read_again_the_oldest_go() -> None:
    """Requirement CMP-11: the next step where the first has nothing to leave out."""
    talk = [
        message for n in range(8) for message in (user(f"question {n} " * 20), assistant(f"answer {n} " * 20))
    ]
    script = Script(OVERFLOW, GOOD)
    told(script, talk, shrinks=True)
    assert sizes(script)[0] > sizes(script)[1]
    assert "question 0" not in script.asked[1].messages[0].text


def test_an_overflow_of_a_fork_is_read_in_pieces() -> None:
    """A fork cannot be made shorter without losing its prefix: the next attempt reads all of it, piece by piece."""
    script = Script(OVERFLOW, GOOD)
    done = told(script, work(60), is_fork=True)
    assert done.text == extracted(GOOD)
    assert [ask.purpose for ask in script.asked][1:-1] == ["chunk"] * (len(script.asked) - 2)
    assert script.asked[-1].purpose == "summary"
    assert len(script.asked) > 3
    assert done.asked.tokens_seen >= 0.98 * done.asked.tokens_source


def test_a_source_over_the_window_is_read_in_pieces_that_fit() -> None:
    """earendil-works/pi#8371: the request is bounded by the window, and all of the source is seen."""
    script = Script(GOOD)
    messages = work(60, lines=30)
    window = 8_000
    done = told(script, messages, window=window)
    assert done.text
    assert done.asked.tokens_source > 2 * window
    for ask in script.asked:
        read = sum(len(message.text) for message in ask.messages) // 4 + len(ask.instruction) // 4
        assert read + (ask.output_cap or 0) <= window
    assert done.asked.tokens_seen >= 0.98 * done.asked.tokens_source


def test_more_than_so_many_pieces_are_not_read_and_that_is_told() -> None:
    """Bounded work: the oldest are not seen, and the report can say so."""
    script = Script(GOOD)
    done = told(script, work(200, lines=60), window=8_000)
    assert sum(ask.purpose == "chunk" for ask in script.asked) == CHUNKS_MAX
    assert done.asked.tokens_seen < 0.9 * done.asked.tokens_source


def test_a_piece_that_fails_is_named_and_not_seen() -> None:
    """The rest is summed up all the same."""
    script = Script(GOOD, Reply(text=""), GOOD)
    done = told(script, work(60, lines=30), window=8_000)
    assert done.text
    assert names(done) == ["empty"]
    assert "piece 2" in done.asked.failures[0].why
    assert done.asked.tokens_seen < 0.95 * done.asked.tokens_source
    none = told(Script(Reply(text="")), work(60, lines=30), window=8_000)
    assert not none.text


def test_notes_that_are_too_long_are_clipped_to_their_share() -> None:
    """A model that writes long notes cannot make the last request too large."""
    long = (
        "<summary>"
        + " ".join(f"note {n} says that check {n * 17} failed in file {n * 3}." for n in range(900))
        + "</summary>"
    )
    script = Script(lambda ask: Reply(text=long if ask.purpose == "chunk" else GOOD))
    told(script, work(60, lines=30), window=8_000)
    last: Ask = script.asked[-1]
    assert len(last.messages[0].text) // 4 + (last.output_cap or 0) <= 8_000


def test_a_fork_that_would_not_fit_is_not_sent() -> None:
    """Never over the limit itself: after a switch to a smaller window the summary is a call of its own (MiMo-Code#1840)."""
    script = Script(GOOD)
    told(script, work(60, lines=30), window=8_000, is_fork=True)
    assert not any(ask.is_fork for ask in script.asked)
    roomy = Script(GOOD)
    told(roomy, work(12), window=200_000, is_fork=True)
    assert [ask.is_fork for ask in roomy.asked] == [True]


def test_what_the_pass_has_against_a_text_is_a_fault_too() -> None:
    """Its size, its gain: judged by whoever puts it in its place, and told to the model."""
    script = Script(GOOD, GOOD)
    done = told(script, attempts_max=2, judge=lambda text: ("too_large", "it has 900 tokens"))
    assert names(done) == ["too_large"] * 2
    assert "it has 900 tokens" in script.asked[1].instruction


@pytest.mark.parametrize(("output_max", "left"), [(None, 20_000), (64_000, 20_000), (4_000, 4_000)])
def test_a_fork_leaves_twenty_thousand_tokens_for_its_answer(output_max: int | None, left: int) -> None:
    """BUD-2: min(max_output, 20,000), as the threshold of `reserve` has it; a token more in the view, and it is a call of its own."""
    messages, first = work(12), Script(GOOD)
    told(first, messages, window=200_000, is_fork=True)
    [ask] = first.asked
    view = view_from(messages)
    taken = view.tokens + frame_of(view, messages).counter.text(ask.instruction)
    for more in (0, 1):
        script = Script(GOOD)
        fixed = 200_000 - taken - left + more
        told(script, messages, window=200_000, is_fork=True, fixed=fixed, output_max=output_max)
        assert script.asked[0].is_fork is (more == 0)
