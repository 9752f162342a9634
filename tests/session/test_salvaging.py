"""What is sound of a fork, with what it goes on from, makes a session again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import foldline
from foldline.core.message import Message
from foldline.session.library import import_transcript, transcript_of
from foldline.stores.disk import DiskStore
from foldline.transcripts import detect
from foldline.transcripts.transcript import Transcript
from foldline.verify import salvage, verify
from tests.session.making import worked

DAMAGED = "⟦damaged: could not be read⟧"


def forked(home: Path) -> list[str]:
    """A session with a compaction, and a fork with one of its own; the texts of all that the fork goes on from and says."""
    with foldline.open("s", home=home, format="anthropic", counter="length/4") as session:
        session.user("read everything")
        worked(session, 8)
        session.user("and now?")
        session.compact(to=0.6)
        with session.fork("fork") as fork:
            worked(fork, 4)
            fork.user("this way")
            fork.compact(to=0.6)
        session.user("only here")
    return said(transcript_of(DiskStore(home), "fork"))


def said(transcript: Transcript) -> list[str]:
    messages: tuple[Message, ...] = transcript.history or transcript.messages
    return [message.text for message in messages]


def again(home: Path) -> Transcript:
    """What a salvage of the fork makes, brought in as a session."""
    found = salvage("fork", home=home)
    [transcript] = detect.read(found.data, name="salvaged")
    store = DiskStore(home / "other")
    import_transcript(store, transcript, name="new", redact=lambda body: body)
    assert verify("new", home=home / "other").state == "clean"
    with foldline.open("new", home=home / "other") as session:
        session.user("go on")
        session.prepare()
    return transcript


def test_a_whole_fork_is_one_log(tmp_path: Path) -> None:
    """Deliver, Log: a salvage can be brought in; the view is the fork's."""
    texts = forked(tmp_path)
    before = transcript_of(DiskStore(tmp_path), "fork")
    found = again(tmp_path)
    assert said(found) == texts
    assert [message.text for message in found.messages] == [message.text for message in before.messages]
    assert salvage("fork", home=tmp_path).gaps == ()


def gone(home: Path) -> None:
    shutil.rmtree(home / "sessions/s")


def another(home: Path) -> None:
    """A session of the same name that said something else."""
    gone(home)
    with foldline.open("s", home=home, format="anthropic") as session:
        for number in range(40):
            session.user(f"something else {number}")


def first_line_lost(home: Path) -> None:
    (home / "sessions/s/log.jsonl").write_bytes(b"")


@pytest.mark.parametrize("broken", [gone, another, first_line_lost], ids=lambda one: one.__name__)
def test_a_fork_keeps_its_numbers_and_addresses_without_its_parent(
    broken: Callable[[Path], None], tmp_path: Path
) -> None:
    """JRN-9: what it said itself is there, and what it goes on from is said to be lost, message by message."""
    texts = forked(tmp_path)
    whole = len(said(transcript_of(DiskStore(tmp_path), "s"))) - 1
    broken(tmp_path)
    verdict = verify("fork", home=tmp_path)
    assert (verdict.state, verdict.messages, verdict.entries > 5) == ("corrupt", len(texts) - whole, True)
    assert verdict.bytes > 0, "its own lines are there, so it can be salvaged"
    found = said(again(tmp_path))
    assert found[whole:] == texts[whole:]
    assert set(found[:whole]) == {DAMAGED}
    [gap] = salvage("fork", home=tmp_path).gaps
    assert "session 's', which this is a fork of, no longer holds it" in gap.why


def test_of_a_parent_that_lost_its_end_the_rest_is_kept(tmp_path: Path) -> None:
    """A power cut took it, say, where nothing was synced."""
    texts = forked(tmp_path)
    log = tmp_path / "sessions/s/log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:6]))
    assert verify("fork", home=tmp_path).state == "corrupt"
    found = said(again(tmp_path))
    assert len(found) == len(texts)
    assert found[:5] == texts[:5]
    assert DAMAGED in found[5:]
    assert found[-1] == texts[-1]


def test_damage_in_a_parent_costs_the_fork_one_message(tmp_path: Path) -> None:
    """Deliver, Log: read-only salvage."""
    texts = forked(tmp_path)
    log = tmp_path / "sessions/s/log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"read everything", b"read everythinX", 1))
    found = said(again(tmp_path))
    assert found == ["⟦damaged⟧", *texts[1:]], "it is as short as what stood there"
