"""The judges themselves: every rule catches one broken body and lets its mended twin pass.

A checker that cannot fail is a defect (code-yeongyu/oh-my-openagent#6605: a validator that looked for block types
which never occur). Each entry below changes one thing in a body that is fine otherwise.
"""

from __future__ import annotations

import base64
import copy
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.judges import anthropic, gemini, openai_chat, openai_responses

Body = dict[str, Any]
Change = Callable[[Body], object]


def png(width: int = 8, height: int = 8) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)).decode()


def image(width: int = 8, data: str | None = None, media_type: str = "image/png") -> Body:
    source = {"type": "base64", "media_type": media_type, "data": data if data is not None else png(width)}
    return {"type": "image", "source": source}


def document(data: bytes = b"%PDF-1.7", media_type: str = "application/pdf") -> Body:
    encoded = base64.b64encode(data).decode()
    return {"type": "document", "source": {"type": "base64", "media_type": media_type, "data": encoded}}


def text(words: str) -> Body:
    return {"type": "text", "text": words}


def call(name: str) -> Body:
    return {"type": "tool_use", "id": name, "name": "ls", "input": {}}


def result(name: str, content: Any = "a b") -> Body:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "QUJD"}
ANTHROPIC: Body = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": [text("list"), image(), document()]},
        {"role": "assistant", "content": [THOUGHT, text("Listing."), call("t1"), call("t2")]},
        {"role": "user", "content": [result("t1"), result("t2", [text("x"), image()]), text("go on")]},
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
                text("Found."),
            ],
        },
        {"role": "user", "content": "now?"},
        {"role": "system", "content": "The user is away."},
        {"role": "assistant", "content": [THOUGHT, call("t3")]},
        {"role": "user", "content": [result("t3", "")]},
    ],
}

