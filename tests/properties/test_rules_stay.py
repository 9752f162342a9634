"""Rules, values and marks over many compactions in a row, by every policy that folds, in every wire format.

A session is drawn: rules in two languages, a value that changes, two values that resemble each other, talk and rounds with
tools between them. What comes out is judged through the public function alone and by the judges of `tests/judges`.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline import TargetUnreachable, compact
from foldline.core.message import Message, Text
from foldline.core.view import Item
from foldline.engine.report import Report
from foldline.ledger.words import words_of
from foldline.presets import POLICIES
from foldline.reduce import history_of
from foldline.testing.builders import assistant, call, result, user
from foldline.tokens.choose import counter_for
from foldline.wire.body import KEYS, body_value, read_body
from foldline.wire.codec import Request
from foldline.wire.convert import convert
from foldline.wire.formats import CODECS, codec
from tests.judges import panel

COUNTER = "length/4"
FOLDING = sorted(set(POLICIES) - {"reserve"})
"""`reserve` reduces by a model alone."""
WITH_LEDGER = ("balanced",)
"""What the other documents cut down to a first line or to an address is not promised to stand."""
RULES = (
    "Never push to main.",
    "Please do not log card numbers.",
    "不要重命名 billing_events 表。",
    "回答必须用中文。",
    "Use at most 3 retries.",
    "Could you please not touch deploy/prod.yaml?",
)
OLD, NEW = "The port is 8080.", "The port is 9090 now."
NEAR = ("The staging timeout is 30s.", "The production timeout is 60s.")
CHATTER = ("Nice weather today, by the way.", "I was thinking about lunch.", "Thanks!", "What time is it?")
FEWER = settings(max_examples=max(3, settings().max_examples // 10), deadline=None)


def rounds(count: int, *, chars: int) -> list[Message]:
    """Rounds with one tool call each."""
    made: list[Message] = []
    for n in range(count):
        made += [assistant(f"Step {n}.", call("run", f"c{n}")), result(f"c{n}", f"line {n}\n" * (chars // 8))]
    return made


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Message], list[str]]:
    """A history and the rules in it, the values somewhere between."""
    rules = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=4, unique=True))
    said = [*rules, OLD, *NEAR]
    said = draw(st.permutations(said))
    made = [user("Find out why the import is slow.")]
    for text in said:
        made += rounds(draw(st.integers(1, 3)), chars=draw(st.sampled_from((200, 2_000))))
        made += [assistant("Next."), user(text)]
        if draw(st.booleans()):
            made += [assistant("Done so far."), user(draw(st.sampled_from(CHATTER)))]
    made += [
        *rounds(4, chars=2_000),
        assistant("Next."),
        user(NEW),
        *rounds(3, chars=1_000),
        assistant("Next."),
    ]
    return [*made, user("Go on.")], rules


def wired(messages: list[Message], format: str) -> list[Any]:
    """The messages as a provider's own dicts."""
    request = convert(Request(format="", messages=tuple(messages)), format).request
    return list(copy.deepcopy(body_value(request))[KEYS[format].messages])


def items_of(messages: list[Any], format: str) -> tuple[Item, ...]:
    """A history as the next compaction reads it."""
    request = read_body({KEYS[format].messages: messages}, format=format)
    needs = codec(format).rules.needs
    counter = counter_for(counter=COUNTER, wire=format)
    return history_of(request.messages, needs=needs, counter=counter, tokens_fixed=0).view.items()


def texts_of(items: tuple[Item, ...]) -> str:
    """All that is said, marks and folds included."""
    return "\n".join(p.text for item in items for p in item.message.parts if isinstance(p, Text))


def standing_in(items: tuple[Item, ...]) -> str:
    """What stands of users' words, in their messages and in the lines of ledgers and notices."""
    words = words_of(items)
    return "\n".join(words.standing(seq) for seq in words.said)


def compacted(messages: list[Any], to: int, *, format: str, policy: str) -> tuple[list[Any], Report]:
    """The smallest history counts as a result."""
    try:
        done = compact(messages, to, format=format, policy=policy, counter=COUNTER)
    except TargetUnreachable as error:
        done = error.result
    return done.messages, done.report


@pytest.mark.parametrize("policy", FOLDING)
@FEWER
@given(made=histories(), format=st.sampled_from(CODECS))
def test_five_compactions_in_a_row_keep_every_rule_and_the_newest_value_alone(
    policy: str, made: tuple[list[Message], list[str]], format: str
) -> None:
    """CMP-16, CMP-30, laws PAIR, ROLE and CUT: at a fixed size, the session going on between them."""
    messages, rules = wired(made[0], format), made[1]
    size = compact(messages, 10**9, format=format, counter=COUNTER).report.tokens_before // 5
    for turn in range(5):
        messages, report = compacted(messages, size, format=format, policy=policy)
        assert panel.violations({KEYS[format].messages: messages}, format=format, open_tail=True) == []
        items = items_of(messages, format)
        said = texts_of(items)
        assert [rule for rule in rules if rule not in said] == [], turn
        assert report.outcome == "unreachable" or report.tokens_after <= size
        standing = standing_in(items)
        assert "8080" not in standing, turn
        if policy in WITH_LEDGER:
            assert "9090" in standing, turn
            assert [text for text in NEAR if text not in standing] == [], turn
        messages = [
            *messages,
            *wired([*rounds(4, chars=2_000), assistant("Next."), user(f"Go on, {turn}.")], format),
        ]


@pytest.mark.parametrize("policy", FOLDING)
def test_ten_compactions_in_a_row_lose_no_rule_and_stay_within_their_budget(policy: str) -> None:
    """CMP-16: a ledger is carried on, never summarised."""
    made = [user("Find out why the import is slow."), *rounds(20, chars=2_000)]
    for rule in RULES:
        made += [assistant("Next."), user(rule), *rounds(4, chars=2_000)]
    messages = wired([*made, assistant("Next."), user("Go on.")], "openai-chat")
    for turn in range(10):
        messages, report = compacted(messages, 3_000, format="openai-chat", policy=policy)
        assert report.tokens_after <= 3_000
        said = texts_of(items_of(messages, "openai-chat"))
        assert [rule for rule in RULES if rule not in said] == [], turn
        grown = wired([*rounds(30, chars=2_000), assistant("Next."), user(f"Go on, {turn}.")], "openai-chat")
        messages = [*messages, *grown]
