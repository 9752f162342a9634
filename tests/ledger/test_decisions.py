"""What was decided is told, and what was left open is not."""

from __future__ import annotations

import pytest

from foldline.ledger.decisions import reasons_in


@pytest.mark.parametrize(
    ("said", "decided"),
    [
        ("We use Redis because it is fast.", ["We use Redis because it is fast."]),
        ("We should use Redis because it is fast.", []),
        ("Since the list is long, we might need a queue.", []),
        ("It seems the root cause is the cache.", []),
        ("Since that failed, let's try the other script.", []),
        ("Since it is the third, I will now call it.", []),
        (
            "We use a queue because requests should be limited.",
            ["We use a queue because requests should be limited."],
        ),
        ("I went with Redis.", ["I went with Redis."]),
        ("Minor cleanup (removed unnecessary cast since type narrowing works).", []),
        ("Actually, looking at this more carefully, it is added since the turn ends.", []),
        ("Use a queue instead of a list.\nActually, looking at this more carefully, the list is fine.", []),
        (
            "Actually, I went with a queue because the list is long.",
            ["Actually, I went with a queue because the list is long."],
        ),
        (
            "I decided to clean up the cache because it is stale.",
            ["I decided to clean up the cache because it is stale."],
        ),
        ('我决定采用"未来运动科技"美学方向，融合：\n- 动画', ['我决定采用"未来运动科技"美学方向']),
        ('设计风格：选择"体育能量"风格', ['设计风格：选择"体育能量"风格']),
        ('我可以选择"A"或"B"的方向', []),
        ("用户让我决定其他细节。", []),
        ("既然用户让我决定，我应该设计一个网站。", []),
        ("我应该先加载技能，因为要做界面。", []),
        ('"苏超联赛"可能指的是别的，因为它已存在很多年了。', []),
        ("改用队列，因为服务应该限流。", ["改用队列，因为服务应该限流。"]),
    ],
)
def test_a_guess_a_wish_or_a_choice_of_others_is_no_decision(said: str, decided: list[str]) -> None:
    """CMP-8: a settled guess and what should be done stood among the decisions, and what was decided did not."""
    assert list(reasons_in(said)) == decided


@pytest.mark.parametrize(
    ("said", "tidies"),
    [
        ("Small batches are used here because the GPU runs out of memory.", False),
        ("Tiny chunks are sent because the server times out.", False),
        ("I use `cleanup()` instead of `close()` because it frees the handle.", False),
        ("I use `clean up` instead of `close` because it frees the handle.", False),
        ("I use cleanup() instead of close() because it frees the handle.", False),
        ("Cleanup runs at night because the disk is busy.", False),
        ("Minor versions are pinned because the API breaks between them.", False),
        ("Minor fix (removed the cast since type narrowing works).", True),
        ("Small code cleanup because the linter asked.", True),
        ("Some cosmetic tweaks since the names were long.", True),
        ("I cleaned up the imports since two were unused.", True),
        ("Cleanup: removed the cast since type narrowing works.", True),
    ],
)
def test_only_what_names_a_tidying_is_one(said: str, *, tidies: bool) -> None:
    """CMP-8: "Small batches are used here because …" was passed over for its first word, and a name in back quotes for its letters."""
    assert list(reasons_in(said)) == ([] if tidies else [said])


def test_what_a_patch_says_that_the_agent_quotes_is_no_reason_of_its_own() -> None:
    """CMP-8: a comment in a patch that a recorded session showed 28 times stood as its one decision."""
    patch = "diff --git a/x.py b/x.py\n@@ -1,2 +1,2 @@\n+# freed here since the block may be reused\n"
    assert list(reasons_in(f"I keep the list because order matters.\n\n{patch}")) == [
        "I keep the list because order matters."
    ]


def test_what_is_needed_may_be_the_reason_of_a_decision() -> None:
    """CMP-8: what has to be done is no decision; that it has to be, or why it failed, is a reason."""
    for said in (
        "I use a queue because we need to keep the order.",
        "The root cause is the cache, so we need to clear it.",
    ):
        assert list(reasons_in(said)) == [said]
