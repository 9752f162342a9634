"""The report for people says what the report's document says, and fits its page."""

from __future__ import annotations

import io
import sys
from typing import Any, get_args

import pytest
from rich.cells import cell_len
from rich.console import Console

from foldline.cli import report, screen
from foldline.core.pairing import RepairKind
from foldline.transcripts.transcript import Transcript
from tests.cli import stub_files
from tests.cli.running import run

OPTIONS = stub_files.CompactOptions(to=20_000, model=None, counter=None, focus=None, as_format=None)


def printed(document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, columns: int = 100) -> str:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", str(columns))
    screen.show(*report.blocks_of(document, name="my session.jsonl"))
    return out.getvalue()


def test_every_number_of_the_document_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, after, target, passes, what is covered and how to read it, cache, validity."""
    page = printed(stub_files.report("compacted", OPTIONS), monkeypatch)
    for words in (
        "compacted  my session.jsonl",
        "pi · balanced · counted with o200k_base",
        "135,468 → 17,853   87% less · target 17,858",
        "354 once mended, 41 as written",
        "microcompact  212 edits  60,211 freed",
        "1 edit  57,404 freed",
        "313 messages folded; read the originals with",
        "template, made from 100% of the 118,000 tokens that left",
        "1 × orphan, 1 × text",
        "foldline show 'my session.jsonl' ADDRESS",
        "m2.0@4f2a91c0text",
        "and 9 more",
        "120: 101 in view · 19 recallable · 0 lost · 0 altered",
        "5,210 tokens of the prefix kept · 12,643 read anew once · 117,615 saved each turn",
        "yes, by the laws",
        "61 ms",
    ):
        assert words in page


@pytest.mark.parametrize("columns", [40, 60, 100, 200])
def test_the_page_fits_its_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 60 columns and at 200."""
    page = printed(stub_files.report("failed", OPTIONS), monkeypatch, columns=columns)
    assert max(cell_len(row) for row in page.splitlines()) <= min(columns, screen.WIDTH_MAX)


def test_a_target_that_was_not_reached_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interface: `reason` is set for all outcomes but `compacted`."""
    page = printed(stub_files.report("unreachable", OPTIONS), monkeypatch)
    assert page.startswith("unreachable")
    assert "why       because text" in page


def test_violations_stand_with_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """An invalid result is never shown as if it were fine."""
    document = stub_files.report("failed", OPTIONS)
    document["violations"] = [{"law": "PAIR", "at": "message 3", "why": "no result"}] * 25
    page = printed(document, monkeypatch)
    assert page.count("PAIR message 3: no result") == report.VIOLATIONS_MAX
    assert "and 5 more" in page


def test_a_report_with_nothing_but_the_necessary_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """`unchanged` has no passes, no covers, no cache; empty parts leave no empty lines."""
    document = {"outcome": "unchanged", "reason": "below the threshold", "format": "pi", "policy": "balanced",
                "counter": "o200k_base", "messages_before": 4, "messages_after": 4, "tokens_before": 90,
                "tokens_after": 90, "tokens_target": None, "passes": [], "covers": {"messages": 0, "addresses": []},
                "retention": {}, "summary": None, "cache": None, "valid": True, "seconds": 0.001}  # fmt: skip
    page = printed(document, monkeypatch)
    assert "90 → 90" in page
    assert "4 as read, 4 as written, none folded" in page
    assert "none folded" not in printed(
        document | {"outcome": "compacted", "covers": {"messages": 1, "addresses": ["m1@00000000"]}},
        monkeypatch,
    )
    assert not [row for row in page.splitlines() if not row.strip()]
    assert not any(word in page for word in ("passes", "covers", "cache", "facts", "None"))
    assert "4 as read, 3 as written, none folded" in printed(document | {"messages_after": 3}, monkeypatch)


def test_many_sessions_are_a_table_with_the_gravest_outcome_on_top(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with many conversations gives `foldline.reports/1`."""
    one, other = (stub_files.report(outcome, OPTIONS) for outcome in ("compacted", "unreachable"))
    page = printed(
        {"schema": "foldline.reports/1", "sessions": [one] * 24 + [other], "totals": {}}, monkeypatch
    )
    assert page.startswith("24 compacted, 1 unreachable")
    assert "and 5 more" in page
    assert "in all 3,386,700 → 446,325 tokens in 25 sessions" in page


def test_every_repair_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """OBS-3: the name of a kind is no sentence; each kind of repair has its words, and no word stands for a kind that there is not."""
    assert set(report.MENDED) == set(get_args(RepairKind))
    document = stub_files.report("compacted", OPTIONS)
    document["repairs"] = [
        {"kind": kind} for kind in ("interrupted-call", "blank-text", "blank-text", "later")
    ]
    told = "2 blank texts left out, 1 call without a result closed, 1 × later"
    assert told in printed(document, monkeypatch)


def test_a_history_that_was_only_mended_saves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """OBS-3: what a repair takes out is no compaction, so neither a share nor a saving is named."""
    page = printed(stub_files.report("unchanged", OPTIONS) | {"tokens_before": 32_677, "tokens_after": 32_645, "cache": {
        "prefix_tokens_kept": 17, "tokens_reread": 32_628, "net_tokens_saved_per_turn": 32}}, monkeypatch)  # fmt: skip
    assert "32,677 → 32,645   mended only" in page
    assert "saved each turn" not in page


def test_what_was_left_out_is_said_once() -> None:
    """Records skipped in each of many conversations are summed; a note is not repeated."""
    one = Transcript(
        format="pi", wire="anthropic", messages=(), skipped=(("progress", 3),), notes=("a branch",)
    )
    assert report.notes_of([one, one]) == [
        "a branch",
        "left out, no part of the conversation: 6 × progress",
    ]
    assert report.notes_in({"sessions": [{"notes": ["a", "b"]}, {"notes": ["a"]}, {}]}) == ["a", "b"]


def test_parts_alone_and_small_savings_are_said_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compaction that folded nothing; a cache that saves nothing; a summary made from nothing."""
    document = stub_files.report("compacted", OPTIONS)
    document["covers"] = {"messages": 0, "addresses": ["m1.0@5f0c9a1e"]}
    document["cache"]["net_tokens_saved_per_turn"] = 0
    document["summary"] = {"kind": "notice", "evicted_tokens": 0, "seen_tokens": 0}
    page = printed(document, monkeypatch)
    assert "parts of messages, no message whole; read the originals with" in page
    assert "more (--json" not in page
    assert "saved each turn" not in page
    assert "summary   notice" in page


@pytest.mark.usefixtures("stub")
def test_a_report_in_a_pipe_is_plain_text() -> None:
    """No colours, no spaces at line ends."""
    done = run("compact", "session.jsonl", "--to", "20k")
    assert "\x1b" not in done.stderr
    assert not [row for row in done.stderr.splitlines() if row != row.rstrip()]


def test_altered_facts_come_with_a_word_of_what_that_means() -> None:
    """OBS-3: a number that nobody can read is no report."""
    counts = {"total": 3, "in_view": 1, "recallable": 1, "lost": 0}
    for altered, says in ((0, False), (1, True)):
        document = {"outcome": "compacted", "retention": {"paths": {**counts, "altered": altered}}}
        page = Console(width=100, file=(out := io.StringIO()))
        page.print(*report.blocks_of(document, name="s"))
        assert ("another value" in out.getvalue()) is says
