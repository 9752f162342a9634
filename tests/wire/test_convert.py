"""Conversion: valid on the target's wire by judges that share no code with it, and nothing lost in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.message import (
    Media,
    Message,
    Meta,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    calls_of,
    results_of,
    speaks_for_user,
)
from foldline.core.pairing import INTERRUPTED
from foldline.core.repair import SILENT
from foldline.testing.judges import anthropic as anthropic_judge
from foldline.testing.judges import gemini as gemini_judge
from foldline.testing.judges import openai_chat as chat_judge
from foldline.testing.judges import openai_responses as responses_judge
from foldline.wire import anthropic, gemini, openai_chat, openai_responses
from foldline.wire.body import read_body
from foldline.wire.codec import Codec, Request
from foldline.wire.convert import convert
from tests.wire.histories import PNG, neutral_histories, strings, texts_of

CODECS: dict[str, Codec] = {
    module.NAME: module.CODEC for module in (anthropic, openai_chat, openai_responses, gemini)
}
TARGETS = sorted(CODECS)
PAIRS = [(source, to) for source in TARGETS for to in TARGETS if source != to]
JUDGES = {
    "anthropic": anthropic_judge.violations,
    "openai-chat": chat_judge.violations,
    "openai-responses": responses_judge.violations,
    "gemini": gemini_judge.violations,
}
MESSAGES_KEY = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}
SYSTEM_KEY = {"anthropic": "system", "openai-responses": "instructions", "gemini": "systemInstruction"}


def body_of(request: Request) -> dict[str, Any]:
    """The request body, put together from the codec alone."""
    codec = CODECS[request.format]
    wires = [codec.encode(message) for message in request.messages]
    body: dict[str, Any] = {}
    if request.system is not None:
        body[SYSTEM_KEY[request.format]] = codec.encode_system(request.system)
    return {**body, MESSAGES_KEY[request.format]: wires}


def read_again(request: Request) -> Request:
    """The request as it is after a trip over the wire, in bytes."""
    codec = CODECS[request.format]
    messages = tuple(codec.decode(codec.encode_bytes(message)) for message in request.messages)
    if request.format == "gemini":
        messages = gemini.pair(messages)
    body = body_of(request)
    return Request(
        format=request.format, messages=messages, system=codec.system_of(body), tools=request.tools
    )


def wires(to: str, *messages: Message, source: str = "") -> list[dict[str, Any]]:
    """Wire messages of a converted history."""
    converted = convert(Request(format=source, messages=messages), to)
    return [CODECS[to].encode(message) for message in converted.request.messages]


def user(*parts: Part) -> Message:
    return Message(role="user", parts=parts or (Text(text="go"),))


def assistant(*parts: Part) -> Message:
    return Message(role="assistant", parts=parts)


def tool(call_id: str, *content: Any) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id=call_id, content=content),))


def a_call(id: str = "c1", arguments: str = "{}", *, wire_id: bool = True) -> ToolCall:
    return ToolCall(id=id, name="read", arguments=arguments, wire_id=wire_id)


@pytest.mark.parametrize("to", TARGETS)
@given(request=neutral_histories())
def test_a_neutral_history_is_valid_on_every_wire(to: str, request: Request) -> None:
    """Laws PAIR and ROLE, by judges written from the providers' rules."""
    converted = convert(request, to).request

    assert JUDGES[to](body_of(converted)) == []


@given(pair=st.sampled_from(PAIRS), request=neutral_histories())
def test_a_history_of_any_wire_is_valid_on_any_other(pair: tuple[str, str], request: Request) -> None:
    """Laws PAIR and ROLE, over every pair of formats in both directions."""
    source, to = pair
    there = read_again(convert(request, source).request)

    assert JUDGES[to](body_of(convert(there, to).request)) == []


