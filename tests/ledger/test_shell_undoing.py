"""What a command may take back of what was done before it is read from its words, and marks that, and nothing else."""

from __future__ import annotations

import pytest

from foldline.core.message import Text, ToolCall, ToolResult
from foldline.ledger.carrying import Book, put
from foldline.ledger.entries import Done, Entry
from foldline.ledger.render import line_of, read
from foldline.ledger.shell_entries import shell_entries

EDIT = "/p/src/a.ts edited, +1 −1: `let a=2`"
MARK = "; before what may have undone it at m"
COMMIT = ("cd /p && git commit -am 'fix a'", "[main 1a2b3c4] fix a\n 1 file changed")
SECOND = ("cd /p && git commit -am 'fix b'", "[main 2222222] fix b\n 1 file changed")


def told(*calls: tuple[str, str], is_error: bool = False) -> list[str]:
    """The lines that stand after the edit of a file and these calls, of which the last may have failed."""
    book: Book = {}
    put(book, Entry(section="mutations", key="/p/src/a.ts", text=EDIT, seq=1, origin="assistant"))
    for seq, (script, output) in enumerate(calls, 2):
        fails = is_error and seq == len(calls) + 1
        result = ToolResult(call_id="a", content=(Text(text=output),), is_error=fails)
        done = Done(seq=seq, call=ToolCall(id="a", name="bash", arguments="{}"), result=result)
        for entry in shell_entries(done, command=script, script=script, folder=""):
            put(book, entry)
    return [entry.text for entry in book.values()]


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("cd /p && git checkout -f", ""),
        ("cd /p && git checkout -f main", "Switched to branch 'main'"),
        ("cd /p && git switch --discard-changes main", "Switched to branch 'main'"),
        ("cd /p && git checkout abc1234 src/a.ts", "Updated 1 path from abc1234"),
        ("cd /p && git diff > x.patch && git apply -R x.patch", ""),
        ("cd /p && git merge --abort", ""),
        ("cd /p && git rebase --abort", ""),
        ("cd /p && git worktree remove --force src", ""),
        ("cd /p && git fetch && git reset --hard @{u}", "HEAD is now at 9999999 x"),
        ("make || git -C /p reset --hard", "HEAD is now at 9999999 x"),
        ("cd /p && patch -R -p1 < x.patch", "patching file src/a.ts"),
        ("cd /p && hg revert --all", "reverting src/a.ts"),
        ("cd /p && svn revert -R .", "Reverted 'src/a.ts'"),
        ("unlink /p/src/a.ts", ""),
        ("trash /p/src", ""),
        ("rm /p/src/*.ts", ""),
        ("rm -rf /p/{src,lib}", ""),
        ("cd /p && rm -r s*", ""),
        ("find /p/src -name '*.ts' -delete", ""),
        ("find /p -name '*.ts' -exec rm {} +", ""),
        ("cd /p && find . -name '*.ts' -delete", ""),
        ("cd /p && find . -name 'src' -exec rm -rf {} +", ""),
        ("cd /p && find . ! -name '*.py' -delete", ""),
        ("cd /p && find . -name '*.js' -o -name '*.ts' -delete", ""),
        ("cd / && rm -rf p && git clone https://x/p p", "Cloning into 'p'..."),
    ],
)
def test_an_edit_that_a_later_command_may_have_thrown_away_says_so(script: str, output: str) -> None:
    """CMP-8: edits stood as made that `git checkout -f` or `find -delete` had thrown away."""
    assert f"{EDIT}{MARK}2" in told((script, output))


