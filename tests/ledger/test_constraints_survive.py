"""A user's rules survive compaction word for word, wherever they stand and however often it is done.

Through `foldline.compact` alone, as a caller meets it; histories are made here, mostly tool output, counted by the
built-in estimator so that the whole file takes seconds.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import foldline
from foldline.core.address import read_mark

History = list[dict[str, Any]]
ROUNDS = 120
RESULT = (
    "row {n}: id={n:06d} took {n} ms, src/part_{n}.py was read and {n} lines of it were kept as they were\n"
    * 30
)
"""About 830 tokens a round, so 100,000 in all."""

ENGLISH = {
    "item": "Some notes on the work:\n- look at the logs first\n- never rename the billing_events table\n- the tests are slow",
    "clause": "While you are at it, since the audit is near and nobody wants a surprise, please do not log card numbers, and go on.",
    "question": "Could you please not touch the config in deploy/prod.yaml?",
    "code": "Start from this:\n```python\n# always close the cursor before returning\ndef read(cursor): ...\n```",
}
ENGLISH_RULES = {
    "item": "never rename the billing_events table",
    "clause": "please do not log card numbers",
    "question": "Could you please not touch the config in deploy/prod.yaml?",
    "code": "# always close the cursor before returning",
}
CHINESE = {
    "item": "几点说明：\n- 先看日志\n- 不要重命名 billing_events 表\n- 测试比较慢",
    "clause": "另外考虑到审计快到了，大家都不想出意外，禁止在日志里打印卡号，然后继续做下去。",
    "question": "能不能不要动 deploy/prod.yaml 里的配置？",
    "code": "从这里开始：\n```python\n# 返回之前必须关闭游标\ndef read(cursor): ...\n```",
}
CHINESE_RULES = {
    "item": "不要重命名 billing_events 表",
    "clause": "禁止在日志里打印卡号",
    "question": "能不能不要动 deploy/prod.yaml 里的配置？",
    "code": "# 返回之前必须关闭游标",
}
WORDINGS = [(ENGLISH[key], ENGLISH_RULES[key]) for key in ENGLISH] + [
    (CHINESE[key], CHINESE_RULES[key]) for key in CHINESE
]


def history(rounds: int, said: dict[int, str]) -> History:
    """A task, rounds of one call and its long result, and what the user says before some of them."""
    made: History = [{"role": "user", "content": "Find out why the import is slow."}]
    for number in range(rounds):
        if number in said:
            made += [{"role": "assistant", "content": "Next."}, {"role": "user", "content": said[number]}]
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "run", "arguments": json.dumps({"n": number})},
        }
        made += [
            {"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": RESULT.format(n=number)},
        ]
    return made


def compacted(messages: History, to: float) -> History:
    """By the default policy."""
    return foldline.compact(messages, to=to, counter="estimate").messages


def text_of(messages: History) -> str:
    """All text of a history."""
    return "\n".join(
        part if isinstance(part, str) else part.get("text", "")
        for message in messages
        for part in (
            message["content"] if isinstance(message["content"], list) else [message["content"] or ""]
        )
    )


def standing(messages: History) -> str:
    """All text that no mark takes back: it speaks of the text before it, all of it or what it quotes."""
    kept: list[str] = []
    for message in messages:
        content = message["content"] or ""
        for part in [content] if isinstance(content, str) else content:
            text = part if isinstance(part, str) else part.get("text", "")
            mark = read_mark(text)
            if mark is None:
                kept.append(text)
            elif not mark.quotes:
                kept.pop()
            for quote in mark.quotes if mark is not None else ():
                kept[-1] = kept[-1].replace(quote, "")
    return "\n".join(kept)


PLAIN_RULES = (
    "You're not allowed to delete anything in the bucket acme-prod.",
    "We can't add dependencies.",
    "In no case touch the table orders.",
    "Stay out of src/db.",
    "Hold off on pushing.",
    "You are allowed to edit src/ only.",
    "Work in the feature branch only.",
    "I'm allergic to nuts.",
    "Tests are not optional.",
    "接口不能变。",
    "绝对不能 force push。",
    "I will do the commits myself.",
)
BACKGROUND = (
    "Report {n} of the support team came last week. The shop was written in 2019 by two people who have left since. The "
    "checkout talks to {n} services and the admin pages are rendered on the server. Some customers see the wrong total "
    "after they change the delivery country, and it seems to happen mostly on phones of maker {n}. The mails of {n} customers "
    "with their pictures lie in the shared folder, together with what the first look at the database gave us that evening. "
)


@pytest.mark.parametrize("to", [0.1, 0.05])
def test_rules_in_plain_words_at_the_end_of_long_messages_are_in_view(to: float) -> None:
    """CMP-8: however it is worded. Nothing but the words tells such a sentence from the background before it."""
    said = {n * 3: BACKGROUND.format(n=n) + rule for n, rule in enumerate(PLAIN_RULES)}
    view = text_of(compacted(history(36, said), to))
    assert [rule for rule in PLAIN_RULES if rule not in view] == []


@pytest.mark.parametrize("place", [0, ROUNDS // 2, ROUNDS - 1], ids=["top", "middle", "end"])
@pytest.mark.parametrize(("message", "rule"), WORDINGS)
def test_a_rule_is_in_a_tenth_of_the_history_verbatim(place: int, message: str, rule: str) -> None:
    """CMP-8; kind lost-constraints (bastani-inc/atomic#2172)."""
    assert rule in text_of(compacted(history(ROUNDS, {place: message}), 0.1))


@pytest.mark.parametrize("rules", [ENGLISH_RULES, CHINESE_RULES], ids=["en", "zh"])
def test_five_compactions_in_a_row_keep_every_rule(rules: dict[str, str]) -> None:
    """CMP-16: a ledger is carried forward; no summary of a summary loses a rule."""
    said = {4 * index: rule for index, rule in enumerate(rules.values())}
    messages = history(20, said)
    target = foldline.compact(messages, to=0.2, counter="estimate").report.tokens_target or 0
    for turn in range(5):
        messages = foldline.compact(messages, to=target, counter="estimate").messages
        assert [rule for rule in rules.values() if rule not in text_of(messages)] == [], turn
        messages = messages + history(20, {})[1:]


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("The port is 8080.", "The port is 9090 now.", "8080"),
        ("Delivery is on Tuesday.", "Change: delivery moves to Wednesday.", "Tuesday"),
        ("端口是 8080。", "端口改成 9090。", "8080"),
    ],
)
def test_an_updated_value_stands_only_in_its_newest_form(old: str, new: str, gone: str) -> None:
    """Derived lines show the newest value alone, and what was said before is marked."""
    left = compacted(history(30, {2: old, 9: new}), 0.2)
    assert new in standing(left)
    assert gone not in "".join(line for line in standing(left).splitlines() if not line.startswith("row "))


def test_near_duplicates_stay_distinct() -> None:
    """Two keys that resemble each other are two facts."""
    said = {
        2: "The staging port is 8181.",
        5: "The production port is 9191.",
        8: "Uploads time out after 30s, downloads after 60s.",
    }
    left = standing(compacted(history(30, said), 0.2))
    assert [text for text in said.values() if text not in left] == []


def test_a_task_that_was_dropped_is_marked_and_the_newest_stands() -> None:
    """NousResearch/hermes-agent#41607."""
    said = {3: "Task A: restructure section X.", 9: "Task B instead: fix the reasoning in file Z. Drop A."}
    left = compacted(history(30, said), 0.2)
    assert "Task A: restructure" not in standing(left)
    assert "Task B instead: fix the reasoning in file Z. Drop A." in standing(left)
