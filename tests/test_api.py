"""`foldline.compact` by example: arguments, errors, and what comes back.

Any session in any format stands in `tests/properties/test_compact.py`.
"""

from __future__ import annotations

import asyncio
import copy
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import foldline
from foldline import InvalidOption, TargetUnreachable, UnknownFormat, UnknownPolicy, acompact, api, compact
from foldline.core.message import Message, calls_of
from foldline.outgoing import joined
from foldline.presets import POLICIES
from foldline.wire.formats import CODECS

TALK: list[Any] = [
    message
    for n in range(20)
    for message in (
        {"role": "user", "content": f"question {n}: " + "word " * 30},
        {"role": "assistant", "content": f"answer {n}: " + "text " * 60},
    )
]
LAST = {"role": "user", "content": "and now?"}
BIG = "line of output\n" * 4_000


def tooled(name: str = "read_file", **schema: Any) -> dict[str, Any]:
    """An Anthropic session whose one result is large, and the declaration of its tool."""
    messages = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": name, "input": {"path": "a"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": BIG}]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
    ]
    return {"messages": messages, "tools": [{"name": name, "input_schema": {"type": "object"}, **schema}]}


def result_in(messages: list[Any]) -> str:
    found = next(m for m in messages if m["role"] == "user" and isinstance(m["content"], list))
    content = found["content"][0]["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def test_a_history_comes_down_to_its_target_and_stays_what_it_is() -> None:
    """interface.md, Library 1: same wire format as given, and a report of what was done."""
    out = compact([*TALK, LAST], to=800)
    assert out.report.outcome == "compacted"
    assert out.report.tokens_after <= 800
    assert out.report.format == "openai-chat"
    assert out.report.counter == "o200k_base"
    assert {m["role"] for m in out.messages} == {"user", "assistant"}
    assert out.report.to_dict()["schema"] == "foldline.report/1"


def test_the_system_prompt_and_the_schemas_count_towards_the_target() -> None:
    """`to` is the size of the whole request."""
    bare = compact([*TALK, LAST], to=0.5, format="anthropic").report
    fixed = compact(
        [*TALK, LAST],
        to=0.5,
        format="anthropic",
        system="rule " * 200,
        tools=[{"name": "x", "description": "word " * 300, "input_schema": {"type": "object"}}],
    ).report
    assert fixed.tokens_before > bare.tokens_before + 500
    assert fixed.tokens_after <= (fixed.tokens_target or 0)


def test_below_the_policys_threshold_nothing_is_done() -> None:
    """Left out, `to` is the policy's own target, once its threshold is reached."""
    out = compact(TALK)
    assert (out.report.outcome, out.report.reason) == ("unchanged", "below the threshold")
    assert all(a is b for a, b in zip(out.messages, TALK, strict=True))


def test_an_unreachable_target_raises_with_the_smallest_history() -> None:
    """Law END: the result is valid and can be sent."""
    with pytest.raises(TargetUnreachable) as caught:
        compact([*TALK, LAST], to=1)
    error = caught.value
    assert error.tokens_target == 1
    assert error.tokens_min == error.result.report.tokens_after
    assert error.result.report.valid
    assert error.result.messages[-1] == LAST or "and now?" in str(error.result.messages[-1])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"to": 0}, InvalidOption),
        ({"to": True}, InvalidOption),
        ({"to": 1.5}, InvalidOption),
        ({"pins": ["nowhere"]}, InvalidOption),
        ({"counter": "abacus"}, InvalidOption),
        ({"counter": ""}, InvalidOption),
        ({"model": " "}, InvalidOption),
        ({"completer": "a text"}, InvalidOption),
        ({"policy": "thrifty"}, UnknownPolicy),
        ({"format": "yaml"}, UnknownFormat),
        ({"format": "pi"}, UnknownFormat),
    ],
)
def test_an_argument_out_of_bounds_is_refused_by_name(
    options: dict[str, Any], error: type[Exception]
) -> None:
    """Every error derives from `FoldlineError` and says what to do next."""
    with pytest.raises(error) as caught:
        compact(TALK, **{"to": 100, **options})
    assert isinstance(caught.value, foldline.FoldlineError)