ANTHROPIC_BREAKS: dict[str, list[Change]] = {
    "shape": [
        lambda b: b.pop("messages"),
        lambda b: b["messages"][4].pop("role"),
        lambda b: b["messages"][4].update(content=None),
        lambda b: b["messages"][4].update(id="msg_1"),
        lambda b: b["messages"][0]["content"].append("text"),
        lambda b: b["messages"][1]["content"][2].update(input="{}"),
        lambda b: b["messages"][1]["content"][2].update(text=""),
        lambda b: b["messages"][1]["content"][0].pop("signature"),
        lambda b: b["messages"][1]["content"][0].update(cache_control={"type": "ephemeral"}),
        lambda b: b["messages"][2]["content"][0].update(content=7),
        lambda b: b["messages"][2]["content"][1]["content"].append(call("t9")),
        lambda b: b["messages"][2]["content"][0].update(is_error="no"),
        lambda b: b["messages"][0]["content"][0].update(text=3),
        lambda b: b["messages"][3]["content"][0].pop("id"),
        lambda b: b.update(system=[3]),
        lambda b: b.update(tools="[]"),
    ],
    "json": [
        lambda b: b["messages"][4].update(content="ok \ud83d [truncated]"),
        lambda b: b["messages"][1]["content"][2].update(input={"n": float("nan")}),
        lambda b: b["messages"][2]["content"][0].update(content="\udc00"),
    ],
    "size": [lambda b: b["messages"][4].update(content="x" * (32 * 1024 * 1024))],
    "count": [lambda b: b.update(messages=[])],
    "kinds": [lambda b: b["messages"][4].update(content=[{"type": "toolCall", "id": "t9"}])],
    "roles": [lambda b: b["messages"][4].update(role="developer")],
    "first-user": [lambda b: b["messages"].insert(0, {"role": "assistant", "content": "Hello."})],
    "system-place": [
        lambda b: b["messages"].insert(0, {"role": "system", "content": "first"}),
        lambda b: b["messages"].insert(5, {"role": "system", "content": "two in a row"}),
        lambda b: (
            b["messages"].insert(3, {"role": "system", "content": "x"})
            or b["messages"].insert(4, {"role": "user", "content": "y"})
        ),
        lambda b: b["messages"].insert(4, {"role": "system", "content": "after a plain answer"}),
        lambda b: b["messages"][5].update(content=[image()]),
    ],
    "block-roles": [
        lambda b: b["messages"][4].update(content=[text("x"), call("t9")]),
        lambda b: b["messages"][3]["content"].append(result("t9")),
        lambda b: b["messages"][4].update(content=[THOUGHT]),
    ],
    "empty": [
        lambda b: b["messages"][4].update(content=""),
        lambda b: b["messages"][4].update(content=[]),
        lambda b: b["messages"][4].update(content=" \n"),
        lambda b: b["messages"][1]["content"].insert(1, text("")),
        lambda b: b["messages"][1]["content"].insert(1, text("\n\n")),
        lambda b: b["messages"].insert(3, {"role": "assistant", "content": []}),
        lambda b: b.update(system=" "),
        lambda b: b.update(system=[text("")]),
    ],
    "ids": [
        lambda b: b["messages"][6]["content"][1].update(id="functions.Bash:0"),
        lambda b: b["messages"][7]["content"][0].update(tool_use_id=""),
        lambda b: b["messages"][7]["content"][0].update(tool_use_id="t3\n"),
    ],
    "ids-once": [
        lambda b: b["messages"][1]["content"].append(call("t1")),
        lambda b: (
            b["messages"][6]["content"][1].update(id="t1")
            or b["messages"][7]["content"][0].update(tool_use_id="t1")
        ),
    ],
    "names": [
        lambda b: b["messages"][6]["content"][1].update(name="x" * 201),
        lambda b: b["messages"][6]["content"][1].update(name=""),
    ],
    "answered": [
        lambda b: b["messages"][2]["content"].pop(0),
        lambda b: b["messages"].pop(),
        lambda b: b["messages"].insert(2, {"role": "user", "content": "hello?"}),
        lambda b: b["messages"].insert(2, {"role": "assistant", "content": "hm"}),
    ],
    "called": [
        lambda b: b["messages"][2]["content"].insert(0, result("zz")),
        lambda b: b["messages"].pop(1),
        lambda b: b["messages"].insert(0, {"role": "user", "content": [result("t1")]}),
    ],
    "answered-once": [lambda b: b["messages"][2]["content"].insert(0, result("t1", "pending"))],
    "results-first": [
        lambda b: b["messages"][2]["content"].insert(0, text("Here are the results:")),
        lambda b: b["messages"][2]["content"].insert(1, text("between")),
    ],
    "signed": [
        lambda b: b["messages"][1]["content"][0].update(signature=""),
        lambda b: b["messages"][1]["content"].insert(0, {"type": "redacted_thinking", "data": ""}),
    ],
    "thinking-last": [lambda b: b["messages"].insert(3, {"role": "assistant", "content": [THOUGHT]})],
    "thinking-first": [
        lambda b: b["messages"][6]["content"].insert(0, text("First words.")),
        lambda b: b["messages"][6]["content"].pop(0) and b.update(thinking={"type": "enabled"}),
        lambda b: (
            b["messages"][1]["content"].append(b["messages"][1]["content"].pop(0))
            or b["messages"][1]["content"].append(text("x"))
        ),
    ],
    "images": [
        lambda b: b["messages"][0]["content"].append(image(data="iVBORw0K…")),
        lambda b: b["messages"][0]["content"].append(image(data=png()[:-3])),
        lambda b: b["messages"][0]["content"].append(image(media_type="image/tiff")),
        lambda b: b["messages"][0]["content"].append(image(media_type="image/jpeg")),
        lambda b: b["messages"][0]["content"].append(image(width=8001)),
        lambda b: b["messages"][2]["content"][1]["content"].append(image(width=8001)),
        lambda b: b["messages"][0]["content"].extend([image(width=2001)] * 21),
        lambda b: b["messages"][0]["content"].extend([image()] * 101),
        lambda b: b["messages"][0]["content"].append(
            image(data=base64.b64encode(base64.b64decode(png()) + bytes(4_000_000)).decode())
        ),
        lambda b: b["messages"][0]["content"].append({"type": "image", "source": {"type": "file"}}),
        lambda b: b["messages"][0]["content"].append({"type": "image", "source": {"type": "blob"}}),
    ],
    "documents": [
        lambda b: b["messages"][0]["content"].append(document(b"PK")),
        lambda b: b["messages"][0]["content"].append(document(media_type="application/zip")),
        lambda b: b["messages"][0]["content"].append({"type": "document", "source": {"type": "url"}}),
        lambda b: b["messages"][0]["content"].append({"type": "document", "source": {"type": "x"}}),
        lambda b: b["messages"][0]["content"].append({"type": "document", "source": {"type": "content"}}),
        lambda b: b["messages"][0]["content"].append(
            {"type": "document", "source": {"type": "text", "media_type": "text/html", "data": "x"}}
        ),
    ],
    "cache-marks": [
        lambda b: b["messages"][0].update(
            content=[{**text(str(n)), "cache_control": {"type": "ephemeral"}} for n in range(5)]
        )
    ],
    "server-tools": [
        lambda b: b["messages"][3]["content"].pop(0),
        lambda b: b["messages"][3]["content"].pop(1),
    ],
}


