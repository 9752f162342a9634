"""Checkpoints: what they hold, by reference or in full, and their limits at both ends."""

from __future__ import annotations

import msgspec
import pytest

from foldline.core.address import mark as mark_text
from foldline.core.edit import Mark
from foldline.core.entry import Draft
from foldline.core.errors import SessionCorrupt
from foldline.core.message import Text
from foldline.log import checkpoint
from foldline.log.checkpoint import TooLarge, checkpoint_body, small_body
from foldline.log.replay import Replay, resume
from foldline.log.state import State
from foldline.stores.memory import MemoryJournal, MemoryStore
from foldline.testing.builders import assistant, call, result, user
from tests.log.drafts import cleared, compaction, draft, fold, said, texts

RESULT = result("c1", "long " * 20)
TALK = [
    said(user("read it")),
    said(assistant("yes", call("read", "c1"))),
    said(RESULT),
    said(assistant("it says long")),
    said(user("and now?")),
]


def logged(*drafts: Draft) -> tuple[MemoryJournal, Replay]:
    journal = MemoryStore().create("s", format="neutral", about=b"{}")
    journal.append(drafts)
    return journal, resume(journal)


def test_retained_messages_are_named_and_only_what_a_compaction_wrote_stands_in_full() -> None:
    """JRN-1 and JRN-3: no message is stored twice; an edited one names its entry and has its new parts."""
    journal, replay = logged(*TALK, said(user("more")), compaction(fold(0, 1), cleared(2, RESULT)))
    body = msgspec.json.decode(checkpoint_body(replay.state, replay.places, tokens=9))
    head, edited, rest = body["view"]
    assert (head["at"], head["covers"], head["message"]["synthetic"]) == (0, [[0, 1]], "fold")
    assert (edited["at"], [part["slot"] for part in edited["parts"]]) == (2, [0])
    assert rest == [3, 5, replay.places[3][0]]
    assert (body["version"], body["full"], body["ordinals"], body["tokens"]) == (1, True, 6, 9)
    [again] = journal.append([Draft(kind="checkpoint", body=msgspec.json.encode(body))])
    back = resume(journal)
    assert texts(back.state.root.view.items()) == texts(replay.state.root.view.items())
    assert back.state.full_at == again.offset


@pytest.mark.parametrize("request_", [{"tokens_fixed": 40}, False], ids=["may come", "never"])
def test_a_response_whose_usage_has_not_come_is_held(request_: object) -> None:
    """TOK-5, law REPLAY: what a usage that comes later is, no restart changes; older checkpoints do not have the member."""
    told = said(assistant("done"), request=request_)
    late = draft("usage", message=5, usage={"tokens_input": 7})
    journal, replay = logged(*TALK, told)
    body = checkpoint_body(replay.state, replay.places)
    journal.append([Draft(kind="checkpoint", body=body), late])
    whole = Replay()
    whole.run(journal.entries())
    assert resume(journal).state.root.anchor == whole.state.root.anchor
    assert (whole.state.root.anchor is None) == (request_ is False)

    older = msgspec.json.decode(body)
    del older["unsaid"]
    journal, _ = logged(*TALK, told, Draft(kind="checkpoint", body=msgspec.json.encode(older)), late)
    assert resume(journal).state.root.anchor is None


def test_a_small_checkpoint_names_the_last_full_one() -> None:
    """JRN-13: so that the scan from the end is bounded."""
    assert msgspec.json.decode(small_body(State())) == {"version": 1, "full": False, "ordinals": 0}
    assert msgspec.json.decode(small_body(State(full_at=62)))["base"] == 62


def test_resume_reads_from_the_last_checkpoint_and_nothing_before_what_it_names() -> None:
    """JRN-6: however long the log has grown."""
    journal, replay = logged(*TALK * 40, compaction(fold(0, 197)))
    journal.append([Draft(kind="checkpoint", body=checkpoint_body(replay.state, replay.places))])
    journal.append([said(user("last"))])
    read: list[int] = []

    class Watched(MemoryJournal):
        def entry(self, offset: int):  # type: ignore[no-untyped-def]
            read.append(offset)
            return MemoryJournal.entry(self, offset)

    journal.__class__ = Watched
    back = resume(journal)
    assert texts(back.state.root.view.items())[-1] == "last"
    assert len(read) < 15


def test_the_limits_hold_when_a_checkpoint_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """JRN-3: at most 4,096 messages, at most 16 MiB with references resolved."""
    assert (checkpoint.MESSAGES_MAX, checkpoint.BYTES_MAX) == (4_096, 16 * 2**20)
    _, replay = logged(*TALK)
    monkeypatch.setattr(checkpoint, "MESSAGES_MAX", 4)
    with pytest.raises(TooLarge, match="4 messages, not 5"):
        checkpoint_body(replay.state, replay.places)
    monkeypatch.undo()
    monkeypatch.setattr(checkpoint, "BYTES_MAX", 300)
    with pytest.raises(TooLarge, match="300 bytes"):
        checkpoint_body(replay.state, replay.places)


@pytest.mark.parametrize(("name", "most"), [("MESSAGES_MAX", 4), ("BYTES_MAX", 300)])
def test_the_limits_hold_when_a_checkpoint_is_read(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JRN-3: another program may have written it."""
    journal, replay = logged(*TALK)
    journal.append([Draft(kind="checkpoint", body=checkpoint_body(replay.state, replay.places))])
    monkeypatch.setattr(checkpoint, name, most)
    with pytest.raises(SessionCorrupt, match="a checkpoint holds"):
        resume(journal)


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 2, "full": True, "ordinals": 0},
        {"version": 1, "full": True, "ordinals": 5, "view": [[0, 0, 1]]},
        {"version": 1, "full": True, "ordinals": 5, "view": [[3, 2, 1]]},
        {"version": 1, "full": True, "ordinals": 5, "view": [[0, 99, 62]]},
        {"version": 1, "full": True, "ordinals": 5, "view": [{"at": 0}]},
        {"version": 1, "full": True, "ordinals": 5, "nodes": [{"id": "n", "expose": "all"}]},
        {"version": 1, "full": True},
    ],
)
def test_a_checkpoint_that_does_not_fit_its_log_is_refused(wrong: dict[str, object]) -> None:
    """JRN-3: checked when read, with its place."""
    journal, _ = logged(*TALK)
    journal.append([draft("checkpoint", **wrong)])
    with pytest.raises(SessionCorrupt):
        resume(journal)


def test_marks_stand_in_a_checkpoint_behind_the_parts_they_speak_of() -> None:
    """Law REPLAY: words that were superseded are marked for a session that is opened again, too; two marks behind one
    part stay in their order."""
    first = mark_text("m3@00000000")
    second = mark_text("m4@00000000", quotes=("read it",))
    marks = [Mark(seq=0, slot=0, part=Text(text=text), address="m3@00000000") for text in (first, second)]
    journal, replay = logged(*TALK, compaction(marks[0]), compaction(marks[1]))
    [asked, *_] = replay.state.root.view
    assert [part.text for part in asked.message.parts if isinstance(part, Text)] == ["read it", first, second]
    journal.append([Draft(kind="checkpoint", body=checkpoint_body(replay.state, replay.places))])
    again = resume(journal)
    assert [item.message.parts for item in again.state.root.view] == [
        item.message.parts for item in replay.state.root.view
    ]
