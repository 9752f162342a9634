"""Gemini contents: both spellings, signatures byte for byte, calls with and without ids."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.message import (
    Media,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    calls_of,
    results_of,
)
from foldline.wire.body import read_body
from foldline.wire.gemini import CODEC, pair
from tests.wire.items import PARTS, edited, model


@given(names=st.lists(st.sampled_from(sorted(PARTS)), min_size=1, max_size=5), data=st.data())
def test_editing_one_part_leaves_its_siblings_as_they_were(names: list[str], data: st.DataObject) -> None:
    """Law LOSSLESS beside an edit: the same bytes, signatures and unknown keys included."""

    def spaced(value: Any) -> str:
        return json.dumps(value, separators=(" ,  ", " :  "))

    raw = spaced(model(*names)).encode()
    message = CODEC.decode(raw)
    at = data.draw(st.integers(0, len(names) - 1))
    part = message.parts[at]
    match part:
        case Text() | Reasoning():
            new: Part = replace(part, text="EDITED", edited=True)
        case ToolCall():
            new = replace(part, arguments='{"new":"EDITED"}', edited=True)
        case ToolResult():
            new = replace(part, content=(Text(text="EDITED"),), edited=True)
        case Media() | Opaque():
            return
    parts = tuple(new if index == at else part for index, part in enumerate(message.parts))
    out = CODEC.encode_bytes(edited(message, *parts))

    after = json.loads(out)["parts"]
    assert "EDITED" in json.dumps(after[at])
    for index, name in enumerate(names):
        if index != at:
            assert after[index] == PARTS[name]
            assert spaced(PARTS[name]).encode() in out
        else:
            signature = PARTS[name].get("thoughtSignature", PARTS[name].get("thought_signature"))
            assert after[at].get("thoughtSignature", after[at].get("thought_signature")) == signature


def test_calls_without_ids_pair_by_name_and_order() -> None:
    """google-gemini/gemini-cli#4105: two calls of one name, two responses, no ids."""
    asked = CODEC.decode(model("call", "call without args", "call"))
    answered = CODEC.decode({"role": "user", "parts": [PARTS["response"], PARTS["response"]]})

    assert [call.id for call in calls_of(asked)] == ["read#1", "now#1", "read#2"]
    assert [result.call_id for result in results_of(answered)] == ["read#1", "read#2"]
    assert not any(call.wire_id for call in calls_of(asked))
    assert not any(result.wire_id for result in results_of(answered))


def test_responses_spread_over_contents_pair_within_their_round() -> None:
    """Each of two contents holds a first response of the same name."""
    answer = {"role": "function", "parts": [PARTS["response"]]}
    history = pair(CODEC.decode(c) for c in (model("call", "call"), answer, answer, model("call"), answer))

    assert [r.call_id for m in history for r in results_of(m)] == ["read#1", "read#2", "read#1"]
    assert CODEC.encode(history[2]) is answer


@pytest.mark.parametrize("calls", [["", "i1"], ["i1", ""]])
@pytest.mark.parametrize("results", [["", "i1"], ["i1", ""], ["i1"]])
def test_a_response_that_names_its_call_goes_to_that_one(calls: list[str], results: list[str]) -> None:
    """A call of the same name without an id takes what is left, whatever the order."""

    def parts(kind: str, ids: list[str]) -> list[dict[str, Any]]:
        return [{kind: {"name": "run", **({"id": one} if one else {})}} for one in ids]

    asked, answered = pair(
        [
            CODEC.decode({"role": "model", "parts": parts("functionCall", calls)}),
            CODEC.decode({"role": "user", "parts": parts("functionResponse", results)}),
        ]
    )
    ids = [call.id for call in calls_of(asked)]
    assert [ids[calls.index(one)] for one in results] == [result.call_id for result in results_of(answered)]


def test_a_response_without_an_id_pairs_with_a_call_that_has_one() -> None:
    """The SDK says the id is optional on either side."""
    answer = {"role": "user", "parts": [PARTS["response"]]}
    history = pair([CODEC.decode(model("signed call")), CODEC.decode(answer)])

    assert results_of(history[1])[0].call_id == "f1"


def test_a_message_object_is_not_changed_by_pairing_that_was_right() -> None:
    """Prefixes are compared by object."""
    history = [CODEC.decode(model("call")), CODEC.decode({"role": "user", "parts": [PARTS["response"]]})]

    assert all(a is b for a, b in zip(pair(history), history, strict=True))


