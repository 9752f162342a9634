"""Sessions seen from outside, in a store of any kind."""

from __future__ import annotations

import errno
import json
import os
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from foldline.core.address import part_address
from foldline.core.entry import Draft
from foldline.core.errors import (
    FoldlineError,
    InvalidOption,
    SessionCorrupt,
    SessionExists,
    UnknownAddress,
)
from foldline.core.message import Message, Text
from foldline.core.received import received
from foldline.log.lines import parse_log
from foldline.privacy.forgetting import forget_text
from foldline.session.forking import create_fork
from foldline.session.history import wire_of
from foldline.session.keep import message_draft
from foldline.session.library import (
    Looked,
    import_transcript,
    listed,
    log_of,
    looked_at,
    name_for,
    page_of,
    shown,
    transcript_of,
)
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from foldline.testing.disk import SimulatedDisk, copy, fails_at
from foldline.transcripts import detect
from foldline.wire import strict
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


def brought_in(store: MemoryStore) -> None:
    """A session of pi's, with times of its own and a compaction before what it holds."""
    lines = [
        {"type": "session", "version": 3, "id": "pi1", "timestamp": "2025-05-01T10:00:00.000Z", "cwd": "/w"},
        {"type": "message", "id": "a", "parentId": None, "timestamp": "2025-05-01T10:00:01.000Z"}
        | {"message": {"role": "user", "content": "long ago", "timestamp": 1746093601000}},
        {"type": "compaction", "id": "b", "parentId": "a", "timestamp": "2025-05-01T10:00:02.000Z"}
        | {"summary": "what was", "firstKeptEntryId": "c", "tokensBefore": 9},
        {"type": "message", "id": "c", "parentId": "b", "timestamp": "2025-05-01T10:00:03.000Z"}
        | {"message": {"role": "user", "content": "now", "timestamp": 1746093603000}},
    ]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    [transcript] = detect.read(data, name="pi.jsonl")
    done = import_transcript(store, transcript, name="pi", redact=lambda body: body)
    assert done.left_out, "what stands before the compaction is in the file alone"


def test_an_imported_message_is_shown_with_its_own_time_in_the_format_of_the_session() -> None:
    """JRN-19: not the moment of the import; one of no wire as the session speaks."""
    store = MemoryStore(lambda: 1_900_000_000_000)
    brought_in(store)
    page = page_of(store, "pi")
    assert page.entries[-1].time_ms == 1746093603000
    with opened(MemoryStore(), "s") as session:
        session.user("x")
        assert session.page().format == session.format == "anthropic"
    neutral = Message(role="user", parts=(Text(text="hi"),))
    assert wire_of(neutral, "gemini") == {"role": "user", "parts": [{"text": "hi"}]}
    assert wire_of(neutral, "anthropic")["content"]


def test_damage_is_told_with_the_name_and_the_next_step() -> None:
    """UIX: which session, where, and what to do."""
    store = MemoryStore()
    talked(store)
    data = store._logs["s"].data
    data[data.index(b"question 7") + 1] ^= 1
    for ask in (
        lambda: transcript_of(store, "s"),
        lambda: log_of(store, "s"),
        lambda: page_of(store, "s", limit=200),
    ):
        with pytest.raises(
            SessionCorrupt, match=r"session 's' is damaged at byte .*`foldline verify s` says more"
        ):
            ask()


def test_a_log_without_content_is_said_to_be_one_and_no_fork_of_it_is_left_behind() -> None:
    """JRN-7: it is not empty, it holds hashes."""
    store = MemoryStore()
    store.create("h", format="anthropic", about=b'{"id":"h","content":"hashed"}').append(
        [Draft(kind="event", body=b'{"type":"USER_INPUT"}')]
    )
    for ask in (
        lambda: transcript_of(store, "h"),
        lambda: log_of(store, "h"),
        lambda: page_of(store, "h"),
        lambda: shown(store, "h", address="m0@00000000"),
        lambda: create_fork(store, "h", name="g"),
    ):
        with pytest.raises(InvalidOption, match="holds hashes instead of content"):
            ask()
    assert store.names() == ("h",)


def test_an_address_of_what_was_forgotten_opens_to_what_is_left() -> None:
    """S18: from outside as from within the session."""
    store = MemoryStore()
    with opened(store, "s") as session:
        session.user("my word is swordfish")
        [address] = [
            part_address(0, part) for part in received(next(iter(session._view().view)).message).parts
        ]
    forget_text(store, "swordfish")
    left = shown(store, "s", address=address)
    assert "my word is forgotten" in str(left.text)
    assert (left.title, shown(store, "s", address="m0.0")) == (
        "text of message 0, of which something was forgotten",
        left,
    )


def test_a_ledgers_short_address_opens_in_a_session() -> None:
    """Law TRACE: also from outside; one that is not there says which are."""
    store = MemoryStore()
    with opened(store, "s") as session:
        for word in ("one", "two", "three"):
            session.user(word)
        assert session.show("m1").text == shown(store, "s", address="m1").text == "two"
    assert shown(store, "s", address="m0-m1").title == "messages 0 to 1"
    with pytest.raises(UnknownAddress, match="nothing there, but m0 to m2"):
        shown(store, "s", address="m3")
    with pytest.raises(UnknownAddress, match="something else there"):
        shown(store, "s", address="m1@00000000")