@given(pair=st.sampled_from([("", to) for to in TARGETS] + PAIRS), request=neutral_histories())
def test_every_text_of_the_source_stands_in_the_target(pair: tuple[str, str], request: Request) -> None:
    """Nothing said is lost: user, assistant, system and results."""
    source, to = pair
    there = read_again(convert(request, source).request) if source else request
    said = "\0".join(strings(body_of(convert(there, to).request)))

    system = (there.system,) if there.system is not None else ()
    assert [text for text in texts_of((*system, *there.messages)) if text not in said] == []


@pytest.mark.parametrize("to", TARGETS)
@given(request=neutral_histories())
def test_ids_change_only_where_the_target_refuses_them(to: str, request: Request) -> None:
    """`interface.md`: ids are rewritten only where the target refuses them, consistently."""
    converted = convert(request, to)
    rules = CODECS[to].rules
    calls = [call.id for message in converted.request.messages for call in calls_of(message)]
    results = [result.call_id for message in converted.request.messages for result in results_of(message)]

    assert sorted(calls) == sorted(results)
    if to == "openai-chat":
        assert all(len(old) > 40 for old in converted.ids)
    if to == "gemini":
        assert converted.ids == {}
    assert all(len(new) <= (rules.needs.ids_max or 1_000) for new in converted.ids.values())


@given(request=neutral_histories(), to=st.sampled_from(TARGETS))
def test_the_same_history_converts_to_the_same_bytes(request: Request, to: str) -> None:
    """Law SAME."""
    codec = CODECS[to]
    first, second = convert(request, to), convert(request, to)

    assert first.notes == second.notes
    assert [codec.encode_bytes(m) for m in first.request.messages] == [
        codec.encode_bytes(m) for m in second.request.messages
    ]


@given(request=neutral_histories(), to=st.sampled_from(TARGETS))
def test_appending_to_a_history_leaves_what_was_converted_as_it_was(request: Request, to: str) -> None:
    """Law PREFIX: one more turn changes no byte before it."""
    longer = replace(
        request, messages=(*request.messages, assistant(Text(text="and"), a_call("c1")), tool("c1"), user())
    )
    codec = CODECS[to]
    before = [codec.encode_bytes(m) for m in convert(request, to).request.messages]
    after = [codec.encode_bytes(m) for m in convert(longer, to).request.messages]

    assert after[: len(before)] == before


@pytest.mark.parametrize("to", TARGETS)
def test_its_own_format_gives_the_request_itself(to: str) -> None:
    """`convert` to the same format changes nothing, not even the object."""
    request = Request(format=to, messages=(user(),))

    assert convert(request, to).request is request


def test_a_format_that_is_none_is_refused() -> None:
    """The name is a key of the table of targets."""
    with pytest.raises(KeyError):
        convert(Request(format="", messages=()), "ollama")


def test_results_beside_text_are_split_for_chat() -> None:
    """One Anthropic user message with two results and a text is two tool messages and a user message."""
    out = wires(
        "openai-chat",
        user(),
        assistant(a_call("a"), a_call("b")),
        user(
            ToolResult(call_id="b", content=(Text(text="B"),)),
            ToolResult(call_id="a", content=(Text(text="A"),)),
            Text(text="go on"),
        ),
    )

    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in out[2:]] == [
        ("tool", "a", "A"),
        ("tool", "b", "B"),
        ("user", None, "go on"),
    ]


def test_results_are_gathered_into_one_user_message_in_call_order() -> None:
    """Anthropic wants all results of a round in the next user message, before any text (langchain#34282)."""
    out = wires(
        "anthropic",
        user(),
        assistant(a_call("a"), a_call("b")),
        tool("b", Text(text="B")),
        tool("a", Text(text="A")),
        user(Text(text="go on")),
    )

    assert [block.get("tool_use_id", block.get("text")) for block in out[2]["content"]] == ["a", "b", "go on"]


