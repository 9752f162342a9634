"""The language of the latest turns is told by script and common words, and what cannot be told is not guessed at.

Code, paths and pasted output do not count.
"""

from __future__ import annotations

import pytest

from foldline.ledger.language import language_of


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Olá, corrija o erro de login. Responda sempre em português.", "Pode aplicar a correção?"], "pt"),
        (["안녕, 로그 확인해줘.", "고쳐줘"], "ko"),
        (["fix the 登录 bug"], "en"),
        (["用 React 写一个 TODO"], "zh"),
        (["日本語でお願いします"], "ja"),
        (["Привіт, виправ їх"], "uk"),
        (["Исправь ошибку"], "ru"),
        (["Bitte ändere die Datei nicht"], "de"),
        (["Corrige el error de inicio"], "es"),
        (["Peux-tu corriger ce bug ?"], "fr"),
        (["שלום"], "he"),
        (["مرحبا"], "arabic"),
        ([], "en"),
        (["请修复", "42", "7", "8", "9"], "zh"),
        (["请看 `the file that is not in the list of all files`"], "zh"),
    ],
)
def test_the_language_follows_the_user(texts: list[str], expected: str) -> None:
    """anomalyco/opencode#20156, openclaw/openclaw#10456."""
    assert language_of(texts) == expected


def test_the_latest_turn_outweighs_older_ones() -> None:
    """A user who changes language is answered in the new one."""
    assert language_of(["please fix the login of the app now", "现在请用中文回答我的所有问题"]) == "zh"
