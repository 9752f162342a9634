"""Which records of a Claude Code session are live."""

from __future__ import annotations

import json

import pytest

from foldline.transcripts import claude_tree
from tests.transcripts.claude_session import (
    answer,
    assistant,
    boundary,
    call,
    jsonl,
    read,
    read_bytes,
    record,
    said,
    summary,
    user,
    uuid,
)


def test_a_rewound_branch_is_left_out_and_said() -> None:
    """transcript-formats.md: file order is not always tree order (rewinds and forks leave dead branches)."""
    transcript = read(
        user("u1", None, "hello"),
        assistant("a1", "u1", "hi"),
        user("u2", "a1", "wrong way"),
        assistant("a2", "u2", "going wrong"),
        user("u3", "a1", "right way"),
        assistant("a3", "u3", "going right"),
    )
    assert said(transcript) == ["hello", "hi", "right way", "going right"]
    assert any(note.startswith("2 records on branches") for note in transcript.notes)


def test_a_conversation_begun_again_from_its_first_prompt_drops_all_before() -> None:
    """A rewind to the start makes a second root."""
    transcript = read(
        user("u1", None, "first"),
        assistant("a1", "u1", "x"),
        user("u2", None, "again"),
        assistant("a2", "u2", "y"),
    )
    assert said(transcript) == ["again", "y"]


def test_results_of_parallel_calls_are_live_although_they_hang_on_their_own_line() -> None:
    """Newer clients hang each result on the line of its call, so the path from the end meets one of them only."""
    transcript = read(
        user("u1", None, "go"),
        assistant("a1", "u1", call("t1"), id="m"),
        assistant("a2", "a1", call("t2"), id="m"),
        answer("r1", "a1", "t1"),
        answer("r2", "a2", "t2"),
        assistant("a3", "r2", "done"),
    )
    assert sorted(said(transcript)) == sorted(["go", "call t1 + call t2", "result t1", "result t2", "done"])
    assert said(transcript)[:2] == ["go", "call t1 + call t2"]
    assert said(transcript)[-1] == "done"
    assert transcript.notes == ()


def test_lines_of_a_live_response_off_the_path_are_live() -> None:
    """The other half of the same shape: the second call's line is no ancestor of the end."""
    transcript = read(
        user("u1", None, "go"),
        assistant("a1", "u1", call("t1"), id="m"),
        answer("r1", "a1", "t1"),
        assistant("a2", "a1", call("t2"), id="m"),
        answer("r2", "a2", "t2"),
        assistant("a3", "r1", "done"),
    )
    assert said(transcript)[1] == "call t1 + call t2"
    assert sorted(said(transcript)[2:4]) == ["result t1", "result t2"]


def test_links_go_through_records_that_are_no_messages() -> None:
    """Attachments and progress records are links of the chain."""
    transcript = read(
        user("u1", None, "hello"),
        record("p1", "u1", kind="attachment", attachment={"type": "todo"}),
        record("p2", "p1", kind="progress", data={}),
        assistant("a1", "p2", "hi"),
    )
    assert said(transcript) == ["hello", "hi"]
    assert dict(transcript.skipped) == {"attachment": 1, "progress": 1}


def test_a_link_across_an_unreadable_line_is_mended() -> None:
    """anthropics/claude-code#50347: parent links across the gap are repaired."""
    torn = json.dumps(user("u2", "a1", "lost"))[:60]
    transcript = read(
        user("u1", None, "hello"),
        assistant("a1", "u1", "hi"),
        torn,
        assistant("a2", "u2", "so"),
        user("u3", "a2", "end"),
    )
    assert said(transcript) == ["hello", "hi", "so", "end"]
    assert any("line" in note and "3" in note for note in transcript.notes)
    assert any("mended" in note for note in transcript.notes)


def test_a_child_that_stands_before_its_parent_is_found() -> None:
    """File order is not always tree order."""
    transcript = read(
        user("u1", None, "one"),
        user("u2", "a1", "three"),
        assistant("a1", "u1", "two"),
        assistant("a2", "u2", "four"),
    )
    assert said(transcript) == ["one", "two", "three", "four"]