def test_calls_and_reasoning_are_items_of_their_own_on_responses() -> None:
    """openai/codex#5385: reasoning stays directly before the item that follows it."""
    out = wires(
        "openai-responses",
        user(),
        assistant(Reasoning(signature="ZW5j", redacted=True, provider="openai-responses"), a_call("a")),
        tool("a", Text(text="A")),
    )

    assert [item["type"] for item in out] == ["message", "reasoning", "function_call", "function_call_output"]


def test_items_of_one_round_become_one_message_of_the_assistant() -> None:
    """Chat wants the calls of a round in one message, directly before their results."""
    out = wires(
        "openai-chat",
        user(),
        assistant(Text(text="both")),
        assistant(a_call("a")),
        assistant(a_call("b")),
        tool("a"),
        tool("b"),
        source="openai-responses",
    )

    assert [m["role"] for m in out] == ["user", "assistant", "tool", "tool"]
    assert [call["id"] for call in out[1]["tool_calls"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("to", "kept"), [("anthropic", 0), ("openai-chat", 1), ("openai-responses", 0), ("gemini", 1)]
)
def test_unsigned_reasoning_goes_where_it_is_accepted_and_is_counted_elsewhere(to: str, kept: int) -> None:
    """QwenLM/qwen-code#3579 demands it back on chat; Anthropic refuses a thought without a signature."""
    converted = convert(
        Request(format="", messages=(user(), assistant(Reasoning(text="hm"), Text(text="yes")))), to
    )
    found = [p for m in converted.request.messages for p in m.parts if isinstance(p, Reasoning)]

    assert (len(found), converted.reasoning_dropped) == (kept, 1 - kept)


@pytest.mark.parametrize("to", TARGETS)
def test_reasoning_signed_by_another_provider_is_dropped_and_counted(to: str) -> None:
    """`interface.md`: dropped when the target format differs, and counted; its own stays byte for byte."""
    signed = [Reasoning(text=name, signature="c2ln", provider=name) for name in ("anthropic", "gemini")]
    converted = convert(Request(format="", messages=(user(), assistant(*signed, Text(text="yes")))), to)
    found = [p for m in converted.request.messages for p in m.parts if isinstance(p, Reasoning)]

    assert [p.provider for p in found] == ([to] if to in ("anthropic", "gemini") else [])
    assert converted.reasoning_dropped == 2 - len(found)


def test_a_message_that_held_only_foreign_reasoning_is_gone() -> None:
    """myriade-ai/agentlys#196: no empty shell, and its neighbours are one."""
    out = wires(
        "anthropic",
        user(Text(text="one")),
        assistant(Reasoning(signature="x", redacted=True, provider="openai-responses")),
        user(Text(text="two")),
        source="openai-responses",
    )

    assert [m["role"] for m in out] == ["user"]
    assert [block["text"] for block in out[0]["content"]] == ["one", "two"]


@pytest.mark.parametrize("to", ["anthropic", "openai-chat", "openai-responses"])
def test_reasoning_that_nothing_follows_is_dropped_and_counted(to: str) -> None:
    """An aborted answer may hold a thought alone: chat refuses the empty message, Anthropic a thought at the end,
    Responses an item without its follower (continuedev/continue#8933)."""
    thought = Reasoning(text="hm", signature=None if to == "openai-chat" else "c2ln", provider=None)
    thought = thought if to == "openai-chat" else replace(thought, provider=to)
    converted = convert(Request(format="", messages=(user(), assistant(thought))), to)

    assert [m.role for m in converted.request.messages] == ["user"]
    assert converted.reasoning_dropped == 1


def test_a_tool_is_renamed_alike_in_calls_results_and_schemas() -> None:
    """Names with dots, as MCP servers give them, are refused by three of the four."""
    call = replace(a_call("a"), name="fs.read")
    history = Request(
        format="gemini",
        messages=(user(), assistant(call), tool("a", Text(text="A"))),
        tools=b'[{"functionDeclarations":[{"name":"fs.read"}]}]',
    )
    converted = convert(history, "openai-chat")
    name = calls_of(converted.request.messages[1])[0].name

    assert name != "fs.read"
    assert results_of(converted.request.messages[2])[0].name == name
    assert converted.request.tools is not None
    assert json.loads(converted.request.tools)[0]["function"]["name"] == name
    assert f"the tool fs.read is called {name}" in converted.notes


@pytest.mark.parametrize("to", ["anthropic", "gemini"])
def test_arguments_that_are_no_object_are_wrapped_in_one(to: str) -> None:
    """Models write broken JSON, custom tools take free text; both targets need an object."""
    converted = convert(Request(format="", messages=(user(), assistant(a_call("a", "*** patch")))), to)

    assert {"input": "*** patch"} in [
        json.loads(c.arguments) for c in calls_of(converted.request.messages[1])
    ]
    assert converted.notes == ("arguments that are no JSON object were wrapped in one",)


@pytest.mark.parametrize("to", ["openai-chat", "openai-responses"])
def test_arguments_stay_the_text_they_are_where_text_is_wanted(to: str) -> None:
    """The reference of chat says that arguments need not be valid JSON."""
    converted = convert(Request(format="", messages=(user(), assistant(a_call("a", '{"a" :  1')))), to)

    assert calls_of(converted.request.messages[1])[0].arguments == '{"a" :  1'


def test_an_id_given_again_in_a_later_round_is_renamed_for_anthropic_alone() -> None:
    """Anthropic: "`tool_use` ids must be unique"; chat accepts it, and ids stay where they are accepted."""
    rounds = (user(), assistant(a_call("c1")), tool("c1"), assistant(a_call("c1")), tool("c1"))
    there, chat = (convert(Request(format="", messages=rounds), to) for to in ("anthropic", "openai-chat"))
    ids = [c.id for m in there.request.messages for c in calls_of(m)]

    assert ids[0] == "c1" != ids[1]
    assert [r.call_id for m in there.request.messages for r in results_of(m)] == ids
    assert there.ids == {"c1": ids[1]}
    assert chat.ids == {}


def test_calls_without_ids_get_ids_of_their_own() -> None:
    """Gemini may leave ids out; every other wire needs them, and a way back needs none."""
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}] * 2},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "A"}}}] * 2},
    ]
    messages = gemini.pair(gemini.CODEC.decode(content) for content in contents)
    out = wires("openai-chat", *messages, source="gemini")

    assert [call["id"] for call in out[1]["tool_calls"]] == ["call_1", "call_2"]
    assert [m["tool_call_id"] for m in out[2:]] == ["call_1", "call_2"]


