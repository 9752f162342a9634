"""Fault reports of kind `hooks`: from a real compaction of a session to what the hook does in the world."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from foldline.hooks.command import Command
from foldline.hooks.hooks import Hook, Hooks
from foldline.hooks.occasion import Event
from foldline.testing.completers import ScriptedCompleter
from tests.session.modelling import due

SUMMARY = "The files were read."
RECORD = "import json, sys; told = json.load(sys.stdin); open(sys.argv[1], 'a').write(json.dumps([told['hook_event_name'], told.get('trigger')]) + chr(10))"
EVENTS: tuple[Event, ...] = ("PreCompact", "SessionStart", "PostCompact")


def recording(file: Path) -> Hooks:
    """At each occasion, a command that writes to a file what it was told."""
    argv = (sys.executable, "-I", "-c", RECORD, str(file))
    return Hooks(hooks=tuple(Hook(event=event, does=Command(argv=argv), origin="user") for event in EVENTS))


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
@pytest.mark.parametrize("trigger", ["auto", "manual"])
def test_a_command_runs_once_at_each_occasion_of_a_real_compaction(
    tmp_path: Path, trigger: str, *, is_async: bool
) -> None:
    """letta-ai/letta-code#870: defined, typed, tested, and never called. anthropics/claude-code#50467: on the manual path alone."""
    file = tmp_path / "seen"
    session = due(completer=ScriptedCompleter(SUMMARY), hooks=recording(file))
    if is_async:
        asyncio.run(session.aprepare() if trigger == "auto" else session.acompact())
    elif trigger == "auto":
        session.prepare()
    else:
        session.compact()
    seen = [json.loads(line) for line in file.read_text().splitlines()]
    assert [event for event, _ in seen] == ["PreCompact", "SessionStart", "PostCompact"]
    assert [told for event, told in seen if event != "SessionStart"] == [trigger, trigger]