NOT_A_NUMBER = float("nan")
MISTAKEN: dict[str, tuple[Any, ...]] = {
    "to": (
        *(NOT_A_NUMBER, float("inf"), "20k", "25%", Decimal("0.5"), Fraction(1, 2), [], b"9"),
        *(0, -1, 0.0, 1.0, -0.5, True, False),
    ),
    "format": (None, 5, [], b"anthropic"),
    "model": (5, b"gpt-4", ["gpt-4"]),
    "policy": (None, 5, []),
    "counter": (5, [], b"estimate"),
    "focus": (5, ["tests"]),
    "completer": ("a text", False),
    "pins": (None, 5, "step", b"step", {"question": 1}),
    "tools": (
        *(True, 5, "x", b"x", {}, {"name": "f"}),
        *(
            [5],
            ["x"],
            [None],
            [[]],
            [object()],
            [{"functionDeclarations": 5}],
            [{"function_declarations": True}],
        ),
        *([{"name": NOT_A_NUMBER}], [{"name": b"x"}]),
    ),
    "system": (5, True, b"x", object(), [object()], [b"x"]),
}
"""Every parameter with values of another kind."""


@pytest.mark.parametrize("format", ["openai-chat", "anthropic", "openai-responses"])
@pytest.mark.parametrize(
    ("option", "value"), [(option, value) for option, values in MISTAKEN.items() for value in values]
)
def test_a_value_of_another_kind_is_refused_by_the_name_of_its_option(
    option: str, value: Any, format: str
) -> None:
    """A slip of the pen gives one kind of error, which says what was got and what is taken instead."""
    with pytest.raises(InvalidOption) as caught:
        compact(TALK, **{"to": 100, "format": format, option: value})
    assert caught.value.option == option
    assert str(caught.value).startswith(f"{option}=")
    assert caught.value.why


@pytest.mark.parametrize("messages", [None, 5, "text", b"text", {}, {"messages": TALK}])
def test_messages_of_a_named_format_are_a_list_too(messages: Any) -> None:
    """A body is opened by its keys, which only the caller knows."""
    with pytest.raises(InvalidOption) as caught:
        compact(messages, to=100, format="anthropic")
    assert caught.value.option == "messages"
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("format", ["openai-chat", "anthropic"])
def test_a_part_that_json_cannot_say_is_named_with_its_place(format: str) -> None:
    """The place, a colon, and what is wrong there."""
    blocks: list[Any] = [{"type": "text", "text": "a"}, {"type": "new", "data": b"x"}]
    with pytest.raises(foldline.InvalidTranscript, match=r"content\[1\]: cannot be written as JSON"):
        compact([{"role": "user", "content": blocks}], to=100, format=format)


@pytest.mark.parametrize("pin", ["", " ", "\n\t", None, b"question 3", 1.0, True, False, ("question", 3)])
def test_a_pin_that_says_nothing_is_refused(pin: Any) -> None:
    """Each would keep everything, or the message with the ordinal that `True` happens to equal."""
    with pytest.raises(InvalidOption) as caught:
        compact(TALK, to=800, pins=[pin])
    assert (caught.value.option, caught.value.value) == ("pin", pin)


@pytest.mark.parametrize("pin", ["t-one", 'grep "café"', "caf\\u00e9", "found it"])
def test_a_pin_finds_a_call_by_its_id_and_by_its_arguments(pin: str) -> None:
    """Law PIN: the words of a command are words of the message, however JSON spells them."""
    call = {"type": "tool_use", "id": "t-one", "name": "bash", "input": {"command": 'grep "café" menu'}}
    answer = {"type": "tool_result", "tool_use_id": "t-one", "content": "found it: caf\\u00e9"}
    work = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
    messages = [TALK[0], *work, *TALK[1:], LAST]
    out = compact(messages, to=1_000, pins=[pin], format="anthropic")
    assert out.report.outcome == "compacted"
    assert all(str(block) in str(out.messages) for block in (call, answer))


def test_a_share_of_less_than_a_token_is_said_to_be_too_small() -> None:
    """Neither system prompt nor tools stand in its way."""
    with pytest.raises(TargetUnreachable) as caught:
        compact(TALK, to=0.00001)
    assert "less than one token" in str(caught.value)
    assert "system prompt" not in str(caught.value)


@pytest.mark.parametrize("policy", POLICIES)
def test_in_a_small_window_no_policy_asks_for_what_fits_already_to_be_nothing(policy: str) -> None:
    """A reserve larger than the window leaves the window itself as the line."""
    talk = [{"role": "user", "content": "word " * 60}, {"role": "assistant", "content": "yes"}, LAST]
    report = compact(talk, model="gpt-4", policy=policy).report
    assert (report.outcome, report.tokens_target) == ("unchanged", None)