def test_leading_system_messages_become_the_system_prompt() -> None:
    """Anthropic and Gemini keep it apart from the messages."""
    messages = (
        Message(role="system", parts=(Text(text="one"),)),
        Message(role="system", parts=(Text(text="two"),)),
        user(),
    )
    for to in ("anthropic", "gemini"):
        request = convert(Request(format="openai-chat", messages=messages), to).request
        assert request.system is not None
        assert request.system.text == "one\ntwo"
        assert [m.role for m in request.messages] == ["user"]


def test_a_system_prompt_opens_the_messages_of_chat() -> None:
    """Chat has no other place for it."""
    system = Message(role="system", parts=(Text(text="be kind"),))
    request = convert(Request(format="anthropic", messages=(user(),), system=system), "openai-chat").request

    assert request.system is None
    assert [(m.role, m.text) for m in request.messages] == [("system", "be kind"), ("user", "go")]


def test_a_system_message_in_the_middle_is_marked_and_speaks_for_no_user() -> None:
    """Trust: it must not pass for the user's words where the target has no place for it."""
    messages = (
        user(),
        assistant(Text(text="ok")),
        Message(role="system", parts=(Text(text="be brief"),)),
        assistant(Text(text="yes")),
    )
    converted = convert(Request(format="openai-chat", messages=messages), "anthropic")
    marked = converted.request.messages[2]

    assert marked.role == "user"
    assert not speaks_for_user(marked)
    assert "[foldline: a system message stood here]" in marked.text
    assert converted.notes == ("a system message in the middle became a marked user message",)


