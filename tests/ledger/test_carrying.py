"""What a newer line of the ledger makes of older ones holds for the files that it is about, and no others."""

from __future__ import annotations

import shlex

import pytest

from foldline.core.message import Text, ToolCall, ToolResult
from foldline.ledger.carrying import Book, put
from foldline.ledger.entries import Done, Entry
from foldline.ledger.render import key_of, line_of, read
from foldline.ledger.shell_entries import shell_entries


def told(*texts: str) -> list[str]:
    """The mutations that stand when these came in, one a message."""
    book: Book = {}
    for seq, text in enumerate(texts):
        key = key_of("mutations", text)
        put(book, Entry(section="mutations", key=key, text=text, seq=seq, origin="assistant"))
    return [entry.text + (f" ×{entry.times}" if entry.times > 1 else "") for entry in book.values()]


def test_what_is_moved_or_removed_takes_its_changes_along() -> None:
    """CMP-8: files stood as edited that no longer were."""
    assert told("/r/a/x.py edited", "/r/a/y.py written", "/r/ab.py edited", "/r/a removed") == [
        "/r/ab.py edited",
        "/r/a removed",
    ]
    assert told("/r/main.ts removed", "/r/new.ts edited", "/r/new.ts moved to main.ts") == [
        "/r/new.ts moved to main.ts"
    ]
    assert told("/r/a.ts moved to utils/a.ts", "/r/utils/a.ts moved to a.ts") == [
        "/r/utils/a.ts moved to a.ts"
    ]
    assert told("x.py removed", "x.py written, +3: `x`") == ["x.py written, +3: `x`"]
    assert told("a/x.py edited", "a/y.py moved to b/y.py", "a removed") == [
        "a/y.py moved to b/y.py",
        "a removed",
    ]
    assert told("a removed", "a/ made") == ["a/ made"]


def test_changes_before_a_reset_are_told_as_older_and_counted_anew_behind_it() -> None:
    """CMP-8: seventeen edits stood of which a reset had thrown thirteen away."""
    reset = "`git reset --hard fbe998b` → HEAD is now at fbe998b"
    assert told("a.py edited", "a.py edited", "b.py edited", "src/ made", reset, "a.py edited") == [
        "b.py edited; before git reset --hard at m4",
        "src/ made",
        reset,
        "a.py edited",
    ]
    again = told("b.py edited; before git reset --hard at m4", reset)
    assert again == ["b.py edited; before git reset --hard at m4", reset]


def test_what_was_moved_or_removed_comes_back_with_a_reset() -> None:
    """CMP-8: a rename stood as made that `git reset --hard` had taken back."""
    reset, at = "`git reset --hard` → done", "; before git reset --hard at m2"
    assert told("src/a moved to b", "c.py removed", reset)[:2] == [
        f"src/a moved to b{at}",
        f"c.py removed{at}",
    ]
    assert told("c.py removed by git clean", reset)[0] == "c.py removed by git clean"
    stash = "`git stash` → done"
    assert told("src/a moved to b", stash)[0] == "src/a moved to b; put away by git stash at m1"
    restored = "src/ restored by git"
    assert told("src/a moved to b", restored)[0] == "src/a moved to b", "it may stand in the index"
    again = f"src/a moved to b{at}"
    assert told("src/a/x.py edited", again) == ["src/a/x.py edited", again], "it stands where it stood"


def test_a_reset_to_the_last_commit_leaves_what_was_committed() -> None:
    """CMP-8: an edit that git keeps was not thrown away."""
    commit = "`git commit 83a6c26` → Move files"
    for reset in ("`git reset --hard` → done", "`git reset --hard HEAD` → done"):
        assert told("a.py edited", commit, "b.py edited", reset) == [
            "a.py edited",
            commit,
            "b.py edited; before git reset --hard at m3",
            reset,
        ]
    reset = "`git reset --hard HEAD~1` → done"
    assert told("a.py edited", commit, reset)[0] == "a.py edited; before git reset --hard at m2"
    again = "`git commit 1a2b3c4` → Add a patch"
    reset = "`git reset --hard HEAD~1` → HEAD is now at 83a6c26 Move files"
    lines = told("a.py edited", commit, "b.py edited", again, reset)
    assert lines[0] == "a.py edited", "it goes back to the commit that holds it"
    assert lines[2] == "b.py edited; before git reset --hard at m4"


