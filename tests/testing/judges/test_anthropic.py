"""The judge of Anthropic Messages bodies: every rule catches one broken body and lets its mended twin pass.

A checker that cannot fail is a defect (code-yeongyu/oh-my-openagent#6605: a validator that looked for block types
which never occur). Each entry below changes one thing in a body that is fine otherwise.
"""

from __future__ import annotations

import base64

import pytest

from foldline.testing.judges import anthropic
from tests.testing.judges.samples import (
    ANTHROPIC,
    THOUGHT,
    Body,
    Change,
    call,
    cases,
    caught,
    document,
    image,
    png,
    result,
    text,
)

BREAKS: dict[str, list[Change]] = {
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
        lambda b: b["messages"][7]["content"][0].update(is_error=True, content=""),
        lambda b: b["messages"][7]["content"][0].update(is_error=True, content=[]),
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
        lambda b: (
            b["messages"][3]["content"].pop(1) and b["messages"][3]["content"][0].update(type="mcp_tool_use")
        ),
    ],
}


@pytest.mark.parametrize(("rule", "change"), cases(BREAKS))
def test_a_broken_body_is_caught_by_its_rule(rule: str, change: Change) -> None:
    """Each rule's source stands beside the rule in the judge's table."""
    assert rule in caught(anthropic, ANTHROPIC, change=change)


def test_every_rule_has_a_broken_body_and_a_source() -> None:
    """No rule without a proof that it can fail."""
    assert {rule.name for rule in anthropic.RULES} == set(BREAKS)
    assert len(anthropic.RULES) == len({rule.name for rule in anthropic.RULES})
    assert all(rule.source for rule in anthropic.RULES)


def test_the_call_of_a_connected_server_has_its_result_behind_it() -> None:
    """SDK types/beta/beta_mcp_tool_use_block_param.py: `mcp_tool_use`, then `mcp_tool_result`."""
    called = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "s", "input": {}}
    told = {
        "type": "mcp_tool_result",
        "tool_use_id": "mcptoolu_1",
        "is_error": False,
        "content": [text("hi")],
    }
    body: Body = {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [called, told, text("ok")]},
            {"role": "user", "content": "next"},
        ]
    }
    assert anthropic.violations(body) == []
    body["messages"][1]["content"].pop(0)
    assert anthropic.violations(body) == [
        "server-tools at messages.1.content.0: mcp_tool_result without its call before it"
    ]


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
