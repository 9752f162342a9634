"""What holds of every judge: it accepts what is in order, waits where told so, never crashes, and shares no code with us.

The rules of each judge are broken one by one in the tests beside this one.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from foldline.testing.judges import anthropic, gemini, openai_chat, openai_responses
from foldline.testing.judges.rule import Case, findings, json_bytes, json_text
from tests.judges import panel
from tests.linear import growth
from tests.testing.judges.samples import ANTHROPIC, CHAT, GEMINI, RESPONSES, Body

JUDGES: dict[ModuleType, Body] = {
    anthropic: ANTHROPIC,
    openai_chat: CHAT,
    openai_responses: RESPONSES,
    gemini: GEMINI,
}


def short(judge: ModuleType) -> str:
    return judge.__name__.rpartition(".")[2]


@pytest.mark.parametrize("judge", JUDGES, ids=short)
def test_a_body_with_everything_in_its_place_has_no_violation(judge: ModuleType) -> None:
    """The good twin of every broken body."""
    assert judge.violations(copy.deepcopy(JUDGES[judge])) == []


@pytest.mark.parametrize("judge", JUDGES, ids=short)
def test_calls_of_the_last_answer_may_wait_only_when_told_so(judge: ModuleType) -> None:
    """An open round: the session was saved before its results came."""
    body = copy.deepcopy(JUDGES[judge])
    next(iter(value for key, value in body.items() if isinstance(value, list))).pop()
    assert [line.partition(" at ")[0] for line in judge.violations(body)] == ["answered"]
    assert judge.violations(body, open_tail=True) == []


def test_a_finding_names_rule_place_and_reason_apart() -> None:
    """Who answers with a provider's own words needs to know which rule spoke, and where."""
    body: Body = {"messages": [{"role": "assistant", "content": "Hello."}]}
    (finding,) = findings(anthropic.RULES, body, open_tail=False)
    assert (finding.rule, finding.place) == ("first-user", "messages.0")
    assert anthropic.violations(body) == [f"first-user at messages.0: {finding.why}"]


def test_no_judge_knows_the_product() -> None:
    """A wrong law must not be able to approve itself: the judges share no code with it."""
    folders = [Path(str(anthropic.__file__)).parent, Path(panel.__file__).parent]
    sources = {
        path.name: path.read_text("utf-8")
        for folder in folders
        for path in folder.glob("*.py")
        if not path.name.startswith("test_")
    }
    assert {
        "anthropic.py",
        "openai_chat.py",
        "openai_responses.py",
        "gemini.py",
        "sdk.py",
        "panel.py",
    } <= sources.keys()
    foreign = re.compile(r"^\s*(?:from|import) foldline(?!\.testing\.judges\b)", re.MULTILINE)
    assert [name for name, source in sources.items() if foreign.search(source)] == []


@pytest.mark.parametrize("judge", JUDGES, ids=short)
def test_a_judge_never_fails_on_json_it_does_not_expect(judge: ModuleType) -> None:
    """A validator that crashes on a broken body tells less than one that says what is wrong."""
    good = JUDGES[judge]
    for junk in (None, True, 3, "x", [], {}, [None], {"type": 7}):
        for place in _places(good):
            body = copy.deepcopy(good)
            *way, last = place
            inside: Any = body
            for step in way:
                inside = inside[step]
            inside[last] = junk
            assert isinstance(judge.violations(body), list), json.dumps(body)


HISTORIES: dict[ModuleType, Callable[[int], Body]] = {
    anthropic: lambda n: {
        "messages": [
            {"role": "user", "content": "go"},
            *(
                one
                for k in range(n)
                for one in (
                    {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{k}", "name": "a", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{k}", "content": "x"}]},
                )
            ),
        ]
    },
    openai_chat: lambda n: {
        "messages": [
            one
            for k in range(n)
            for one in (
                {"role": "assistant", "tool_calls": [{"id": f"t{k}", "type": "function", "function": {"name": "a", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": f"t{k}", "content": "x"},
            )
        ]
    },
    openai_responses: lambda n: {
        "input": [
            one
            for k in range(n)
            for one in (
                {"type": "reasoning", "id": f"r{k}", "summary": []},
                {"type": "function_call", "call_id": f"t{k}", "name": "a", "arguments": "{}"},
                {"type": "function_call_output", "call_id": f"t{k}", "output": "x"},
            )
        ]
    },
    gemini: lambda n: {
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            *(
                one
                for k in range(n)
                for one in (
                    {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}}}]},
                )
            ),
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("judge", HISTORIES, ids=short)
def test_a_long_history_is_judged_in_time_that_grows_as_it_does(judge: ModuleType) -> None:
    """`compact` asks at every call: a history of 8,000 Responses items took 8 s."""

    def work(size: int, number: int) -> Callable[[], object]:
        body = HISTORIES[judge](size + number)
        return lambda: judge.violations(body)

    assert judge.violations(HISTORIES[judge](20)) == []
    assert growth(work, size=8_000).wrong == ""


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("inf"), "not JSON: inf"),
        ({1: "a"}, "not JSON: a key is no text"),
        ({"a\ud83d": 1}, r"lone surrogate '\\ud83d'"),
        (["b\udc00"], r"lone surrogate '\\udc00'"),
        ({1, 2}, "not JSON: set"),
    ],
)
def test_what_no_body_can_say_is_found_wherever_it_stands(value: Any, why: str) -> None:
    """RFC 8259, 8.1; anthropics/claude-code#69927."""
    body: Body = {
        "messages": [{"role": "user", "content": "go"}],
        "metadata": {"x": [(1, True, None, "é"), value]},
    }
    [(place, told)] = json_text(Case(body, open_tail=False))
    assert place == "body"
    assert re.search(why, told)
    circle: Body = {}
    circle["x"] = circle
    assert [told for _, told in json_text(Case(circle, open_tail=False))] == ["not JSON: nested too deep"]


def test_the_size_of_a_body_is_what_goes_over_the_wire() -> None:
    """With half a pair as its replacement."""
    for text in ("é", '"\\\n', "\x01", "😀", "a\ud83d"):
        body: Body = {"x": [text, 1, None]}
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        assert json_bytes(body) == len(written)


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in ([(*way, key), *_places(value[key], (*way, key))])]