def chat_call(name: str) -> Body:
    return {"id": name, "type": "function", "function": {"name": "ls", "arguments": "{}"}}


def chat_image(url: str) -> Body:
    return {"type": "image_url", "image_url": {"url": url}}


CHAT: Body = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [text("list"), chat_image("data:image/png;base64," + png())]},
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1"), chat_call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": "b"},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": "", "tool_calls": [chat_call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": [text("a")]},
    ]
}

CHAT_BREAKS: dict[str, list[Change]] = {
    "shape": [
        lambda b: b.update(messages={}),
        lambda b: b["messages"].append("hello"),
        lambda b: b["messages"][6].update(content=3),
        lambda b: b["messages"][1]["content"].append("x"),
        lambda b: b["messages"][3].pop("tool_call_id"),
        lambda b: b["messages"][5].update(tool_calls=[]),
        lambda b: b["messages"][6].update(tool_calls=[chat_call("c9")]),
        lambda b: b["messages"][7]["tool_calls"][0].pop("id"),
        lambda b: b["messages"][7]["tool_calls"][0].pop("type"),
        lambda b: b["messages"][7]["tool_calls"][0]["function"].update(arguments={"p": 1}),
    ],
    "json": [lambda b: b["messages"][6].update(content="\ud83d")],
    "count": [lambda b: b.update(messages=[])],
    "roles": [lambda b: b["messages"][6].update(role="human")],
    "part-kinds": [
        lambda b: b["messages"][5].update(content=[chat_image("https://example.com/a.png")]),
        lambda b: b["messages"][8].update(content=[chat_image("https://example.com/a.png")]),
        lambda b: b["messages"][6].update(content=[{"type": "tool_result"}]),
        lambda b: b["messages"][6].update(content=[{"type": "text"}]),
    ],
    "content": [
        lambda b: b["messages"][5].update(content=None),
        lambda b: b["messages"][5].update(content=""),
        lambda b: b["messages"][6].update(content=" \n"),
        lambda b: b["messages"][6].update(content=[]),
        lambda b: b["messages"][3].update(content=None),
    ],
    "blank-parts": [
        lambda b: b["messages"][6].update(content=[text(" ")]),
        lambda b: b["messages"][7].update(content=[text("")]),
    ],
    "ids": [
        lambda b: (
            b["messages"][7]["tool_calls"][0].update(id="c" * 41)
            or b["messages"][8].update(tool_call_id="c" * 41)
        ),
        lambda b: b["messages"][7]["tool_calls"][0].update(id="") or b["messages"][8].update(tool_call_id=""),
    ],
    "ids-once": [lambda b: b["messages"][2]["tool_calls"].append(chat_call("c1"))],
    "names": [
        lambda b: b["messages"][7]["tool_calls"][0]["function"].update(name="fs.read"),
        lambda b: b["messages"][7]["tool_calls"][0]["function"].update(name="x" * 65),
    ],
    "answered": [
        lambda b: b["messages"].pop(3),
        lambda b: b["messages"].pop(),
        lambda b: b["messages"].insert(3, {"role": "user", "content": "wait"}),
    ],
    "called": [
        lambda b: b["messages"].pop(2),
        lambda b: b["messages"].append({"role": "tool", "tool_call_id": "zz", "content": "late"}),
        lambda b: b["messages"].insert(2, {"role": "tool", "tool_call_id": "c1", "content": "early"}),
    ],
    "answered-once": [lambda b: b["messages"].append(dict(b["messages"][8]))],
    "images": [
        lambda b: b["messages"][1]["content"].append(chat_image("")),
        lambda b: b["messages"][1]["content"].append(chat_image("/tmp/a.png")),
        lambda b: b["messages"][1]["content"].append(chat_image("data:image/png;base64,####")),
        lambda b: b["messages"][1]["content"].append(chat_image("data:image/jpeg;base64," + png())),
        lambda b: b["messages"][1]["content"].append(chat_image("data:image/png," + png())),
        lambda b: b["messages"][1]["content"][1]["image_url"].update(detail="tiny"),
    ],
}