def test_links_in_a_ring_end() -> None:
    """Hostile input: no loop runs for ever."""
    assert said(read(user("u1", "a1", "one"), assistant("a1", "u1", "two"))) == ["one", "two"]
    assert said(read(user("u1", "u1", "alone"))) == ["alone"]


def test_a_session_without_links_is_read_in_the_order_of_the_file() -> None:
    """Other tools write such files; nothing may be dropped silently."""
    transcript = read(user("u1", None, "one"), user("u2", None, "two"), user("u3", None, "three"))
    assert said(transcript) == ["one", "two", "three"]
    assert any("order of the file" in note for note in transcript.notes)


def test_ids_given_to_different_messages_are_not_believed() -> None:
    """A file in which ids were blanked out (the shape fixture) is read in the order of the file."""
    transcript = read(user("x", "x", "one"), assistant("x", "x", "two"), user("x", "x", "three"))
    assert said(transcript) == ["one", "two", "three"]


def test_a_record_written_twice_counts_once() -> None:
    """Clients append idempotently by id."""
    first = user("u1", None, "one")
    assert said(read(first, first, assistant("a1", "u1", "two"))) == ["one", "two"]


def test_side_chains_are_apart() -> None:
    """transcript-formats.md: sub-agents of older clients stand in the main file."""
    transcript = read(
        user("u1", None, "go"),
        assistant("a1", "u1", call("t1")),
        user("s1", None, "sub task", isSidechain=True),
        assistant("s2", "s1", "sub answer", isSidechain=True),
        answer("r1", "a1", "t1"),
    )
    assert said(transcript) == ["go", "call t1", "result t1"]
    assert dict(transcript.skipped) == {"side chain": 2}


def test_a_file_that_holds_nothing_but_a_side_chain_is_the_conversation() -> None:
    """interface.md."""
    transcript = read(
        user("s1", None, "task", isSidechain=True), assistant("s2", "s1", "answer", isSidechain=True)
    )
    assert said(transcript) == ["task", "answer"]


def test_only_what_follows_the_last_boundary_is_live() -> None:
    """transcript-formats.md: live context = summary and everything after it."""
    transcript = read(
        user("u1", None, "old"),
        assistant("a1", "u1", "older"),
        boundary("b1"),
        summary("s1", "b1", "first summary"),
        user("u2", "s1", "middle"),
        boundary("b2"),
        summary("s2", "b2"),
        user("u3", "s2", "new"),
    )
    assert said(transcript) == ["the summary", "new"]
    assert transcript.messages[0].synthetic == "summary"


def test_words_about_a_boundary_are_no_boundary() -> None:
    """Only a system record is one: a user may paste such a record."""
    text = json.dumps(boundary("b1"))
    transcript = read(
        user("u1", None, "see"), assistant("a1", "u1", text), user("u2", "a1", "compact_boundary?")
    )
    assert len(transcript.messages) == 3


@pytest.mark.parametrize("listed", [True, False])
def test_preserved_messages_stand_after_the_summary(listed: bool) -> None:
    """Newer clients keep the last messages verbatim: named by the boundary, written before it."""
    metadata = {
        "preservedSegment": {"headUuid": uuid("u2"), "anchorUuid": uuid("s1"), "tailUuid": uuid("a2")}
    }
    if listed:
        metadata["preservedMessages"] = {"anchorUuid": uuid("s1"), "uuids": [uuid("u2"), uuid("a2")]}  # type: ignore[dict-item]
    transcript = read(
        user("u1", None, "old"),
        assistant("a1", "u1", "older"),
        user("u2", "a1", "kept question"),
        assistant("a2", "u2", "kept answer"),
        boundary("b1", **metadata),
        summary("s1", "b1"),
        user("u3", "a2", "new question"),
        assistant("a3", "u3", "new answer", usage={"input_tokens": 9, "output_tokens": 2}),
    )
    assert said(transcript) == ["the summary", "kept question", "kept answer", "new question", "new answer"]
    assert transcript.usage is not None
    assert transcript.usage.tokens_input == 9


