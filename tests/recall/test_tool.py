"""The tool is defined for every wire format, takes what models write, and always answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.address import is_recalled, part_address
from foldline.core.errors import InvalidOption, UnknownFormat
from foldline.core.message import ToolCall, ToolResult
from foldline.recall.find import Recall
from foldline.recall.texts import ASKS
from foldline.recall.tool import Answer, Scope, execute, read_call, read_time, recall_tool
from foldline.testing.builders import assistant, call, image, result, user
from foldline.wire.formats import CODECS, codec
from tests.recall.logs import recall_over, saying, written

OWN = Scope(session="s")
MESSAGES = [
    user("why does login fail?"),
    assistant(call("bash", "c1", command="cat log")),
    result("c1", "\n".join(f"line {number} pool" for number in range(400)), image()),
]
ADDRESS = part_address(2, MESSAGES[2].parts[0])


def wire_call(format: str, asked: Any, *, id: str = "call_1") -> dict[str, Any]:
    """A call as a model of this format sends it."""
    text = json.dumps(asked)
    return {
        "anthropic": {"type": "tool_use", "id": id, "name": "recall", "input": asked},
        "openai-chat": {"id": id, "type": "function", "function": {"name": "recall", "arguments": text}},
        "openai-responses": {"type": "function_call", "call_id": id, "name": "recall", "arguments": text},
        "gemini": {"functionCall": {"id": id, "name": "recall", "args": asked}},
    }[format]


def answered(
    asked: Any, *, format: str = "anthropic", recall: Recall | None = None, scope: Scope = OWN
) -> Answer:
    """What a call gives over the messages above."""
    return execute(wire_call(format, asked), recall=recall or saying(*MESSAGES), scope=scope)


@pytest.mark.parametrize("format", CODECS)
def test_the_definition_has_the_shape_of_its_format(format: str) -> None:
    """Named alike everywhere, and every parameter described."""
    told = recall_tool(format)
    inner = told.get("function") or (told.get("functionDeclarations") or [told])[0]
    schema = next(
        inner[key] for key in ("input_schema", "parameters", "parametersJsonSchema") if key in inner
    )
    assert inner["name"] == "recall"
    assert set(schema["properties"]) == ASKS
    assert all(told["description"] for told in schema["properties"].values())


def test_a_definition_for_no_format_is_refused() -> None:
    with pytest.raises(UnknownFormat):
        recall_tool("pigeon")


@pytest.mark.parametrize("format", CODECS)
def test_a_call_is_answered_in_its_own_format(format: str) -> None:
    """The result under the call's very id, marked as recall's."""
    answer = answered({"query": "login"}, format=format)
    decoded = [codec(format).decode(message) for message in answer.messages]
    [part] = [part for message in decoded for part in message.parts if isinstance(part, ToolResult)]
    assert (part.call_id, part.is_error, answer.call_id) == ("call_1", False, "call_1")
    assert is_recalled(part)
    assert "why does login fail?" in answer.text
    assert answer.found is not None


@pytest.mark.parametrize("format", CODECS)
def test_pictures_come_back_where_the_format_can_carry_them(format: str) -> None:
    """Beside the result where it cannot stand inside."""
    answer = answered({"address": ADDRESS}, format=format)
    assert answer.media == (image(),)
    assert "iVBORw0K" in json.dumps(answer.messages)
    assert "iVBORw0K" not in answer.text


def test_an_original_is_opened_in_ranges_and_bounded() -> None:
    answer = answered({"address": f"[foldline: cleared · {ADDRESS}]", "lines": "3-4"})
    assert "\nline 2 pool\nline 3 pool\n" in answer.text
    assert 'next="lines: 5-"' in answer.text
    bounded = answered({"query": ADDRESS, "tokens": 60})
    assert bounded.opened is not None
    assert bounded.opened.rest
    assert "line 399" not in bounded.text
    assert "line 2" not in answered({"address": ADDRESS, "chars": "1-6"}).text.split("\n", 1)[1]


def test_a_search_is_narrowed_by_what_the_model_asks() -> None:
    found = answered({"query": "pool", "role": "TOOL", "kind": "result", "tool": "bash", "limit": "1"}).found
    assert found is not None
    assert [hit.address for hit in found.hits] == [ADDRESS]
    nothing = answered({"query": "pool", "since": "2031-01-01"}).found
    assert nothing is not None
    assert nothing.hits == ()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "say what to look for"),
        ({"address": "m9.9@00000000"}, "nothing there, but m0 to m"),
        ({"address": "m9"}, "nothing there, but m0 to m"),
        ({"address": "m0@00000000"}, "something else there"),
        ({"address": "the pool"}, "looks like m12.3@5f0c9a1e"),
        ({"address": ADDRESS, "lines": "last"}, "a range is written"),
        ({"address": ADDRESS, "lines": "900-"}, "there are 401 lines"),
        ({"query": "a", "role": "robot"}, "there are: system"),
        ({"query": "a", "kind": "robot"}, "there are: text"),
        ({"query": "a", "since": "yesterday"}, "a time is written"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_to_do(asked: Any, why: str) -> None:
    """As an error result, never an exception: the loop goes on."""
    answer = answered(asked)
    assert answer.is_error
    assert why in answer.text
    [message] = answer.messages
    assert message["content"][0]["is_error"] is True


@pytest.mark.parametrize(
    "asked",
    ["login", ["login"], '{"query": "login"', {"query": ["login", "fail"]}, {"query": "login", "more": 1}],
)
def test_what_models_write_instead_of_an_object_is_a_query(asked: Any) -> None:
    answer = execute(
        ToolCall(id="c", name="recall", arguments=asked if isinstance(asked, str) else json.dumps(asked)),
        recall=saying(*MESSAGES),
        scope=OWN,
    )
    assert answer.found is not None
    assert answer.found.hits
    assert answer.messages == ()


ASKED = st.dictionaries(
    st.sampled_from(sorted(ASKS)),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=20),
        st.lists(st.text(max_size=5)),
    ),
)


@given(ASKED, st.sampled_from(CODECS))
def test_whatever_a_model_writes_it_is_answered(asked: dict[str, Any], format: str) -> None:
    """S12 for the executor."""
    answer = execute(wire_call(format, asked), recall=RECALL, scope=OWN)
    assert answer.text.startswith("<foldline-recall ")
    assert answer.messages
    assert answer.is_error == (answer.found is None and answer.opened is None)


RECALL = saying(*MESSAGES)


@given(st.text(st.characters(exclude_categories=[]), max_size=80))
def test_any_text_for_arguments_is_answered(arguments: str) -> None:
    """Broken JSON, half surrogates, nesting without end."""
    told = ToolCall(id="c", name="recall", arguments=arguments)
    assert execute(told, recall=RECALL, scope=OWN).text
    assert execute(ToolCall(id="c", name="recall", arguments="[" * 100_000), recall=RECALL, scope=OWN).text


def test_a_model_reaches_its_own_session_alone_unless_it_may_reach_all() -> None:
    """Another session's words are another user's, perhaps."""
    recall = recall_over()
    written(recall.store, "s", [user("mine")])
    written(recall.store, "other", [user("theirs")])
    theirs = part_address(0, user("theirs").parts[0])
    for asked in ({"query": "theirs"}, {"address": theirs}):
        assert "theirs" not in answered(asked, recall=recall).text.split("\n", 1)[1]
        assert "theirs" in answered(asked, recall=recall, scope=Scope(session=None)).text.split("\n", 1)[1]
    assert "session other" in answered({"query": "theirs"}, recall=recall, scope=Scope(session=None)).text


def test_no_answer_is_larger_than_the_host_allows() -> None:
    """Whatever the model asks for."""
    big = saying(user("\n".join(f"word {number}" for number in range(50_000))))
    address = part_address(0, user("\n".join(f"word {number}" for number in range(50_000))).parts[0])
    for scope, most in ((OWN, 16_000), (Scope(session="s", tokens_max=500), 500)):
        text = answered({"address": address, "tokens": 10**9}, recall=big, scope=scope).text
        assert 0.9 * most < big.counter.text(text) < most + 100


def test_an_sdks_object_is_a_call() -> None:
    """Anything that dumps itself as its wire value."""

    class Block:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return wire_call("anthropic", {"query": "login"})

    format, told = read_call(Block())
    assert (format, told.id, json.loads(told.arguments)) == ("anthropic", "call_1", {"query": "login"})


@pytest.mark.parametrize(
    "given_call", [None, 3, "recall", {}, {"type": "text", "text": "a"}, {"type": "message"}]
)
def test_what_is_no_call_is_refused(given_call: object) -> None:
    """That is the host's mistake, not the model's."""
    with pytest.raises(InvalidOption, match="anthropic, openai-chat"):
        read_call(given_call)


def test_times_are_utc_where_they_name_no_zone() -> None:
    assert read_time("1970-01-01T00:00:05", option="since") == 5_000
    assert read_time("1970-01-01T01:00:05+01:00", option="since") == 5_000
    assert read_time("", option="since") is None