RESPONSES: Body = {
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "QUJD"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": "b"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_image", "image_url": "data:image/png;base64," + png()}],
        },
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
        {"role": "user", "content": "patch"},
        {"type": "custom_tool_call", "call_id": "c3", "name": "patch", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c3", "output": "ok"},
    ],
}

RESPONSES_BREAKS: dict[str, list[Change]] = {
    "shape": [
        lambda b: b.pop("input"),
        lambda b: b.update(instructions=["x"]),
        lambda b: b["input"].append("x"),
        lambda b: b["input"][8].pop("content"),
        lambda b: b["input"][1].pop("summary"),
        lambda b: b["input"][2].update(arguments={}),
        lambda b: b["input"][2].pop("call_id"),
        lambda b: b["input"][4].update(output={"body": "b"}),
        lambda b: b["input"][7]["content"].append("x"),
    ],
    "json": [lambda b: b["input"][8].update(content="\ud83d")],
    "count": [lambda b: b.update(input=[]), lambda b: b.update(input="")],
    "kinds": [lambda b: b["input"].append({"type": "ghost_snapshot"})],
    "roles": [lambda b: b["input"][8].update(role="tool")],
    "part-kinds": [
        lambda b: b["input"][7].update(content=[{"type": "input_text", "text": "x"}]),
        lambda b: b["input"][0].update(content=[{"type": "output_text", "text": "x"}]),
        lambda b: b["input"][4].update(output=[{"type": "output_text", "text": "x"}]),
        lambda b: b["input"][0].update(content=[{"type": "input_text"}]),
    ],
    "content": [
        lambda b: b["input"][8].update(content=" "),
        lambda b: b["input"][8].update(content=[]),
        lambda b: b["input"][7].update(content=[{"type": "output_text", "text": "\n"}]),
    ],
    "ids": [
        lambda b: b["input"][9].update(call_id="c" * 65) or b["input"][10].update(call_id="c" * 65),
        lambda b: b["input"][9].update(call_id="") or b["input"][10].update(call_id=""),
    ],
    "ids-once": [
        lambda b: b["input"][3].update(id="fc_1"),
        lambda b: b["input"][3].update(call_id="c1") or b["input"].pop(4),
        lambda b: b["input"][6].update(id="rs_1"),
    ],
    "names": [lambda b: b["input"][2].update(name="functions.ls")],
    "answered": [lambda b: b["input"].pop(5), lambda b: b["input"].pop()],
    "called": [
        lambda b: b["input"].pop(2),
        lambda b: b["input"].insert(0, b["input"].pop(4)),
        lambda b: b["input"].append({"type": "function_call_output", "call_id": "c3", "output": ""}),
    ],
    "answered-once": [lambda b: b["input"].insert(4, dict(b["input"][4]))],
    "reasoning-followed": [
        lambda b: b["input"].append({"type": "reasoning", "id": "rs_3", "summary": []}),
        lambda b: b["input"].pop(7),
        lambda b: b["input"].insert(4, {"type": "reasoning", "id": "rs_3", "summary": []}),
    ],
    "images": [
        lambda b: b["input"][0]["content"].append({"type": "input_image"}),
        lambda b: b["input"][0]["content"].append(
            {"type": "input_image", "image_url": "data:image/png;base64,#"}
        ),
        lambda b: b["input"][5]["output"][0].update(image_url="data:image/png;base64,AAAA"),
    ],
}


def gemini_call(name: str) -> Body:
    return {"functionCall": {"name": name, "args": {}}}


def gemini_response(name: str) -> Body:
    return {"functionResponse": {"name": name, "response": {"output": "a"}}}


