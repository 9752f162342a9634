"""What all sessions come to, with costs at declared prices."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline.cli.exits import code_of
from foldline.core.errors import SessionBusy
from foldline.statistics import cost_of, statistics
from foldline.stores.disk import DiskStore
from foldline.tokens.models import model
from tests.privacy.test_statistics import entry, filled


def row(name: str, **tokens: int) -> dict[str, Any]:
    told = dict.fromkeys(("tokens_input", "tokens_output", "tokens_cache_read", "tokens_cache_write"), 0)
    return {"model": name, **told, **tokens}


def test_the_document_adds_up_over_sessions(tmp_path: Path) -> None:
    """JRN-11: compactions, tokens freed a pass, retention, costs; rebuilt from nothing it is the same."""
    store = filled("a", "b")
    document = statistics(store, tmp_path)
    assert document["sessions"] == 2
    assert document["events"] == {"COMPRESSION": 2, "TOOL_CALL": 2, "TOOL_RESULT": 2, "USER_INPUT": 2}
    [compactions] = document["compactions"]
    assert compactions == {
        "policy": "balanced",
        "count": 2,
        "undone": 0,
        "unfolded": 0,
        "tokens_before": 2000,
        "tokens_after": 1400,
        "tokens_freed": 600,
    }
    assert document["passes"] == [{"name": "microcompact", "runs": 2, "edits": 4, "tokens_freed": 600}]
    assert document["retention"] == {
        "paths": {"total": 8, "in_view": 6, "recallable": 2, "lost": 0, "altered": 0}
    }
    assert [(tool["tool"], tool["calls"], tool["failed"]) for tool in document["tools"]] == [("run", 2, 0)]
    assert document["unpriced"] == ["m"]
    (tmp_path / "statistics.sqlite").unlink()
    assert statistics(store, tmp_path) == document
    assert statistics(store, tmp_path, session="a")["events"]["USER_INPUT"] == 1
    store.remove("b")
    assert statistics(store, tmp_path)["events"]["USER_INPUT"] == 1


def test_a_home_that_keeps_no_file_has_its_logs_counted_all_the_same(tmp_path: Path) -> None:
    """JRN-11: the numbers are the logs', and what is in the way is said; as of the search index."""
    store = filled("a", "b")
    document = statistics(store, tmp_path / "sound")
    (tmp_path / "other").write_text("")
    (tmp_path / "statistics.sqlite").symlink_to(tmp_path / "other")
    told = statistics(store, tmp_path)
    [problem] = told.pop("problems")
    assert ("symbolic link" in problem, "counted from their beginning" in problem) == (True, True)
    assert {**told, "problems": []} == document
    assert (tmp_path / "other").read_text() == ""


@pytest.mark.parametrize(
    ("later", "counting"),
    [
        ([("undo", {"entry": 3})], 0),
        ([("rollback", {"to": 2})], 0),
        ([("rollback", {"to": 3})], 1),
        ([("undo", {"entry": 3}), ("rollback", {"to": 3})], 1),
        ([("rollback", {"to": 1}), ("rollback", {"to": 3})], 1),
        ([("undo", {"entry": "x"}), ("rollback", {"to": 99}), ("undo", {})], 1),
    ],
    ids=[
        "undone",
        "behind a rollback",
        "rolled back to",
        "the undo undone",
        "the rollback undone",
        "no such",
    ],
)
def test_a_compaction_that_was_taken_back_has_freed_nothing(
    tmp_path: Path, later: list[tuple[str, dict[str, Any]]], counting: int
) -> None:
    """JRN-11: it counts in a column of its own, with its passes and its facts, until a rollback brings it back."""
    store = filled("a")
    before = statistics(store, tmp_path)
    journal = store.write("a")
    journal.append([entry(kind, **body) for kind, body in later])
    document = statistics(store, tmp_path)
    [row] = document["compactions"]
    assert (row["count"], row["undone"], row["tokens_freed"]) == (counting, 1 - counting, 300 * counting)
    assert document["passes"] == (before["passes"] if counting else [])
    assert document["retention"] == (before["retention"] if counting else {})
    (tmp_path / "statistics.sqlite").unlink()
    assert statistics(store, tmp_path) == document


