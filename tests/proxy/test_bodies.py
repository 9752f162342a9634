"""Bodies that are read from where they go on: what is read is what reading them whole gives, for any bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from foldline.clients.calls import Call, call_of, plain
from foldline.clients.chains import ReadList
from foldline.clients.digests import said_in
from foldline.clients.looks import looked_at
from foldline.core.foreign import Raised, tried
from foldline.proxy.bodies import Bodies
from foldline.proxy.limits import BODIES_BYTES_MAX, BODIES_MAX, BODY_BYTES_MIN
from foldline.wire import strict
from foldline.wire.body import KEYS

FORMATS = tuple(KEYS)
LONG = "w" * BODY_BYTES_MIN


def message(n: int, text: str = LONG, **more: Any) -> dict[str, Any]:
    return {"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} {text}", **more}


def written(messages: list[Any], format: str = "openai-chat", *, compact: bool = True, **more: Any) -> bytes:
    separators = (",", ":") if compact else None
    return json.dumps({"model": "m", KEYS[format].messages: messages, **more}, separators=separators).encode()


def told(call: Call | None) -> object:
    """All that a call says."""
    if call is None:
        return None
    body = {key: plain(value) for key, value in call.body.items()}
    looks = [(look.digest, look.named, look.is_native) for look in call.looks]
    return call.format, call.model, call.messages, call.leading, looks, body, call.why_passed()


def whole(data: bytes, format: str) -> object:
    """What reading it whole says of a body."""
    try:
        strict.loads(data)
    except ValueError:
        return ValueError
    return told(call_of(data, format=format))


def of(read: Bodies, data: bytes, format: str = "openai-chat") -> object:
    try:
        return told(read.call(data, format=format))
    except ValueError:
        return ValueError


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("compact", [True, False])
def test_a_list_that_grows_is_read_as_if_it_were_read_whole(format: str, compact: bool) -> None:
    """Added time on a body of 1 MB; the saving is one of time alone, whatever stands before and behind the list."""
    read, messages = Bodies(), [message(0)]
    system = {"role": "system", "content": "be brief"}
    for first in ([], [system, system]):
        for n in range(1, 6):
            messages.append(message(n, more={"deep": [[n]]}))
            data = written(
                [*first, *messages], format, compact=compact, tools=[{"name": f"t{n}"}], stream=True
            )
            assert of(read, data, format) == whole(data, format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_list_that_was_cut_back_edited_or_branched_is_read_as_it_stands(format: str) -> None:
    """A rewound, forked or edited history."""
    read, chance = Bodies(), random.Random(format)
    messages = [message(n) for n in range(6)]
    for _ in range(60):
        at = chance.randrange(len(messages))
        match chance.choice(["cut", "edit", "grow", "empty", "odd", "mark"]):
            case "cut":
                messages = messages[: at + 1]
            case "edit":
                messages[at] = message(at, chance.choice(["x", LONG, "\ud800 half"]))
            case "grow":
                messages = [*messages, *(message(n, "y" * 9_000) for n in range(chance.randrange(3)))]
            case "mark":
                messages[-1] = {**messages[-1], "cache_control": {"type": "ephemeral"}}
            case "odd":
                assert of(read, data := written([*messages, 1, None], format), format) == whole(data, format)
            case _:
                assert of(read, data := written([], format, why=LONG), format) == whole(data, format)
        data = written(messages, format, n=at)
        assert of(read, data, format) == whole(data, format)


def _spoilt(data: bytes, end: int) -> Iterator[bytes]:
    """The body with something else behind the messages that are known, which end there."""
    yield from (
        data[:end] + rest for rest in (b"", b"]", b",]}", b",", b"]}", b"x]}", b"[]]}", b"}]}", b",{}]}")
    )
    yield from (
        data[:end] + rest
        for rest in (b']} {"a":1}', b'],"model":"n"}', b'],"a":{"b":1,"b":1}}', b'],"messages":[]}')
    )
    yield from (
        data[:end] + b',{"role":"user","content":%b}]}' % b
        for b in (b"1e999", b'"\\ud800"', b'"\xff"', b"[" * 200)
    )
    yield from (data[:at] + data[at + 1 :] for at in (0, 1, end - 1, end, end + 1, len(data) - 1))
    yield from (
        b" " + data,
        b"\xef\xbb\xbf" + data,
        data + b" \n",
        data.replace(b'"messages"', b'"m\\u0065ssages"'),
    )


def test_what_is_no_json_or_says_a_thing_twice_is_refused_behind_a_known_beginning_too() -> None:
    """Guard: two parsers cannot read a body in two ways, known or not."""
    known = written([message(0), message(1)], stream=True)
    end = known.index(b'],"stream"')
    grown = known[:end] + b",%b" % json.dumps(message(2)).encode() + known[end:]
    for spoilt in _spoilt(grown, end):
        read = Bodies()
        assert of(read, known) == whole(known, "openai-chat")
        assert of(read, spoilt) == whole(spoilt, "openai-chat"), spoilt[-60:]


def test_the_same_words_elsewhere_in_a_body_are_not_taken_for_its_list() -> None:
    """A key of another object, the first message among the metadata."""
    first = message(0)
    for more in ({"a": {"messages": [first]}}, {"metadata": first}, {"b": [[first, first]]}):
        read = Bodies()
        for count in (1, 3):
            messages = [message(n) for n in range(count)]
            data = json.dumps({**more, "messages": messages}, separators=(",", ":")).encode()
            assert of(read, data) == whole(data, "openai-chat")


def test_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Added time on a body; the cost of a request does not grow with the history."""
    read, sizes = Bodies(), list[int]()
    messages = [message(n) for n in range(20)]
    of(read, written(messages))
    loads = strict.loads

    def counted(data: bytes) -> Any:
        sizes.append(len(data))
        return loads(data)

    monkeypatch.setattr(strict, "loads", counted)
    moved = [*messages[:-1], {**messages[-1], "cache_control": {"type": "ephemeral"}}]
    for grown in ([*messages, message(20)], [*messages, message(20), message(21)], moved, messages):
        of(read, written(grown))
    assert max(sizes) < 3 * BODY_BYTES_MIN
    assert len(read._known) == 1, "a mark that moves leaves nothing behind"


