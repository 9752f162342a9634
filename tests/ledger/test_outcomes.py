"""A command is told as it ended only where its host states it; what an output merely shows is said to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.message import Text, ToolResult
from foldline.ledger import outcomes
from foldline.ledger.outcomes import is_failed, outcome_of, status_of, unmade

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/x/reproduce.py", line 17, in <module>\n'
    "    result = array(ds)\n"
    "AttributeError: Unable to convert the pixel data\n"
)
RAISED = "failed: AttributeError: Unable to convert the pixel data"


def said(text: str, *, is_error: bool = False) -> ToolResult:
    """What a tool answered."""
    return ToolResult(call_id="c", content=(Text(text=text),), is_error=is_error)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("60 passed in 3.05s\n", "printed: 60 passed in 3.05s"),
        ("Total: 1.78 ms\n==========\n", "printed: Total: 1.78 ms"),
        ("==========\n", "printed: =========="),
        ("", "printed nothing"),
        ("done\nexit code: 0", "ok"),
        (TRACEBACK + "exit code: 0", "ok"),
        ("make: *** [all]\nexit code: 2", "failed (exit 2): make: *** [all]"),
        (TRACEBACK, RAISED),
        (TRACEBACK + "\n(Open file: /x/a.py)\nbash-$", RAISED),
        (TRACEBACK + "\n" + TRACEBACK.replace("Attribute", "Value"), RAISED.replace("Attribute", "Value")),
        ("a table of tracebacks", "printed: a table of tracebacks"),
    ],
)
def test_a_command_without_an_exit_status_fails_by_its_traceback(text: str, outcome: str) -> None:
    """A recorded SWE-agent session: a run that raised was listed as verified, since its tool reports no status."""
    assert outcome_of(said(text)) == outcome


@pytest.mark.parametrize(
    "line",
    [
        "make: *** [all] Error 2",
        "make[2]: *** [Makefile:7: all] Error 127",
        "npm ERR! Test failed.",
        "test result: FAILED. 3 passed; 2 failed",
        "--- FAIL: TestX",
        "5 failed, 1 passed in 0.1s",
        "a.c:3:5: error: expected ';'",
        "bash: foo: command not found",
        "ls: cannot access 'x': No such file or directory",
        "error: failed to push some refs",
        "Segmentation fault",
        "Permission denied",
        "timed out after 30s",
        "Build FAILED",
        "fatal: not a git repository",
        "The user doesn't want to proceed with this tool use.",
    ],
)
def test_a_failure_in_an_output_is_shown_and_never_certified_as_success(line: str) -> None:
    """CMP-8: without a stated status the ledger said `ok` of every one of these."""
    assert outcome_of(said(line)) == f"shows: {line}"
    assert outcome_of(said(f"collecting\n{line}\n\n"), hidden=True) == f"shows: {line}"
    assert outcome_of(said(f"{line}\nexit code: 0"), hidden=True) == f"shows: {line}"


@pytest.mark.parametrize(
    "text",
    [
        "failed: 0",
        "error: 0",
        "error: null",
        "error: none",
        "Error: (none)",
        "FAILED (0)",
        "Failed 0",
        "失败：0",
        "未发现错误",
        "5 passed, 0 failed",
        "no errors",
        "src/error.py",
        "class Error(Exception):\n  pass",
        "error_count = 3",
    ],
)
def test_words_that_name_no_failure_show_none(text: str) -> None:
    """An output that only speaks of failures is an output."""
    assert outcome_of(said(text)).startswith("printed: ")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("exit code: 0", 0),
        ("Error: Exit code 1\nno such test", 1),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx", 0),
        ("x\n\nCommand exited with code 1", 1),
        ("Process exited with code 0\nx", 0),
        ("x\nCommand failed with exit code: 1.", 1),
        ("x\n[The command completed with exit code 0.]\n[Current working directory: /]", 0),
        ("<returncode>1</returncode>\n<output>\nx\n</output>", 1),
        ("Output: x\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)", 0),
        ('{"output": "x", "metadata": {"exit_code": 2}}', 2),
        ('{"stdout": "x", "exit_code": 0}', 0),
        ('{"stdout": "x", "exit_code": true}', None),
        ('{"exit_code": 2}', None),
        ('{"exit_code": 2', None),
        ('{"output": "exit_code"}', None),
        ("the docs say: exit code 1 means failure", None),
        ("exit code 1 means failure", None),
        ("if [ -z x ]; then\n  exit 1\nfi", None),
        ("exit code: 0\nx\nexit code: 1", None),
        ("x\n" * 40 + "exit code: 1\n" + "y\n" * 40, None),
    ],
)
def test_a_status_counts_only_in_the_shape_and_place_in_which_hosts_write_one(
    text: str, status: int | None
) -> None:
    """CMP-8: a page about exit codes made a command that read it a failure."""
    assert status_of(text) == status
    assert is_failed(said(text)) == (status not in (None, 0))


def test_a_tools_own_mark_of_failure_is_taken_at_its_word() -> None:
    """And a call without a result has none."""
    assert outcome_of(said("no such file", is_error=True)) == "failed: no such file"
    assert is_failed(said("", is_error=True))
    assert outcome_of(None) == "no result"


def test_a_status_that_is_hidden_makes_nothing_ok() -> None:
    """`pytest | tail` ends with 0 whatever the tests did."""
    assert outcome_of(said("x\nexit code: 0"), hidden=True) == "printed: x"
    assert outcome_of(said("x\nexit code: 0"), hidden=False) == "ok"


def test_a_long_output_of_broken_tracebacks_takes_linear_time() -> None:
    """Only the end is searched."""
    text = "Traceback (most recent call last):\n" + "  File\n\n" * 200_000
    assert outcome_of(said(text)) == "printed: File"


@pytest.mark.parametrize(
    "text",
    [
        "String to replace not found in file.",
        "Permission denied",
        "Failed to apply patch",
        "The user doesn't want to proceed with this tool use.",
        "No such file",
        "ERROR:\nNo replacement was performed",
        "<tool_use_error>File has not been read yet.</tool_use_error>",
        "sed: a.py\nexit code: 1",
        "You must read the file before editing it.",
        "File has been modified since read, either by the user or by a linter.",
        "[Request interrupted by user for tool use]",
        "ENOSPC: no space left on device, write",
        "EACCES: open 'a.py'",
        "Timed out after 120s",
        "Aborted",
        "Tool execution denied: sandbox",
        "0 replacements made",
        "Edit skipped: nothing changed",
        "The user chose not to apply this edit.",
        "Conflict: file changed on disk, edit discarded.",
        "Skipped.",
        "Waiting for approval",
        "Edit queued; pending review.",
        "Would write a.py (dry run)",
        "已跳过",
        "等待用户批准",
        "试运行，未写入",
        "未找到要替换的字符串",
        "写入失败",
    ],
)
def test_an_edit_that_says_it_failed_is_not_made(text: str) -> None:
    """CMP-8: hosts that mark no errors answer in words."""
    assert unmade(said(text), "a.py", arguments={})


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("The file a.py has been updated.", "a.py"),
        ("errors/not found.py edited", "errors/not found.py"),
        ("Edited:\n+ raise NotFound('not found')", "a.py"),
        ("Successfully wrote 3 lines, 0 errors", "a.py"),
        ("edited error.py", "error.py"),
        ("skipped/a.py edited", "skipped/a.py"),
        ("Updated the review queue in a.py.", "a.py"),
        ("1 replacement made, 0 failures", "a.py"),
        ("文件已更新：修复了错误处理", "a.py"),
        ("The file a.py has been updated.\nTimed out after 3 s is what it says now.", "a.py"),
    ],
)
def test_an_edit_that_speaks_of_failures_is_made(text: str, path: str) -> None:
    """What a file says or is called is not what became of its edit."""
    assert unmade(said(text), path, arguments={}) == ""


def test_a_status_that_a_command_prints_is_not_its_own() -> None:
    """OBS-3: `echo 'exit code: 1'` went well, or at least nobody says that it failed."""
    script = "echo 'exit code: 1'"
    assert not outcome_of(said("exit code: 1"), script=script).startswith("failed")
    assert outcome_of(said("exit code: 1\nexit code: 0"), script=script) == "ok"
    assert outcome_of(said("exit code: 1"), script='pytest; echo "exit code: $?"').startswith(
        "failed (exit 1)"
    )


@pytest.mark.parametrize(
    ("text", "script", "outcome"),
    [
        ("step 1\nexit code: 1", "tail deploy.log", "shows: exit code: 1"),
        ("step 1\nexit code: 1", "cd x && cat a.log | tail -3", "shows: exit code: 1"),
        ("exit code: 1\nexit code: 0", "tail deploy.log", "shows: exit code: 1"),
        ("all well\nexit code: 0", "tail deploy.log", "ok"),
        ("step 1\nexit code: 1", "./deploy", "failed (exit 1): step 1"),
        ('{"output": "", "metadata": {"exit_code": 1}}', "cat a", "failed (exit 1)"),
    ],
)
def test_a_status_in_a_file_that_is_shown_is_not_the_commands(text: str, script: str, outcome: str) -> None:
    """`tail deploy.log` has not failed because the deployment did; where the host keeps the status apart, it is believed."""
    assert outcome_of(said(text), script=script).startswith(outcome)
    assert outcome_of(said("Exit code 1\nno file", is_error=True), script=script).startswith(
        "failed (exit 1)"
    )


@pytest.mark.parametrize(
    ("text", "script", "outcome"),
    [
        (
            "Checked 22 files in 14ms. No fixes applied.\n",
            "npm run check 2>&1 | tail -5",
            "printed: Checked 22 files in 14ms. No fixes applied.",
        ),
        ("60 passed in 3.05s", "pytest -q", "printed: 60 passed in 3.05s"),
        ("12 tests", "grep -c test a.py", "printed: 12 tests"),
        (
            "[main 2c014c1] Fix paths\n 3 files changed",
            "git add -A && git commit -m 'Fix paths'",
            "printed: [main 2c014c1] Fix paths",
        ),
        (
            "[main 2c014c1] Fix paths\nexit code: 0",
            "git commit -m 'Fix paths'",
            "ok: [main 2c014c1] Fix paths",
        ),
        ("WARNING 12-27 Failed to import vllm\nDuration: 0.2 s", "python opt.py", "printed: Duration: 0.2 s"),
        (
            "fatal: Not a valid object name origin/HEAD\n203 model_patch.diff",
            "git diff || true; wc -l model_patch.diff",
            "shows: fatal: Not a valid object name origin/HEAD; ends: 203 model_patch.diff",
        ),
        (
            "a.ts(8,2): error TS2307: no module\n\nCommand exited with code 2",
            "npm run check",
            "failed (exit 2): a.ts(8,2): error TS2307: no module",
        ),
        ("[foldline: no result; none is recorded for this call]", "npm run check", "no result"),
        ("344\n(Open file: /a/b.py)\n(Current directory: /a)\nbash-$", "python reproduce.py", "printed: 344"),
        (
            "3 passed\n[Current working directory: /a]\n[Python interpreter: /a/bin/python]",
            "python run.py",
            "printed: 3 passed",
        ),
        ('{"stdout": "hello", "stderr": "", "returncode": 1}', "make", "failed (exit 1): hello"),
        ('{"stdout": "hello", "stderr": "", "exitCode": 0}', "make", "ok"),
        ('{"output": "hello", "success": false}', "make", "failed: hello"),
        ('{"stdout": "5 passed", "stderr": "", "interrupted": true}', "make", "stopped: interrupted"),
        ('{"stdout": "", "exitCode": 130, "interrupted": true}', "make", "stopped: interrupted"),
        (
            '{"output": "running\\ntest result: FAILED. 41 passed; 1 failed", "metadata": {"exit_code": 101}}',
            "cargo test",
            "failed (exit 101): test result: FAILED. 41 passed; 1 failed",
        ),
        ('{"output": 7}', "cargo test", 'printed: {"output": 7}'),
        ("[INFO] BUILD FAILURE\n[INFO] Total time: 3 s", "mvn test", "printed: [INFO] BUILD FAILURE"),
        ("# tests 4\n# pass 3\n# fail 1\n# cancelled 0", "node --test", "printed: # fail 1"),
        (
            "black....Failed\n- files were modified by this hook\n1 file reformatted.",
            "git commit -am x",
            "printed: black....Failed; ends: 1 file reformatted.",
        ),
        (
            "h1 : ok=3 changed=1 unreachable=0 failed=1 skipped=0",
            "ansible-playbook x.yml",
            "printed: h1 : ok=3 changed=1 unreachable=0 failed=1 skipped=0",
        ),
        ("4 examples, 1 failure\n\nRandomized with seed 7", "rspec", "printed: 4 examples, 1 failure"),
        (
            "Tests: 4, Assertions: 9, Failures: 1.",
            "phpunit",
            "printed: Tests: 4, Assertions: 9, Failures: 1.",
        ),
        ("部署未完成:权限不足", "./deploy.sh", "printed: 部署未完成:权限不足"),
        ('{"output": "a', "cargo test", 'printed: {"output": "a'),
    ],
)
def test_what_came_of_a_command_is_told_in_its_own_words(text: str, script: str, outcome: str) -> None:
    """CMP-8: of ninety commands a fresh reader was told `ran` of eighty-three, and of the rest the first warning."""
    assert outcome_of(said(text), hidden="|" in script, script=script) == outcome


def test_an_edit_that_waits_has_not_failed() -> None:
    """CMP-8: what waited for a person's consent was told as failed."""
    for text in ("Waiting for approval to edit a.py", "Skipped: dry run", "等待审批"):
        assert unmade(said(text), "a.py", arguments={}) == f"not made: {text}"
    assert unmade(said("String to replace not found"), "a.py", arguments={}).startswith("failed: ")
    assert unmade(said('{"dry-run": true, "ok": true}'), "a.py", arguments={}).startswith("not made: dry run")


