"""Fault reports of kind `stale-instruction`: the newest request is the one to work on, and what was served stays served."""

from __future__ import annotations

import copy

import pytest

from tests.bugs.case import all_text, grown, load, squeezed, squeezes
from tests.bugs.neutral import Say, written
from tests.bugs.test_lost_constraints import work


@pytest.mark.parametrize("id", ["H01", "H04"])
def test_the_newest_request_stands_last_and_in_its_own_words(id: str) -> None:
    """NousResearch/hermes-agent#41607, openclaw/openclaw#123737: an older one from the summary was worked on."""
    case = load(id)
    newest = str(case.messages[-1]["content"])
    for out in squeezes(grown(case.messages), format=case.format):
        assert out.messages[-1]["content"] == newest
        assert all_text(out.messages).count(newest) == 1


def test_a_request_that_a_later_one_dropped_is_not_an_open_task() -> None:
    """NousResearch/hermes-agent#41607: superseded ones are marked, not listed as what to do."""
    case = load("H01")
    filler = written(work(10), format=case.format)
    messages = [*copy.deepcopy(case.messages[:2]), *filler, case.messages[2], *filler_again(case.format)]
    for to in (0.5, 0.3, 0.2):
        said = all_text(squeezed(messages, format=case.format, to=to).messages)
        for line in said.splitlines():
            if "restructure section X" in line:
                assert "[open]" not in line
                assert not line.startswith("- Task A"), line


def filler_again(format: str) -> list[dict[str, object]]:
    """Work after the change of mind."""
    return written([Say("assistant", "On B now. " * 40), Say("user", "fine, go on")], format=format)


def test_a_request_that_was_served_is_not_asked_again() -> None:
    """openai/codex#27731: the last user message of a day before was shown as the current task."""
    case = load("H03")
    messages = [*written(work(10), format=case.format), *copy.deepcopy(case.messages)]
    for to in (0.5, 0.3, 0.2):
        said = all_text(squeezed(messages, format=case.format, to=to).messages)
        listed = [line for line in said.splitlines() if "[open]" in line and "test ping" in line]
        assert listed == []
        assert said.count("Send one test ping to peer.") == 1
