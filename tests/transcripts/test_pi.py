"""pi sessions: the old form by index, the newer one as a tree."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from foldline.core.errors import InvalidTranscript
from foldline.core.message import Media, Reasoning, ToolResult, calls_of
from foldline.transcripts.pi import READER
from foldline.transcripts.source import open_source
from tests.transcripts.data import read_lines, words

DATA = Path(__file__).parent.parent / "data" / "pi" / "before-compaction-excerpt.jsonl"
HEADER = {
    "type": "session",
    "id": "s",
    "cwd": "/p",
    "timestamp": "2026-01-01T00:00:00Z",
    "provider": "anthropic",
    "modelId": "claude-opus-4-5",
}


def entry(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": "2026-01-01T00:00:00Z", "message": message} | more


def user(text: str, **more: Any) -> dict[str, Any]:
    return entry({"role": "user", "content": [{"type": "text", "text": text}]}, **more)


def assistant(
    *blocks: Any, stop: str = "stop", total: int = 10, link: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage = {
        "input": total - 1 if total else 0,
        "output": 1 if total else 0,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": total,
    }
    made = {"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic"}
    made |= {"model": "claude-opus-4-5", "usage": usage, "stopReason": stop} | more
    return entry(made, **(link or {}))


def call(id: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "read", "arguments": {"path": "é"}}


def result(id: str, **more: Any) -> dict[str, Any]:
    return entry(
        {
            "role": "toolResult",
            "toolCallId": id,
            "toolName": "read",
            "content": [{"type": "text", "text": "ok"}],
            "isError": False,
        }
        | more
    )


def tree(*entries: tuple[str, str | None, dict[str, Any]]) -> list[dict[str, Any]]:
    return [made | {"id": id, "parentId": parent} for id, parent, made in entries]


read = partial(read_lines, READER.read)


def test_a_recorded_session_is_read_without_the_calls_that_never_ran() -> None:
    """Entries that were aborted or failed are left out, with their calls; all others have their results."""
    (transcript,) = READER.read(open_source(DATA))
    rows = [json.loads(line)["message"] for line in DATA.read_bytes().splitlines()[1:]]
    gone = [row for row in rows if row.get("stopReason") in ("aborted", "error")]
    assert gone
    assert dict(transcript.skipped) == {"aborted answer": len(gone)}
    assert len(transcript.messages) == len(rows) - len(gone)
    calls = [call.id for message in transcript.messages for call in calls_of(message)]
    answers = [part.call_id for m in transcript.messages for part in m.parts if isinstance(part, ToolResult)]
    assert calls
    assert sorted(calls) == sorted(answers)
    assert (transcript.wire, transcript.model) == ("anthropic", "claude-opus-4-5")


def test_the_old_form_keeps_entries_from_an_index_over_the_whole_file() -> None:
    """`firstKeptEntryIndex` counts from 0 over all entries, the header too; the summary comes first."""
    transcript = read(
        HEADER,
        user("zero is the header, this is one"),
        assistant("two"),
        user("three"),
        assistant("four"),
        {"type": "compaction", "summary": "in short", "firstKeptEntryIndex": 3, "tokensBefore": 9},
        user("six"),
    )
    assert words(transcript)[1:] == ["three", "four", "six"]
    assert transcript.messages[0].synthetic == "summary"
    assert "in short" in transcript.messages[0].text


def test_only_the_last_compaction_counts() -> None:
    """The kept entries may reach back over an earlier one, whose summary the later one replaces."""
    transcript = read(
        HEADER,
        user("one"),
        {"type": "compaction", "summary": "first", "firstKeptEntryIndex": 1},
        user("three"),
        {"type": "compaction", "summary": "second", "firstKeptEntryIndex": 1},
        user("five"),
    )
    assert words(transcript)[1:] == ["one", "three", "five"]
    assert "second" in transcript.messages[0].text


def test_an_unreadable_line_does_not_shift_the_index() -> None:
    """The index was right when it was written."""
    compaction = {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 3}
    transcript = read(HEADER, "{torn", user("two"), user("three"), compaction)
    assert words(transcript)[1:] == ["three"]
    assert " 2 (" in transcript.notes[0]


def test_the_newer_form_is_a_tree_whose_last_entry_is_the_leaf() -> None:
    """Branches that were left are not sent; a branch summary stands for them."""
    rows = tree(
        ("a", None, user("one")),
        ("b", "a", assistant("two")),
        ("c", "b", user("wrong")),
        ("d", "b", {"type": "branch_summary", "summary": "tried", "fromId": "c"}),
        ("e", "d", user("right")),
        ("f", "e", {"type": "label", "targetId": "a"}),
    )
    transcript = read(HEADER | {"version": 3}, *rows)
    assert words(transcript)[:2] == ["one", "two"]
    assert "tried" in transcript.messages[2].text
    assert words(transcript)[3] == "right"
    assert dict(transcript.skipped) == {"label": 1}
    assert any("1 message on branches" in note for note in transcript.notes)


def test_the_newer_form_keeps_entries_from_an_id_along_the_path() -> None:
    """`firstKeptEntryId`."""
    rows = tree(
        ("a", None, user("one")),
        ("b", "a", user("two")),
        ("x", "a", user("other branch")),
        ("c", "b", {"type": "compaction", "summary": "s", "firstKeptEntryId": "b"}),
        ("d", "c", user("three")),
    )
    assert words(read(HEADER, *rows))[1:] == ["two", "three"]
    lost = tree(
        ("a", None, user("one")),
        ("c", "a", {"type": "compaction", "summary": "s", "firstKeptEntryId": "zz"}),
        ("d", "c", user("two")),
    )
    transcript = read(HEADER, *lost)
    assert words(transcript)[1:] == ["two"]
    assert any("kept" in note for note in transcript.notes)


def test_a_missing_parent_is_mended() -> None:
    """anthropics/claude-code#50347, in this format."""
    transcript = read(HEADER, *tree(("a", None, user("one"))), "{torn", *tree(("c", "b", user("three"))))
    assert words(transcript) == ["one", "three"]