def test_usage_of_preserved_messages_is_stale() -> None:
    """earendil-works/pi#6426: usage older than the newest compaction is ignored."""
    segment = {"headUuid": uuid("a1"), "anchorUuid": uuid("s1"), "tailUuid": uuid("a1")}
    transcript = read(
        user("u1", None, "old"),
        assistant("a1", "u1", "kept", usage={"input_tokens": 150_000, "output_tokens": 5}),
        boundary("b1", preservedSegment=segment),
        summary("s1", "b1"),
        user("u3", "s1", "new"),
    )
    assert said(transcript) == ["the summary", "kept", "new"]
    assert transcript.usage is None
    assert transcript.usage_at is None


def test_results_of_preserved_parallel_calls_are_preserved() -> None:
    """The walk from tail to head meets one of two results."""
    segment = {"headUuid": uuid("u2"), "anchorUuid": uuid("s1"), "tailUuid": uuid("r2")}
    transcript = read(
        user("u1", None, "old"),
        user("u2", "u1", "kept"),
        assistant("a1", "u2", call("t1"), id="m"),
        assistant("a2", "a1", call("t2"), id="m"),
        answer("r1", "a1", "t1"),
        answer("r2", "a2", "t2"),
        boundary("b1", preservedSegment=segment),
        summary("s1", "b1"),
        assistant("a3", "r2", "new"),
    )
    assert said(transcript)[:3] == ["the summary", "kept", "call t1 + call t2"]
    assert sorted(said(transcript)[3:]) == ["new", "result t1", "result t2"]


def test_preserved_messages_that_are_missing_are_said() -> None:
    """A damaged file is never silently shorter."""
    segment = {"headUuid": uuid("gone"), "anchorUuid": uuid("s1"), "tailUuid": uuid("gone")}
    transcript = read(user("u1", None, "old"), boundary("b1", preservedSegment=segment), summary("s1", "b1"))
    assert said(transcript) == ["the summary"]
    assert any("preserved" in note for note in transcript.notes)


def test_a_rewind_to_before_the_boundary_undoes_the_compaction() -> None:
    """The newest branch may leave from an older record; then that history is live and the summary is not."""
    transcript = read(
        user("u1", None, "old"),
        assistant("a1", "u1", "older"),
        boundary("b1"),
        summary("s1", "b1"),
        user("u2", "s1", "after"),
        user("u3", "a1", "instead"),
        assistant("a3", "u3", "fine"),
    )
    assert said(transcript) == ["old", "older", "instead", "fine"]


def test_a_missing_parent_after_the_boundary_does_not_bring_the_old_history_back() -> None:
    """A lost line after the boundary is mended inside the live context."""
    transcript = read(
        user("u1", None, "old"),
        boundary("b1"),
        summary("s1", "b1"),
        assistant("a2", "lost", "so"),
        user("u4", "a2", "end"),
    )
    assert said(transcript) == ["the summary", "so", "end"]


def test_a_link_to_the_empty_id_is_mended() -> None:
    """Hostile input: no loop runs for ever."""
    transcript = read(
        user("u1", None, "old"),
        boundary("b1"),
        summary("s1", "b1"),
        user("u2", "s1", "new") | {"parentUuid": ""},
    )
    assert said(transcript) == ["the summary", "new"]


def test_searches_before_the_boundary_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each search may read the whole file before it."""
    searched: list[str] = []
    monkeypatch.setattr(claude_tree, "_find", lambda source, uuid, *, before: searched.append(uuid))
    after = [user(f"x{i}", f"lost{i}", f"n{i}") for i in range(10)]
    transcript = read(user("u1", None, "old"), boundary("b1"), summary("s1", "b1"), *after)
    assert len(transcript.messages) == 11
    assert len(searched) == claude_tree.LOOKUPS_MAX


def test_lines_before_the_boundary_are_not_even_parsed() -> None:
    """openai/codex#28866: memory and time are bounded by the live context."""
    data = b"not JSON at all\n" * 1000 + jsonl(
        [boundary("b1"), summary("s1", "b1"), "{torn", user("u1", "s1", "new")]
    )
    transcript = read_bytes(jsonl([user("u0", None, "first")]) + data)
    assert said(transcript) == ["the summary", "new"]
    assert len(transcript.notes) == 1
    assert "1004" in transcript.notes[0]