def test_what_a_script_says_of_itself_is_no_outcome() -> None:
    """CMP-8: `done` was all that a line printed, and it said so whatever had happened."""
    assert outcome_of(said("done\n"), script='rm *.html; echo "done"') == "printed nothing else"
    assert outcome_of(said("3 files\ndone\n"), script='./move; echo "done"') == "printed: 3 files"
    assert outcome_of(said("BUILD OK\n"), script='make && echo "BUILD OK"') == "printed: BUILD OK"


@given(line=st.from_regex(outcomes._NOT_EDITED) | st.from_regex(outcomes._NOT_YET))
def test_no_line_that_says_that_an_edit_was_not_made_is_passed_over(line: str) -> None:
    """CMP-8: only lines that hold one of some words are searched with the patterns, which all others would be in vain."""
    assert outcomes._may_say_unmade(line)


def test_what_a_host_marks_the_end_with_is_no_output() -> None:
    """A recorded SWE-agent session: `///PROCESS-DONE:0:PROCESS-DONE///` stood as what four requests had printed."""
    behind = "///PROCESS-DONE:{}:PROCESS-DONE///\n(Open file: n/a)\n(Current directory: /x)\nbash-$"
    assert outcome_of(said("Your name is test." + behind.format(0))) == "printed: Your name is test."
    assert outcome_of(said("no route" + behind.format(7))) == "failed (exit 7): no route"
