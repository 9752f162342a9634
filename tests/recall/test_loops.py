"""Reading again what was just taken out of view is noticed, and counts as a sign to keep more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline.core.address import part_address
from foldline.core.edit import Drop, Fold, Replace
from foldline.core.entry import Draft
from foldline.core.message import Message, Text, ToolResult
from foldline.core.view import Span
from foldline.log.values import edit_json
from foldline.recall.loops import SOON_MESSAGES, Rereads, rereads
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, call, result, user
from tests.recall.logs import entry, written


def log_of(*given: Message | Draft) -> Rereads:
    """What a log of these comes to."""
    store = MemoryStore()
    written(store, "s", given)
    return rereads(store.read("s").entries())


def reading(name: str, id: str, **arguments: object) -> list[Message]:
    """A call and its result."""
    return [assistant(call(name, id, **arguments)), result(id, f"what {id} read")]


def clearing(ordinal: int) -> Draft:
    """A compaction that clears one result."""
    part = ToolResult(call_id="c", content=(Text(text="[foldline: cleared · m1.0@00000000]"),), slot=0)
    told = Replace(seq=ordinal, slot=0, part=part, address="m1.0@00000000")
    return compaction(told)


def folding(start: int, end: int) -> Draft:
    """A compaction that folds messages."""
    return compaction(Fold(spans=(Span(start=start, end=end),), message=user("fold"), address="m1@00000000"))


def compaction(*edits: Replace | Drop | Fold) -> Draft:
    """Its entry."""
    return entry("compaction", {"edits": [edit_json(edit, lambda n: n) for edit in edits], "report": {}})


def told(found: Rereads) -> Sequence[tuple[int, str, str, int]]:
    """Message, tool, by whom, where."""
    return [(one.message, one.tool, one.by, one.at) for one in found.again]


A = reading("read_file", "a", path="a.py")
AGAIN = reading("read_file", "b", path="a.py")


@pytest.mark.parametrize("out", [clearing(2), folding(1, 3), compaction(Drop(span=Span(start=1, end=3)))])
def test_a_file_read_again_right_after_its_reading_went_is_noticed(out: Draft) -> None:
    """Cleared, folded or dropped."""
    found = log_of(user("go"), *A, out, *AGAIN)
    assert told(found) == [(2, "read_file", "read_file", 3)]
    assert (found.evicted, found.share) == (1, 1.0)
    assert found.again[0].compaction == 3


def test_recall_of_what_went_is_noticed_by_its_address() -> None:
    """Whatever stood there; opening it twice counts once."""
    address = part_address(2, A[1].parts[0])
    asks = [assistant(call("recall", f"r{n}", address=address)) for n in range(2)]
    found = log_of(user("go"), *A, clearing(2), asks[0], asks[1])
    assert told(found) == [(2, "read_file", "recall", 3)]
    short = log_of(user("go"), *A, clearing(2), assistant(call("recall", "r", address="m2")))
    assert told(short) == [(2, "read_file", "recall", 3)]
    said = log_of(
        user("go"),
        assistant("a long answer"),
        folding(1, 2),
        assistant(call("recall", "r", query="m1@00000000")),
    )
    assert told(said) == [(1, "", "recall", 2)]
    assert said.evicted == 1


def test_what_stayed_in_view_or_was_read_long_ago_does_not_count() -> None:
    """Only what a compaction took, and only soon."""
    assert told(log_of(user("go"), *A, *AGAIN)) == []
    late = [user("more")] * (SOON_MESSAGES + 1)
    assert told(log_of(user("go"), *A, clearing(2), *late, *AGAIN)) == []
    assert told(log_of(user("go"), *A, clearing(2), assistant(call("recall", "r", query="pool")))) == []


def test_words_that_are_looked_for_open_nothing() -> None:
    """As the tool has it: a short address is one only where an address is asked for, and a whole one only where it stands alone."""
    for query in ("m2", "what m2@00000000 says"):
        found = log_of(user("go"), *A, clearing(2), assistant(call("recall", "r", query=query)))
        assert told(found) == []


@pytest.mark.parametrize("name", ["edit", "amend_source"])
def test_a_file_that_was_changed_is_read_again_for_good_reason(name: str) -> None:
    """Whatever its editor is called."""
    edit = call(name, "e", path="a.py", old_string="x", new_string="y")
    edited = [assistant(edit), result("e", "ok")]
    assert told(log_of(user("go"), *A, clearing(2), *edited, *AGAIN)) == []


def test_another_file_or_other_words_are_another_reading() -> None:
    other = reading("read_file", "b", path="b.py")
    assert told(log_of(user("go"), *A, clearing(2), *other)) == []
    one, same = reading("grep", "g", pattern="x", path="."), reading("grep", "h", path=".", pattern="x")
    assert told(log_of(user("go"), *one, clearing(2), *same)) == [(2, "grep", "grep", 3)]
    assert told(log_of(user("go"), *one, clearing(2), *reading("grep", "h", pattern="y"))) == []


def test_commands_are_run_again_for_many_reasons() -> None:
    """Tests after a change: no sign of anything."""
    one, same = reading("bash", "g", command="make"), reading("bash", "h", command="make")
    assert told(log_of(user("go"), *one, clearing(2), *same)) == []


def test_an_undone_compaction_took_nothing() -> None:
    found = log_of(user("go"), *A, clearing(2), entry("undo", {"entry": 3}), *AGAIN)
    assert (found.evicted, told(found)) == (0, [])


def test_many_second_readings_say_keep_more_and_few_do_not() -> None:
    """The signal: a count and a share."""
    readings = [message for n in range(4) for message in reading("read_file", f"a{n}", path=f"{n}.py")]
    again = [message for n in range(4) for message in reading("read_file", f"b{n}", path=f"{n}.py")]
    out = folding(1, 9)
    assert not log_of(user("go"), *readings, out, *again[:4]).keep_more
    assert log_of(user("go"), *readings, out, *again[:6]).keep_more
    assert not log_of().keep_more
    assert not Rereads(evicted=1000, again=log_of(user("go"), *readings, out, *again).again).keep_more


def test_entries_that_cannot_be_read_are_passed_over() -> None:
    broken = [
        entry("compaction", {"edits": 3}),
        entry("compaction", {}),
        entry("message", {"format": "later"}),
    ]
    assert log_of(*broken, entry("undo", {"entry": 9})).again == ()
