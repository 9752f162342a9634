"""Fault reports of kind `text-integrity`: what is cut stays text, JSON stays JSON, and damaged text heals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline.cli.main import main
from tests.bugs.case import FORMATS, SHARES, all_text, judged, load, squeezed, texts
from tests.bugs.neutral import Answer, Ask, Say, Step, written

ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
"""A whole control sequence (ECMA-48, 5.4 and 8.3.89; an operating system command ends in BEL or ST)."""
REPEATS = 400
LONE = "ok \ud83d [truncated]"


def with_result(text: str, *, format: str) -> list[dict[str, Any]]:
    """A history whose one result is `text`."""
    steps: list[Step] = [
        Say("user", "show"),
        Ask((("t1", "cat"),)),
        Answer((("t1", text),)),
        Say("assistant", "fine"),
        Say("user", "next"),
    ]
    return written(steps, format=format)


@pytest.mark.parametrize("to", [100_000, 0.5, 0.05])
def test_a_lone_surrogate_is_healed_before_sending(to: float) -> None:
    """anthropics/claude-code#69927: each request body was invalid JSON ('no low surrogate in string')."""
    case = load("L01")
    out = squeezed(case.messages, format=case.format, to=to)
    assert judged(out.messages, format=case.format) == []
    json.dumps(out.messages, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("place", ["user", "assistant", "last", "result", "arguments"])
@pytest.mark.parametrize("damage", [LONE, "\udc00", "x\ud83d\ud83d\ude42"])
def test_a_lone_surrogate_is_healed_wherever_it_stands(format: str, place: str, damage: str) -> None:
    """Siblings of anthropics/claude-code#69927: each wire; user, assistant, last message, result, arguments."""
    steps: list[Step] = [
        Say("user", damage if place == "user" else "show"),
        Ask((("t1", "cat"),), path=damage if place == "arguments" else "a.txt"),
        Answer((("t1", damage if place == "result" else "A"),)),
        Say("assistant", damage if place == "assistant" else "fine"),
        Say("user", damage if place == "last" else "next"),
    ]
    messages = written(steps, format=format)
    for to in (100_000, 0.3):
        out = squeezed(messages, format=format, to=to)
        assert judged(out.messages, format=format) == []


def test_a_file_with_a_lone_surrogate_heals_on_its_way_through(tmp_path: Path) -> None:
    """Sibling of anthropics/claude-code#69927 through the command line: JavaScript logs have such escapes."""
    source, target = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps({"messages": load("L01").messages}), encoding="ascii")
    ran = CliRunner().invoke(main, ["convert", str(source), "--as", "anthropic", "-o", str(target)])
    assert ran.exit_code == 0, ran.output
    body = json.loads(target.read_bytes().decode("utf-8"))
    assert judged(body["messages"], format="anthropic") == []
    assert "[truncated]" in all_text(body)


@pytest.mark.parametrize("format", FORMATS)
def test_a_cut_never_falls_inside_a_character(format: str) -> None:
    """astrid-runtime/astrid#73: a byte limit inside a multi-byte character gave a crash, or U+FFFD."""
    text = load("L03").payload["text"]
    messages = with_result("".join(f"{number}{text}" for number in range(REPEATS)), format=format)
    cut = False
    for share in SHARES:
        out = squeezed(messages, format=format, to=share)
        assert judged(out.messages, format=format) == []
        assert "\ufffd" not in all_text(out.messages)
        cut = cut or (out.messages != messages and "漢" in all_text(out.messages))
    assert cut, "never cut inside the text: the test would prove nothing"


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
def test_shortened_arguments_are_still_json_with_the_same_keys(format: str) -> None:
    """NousResearch/hermes-agent#13574: arguments cut as a string; strict servers refused the session."""
    arguments = load("L04").messages[1]["tool_calls"][0]["function"]["arguments"]
    long = json.dumps({**json.loads(arguments), "content": "x y " * 3_000})
    for given in (arguments, long):
        messages = with_result("ok", format=format)
        call = messages[1] if format == "openai-responses" else messages[1]["tool_calls"][0]["function"]
        call["arguments"] = given
        for share in SHARES:
            out = squeezed(messages, format=format, to=share)
            assert judged(out.messages, format=format) == []
            for kept in arguments_of(out.messages):
                assert json.loads(kept).keys() == json.loads(given).keys()


