"""Sessions seen from outside, in a store of any kind."""

from __future__ import annotations

import pytest

from foldline.core.errors import InvalidOption, SessionExists
from foldline.log.lines import parse_log
from foldline.session.library import import_transcript, listed, log_of, name_for, page_of, transcript_of
from foldline.stores.memory import MemoryStore
from tests.session.making import answer, opened


def talked(store: MemoryStore, name: str = "s", rounds: int = 60) -> None:
    """A session with so many turns, long enough for checkpoints."""
    with opened(store, name) as session:
        for number in range(rounds):
            session.user(f"question {number}")
            session.record(answer(f"answer {number}"))


def test_messages_are_counted_from_the_last_checkpoint_on() -> None:
    """JRN-19: a list of sessions reads the end of each log, whatever its length."""
    store = MemoryStore()
    for rounds in (1, 49, 50, 51, 120):
        talked(store, f"s{rounds}", rounds)
    assert {one.name: one.messages for one in listed(store)} == {
        f"s{rounds}": 2 * rounds for rounds in (1, 49, 50, 51, 120)
    }


def test_a_copy_of_a_log_has_its_numbers_and_no_checkpoints() -> None:
    """A checkpoint names bytes of the log it was written for."""
    store = MemoryStore()
    talked(store)
    copy = parse_log(log_of(store, "s"))
    assert copy.state == "clean"
    kinds = [entry.kind for entry in copy.entries]
    assert kinds.count("message") == 120
    assert (kinds.count("left_out") > 0, kinds.count("checkpoint")) == (True, 0)
    assert len(transcript_of(store, "s").messages) == 120


def test_what_is_imported_goes_on_like_any_session() -> None:
    store = MemoryStore()
    talked(store)
    done = import_transcript(store, transcript_of(store, "s"), name="t", redact=lambda body: body)
    assert (done.messages, done.compactions) == (120, 0)
    with opened(store, "t") as session:
        session.user("and?")
        assert len(session.messages) == 121
    with pytest.raises(SessionExists):
        import_transcript(store, transcript_of(store, "s"), name="t", redact=lambda body: body)


def test_a_name_under_which_nothing_was_written_is_free() -> None:
    """An interruption between the two appends of an import leaves an empty log, and no name is lost by it."""
    store = MemoryStore()
    talked(store)
    store.create("t", format="anthropic", about=b"{}").close()
    done = import_transcript(store, transcript_of(store, "s"), name="t", redact=lambda body: body)
    assert done.messages == 120


def test_a_page_needs_no_open_session() -> None:
    """UIX-7: a reader looks while another writes."""
    store = MemoryStore()
    with opened(store) as session:
        session.user("one")
        page = page_of(store, "s")
        assert [one.message.text for one in page.entries if one.message is not None] == ["one"]


@pytest.mark.parametrize(
    ("id", "path", "name"),
    [
        (None, "/tmp/My Session.jsonl", "My-Session"),
        ("a/b: c", "x.json", "a-b-c"),
        ("..", "notes.tar.gz", "notes"),
        (None, "会话.json", None),
    ],
)
def test_a_name_is_made_of_the_id_or_the_file(id: str | None, path: str, name: str | None) -> None:
    if name is None:
        with pytest.raises(InvalidOption, match="--name"):
            name_for(id, path)
    else:
        assert name_for(id, path) == name
