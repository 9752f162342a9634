"""The codec port: what every codec must do alike, tried on values of every kind, on recorded ones and on a small one."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.message import Message, Role, Text, ToolCall, ToolResult, result_text, results_of
from foldline.core.needs import Needs
from foldline.core.repair import repair
from foldline.wire import strict
from foldline.wire.codec import Codec
from foldline.wire.formats import CODECS, codec
from foldline.wire.slices import fields, items
from tests.wire.values import DRAWN, spell

DATA = Path(__file__).parent.parent / "data"

WIRES: dict[str, dict[str, Any]] = {
    "anthropic": {"role": "user", "content": "hi"},
    "openai-chat": {"role": "user", "content": "hi"},
    "openai-responses": {"role": "user", "content": "hi"},
    "gemini": {"role": "user", "parts": [{"text": "hi"}]},
}

every_codec = pytest.mark.parametrize("reading", [codec(name) for name in CODECS], ids=CODECS)


@every_codec
@given(st.data(), st.integers(0, 2**32))
def test_bytes_come_back_as_they_were(reading: Codec, draw: st.DataObject, seed: int) -> None:
    """Law LOSSLESS, for any spelling, unknown keys and parts, null and empty content."""
    wire = spell(draw.draw(DRAWN[reading.name]), seed)
    message = reading.decode(wire)
    assert reading.encode_bytes(message) == wire
    assert reading.encode(message) == strict.loads(wire)


@every_codec
@given(st.data())
def test_a_callers_dict_comes_back_as_the_very_object(reading: Codec, draw: st.DataObject) -> None:
    """Law LOSSLESS: untouched messages are the caller's own."""
    value = draw.draw(DRAWN[reading.name])
    message = reading.decode(value)
    assert reading.encode(message) is value
    assert strict.loads(reading.encode_bytes(message)) == value


@every_codec
@given(st.data())
def test_an_edit_never_changes_the_callers_dict(reading: Codec, draw: st.DataObject) -> None:
    """`compact`'s input is never changed (`interface.md`, Library)."""
    value = draw.draw(DRAWN[reading.name])
    before = copy.deepcopy(value)
    message = reading.decode(value)
    parts = tuple(replace(part, edited=True) for part in message.parts)
    more = (Text(text="new"),) if reading.name == "anthropic" else ()
    edited = replace(message, parts=parts + more, edited=True)
    reading.encode(edited)
    reading.encode_bytes(edited)
    assert value == before


def _of_claude_code(path: Path) -> list[bytes]:
    records = [fields(line) for line in path.read_bytes().split(b"\n") if line]
    return [bytes(record["message"]) for record in records if "message" in record]


def _of_tau_bench(path: Path) -> list[bytes]:
    return [bytes(wire) for run in items(path.read_bytes()) for wire in items(fields(run)["traj"])]


RECORDED = [
    *(("anthropic", _of_claude_code, path) for path in sorted(DATA.glob("claude-code/cc-viewer-*.jsonl"))),
    *(("openai-chat", _of_tau_bench, path) for path in sorted(DATA.glob("tau-bench/*.json"))),
]


@pytest.mark.parametrize(
    ("format", "wires_of", "path"), RECORDED, ids=[str(path.relative_to(DATA)) for *_, path in RECORDED]
)
def test_recorded_messages_come_back_and_bear_an_edit(
    format: str, wires_of: Callable[[Path], list[bytes]], path: Path
) -> None:
    """Law LOSSLESS on real sessions: unedited bytes are the same bytes, an edit without a change the same value."""
    reading, wires = codec(format), wires_of(path)
    assert wires
    for wire in wires:
        message = reading.decode(wire)
        assert reading.encode_bytes(message) == wire
        parts = tuple(replace(part, edited=True) for part in message.parts)
        edited = replace(message, parts=parts, edited=True)
        assert strict.loads(reading.encode_bytes(edited)) == strict.loads(wire)


@every_codec
def test_rules_bear_the_name_of_their_codec(reading: Codec) -> None:
    """Reports and errors name formats by the rules."""
    assert reading.rules.format == reading.name


@every_codec
def test_rules_can_be_met(reading: Codec) -> None:
    """Law ROLE: the user may open a history, and a pattern for ids compiles."""
    assert "user" in reading.rules.needs.first
    assert (
        re.compile(reading.rules.needs.ids_pattern or "").fullmatch("call_1")
        or reading.rules.needs.ids_pattern is None
    )


