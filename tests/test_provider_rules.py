"""What a provider demands beyond the laws, checked on a history as it stands."""

from __future__ import annotations

from foldline.core.message import Message, ToolCall
from foldline.provider_rules import broken_rules
from foldline.testing.builders import assistant, call, system, user
from foldline.wire.codec import Rules
from foldline.wire.formats import PLAIN, codec

ANTHROPIC = codec("anthropic").rules
CHAT = codec("openai-chat").rules
GEMINI = codec("gemini").rules


def whys(*messages: Message, rules: Rules = ANTHROPIC) -> list[tuple[str, str]]:
    return [(v.at, v.why) for v in broken_rules(messages, rules)]


def test_call_ids_have_the_length_and_the_characters_that_the_provider_takes() -> None:
    """interface.md: Anthropic letters, digits, `_`, `-`; OpenAI chat 40 characters."""
    assert whys(user("go"), assistant(call("x", id="toolu_01-a"))) == []
    ((at, why),) = whys(user("go"), assistant(call("x", id="a|b")))
    assert at == "message 1"
    assert "'a|b'" in why
    assert whys(assistant(call("x", id="c" * 40)), rules=CHAT) == []
    ((_, why),) = whys(assistant(call("x", id="c" * 41)), rules=CHAT)
    assert "41 characters; 40 are allowed" in why
    assert whys(assistant(call("x", id="a|b" * 90)), rules=GEMINI) == []


def test_an_id_that_no_wire_value_holds_is_not_judged() -> None:
    """A codec whose wire has no ids makes them up."""
    made_up = ToolCall(id="a|b", name="x", arguments="{}", wire_id=False)
    assert whys(Message(role="assistant", parts=(made_up,))) == []


def test_system_text_may_only_open_a_history_where_the_provider_says_so() -> None:
    """Law ROLE, by the row `system` of the provider's rules."""
    leading = [
        name
        for name in ("anthropic", "openai-chat", "openai-responses", "gemini")
        if codec(name).rules.system == "leading"
    ]
    messages = (system("a"), system("b"), user("go"), system("c"))
    for name in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        found = [at for at, why in whys(*messages, rules=codec(name).rules) if "system text" in why]
        assert found == (["message 3"] if name in leading else [])
    assert [at for at, _ in whys(*messages, rules=PLAIN)] == ["message 3"]
