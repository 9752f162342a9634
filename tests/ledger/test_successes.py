"""A call is carried out where something says so; what says neither is told as it stands."""

from __future__ import annotations

import pytest

from foldline.core.message import Text, ToolResult
from foldline.ledger.outcomes import outcome_of, unmade, went_well
from foldline.ledger.successes import line_says_done, says_done, shows_new_text, structured_success

ARGUMENTS = {"path": "src/x.py", "old_string": "a = 1", "new_string": "alpha_value = 2"}


def said(text: str) -> ToolResult:
    """What a tool answered without any flag."""
    return ToolResult(call_id="c", content=(Text(text=text),))


@pytest.mark.parametrize(
    "text",
    [
        "No edits were applied.",
        "The file is unchanged.",
        "old_string does not occur in file",
        "Replaced 0 occurrences of the text.",
        "Successfully replaced 0 occurrence(s) in src/x.py",
        "Expected 1 occurrence but found 2",
        "The user denied this operation.",
        "The user doesn't want to take this action right now.",
        "Claude requested permissions to write to /x/src/x.py, but you haven't granted it yet.",
        "Diff not accepted",
        "Change rolled back: syntax check did not pass",
        "Reverted: linter reported 2 problems",
        "Changes saved, then reverted: linter reported 2 problems",
        "Blocked: src/x.py is protected",
        '{"success": false, "message": "old text absent"}',
        '{"applied": 0, "total": 1}',
        '{"status": "rejected"}',
        "No space left on device",
        "Edit staged. Run apply to write it.",
        "Proposed edit saved as a suggestion; user must accept it",
        "没有任何改动",
        "文件未更改",
        "用户已拒绝该操作",
        "已回滚",
        "磁盘空间不足",
        "文件不存在",
        "权限不足",
        "编辑没有成功",
        "発生エラー: 編集できませんでした",
        "Bestand is niet gewijzigd",
        "",
        "3 of 5 hunks applied",
    ],
)
def test_an_edit_is_made_only_where_something_says_so(text: str) -> None:
    """CMP-8: twenty-nine answers of twenty-nine that said that nothing was changed were told as an edit."""
    assert unmade(said(text), "src/x.py", arguments=ARGUMENTS)


@pytest.mark.parametrize(
    "text",
    [
        "OK",
        "Success.",
        "The file src/x.py has been updated. Here's the result of running `cat -n` on a snippet:\n  1\talpha_value = 2",
        "Successfully replaced 1 occurrence(s) in src/x.py",
        "[File: src/x.py (3 lines total)]\n1:alpha_value = 2",
        "@@ -1 +1 @@\n-a = 1\n+alpha_value = 2",
        "Bestand:\n     1\talpha_value = 2",
        '{"success": true}',
        '{"applied": 1, "total": 1}',
        '{"status": "ok"}',
        "exit code: 0",
        "文件已更新",
        "ファイルを更新しました",
        "파일이 저장되었습니다",
        "3 of 3 hunks applied",
    ],
)
def test_an_edit_that_is_said_or_shown_to_be_made_is_made(text: str) -> None:
    """CMP-8: the counterpart, in words, by its fields, by its status and by the new text."""
    assert unmade(said(text), "src/x.py", arguments=ARGUMENTS) == ""


def test_an_answer_that_says_neither_is_told_as_it_stands() -> None:
    """CMP-8: a language or a host that nobody thought of is told as neither."""
    answer = unmade(said("Bestand is niet gewijzigd"), "src/x.py", arguments=ARGUMENTS)
    assert answer == "asked: Bestand is niet gewijzigd"
    assert unmade(said(""), "src/x.py", arguments=ARGUMENTS) == "asked: no answer"


@pytest.mark.parametrize(
    "text",
    [
        "This command requires approval",
        "Blocked by policy",
        "Permission to use Bash with command git commit has been denied.",
        "On branch main\nnothing to commit, working tree clean",
        "Command running in background with ID: bash_1",
        "需要审批",
        "未执行：等待批准",
    ],
)
def test_a_command_that_may_not_have_run_is_not_told_as_run(text: str) -> None:
    """CMP-8: `git commit` became `ran` of a host's word that it did not let it."""
    outcome = outcome_of(said(text), script="git commit -am release")
    assert not outcome.startswith(("ran", "ok"))
    assert not went_well(outcome)


@pytest.mark.parametrize(
    ("outcome", "well"),
    [
        ("ok", True),
        ("ok: [main 2c014c1] x", True),
        ("ran", False),
        ("printed nothing", False),
        ("printed: 60 passed in 3.05s", True),
        ("printed: 5 passed, 0 failed", True),
        ("printed: 全部测试通过", True),
        ("printed: Found no errors", True),
        ("printed: 4/5 tests", False),
        ("printed: 4/5 passed", False),
        ("printed: Tests: 1 of 5 did not pass", False),
        ("printed: 构建未通过", False),
        ("printed: ✖ 3 problems", False),
        ("printed: Waiting for approval", False),
        ("printed: Killed", False),
        ("printed: 2 failed, 3 passed", False),
        ("failed: no", False),
    ],
)
def test_a_printed_line_counts_as_passed_where_it_says_so(outcome: str, *, well: bool) -> None:
    """CMP-8: `printed: Waiting for approval; failed at m1` read as got over."""
    assert went_well(outcome) is well
    assert went_well(f"{outcome}; failed at m1") is well


def test_what_is_read_of_an_answer() -> None:
    """CMP-8: the first sentence speaks of the call, the fields of an object, and a line of the new text."""
    assert says_done("Saved. Nothing else was changed.")
    assert not says_done("Looking at the file. Saved.")
    assert line_says_done("12 passed")
    assert structured_success('{"error": "x", "ok": true}') is False
    assert structured_success('{"path": "x"}') is structured_success("{") is structured_success("[1]") is None
    assert not shows_new_text("Not written:\nalpha_value = 2", ARGUMENTS, path="")
