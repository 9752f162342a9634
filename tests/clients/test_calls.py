"""A request is read message by message from bytes or values, written again around what changed, and left alone when it is none of
ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.clients.calls import KEEPS_ALL, Call, beside, call_of
from foldline.recall.tool import recall_tool
from foldline.wire import strict

CHAT = {
    "model": "gpt-4o",
    "temperature": 0.5,
    "stream": True,
    "tools": [{"type": "function", "function": {"name": "read"}}],
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
}


def read(body: Any, format: str) -> Call:
    made = call_of(body, format=format)
    assert made is not None
    return made


@pytest.mark.parametrize("is_bytes", [False, True])
def test_the_conversation_and_what_stands_beside_it_are_told_apart(is_bytes: bool) -> None:
    """The same from what an SDK is about to write and from what it wrote."""
    call = read(json.dumps(CHAT).encode() if is_bytes else CHAT, "openai-chat")
    assert call.model == "gpt-4o"
    assert call.leading == 1
    assert call.system == "be brief"
    assert call.tools == CHAT["tools"]
    assert call.parameters == {"temperature": 0.5}
    assert call.why_passed() == ""
    shown = [call.messages[0], b'{"role":"user","content":"folded"}']
    written = strict.parse(strict.dump(call.with_messages(shown)))
    assert written == {
        **CHAT,
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "folded"}],
    }


def test_several_leading_messages_are_one_system_prompt() -> None:
    """Text and parts; a developer's too."""
    parts = [{"type": "text", "text": "b"}]
    given = [{"role": "system", "content": "a"}, {"role": "developer", "content": parts}]
    call = read({"messages": [*given, {"role": "user", "content": "hi"}]}, "openai-chat")
    assert call.leading == 2
    assert call.system == [{"type": "text", "text": "a"}, *parts]


def test_each_format_keeps_the_system_prompt_in_its_place() -> None:
    """A key of its own, spelt in two ways by Gemini."""
    assert read({"system": "s", "messages": []}, "anthropic").system == "s"
    assert read({"instructions": "s", "input": "hi"}, "openai-responses").system == "s"
    assert read({"system_instruction": {"parts": []}, "contents": []}, "gemini").system == {"parts": []}
    assert read({"contents": [], "tools": []}, "gemini").system is None
    assert read({"contents": [], "tools": []}, "gemini").tools is None


def test_a_bare_text_of_responses_is_one_user_message() -> None:
    """As the API has it."""
    for body in ({"input": "hi"}, b'{"input": "hi"}'):
        assert read(body, "openai-responses").messages == [b'{"role":"user","content":"hi"}']


@pytest.mark.parametrize(
    ("format", "body", "why"),
    [
        (
            "openai-responses",
            {"previous_response_id": "r", "input": "a"},
            "the provider keeps the history (previous_response_id)",
        ),
        (
            "openai-responses",
            {"conversation": "conv_1", "input": "a"},
            "the provider keeps the history (conversation)",
        ),
        (
            "anthropic",
            {
                "thread": {"type": "continue", "previous_message_id": "msg_1"},
                "messages": [{"role": "user", "content": "a"}],
            },
            "the provider keeps the history (thread)",
        ),
        (
            "gemini",
            {"cachedContent": "cachedContents/1", "contents": [{"role": "user", "parts": [{"text": "a"}]}]},
            "the provider keeps the history (cachedContent)",
        ),
        (
            "anthropic",
            {"compaction": {"type": "summarize"}, "messages": [{"role": "user", "content": "a"}]},
            "the provider reduces the history (compaction)",
        ),
        (
            "openai-responses",
            {"input": [{"role": "user", "content": "a"}, {"type": "compaction_trigger"}]},
            "the provider has reduced the history (compaction)",
        ),
        (
            "openai-responses",
            {"input": [{"type": "compaction", "encrypted_content": "e"}]},
            "the provider has reduced the history (compaction)",
        ),
        (
            "anthropic",
            {"messages": [{"role": "user", "content": [{"type": "compaction", "content": "c"}]}]},
            "the provider has reduced the history (compaction)",
        ),
        (
            "anthropic",
            {
                "context_management": {"edits": [KEEPS_ALL, {"type": "clear_tool_uses_20250919"}]},
                "messages": [{"role": "user", "content": "a"}],
            },
            "the provider reduces the history (context_management)",
        ),
        (
            "anthropic",
            {
                "context_management": {"edits": [{"type": "clear_thinking_20251015"}]},
                "messages": [{"role": "user", "content": "a"}],
            },
            "the provider reduces the history (context_management)",
        ),
        (
            "openai-responses",
            {"context_management": [{"type": "compaction", "compact_threshold": 9}], "input": "a"},
            "the provider reduces the history (context_management)",
        ),
        (
            "anthropic",
            {"context_management": {"edits": [KEEPS_ALL]}, "messages": [{"role": "user", "content": "a"}]},
            "",
        ),
        ("openai-chat", {"messages": [{"role": "system", "content": "a"}]}, "it has no messages"),
        ("openai-chat", {"messages": [{"role": "user", "content": 'say "compaction"'}]}, ""),
        ("openai-chat", {"conversation": None, "messages": [{"role": "user", "content": "a"}]}, ""),
    ],
)
def test_history_that_the_provider_keeps_or_reduces_is_none_of_ours(
    format: str, body: dict[str, Any], why: str
) -> None:
    """MIC-3: its own compaction and ours are exclusive; a word in a text decides nothing, nor does what keeps all (Claude Code
    always asks for that)."""
    assert read(body, format).why_passed() == why
    assert read(json.dumps(body).encode(), format).why_passed() == why