GEMINI: Body = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "list"}, {"inlineData": {"mimeType": "image/png", "data": png()}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {**gemini_call("ls"), "thoughtSignature": "QUJD"},
                gemini_call("cat"),
            ],
        },
        {"role": "user", "parts": [gemini_response("cat"), gemini_response("ls")]},
        {"role": "model", "parts": [{"text": "Done."}, {"text": "", "thoughtSignature": "QUJD"}]},
        {"parts": [{"text": "again"}]},
        {"role": "model", "parts": [{"function_call": {"id": "g1", "name": "ls"}}]},
        {"role": "user", "parts": [{"function_response": {"id": "g1", "name": "ls", "response": {}}}]},
    ],
}

GEMINI_BREAKS: dict[str, list[Change]] = {
    "shape": [
        lambda b: b.pop("contents"),
        lambda b: b["contents"][4].pop("parts"),
        lambda b: b["contents"][4].update(content="x"),
        lambda b: b["contents"][4]["parts"].append("x"),
        lambda b: b["contents"][4]["parts"].append({"text": "x", "functionCall": {"name": "ls"}}),
        lambda b: b["contents"][4]["parts"].append({"thought": True}),
        lambda b: b["contents"][4]["parts"].append({"text": "x", "type": "text"}),
        lambda b: b["contents"][4]["parts"].append({"text": 3}),
        lambda b: b["contents"][1]["parts"][2]["functionCall"].update(args="{}"),
        lambda b: b["contents"][1]["parts"][2]["functionCall"].pop("name"),
        lambda b: b["contents"][2]["parts"][0]["functionResponse"].update(response="a"),
    ],
    "json": [lambda b: b["contents"][4]["parts"][0].update(text="\ud83d")],
    "size": [lambda b: b["contents"][4]["parts"][0].update(text="x" * (20 * 1024 * 1024))],
    "count": [lambda b: b.update(contents=[]), lambda b: b["contents"][4].update(parts=[])],
    "roles": [lambda b: b["contents"][2].update(role="function")],
    "first-user": [lambda b: b["contents"].insert(0, {"role": "model", "parts": [{"text": "Hello."}]})],
    "part-roles": [
        lambda b: b["contents"][4]["parts"].append(gemini_call("ls")),
        lambda b: b["contents"][3]["parts"].append(gemini_response("ls")),
    ],
    "call-place": [
        lambda b: b["contents"].insert(5, {"role": "model", "parts": [{"text": "Let me see."}]}),
        lambda b: b["contents"].pop(0),
    ],
    "answered": [
        lambda b: b["contents"][2]["parts"].pop(),
        lambda b: b["contents"].pop(2),
        lambda b: b["contents"].pop(),
        lambda b: b["contents"][2]["parts"].append(gemini_response("ls")),
        lambda b: b["contents"][2]["parts"][0]["functionResponse"].update(name="rm"),
    ],
    "called": [
        lambda b: b["contents"].pop(1),
        lambda b: b["contents"][4]["parts"].append(gemini_response("ls")),
    ],
    "ids": [
        lambda b: b["contents"][6]["parts"][0]["function_response"].update(id="g2"),
        lambda b: [part["functionCall"].update(id="g0") for part in b["contents"][1]["parts"][1:]],
    ],
    "empty": [
        lambda b: b["contents"][4]["parts"][0].update(text=""),
        lambda b: b["contents"][3]["parts"].append({"text": "\n "}),
    ],
    "signatures": [lambda b: b["contents"][1]["parts"][1].update(thoughtSignature="QUJ…")],
    "media": [
        lambda b: b["contents"][0]["parts"][1]["inlineData"].update(data=png()[:-2]),
        lambda b: b["contents"][0]["parts"][1]["inlineData"].update(mimeType="image/jpeg"),
        lambda b: b["contents"][0]["parts"][1]["inlineData"].pop("mimeType"),
        lambda b: b["contents"][0]["parts"].append({"fileData": {"mimeType": "image/png"}}),
        lambda b: b["contents"][0]["parts"].append({"inlineData": "x"}),
    ],
    "system": [
        lambda b: b.update(systemInstruction="Be brief."),
        lambda b: b.update(systemInstruction={"parts": []}),
        lambda b: b.update(systemInstruction={"parts": [{"text": " "}]}),
        lambda b: (
            b.pop("systemInstruction"),
            b.update(system_instruction={"parts": [{"inlineData": {}}]}),
        ),
    ],
}

