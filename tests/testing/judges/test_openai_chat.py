"""The judge of OpenAI Chat Completions bodies: every rule catches one broken body and lets its mended twin pass.

A checker that cannot fail is a defect (code-yeongyu/oh-my-openagent#6605: a validator that looked for block types
which never occur). Each entry below changes one thing in a body that is fine otherwise.
"""

from __future__ import annotations

import pytest

from foldline.testing.judges import openai_chat
from tests.testing.judges.samples import CHAT, Change, cases, caught, chat_call, chat_image, png, text

BREAKS: dict[str, list[Change]] = {
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


@pytest.mark.parametrize(("rule", "change"), cases(BREAKS))
def test_a_broken_body_is_caught_by_its_rule(rule: str, change: Change) -> None:
    """Each rule's source stands beside the rule in the judge's table."""
    assert rule in caught(openai_chat, CHAT, change=change)


def test_every_rule_has_a_broken_body_and_a_source() -> None:
    """No rule without a proof that it can fail."""
    assert {rule.name for rule in openai_chat.RULES} == set(BREAKS)
    assert len(openai_chat.RULES) == len({rule.name for rule in openai_chat.RULES})
    assert all(rule.source for rule in openai_chat.RULES)
