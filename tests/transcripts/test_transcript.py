"""What every reader gives and every writer takes, whatever the format: held against all recorded sessions."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from foldline.testing.builders import user
from foldline.transcripts.detect import READERS, WRITERS, read, reader, writer
from foldline.transcripts.source import Source
from foldline.transcripts.transcript import NewHistory, Reader, Transcript, Writer, left_aside
from tests.transcripts.data import DATA, read_one

SESSIONS = sorted(path for path in DATA.glob("*/*") if path.parent.name in READERS)
EACH = pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}/{path.name}")
HEAD_BYTES = 65_536


class Lines:
    """A stranger's format: one user message a line."""

    name = "lines"
    wire = ""
    holds_prompt = True

    def recognise(self, head: bytes) -> int:
        """Never by itself."""
        return 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """One conversation."""
        said = tuple(user(line.decode().strip()) for _, line in source.lines() if line.strip())
        return (Transcript(format=self.name, wire="anthropic", messages=said),)

    def write(self, transcript: Transcript, result: NewHistory) -> bytes:
        """The lines."""
        return "".join(f"{message.text}\n" for message in result.messages).encode()


def test_recorded_sessions_of_many_formats_are_looked_at() -> None:
    """A test over no files would prove nothing."""
    assert len({path.parent.name for path in SESSIONS}) >= 8


@EACH
def test_what_a_transcript_says_of_itself_holds(path: Path) -> None:
    """Usage belongs to a message that is there, tools are a JSON array, what was left out is counted by name."""
    for found in read(path):
        assert found.format == path.parent.name
        assert found.wire
        assert found.messages
        assert found.usage_at is None or found.usage_at < len(found.messages)
        assert found.usage is not None or found.usage_at is None
        assert found.tools is None or isinstance(msgspec.json.decode(found.tools), list)
        names = [name for name, _ in found.skipped]
        assert names == sorted(set(names))
        assert all(count > 0 for _, count in found.skipped)
        assert found.tokens_window is None or found.tokens_window > 0


@EACH
def test_the_live_context_is_no_longer_than_all_that_was_ever_said(path: Path) -> None:
    """Where a file keeps both, before its compactions and after."""
    for found in read(path):
        assert not found.history or len(found.history) >= len(found.messages)


@EACH
def test_reading_a_file_twice_gives_the_same_messages(path: Path) -> None:
    """Law SAME: no clock and no chance in a reader."""
    first, second = read(path), read(path)
    assert [t.messages for t in first] == [t.messages for t in second]
    assert [(t.id, t.model, t.usage, t.skipped, t.notes) for t in first] == [
        (t.id, t.model, t.usage, t.skipped, t.notes) for t in second
    ]


@EACH
def test_every_reader_is_sure_between_not_at_all_and_certainly(path: Path) -> None:
    """Port Reader: 0 … 100, for its own files and for everybody else's."""
    head = path.read_bytes()[:HEAD_BYTES]
    sure = {name: reader(name).recognise(head) for name in READERS}
    assert all(0 <= value <= 100 for value in sure.values())
    assert sure[path.parent.name] > 0


@pytest.mark.parametrize("name", sorted(set(READERS) & set(WRITERS)))
def test_the_same_arguments_give_the_same_bytes(name: str) -> None:
    """Port Writer, law SAME."""
    writes: Writer = writer(name)
    path = next((path for path in SESSIONS if path.parent.name == name), None)
    if path is None:
        transcript = Transcript(format=name, wire=name, messages=(user("go"),))
    else:
        transcript = read(path)[0]
    if writes.wire and transcript.wire != writes.wire:
        transcript = Transcript(format=name, wire=writes.wire, messages=(user("go"),))
    result = NewHistory(messages=transcript.messages, system=transcript.system, tools=transcript.tools)
    assert writes.write(transcript, result) == writes.write(transcript, result) != b""


def test_a_strangers_format_needs_nothing_to_inherit_from() -> None:
    """Ports Reader and Writer are structural: what reads and writes is a format."""
    reads: Reader = Lines()
    writes: Writer = Lines()
    found = read_one(reads, b"Find the bug.\n\nFix it.\n")
    assert [message.text for message in found.messages] == ["Find the bug.", "Fix it."]
    assert (found.history, found.system, found.tools, found.usage, found.skipped) == (
        (),
        None,
        None,
        None,
        (),
    )
    assert writes.write(found, NewHistory(messages=found.messages[1:])) == b"Fix it.\n"


def test_side_chains_that_are_left_aside_are_explained() -> None:
    """Of a file of 774 kB 405 × side chain were left out, and nobody was told what those are."""
    told = left_aside((("side chain", 405), ("summary", 1)))
    assert told == (
        "left out, no part of the conversation: 405 × side chain (a sub-agent's own steps; what it answered stays), 1 × summary"
    )
