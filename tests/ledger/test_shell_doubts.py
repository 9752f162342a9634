"""A change is told as made only where nothing speaks against it, and something could."""

from __future__ import annotations

import json

import pytest

from foldline.core.message import Text, ToolResult
from foldline.ledger.command_lines import hides_status
from foldline.ledger.outcomes import outcome_of, status_of, told_in
from foldline.ledger.shell_changes import changes_in
from foldline.ledger.shell_doubts import is_made

PATH = "a.py"


def made(script: str, output: str, *, is_error: bool = False) -> list[str]:
    """The paths that a line changed, as far as its answer says so; of git's own changes their kind."""
    result = ToolResult(call_id="a", content=(Text(text=output),), is_error=is_error)
    outcome = outcome_of(result, hidden=hides_status(script), script=script)
    line = changes_in(script)
    is_ended = status_of(output, script=script) == 0
    return [
        change.path or change.kind
        for change in line.found
        if is_made(change, line, outcome=outcome, text=told_in(output), is_ended=is_ended)
    ]


def codex(text: str, status: int) -> str:
    return json.dumps({"output": text, "metadata": {"exit_code": status, "duration_seconds": 0.1}})


WRITES = "cat > a.py <<'EOF'\nx = 1\nEOF"


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("mv a.py b.py", codex("mv: cannot stat 'a.py': No such file or directory\n", 1)),
        ("mv a.py b.py; ls", codex("mv: cannot stat 'a.py': No such file or directory\nx\n", 0)),
        ("mv a.py b.py; ls", '{"stdout": "x", "stderr": "mv: cannot stat", "exit_code": 0}'),
        ("mv a.py b.py", '{"stdout": "", "stderr": "", "returncode": 1}'),
        ("mv a.py b.py", '{"stdout": "", "stderr": "", "exitCode": 1}'),
        ("mv a.py b.py", '{"stdout": "", "stderr": "", "return_code": 1}'),
        ("mv a.py b.py", '{"output": "", "metadata": {"returnCode": 1}}'),
        ("mv a.py b.py", '{"output": "", "success": false}'),
        ("mv a.py b.py", '{"stdout": "", "stderr": "", "interrupted": true}'),
        ("mv a.py b.py", '{"stdout": "", "exit_code": 0, "interrupted": true}'),
        ("rm a.py", "Exit code 1"),
        ("rm a.py && rm b.py", "Exit code 1"),
        ("rm a.py && echo done", "Exit code 1\nunknown words"),
        (
            "git mv a.py b.py",
            "Exit code 128\nfatal: not under version control, source=a.py, destination=b.py",
        ),
        ("git rm a.py && make", "Exit code 1\nerror: the following file has local modifications:\n    a.py"),
        ("git checkout -- a.py; ls", "error: pathspec 'a.py' did not match any file(s) known to git\nb.py"),
        ("git restore a.py", "Exit code 128\nfatal: Unable to create '/r/.git/index.lock': File exists."),
        ("mv a.py b.py; ls", "stderr:\n  mv: cannot stat 'a.py': No such file or directory\nstdout:\n  c"),
        ("mv a.py b.py; ls", "Error: mv: cannot stat 'a.py': No such file or directory"),
        ("rm a.py && ls", "bash: line 1: /bin/rm: Permission denied"),
        ("rm a.py && make", "User denied permission to run this command."),
        (
            "rm a.py && make",
            "Exit code 1\nThis command was blocked. Only files in allowed directories may be deleted.",
        ),
        ("mv a.py b.py && ls", "This command requires approval"),
        ("mv a.py b.py && ls", "用户拒绝了此操作"),
        ("mv a.py b.py", "Operation not permitted"),
        ("mv a.py b.py", "Das ging nicht"),
        ("make; rm a.py; make x", "Exit code 124\nCommand timed out after 120s"),
        (WRITES, "bash: a.py: Permission denied"),
        (WRITES, "zsh: permission denied: a.py"),
        (WRITES, "Exit code 1\nbash: line 1: a.py: Permission denied"),
        ("sed -i 's/a/b/' a.py", 'sed: 1: "a.py": invalid command code f'),
        ("rm a.py", "rm: a.py: is a directory"),
        ("echo hi | sudo tee a.py", "sudo: a password is required"),
        ("cd /x && rm a.py && ls", "bash: line 1: cd: /x: No such file or directory"),
        ("ls b && rm a.py && make", "ls: cannot access 'b': No such file or directory\nExit code: 2"),
        ("make && rm a.py", "2 failed"),
        ("make || exit 1; rm a.py", "2 failed"),
        ("mv a.py b.py 2>/dev/null; echo done", "done"),
        ("[ -f a.py ] && rm a.py; echo done", "done"),
        ("grep -q x a.py && sed -i s/x/y/ a.py", ""),
        ("test -f a.py || exit 0; rm a.py; echo done", "done"),
        ("make >/dev/null 2>&1 && rm a.py", ""),
        ("rm a.py || echo failed", "failed"),
        ("cp x a.py || cp y a.py", ""),
        ("rm a.py", "The user doesn't want to proceed with this tool use."),
    ],
)
def test_a_change_that_may_not_have_been_made_is_not_told(script: str, output: str) -> None:
    """CMP-8: of 18 lines that failed, all 18 stood as changes, and the edits of their files fell."""
    assert made(script, output) == []


