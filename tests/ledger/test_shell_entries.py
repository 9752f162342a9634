"""A command line is told by what it changed, and by its outcome where it did more than that."""

from __future__ import annotations

import pytest

from foldline.core.message import Text, ToolCall, ToolResult
from foldline.ledger.entries import Done
from foldline.ledger.shell_entries import below, shell_entries


def told(script: str, output: str, *, is_error: bool = False) -> list[str]:
    """The lines that a call gives."""
    result = ToolResult(call_id="a", content=(Text(text=output),), is_error=is_error)
    done = Done(seq=1, call=ToolCall(id="a", name="bash", arguments="{}"), result=result)
    return [entry.text for entry in shell_entries(done, command=script, script=script, folder="")]


COMMITTED = "[main 83a6c26] Move files\n 2 files changed"


@pytest.mark.parametrize(
    ("script", "output", "lines"),
    [
        ("mkdir -p a && mv x.py a/", "", ["a/ made", "x.py moved to a/x.py"]),
        ("mv x.py a/", "mv: cannot stat 'x.py': No such file or directory", 1),
        ("git add -A && git commit -m 'Move files'", COMMITTED, ["`git commit 83a6c26` → Move files"]),
        (
            "git commit -m 'Move files'",
            f"> biome check\nChecked 10 files.\n✅ All pre-commit checks passed!\n{COMMITTED}",
            [
                "`git commit 83a6c26` → Move files",
                "`git commit: its checks` → printed: ✅ All pre-commit checks passed!",
            ],
        ),
        (
            "cd /r && git commit -m x",
            f"Checking...\n\n> pi-monorepo@0.0.3 check\n> biome check .\n\n> @m/tui@0.1.2 lint\n> tsgo\n\n✅ All checks passed!\n{COMMITTED}",
            [
                "`git commit 83a6c26` → Move files",
                "`cd /r && npm run check` → printed: ✅ All checks passed!",
            ],
        ),
        ("git commit -m x", "nothing to commit", ["`git commit -m x` → printed: nothing to commit"]),
        (
            "git commit -m x; git diff origin/x",
            f"{COMMITTED}\nfatal: bad revision",
            [
                "`git commit 83a6c26` → Move files",
                "`git commit -m x; git diff origin/x` → shows: fatal: bad revision",
            ],
        ),
        (
            "git reset --hard && git clean -fd",
            "HEAD is now at fbe998b Start\nRemoving .scratch/",
            ["`git reset --hard` → HEAD is now at fbe998b Start", ".scratch/ removed by git clean"],
        ),
        ("git reset --hard x", "fatal: ambiguous argument 'x'", 1),
        (
            "rm a && make test",
            "2 failed\nExit code: 1",
            ["a removed", "`rm a && make test` → failed (exit 1): 2 failed"],
        ),
        ("make test && rm a", "2 failed\nExit code: 1", 1),
        ("make test > out; rm a", "5 passed", ["a removed", "`make test > out; rm a` → printed: 5 passed"]),
        ("sed -i s/a/b/ f; sed -i s/c/d/ f", "", ["f edited, by sed: `s/c/d/`"]),
        ("cat > f.py <<'E'\ndef run():\n  pass\nE", "", ["f.py written, +2: `def run():`"]),
        (
            "rm reproduce.py",
            "(Open file: /t/x.py)\n(Current directory: /t)\nbash-$",
            ["/t/reproduce.py removed"],
        ),
        ("cp a b", "", ["b copied from a"]),
        ("git checkout -- a", "", ["a restored by git"]),
        ("ls", "a", []),
        ("git add -A && git reset -q .bench || true", "", []),
        ("python -m py_compile a.py", "", ["`python -m py_compile a.py` → printed nothing"]),
        ("rm *.html; echo done", "done", ["`rm *.html; echo done` → printed nothing else"]),
        (
            "cd /r && rm -f d && git show HEAD > d && ls -lh d",
            "-rw-rw-r-- 1 u u 5.4K Dec 25 00:40 d\ncommit b60a258",
            ["/r/d written"],
        ),
    ],
)
def test_a_line_is_told_by_what_it_changed(script: str, output: str, lines: list[str] | int) -> None:
    """CMP-8: forty lines of `mkdir` and `sed` buried the one check that counted, and a commit stood by another command's error."""
    found = told(script, output)
    if isinstance(lines, int):  # only what the line came to
        assert len(found) == lines
        assert found[0].startswith(f"`{script}` → ")
    else:
        if "> out" in script:
            assert found.pop(0) == "out written"
        assert found == lines