def test_links_in_a_ring_end() -> None:
    """Hostile input."""
    assert words(read(HEADER, *tree(("a", "b", user("one")), ("b", "a", user("two"))))) == ["one", "two"]


@pytest.mark.parametrize(
    ("api", "provider", "wire"),
    [
        ("anthropic-messages", "anthropic", "anthropic"),
        ("openai-responses", "openai", "openai-responses"),
        ("google-generative-ai", "google", "gemini"),
        ("openai-completions", "groq", "openai-chat"),
        (None, "amazon-bedrock", "anthropic"),
    ],
)
def test_the_wire_follows_the_last_model(api: str | None, provider: str, wire: str) -> None:
    """Sessions switch provider midway."""
    transcript = read(
        HEADER, user("go"), assistant("a"), assistant("b", api=api, provider=provider, model="m2")
    )
    assert (transcript.wire, transcript.model) == (wire, "m2")


def test_a_model_change_after_the_last_response_counts() -> None:
    """The next request goes to the new model."""
    change = {"type": "model_change", "provider": "openai", "modelId": "gpt-5"}
    transcript = read(HEADER, user("go"), assistant("a"), change)
    assert (transcript.wire, transcript.model) == ("openai-responses", "gpt-5")


def test_reasoning_is_sealed_by_the_provider_that_spoke() -> None:
    """Reasoning another provider signed is dropped when the format differs, so it must be known whose it is."""
    item = json.dumps({"type": "reasoning", "id": "rs", "encrypted_content": "xyz"})
    transcript = read(
        HEADER,
        user("go"),
        assistant({"type": "thinking", "thinking": "a", "thinkingSignature": "sig"}),
        assistant({"type": "thinking", "thinking": "b", "thinkingSignature": item}, api="openai-responses"),
        assistant(
            {"type": "thinking", "thinking": "c", "thinkingSignature": "reasoning_content"},
            api="openai-completions",
            provider="x",
        ),
        assistant({"type": "thinking", "thinking": "d", "thinkingSignature": ""}),
        assistant({"type": "thinking", "thinking": "", "redacted": True, "thinkingSignature": "opaque"}),
    )
    parts = [message.parts[0] for message in transcript.messages[1:]]
    assert all(isinstance(part, Reasoning) for part in parts)
    assert [(p.text, p.signature, p.provider, p.redacted) for p in parts if isinstance(p, Reasoning)] == [
        ("a", "sig", "anthropic", False),
        ("b", "xyz", "openai-responses", False),
        ("c", None, None, False),
        ("d", None, None, False),
        ("", "opaque", "anthropic", True),
    ]


