"""Wire values as hypothesis draws them, and odd but legal spellings of their JSON.

Owns the strategies for messages of each format and the speller; knows nothing of the codecs, which the tests beside it
try on these values.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.wire.items import ITEMS, PARTS

TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "ok",
            "é😀",
            'say "hi"\\',
            "\ud83d cut",
            "\ude00 low",
            "a\u2028b\x1b[31m",
            "日本語",
            ",:{}[]",
        ]
    ),
    st.text(max_size=12),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
EXTRA = st.dictionaries(st.sampled_from(["x_note", "cache_control", "id", "zz"]), JSON, max_size=2)


def _block(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    known = st.fixed_dictionaries({"type": st.just(kind), **fields})
    return st.tuples(EXTRA, known).map(lambda pair: {**pair[0], **pair[1]})


_SOURCES = st.one_of(
    st.just({"type": "base64", "media_type": "image/png", "data": "QUJD"}),
    st.just({"type": "url", "url": "https://example.com/a.png"}),
    st.just({"type": "file", "file_id": "file_1"}),
    st.just({"type": "new_kind", "q": [1.50]}),
)
_INNER = st.one_of(
    _block("text", text=TEXTS),
    _block("image", source=_SOURCES),
    _block("search_result", source=TEXTS, title=TEXTS, content=st.just([])),
    _block("tool_reference", tool_name=TEXTS),
)
_BLOCKS = st.one_of(
    _block("text", text=TEXTS),
    _block("thinking", thinking=TEXTS, signature=TEXTS),
    _block("redacted_thinking", data=TEXTS),
    _block("tool_use", id=TEXTS, name=TEXTS, input=st.dictionaries(TEXTS, JSON, max_size=3)),
    _block(
        "tool_result", tool_use_id=TEXTS, content=st.one_of(st.none(), TEXTS, st.lists(_INNER, max_size=3))
    ),
    _block("server_tool_use", id=TEXTS, name=TEXTS, input=st.dictionaries(TEXTS, JSON, max_size=2)),
    _block(
        "web_search_tool_result", tool_use_id=TEXTS, content=st.just({"type": "web_search_tool_result_error"})
    ),
    _block("document", source=_SOURCES, title=TEXTS),
    _block("compaction", content=st.none(), encrypted_content=TEXTS),
    _block("never_seen_before", payload=JSON),
)
ANTHROPIC = st.builds(
    lambda role, content, extra: {**extra, "role": role, "content": content},
    st.sampled_from(["user", "assistant", "system"]),
    st.one_of(st.none(), TEXTS, st.lists(_BLOCKS, max_size=4)),
    EXTRA,
)

_PIECES = st.one_of(
    _block("text", text=TEXTS),
    _block("refusal", refusal=TEXTS),
    _block("image_url", image_url=st.just({"url": "data:image/png;base64,QUJD", "detail": "low"})),
    _block("image_url", image_url=st.just({"url": "https://example.com/a.png"})),
    _block("input_audio", input_audio=st.just({"data": "QQ==", "format": "wav"})),
    _block("file", file=st.just({"file_id": "f1"})),
    _block("never_seen_before", payload=JSON),
)
_CONTENT = st.one_of(st.none(), TEXTS, st.lists(_PIECES, max_size=4))
_CALLS = st.one_of(
    _block("function", id=TEXTS, function=st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS})),
    _block("custom", id=TEXTS, custom=st.fixed_dictionaries({"name": TEXTS, "input": TEXTS})),
    _block("never_seen_before", id=TEXTS),
)
_ASSISTANT = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": _CONTENT},
    optional={
        "refusal": st.none() | TEXTS,
        "audio": st.none() | st.just({"id": "audio_1"}),
        "function_call": st.none() | st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS}),
        "tool_calls": st.none() | st.lists(_CALLS, max_size=3),
        "reasoning_content": st.none() | TEXTS,
        "reasoning": st.none() | TEXTS,
        "name": TEXTS,
    },
)
CHAT = st.one_of(
    _ASSISTANT,
    st.builds(
        lambda role, content, extra: {**extra, "role": role, "content": content},
        st.sampled_from(["system", "developer", "user"]),
        _CONTENT,
        EXTRA,
    ),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": st.just("c1"), "content": _CONTENT}),
    st.fixed_dictionaries({"role": st.just("function"), "name": st.just("f"), "content": st.none() | TEXTS}),
)

RESPONSES = st.builds(
    lambda item, extra: {**extra, **item},
    st.sampled_from(list(ITEMS.values())),
    st.dictionaries(TEXTS.map("x_".__add__), JSON, max_size=3),
)
GEMINI = st.builds(
    lambda parts, extra, role: {**extra, **role, "parts": parts},
    st.lists(st.sampled_from(list(PARTS.values())), max_size=6),
    EXTRA,
    st.sampled_from(["user", "model", "function", None]).map(lambda role: {"role": role}),
)
DRAWN = {"anthropic": ANTHROPIC, "openai-chat": CHAT, "openai-responses": RESPONSES, "gemini": GEMINI}


class Block:
    """What an SDK's response holds: a pydantic object, by duck typing."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return dict(self.fields)


def spell(value: Any, seed: int) -> bytes:
    """One of many legal spellings of `value`: white space, escapes and key order differ by seed."""
    return _spell(value, Random(seed)).encode("utf-8")


def _spell(value: Any, chance: Random) -> str:
    gap = chance.choice(["", "", "", " ", "\n  ", "\t"])
    if isinstance(value, dict):
        members = list(value.items())
        chance.shuffle(members)
        inside = [
            f"{gap}{_spell_text(key, chance)}{gap}:{gap}{_spell(item, chance)}{gap}" for key, item in members
        ]
        return "{" + ",".join(inside) + gap + "}"
    if isinstance(value, list):
        return "[" + gap + f",{gap}".join(_spell(item, chance) for item in value) + gap + "]"
    if isinstance(value, str):
        return _spell_text(value, chance)
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.2:
        return json.dumps(float(value)) if abs(value) < 2**50 else str(value)
    return json.dumps(value)


def _spell_text(text: str, chance: Random) -> str:
    rate = chance.choice([0.0, 0.0, 0.3])
    return '"' + "".join(_spell_character(char, chance.random() < rate) for char in text) + '"'


def _spell_character(char: str, escaped: bool) -> str:
    if char == "/" and escaped:
        return "\\/"
    return json.dumps(char, ensure_ascii=escaped or "\ud800" <= char <= "\udfff")[1:-1]