@every_codec
def test_an_edit_leaves_the_callers_dict_alone(reading: Codec) -> None:
    """The input of `compact` is never changed."""
    wire = WIRES[reading.name]
    before = repr(wire)
    message = reading.decode(wire)
    part = message.parts[0]
    assert isinstance(part, Text)
    out = reading.encode(replace(message, parts=(replace(part, text="ho", edited=True),), edited=True))

    assert reading.decode(out).text == "ho"
    assert repr(wire) == before


@every_codec
def test_a_message_made_here_can_be_sent_and_read(reading: Codec) -> None:
    """Folds, notices and repairs have no origin."""
    made = Message(role="user", parts=(Text(text="hi"),), synthetic="notice")

    assert reading.decode(reading.encode(made)).text == "hi"
    assert reading.decode(reading.encode_bytes(made)).role == "user"


@every_codec
def test_neighbours_can_travel_as_one(reading: Codec) -> None:
    """`join`: the parts of both, in order."""
    message = reading.decode(WIRES[reading.name])

    assert reading.join(message, Message(role="user", parts=(Text(text="ho"),))).text == "hi\nho"


@every_codec
@pytest.mark.parametrize("wire", [b"[]", b"1", b'{"role":"king"}', b"{}"])
def test_what_is_no_message_is_a_value_error(reading: Codec, wire: bytes) -> None:
    """Readers turn it into `InvalidTranscript` with the place."""
    with pytest.raises(ValueError, match=r"\w"):
        reading.decode(wire)


@every_codec
def test_a_body_without_a_system_prompt_has_none(reading: Codec) -> None:
    """`system_of` of an empty body."""
    assert reading.system_of({}) is None


@every_codec
def test_a_part_that_came_from_elsewhere_is_written_for_what_it_says(reading: Codec) -> None:
    """Repair moves a result out of its message, as it is, into one made here: its slots mean nothing there."""
    role: Role = "tool" if reading.rules.needs.results_role != "user" else "user"
    inner = (Text(text="one", slot=3), Text(text="two", slot=4))
    moved = Message(role=role, parts=(ToolResult(call_id="c", name="t", content=inner, slot=2),), edited=True)
    said = Message(role="user", parts=(Text(text="hi", slot=7),), edited=True)

    assert reading.decode(reading.encode(said)).text == "hi"
    assert result_text(results_of(reading.decode(reading.encode(moved)))[0]) == "one\ntwo"


ANSWERS: dict[str, Any] = {
    "anthropic": lambda text: {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": text}]}],
    },
    "openai-chat": lambda text: {
        "role": "tool",
        "tool_call_id": "c",
        "content": [{"type": "text", "text": text}],
    },
    "openai-responses": lambda text: {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": text}],
    },
    "gemini": lambda text: {
        "role": "user",
        "parts": [{"functionResponse": {"id": "c", "name": "t", "response": {"output": text}}}],
    },
}


@every_codec
def test_a_result_takes_a_value_of_the_wires_own(reading: Codec) -> None:
    """What a tool gave is not always a text; the value that came is left alone."""
    pieces = ANSWERS[reading.name]("ok")
    before = copy.deepcopy(pieces)
    own = reading.with_output(pieces, {"rows": [1, 2]} if reading.name == "gemini" else "two rows")
    (result,) = results_of(reading.decode(own))
    assert result.call_id == "c"
    assert result_text(result) in ("two rows", '{"rows":[1,2]}')
    assert pieces == before


@every_codec
@pytest.mark.parametrize(("first", "says"), [("pending", ["FINAL"]), ("one half", ["one half", "FINAL"])])
def test_a_later_answer_reaches_the_wire(reading: Codec, first: str, says: list[str]) -> None:
    """Repair puts the final result into the place of the status line, or behind a first result; its pieces come from
    another message, so their slots must not be looked up in the one they go into. A copy that follows says nothing."""
    call = Message(role="assistant", parts=(ToolCall(id="c", name="t", arguments="{}"),))
    asked = reading.decode(reading.encode(call))
    answers = [reading.decode(ANSWERS[reading.name](text)) for text in (first, "FINAL", "FINAL")]
    needs = Needs(results_role="user" if reading.rules.needs.results_role == "user" else "tool")
    placed = repair([reading.decode(WIRES[reading.name]), asked, *answers], needs).placed
    sent = reading.decode(reading.encode(placed[2].message))

    assert result_text(results_of(sent)[0]).split("\n") == says