def test_calls_and_results_pair_across_provider_switches() -> None:
    """Ids like `toolu_` and `call_|fc_` mix; arguments are JSON text."""
    transcript = read(
        HEADER,
        user("go"),
        assistant(call("toolu_1"), call("call_2|fc_2")),
        result("toolu_1"),
        result("call_2|fc_2", isError=True),
    )
    assert [call.id for call in calls_of(transcript.messages[1])] == ["toolu_1", "call_2|fc_2"]
    assert json.loads(calls_of(transcript.messages[1])[0].arguments) == {"path": "é"}
    last = transcript.messages[3].parts[0]
    assert isinstance(last, ToolResult)
    assert (transcript.messages[3].role, last.call_id, last.name, last.is_error) == (
        "tool",
        "call_2|fc_2",
        "read",
        True,
    )


def test_a_command_the_user_ran_is_told_as_injected_text() -> None:
    """`bashExecution`: not the user's words; some are kept out of the context."""
    bash = {
        "role": "bashExecution",
        "command": "ls",
        "output": "a\n",
        "exitCode": 2,
        "cancelled": False,
        "truncated": False,
    }
    transcript = read(HEADER, user("go"), entry(bash), entry(bash | {"excludeFromContext": True}))
    assert words(transcript)[1] == "Ran `ls`\n```\na\n\n```\n\nCommand exited with code 2"
    assert transcript.messages[1].meta is not None
    assert transcript.messages[1].meta.injected
    assert len(transcript.messages) == 2


def test_messages_of_extensions_are_injected() -> None:
    """Versions 2 and 3: `custom_message` entries and messages of role custom."""
    rows = tree(
        ("a", None, user("go")),
        ("b", "a", {"type": "custom_message", "customType": "x", "content": "note", "display": True}),
        ("c", "b", entry({"role": "custom", "content": "more"})),
    )
    transcript = read(HEADER, *rows)
    assert words(transcript) == ["go", "note", "more"]
    assert [message.meta is not None and message.meta.injected for message in transcript.messages] == [
        False,
        True,
        True,
    ]


def test_images_are_media() -> None:
    """Content block `image` with data and mimeType."""
    image = {"type": "image", "data": "iVBO", "mimeType": "image/png"}
    transcript = read(
        HEADER,
        entry({"role": "user", "content": [image]}),
        assistant(call("t")),
        result("t", content=[image]),
    )
    assert transcript.messages[0].parts[0] == Media(kind="image", mime="image/png", data="iVBO", slot=0)
    last = transcript.messages[2].parts[0]
    assert isinstance(last, ToolResult)
    assert isinstance(last.content[0], Media)


def test_usage_is_the_newest_that_was_measured_after_the_last_compaction() -> None:
    """Y03 (earendil-works/pi#6426): usage from before the compaction is stale; zero is unknown."""
    compaction = {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 2}
    stale = read(HEADER, user("a"), assistant("kept", total=150_000), compaction, user("b"))
    assert (stale.usage, stale.usage_at) == (None, None)
    fresh = read(
        HEADER,
        user("a"),
        assistant("kept", total=150_000),
        compaction,
        assistant("b", total=500),
        assistant("c", total=0),
    )
    assert fresh.usage is not None
    assert (fresh.usage.tokens_context, fresh.usage_at) == (500, 2)


def test_torn_anywhere_the_rest_is_read() -> None:
    """letta-ai/letta-code#3590."""
    data = "\n".join(
        json.dumps(line, ensure_ascii=False) for line in (HEADER, user("漢"), assistant("b"), user("c"))
    ).encode()
    counts = set()
    for end in range(1, len(data) + 1):
        try:
            found = READER.read(open_source(data[:end]))
        except InvalidTranscript:
            continue
        counts.add(len(found[0].messages) if found else 0)
    assert counts == {0, 1, 2, 3}


def test_odd_entries_are_skipped_and_named_never_fatal() -> None:
    """Hostile input."""
    transcript = read(
        HEADER,
        {"type": "message"},
        entry({"role": "toolResult", "content": []}),
        entry({"role": "assistant", "content": [{"type": "toolCall"}]}),
        entry({"role": "user", "content": 5}),
        entry({"role": "future"}),
        {"type": "future"},
        user("go"),
    )
    assert words(transcript) == ["go"]
    assert dict(transcript.skipped) == {"future": 1, "message future": 1}
    assert transcript.notes[0].startswith("4 lines")


def test_a_session_without_messages_is_nothing() -> None:
    """The caller says so in words."""
    assert READER.read(open_source(json.dumps(HEADER).encode())) == ()


def test_a_session_is_recognised_by_its_entries() -> None:
    """interface.md: by content."""
    assert READER.recognise(json.dumps(HEADER).encode()) == 100
    assert READER.recognise(json.dumps(user("x")).encode()) >= 80
    assert READER.recognise(b'{"type":"message","role":"user","content":[]}') == 0