def test_an_image_inside_a_result_moves_behind_the_results_on_chat() -> None:
    """Tool messages of chat take text alone; the image follows in a user message, and both say so."""
    image = Media(kind="image", mime="image/png", data=PNG)
    request = Request(
        format="anthropic",
        messages=(
            user(),
            assistant(a_call("a"), a_call("b")),
            user(
                ToolResult(call_id="a", content=(Text(text="shot"), image)),
                ToolResult(call_id="b", content=(Text(text="B"),)),
            ),
        ),
    )
    converted = convert(request, "openai-chat")
    out = [CODECS["openai-chat"].encode(m) for m in converted.request.messages]

    assert [m["role"] for m in out] == ["user", "assistant", "tool", "tool", "user"]
    assert "in the user message behind" in out[2]["content"][1]["text"]
    assert out[4]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    assert not speaks_for_user(converted.request.messages[4])
    assert converted.notes == ("media inside a result moved into a user message behind it: image",)


def test_no_call_waits_before_the_user_message_that_an_image_moved_into() -> None:
    """Law PAIR: a round of which one call still ran became one that no provider takes (found by generated sessions)."""
    image = Media(kind="image", mime="image/png", data=PNG)
    request = Request(
        format="anthropic",
        messages=(
            user(),
            assistant(a_call("a"), a_call("b")),
            user(ToolResult(call_id="b", content=(image,))),
        ),
    )
    converted = convert(request, "openai-chat")
    out = [CODECS["openai-chat"].encode(m) for m in converted.request.messages]

    assert [m.get("tool_call_id") for m in out] == [None, None, "a", "b", None]
    assert out[2]["content"] == INTERRUPTED
    assert "a call without a result closed, for media of its round to stand behind it" in converted.notes
    still = convert(replace(request, messages=request.messages[:2]), "openai-chat")
    assert len(still.request.messages) == 2, "a call that waits stays as it is where nothing follows"


@pytest.mark.parametrize("to", ["anthropic", "openai-responses", "gemini"])
def test_an_image_inside_a_result_stays_there_where_it_may(to: str) -> None:
    """Anthropic, Responses and Gemini take media inside results."""
    image = Media(kind="image", mime="image/png", data=PNG)
    request = Request(format="", messages=(user(), assistant(a_call("a")), tool("a", Text(text="x"), image)))
    converted = convert(request, to)
    result = results_of(converted.request.messages[-1])[0]

    assert [type(piece) for piece in result.content] == [Text, Media]
    assert converted.notes == ()


@pytest.mark.parametrize(
    ("media", "to"),
    [
        (Media(kind="audio", mime="audio/wav", data="UklGRg=="), "anthropic"),
        (Media(kind="video", mime="video/mp4", data="AAAA"), "openai-responses"),
        (Media(kind="image", ref="file_1"), "openai-chat"),
        (Media(kind="document", url="https://example.com/a.pdf"), "openai-chat"),
        (Media(kind="image", mime="image/svg+xml", data="PHN2Zy8+"), "anthropic"),
    ],
)
def test_media_the_target_cannot_carry_leaves_a_text_and_a_note(media: Media, to: str) -> None:
    """Never lost in silence."""
    converted = convert(Request(format="", messages=(user(Text(text="see"), media),)), to)

    assert f"[foldline: {media.kind}" in converted.request.messages[0].text
    assert converted.notes == (f"media became a marked text: {media.kind}",)


def test_file_ids_go_along_between_the_wires_of_one_provider() -> None:
    """Chat and Responses share their files."""
    file = Media(kind="document", ref="file-1")
    there = convert(
        Request(format="openai-chat", messages=(user(Text(text="see"), file),)), "openai-responses"
    )

    assert there.notes == ()
    assert [p.ref for p in there.request.messages[0].parts if isinstance(p, Media)] == ["file-1"]


