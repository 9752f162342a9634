"""Rules in Chinese, Japanese and Korean: what people say that is one, and what they say that only sounds like one.

Each sentence is tried through `constraints`, as the tables are only ever used; the tables know nothing of sentences.
"""

from __future__ import annotations

import pytest

from foldline.ledger.constraints import constraints

RULES = [
    "必须使用 Python 3.11",
    "不要修改 src/db",
    "能不能不要动配置文件？",
    "禁止提交到 main",
    "只能改 src 目录",
    "务必先跑测试",
    "别碰数据库",
    "始终用中文回答",
    "用 pnpm 而不是 npm",
    "未经我同意不得合并",
    "在提交之前先跑测试",
    "至少保留三份备份",
    "最多重试 3 次",
    "回答保持简短",
    "预算 500 元",
    "不允许新增依赖",
    "先别部署",
    "src/db 絶対に触らないでください",
    "必ずテストを実行してください",
    "依存関係を追加しないこと",
    "日本語で回答してください",
    "main 브랜치에 푸시하지 마세요",
    "반드시 테스트를 실행하세요",
    "한국어로 답변해 주세요",
    "새 의존성은 금지",
]
TALK = [
    "没有报错了",
    "为什么不能打开页面？",
    "这个函数总是报错",
    "请修复登录问题",
    "帮我写一个 TODO 应用",
    "特别好",
    "ログインできません",
    "エラーが出ました",
    "로그인이 안 돼요",
]


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_is_found_and_kept_word_for_word(sentence: str) -> None:
    """CMP-8: constraints stand in the ledger verbatim (kind lost-constraints of public reports)."""
    assert [found.text for found in constraints(sentence)] == [sentence.lstrip("-# ")] or [
        found.text for found in constraints(sentence)
    ] == [sentence]


@pytest.mark.parametrize("sentence", TALK)
def test_a_plain_report_or_request_is_no_rule(sentence: str) -> None:
    """A ledger in which everything is a rule has none."""
    assert constraints(sentence) == ()
