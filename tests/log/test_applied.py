"""What counts stands on pages: no checkpoint repeats all of it, and all of it can be reached."""

from __future__ import annotations

import msgspec
import pytest

from foldline.core.errors import SessionCorrupt
from foldline.log import applied
from foldline.log.applied import PAGE_ROWS, newest_first
from foldline.log.checkpoint import checkpoint_body
from foldline.log.replay import Replay, resume
from foldline.stores.memory import MemoryJournal, MemoryStore
from foldline.testing.builders import assistant, call, result, user
from tests.log.drafts import cleared, compaction, draft, said

EDITS = 10 * PAGE_ROWS


def edited(edits: int, *, every: int = 5) -> MemoryJournal:
    """A log with so many `edit` entries, and a full checkpoint behind each fifth."""
    journal = MemoryStore().create("s", format="neutral", about=b"{}")
    replay = Replay()

    def log(*drafts: object) -> None:
        replay.run(journal.append(drafts))  # type: ignore[arg-type]

    given = result("c1", "long " * 20)
    log(said(user("read it")), said(assistant("yes", call("read", "c1"))), said(given))
    for number in range(edits):
        log(compaction(cleared(2, given), kind="edit"))
        if number % every == every - 1:
            body = checkpoint_body(replay.state, replay.places)
            log(draft("checkpoint", **msgspec.json.decode(body)))
    return journal


def sizes(journal: MemoryJournal) -> list[int]:
    return [len(entry.body) for entry in journal.entries() if entry.kind == "checkpoint"]


def test_a_checkpoint_is_no_longer_for_all_that_was_edited_before_it() -> None:
    """JRN-1, JRN-3: a policy that edits before every request adds a row each time, and writes it once."""
    found = sizes(edited(EDITS))
    assert max(found[-20:]) <= 1.25 * max(found[:20]), "the numbers are longer, not the list"


def test_all_that_counts_is_found_from_the_newest_on() -> None:
    """Law REPLAY: undo and unfold reach every one of them, from the state after a resume as from a whole replay."""
    journal = edited(EDITS)
    wanted = [entry.seq for entry in journal.entries() if entry.kind == "edit"][::-1]
    whole = Replay()
    whole.run(journal.entries())
    for state in (resume(journal).state, whole.state):
        assert len(state.applied) < PAGE_ROWS
        assert [one.seq for one in newest_first(state, journal)] == wanted


def test_the_newest_is_found_without_reading_an_earlier_page() -> None:
    """JRN-8: an undo of the last compaction costs the same in a log of any length."""
    journal = edited(EDITS + 1)
    read: list[int] = []

    class Watched(MemoryJournal):
        def entry(self, offset: int):  # type: ignore[no-untyped-def]
            read.append(offset)
            return MemoryJournal.entry(self, offset)

    state = resume(journal).state
    journal.__class__ = Watched
    assert next(newest_first(state, journal)).seq == state.seq
    assert read == []


def test_a_log_whose_checkpoints_repeat_all_of_it_is_read_and_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Style rule 8: any old log loads for ever."""
    with monkeypatch.context() as before:
        before.setattr(applied, "PAGE_ROWS", 1 << 30)
        journal = edited(EDITS)
    wanted = [entry.seq for entry in journal.entries() if entry.kind == "edit"][::-1]
    assert sizes(journal)[-1] > 4 * sizes(journal)[0]
    replay = resume(journal)
    assert (replay.state.applied, replay.state.earlier_at) == ((), replay.state.full_at)
    body = checkpoint_body(replay.state, replay.places)
    assert len(body) <= sizes(journal)[0] + 40
    journal.append([draft("checkpoint", **msgspec.json.decode(body))])
    assert [one.seq for one in newest_first(resume(journal).state, journal)] == wanted


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"earlier": 10**6}, "names a later one"), ({"applied": [[1]]}, "cannot be read")],
    ids=["later", "no row"],
)
def test_a_page_that_is_none_is_refused(wrong: dict[str, object], why: str) -> None:
    """S12, law END: a checkpoint that names itself, or a later one, is no way back."""
    journal = edited(1)
    [entry] = journal.append([draft("checkpoint", version=1, full=True, ordinals=3, **wrong)])
    state = msgspec.structs.replace(Replay().state, earlier_at=entry.offset)
    with pytest.raises(SessionCorrupt, match=why):
        list(newest_first(state, journal))


def test_what_is_no_checkpoint_is_no_page() -> None:
    """S12."""
    journal = edited(1)
    first = next(journal.entries())
    state = msgspec.structs.replace(Replay().state, earlier_at=first.offset)
    with pytest.raises(SessionCorrupt, match="full checkpoint"):
        list(newest_first(state, journal))