def test_an_item_the_target_cannot_express_is_named() -> None:
    """Wei-Shaw/sub2api#5648: a compaction trigger is never dropped in silence."""
    trigger = openai_responses.CODEC.decode({"type": "compaction_trigger"})
    converted = convert(Request(format="openai-responses", messages=(user(), trigger)), "openai-chat")

    assert converted.notes == ("compaction_trigger of openai-responses left out",)


def test_a_readable_block_of_another_provider_becomes_a_marked_text() -> None:
    """Anthropic's compaction block holds the summary of everything before it."""
    block = b'{"type":"compaction","content":"the story so far","encrypted_content":"eHg="}'
    summary = Message(role="assistant", parts=(Opaque(type="compaction", raw=block),), format="anthropic")
    converted = convert(Request(format="anthropic", messages=(user(), summary)), "openai-chat")

    assert converted.request.messages[1].text == "[foldline: compaction of anthropic]\nthe story so far"


def test_a_tool_the_provider_ran_becomes_a_record_and_no_call() -> None:
    """anomalyco/opencode#50814: a record is not written like a call, and its texts are kept."""
    ran = ToolCall(id="s1", name="web_search", arguments='{"query":"x"}', server=True)
    found = ToolResult(call_id="s1", name="web_search", content=(Text(text="page one"),), server=True)
    converted = convert(Request(format="anthropic", messages=(user(), assistant(ran, found))), "openai-chat")

    assert calls_of(converted.request.messages[1]) == ()
    assert "page one" in converted.request.messages[1].text
    assert converted.notes == ("a call of web_search that the provider answered became a marked text (2 ×)",)


def test_a_failed_result_is_noted_where_nothing_can_mark_it() -> None:
    """Chat and Responses have no such mark; Anthropic and Gemini have."""
    failed = Message(role="tool", parts=(ToolResult(call_id="a", content=(Text(text="no"),), is_error=True),))
    history = Request(format="", messages=(user(), assistant(a_call("a")), failed))

    assert convert(history, "openai-chat").notes == (
        "openai-chat cannot say that a tool failed: the mark is left out",
    )
    assert wires("anthropic", *history.messages)[2]["content"][0]["is_error"] is True
    assert wires("gemini", *history.messages)[2]["parts"][0]["functionResponse"]["response"] == {
        "error": "no"
    }


@pytest.mark.parametrize("to", TARGETS)
def test_a_tool_that_failed_in_silence_is_told_where_the_mark_alone_would_not_do(to: str) -> None:
    """Anthropic refuses it without content; chat and Responses have no mark, so that it would read as a success."""
    failed = Message(role="tool", parts=(ToolResult(call_id="a", is_error=True),))
    out = wires(to, user(Text(text="go")), assistant(a_call("a")), failed)
    assert (SILENT in json.dumps(out)) == (to != "gemini")


def test_blank_texts_go_where_they_are_refused() -> None:
    """MoonshotAI/kimi-cli#2395: "text content is empty"."""
    out = wires("anthropic", user(Text(text=" \n"), Text(text="go")))

    assert out == [{"role": "user", "content": "go"}]


def test_a_response_split_into_items_has_its_usage_once() -> None:
    """TOK-3: one response, one usage."""
    meta = Meta(id="m1", usage=Usage(tokens_input=10))
    message = replace(assistant(Text(text="a"), a_call("a")), meta=meta)
    out = convert(
        Request(format="anthropic", messages=(user(), message)), "openai-responses"
    ).request.messages

    assert [m.meta.usage is not None for m in out[1:] if m.meta is not None] == [True, False]


def test_joined_users_speak_when_one_of_them_spoke() -> None:
    """Law TAIL finds the last user message by who spoke, also after a host's reminder was joined to it."""
    reminder = replace(user(Text(text="reminder")), meta=Meta(injected=True))
    joined = convert(Request(format="", messages=(reminder, user(Text(text="go")))), "anthropic").request

    assert len(joined.messages) == 1
    assert speaks_for_user(joined.messages[0])


