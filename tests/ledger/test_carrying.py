"""What a newer line of the ledger makes of older ones holds for the files that it is about, and no others."""

from __future__ import annotations

from foldline.ledger.carrying import Book, put
from foldline.ledger.entries import Entry
from foldline.ledger.render import key_of, line_of, read


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
    ]
    for text in texts:
        entry = Entry(section="mutations", key="/r/a b.py", text=text, seq=1, origin="assistant")
        assert read(f"## Workspace mutations\n{line_of(entry)}") == ((entry,), ())