def test_what_a_stash_put_away_comes_back_with_it() -> None:
    """CMP-8: only what was popped stands again."""
    stash, pop = "`git stash` → done", "`git stash pop` → done"
    assert told("a.py edited", stash)[0] == "a.py edited; put away by git stash at m1"
    assert told("a.py edited", stash, pop)[0] == "a.py edited"


@pytest.mark.parametrize(
    "folder", ["/r", "/r/my lib", "/r/it's", "/r/'it'", '/r/"so" it\'s', "/r/a`b", "/r/a&&b"]
)
@pytest.mark.parametrize(
    ("script", "mark"),
    [
        ("git reset --hard", "; before git reset --hard at m2"),
        ("git stash", "; put away by git stash at m2"),
        ("git stash push {}", "; put away by git stash at m2"),
    ],
)
def test_what_is_written_of_a_reset_is_read_back_whatever_its_folder_is_called(
    folder: str, script: str, mark: str
) -> None:
    """CMP-8: of a folder with a single quote in its name nothing was older than the reset."""
    name = "it's me.py"
    command = script.format(shlex.quote(name))
    text = Text(text="Saved working directory and index state WIP on main: abc\nHEAD is now at abc Start")
    call = ToolCall(id="a", name="bash", arguments="{}")
    done = Done(seq=2, call=call, result=ToolResult(call_id="a", content=(text,)))
    entry = next(shell_entries(done, command=command, script=command, folder=folder))
    edits = [f"{folder}/{name} edited", "/v/other.py edited"]
    assert told(*edits, entry.text)[:2] == [f"{edits[0]}{mark}", edits[1]]
    key = key_of("mutations", entry.text)
    assert (key, line_of(entry)) == (entry.key, f"- {entry.text} (m2 assistant)")


def test_a_stash_or_a_reset_holds_for_its_repository_and_its_files() -> None:
    """CMP-8: edits of one repository stood as put away by what was done in another."""
    edits = ("/r/a.py edited", "/r/src/b.py edited")
    away, reset = "; put away by git stash at m2", "; before git reset --hard at m2"
    assert told(*edits, "`cd /v/lib && git stash` → done")[:2] == [*edits]
    assert told(*edits, "`cd '/v/my lib' && git reset --hard` → done")[:2] == [*edits]
    assert told(*edits, "`cd /r && git stash` → done")[:2] == [f"{edit}{away}" for edit in edits]
    assert told(*edits, "`cd /r/src && git reset --hard` → done")[:2] == [f"{edit}{reset}" for edit in edits]
    assert told(*edits, "`cd /r && git stash push src 'x y.py'` → done")[:2] == [
        edits[0],
        f"{edits[1]}{away}",
    ]
    assert told(*edits, "`git stash push b.py` → done")[:2] == [edits[0], f"{edits[1]}{away}"]
    assert told("a.py edited", "b.py edited", "`cd /r && git stash push b.py` → done")[:2] == [
        "a.py edited",
        f"b.py edited{away}",
    ]
    stash = "`cd /r && git stash` → done"
    assert told(*edits, stash, "`cd /v && git stash pop` → done")[0] == f"{edits[0]}{away}"
    assert told(*edits, stash, "`cd /r && git stash pop` → done")[0] == edits[0]


def test_relative_paths_stand_where_most_commands_do() -> None:
    """CMP-8: an editor's `a.py` is in the folder that the agent works in."""
    book: Book = {}
    put(book, Entry(section="mutations", key="a.py", text="a.py edited", seq=1, origin="assistant"))
    for seq in (2, 3, 4):
        text = f"`cd /home/ann/shop && make {seq}` → ok"
        put(book, Entry(section="evidence", key=text, text=text, seq=seq, origin="tool"))
    for folder, end in (("/v/lib", ""), ("/home/ann/shop", "; put away by git stash at m6")):
        text = f"`cd {folder} && git stash` → done"
        put(book, Entry(section="mutations", key=text, text=text, seq=6, origin="assistant"))
        assert book["mutations", "a.py"].text == f"a.py edited{end}"


