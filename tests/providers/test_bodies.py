"""A completion request becomes a body: the conversation as it is, the caller's parameters, one cap where one must be."""

from __future__ import annotations

import pytest

from foldline.providers.bodies import OUTPUT_DEFAULT, body_for
from tests.providers.stub import asking


def test_the_conversation_goes_in_as_it_is() -> None:
    """CMP-2: the very values, so that the bytes are those that the provider has cached."""
    tools = [{"name": "read", "input_schema": {}}]
    request = asking("anthropic", tools=tools, is_fork=True)
    body = body_for(request, format="anthropic", model="m", parameters={"thinking": {"type": "adaptive"}})
    assert body.value["messages"][0] is request.messages[0]
    assert body.value["tools"] is request.tools
    assert body.value["system"] is request.system
    assert body.value["thinking"] == {"type": "adaptive"}
    assert body.notes == ()


@pytest.mark.parametrize(
    ("format", "cap", "name"),
    [
        ("anthropic", 500, "max_tokens"),
        ("openai-chat", 500, "max_completion_tokens"),
        ("openai-responses", 500, "max_output_tokens"),
        ("gemini", 500, "max_output_tokens"),
    ],
)
def test_a_cap_is_written_where_one_is_wanted_and_the_callers_own_stands(
    format: str, cap: int, name: str
) -> None:
    """CMP-2: the output cap is not overridden."""
    asked = body_for(asking(format, output_cap=cap), format=format, model="m", parameters={})
    assert asked.value[name] == cap
    own = body_for(asking(format, output_cap=cap), format=format, model="m", parameters={name: 7})
    assert own.value[name] == 7


def test_anthropic_gets_the_models_own_cap_where_nobody_says_one() -> None:
    """It refuses a request without `max_tokens`."""
    known = body_for(asking("anthropic"), format="anthropic", model="claude-sonnet-4-5", parameters={})
    assert known.value["max_tokens"] == 64_000
    unknown = body_for(asking("anthropic"), format="anthropic", model="nobody-knows", parameters={})
    assert unknown.value["max_tokens"] == OUTPUT_DEFAULT


def test_chat_asks_for_usage_unless_the_caller_said_otherwise() -> None:
    """A stream of chat has none else."""
    asked = body_for(asking("openai-chat"), format="openai-chat", model="m", parameters={})
    assert asked.value["stream_options"] == {"include_usage": True}
    own = body_for(asking("openai-chat"), format="openai-chat", model="m", parameters={"stream_options": {}})
    assert own.value["stream_options"] == {}


def test_a_system_message_of_chat_stands_first_however_it_was_given() -> None:
    """As a text, or as the message it is."""
    for system in ("be brief", {"role": "developer", "content": "be brief"}):
        body = body_for(asking("openai-chat", system=system), format="openai-chat", model="m", parameters={})
        assert body.value["messages"][0]["content"] == "be brief"
    assert body.value["messages"][0]["role"] == "developer"


def test_a_conversion_says_what_could_not_go_along() -> None:
    """Signed reasoning is worth nothing to another provider."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "hello"}]}
    request = asking("anthropic", messages=[{"role": "user", "content": "hi"}, said])
    body = body_for(request, format="openai-chat", model="m", parameters={})
    assert [message["role"] for message in body.value["messages"]] == ["system", "user", "assistant", "user"]
    assert body.notes[0].startswith("the conversation was converted from anthropic to openai-chat")
    assert "reasoning of another provider left out (1 ×)" in body.notes


def test_a_call_of_its_own_has_no_tools_and_nothing_about_tools() -> None:
    """Providers refuse `tool_choice` without tools; a system prompt given as a text is put into the format's own shape."""
    parameters = {"tool_choice": "auto", "temperature": 0}
    body = body_for(asking("openai-chat"), format="openai-chat", model="m", parameters=parameters)
    assert "tool_choice" not in body.value
    assert body.value["temperature"] == 0
    fork = asking("openai-chat", tools=[{"type": "function"}], is_fork=True)
    assert (
        body_for(fork, format="openai-chat", model="m", parameters=parameters).value["tool_choice"] == "auto"
    )
    gemini = body_for(asking("gemini", system="brief"), format="gemini", model="m", parameters={})
    assert gemini.value["systemInstruction"] == {"parts": [{"text": "brief"}]}