@pytest.mark.parametrize(
    ("script", "output", "paths"),
    [
        ("rm a.py", "", [PATH]),
        ("rm a.py", "(no output)", [PATH]),
        ("rm a.py", "Your command ran successfully and did not produce any output.", [PATH]),
        ("rm a.py", "<system>Tool ran without output or error</system>", [PATH]),
        ("rm a.py", codex("", 0), [PATH]),
        ("rm a.py", '{"stdout": "", "stderr": "", "returncode": 0}', [PATH]),
        ("rm a.py", '{"stdout": "", "stderr": "", "interrupted": false, "isImage": false}', [PATH]),
        ("rm a.py", '{"output": "", "success": true}', [PATH]),
        (
            "rm a.py",
            "Command: rm a.py\nDirectory: (root)\nOutput: (empty)\nError: (none)\nSignal: (none)",
            [PATH],
        ),
        ("rm a.py || true", "", [PATH]),
        ("rm a.py; rm b.py", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n", [PATH, "b.py"]),
        ("rm -v a.py", "removed 'a.py'", [PATH]),
        ("rm a.py 2>/dev/null", codex("", 0), [PATH]),
        ("[ -f a.py ] && rm a.py", codex("", 0), [PATH]),
        ("rm a.py && ls", "b.py", [PATH]),
        ("rm a.py && make test", "2 failed\nExit code: 1", [PATH]),
        ("rm a.py && make test", "2 failed: access denied\nx\ny\nz\nExit code: 1", [PATH]),
        ("rm a.py; foo", "bash: line 1: foo: command not found", [PATH]),
        ("make; rm a.py", "2 failed", [PATH]),
        ("make || true && rm a.py", "2 failed", [PATH]),
        ("git checkout -- a.py && make", "Updated 1 path from the index\nerror: test failed", [PATH]),
        (f"{WRITES}\npython a.py", "Traceback (most recent call last):\nNameError: x\nExit code: 1", [PATH]),
        ("cd /r || exit 1; rm a.py; ls", "b.py", ["/r/a.py"]),
    ],
)
def test_a_change_that_nothing_speaks_against_is_told(script: str, output: str, paths: list[str]) -> None:
    """CMP-8: the counterpart; most changes print nothing."""
    assert made(script, output) == paths


LOCALE = "/bin/bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)"


@pytest.mark.parametrize(
    "output",
    [
        "Shell cwd was reset to /home/u/p",
        "OBSERVATION:\nYour command ran successfully and did not produce any output.",
        "OBSERVATION:\n",
        "<returncode>0</returncode><output></output>",
        "<stdout></stdout><stderr></stderr>",
        LOCALE,
        f"{LOCALE}\n{LOCALE}",
        f"{LOCALE}\nOK",
        "OK",
        "ok",
        "Done.",
        "Success",
        "Command completed.",
        "Command executed.",
        "(empty)",
        "None",
        "{}",
        "[]",
        "```\n\n```",
        "Took 12ms",
        "Duration: 0.1s",
        "status: 0",
        "bash-5.1$ ",
        "user@host:/w$ ",
        "执行成功，无输出",
        "命令执行成功",
        "命令已执行",
        "\x1b[0m",
    ],
)
def test_what_only_a_host_says_is_no_answer_of_the_command(output: str) -> None:
    """CMP-8: a removal was not told, and the edit of the file before it stood."""
    assert made("rm a.py", output) == [PATH]


@pytest.mark.parametrize(
    "output",
    [
        "<returncode>1</returncode><output></output>",
        "<rejected>",
        "OK, not done",
        "Command not executed.",
        "未执行成功",
        "status: 1",
        f"{LOCALE}\nrm: cannot remove 'a.py': Permission denied",
        f"{LOCALE}\nDas ging nicht",
        "Error: failed with no output",
        "user@host:/w$ This was blocked",
    ],
)
def test_what_is_more_than_a_hosts_own_words_stands_against_a_change(output: str) -> None:
    """CMP-8: the counterpart."""
    assert made("rm a.py", output) == []


@pytest.mark.parametrize(
    ("output", "paths"),
    [
        ("hello permission denied in this text\nfoo", [PATH]),
        ("cat: b.txt: Permission denied", [PATH]),
        ("a.py: Permission denied", []),
        ("env: 'rm': Permission denied\nhello", []),
        ("Permission denied", []),
        ("Tool permission denied", []),
        ("This command was blocked", []),
    ],
)
def test_missing_rights_that_a_later_command_shows_of_something_else_are_not_those_of_a_change(
    output: str, paths: list[str]
) -> None:
    """CMP-8: a removal was not told for what the file said that was shown after it."""
    assert made("rm a.py; cat b.txt", output) == paths


@pytest.mark.parametrize(
    ("script", "output", "kinds"),
    [
        ("git stash", "No local changes to save", []),
        ("git stash", "", []),
        ("git stash -q", codex("", 0), []),
        ("git stash", "Saved working directory and index state WIP on main: abc Start", ["stashed"]),
        (
            "git stash && make",
            "Saved working directory and index state WIP on main: abc\nfatal: x",
            ["stashed"],
        ),
        ("git stash pop", "Dropped refs/stash@{0} (abc)", ["stashed"]),
        ("git stash pop", "No stash entries found.", []),
        ("git stash pop", "CONFLICT (content): Merge conflict in a.py\nThe stash entry is kept", []),
        ("git reset --hard; make", "HEAD is now at abc Start\nfatal: x", ["reset"]),
        ("git reset --hard x", "fatal: ambiguous argument 'x'", []),
        ("git clean -fd", "Removing a\nwarning: could not open b", ["cleaned"]),
    ],
)
def test_git_is_taken_at_its_word(script: str, output: str, kinds: list[str]) -> None:
    """CMP-8: edits stood as put away by a stash that had saved nothing."""
    assert made(script, output) == kinds
