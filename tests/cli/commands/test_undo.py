"""`foldline undo`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foldline.core.entry import Draft
from foldline.home import disk_store
from tests.cli.running import documents, run
from tests.cli.sessions import imported


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    imported()


def test_the_last_compaction_is_taken_back() -> None:
    """Record 0006: an undo is an entry, nothing leaves the log. A dry run says the same and changes nothing. What the provider
    had counted ended with the compaction (TOK-5), so that until the next answer all of it is estimated."""
    [before] = documents(run("context", "demo", "--json").stdout)
    assert run("compact", "demo", "--to", "5k").exit_code == 0
    assert "23 messages would be in view again (11 now)" in run("undo", "demo", "--dry-run").stderr
    [document] = documents(run("undo", "demo", "--json").stdout)
    assert (document["messages_after"], document["address"]) == (23, None)
    [after] = documents(run("context", "demo", "--json").stdout)
    rests_on_count = {"tokens_projected", "percent", "tokens_anchored", "tokens_estimated", "notes"}
    assert {key for key in before if after[key] != before[key]} == rests_on_count
    assert (after["tokens_anchored"], after["tokens_estimated"]) == (0, after["tokens_projected"])
    said = "what the provider last counted was before a compaction; until its next answer all is estimated"
    assert [note for note in after["notes"] if note not in before["notes"]] == [said]
    assert said in " ".join(run("context", "demo").stderr.split())
    again = run("undo", "demo")
    assert (again.exit_code, "no compaction of it counts" in again.stderr) == (2, True)


def test_an_address_takes_back_one_fold_alone() -> None:
    """Unfold: the rest of the compaction stands."""
    run("compact", "demo", "--to", "5k")
    [shown] = documents(run("export", "demo", "--as", "anthropic", "-o", "-").stdout)
    fold = re.search(r'foldline-fold id="(m[\d-]+@[0-9a-f]{8})"', str(shown["messages"]))
    assert fold is not None
    [document] = documents(run("undo", "demo", fold[1], "--json").stdout)
    assert document["address"] == fold[1]
    assert document["messages_before"] < document["messages_after"] <= 23
    [left] = documents(run("export", "demo", "--as", "anthropic", "-o", "-").stdout)
    assert "foldline-fold" not in str(left["messages"])
    assert "[foldline: " in str(left["messages"])


@pytest.mark.parametrize("what", ["3", "999", "m0@00000000", "rubbish"])
def test_what_was_never_done_is_not_undone(what: str) -> None:
    """Bad input gets an error that names the place."""
    run("compact", "demo", "--to", "5k")
    done = run("undo", "demo", what)
    assert done.exit_code in (1, 2)
    assert what in done.stderr


def test_the_list_names_compactions_by_the_numbers_that_undo_takes() -> None:
    """Interface: `undo(entry)`; what was taken back is said to be. A dry run of each number works."""
    assert "never compacted" in run("undo", "demo", "--list").stderr
    run("compact", "demo", "--to", "9k")
    run("compact", "demo", "--to", "5k")
    run("undo", "demo")
    [document] = documents(run("undo", "demo", "--list", "--json").stdout)
    first, second = document["compactions"]
    assert (first["counts"], second["counts"]) == (True, False)
    shown = run("undo", "demo", "--list").stdout
    assert str(first["entry"]) in shown
    assert "taken back" in shown
    assert run("undo", "demo", str(first["entry"]), "--dry-run").exit_code == 0
    assert run("undo", "demo", str(second["entry"]), "--dry-run").exit_code == 2
    assert run("undo", "demo", "3", "--list").exit_code == 2


def test_a_long_list_of_compactions_comes_by_page() -> None:
    """CLI, paging: the newest, and what is before them, forks included; `--json` has all of them."""
    body = b'{"edits":[{"edit":"drop","messages":[[0,0]]}],"report":{"policy":"p%d"}}'
    journal = disk_store().create("long", format="anthropic", about=b"{}")
    said = Draft(kind="message", body=b'{"format":"anthropic","wire":{"role":"user","content":"hi"}}')
    journal.append([said, *(Draft(kind="compaction", body=body % n) for n in range(150))])
    journal.append([Draft(kind="undo", body=b'{"entry":148}')])
    journal.close()
    run("fork", "long", "after")
    for session in ("long", "after"):
        newest = run("undo", session, "--list")
        assert f"older: foldline undo {session} --list --before 51" in newest.stderr
        assert "p50" in newest.stdout
        assert "p49" not in newest.stdout
        assert "taken back" in newest.stdout
        older = run("undo", session, "--list", "--before", "51")
        assert ("p49" in older.stdout, "p50" in older.stdout, "older:" in older.stderr) == (
            True,
            False,
            False,
        )
        [document] = documents(run("undo", session, "--list", "--json").stdout)
        assert [one["entry"] for one in document["compactions"]] == list(range(1, 151))
        assert [one["entry"] for one in document["compactions"] if not one["counts"]] == [148]
        [document] = documents(run("undo", session, "--list", "--json", "--limit", "3").stdout)
        assert document["before"] == 148
        assert len(document["compactions"]) == 3
    assert "never compacted before that" in run("undo", "long", "--list", "--before", "0").stderr
    assert "go with --list" in run("undo", "long", "--before", "7").stderr


@pytest.mark.parametrize("session", ["demo", "fork"])
def test_an_entry_that_events_names_is_one_that_undo_and_rollback_take(session: str) -> None:
    """JRN-16: one number for one entry, in a fork too, whose own log begins with its parent's next number."""
    run("compact", "demo", "--to", "9k")
    run("fork", "demo", "fork")
    run("compact", session, "--to", "5k")
    events = documents(run("events", session, "--lines").stdout)
    entry = [event["entry"] for event in events if event["type"] == "COMPRESSION"][-1]
    [listed] = documents(run("undo", session, "--list", "--json").stdout)
    assert [made["entry"] for made in listed["compactions"]][-1] == entry
    assert f" {entry}  " in run("events", session).stdout
    assert run("rollback", session, "--before", str(entry), "--dry-run").exit_code == 0
    assert f"compaction {entry} " in run("undo", session, str(entry)).stderr
