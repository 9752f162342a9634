"""Which command a line runs, and which others beside."""

from __future__ import annotations

import pytest

from foldline.core.view import Item, item_of
from foldline.ledger.book import entries_of
from foldline.ledger.runs import filters, ran_well, run_of, runs_in
from foldline.testing.builders import assistant, call, result


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("npm test 2>&1 | tail -5", "npm test"),
        ("npm test 2>&1 | grep -E '(error|warning)' | head -10", "npm test"),
        ('npm test | grep -i -A 3 "fail\\|error"', "npm test"),
        ("npm test |& rg error", "npm test"),
        ("npm test | grep ok", "npm test | grep ok"),
        ("npm test | grep -v error", "npm test | grep -v error"),
        ("npm test | grep -c error", "npm test | grep -c error"),
        ("npm test | grep error a.log", "npm test | grep error a.log"),
        ("npm test || grep error", "npm test || grep error"),
        ("grep error a.log", "grep error a.log"),
    ],
)
def test_a_run_is_known_whatever_is_shown_of_it(command: str, run: str) -> None:
    """CMP-8: what a filter shows of a run is shown of that run."""
    assert run_of(command) == run


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("cd /w && npm test 2>&1 | tail -3", ()),
        ("npm test", ()),
        ("npm run lint && npm test", ("npm run lint", "npm test")),
        ("cd /w && go vet ./... && go test ./...", ("cd /w && go vet ./...", "cd /w && go test ./...")),
        ("cd /w && npm test && git add -A && git commit -m x", None),
        ("npm test; npm run lint && ls", ()),
        ("npm test && npm run lint &", ()),
        ("npm test || npm run lint && true", ()),
        ("npm test | tee a && npm run lint", ()),
        ("ls && npm test", ("npm test",)),
        ("&&", ()),
        ("", ()),
    ],
)
def test_a_line_that_went_well_tells_of_every_command_that_it_ran_one_after_the_other(
    line: str, runs: tuple[str, ...] | None
) -> None:
    """CMP-8: `a && b` reaches `b` only behind an `a` that went well."""
    if runs is None:
        assert runs_in(line)[0] == "cd /w && npm test"
    else:
        assert runs_in(line) == runs


def test_a_filter_would_show_what_holds_one_of_its_words() -> None:
    assert filters("npm test | grep -E '(error|warn)'", "a.ts(3): error TS1")
    assert filters("npm test | grep -i ERROR", "an error")
    assert not filters("npm test | grep ERROR", "an error")
    assert not filters("npm test | grep error", "")
    assert not filters("npm test", "an error")


def told(*runs: tuple[str, str]) -> list[str]:
    messages = [
        message
        for n, (command, output) in enumerate(runs)
        for message in (assistant(call("bash", f"c{n}", command=command)), result(f"c{n}", output))
    ]
    items: list[Item] = [item_of(n, m, weights=(1,), overhead=1) for n, m in enumerate(messages)]
    return [entry.text for entry in entries_of(items) if entry.section == "evidence"]


FAILS = ("cd /w && go test ./...", "--- FAIL: TestA (0.0s)\nexit code: 1")
WELL = ("cd /w && go vet ./... && go test ./...", "ok  \tx/y\t0.34s")


def test_a_line_that_ran_the_command_among_others_settles_its_failure() -> None:
    """CMP-8: `go vet && go test` passed, and the failure of `go test` read as if it stood."""
    assert (
        told(FAILS, WELL)[0]
        == "`cd /w && go test ./...` → failed (exit 1): --- FAIL: TestA (0.0s); passed at m2"
    )
    committed = (
        "cd /w && go test ./... && git commit -qam x && git log -1 --oneline",
        "[main 3f2a1bc] x\nok",
    )
    assert told(FAILS, committed)[0].endswith("; passed at m2")
    assert (
        told(FAILS, ("cd /w && go vet ./... && go test ./...", "--- FAIL: TestA (0.0s)"))[0] == told(FAILS)[0]
    )
    assert told(FAILS, ("go vet ./... && go test ./...", WELL[1]))[0] == told(FAILS)[0], "in another folder"


def test_what_passed_among_others_may_fail_again() -> None:
    again = told(FAILS, WELL, FAILS)
    assert again[-1] == "`cd /w && go test ./...` → failed (exit 1): --- FAIL: TestA (0.0s)"
    unclear = told(FAILS, WELL, (FAILS[0], "hm"))
    assert unclear[-1] == "`cd /w && go test ./...` → printed: hm; failed at m0"


def test_a_status_or_the_last_line_at_its_end_says_that_a_line_ran_well() -> None:
    assert ran_well("npm test | head -3", "ok")
    assert ran_well("npm test | tail -3", "printed: 12 passed")
    assert not ran_well("npm test | head -3", "printed: 12 passed")
    assert not ran_well("npm test", "printed: hm")