def test_tools_change_their_shape_with_the_history() -> None:
    """`interface.md`: `convert` writes the target's `tools`."""
    tools = b'[{"name":"read","description":"r","input_schema":{"type":"object","properties":{}}}]'
    converted = convert(Request(format="anthropic", messages=(user(),), tools=tools), "openai-chat").request

    assert converted.tools is not None
    assert json.loads(converted.tools)[0]["function"]["name"] == "read"


@pytest.mark.parametrize("to", TARGETS)
def test_media_that_has_no_place_is_said_in_words_and_noted(to: str) -> None:
    """No wire takes pictures in a system prompt or from the assistant."""
    picture = Media(kind="image", mime="image/png", data=PNG)
    prompt = Message(role="system", parts=(Text(text="be kind"), picture))
    done = convert(
        Request(format="", messages=(prompt, user(), assistant(Text(text="see"), picture), user())), to
    )
    noted = [note for note in done.notes if "marked text: image" in note]
    assert len(noted) == 2
    assert JUDGES[to](body_of(done.request)) == []


@pytest.mark.parametrize("to", TARGETS)
def test_parts_in_a_message_that_cannot_hold_them_are_put_right(to: str) -> None:
    """Law PAIR: a result beside its call goes behind it; reasoning of a user is nobody's and is counted."""
    call, result = a_call("c1"), ToolResult(call_id="c1", content=(Text(text="found"), Text(text=" ")))
    asked = Message(role="user", parts=(Text(text="go"), Reasoning(text="hm")))
    done = convert(Request(format="", messages=(asked, assistant(call, result), user())), to)
    assert JUDGES[to](body_of(done.request)) == []
    assert done.reasoning_dropped == 1


@pytest.mark.parametrize("to", TARGETS)
def test_what_is_of_the_target_already_goes_along_as_it_is(to: str) -> None:
    """A neutral history may hold messages that one wire format alone understands, also inside results."""
    other = Opaque(type="block", raw=b'{"type":"hologram","beam":1}')
    held = replace(tool("c1", Text(text="found"), other), format=to)
    done = convert(Request(format="", messages=(user(), assistant(a_call("c1")), held, user())), to)
    found = [
        piece for message in done.request.messages for part in results_of(message) for piece in part.content
    ]
    assert [piece.raw for piece in found if isinstance(piece, Opaque)] == [other.raw]


@pytest.mark.parametrize("to", TARGETS)
def test_a_history_whose_first_message_cannot_go_along_still_opens_with_the_user(to: str) -> None:
    """Law ROLE: a host's own block, alone in the first message, is left out on other wires."""
    host = Message(role="user", parts=(Opaque(type="host", raw=b'{"type":"host"}'),), format="neutral")
    history = (host, Message(role="assistant", parts=(Text(text="done"),)))
    sent = convert(Request(format="neutral", messages=history), to=to).request.messages
    assert sent[0].role == "user" or "assistant" in CODECS[to].rules.needs.first
    assert sent[-1].text == "done"


@pytest.mark.parametrize("to", ["anthropic", "gemini"])
@pytest.mark.parametrize(
    "inner", ['"encrypted_content":"c2ln"', '"content":[{"type":"input_text","text":"so far"}]']
)
def test_a_history_that_opens_with_a_providers_own_compaction_opens_with_the_user_elsewhere(
    to: str, inner: str
) -> None:
    """A sealed compaction does not go along and an open one becomes the assistant's text: neither may come first."""
    items = f'[{{"type":"compaction",{inner}}},{{"role":"assistant","content":"ok"}},{{"role":"user","content":"on"}}]'
    request = read_body(json.loads(items), format="openai-responses")
    converted = convert(request, to).request
    assert converted.messages[0].role == "user"
    assert JUDGES[to](body_of(converted)) == []
