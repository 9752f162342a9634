"""`foldline recall`: hits for people and programs, originals untouched, nothing that acts on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldline.stores.disk import DiskStore
from foldline.testing.builders import assistant, call, image, result, user
from tests.cli.running import run, run_on_screen
from tests.recall.logs import written

LINES = "\n".join(f"line {number} pool" for number in range(1, 2_001))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    store = DiskStore(tmp_path / "home", clock=lambda: 1_796_001_869_815)
    messages = [
        user("why does login fail? \x1b[2Jred"),
        assistant(call("bash", "c1", command="cat app.log")),
        result("c1", LINES, image()),
    ]
    written(store, "fix-login", messages)
    written(store, "other", [user("login elsewhere")])
    return tmp_path / "home"


def document(*args: str) -> dict[str, object]:
    """What `--json` prints."""
    done = run("recall", *args, "--json")
    assert done.exit_code == 0, done.output
    told: dict[str, object] = json.loads(done.stdout)
    assert told["schema"] == "foldline.recall/1"
    return told


def address_of(query: str) -> str:
    """The address of the best hit."""
    hits = document(query)["hits"]
    assert isinstance(hits, list)
    return str(hits[0]["address"])


def test_hits_name_their_address_session_and_time() -> None:
    done = run("recall", "fix-login", "pool")
    assert done.exit_code == 0
    first, second = done.stdout.splitlines()
    assert first.endswith("result of bash, line 1 of 2001, session fix-login, 2026-11-30 01:24 UTC")
    assert second.startswith("    line 1 pool line 2 pool")


def test_on_a_terminal_a_hit_is_broken_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal itself would break it anywhere."""
    monkeypatch.setenv("COLUMNS", "45")
    rows = run_on_screen(monkeypatch, "recall", "fix-login", "pool").out.splitlines()
    assert max(map(len, rows)) <= 45
    in_pipe = run("recall", "fix-login", "pool").stdout
    assert " ".join(rows).split() == in_pipe.split()


def test_all_sessions_are_searched_unless_one_is_named() -> None:
    hits = document("login")["hits"]
    assert isinstance(hits, list)
    assert {hit["session"] for hit in hits} == {"fix-login", "other"}
    narrowed = document(
        "other", "login", "--role", "user", "--kind", "text", "--limit", "1", "--since", "2026-01-01"
    )
    assert [hit["session"] for hit in narrowed["hits"]] == ["other"]  # type: ignore[attr-defined]
    assert document("login", "--until", "2020-01-01")["hits"] == []
    assert document("pool", "--tool", "read")["hits"] == []


def test_a_ledgers_short_address_is_opened_in_a_named_session() -> None:
    """Without one it is a word to be searched, and it is said how the place is opened."""
    opened = document("fix-login", "m1")
    assert (opened["title"], opened["session"]) == ("message 1, assistant", "fix-login")
    done = run("recall", "fix-login", "m9")
    assert (done.exit_code, "nothing there, but m0 to m2" in done.stderr) == (1, True)
    word = run("recall", "m1")
    assert word.exit_code == 0
    assert "foldline recall SESSION m1 opens it" in word.stderr
    assert "opens it" not in run("recall", '"m1"').stderr


def test_nothing_that_acts_on_a_terminal_is_printed() -> None:
    """S10: words for people are neutral in a pipe too."""
    assert "\x1b" not in run("recall", "login").stdout


def test_an_original_comes_untouched_bounded_and_says_what_was_left_out() -> None:
    address = address_of("pool")
    done = run("recall", "fix-login", address, "--tokens", "50")
    assert LINES.startswith(done.stdout)
    assert "of 2,001; the rest with --lines" in done.stderr
    assert "with image image/png; `foldline show` gives it back" in done.stderr
    assert run("recall", address, "--lines", "7-8").stdout == "line 7 pool\nline 8 pool"
    assert run("recall", address_of('"why does"')).stdout == "why does login fail? \x1b[2Jred"


def test_an_original_as_a_document() -> None:
    told = document(address_of("pool"), "--lines", "7")
    assert (told["text"], told["lines"], told["rest"]) == ("line 7 pool", [7, 7], "lines 8-")
    assert told["media"] == [{"kind": "image", "mime": "image/png", "name": None, "url": None}]


def test_nothing_found_is_no_failure() -> None:
    done = run("recall", "xylophone")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing was found" in done.stderr


def test_more_than_is_shown_is_said(home: Path) -> None:
    written(DiskStore(home), "many", [user(f"alpha {number}") for number in range(9)])
    done = run("recall", "alpha", "--limit", "2")
    assert len(done.stdout.splitlines()) == 4
    assert "there are more" in done.stderr


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (["nope", "pool"], 1, "no session is called 'nope'"),
        (["m9.9@00000000"], 1, "no session holds that"),
        (["a", "b", "c"], 2, "into quotes"),
        (["pool", "--lines", "3"], 2, "--lines is for an address"),
        (["pool", "--tokens", "90"], 2, "--tokens is for an address"),
        (["pool", "--since", "yesterday"], 2, "a time is written"),
        (["pool", "--limit", "0"], 2, "limit"),
        ([" "], 2, "say what to look for"),
        ([], 2, "QUERY"),
    ],
)
def test_what_is_wrong_is_said_with_its_exit_code(args: list[str], code: int, why: str) -> None:
    done = run("recall", *args)
    assert done.exit_code == code
    assert why in done.stderr
    assert done.stdout == ""


def test_notes_of_a_search_go_to_people(home: Path) -> None:
    """A search without an index says so."""
    (home / "recall.sqlite").mkdir()
    done = run("recall", "pool")
    assert done.stdout.startswith("m2.0@")
    assert "the logs themselves were searched" in done.stderr