def test_what_stood_in_a_folder_that_git_restored_is_told_as_older() -> None:
    """CMP-8: `git checkout .` below one folder stood as `git reset --hard` of the whole tree, which nobody ran."""
    edits = ("/r/a.py edited", "/r/docs/b.md edited")
    mark = "; before git restored its folder at m2"
    assert told(*edits, "/r/docs/ restored by git") == [
        edits[0],
        f"{edits[1]}{mark}",
        "/r/docs/ restored by git",
    ]
    assert told(*edits, "docs restored by git")[:2] == [edits[0], f"{edits[1]}{mark}"]
    assert told("a.py edited", "docs/b.md edited", "/r/docs/ restored by git")[:2] == [
        "a.py edited",
        f"docs/b.md edited{mark}",
    ]
    assert told(*edits, "./ restored by git")[:2] == [f"{edit}{mark}" for edit in edits]
    assert told("/r/a.py edited", "/r/a.py restored by git") == ["/r/a.py restored by git"]
    assert told(*edits, "/r/docs/ restored by git", "/r/docs/b.md edited")[-1] == "/r/docs/b.md edited"


def test_lines_of_changes_are_read_back_with_the_key_they_had() -> None:
    """CMP-8: the next ledger merges them by their files."""
    texts = [
        "/r/a b.py edited, by sed: `s/a/b/`",
        "/r/a b.py removed by git clean",
        "/r/a b.py moved to x/a b.py",
        "/r/a b.py copied from c.py",
        "/r/a b.py restored by git",
        "/r/a b.py edited, lines 287:296: `x = [`",
        "/r/a b.py edited, +3: `x`; before git reset --hard at m4",
        "/r/a b.py written; put away by git stash at m4",
        "/r/a b.py edited, +3: `x`; before git restored its folder at m4",
    ]
    for text in texts:
        entry = Entry(section="mutations", key="/r/a b.py", text=text, seq=1, origin="assistant")
        assert read(f"## Workspace mutations\n{line_of(entry)}") == ((entry,), ())


def runs(*calls: tuple[str, str]) -> list[str]:
    """The evidence that stands of commands and their outputs, of which those that open with `!` are errors."""
    book: Book = {}
    for seq, (command, output) in enumerate(calls):
        text = Text(text=output.removeprefix("!"))
        result = ToolResult(call_id="a", content=(text,), is_error=output.startswith("!"))
        done = Done(seq=seq, call=ToolCall(id="a", name="bash", arguments="{}"), result=result)
        for entry in shell_entries(done, command=command, script=command, folder=""):
            put(book, entry)
    return [entry.text for entry in book.values() if entry.section == "evidence"]


FAILED_TWICE = [
    ("rspec", "Finished in 0.1 seconds\n4 examples, 1 failure"),
    ("prove", "Files=1, Tests=4, 0 wallclock secs\nResult: FAIL"),
    ("phpunit", "FAILURES!\nTests: 4, Assertions: 9, Failures: 1."),
    ("npx mocha", "  3 passing (5ms)\n  1 failing"),
    ("swift test", "Executed 4 tests, with 1 failure (0 unexpected) in 0.01 (0.01) seconds"),
    ("mix test", "4 tests, 1 failure\n\nRandomized with seed 1"),
    (
        "node --test",
        "# tests 4\n# suites 0\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 60",
    ),
    ("bazel test //...", "Executed 2 out of 2 tests: 1 test passes and 1 fails locally."),
    ("black --check .", "would reformat a.py\n1 file would be reformatted, 3 files would be left unchanged."),
    ("npx prettier --check .", "[warn] a.ts\n[warn] Code style issues found in the above file."),
    ("flake8", "a.py:1:1: F401 'os' imported but unused"),
    ("gofmt -l .", "a.go"),
    ("kubectl get pods", "web-1  0/1  CrashLoopBackOff  5"),
    ("docker compose up -d", "Container web  Started\nContainer db  Unhealthy"),
    ("curl -s -o /dev/null -w '%{http_code}' localhost/", "502"),
    ("curl -s localhost/", "<title>502 Bad Gateway</title>"),
    ("curl -s localhost/", '{"error":"db not reachable"}'),
    ("./check.sh", "Passed: 3/4"),
    ("./check.sh", "3 of 4 passed"),
    ("./check.sh", "RED"),
    ("./check.sh", "4 项检查完成,1 项不合格"),
    (
        "mvn test",
        "[INFO] Tests run: 4, Failures: 1\n[INFO] BUILD FAILURE\n[INFO] Total time: 3 s\n[INFO] Finished at: 2026-01-01",
    ),
    ("ansible-playbook x.yml", "PLAY RECAP ***\nh1 : ok=3 changed=1 unreachable=0 failed=1 skipped=0"),
    ("curl -s localhost/health", '{"status":"down","ok":false}'),
    ("curl -s localhost/ci/12", '{"passed":false,"tests":12}'),
    ("./check.sh", "12 checks completed, 3 red"),
    ("./check.sh", "75% passed"),
    ("./check.sh", "Score: 60 (pass mark 80) done"),
    ("./deploy.sh", "Deployed to canary; prod rollout halted"),
    ("npx eslint .", "  0 errors and 1 warning potentially fixable with the `--fix` option."),
    ("./check.sh", "unit: 1 red\n12 passed"),
    ("./check.sh", "Passed: 3/4\nAll checks passed!"),
    ("npx playwright test", "  1 flaky\n  3 passed (4s)"),
    ("npm test", "  ✓ loads (3 ms)\n  ✓ renders (2 ms)"),
    ("pytest -v", "tests/test_a.py::test_one PASSED [ 25%]"),
]


