"""What a provider demands beyond the laws, checked on a history as it stands."""

from __future__ import annotations

import copy
import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from foldline.cli.main import main
from foldline.core.message import Message, Opaque, Reasoning, Text, ToolCall
from foldline.core.needs import Needs
from foldline.provider_rules import broken_demands
from foldline.testing.builders import assistant, call, result, user
from foldline.wire.formats import codec
from tests.testing.judges import samples, test_anthropic, test_gemini, test_openai_chat, test_openai_responses

ANTHROPIC, CHAT, RESPONSES, GEMINI = (
    codec(name).rules.needs for name in ("anthropic", "openai-chat", "openai-responses", "gemini")
)
JUDGED = {
    "anthropic": (samples.ANTHROPIC, test_anthropic),
    "openai-chat": (samples.CHAT, test_openai_chat),
    "openai-responses": (samples.RESPONSES, test_openai_responses),
    "gemini": (samples.GEMINI, test_gemini),
}
SIGNED = Reasoning(text="so", signature="c2ln", provider="anthropic")


def judge_of(format: str) -> ModuleType:
    return importlib.import_module(f"foldline.testing.judges.{format.replace('-', '_')}")


def whys(*messages: Message, needs: Needs = ANTHROPIC) -> list[tuple[str, str]]:
    return [(v.at, v.why) for v in broken_demands(messages, needs)]


def test_call_ids_have_the_length_and_the_characters_that_the_provider_takes() -> None:
    """interface.md: Anthropic letters, digits, `_`, `-`; OpenAI chat 40 characters, Responses 64; none is empty."""
    assert whys(user("go"), assistant(call("x", id="toolu_01-a"))) == []
    ((at, why),) = whys(user("go"), assistant(call("x", id="a|b")))
    assert at == "message 1"
    assert "'a|b'" in why
    assert whys(assistant(call("x", id="c" * 40)), needs=CHAT) == []
    ((_, why),) = whys(assistant(call("x", id="c" * 41)), needs=CHAT)
    assert "41 characters; 40 are allowed" in why
    assert whys(assistant(call("x", id="c" * 64)), needs=RESPONSES) == []
    assert len(whys(assistant(call("x", id="c" * 65)), needs=RESPONSES)) == 1
    assert whys(assistant(call("x", id="a|b" * 90)), needs=GEMINI) == []
    for needs in (ANTHROPIC, CHAT, RESPONSES, GEMINI):
        assert len(whys(assistant(ToolCall(id="", name="x", arguments="{}")), needs=needs)) == 1


def test_an_id_that_no_wire_value_holds_is_not_judged() -> None:
    """A codec whose wire has no ids makes them up."""
    made_up = ToolCall(id="a|b", name="x", arguments="{}", wire_id=False)
    assert whys(Message(role="assistant", parts=(made_up,))) == []


@pytest.mark.parametrize(
    ("name", "takers"),
    [
        ("read", "acrg"),
        ("fs.read", "ag"),
        ("读取", "ag"),
        ("x" * 65, "arg"),
        ("x" * 129, "ag"),
        ("x" * 201, "g"),
        ("", ""),
        ("a\ud83d", ""),
    ],
)
def test_a_tool_is_called_as_the_provider_takes_it(name: str, takers: str) -> None:
    """By the judges' rows on names; a schema has further demands, which are its own."""
    for letter, needs in zip("acrg", (ANTHROPIC, CHAT, RESPONSES, GEMINI), strict=True):
        found = whys(assistant(ToolCall(id="c1", name=name, arguments="{}")), needs=needs)
        assert bool(found) is (letter not in takers), letter


def test_a_name_of_the_requests_own_tools_is_reported_all_the_same() -> None:
    """It stays, since whoever runs the tool knows it by that name; the provider refuses it."""
    kept = replace(codec("openai-chat").rules.needs, names_kept=frozenset({"fs.read"}))
    assert len(whys(assistant(call("fs.read", id="c1")), needs=kept)) == 1


def test_reasoning_stands_before_every_call_and_opens_the_last_answer() -> None:
    """anomalyco/opencode#3077: 400 "must start with a thinking block"; "Expected `thinking`, but found `text`"."""
    late = assistant(SIGNED, call("x", id="c1"), SIGNED, call("x", id="c2"))
    assert whys(user("go"), late) == [("message 1", "reasoning behind a call")]
    assert whys(user("go"), late, needs=CHAT) == []
    behind = assistant(Text(text="ok"), SIGNED, call("x", id="c1"))
    assert [at for at, _ in whys(user("go"), behind)] == ["message 1"]
    assert whys(user("go"), behind, result("c1", "r"), assistant("done")) == []
    assert list(broken_demands([behind], ANTHROPIC, is_whole=False)) == []
    block = Opaque(type="compaction", raw=b'{"type":"compaction","content":"s"}')
    assert whys(user("go"), Message(role="assistant", parts=(block, SIGNED, Text(text="ok")))) == []


OUTSIDE = {
    ("anthropic", "thinking-first", 1): "`thinking` is a parameter of the request, no part of a history",
    ("anthropic", "shape", 15): "a list of tools inside a string is read as that list: data sets have it so",
    ("anthropic", "answered", 1): "the result of a call at the end may still come",
    ("openai-chat", "answered", 1): "as above",
    ("openai-responses", "answered", 1): "as above",
    ("gemini", "answered", 2): "as above",
}
"""What a judge refuses and a history does not show."""
HUGE = {"size"}
"""Rules on the size of a body: the same rule for any body, asked of bodies of 20 MB and more in the judges' own tests."""


@pytest.mark.parametrize(
    ("format", "rule", "place"),
    [
        (format, rule, place)
        for format, (_, tests) in JUDGED.items()
        for rule, changes in tests.BREAKS.items()
        for place in range(len(changes))
        if rule not in HUGE and (format, rule, place) not in OUTSIDE
    ],
)
def test_what_a_judge_refuses_is_never_called_valid(
    format: str, rule: str, place: int, tmp_path: Path
) -> None:
    """start.md: exit code 0 of `foldline check` says that it may be sent. A compaction mends it, or says that it is not valid."""
    sound, tests = JUDGED[format]
    body = copy.deepcopy(sound)
    tests.BREAKS[rule][place](body)
    file = tmp_path / "body.json"
    file.write_text(json.dumps(body))
    done = CliRunner().invoke(main, ["check", str(file), "--from", format, "--json"])
    assert done.exit_code == 1, done.output
    out = tmp_path / "out.json"
    ask = ["compact", str(file), "--from", format, "--as", format, "--to", "100000", "--json", "-o", str(out)]
    made = CliRunner().invoke(main, ask)
    document = json.loads(made.stdout)
    if document["schema"] == "foldline.error/1":
        assert made.exit_code == 1
    elif document["valid"]:
        assert judge_of(format).violations(json.loads(out.read_text()), open_tail=True) == []
    else:
        assert document["unmended"]
        assert made.exit_code in (0, 1)