def test_the_reported_arguments_stay_json() -> None:
    """NousResearch/hermes-agent#13574, its own input."""
    case = load("L04")
    for share in SHARES:
        out = squeezed(case.messages, format=case.format, to=share)
        assert judged(out.messages, format=case.format) == []
        assert all(json.loads(kept)["path"] == "notes.md" for kept in arguments_of(out.messages))


def arguments_of(messages: list[dict[str, Any]]) -> list[str]:
    """The arguments of all calls, in either OpenAI format."""
    chat = [call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or []]
    return chat + [item["arguments"] for item in messages if item.get("type") == "function_call"]


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("size", [1, 2_000])
def test_arguments_that_are_no_json_are_never_made_into_json(format: str, size: int) -> None:
    """cline/cline#13001: a call cut off by the output cap was 'repaired' and run with half its arguments.

    Recording a response that ended by length belongs to durable sessions; here such a call passes unchanged.
    """
    partial = load("L06").payload["partial_input_json"] + ' "echo"' * (size - 1)
    messages = with_result("ok", format=format)
    call = messages[1] if format == "openai-responses" else messages[1]["tool_calls"][0]["function"]
    call["arguments"] = partial
    for to in (100_000, *SHARES):
        out = squeezed(messages, format=format, to=to)
        assert judged(out.messages, format=format) == []
        assert all(kept == partial for kept in arguments_of(out.messages))


def test_arguments_that_are_no_json_become_no_shorter_call_in_another_format(tmp_path: Path) -> None:
    """Sibling of cline/cline#13001: Anthropic wants an object; what the model wrote must not be completed for it."""
    messages = with_result("ok", format="openai-chat")
    messages[1]["tool_calls"][0]["function"]["arguments"] = load("L06").payload["partial_input_json"]
    source = tmp_path / "in.json"
    source.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    ran = CliRunner().invoke(main, ["convert", str(source), "--as", "anthropic"])
    assert ran.exit_code == 0, ran.output
    body = json.loads(ran.stdout)
    assert judged(body["messages"], format="anthropic") == []
    [use] = [block for block in body["messages"][1]["content"] if block["type"] == "tool_use"]
    assert use["input"] != {"commands": ["npm install", "npm test"]}
    assert load("L06").payload["partial_input_json"] in all_text(use)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("repeats", [1, 40])
def test_a_cut_never_falls_inside_a_control_sequence(format: str, repeats: int) -> None:
    """nex-agi/NexAU#8: progress redraws filled the budget and hid the useful lines. What a cut leaves has whole
    sequences alone, and the last line, which says what went wrong, is in view while the result is."""
    text = "\n".join([load("L07").payload["text"]] * repeats)
    messages = with_result(text, format=format)
    for share in SHARES:
        out = squeezed(messages, format=format, to=share)
        assert judged(out.messages, format=format) == []
        for part in texts(out.messages):
            assert "\x1b" not in ESCAPE.sub("", part)


@pytest.mark.parametrize("format", FORMATS)
def test_the_error_at_the_end_of_a_noisy_result_outlives_its_cut(format: str) -> None:
    """nex-agi/NexAU#8: 'keep the first and the last state of a progress line'."""
    text = load("L07").payload["text"].replace("Retrieving", "Retrieving " * 60)
    messages = with_result(text, format=format)
    seen = [all_text(squeezed(messages, format=format, to=share).messages) for share in (0.9, 0.75, 0.6)]
    assert any(len(part) < len(all_text(messages)) for part in seen)
    assert all("disk full" in part for part in seen if "Retrieving" in part)