@pytest.mark.parametrize(
    ("script", "output", "is_error"),
    [
        ("cd /p && git checkout main", "Switched to branch 'main'", False),
        ("cd /p && git checkout -f nowhere", "error: pathspec 'nowhere' did not match any file(s)", True),
        ("cd /p && git checkout abc1234 src/b.ts", "Updated 1 path from abc1234", False),
        ("cd /q && git checkout -f", "", False),
        ("git -C /q checkout -f", "", False),
        ("cd /p && git apply -R --check x.patch", "", False),
        ("cd /p && git rm -n src/*.ts", "rm 'src/a.ts'", False),
        ("cd /p && patch -R --dry-run < x.patch", "checking file src/a.ts", False),
        ("echo git checkout -f; echo 'rm /p/src/*.ts'", "git checkout -f\nrm /p/src/*.ts", False),
        ("cat > /p/x.sh <<'EOF'\ngit checkout -f\nEOF", "", False),
        ("unlink /p/src/a.ts", "unlink: cannot unlink '/p/src/a.ts': Permission denied", False),
        ("cd /p && hg revert --all", "abort: no repository found in '/p'", False),
        ("rm /p/src/*.js", "", False),
        ("rm /p/src/*.ts", "rm: cannot remove '/p/src/a.ts': Permission denied", False),
        ("find /p/src -name '*.ts'", "/p/src/a.ts", False),
        ("find /q -name '*.ts' -delete", "", False),
        ("cd /p && find . -name __pycache__ -exec rm -rf {} +", "", False),
        ("cd /p && find . -name '*.pyc' -delete", "", False),
        ("cd /p && find . -type d -empty -delete", "", False),
        ("cd /p && git reset -q src/a.ts", "", False),
        ("cd /p && git reset --soft HEAD~1", "", False),
        ("rm -rf $X", "", False),
    ],
)
def test_an_edit_that_nothing_may_have_thrown_away_has_no_mark(
    script: str, output: str, *, is_error: bool
) -> None:
    """CMP-8: what failed, only tried, was printed or was done elsewhere takes nothing back."""
    assert EDIT in told((script, output), is_error=is_error)


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("cd /p && git reset --hard HEAD~1", "HEAD is now at 9999999 old"),
        ("cd /p && git reset --soft HEAD~1", ""),
        ("cd /p && git reset HEAD~1", "Unstaged changes after reset:\nM\tsrc/b.ts"),
        ("cd /p && git reset --soft 1a2b3c4", ""),
        ("cd /p && git revert --no-edit HEAD", '[main 5555555] Revert "fix b"\n 1 file changed'),
        ("cd /p && git revert --no-edit 2222222", '[main 5555555] Revert "fix b"\n 1 file changed'),
        ("cd /p && git commit --amend -m 'fix c'", "[main 3333333] fix c\n 1 file changed"),
        (
            "cd /p && git checkout main && git branch -D feat",
            "Switched to branch 'main'\nDeleted branch feat (was 2222222).",
        ),
        ("cd /p && git branch -Df feat", "Deleted branch feat (was 2222222)."),
    ],
)
def test_a_commit_that_was_undone_says_so_and_the_one_before_it_does_not(script: str, output: str) -> None:
    """CMP-8: a commit stood that `git reset --soft HEAD~1` had taken back, of which there was no line."""
    lines = told(COMMIT, SECOND, (script, output))
    assert "`git commit 1a2b3c4` → fix a" in lines
    assert f"`git commit 2222222` → fix b{MARK}4" in lines
    assert any("555" in line or "333" in line or line.startswith("`cd /p && git ") for line in lines)


def test_a_rebase_or_a_reset_of_two_commits_marks_both() -> None:
    """CMP-8: so does one to a commit that nobody here made."""
    for script in ("git rebase -i main", "git reset --hard HEAD~2", "git reset --soft origin/main"):
        lines = told(COMMIT, SECOND, (f"cd /p && {script}", ""))
        assert len([line for line in lines if f"{MARK}4" in line and "git commit" in line]) == 2


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("cd /q && git reset --soft HEAD~1", ""),
        ("git -C /q revert --no-edit HEAD", '[main 5555555] Revert "x"'),
        ("cd /p && git reset", ""),
        ("cd /p && git reset HEAD src/a.ts", ""),
        ("cd /p && git branch -d feat", "Deleted branch feat (was 1a2b3c4)."),
        ("cd /p && git rebase --continue", ""),
        ("cd /p && git rebase main", "Current branch main is up to date."),
        ("cd /p && git reset --soft HEAD~1", "fatal: ambiguous argument 'HEAD~1': unknown revision"),
        ("cd /p && git reset --soft 1a2b3c4", ""),
    ],
)
def test_a_commit_that_nothing_took_back_has_no_mark(script: str, output: str) -> None:
    """CMP-8: a commit of one repository stands whatever is reset in another."""
    lines = told(COMMIT, (script, output))
    assert lines[:2] == [EDIT, "`git commit 1a2b3c4` → fix a"]


def test_what_is_committed_stands_where_only_the_rest_is_thrown_away() -> None:
    """CMP-8: `git checkout -f` goes back to the last commit."""
    assert told(COMMIT, ("cd /p && git checkout -f", ""))[0] == EDIT


@pytest.mark.parametrize(
    ("scripts", "path"),
    [
        (("mv /p/src /p/lib",), "/p/lib/a.ts"),
        (("mv /p/src /p/lib", "mv /p/lib /p/src"), "/p/src/a.ts"),
        (("cd /p && mv src lib && mv lib src",), "/p/src/a.ts"),
        (("mv /p/src/a.ts /tmp/x && mv /tmp/x /p/src/a.ts",), "/p/src/a.ts"),
        (("cd /p && git mv src/a.ts src/b.ts",), "/p/src/b.ts"),
    ],
)
def test_an_edit_comes_along_with_its_file(scripts: tuple[str, ...], path: str) -> None:
    """CMP-8: of a folder that was moved away and back stood the move alone, and no edit."""
    lines = told(*((script, "") for script in scripts))
    assert EDIT.replace("/p/src/a.ts", path) in lines


def test_marked_lines_are_read_back_with_the_key_they_had() -> None:
    """CMP-8: the next ledger merges them by their files and commits."""
    for key, text in (("/p/src/a.ts", EDIT), ("git commit 1a2b3c4", "`git commit 1a2b3c4` → fix a")):
        entry = Entry(section="mutations", key=key, text=f"{text}{MARK}4", seq=1, origin="assistant")
        assert read(f"## Workspace mutations\n{line_of(entry)}") == ((entry,), ())


def test_a_rebase_of_what_is_up_to_date_keeps_what_stands_beside_it() -> None:
    """CMP-8: a reset in the same line had no mark."""
    script = "cd /p && git rebase main; git reset --soft HEAD~1"
    lines = told(COMMIT, (script, "Current branch feat is up to date."))
    assert f"`git commit 1a2b3c4` → fix a{MARK}3" in lines