def test_a_policy_with_nothing_to_reduce_with_does_not_speak_of_a_smallest_history() -> None:
    """The history is over the window of 8,192 tokens, and `reserve` has a model do the work."""
    with pytest.raises(TargetUnreachable) as caught:
        compact(TALK * 5, model="gpt-4", policy="reserve")
    assert str(caught.value).startswith("the history stays at ")
    assert "smallest" not in str(caught.value)
    assert caught.value.tokens_target > 0


@pytest.mark.parametrize("messages", [["text"], [{"role": "user", "content": "a"}, None], "text", 3])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    """A world error, not a traceback of ours."""
    with pytest.raises((UnknownFormat, foldline.InvalidTranscript)):
        compact(messages, to=100)


def test_an_empty_history_is_unchanged() -> None:
    """Nothing is a history too."""
    out = compact([], to=100)
    assert (out.messages, out.report.outcome) == ([], "unchanged")


@pytest.mark.parametrize("format", CODECS)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_history_of_blank_messages_does_not_become_an_empty_one(role: str, format: str) -> None:
    """No provider takes a request without a message; the repair says what stands there and why."""
    blank = (
        {"role": role.replace("assistant", "model"), "parts": [{"text": " "}]}
        if format == "gemini"
        else {"role": role, "content": " "}
    )
    for messages in ([blank], [blank, blank]):
        out = compact(messages, to=100, format=format)
        assert len(out.messages) >= 1
        assert out.report.valid
        assert out.report.outcome == "unchanged"
        again = compact(out.messages, to=100, format=format)
        assert (again.messages, again.report.repairs) == (out.messages, ())


def test_pins_survive_verbatim() -> None:
    """Law PIN: by ordinal and by text; the very objects come back."""
    out = compact([*TALK, LAST], to=1_200, pins=[4, "answer 7:"], format="openai-chat")
    kept = {id(message) for message in out.messages}
    assert {id(TALK[4]), id(TALK[15])} <= kept


def test_limits_that_a_tool_declares_go_before_those_of_the_policy() -> None:
    """BUD-7: the tool's registration says how large its results may be."""
    plain, small = tooled(), tooled(meta={"outputProfile": 300})
    before = copy.deepcopy(small)
    by_policy = compact(plain["messages"], to=0.95, tools=plain["tools"], format="anthropic")
    by_tool = compact(small["messages"], to=0.95, tools=small["tools"], format="anthropic")
    assert by_policy.report.passes[0].name == by_tool.report.passes[0].name == "budget-reduction"
    assert len(result_in(by_tool.messages)) < len(result_in(by_policy.messages)) / 3
    assert small == before


def test_a_broken_history_is_repaired_and_the_report_says_how() -> None:
    """Law PAIR: never passed on and never fatal."""
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        ]},
        {"role": "user", "content": "and?"},
    ]  # fmt: skip
    out = compact(messages, to=1_000)
    assert [repair.kind for repair in out.report.repairs] == ["interrupted-call"]
    assert [m["role"] for m in out.messages] == ["user", "assistant", "tool", "user"]
    assert out.report.valid


def test_a_focus_without_a_model_to_heed_it_is_said_to_have_no_effect() -> None:
    """Nothing is silently passed over."""
    assert any("focus" in note for note in compact(TALK, to=500, focus="the login bug").report.notes)


def test_a_model_that_nobody_knows_is_a_note() -> None:
    """A stated default serves."""
    report = compact(TALK, to=500, model="nobody/has-this-one").report
    assert any("nobody/has-this-one" in note for note in report.notes)


def test_plain_messages_obey_the_stricter_of_two_formats() -> None:
    """interface.md: they count as `openai-chat` and obey the roles of both."""
    talk = [TALK[1], *TALK]
    assert compact(talk, to=100_000, format="openai-chat").messages[0] is TALK[1]
    opened = compact(talk, to=100_000).messages
    assert opened[0]["role"] == "user"
    assert [r.kind for r in compact(talk, to=100_000).report.repairs] == ["first-role"]


def test_a_blank_text_beside_calls_is_no_breach() -> None:
    """Law ROLE: how a chat message says that it only calls tools. As a piece of a list it is refused (MoonshotAI/kimi-cli#2395), and goes."""
    for content in ("", " ", [{"type": "text", "text": "\n"}]):
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages: list[Any] = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": content, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
        ]
        out = compact(messages, to=1_000)
        assert out.report.valid
        if isinstance(content, str):
            assert out.messages[1] is messages[1]
        else:
            assert out.messages[1] == {**messages[1], "content": None}