def test_what_is_remembered_has_an_end() -> None:
    """Limits: so many bodies, and so many bytes in all; the newest stay."""
    read = Bodies()
    for n in range(BODIES_MAX + 9):
        of(read, written([message(n)]))
    assert len(read._known) == BODIES_MAX
    assert read._known[0].wires == [json.dumps(message(BODIES_MAX + 8), separators=(",", ":")).encode()]
    for n in range(3):
        of(read, written([message(n, "z" * (BODIES_BYTES_MAX // 2 - 1_000))]))
    assert len(read._known) == 2
    of(read, written([message(0, "z" * BODIES_BYTES_MAX)]))
    assert sum(one.size for one in read._known) <= BODIES_BYTES_MAX
    assert len(read._known) == 2, "one that is too large takes nobody's place"


ODD: tuple[Any, ...] = (
    {"role": "user", "content": 1},
    {"role": "nobody", "content": "x"},
    {"role": "user", "content": "x", "cache_control": 1},
    {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": [{"type": "text"}]}]},
    {"role": "user", "content": [{"type": "text"}, {"type": "image", "cache_control": None}]},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": 1}}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1.0}}]},
    {"role": "user", "parts": [{"text": "x"}, {"functionCall": {"args": {}}}]},
    {"role": "user", "parts": "x"},
    {"type": "function_call", "call_id": "c", "name": "n"},
    {"type": "message", "role": "user", "content": "\ud800"},
)


@pytest.mark.parametrize("format", FORMATS)
def test_a_message_is_known_to_be_readable_where_its_codec_reads_it_and_nowhere_else(format: str) -> None:
    """What cannot be read is said, and refused where that was asked for, though nothing of it has to be read yet."""
    for known in ([], [message(0)]):
        read = Bodies()
        call = read.call(written([*known, message(1)], format), format=format)
        call = read.call(written([*known, message(1), *ODD], format), format=format)
        assert call is not None
        for look, wire in zip(call.looks, call.messages, strict=True):
            reads = tried(partial(said_in, wire, format))
            assert look.is_readable != isinstance(reads, Raised), wire
            look.let_go()
            assert look.says() == (b"" if isinstance(reads, Raised) else reads)


def test_what_messages_say_is_read_once_it_is_asked_for_or_their_body_is_no_longer_held() -> None:
    """Added time on the first body of a conversation; and its bytes are held in one place, which has an end."""
    read = Bodies()
    first = read.call(written([message(0), message(1), message(2)]), format="openai-chat")
    assert first is not None
    links = ReadList(first).links(0)
    assert links[0].says() == said_in(first.messages[0], "openai-chat")
    assert [(look._raw, bool(look._said)) for look in first.looks] == [(b"", n == 0) for n in range(3)]
    edited = read.call(written([message(0), message(1), message(2, "otherwise")]), format="openai-chat")
    assert edited is not None
    assert [look.wire is None for look in first.looks] == [False, False, True], "nobody holds the last one"
    for n in range(BODIES_MAX):
        of(read, written([message(n + 9)]))
    assert [look.wire for look in first.looks] == [None] * 3
    assert [link.says() for link in links] == [said_in(wire, "openai-chat") for wire in first.messages]
    assert [look.digest for look in first.looks] == [
        look.digest for look in looked_at(first.messages, "openai-chat")
    ]