JUDGES: dict[ModuleType, tuple[Body, dict[str, list[Change]]]] = {
    anthropic: (ANTHROPIC, ANTHROPIC_BREAKS),
    openai_chat: (CHAT, CHAT_BREAKS),
    openai_responses: (RESPONSES, RESPONSES_BREAKS),
    gemini: (GEMINI, GEMINI_BREAKS),
}


def short(judge: ModuleType) -> str:
    return judge.__name__.rpartition(".")[2]


@pytest.mark.parametrize("judge", JUDGES, ids=short)
def test_a_body_with_everything_in_its_place_has_no_violation(judge: ModuleType) -> None:
    """The good twin of every broken body below."""
    assert judge.violations(copy.deepcopy(JUDGES[judge][0])) == []


@pytest.mark.parametrize(
    ("judge", "rule", "change"),
    [
        pytest.param(judge, rule, change, id=f"{short(judge)}-{rule}-{index}")
        for judge, (_, breaks) in JUDGES.items()
        for rule, changes in breaks.items()
        for index, change in enumerate(changes)
    ],
)
def test_a_broken_body_is_caught_by_its_rule(judge: ModuleType, rule: str, change: Change) -> None:
    """Each rule's source stands beside the rule in the judge's table."""
    body = copy.deepcopy(JUDGES[judge][0])
    change(body)
    assert [line for line in judge.violations(body) if line.startswith(f"{rule} at ")]


@pytest.mark.parametrize("judge", JUDGES, ids=short)
def test_every_rule_has_a_broken_body_and_a_source(judge: ModuleType) -> None:
    """No rule without a proof that it can fail."""
    assert {rule.name for rule in judge.RULES} == set(JUDGES[judge][1])
    assert len(judge.RULES) == len({rule.name for rule in judge.RULES})
    assert all(rule.source for rule in judge.RULES)


@pytest.mark.parametrize("judge", JUDGES, ids=short)
def test_calls_of_the_last_answer_may_wait_only_when_told_so(judge: ModuleType) -> None:
    """An open round: the session was saved before its results came."""
    body = copy.deepcopy(JUDGES[judge][0])
    next(iter(value for key, value in body.items() if isinstance(value, list))).pop()
    assert [line.partition(" at ")[0] for line in judge.violations(body)] == ["answered"]
    assert judge.violations(body, open_tail=True) == []


def test_no_judge_knows_the_product() -> None:
    """A wrong law must not be able to approve itself: the judges share no code with it."""
    folder = Path(__file__).parent
    sources = {
        path.name: path.read_text("utf-8")
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
    assert [
        name for name, source in sources.items() if re.search(r"^\s*(from|import) foldline", source, re.M)
    ] == []


def test_too_many_messages_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """SDK types/message_create_params.py: 100,000 in a single request; a smaller bound stands in for it here."""
    assert anthropic.MESSAGES_MAX == 100_000
    monkeypatch.setattr(anthropic, "MESSAGES_MAX", 7)
    assert anthropic.violations(ANTHROPIC) == ["count at messages: more than 7"]


def test_one_of_two_parallel_results_may_be_missing_at_an_open_tail() -> None:
    """Calls awaiting approval: a part of a round is answered, the rest waits."""
    body: Body = {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [call("t1"), call("t2")]},
            {"role": "user", "content": [result("t2")]},
        ]
    }
    assert anthropic.violations(body, open_tail=True) == []
    assert len(anthropic.violations(body)) == 1


@pytest.mark.parametrize("judge", JUDGES, ids=short)
def test_a_judge_never_fails_on_json_it_does_not_expect(judge: ModuleType) -> None:
    """A validator that crashes on a broken body tells less than one that says what is wrong."""
    good = JUDGES[judge][0]
    for junk in (None, True, 3, "x", [], {}, [None], {"type": 7}):
        for place in _places(good):
            body = copy.deepcopy(good)
            *way, last = place
            inside: Any = body
            for step in way:
                inside = inside[step]
            inside[last] = junk
            assert isinstance(judge.violations(body), list), json.dumps(body)


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in ([(*way, key), *_places(value[key], (*way, key))])]
