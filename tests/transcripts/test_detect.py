"""Formats are recognised by content, and every refusal is in words."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.errors import FoldlineError, InvalidTranscript, UnknownFormat
from foldline.transcripts import detect
from tests.transcripts.claude_session import assistant, boundary, jsonl, summary, user, uuid

DATA = Path(__file__).parent.parent / "data"
RECORDED = sorted(path for name in detect.READERS for path in (DATA / name).glob("*") if path.is_file())


def test_every_named_reader_and_writer_can_be_loaded_and_has_its_name() -> None:
    """The table is the only place that knows them."""
    assert [detect.reader(name).name for name in detect.READERS] == list(detect.READERS)
    assert [detect.writer(name).name for name in detect.WRITERS] == list(detect.WRITERS)
    assert set(detect.WRITERS) <= set(detect.READERS)
    assert set(detect.ALIASES.values()) <= set(detect.READERS)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recorded_session_is_recognised_by_its_content(path: Path) -> None:
    """interface.md: `--from auto` recognises by content, never by name."""
    transcripts = detect.read(path.read_bytes())
    assert {transcript.format for transcript in transcripts} == {path.parent.name}
    assert all(transcript.messages for transcript in transcripts)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_other_reader_is_as_sure_of_a_recorded_session(path: Path) -> None:
    """Certainty decides, not the order of the table."""
    head = path.read_bytes()[:65536]
    sure = {name: detect.reader(name).recognise(head) for name in detect.READERS}
    assert sorted(name for name in sure if sure[name] == max(sure.values())) == [path.parent.name]


def test_a_damaged_first_line_does_not_hide_the_format() -> None:
    """anthropics/claude-code#53821: hundreds of messages are intact."""
    good = jsonl([user("u1", None, "go"), assistant("a1", "u1", "ok")])
    for damage in (b"\0" * 900, b'{"type":"us\n', b"garbage \xe6\xbc\n", b"}\n{]\n"):
        (transcript,) = detect.read(damage + good)
        assert len(transcript.messages) == 2
        assert transcript.format == "claude-code"


def test_a_named_wire_format_is_that_whatever_the_content_says() -> None:
    """`--from` decides: a chat may hold a block of another provider, and its result must be read as what it is."""
    data = b'[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}]'
    assert detect.read(data)[0].format == "anthropic"
    for name in ("openai-chat", "openai"):
        assert detect.read(data, format=name)[0].format == "openai-chat"


def test_a_named_format_is_not_guessed_again() -> None:
    """`--from` decides."""
    data = jsonl([user("u1", None, "go")])
    assert detect.read(data, format="claude")[0].format == "claude-code"
    with pytest.raises(InvalidTranscript, match="--from"):
        detect.read(data, format="kimi")
    with pytest.raises(UnknownFormat, match="claude-code"):
        detect.read(data, format="no-such")
    with pytest.raises(UnknownFormat):
        detect.writer("pi")


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"dear diary\n", InvalidTranscript, "not JSON"),
        (
            b'# A page\n\n```json\n{"role": "user", "messages": []}\n```\n' + b"more\n" * 9,
            InvalidTranscript,
            "no session format",
        ),
        (b'{"name":"x","dependencies":{}}', UnknownFormat, "keys name, dependencies"),
        (b"[1,2,3]", UnknownFormat, "without an object"),
        (b"null", UnknownFormat, "without an object"),
        (b"[[[[", UnknownFormat, "breaks off"),
        (b'{"\x1b[31mred":1}', UnknownFormat, "nothing a person could read"),
    ],
)
def test_what_nobody_recognises_is_described(data: bytes, error: type[FoldlineError], words: str) -> None:
    """The error lists the formats and says what the file looks like; never a control character."""
    with pytest.raises(error, match=words) as caught:
        detect.read(data)
    assert str(caught.value).isprintable()


def outcome(data: bytes) -> str:
    """What reading these bytes comes to, in words; any other exception passes through."""
    try:
        found = detect.read(data)
        detect.read_whole(data, format=found[0].format)
        return f"{len(found)} conversations"
    except FoldlineError as error:
        return str(error)


@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    """Hostile input: nothing but an error of ours."""
    assert outcome(data)