@pytest.mark.parametrize("body", [b"no json", b"[]", {"messages": 5}, {}, {"messages": [object()]}])
def test_a_body_of_another_kind_is_no_call(body: Any) -> None:
    """It passes as it is, and the provider says what it thinks of it."""
    assert call_of(body, format="openai-chat") is None


def test_what_switches_features_on_goes_along_with_a_fork() -> None:
    """Headers that name betas and the query of beta endpoints; keys and the rest are the client's own affair."""
    headers = {"Anthropic-Beta": "one,two", "authorization": "secret", "idempotency-key": "k"}
    told = beside(headers, {"beta": "true", "limit": "5"})
    assert told == {"extra_headers": {"Anthropic-Beta": "one,two"}, "extra_query": {"beta": "true"}}
    assert beside({"accept": "x"}, {}) == {}
    call = call_of({"model": "m", "messages": [], "temperature": 0}, format="anthropic")
    assert call is not None
    call.beside = told
    assert call.parameters == {"temperature": 0, **told}


@pytest.mark.parametrize(
    ("format", "body", "cap"),
    [
        ("anthropic", {"max_tokens": 9, "messages": []}, 9),
        ("openai-chat", {"max_completion_tokens": 9, "messages": []}, 9),
        ("openai-responses", {"max_output_tokens": 9, "input": []}, 9),
        ("gemini", {"generationConfig": {"maxOutputTokens": 9}, "contents": []}, 9),
        ("gemini", {"generationConfig": 5, "contents": []}, None),
        ("openai-chat", {"max_tokens": None, "messages": []}, None),
        ("openai-chat", {"max_tokens": True, "messages": []}, None),
    ],
)
def test_the_cap_on_the_output_is_read(format: str, body: dict[str, Any], cap: int | None) -> None:
    """Each provider has its own word for it."""
    assert read(body, format).output_cap == cap
    assert read(json.dumps(body).encode(), format).output_cap == cap


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_recall_goes_behind_the_callers_own_tools_which_keep_their_bytes(format: str) -> None:
    """Law PREFIX: added once, in the same bytes each time, and not where a tool has its name."""
    raw = b'[ {"name" : "a"} ]'
    call = read(b'{"messages":[],"input":[],"contents":[],"tools":%b}' % raw, format)
    added = call.with_recall()
    written = bytes(strict.dump(added.body["tools"]))
    assert written.startswith(b'[{"name" : "a"},')
    assert added.tools == [{"name": "a"}, recall_tool(format)]
    assert added.with_recall() is added
    assert (call.has_recall, added.has_recall, added.before_recall) == (False, True, call)
    own = read(b'{"messages":[],"input":[],"contents":[],"tools":[{"name":\n\t"recall"}]}', format)
    assert own.with_recall() is own
    assert not own.has_recall
    alone = read({"messages": [], "input": [], "contents": []}, format).with_recall()
    assert alone.tools == [recall_tool(format)]


def test_a_lower_cap_is_written_where_the_cap_was() -> None:
    """Requests that must think for longer than that keep theirs: a provider refuses the two together."""
    chat = read({"messages": [], "max_completion_tokens": 9_000}, "openai-chat").with_output_cap(5_000)
    assert chat.body == {"messages": [], "max_completion_tokens": 5_000}
    gemini = read({"contents": [], "generationConfig": {"maxOutputTokens": 9_000, "topK": 1}}, "gemini")
    assert gemini.with_output_cap(5_000).body["generationConfig"] == {"maxOutputTokens": 5_000, "topK": 1}
    thinking = {"messages": [], "max_tokens": 9_000, "thinking": {"type": "enabled", "budget_tokens": 6_000}}
    call = read(thinking, "anthropic")
    assert call.with_output_cap(5_000) is call
    assert call.with_output_cap(7_000).body["max_tokens"] == 7_000
