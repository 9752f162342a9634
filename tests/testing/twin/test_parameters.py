"""Parameters of the wrong type: refused in each provider's words, and never a fault of the twin's own.

Every value of a full request is put out of shape once, in each dialect; a double that falls over a client's mistake hides it.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from foldline.testing.twin import Twin, parameters
from foldline.testing.twin.anthropic_edits import block_of
from tests.testing.judges import samples
from tests.testing.twin.client import CLAUDE, GEMINI, GPT, Back, send

BETAS = "context-management-2025-06-27,compact-2026-01-12,thinking-binding-controls-2026-08-01,message-threads-2026-08-12"
HI: list[Any] = [{"role": "user", "content": "hi"}]
EDITED = {
    "model": CLAUDE,
    "max_tokens": 2_000,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "messages": [
        *HI,
        {"role": "assistant", "content": [samples.call("t1")]},
        {"role": "user", "content": [samples.result("t1", [samples.text("x")])]},
    ],
    "tools": [{"name": "ls", "input_schema": {}}],
    "tool_choice": {"type": "auto"},
    "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    "cache_control": {"type": "ephemeral"},
    "stream": True,
    "context_management": {
        "edits": [
            {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "tool_uses", "value": 0},
                "keep": {"type": "tool_uses", "value": 0},
                "clear_at_least": {"type": "input_tokens", "value": 1},
                "exclude_tools": ["x"],
                "clear_tool_inputs": ["ls"],
            },
            {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 1}},
        ]
    },
    "thread": {"type": "create"},
}
COUNTED = {key: value for key, value in EDITED.items() if key not in ("max_tokens", "stream", "thread")}
DEMANDED = {
    "model": CLAUDE,
    "max_tokens": 9,
    "messages": [{"role": "assistant", "content": [block_of("x")]}, *HI],
    "compaction": {"type": "summarize", "instructions": "x"},
}
CHAT = {
    "model": GPT,
    **samples.CHAT,
    "tools": [{"type": "function", "function": {"name": "ls", "parameters": {}}}],
    "max_tokens": 10,
    "stream": True,
    "stream_options": {"include_usage": True},
    "prompt_cache_key": "k",
}
INPUT = [item for item in samples.RESPONSES["input"] if item.get("type") != "reasoning"]
RESPONSES = {
    "model": GPT,
    "instructions": "Be brief.",
    "input": INPUT,
    "include": ["reasoning.encrypted_content"],
    "store": True,
    "context_management": [{"type": "compaction", "compact_threshold": 1}],
    "truncation": "auto",
    "max_output_tokens": 10,
    "tools": [{"type": "function", "name": "ls", "parameters": {}}],
}
GEM = {
    **json.loads(json.dumps(samples.GEMINI).replace("QUJD", "skip_thought_signature_validator")),
    "tools": [{"functionDeclarations": [{"name": "ls"}]}],
    "generationConfig": {"maxOutputTokens": 10},
}
BODIES: list[tuple[str, dict[str, Any], str]] = [
    ("/v1/messages", EDITED, BETAS),
    ("/v1/messages/count_tokens", COUNTED, BETAS),
    ("/v1/messages", DEMANDED, "compact-2026-09-04"),
    ("/v1/chat/completions", CHAT, ""),
    ("/v1/responses", RESPONSES, ""),
    ("/v1/responses/compact", {key: RESPONSES[key] for key in ("model", "instructions", "input")}, ""),
    ("/v1/responses/input_tokens", {key: RESPONSES[key] for key in ("model", "input", "tools")}, ""),
    (f"/v1beta/models/{GEMINI}:generateContent", GEM, ""),
]
JUNK: tuple[Any, ...] = (None, True, -3, "x", [None], {"type": 7})


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in ((*way, key), *places(value[key], (*way, key)))]


def asked(twin: Twin, path: str, body: Any, *, betas: str) -> Back:
    return send(twin, path, body, {"anthropic-beta": betas} if betas else {})


@pytest.mark.parametrize(("path", "body", "betas"), BODIES)
def test_a_request_that_is_wrong_in_one_place_is_answered_or_refused(
    path: str, body: dict[str, Any], betas: str
) -> None:
    """A fault of the twin itself would end this test: `Twin` raises it when it is closed."""
    with Twin() as twin:
        assert asked(twin, path, body, betas=betas).status == 200
        for number, place in enumerate(places(body)):
            broken: Any = copy.deepcopy(body)
            inside = broken
            for step in place[:-1]:
                inside = inside[step]
            inside[place[-1]] = JUNK[number % len(JUNK)]
            assert asked(twin, path, broken, betas=betas).status in (200, 400, 404)


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v1/messages", {"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
        ("/v1/messages", {"thinking": {"type": 1}}, "thinking.type: Input should be a valid string"),
        ("/v1/messages", {"tools": {}}, "tools: Input should be a valid list"),
        (
            "/v1/chat/completions",
            {"max_tokens": "9"},
            "Invalid type for 'max_tokens': expected an integer, but got a string instead.",
        ),
        (
            "/v1/responses",
            {"include": True},
            "Invalid type for 'include': expected an array, but got a boolean instead.",
        ),
        (
            f"/v1beta/models/{GEMINI}:generateContent",
            {"generationConfig": {"maxOutputTokens": "x"}},
            "Invalid value at 'generationConfig.maxOutputTokens' (INT), str",
        ),
    ],
)
def test_a_wrong_type_is_told_in_the_providers_words(path: str, body: dict[str, Any], words: str) -> None:
    good = {"/v1/messages": EDITED, "/v1/chat/completions": CHAT, "/v1/responses": RESPONSES}.get(path, GEM)
    with Twin() as twin:
        back = asked(twin, path, {**good, **body}, betas=BETAS)
    assert (back.status, back.message) == (400, words)


def test_every_edit_of_the_service_has_its_types() -> None:
    from foldline.testing.twin import anthropic_edits as edits

    assert parameters.EDITS.keys() == {edits.CLEAR_THINKING, edits.CLEAR_TOOLS, edits.COMPACT}
