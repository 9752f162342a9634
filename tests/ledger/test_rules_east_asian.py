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
    "src/db 归我管，你不用管。",
    "src/db 不变。",
    "推送由我来做。",
    "没有我的同意不能推送。",
    "部署前跟我说一声。",
    "部署之前让我看一下。",
    "改动范围限于 src/ui。",
    "100 行封顶。",
    "周五前完成。",
    "周五之前要上线。",
    "老接口要兼容。",
    "要兼容 Python 3.8。",
    "每个函数都要有测试。",
    "所有新代码都得有测试。",
    "测试全绿才能提交。",
    "没有测试的代码不合并。",
    "不加新依赖。",
    "拒绝引入新依赖。",
    "以设计稿为准。",
    "回答简短一点。",
    "说中文。",
    "叫我小王。",
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
    "每个测试都要跑很久吗？",
    "这个文件不加载",
    "不动了，怎么办",
    "周五前的提交在哪？",
    "不改了",
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
