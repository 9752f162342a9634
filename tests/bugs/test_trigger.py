"""Fault reports of kinds `trigger-early` and `trigger-late-or-never`: what is counted is the whole request, each part
by what it costs. Samples of usage are read in `tests/wire/test_usage.py`, dense text in `tests/tokens`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import foldline
from foldline.cli.main import main
from tests.bugs.case import load


@pytest.mark.parametrize("id", ["E05", "E06"])
def test_a_picture_is_counted_as_a_picture_wherever_it_stands(id: str) -> None:
    """justrach/codegraff#260, markusylisiurunen/tau#452: base64 was counted as text, and the picture compacted away
    before it was sent."""
    case = load(id)
    out = foldline.compact(case.messages, format=case.format, model="claude-sonnet-4-5")
    assert out.report.tokens_before < 20_000
    assert out.report.outcome == "unchanged"
    assert out.messages == case.messages


def test_tool_schemas_are_part_of_what_is_counted() -> None:
    """NousResearch/hermes-agent#1877: fifty schemas were not in the estimate, and the server refused first."""
    payload = load("F05").payload
    tools = payload["tools"] * payload["tools_count"]
    messages = [{"role": "user", "content": "hello"}]
    with_tools = foldline.compact(messages, to=10**6, tools=tools, format="openai-chat").report.tokens_before
    without = foldline.compact(messages, to=10**6, format="openai-chat").report.tokens_before
    assert with_tools - without > 50 * 50


def test_a_few_messages_that_hold_a_book_are_too_much() -> None:
    """OpenHands/software-agent-sdk#1172: the number of events stood for their size."""
    payload = load("F13").payload
    messages = [
        message
        for n, tokens in enumerate(payload["event_tokens"])
        for message in (
            {"role": "user", "content": f"{n} " + "word " * tokens},
            {"role": "assistant", "content": "noted"},
        )
    ]
    out = foldline.compact([*messages, {"role": "user", "content": "and?"}], model="claude-sonnet-4-5")
    assert out.report.outcome == "compacted"
    assert out.report.tokens_after < payload["threshold"]


@pytest.mark.parametrize(("override", "compacts"), [(None, True), (1_000_000, False)])
def test_the_window_that_the_user_states_goes_before_the_table(
    override: int | None, compacts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """anomalyco/opencode#15871: a variant with a window of a million was compacted at 200,000."""
    payload = load("E09").payload
    monkeypatch.chdir(tmp_path)
    stated = override or payload["table_default"]
    Path("foldline.toml").write_text(f'[models."{payload["model"]}"]\nwindow = {stated}\n', encoding="utf-8")
    words = [{"role": "user", "content": "word " * 2_000}, {"role": "assistant", "content": "ok"}]
    messages = [*words * (payload["tokens_now"] // 2_000), {"role": "user", "content": "and?"}]
    out = foldline.compact(messages, model=payload["model"], format="openai-chat", counter="o200k_base")
    assert (out.report.outcome == "compacted") is compacts


@pytest.mark.parametrize("policy", ["balanced", "reserve", "ladder-professional", "cascade"])
def test_what_is_shown_as_the_threshold_is_what_triggers(policy: str, tmp_path: Path) -> None:
    """anthropics/claude-code#24079: two limits, one to show and one to act, were computed apart."""
    path = tmp_path / "session.json"
    words = [{"role": "user", "content": "word " * 50_000}, {"role": "assistant", "content": "ok"}]
    path.write_text(json.dumps({"messages": [*words * 3, {"role": "user", "content": "and?"}]}))
    shown = CliRunner().invoke(main, ["context", str(path), "--json", "--policy", policy])
    document = json.loads(shown.stdout)
    messages = json.loads(path.read_text())["messages"]
    try:
        acted = foldline.compact(messages, policy=policy, counter=document["counter"]).report
    except foldline.TargetUnreachable as error:  # its one tier needs a model
        acted = error.result.report
    due = document["tokens_total"] > document["tokens_threshold"]
    assert (acted.reason == "below the threshold") is not due
