"""What a person asks for is found as it was written; an answer is told from a request.

Whether a request was served is not to be seen in one text, so nothing here says it.
"""

from __future__ import annotations

import pytest

from foldline.ledger.requests import is_answer, requests


@pytest.mark.parametrize(
    "text",
    [
        "Send one test ping to peer.",
        "Keep the rollout notes.",
        "Task A: restructure section X.",
        "Clean the db.",
        "could you make this less dumb and more concise?",
        "alright, let's tackle main-new.ts",
        "请修复登录问题",
        "帮我写一个 TODO 应用",
        "로그 확인해줘",
        "ログを確認してください",
        "Pode aplicar a correção?",
        "move config.ts to src/",
    ],
)
def test_an_ask_is_found_word_for_word(text: str) -> None:
    """NousResearch/hermes-agent#41607, openai/codex#27731, openclaw/openclaw#123737: open asks are kept in their words."""
    assert [asked.text for asked in requests(text) if asked.kind == "task"] == [text]


def test_each_item_of_a_list_is_an_ask() -> None:
    """Bullets and numbers are no part of it."""
    found = requests("Please:\n1. add tests\n2. fix the docs\n")
    assert [asked.text for asked in found] == ["Please:", "add tests", "fix the docs"]


def test_a_question_is_told_from_a_task() -> None:
    """ "why are there two?" asks for words, not for work."""
    assert [asked.kind for asked in requests("why are there 2 subscription handlers?")] == ["question"]


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "ok, go ahead",
        "Option B",
        "B",
        "2",
        "thanks!",
        "好的",
        "可以",
        "네",
        "はい",
        "the second one",
        "no",
    ],
)
def test_an_answer_asks_for_nothing(text: str) -> None:
    """Law of the ledger: an answer is no new objective."""
    assert is_answer(text)
    assert requests(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "yes, and add a test for it",
        "no, use Postgres for the cache instead",
        "go fix the login bug",
        "好的，再加一个测试",
    ],
)
def test_more_than_an_answer_is_no_answer(text: str) -> None:
    """What follows the yes counts."""
    assert not is_answer(text)


def test_an_item_of_a_list_of_what_is_forbidden_asks_for_nothing() -> None:
    """An open request would tell the agent to do what it must not."""
    text = "Never:\n- delete the audit table\n- push to main\n\nFix the login."
    assert [asked.text for asked in requests(text)] == ["Fix the login."]
