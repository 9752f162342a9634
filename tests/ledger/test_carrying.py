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
