"""Commands of a chat: read, carried out, told in plain text, and never said to the model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from foldline.core.errors import InvalidOption
from foldline.engine.report import Covers, Report
from foldline.hooks.hooks import Hook, Hooks
from foldline.session.commanding import Commanded, of_compaction, read_command
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.session.making import opened, worked
from tests.session.modelling import due, kinds
from tests.session.test_conversation import narrow

SUMMARY = "The twelve looks gave lines, nothing failed so far, and the port in use is 8123; next the login is mended."


def commanded(session: Session, line: str, *, is_async: bool) -> Commanded | None:
    return asyncio.run(session.acommand(line)) if is_async else session.command(line)


def talking() -> Session:
    session = narrow(opened(policy="balanced"), 100_000)
    session.user("read it all")
    worked(session, 12, size=900)
    return session


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "",
        "/compaction",
        "please /compact",
        "/contexts",
        "/context of the code",
        "compact",
        "/ compact",
    ],
)
def test_a_line_that_is_no_command_is_to_be_said(line: str) -> None:
    """UIX-1: a question about contexts is a question."""
    assert read_command(line) is None


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
def test_compact_with_instructions_reaches_the_summary_and_not_the_log(*, is_async: bool) -> None:
    """UIX-1, CMP-15: at any usage, at once; the line is no message."""
    completer = ScriptedCompleter(SUMMARY)
    session = narrow(opened(policy="handoff", host=Host(completer=completer)), 1_000_000)
    session.user("read it all")
    worked(session, 12, size=4_000)
    narrow(session, 20_000)
    told = commanded(session, "  /compact keep the ports  ", is_async=is_async)
    assert told is not None
    assert told.report is not None
    assert (told.report.outcome, told.is_error) == ("compacted", False)
    assert told.text.startswith(
        f"compacted: {told.report.tokens_before:,} → {told.report.tokens_after:,} tokens, "
    )
    assert "keep the ports" in json.dumps([request.instruction for request in completer.requests])
    assert "/compact" not in json.dumps(list(session.messages))
    assert kinds(session).count("compaction") == 1


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
def test_context_shows_every_kind_against_the_threshold(*, is_async: bool) -> None:
    """UIX-1, BUD-5: token distribution by kind; the denominator is the threshold."""
    session = talking()
    use: dict[str, Any] = session.context_use()
    told = commanded(session, "/context", is_async=is_async)
    assert told is not None
    first, *rows = told.text.splitlines()
    assert first.startswith(
        f"{use['percent']} % of the threshold of {use['tokens_threshold']:,} tokens (balanced)"
    )
    assert told.use == use
    shown = {row[:14].strip().replace(" ", "_"): int(row[14:26].replace(",", "")) for row in rows}
    assert shown == {kind: tokens for kind, tokens in use["by_kind"].items() if tokens}


def test_what_cannot_be_compacted_is_told_and_changes_nothing() -> None:
    """CMP-17: a hook's veto is an answer to a person; so is a history that is small enough."""

    def veto(told: Any) -> dict[str, Any]:
        return {"decision": "block", "reason": "not now"}

    hooks = Hooks(hooks=(Hook(event="PreCompact", does=veto),))
    session = due(MemoryStore(), completer=ScriptedCompleter(SUMMARY), hooks=hooks)
    before = session.seq
    for is_async in (False, True):
        told = commanded(session, "/compact", is_async=is_async)
        assert told is not None
        assert told.is_error
        assert "not now" in told.text
    assert "compaction" not in kinds(session)
    assert session.size > 2
    assert before <= session.seq
    small = opened(policy="balanced")
    small.user("hi")
    told = small.command("/compact")
    assert told is not None
    assert told.text.startswith("unchanged: ")


def test_a_line_is_a_text() -> None:
    """As every text that a session takes."""
    with pytest.raises(InvalidOption):
        opened().command(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("folded", "words"),
    [(0, ", undo takes"), (1, ", 1 message folded; undo"), (1_200, ", 1,200 messages folded;")],
)
def test_a_compaction_is_told_with_as_many_messages_as_it_folded(folded: int, words: str) -> None:
    """A sentence for whoever typed the command; one that folded no message whole has its cuts to take back."""
    report = Report(
        format="anthropic",
        outcome="compacted",
        tokens_before=9,
        tokens_after=3,
        covers=Covers(messages=folded, addresses=()),
    )
    told = of_compaction(report).text
    assert told.startswith("compacted: 9 → 3 tokens, ")
    assert words in told
