"""Collapse shows talk without consequences as one summary."""

from __future__ import annotations

import pytest

from foldline.core.address import read_block
from foldline.core.message import Message
from foldline.passes.collapse import Collapse
from foldline.testing.builders import assistant, call, image, result, system, user
from tests.passes.planning import Planned, one_round, planned, talk

DEFAULT = Collapse()
PROFESSIONAL = Collapse(window=15)


def spoken(count: int, *, chars: int = 200) -> list[Message]:
    """So many messages of talk, then a round with a tool and the last user message, which decide."""
    return [*talk(count, chars=chars), *one_round(0), user("next")]


@pytest.mark.parametrize(
    ("reduce", "count", "acts"),
    [(DEFAULT, 19, False), (DEFAULT, 20, True), (PROFESSIONAL, 14, False), (PROFESSIONAL, 15, True)],
)
def test_it_runs_from_twenty_consecutive_messages_that_decide_nothing(
    reduce: Collapse, count: int, acts: bool
) -> None:
    """COL-3: 20 or more; a preset's collapse window (15) replaces the 20."""
    done = planned(reduce, spoken(count), target=0)
    assert done.folded == (list(range(count)) if acts else [])


def test_calls_and_their_results_are_decisive_and_end_a_run() -> None:
    """COL-3: plans and task lists change through tools, so a round with a call stays; ten and ten are not twenty."""
    done = planned(
        DEFAULT, [*talk(10), *one_round(0, tool="update_plan"), *talk(10), *one_round(1), user("next")]
    )
    assert done.edits == ()
    both = planned(DEFAULT, [*talk(20), *one_round(0), *talk(22), *one_round(1), user("next")])
    assert both.folded == [*range(20), *range(22, 44)]


def test_system_messages_pins_and_the_last_user_message_stay() -> None:
    """Laws PIN and TAIL."""
    done = planned(DEFAULT, [system("rules"), *talk(45)], target=0, pins=[22])
    assert done.folded == [*range(1, 22), *range(23, 45)]
    assert planned(DEFAULT, [system("rules"), *talk(19), user("next")], target=0).edits == ()


def test_the_newest_messages_can_be_kept_out_of_it() -> None:
    """A policy's kept tail."""
    assert planned(Collapse(keep_last=10), [*talk(40), assistant("end")], target=0).folded == list(range(31))


def test_it_stops_when_the_target_is_met() -> None:
    """Law GAIN: the second run stays where the first was enough, and a view that fits is left alone."""
    messages = [*talk(20, chars=800), *one_round(0), *talk(20, chars=800), *one_round(1), user("next")]
    tokens = planned(DEFAULT, messages, target=10**9).before.tokens
    assert planned(DEFAULT, messages, target=tokens).edits == ()
    assert planned(DEFAULT, messages, target=tokens - 500).folded == list(range(20))
    long = [*talk(90, chars=800), *one_round(0), user("next")]
    tokens = planned(DEFAULT, long, target=10**9).before.tokens
    assert planned(DEFAULT, long, target=tokens - 500).folded == list(range(20))


def test_a_run_whose_summary_would_not_be_smaller_stays() -> None:
    """Law GAIN: the delimiters alone cost more than two words."""
    messages = [assistant("k"), user("a"), *one_round(0), user("next")]
    assert planned(Collapse(window=2), messages).edits == ()


def summary(done: Planned) -> list[str]:
    """The lines of the one fold."""
    [item] = [item for item in done.after if item.message.synthetic == "fold"]
    assert item.message.role == "user"
    found = read_block(item.message.text)
    assert found is not None
    return found[2].splitlines()


def test_the_summary_has_one_line_a_message() -> None:
    """COL-2: user text cut at 200 characters, the token count of any other message; CMP-40: a user's message."""
    messages = [assistant("a" * 400), user("u" * 200), assistant("b" * 400, image()), user("v" * 201)]
    lines = summary(planned(Collapse(window=4), [*messages, *one_round(0), user("next")], target=0))
    assert lines == [
        "4 earlier messages, 417 tokens, folded.",
        "m0 assistant, 104 tokens",
        f'm1 user: "{"u" * 200}"',
        "m2 assistant, 204 tokens + 1 image",
        f'm3 user: "{"v" * 199}…"',
    ]


def test_a_decisive_message_that_only_answers_counts_too() -> None:
    """COL-3: decisive are calls with their results."""
    messages = [*talk(10), assistant(call("ls")), result("ls", "x"), *talk(10), *one_round(0), user("next")]
    assert planned(DEFAULT, messages, target=0).edits == ()
