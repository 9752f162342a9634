"""The fast reading of Anthropic content says what the full one says, or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.wire.anthropic import CODEC
from foldline.wire.anthropic_plain import read_plain

TEXTS = st.text(max_size=12)
TEXT = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
THINKING = st.fixed_dictionaries({"type": st.just("thinking"), "thinking": TEXTS, "signature": TEXTS})
INPUTS = st.dictionaries(
    TEXTS, st.one_of(TEXTS, st.integers(), st.none(), st.lists(st.booleans())), max_size=3
)
CALL = st.fixed_dictionaries({"type": st.just("tool_use"), "id": TEXTS, "name": TEXTS, "input": INPUTS})
RESULT = st.fixed_dictionaries(
    {
        "type": st.just("tool_result"),
        "tool_use_id": TEXTS,
        "content": st.one_of(TEXTS, st.lists(TEXT, max_size=3)),
    },
    optional={"is_error": st.booleans()},
)
CONTENT = st.one_of(TEXTS, st.lists(st.one_of(TEXT, THINKING, CALL, RESULT), max_size=4))


def spelt(value: Any) -> bytes:
    """Compact JSON, half surrogate pairs as escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


@given(CONTENT)
def test_what_it_reads_is_what_the_codec_reads(content: Any) -> None:
    """LOSSLESS: both readings give the same parts, arguments to the byte."""
    data = spelt(content)
    parts = read_plain(data)
    assert parts is None or parts == CODEC.decode(b'{"role":"user","content":%b}' % data).parts


@pytest.mark.parametrize(
    "content",
    [
        "said",
        [{"type": "text", "text": "said"}],
        [{"type": "thinking", "thinking": "so", "signature": "c2ln"}, {"type": "text", "text": "é"}],
        [{"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "a\tb"}}],
        [{"type": "tool_result", "tool_use_id": "t", "content": "text", "is_error": True}],
    ],
)
def test_the_blocks_of_an_ordinary_session_are_read_at_once(content: Any) -> None:
    """What nearly every line holds takes the short way."""
    assert read_plain(spelt(content)) is not None


@pytest.mark.parametrize(
    "data",
    [
        b'[{"type":"text","text":"a","text":"b"}]',
        b'[{"type":"text","type":"text","text":"b"}]',
        b'[{"type":"tool_use","id":"t","name":"n","input":{"a":1,"a":2}}]',
        b'[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]',
        b'[{"type":"image","source":{}}]',
        b'[{"type":"text","text":"\\u00e9"}]',
        b'[{"type":"text","text":"\\ud800"}]',
        b'[ {"type":"text","text":"a"} ]',
        b'[{"type":"text","text":null}]',
        b'{"type":"text","text":"a"}',
        b"[" * 5000,
        b"",
    ],
)
def test_it_declines_what_it_would_not_know_whole(data: bytes) -> None:
    """LOSSLESS: keys given twice, unknown keys and blocks, other spellings are for the full reading to judge."""
    assert read_plain(data) is None