@given(path=st.sampled_from(RECORDED), cut=st.floats(0, 1), flip=st.floats(0, 1), byte=st.integers(0, 255))
def test_a_damaged_recorded_session_is_read_or_refused_in_words(
    path: Path, cut: float, flip: float, byte: int
) -> None:
    """Hostile input: real files, cut and with one byte changed."""
    data = bytearray(path.read_bytes()[:60_000])
    data = data[: int(len(data) * cut)]
    if data:
        data[int((len(data) - 1) * flip)] = byte
    assert outcome(bytes(data))


def test_readers_are_imported_when_first_asked() -> None:
    """Import does nothing: a name is a string until it is needed."""
    assert all(isinstance(place, str) for place in (*detect.READERS.values(), *detect.WRITERS.values()))
    module, attribute = detect.READERS["pi"].split(":")
    assert detect.reader("pi") is getattr(import_module(module), attribute)


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    """interface.md: a progress bar on a terminal."""
    path = tmp_path / "s"
    path.write_bytes(jsonl([user("u1", None, "x" * 3_000_000)]))
    told: list[tuple[int, int]] = []
    detect.read(path, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (path.stat().st_size,) * 2


@pytest.mark.parametrize("format", ["openai-chat", "langgraph"])
def test_the_progress_of_a_document_is_that_of_its_messages(format: str) -> None:
    """interface.md: the bytes of one document are read in a moment; what takes the time is told as it goes on."""
    role = "role" if format == "openai-chat" else "type"
    said = [{role: "user" if role == "role" else "human", "content": "x" * 1_000_000} for _ in range(8)]
    told: list[tuple[int, int]] = []
    data = json.dumps({"messages": said}).encode()
    [found] = detect.read(data, format=format, progress=lambda done, total: told.append((done, total)))
    assert len(found.messages) == 8
    assert {total for _, total in told} == {len(data)}
    steps = [done for done, _ in told if done < len(data)]
    assert len(steps) >= 6
    assert steps == sorted(steps)
    assert steps[0] < len(data) / 3 < len(data) * 2 / 3 < steps[-1]


COMPACTED = {"claude-code/shape-fixture-compact-boundary.jsonl": 9, "codex/shape-fixture-compacted.jsonl": 21,
             "kimi/shape-fixture-full-compaction.jsonl": 54}  # fmt: skip


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_session_read_whole_has_what_its_tool_compacted_away(path: Path) -> None:
    """What `import --all` takes: all that was said, no summary, and no count of a request that was smaller. Where the tool
    never compacted it is the very same conversation."""
    live = detect.read(path)
    whole = detect.read_whole(path, format=live[0].format)
    if live[0].format not in detect.WHOLE:
        assert whole is None
        return
    assert whole is not None
    [of_live], [of_whole] = live, whole
    name = f"{path.parent.name}/{path.name}"
    assert len(of_whole.messages) == COMPACTED.get(name, len(of_live.messages))
    if name not in COMPACTED:
        assert [m.parts for m in of_whole.messages] == [m.parts for m in of_live.messages]
    assert not any(message.synthetic for message in of_whole.messages)
    assert (of_whole.usage, of_whole.usage_at) == (None, None)
    [of_bytes] = detect.read_whole(path.read_bytes(), format=of_live.format) or ()
    assert of_bytes.messages == of_whole.messages


def test_boundaries_of_a_branch_are_passed_and_its_dead_branches_stay_out() -> None:
    """Claude Code: a boundary names the record it came after, or comes after the one before it in the file; what it preserved
    stands where it was said, once."""
    records = [
        user("u1", None, "one"),
        assistant("a1", "u1", "two"),
        user("ux", "a1", "rewound"),
        user("u2", "a1", "three"),
        boundary("b1") | {"logicalParentUuid": uuid("u2")},
        summary("s1", "b1"),
        assistant("a3", "s1", "four"),
        user("u4", "a3", "five"),
        boundary(
            "b2", preservedSegment={"headUuid": uuid("u4"), "anchorUuid": uuid("s2"), "tailUuid": uuid("u4")}
        ),
        summary("s2", "b2"),
        assistant("a5", "s2", "six"),
    ]
    data = jsonl(records)
    [live] = detect.read(data)
    assert [message.text for message in live.messages] == ["the summary", "five", "six"]
    whole = detect.read_whole(data, format="claude-code")
    assert whole is not None
    assert [message.text for message in whole[0].messages] == ["one", "two", "three", "four", "five", "six"]
