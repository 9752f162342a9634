"""The judge of Gemini generateContent bodies: every rule catches one broken body and lets its mended twin pass.

A checker that cannot fail is a defect (code-yeongyu/oh-my-openagent#6605: a validator that looked for block types
which never occur). Each entry below changes one thing in a body that is fine otherwise.
"""

from __future__ import annotations

import pytest

from foldline.testing.judges import gemini
from tests.testing.judges.samples import GEMINI, Change, cases, caught, gemini_call, gemini_response, png

BREAKS: dict[str, list[Change]] = {
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
    "roles": [
        lambda b: b["contents"][4].update(role="function"),
        lambda b: b["contents"][2].update(role="assistant"),
    ],
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


@pytest.mark.parametrize(("rule", "change"), cases(BREAKS))
def test_a_broken_body_is_caught_by_its_rule(rule: str, change: Change) -> None:
    """Each rule's source stands beside the rule in the judge's table."""
    assert rule in caught(gemini, GEMINI, change=change)


def test_every_rule_has_a_broken_body_and_a_source() -> None:
    """No rule without a proof that it can fail."""
    assert {rule.name for rule in gemini.RULES} == set(BREAKS)
    assert len(gemini.RULES) == len({rule.name for rule in gemini.RULES})
    assert all(rule.source for rule in gemini.RULES)
