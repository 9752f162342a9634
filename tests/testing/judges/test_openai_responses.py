"""The judge of OpenAI Responses bodies: every rule catches one broken body and lets its mended twin pass.

A checker that cannot fail is a defect (code-yeongyu/oh-my-openagent#6605: a validator that looked for block types
which never occur). Each entry below changes one thing in a body that is fine otherwise.
"""

from __future__ import annotations

import pytest

from foldline.testing.judges import openai_responses
from tests.testing.judges.samples import RESPONSES, Change, cases, caught

BREAKS: dict[str, list[Change]] = {
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


@pytest.mark.parametrize(("rule", "change"), cases(BREAKS))
def test_a_broken_body_is_caught_by_its_rule(rule: str, change: Change) -> None:
    """Each rule's source stands beside the rule in the judge's table."""
    assert rule in caught(openai_responses, RESPONSES, change=change)


def test_every_rule_has_a_broken_body_and_a_source() -> None:
    """No rule without a proof that it can fail."""
    assert {rule.name for rule in openai_responses.RULES} == set(BREAKS)
    assert len(openai_responses.RULES) == len({rule.name for rule in openai_responses.RULES})
    assert all(rule.source for rule in openai_responses.RULES)