def test_what_counts_of_a_real_session_is_what_the_session_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compacted, undone, compacted, forked, and undone in the fork alone."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    with foldline.open("s") as session:
        for n in range(30):
            session.user(f"step {n}: " + "look at the logs and say what is wrong. " * 20)
        session.compact(to=0.5)
        session.undo()
        session.compact(to=0.5)
        session.compact(to=0.3)
        with session.fork("f") as fork:
            fork.undo()
            fork.user("go on")
            fork.compact(to=0.8)
            of_fork = [made.counts for made in fork.compactions if made.seq > session.seq]
        of_parent = [made.counts for made in session.compactions]
    assert of_parent == [False, True, True]
    for name, counting in (("s", of_parent), ("f", of_fork)):
        [row] = statistics(DiskStore(tmp_path), tmp_path, session=name)["compactions"]
        assert (row["count"], row["undone"]) == (sum(counting), len(counting) - sum(counting))


def test_spans_that_were_unfolded_stand_in_a_column_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JRN-11: of compactions that count, each span once; an unfold behind a rollback is none."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))

    def told() -> tuple[int, ...]:
        [row] = statistics(DiskStore(tmp_path), tmp_path)["compactions"]
        return (row["count"], row["undone"], row["unfolded"])

    with foldline.open("s") as session:
        for n in range(30):
            session.user(f"step {n}: " + "look at the logs and say what is wrong. " * 20)
            session.record({"role": "assistant", "content": "done"})
        session.compact(to=0.5)
        [made] = session.compactions
        [address, *_] = made.report["covers"]["addresses"]
        assert told() == (1, 0, 0)
        before = session.seq
        session.unfold(address)
        assert told() == (1, 0, 1)
        session.unfold(address)
        assert told() == (1, 0, 1)
        session.rollback(to=before)
        assert told() == (1, 0, 0)
        session.unfold(address)
        session.undo()
        assert told() == (0, 1, 0)


def test_a_file_that_another_process_writes_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """interface.md, exit codes: 4 is busy; after a bounded wait."""
    store = filled("a")
    statistics(store, tmp_path)
    monkeypatch.setattr("foldline.recall.database.BUSY_S_MAX", 0.01)
    with closing(sqlite3.connect(tmp_path / "statistics.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SessionBusy) as caught:
            statistics(store, tmp_path)
    assert code_of(caught.value) == 4
    assert "fork" not in str(caught.value)


def test_cached_tokens_are_a_part_of_the_input_and_have_their_own_price() -> None:
    """TOK-4: never counted twice."""
    name = "claude-sonnet-4-5"
    prices = model(name).prices
    assert prices.input is not None
    assert prices.output is not None
    assert prices.cache_read is not None
    million = 1_000_000
    assert cost_of(row(name, tokens_input=million)) == prices.input
    assert cost_of(row(name, tokens_input=million, tokens_cache_read=million)) == prices.cache_read
    assert cost_of(row(name, tokens_output=million)) == prices.output


@pytest.mark.parametrize("name", ["", "no-such-model-anywhere"])
def test_a_model_without_a_price_has_no_cost(name: str) -> None:
    """It is named instead of being counted as free."""
    assert cost_of(row(name, tokens_input=5)) is None


def test_attempts_of_a_model_that_came_to_nothing_are_counted_by_name(tmp_path: Path) -> None:
    """OBS-1: failures, of compactions that were made without the model and of those that were not made at all."""
    from foldline.core.entry import Draft
    from foldline.log.values import dumps

    store = DiskStore(tmp_path)
    log = store.create("s", format="anthropic", about=b"{}")
    report = {"summary": {"failures": [{"name": "empty"}, {"name": "overflow"}]}}
    log.append([Draft(kind="begin", body=b"{}")])
    log.append([Draft(kind="compaction", body=dumps({"begin": 0, "edits": [], "report": report}))])
    log.append([Draft(kind="begin", body=b"{}")])
    settled = {"begin": 2, "outcome": "failed", "why": "x", "failures": ["empty"]}
    log.append([Draft(kind="settle", body=dumps(settled))])
    log.close()
    assert statistics(store, tmp_path)["failures"] == {"empty": 2, "overflow": 1}