@pytest.mark.parametrize(("command", "output"), FAILED_TWICE)
def test_a_second_failure_without_a_status_settles_no_first(command: str, output: str) -> None:
    """CMP-8: each was told as `later runs show no failure`, or as settled, on the line that shows the failure."""
    [line] = runs((command, "!it broke"), (f"{command} 2>&1 | tail -9", output))
    assert line.endswith("; failed at m0, not seen to pass since: it broke")
    [again] = runs((command, "!it broke"), (command, output), (command, output))
    assert again.endswith("; failed at m0, not seen to pass since: it broke")


@pytest.mark.parametrize(
    "output",
    [
        "12 passed",
        "tests/test_a.py::test_failure PASSED [ 50%]\n======= 12 passed, 1 skipped in 3.05s =======",
        "ok",
        "All checks passed!",
        "test fails_early ... ok\ntest result: ok. 8 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        "PASS src/fail.test.ts\nTests:       4 passed, 4 total\nSnapshots:   0 total\nTime:        1.2 s\nRan all test suites.",
        "ok  \tx/a\t0.1s\nok  \tx/b\t(cached)",
        "[INFO] Tests run: 4, Failures: 0, Errors: 0\n[INFO] BUILD SUCCESS\n[INFO] Total time: 3 s\n[INFO] Finished at: 2026-01-01",
        "# tests 4\n# pass 4\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 60",
    ],
)
def test_a_run_that_passed_settles_one_that_failed(output: str) -> None:
    """CMP-8: the counterpart, also where only the end is shown."""
    for command in ("make test", "make test 2>&1 | tail -9"):
        [line] = runs(("make test", "!it broke"), (command, output))
        assert line.startswith(f"`{command}` → printed: ")
        assert line.endswith("; failed at m0")


def test_a_stated_status_settles_whatever_was_printed() -> None:
    """CMP-8: the host knows."""
    assert runs(("make test", "!it broke"), ("make test", "a.go\nExit code: 0")) == [
        "`make test` → ok; failed at m0"
    ]


@pytest.mark.parametrize(
    ("command", "pipe", "output"),
    [
        ("npm test", "| head -8", "Tests: 4 passed, 4 total"),
        ("pytest -v", "| head -6", "collected 4 items\n\ntests/test_a.py::test_one PASSED [ 25%]"),
        ("make", "2>&1 | head -3", "[ 10%] Building C object util.c.o\n[ 33%] Built target util"),
        ("go test ./...", "| head -1", "ok  \tx/b 0.1s"),
        ("cargo test", "2>&1 | head -6", "running 2 tests\ntest a ... ok"),
    ],
)
def test_the_beginning_of_an_output_settles_nothing(command: str, pipe: str, output: str) -> None:
    """CMP-8: what failed stands behind it."""
    [line] = runs((command, "!it broke"), (f"{command} {pipe}", output))
    assert line.endswith("; failed at m0, not seen to pass since: it broke")