def test_a_large_result_beside_the_last_words_of_a_user_can_shrink() -> None:
    """Law TAIL: the words stand verbatim; the result in the same Anthropic message is clamped."""
    session = tooled()
    messages = [*session["messages"][:2], copy.deepcopy(session["messages"][2])]
    messages[2]["content"].append({"type": "text", "text": "what does it say?"})
    out = compact(messages, to=0.5, format="anthropic")
    assert out.report.outcome == "compacted"
    assert out.messages[-1]["content"][1] == {"type": "text", "text": "what does it say?"}
    assert len(result_in(out.messages)) < len(BIG) / 2


def test_the_result_is_judged_as_it_will_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Law PAIR, whatever may go wrong after the passes: the report does not vouch for what it has not looked at."""

    def without_calls(items: Any, codec: Any, **options: Any) -> list[Message]:
        return [message for message in joined(items, codec, **options) if not calls_of(message)]

    session = tooled()
    assert compact(session["messages"], to=100_000).report.valid
    monkeypatch.setattr(api, "joined", without_calls)
    report = compact(session["messages"], to=100_000).report
    assert not report.valid
    assert [violation.law for violation in report.violations] == ["PAIR"]
    assert report.messages_after == len(session["messages"]) - 1


def test_the_async_twin_gives_the_same_result() -> None:
    """Every call has an async twin with the prefix `a`; one implementation."""
    out = asyncio.run(acompact(TALK, 800))
    assert out.messages == compact(TALK, 800).messages
    with pytest.raises(InvalidOption):
        asyncio.run(acompact(TALK, 0))


SAME = """
import hashlib, json, sys
sys.path[:0] = [{paths}]
from tests.test_api import BIG, TALK, tooled
from foldline import compact
for messages, to in (([*TALK], 800), (tooled()["messages"], 0.4), (tooled()["messages"] + TALK, 900)):
    out = compact(messages, to, format="anthropic")
    report = out.report.to_dict()
    report.pop("seconds"), [one.pop("seconds") for one in report["passes"]]
    print(hashlib.sha256(json.dumps([out.messages, report]).encode()).hexdigest())
"""


def test_two_processes_with_other_hash_seeds_give_the_same_bytes() -> None:
    """Law SAME: no order of a set, no clock and no chance in what comes out, nor in its report."""
    script = SAME.format(paths=", ".join(map(repr, [os.getcwd(), *sys.path])))
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0].count("\n") == 3
    assert outputs[0] == outputs[1]


def test_words_beside_a_result_that_came_too_late_stay_in_view() -> None:
    """TRACE: the result goes to its round, which is folded; what the user said beside it is not lost with it."""
    messages = [
        {"role": "user", "content": "start"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {}}]},
        *TALK,
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "out " * 50},
                {"type": "text", "text": "REMEMBER THIS"},
            ],
        },
        {"role": "assistant", "content": "yes"},
        LAST,
    ]
    out = compact(messages, to=0.4, format="anthropic")
    assert out.report.outcome == "compacted"
    assert any("REMEMBER THIS" in str(message["content"]) for message in out.messages[-4:])


def test_a_second_compaction_replaces_the_first_summary() -> None:
    """A summary is never summarised blindly: one fold stands for the history and for the older fold together."""
    once = compact([*TALK, LAST], to=0.6, format="openai-chat")
    more = [{"role": "assistant", "content": "on it"}, *TALK, LAST]
    twice = compact([*once.messages, *more], to=900, format="openai-chat")
    folds = [m for m in twice.messages if str(m["content"]).startswith("<foldline-fold ")]
    assert len(folds) == 1
    assert str(twice.messages).count("<foldline-fold ") == 1


def test_a_mended_response_without_an_id_is_judged_with_the_call_it_answers() -> None:
    """What is written is read again to be judged; Gemini's pairs are of a history, not of a content."""
    made = foldline.compact(
        [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "i", "name": "run", "args": {}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "run", "response": {"output": "a\ud83d"}}}],
            },
            {"role": "user", "parts": [{"text": "and?"}]},
        ],
        format="gemini",
    )
    assert [repair.kind for repair in made.report.repairs] == ["lone-surrogate"]
    assert made.report.valid
