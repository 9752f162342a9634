"""The hand-off record: strict in form, one an epoch."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.entry import Draft
from foldline.log.handoff import NO_EPOCH, TEXT_CHARS_MAX, Record, handoff_json, read_handoff
from foldline.log.replay import Replay, resume
from foldline.log.state import SUPPRESSED, State
from foldline.log.values import dumps
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, user
from tests.log.drafts import compaction, draft, fold, said

TALK = (said(user("a")), said(assistant("b")), said(user("c")), said(assistant("d")), said(user("e")))


def record(**more: Any) -> dict[str, Any]:
    """A well-formed body of the first epoch, with other members where they are given."""
    return {**handoff_json(Record(epoch=NO_EPOCH, after=4, text="write it down")), **more}


def raw(body: bytes) -> Draft:
    """An entry with this very body."""
    return Draft(kind="handoff", body=body)


def after(*drafts: Draft) -> State:
    """What a log of these entries comes to."""
    log = MemoryStore().create("s", format="neutral", about=b"{}")
    log.append((*TALK, *drafts))
    replay = Replay()
    replay.run(log.entries())
    assert resume(log).state.handoff == replay.state.handoff
    return replay.state


MALFORMED = (
    b"{}",
    b'{"version":1,"epoch":-1,"after":4}',
    dumps(record(version=2)),
    dumps(record(version=True)),
    dumps(record(version="1")),
    dumps(record(epoch=-2)),
    dumps(record(epoch=None)),
    dumps(record(epoch=1.0)),
    dumps(record(after=-1)),
    dumps(record(after=False)),
    dumps(record(text="")),
    dumps(record(text=" \n")),
    dumps(record(text=["x"])),
    dumps(record(text="x" * (TEXT_CHARS_MAX + 1))),
    dumps(record(more=1)),
    b'{"version":1,"version":1,"epoch":-1,"after":4,"text":"x"}',
)


@pytest.mark.parametrize("body", MALFORMED)
def test_a_malformed_record_is_read_by_nobody_and_leaves_its_epoch_without_one(body: bytes) -> None:
    """HND-2: suppressed rather than guessed at; and the log still loads."""
    with pytest.raises(ValueError, match=r"."):
        read_handoff(body)
    assert after(raw(body)).handoff == SUPPRESSED
    assert after(raw(body), draft("handoff", **record())).handoff == SUPPRESSED
    assert after(raw(body), compaction(fold(1, 3))).handoff is None


@pytest.mark.parametrize("wrong", [{"epoch": 3}, {"after": 5}])
def test_a_record_of_another_epoch_or_of_a_message_that_is_not_there_suppresses_this_one(
    wrong: dict[str, int],
) -> None:
    """HND-2: one strict record; what another writer had in mind is not chosen."""
    assert after(draft("handoff", **record(**wrong))).handoff == SUPPRESSED


def test_a_record_is_what_was_written() -> None:
    """HND-2: version 1, there and back."""
    one = Record(epoch=7, after=12, text="where do you stand?")
    assert read_handoff(dumps(handoff_json(one))) == one
    found = after(draft("handoff", **record())).handoff
    assert found is not None
    assert (found.after, found.text) == (4, "write it down")


def test_a_compaction_that_is_taken_back_takes_its_epoch_with_it() -> None:
    """HND-4: the epoch before goes on with the record it had; a record of the one taken back says nothing."""
    first = draft("handoff", **record())
    made = compaction(fold(1, 3))
    second = draft("handoff", **record(epoch=6))
    undo = draft("undo", entry=6)
    before = after(first).handoff
    assert after(first, made).handoff is None
    now = after(first, made, second).handoff
    assert now is not None
    assert now.seq == 7
    assert after(first, made, second, undo).handoff == before
    assert after(first, made, undo, draft("handoff", **record())).handoff == SUPPRESSED


def test_a_nodes_compaction_begins_no_epoch_and_neither_does_an_edit() -> None:
    """HND-4: only a replacement checkpoint of the session's own view does."""
    first = draft("handoff", **record())
    node = (draft("node", id="n6", name="x", expose="io"), said(user("x"), node="n6"))
    inside = compaction(fold(5, 5), node="n6")
    for more in ((*node, inside), (compaction(fold(1, 3), kind="edit"),)):
        found = after(first, *more).handoff
        assert found is not None
        assert found.seq == 5
