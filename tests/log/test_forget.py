"""Forgetting in one log: the words go, the message stays readable, and addresses open to what is left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from foldline.core.address import part_address, span_address
from foldline.core.entry import Draft, Entry
from foldline.core.message import Message, Reasoning, Text
from foldline.core.received import received
from foldline.log.forget import Addresses, Forgetter, Quoted, Wish, chosen, leaves_of, quoted_of, readable
from foldline.log.values import read_message
from foldline.stores.memory import MemoryStore

WORD = "swordfish-7731"
ARGUMENTS = json.dumps({"path": f"/tmp/{WORD}", "count": 3, "deep": [json.dumps({"w": WORD})]})
WIRES: list[tuple[str, Any]] = [
    ("anthropic", {"role": "user", "content": f"say {WORD} twice: {WORD}"}),
    (
        "anthropic",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": f"so {WORD}", "signature": "c2lnbmVk" * 8},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": json.loads(ARGUMENTS)},
            ],
        },
    ),
    (
        "anthropic",
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": f"got {WORD}"}],
                }
            ],
        },
    ),
    (
        "openai-chat",
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": ARGUMENTS}}
            ],
        },
    ),
    ("openai-chat", {"role": "tool", "tool_call_id": "c1", "content": f"{WORD}\n"}),
    ("openai-responses", {"type": "function_call", "call_id": "c1", "name": "read", "arguments": ARGUMENTS}),
    ("openai-responses", {"type": "function_call_output", "call_id": "c1", "output": f"out {WORD}"}),
    (
        "gemini",
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "read", "args": json.loads(ARGUMENTS)}}, {"text": WORD}],
        },
    ),
]


def body_of(format: str, wire: Any) -> bytes:
    return json.dumps({"format": format, "wire": wire}, ensure_ascii=False, separators=(",", ":")).encode()


def log_of(*drafts: Draft) -> list[Entry]:
    store = MemoryStore()
    store.create("s", format="anthropic", about=b"{}").append(drafts)
    return list(store.read("s").entries())


def forgotten(entries: Sequence[Entry], wish: Wish, quoted: Quoted | None = None) -> list[bytes]:
    messages = [entry for entry in entries if entry.kind == "message"]
    forgetter = Forgetter(wish, Addresses(lambda o: readable(messages[o].body)), quoted=quoted)
    return [forgetter.change(entry) or entry.body for entry in entries]


def shape(message: Message) -> list[Any]:
    return [message.role, *((type(part), getattr(part, "id", ""), part.slot) for part in message.parts)]


@pytest.mark.parametrize(("format", "wire"), WIRES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_text_goes_from_every_place_of_every_wire_and_the_message_stays_one(format: str, wire: Any) -> None:
    """S18: text, thoughts, calls with JSON in JSON, results; ids and names are what they were."""
    [entry] = log_of(Draft(kind="message", body=body_of(format, wire)))
    [left] = forgotten([entry], Wish(texts=(WORD,)))
    assert len(left) == len(entry.body)
    assert WORD.encode() not in left
    was, now = read_message(entry.body), read_message(left)
    altered = [part for part in was.parts if isinstance(part, Reasoning)]
    if altered:  # a signed thought that was altered would be refused: a text stands there
        assert isinstance(now.parts[0], Text)
        assert shape(was)[2:] == shape(now)[2:]
    else:
        assert shape(was) == shape(now)
    for part in now.parts:
        for leaf in leaves_of(part):
            if leaf[:1] == "{":
                json.loads(leaf)


@pytest.mark.parametrize(("format", "wire"), WIRES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_whole_message_goes_by_its_address_and_stays_one(format: str, wire: Any) -> None:
    """All it said, and nothing that holds the session together."""
    [entry] = log_of(Draft(kind="message", body=body_of(format, wire)))
    [left] = forgotten([entry], Wish(parts={0: frozenset()}))
    assert len(left) == len(entry.body)
    now = read_message(left)
    assert now.role == read_message(entry.body).role
    assert len(now.parts) == len(read_message(entry.body).parts)
    assert b"swordfish" not in left
    assert not {leaf for part in now.parts for leaf in leaves_of(part)} & {
        leaf for part in read_message(entry.body).parts for leaf in leaves_of(part)
    }


def test_a_picture_becomes_a_part_of_text() -> None:
    """No provider takes an altered picture."""
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 9}
    wire = {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": source}]}
    [entry] = log_of(Draft(kind="message", body=body_of("anthropic", wire)))
    [left] = forgotten([entry], Wish(parts={0: frozenset((1,))}))
    one, two = read_message(left).parts
    assert (one, type(two)) == (read_message(entry.body).parts[0], Text)


def test_addresses_of_what_changed_open_to_what_is_left() -> None:
    """A fold's, a notice's and a quoted one: made anew where they opened before, and left alone where they did not."""
    bodies = [body_of("anthropic", {"role": "user", "content": text}) for text in (f"a {WORD}", "b", "c")]
    messages = [received(read_message(body)) for body in bodies]
    part, span = part_address(0, messages[0].parts[0]), span_address(list(enumerate(messages[:2])))
    other = span_address(list(enumerate(messages[1:], start=1)))
    told = {"edits": [{"address": span, "text": f"{part} {other} m0.0@00000000"}]}
    entries = log_of(
        *(Draft(kind="message", body=body) for body in bodies),
        Draft(kind="compaction", body=json.dumps(told).encode()),
    )
    left = forgotten(entries, Wish(texts=(WORD,)))
    now = [received(read_message(body)) for body in left[:3]]
    expected = {
        "address": span_address(list(enumerate(now[:2]))),
        "text": f"{part_address(0, now[0].parts[0])} {other} m0.0@00000000",
    }
    assert json.loads(left[3]) == {"edits": [expected]}
    assert expected["address"] != span


def test_what_only_the_forgotten_part_said_goes_from_summaries_too() -> None:
    """arXiv 2606.10062: about a fifth can be recovered from derived summaries when the records alone are deleted."""
    secret = "The launch code is tangerine\nin src/silo.py"
    bodies = [
        body_of("anthropic", {"role": "user", "content": secret}),
        body_of("anthropic", {"role": "assistant", "content": "Noted, the code stays in src."}),
    ]
    fold = {
        "edits": [
            {
                "edit": "fold",
                "into": {"text": "launch: tangerine (src/silo.py), the code\nThe launch code is tangerine"},
            }
        ]
    }
    entries = log_of(
        *(Draft(kind="message", body=body) for body in bodies),
        Draft(kind="compaction", body=json.dumps(fold).encode()),
    )
    wish = Wish(parts={0: frozenset((0,))})
    message = readable(entries[0].body)
    assert message is not None
    after = iter(forgotten(entries, wish)[:2])
    quoted = quoted_of(list(chosen(message, frozenset((0,)))), bodies=after)
    left = forgotten(entries, wish, quoted)
    text = json.loads(left[2])["edits"][0]["into"]["text"]
    for word in ("launch", "tangerine", "silo"):
        assert word not in text
    assert "the code" in text, "words that others said may stay"
    assert left[1] == entries[1].body


def test_nothing_to_forget_changes_nothing() -> None:
    """Not a byte: so a log in which nothing goes is not rewritten."""
    entries = log_of(*(Draft(kind="message", body=body_of(f, w)) for f, w in WIRES))
    forgetter = Forgetter(Wish(texts=("nowhere",)), Addresses(lambda _: None))
    assert [forgetter.change(entry) for entry in entries] == [None] * len(entries)
    assert (forgetter.ordinals, forgetter.kinds, forgetter.places) == ([], {}, 0)


def test_messages_that_this_version_cannot_read_are_forgotten_too() -> None:
    """Another format, later words: bytes are bytes (D14)."""
    [entry] = log_of(
        Draft(kind="message", body=b'{"format":"later","wire":{"x":["swordfish-7731"]},"more":1}')
    )
    [left] = forgotten([entry], Wish(texts=(WORD,)))
    assert json.loads(left) == {"format": "later", "wire": {"x": ["forgotten_____"]}, "more": 1}


def test_halves_of_a_text_go_where_a_clipped_copy_ends_inside_it() -> None:
    """A shortened result keeps the beginning and the end of what it shortened; messages keep what is not the text."""
    text = "Jane Roe lives in Elm Street 5"
    told = {
        "edits": [
            {
                "edit": "replace",
                "part": {"text": f"{text[:18]}\n[foldline: 90 lines · m0.0@00000000]\n{text[14:]}"},
            }
        ]
    }
    quote = Draft(
        kind="message", body=body_of("anthropic", {"role": "user", "content": "Jane Roe lives here"})
    )
    entries = log_of(quote, Draft(kind="edit", body=json.dumps(told).encode()))
    message, edit = forgotten(entries, Wish(texts=(text,)))
    assert message == entries[0].body
    assert b"Jane" not in edit
    assert b"Street" not in edit