def test_a_change_that_is_not_certain_leaves_its_lines_outcome() -> None:
    """CMP-8: the reader is told what was asked and what came back, not that it was done."""
    assert told("mv a b 2>/dev/null; echo done", "done") == [
        "`mv a b 2>/dev/null; echo done` → printed nothing else"
    ]
    assert told("rm a; mv b c 2>/dev/null", "") == [
        "a removed",
        "`rm a; mv b c 2>/dev/null` → printed nothing",
    ]


def test_what_git_does_to_a_tree_is_told_with_its_folder_and_files() -> None:
    """CMP-8: a stash of one file in another repository put all edits away."""
    saved = "Saved working directory and index state WIP on main: abc"
    assert told("cd /r && git stash push b.py", saved) == ["`cd /r && git stash push b.py` → done"]
    assert told("git -C '/v/my lib' reset --hard", "HEAD is now at abc Start") == [
        "`cd '/v/my lib' && git reset --hard` → HEAD is now at abc Start"
    ]
    assert told("cd /r/docs && git checkout .", "Updated 1 path from the index") == [
        "/r/docs/ restored by git"
    ]


def test_what_codex_answers_is_read_out_of_its_object() -> None:
    """CMP-8: a commit stood in a line of JSON, where no line of git's begins."""
    output = '{"output": "[main 83a6c26] Move files\\n 2 files changed\\n", "metadata": {"exit_code": 0}}'
    assert told("git commit -m x", output) == ["`git commit 83a6c26` → Move files"]


def test_nothing_is_told_as_done_of_a_call_that_was_refused() -> None:
    """CMP-8: a user who stops a call leaves its files as they were."""
    assert told("rm a", "The user doesn't want to proceed with this tool use.", is_error=True) == [
        "`rm a` → stopped: The user doesn't want to proceed with this tool use."
    ]
    assert told("rm a", "Command aborted", is_error=True) == ["`rm a` → stopped: Command aborted"]


def test_a_path_is_told_from_the_folder_that_it_shares() -> None:
    """CMP-8: the root of a project twice in a line says nothing."""
    assert below("/r/src/a.ts", "/r/src/utils/a.ts") == "utils/a.ts"
    assert below("/r/src/a.ts", "/q/a.ts") == "/q/a.ts"
    assert below("a.ts", "/r/a.ts") == "/r/a.ts"


@pytest.mark.parametrize(
    ("output", "is_written"),
    [
        ("12898 d", True),
        ("  4 20 12898 /r/d", True),
        ("-rw-r--r-- 1 u u 12K Dec 25 00:40 d", True),
        ("-rw-r--r-- 1 u u 0 Dec 25 00:40 d", False),
        ("0 d", False),
        ("compared 3 with d", False),
    ],
)
def test_what_a_line_wrote_anew_is_not_told_as_removed(output: str, *, is_written: bool) -> None:
    """CMP-8: a patch was written three times by lines that removed it first, one of whose commands failed, and stood as `removed`."""
    script = "rm -f /r/d || true\ngit diff $(git merge-base HEAD x) > /r/d || true\nwc -c /r/d"
    lines = told(script, f"{output}\nfatal: Not a valid object name x")
    assert lines[:-1] == (["/r/d written"] if is_written else [])
    assert lines[-1].startswith(f"`{script}` → shows: fatal")


def test_a_commit_in_a_folder_with_a_long_name_is_told() -> None:
    """CMP-8: agents work in folders whose paths take more than a line."""
    found = told(f"git -C /v/{'d' * 200} commit -m 'Fix a'", "[main 1a2b3c4] Fix a\n 1 file changed")
    assert "`git commit 1a2b3c4` → Fix a" in found
