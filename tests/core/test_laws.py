"""The table of laws: ids and sentences, which check sees what, and what a violation says.

That each law catches what breaks it and lets its sound neighbour pass: `tests/laws/test_laws.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from foldline.core.laws import LAWS, Change, check, judge
from foldline.core.message import Message
from foldline.core.needs import Needs
from foldline.core.pairing import Placed
from foldline.core.rounds import open_seqs, outline
from foldline.testing.builders import assistant, call, result, user, view_from

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"
ROUND = [
    user("go"),
    assistant(call("read", "a", path="a.py"), call("read", "b", path="b.py")),
    result("a", "one"),
    result("b", "two"),
]


def broken(messages: list[Message], needs: Needs) -> list[str]:
    """Ids of the laws that a history breaks."""
    return [v.law for v in check([Placed(seq=n, message=m) for n, m in enumerate(messages)], needs)]


def test_every_law_is_named_once_in_capitals_with_a_sentence() -> None:
    """The table is the list that documents and reports name laws by."""
    ids = [law.id for law in LAWS]
    assert len(set(ids)) == len(ids) == 15
    assert all(law.id.isupper() and law.sentence for law in LAWS)


def test_the_table_in_the_architecture_is_this_one() -> None:
    """A row that says more than its check does is a promise that nobody keeps."""
    rows = re.findall(r"^\| ([A-Z]+) \| (.+) \|$", ARCHITECTURE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(law.id, law.sentence) for law in LAWS]


def test_a_law_is_checked_exactly_where_it_says() -> None:
    """A row without its check would approve anything."""
    for law in LAWS:
        assert (law.of_history is not None) == (law.holds == "history"), law.id
        assert (law.of_change is not None) == (law.holds == "change"), law.id


@pytest.mark.parametrize("missing", [2, 3])
def test_a_result_that_is_missing_breaks_a_closed_history_only(missing: int) -> None:
    """Law PAIR: the last round of a running session may still be answered; that of a finished one may not."""
    messages = [message for n, message in enumerate(ROUND) if n != missing]
    assert broken(messages, Needs()) == []
    assert broken(messages, Needs(tail_stays_open=False)) == ["PAIR"]


def test_every_violation_of_a_history_is_reported_and_not_only_the_first() -> None:
    """`foldline check` lists each, with its place."""
    messages = [user("go"), result("x", "1"), result("y", "2"), assistant(" ")]
    needs = Needs(blank_text=False)
    assert broken(messages, needs) == ["PAIR", "PAIR", "ROLE"]


def test_taking_one_result_out_of_a_round_breaks_the_round() -> None:
    """Law ROUND, anthropics/claude-code#8763: half a round leaves a call unanswered."""
    view = view_from([*ROUND, assistant("done"), user("next")])
    items = view.items()
    structure = outline(items)
    change = Change(
        before=tuple(items),
        after=tuple(item for item in items if item.seq != 3),
        pins=frozenset(),
        open_round=open_seqs(structure),
        units=structure.units,
    )
    (found,) = judge(change)
    assert (found.law, found.at) == ("ROUND", "message 1")
    assert "1, 2, 3 belong together" in found.why


def test_a_line_put_before_an_open_round_shares_its_ordinal_and_is_not_taken_for_it() -> None:
    """Law TAIL: a history that opens with calls, one of them unanswered; its result may be shortened."""
    opening, calls, answer = view_from(
        [user("it opens with the assistant"), assistant("on it", call("a"), call("b")), result("a", "long")]
    ).items()
    before = (opening, replace(calls, seq=0), replace(answer, seq=1))
    (part,) = answer.message.parts
    short = replace(answer.message, parts=(replace(part, content=(), edited=True),), edited=True)
    after = (*before[:2], replace(before[2], message=short))
    change = Change(
        before=before,
        after=after,
        pins=frozenset(),
        open_round=frozenset({0, 1}),
        units=outline(before).units,
    )
    assert judge(change) == ()
    taken = replace(before[1], message=replace(calls.message, parts=calls.message.parts[1:], edited=True))
    for rest in ((before[0], taken, before[2]), before[1:], (before[0], before[2])):
        broken_ones = judge(replace(change, after=rest))
        assert "the open round is never taken apart" in [violation.why for violation in broken_ones]