@pytest.mark.parametrize(
    "value",
    [
        "be kind",
        {"parts": [{"text": "be kind"}]},
        {"role": "system", "parts": [{"text": "be"}, {"text": "kind"}]},
        [{"text": "be kind"}],
        ["be", "kind"],
    ],
)
@pytest.mark.parametrize("key", ["systemInstruction", "system_instruction"])
def test_a_system_instruction_leaves_as_it_came(key: str, value: Any) -> None:
    """A content, a string, or the lists the SDK takes."""
    system = CODEC.system_of({key: value})
    assert system is not None

    assert CODEC.encode_system(system) is value
    assert system.text.replace("\n", " ") == "be kind"


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        ("be kind", "be brief"),
        (
            {"role": "system", "parts": [{"text": "be kind"}]},
            {"role": "system", "parts": [{"text": "be brief"}]},
        ),
        ([{"text": "be kind"}], [{"text": "be brief"}]),
    ],
)
def test_an_edited_system_instruction_keeps_its_form(value: Any, wire: Any) -> None:
    """Text stays text, a content a content."""
    system = CODEC.system_of({"systemInstruction": value})
    assert system is not None
    part = system.parts[0]
    assert isinstance(part, Text)

    assert CODEC.encode_system(edited(system, replace(part, text="be brief", edited=True))) == wire


def test_a_body_without_a_system_instruction_has_none() -> None:
    """Missing and null."""
    assert CODEC.system_of({}) is None
    assert CODEC.system_of({"systemInstruction": None}) is None


def test_neighbours_are_joined_and_keep_their_pairs() -> None:
    """`Codec.join`: ids made up for two contents stay what they were paired to."""
    answer = CODEC.decode({"role": "user", "parts": [PARTS["response"]]})
    history = pair([CODEC.decode(model("call", "call")), answer, answer])
    joined = CODEC.join(history[1], history[2])

    assert [result.call_id for result in results_of(joined)] == ["read#1", "read#2"]
    assert CODEC.encode(joined)["parts"] == [PARTS["response"], PARTS["response"]]


def test_an_sdk_object_is_taken_as_the_json_it_sends() -> None:
    """google-genai's `Content`: camelCase, bytes in base64, unset fields left out. Duck typing, no import."""

    class Content:
        def model_dump(self, **options: Any) -> dict[str, Any]:
            assert options == {"mode": "json", "by_alias": True, "exclude_none": True}
            return model("signed call")

    content: Any = Content()
    assert CODEC.encode(CODEC.decode(content)) == model("signed call")


@pytest.mark.parametrize("content", [{"role": "king", "parts": []}, {"role": "user"}, {"parts": [1]}])
def test_what_is_no_content_is_refused_by_the_name_of_the_key(content: dict[str, Any]) -> None:
    """`Codec.decode` says what is wrong with which key."""
    with pytest.raises(ValueError, match=r"role|parts"):
        CODEC.decode(content)


def test_a_body_is_read_with_its_pairs() -> None:
    """Each content is decoded alone; the history is what shows which response answers which call."""
    answer = {"role": "function", "parts": [PARTS["response"]]}
    body = {"contents": [{"role": "user", "parts": [{"text": "go"}]}, model("call", "call"), answer, answer]}
    for given_body in (body, json.dumps(body).encode()):
        messages = read_body(given_body).messages

        assert [r.call_id for m in messages for r in results_of(m)] == ["read#1", "read#2"]


def test_a_response_to_no_call_stays_as_it_is() -> None:
    """What is wrong with it is for the repair to say."""
    answer = CODEC.decode({"role": "user", "parts": [PARTS["response"]]})
    assert pair([answer]) == (answer,)


def test_contents_that_are_joined_keep_how_their_calls_were_paired() -> None:
    """Law PAIR: two first calls of one name in two contents; the second one's id is not made up again."""
    first, second = CODEC.decode(model("call")), CODEC.decode(model("call"))
    (call,) = calls_of(second)
    renamed = replace(second, parts=(replace(call, id="read#9"),))
    assert [call.id for call in calls_of(CODEC.join(first, renamed))] == ["read#1", "read#9"]

    answer = CODEC.decode({"role": "user", "parts": [PARTS["response"]]})
    (result,) = results_of(answer)
    other = replace(answer, parts=(replace(result, call_id="read#9"),))
    assert [result.call_id for result in results_of(CODEC.join(answer, other))] == ["read#1", "read#9"]