@pytest.mark.parametrize(
    ("model", "noted"),
    [("gpt-5", True), ("gemini-2.5-pro", True), ("claude-sonnet-4-5", False), ("mine", False)],
)
@pytest.mark.filterwarnings("ignore::foldline.core.errors.UnknownModel")
def test_a_model_of_another_provider_is_noted(model: str, noted: bool) -> None:
    """The session keeps its format, and no request says otherwise in silence."""
    store = MemoryStore()
    opened(store, "s").close()
    with opened(store, "s", model=model, format=None) as session:
        session.user("x")
        notes = session.prepare().report.notes
        assert (session.format, any("speaks anthropic" in note for note in notes)) == ("anthropic", noted)


def test_a_dry_run_refuses_what_the_import_would_refuse(tmp_path: Path) -> None:
    """A name that is taken, and one that no session may have; an empty log of the name is free."""
    store = DiskStore(tmp_path / "home")
    memory = MemoryStore()
    talked(memory)
    transcript = transcript_of(memory, "s")
    store.create("empty", format=transcript.wire, about=b"{}").close()
    for dry_run in (True, False):
        import_transcript(store, transcript, name="empty", redact=lambda body: body, dry_run=dry_run)
        with pytest.raises(InvalidOption):
            import_transcript(store, transcript, name="b/../c", redact=lambda body: body, dry_run=dry_run)
    for dry_run in (True, False):
        with pytest.raises(SessionExists):
            import_transcript(store, transcript, name="empty", redact=lambda body: body, dry_run=dry_run)


def test_a_look_reads_no_more_of_a_log_than_it_may() -> None:
    """JRN-19: from the newest entry back, and it says from where on."""
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    made = journal.append([message_draft(user(f"step {number} " + "x" * 500)) for number in range(40)])
    journal.close()
    assert looked_at(store, "s") == Looked()
    assert looked_at(store, "s", bytes_max=5 * made[-1].size) == Looked(first=35)
    log = store._logs["s"].data
    log[made[20].offset + 90] ^= 1
    found = looked_at(store, "s")
    assert found.damage is not None
    assert (found.damage.offset, found.damage.name, found.first) == (made[20].offset, "s", 21)
    assert looked_at(store, "s", bytes_max=5 * made[-1].size).damage is None


@pytest.mark.parametrize("what", ["import", "fork"])
def test_what_the_disk_refuses_leaves_no_session_behind(what: str) -> None:
    """D3, D9: an error at each call of the system is told as one of the session that was not made; there is none then, and the next
    try makes it."""
    before = SimulatedDisk()
    with opened(DiskStore("/", fs=before), "s") as session:
        session.user("hello")
        session.record(answer("yes"))
    transcript = transcript_of(DiskStore("/", fs=before), "s")
    number, refused = 0, 0
    told: set[str] = set()
    while True:
        number += 1
        disk = SimulatedDisk(copy(before.image), fault=fails_at(number, errno.ENOSPC))
        store = DiskStore("/", fs=disk)
        try:
            if what == "import":
                import_transcript(store, transcript, name="new", redact=lambda body: body)
            else:
                create_fork(store, "s", name="new").close()
        except FoldlineError as error:
            refused += 1
            told.add(str(error))
            again = DiskStore("/", fs=SimulatedDisk(disk.image))
            assert again.names() == ("s",)
            import_transcript(again, transcript, name="new", redact=lambda body: body)
        if disk.calls < number:
            break
    assert refused > 5
    assert told == {f"session 'new' was not made ({os.strerror(errno.ENOSPC)}); mend the cause and try again"}


def test_what_is_brought_in_is_counted_as_its_file_is() -> None:
    """TOK-3: a session goes on from what the provider last counted, where the file's tool keeps that beside its messages."""
    given = detect.read("examples/session.jsonl")[0]
    assert given.usage is not None
    store = MemoryStore()
    import_transcript(store, given, name="s", redact=lambda data: data)
    kept = transcript_of(store, "s")
    assert (kept.usage, kept.usage_at) == (given.usage, given.usage_at)
    again = MemoryStore()
    import_transcript(again, replace(given, usage=None, usage_at=None), name="s", redact=lambda data: data)
    assert transcript_of(again, "s").usage is None


def test_every_answer_is_brought_in_with_what_the_provider_counted_for_it() -> None:
    """Audit: what a session cost is the sum over its answers; the last one alone says what is sent next (TOK-3), and none does where
    everything is brought in that its tool had compacted."""
    [given] = detect.read("examples/session.jsonl")
    [whole] = detect.read_whole("examples/session.jsonl", format="pi") or ()
    for transcript, anchor in ((given, given.usage), (whole, None)):
        store = MemoryStore()
        import_transcript(store, transcript, name="s", redact=lambda data: data)
        with closing(store.read("s")) as pages:
            bodies = [strict.loads(entry.body) for entry in pages.entries() if entry.kind == "message"]
        told = [body for body in bodies if "usage" in body]
        assert len(told) == sum(message.role == "assistant" for message in transcript.messages) == 48
        assert sum(body["usage"]["tokens_output"] for body in told) == 18_663
        assert sum("request" not in body for body in told) == (anchor is not None)
        assert transcript_of(store, "s").usage == anchor
