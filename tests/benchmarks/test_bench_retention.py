"""The benchmark of retention measures what its table says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.bench_retention import before_first_compaction, main, own_judge, whole_case
from benchmarks.continuation.measure import recent_rounds
from benchmarks.continuation.rows import last_units
from benchmarks.continuation.session import Session
from foldline.core.message import Message, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.reduce import history_of
from foldline.tokens.choose import counter_for

COUNTER = counter_for(counter="o200k_base")


def session_of(*results: str) -> Session:
    """A user's message, then a round for each result."""
    messages = [Message(role="user", parts=(Text(text="go"),))]
    for number, result in enumerate(results):
        call = ToolCall(id=f"c{number}", name="read", arguments="{}")
        messages.append(Message(role="assistant", parts=(call,)))
        messages.append(
            Message(role="tool", parts=(ToolResult(call_id=call.id, content=(Text(text=result),)),))
        )
    return Session("s", history_of(messages, needs=Needs(), counter=COUNTER, tokens_fixed=0), COUNTER)


def test_facts_of_results_are_found_in_what_is_left() -> None:
    """Another value of the same key is another fact; a run of numbers after its key holds each of them."""
    items = session_of("src/a.py: port=8787", "src/b.py: port=9000").items
    assert own_judge(items, "src/a.py port: 9000, 8787") == {"paths": (2, 1), "numbers": (2, 2)}
    assert own_judge(items, "nothing")["numbers"] == (2, 0)


def test_only_the_unbroken_run_of_whole_rounds_at_the_end_counts() -> None:
    """Whole recent rounds are wanted; a round behind a gap, or a shortened one, is none."""
    session = session_of("one " * 50, "two " * 50, "three " * 50)
    view, items = session.history.view, session.items
    rounds = [sum(item.tokens for item in items[at : at + 2]) for at in (1, 3, 5)]
    assert recent_rounds(view, items).whole == sum(rounds)
    assert recent_rounds(view, items).next == 0
    assert recent_rounds(view, (*items[:3], *items[5:])).whole == rounds[2]
    assert recent_rounds(view, (*items[:3], *items[5:])).next == rounds[1]
    assert recent_rounds(view, items[:5]).whole == 0
    kept = last_units(whole_case(session, rounds[1] + rounds[2] + 5))
    assert recent_rounds(view, kept.items).whole == rounds[1] + rounds[2]


def test_a_pi_session_is_cut_before_its_first_compaction(tmp_path: Path) -> None:
    """What pi went on with is its summary and the entries that it kept."""
    entries = [
        {"type": "session", "id": "s", "cwd": "/x", "timestamp": "2025-01-01T00:00:00Z"},
        *[
            {"type": "message", "message": {"role": "user", "content": f"message {n}", "timestamp": 1}}
            for n in range(3)
        ],
        {"type": "compaction", "summary": "what came before", "firstKeptEntryIndex": 3, "tokensBefore": 9},
        {"type": "message", "message": {"role": "user", "content": "later", "timestamp": 1}},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))
    found = before_first_compaction(str(path), COUNTER)
    assert found is not None
    session, real = found
    assert [item.message.text for item in session.items] == ["message 0", "message 1", "message 2"]
    assert "what came before" in real.items[0].message.text
    assert [item.message.text for item in real.items[1:]] == ["message 2"]


def test_the_bundled_session_gives_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """It runs without headroom, and says that its probes are left out."""
    main([])
    shown = capsys.readouterr()
    assert "33,148 → 4,309 tokens (13 %)" in shown.out
    assert "headroom" in shown.err or "hr numbers" in shown.out
