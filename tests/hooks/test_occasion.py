"""What hooks are told has the fields of Claude Code's hooks, and no other."""

from __future__ import annotations

from foldline.hooks.occasion import Occasion, after, before, started

OCCASION = Occasion(session_id="s1", trigger="auto", cwd="/work", transcript_path="/log.jsonl", model="m-1")
COMMON = {"session_id": "s1", "transcript_path": "/log.jsonl", "cwd": "/work"}


def test_before_a_compaction_the_trigger_and_the_persons_instructions_are_told() -> None:
    """HOK-1: `compact_instructions` only when given; `custom_instructions` always, as Claude Code has it."""
    plain = {**COMMON, "hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""}
    assert before(OCCASION) == plain
    told = {**plain, "custom_instructions": "keep X", "compact_instructions": "keep X"}
    assert before(OCCASION, instructions="keep X") == told


def test_when_the_session_goes_on_its_source_and_model_are_told() -> None:
    """HOK-4: `SessionStart` with source `compact`; a model that is not known is left out."""
    told = {**COMMON, "hook_event_name": "SessionStart", "source": "compact"}
    assert started(OCCASION) == {**told, "model": "m-1"}
    bare = Occasion(session_id="s1", trigger="auto", cwd="/work", transcript_path="/log.jsonl")
    assert started(bare) == told


def test_after_a_compaction_the_summary_is_told() -> None:
    """HOK-3."""
    told = {**COMMON, "hook_event_name": "PostCompact", "trigger": "auto", "compact_summary": "so far …"}
    assert after(OCCASION, summary="so far …") == told