@pytest.mark.parametrize(
    "between",
    [
        "cd web",
        "cd web && ls",
        "pushd web",
        "export NODE_ENV=test",
        "source .venv/bin/activate",
        "git checkout main",
        "git switch main",
        "git stash",
        "nvm use 20",
        "conda activate dev",
    ],
)
@pytest.mark.parametrize("output", ["Tests: 4 passed, 4 total", "x\nExit code: 0"])
def test_a_run_elsewhere_settles_nothing(between: str, output: str) -> None:
    """CMP-8: `npm test` failed at the root and passed in `web`, and the root's failure was told as settled."""
    saved = "Saved working directory and index state WIP on main: abc"
    lines = runs(
        ("npm test", "!it broke"), (between, saved if "stash" in between else ""), ("npm test", output)
    )
    assert lines[0] == "`npm test` → failed: it broke; moved on at m1"
    assert "failed" not in lines[-1]
    entry = Entry(section="evidence", key="npm test; moved on at m1", text=lines[0], seq=0, origin="tool")
    assert read(f"## Verification evidence\n{line_of(entry)}") == ((entry,), ())


def test_a_command_that_names_its_folder_runs_there_wherever_the_shell_stands() -> None:
    """CMP-8: the other side: `cd` touches no line that changes to its own folder, and none that failed itself."""
    test = "cd /p && npm test"
    assert runs((test, "!it broke"), ("cd web", ""), (test, "4 passed"))[-1].endswith(
        "4 passed; failed at m0"
    )
    assert runs((test, "!it broke"), ("nvm use 20", ""), (test, "4 passed"))[0].endswith("; moved on at m1")
    assert runs(("make", "!it broke"), ("cd web", "!no such folder"), ("make", "ok"))[-1] == (
        "`make` → printed: ok; failed at m0"
    )
    assert runs(("cd web", "!no such folder"), ("cd web", "Exit code: 0")) == ["`cd web` → ok; failed at m0"]


@pytest.mark.parametrize(
    ("between", "answer"),
    [
        ("git checkout src/a.py", "Updated 1 path from the index"),
        ("git checkout nope", "error: pathspec 'nope' did not match any file(s) known to git"),
    ],
)
def test_a_checkout_of_files_or_of_nothing_moves_nothing_on(between: str, answer: str) -> None:
    """CMP-8: a failure stayed open for good, whatever passed behind it."""
    lines = runs(("npm test", "!it broke"), (between, answer), ("npm test", "4 passed"))
    assert lines[-1] == "`npm test` → printed: 4 passed; failed at m0"


def test_a_file_whose_name_reads_as_a_pattern_is_the_one_that_is_named() -> None:
    """CMP-8: the folders of routes are called so."""
    path = "app/[id]/page.tsx"
    assert told(f"{path} edited", f"{path} removed") == [f"{path} removed"]


def test_an_edit_that_failed_is_made_later_wherever_the_shell_stands() -> None:
    """CMP-8: the other side: its line says where the file was changed."""
    book: Book = {}
    edit = Entry(section="evidence", key="edit a.py", text="edit of `a.py` → failed: x", seq=1, origin="tool")
    put(book, edit)
    put(book, Entry(section="evidence", key="nvm use 20", text="", seq=2, origin="tool"))
    assert list(book.values()) == [edit]


def test_what_an_earlier_ledger_says_of_later_runs_stays_open() -> None:
    """CMP-8: `later runs show no failure` meant no more than that none was recognised."""
    book: Book = {}
    for seq, text in enumerate(("printed: x; failed at m3; later runs show no failure", "printed: y")):
        put(book, Entry(section="evidence", key="make", text=f"`make` → {text}", seq=seq, origin="tool"))
    assert [entry.text for entry in book.values()] == [
        "`make` → printed: y; failed at m3, not seen to pass since"
    ]


@pytest.mark.parametrize(
    ("between", "output"),
    [
        ("git checkout main && git checkout -- a.py", "Updated 1 path from the index"),
        ("git checkout main && make", "Switched to branch 'main'\nerror: it broke"),
        ("nvm use 20 && git checkout a.py", "Updated 1 path from the index"),
        ("cd web; ls nope", "ls: cannot access 'nope': No such file or directory"),
    ],
)
def test_a_switch_beside_something_else_is_one(between: str, output: str) -> None:
    """CMP-8: what the rest of the line says takes no switch back: a pass in another place settled the failure."""
    assert "moved on at m1" in runs(("npm test", "!it broke"), (between, output))[0]
