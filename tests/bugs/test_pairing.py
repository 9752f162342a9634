"""Fault reports of kind `pairing`: a call and its results are kept, folded or mended together (law PAIR, law CUT).

Each report's own input stands first, its siblings (other wire formats, other positions, parallel calls) after it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline.cli.main import main
from tests.bugs.case import (
    FORMATS,
    LIST_KEYS,
    SHARES,
    all_text,
    ends_with,
    grown,
    judged,
    load,
    squeezed,
    squeezes,
    texts,
)
from tests.bugs.neutral import Answer, Ask, Say, Step, written

CALL_SYNTAX = re.compile(
    r"\[(assistant )?tool[ _]?call[^\]]*\]|</?(function_calls?|tool_call|invoke|tool_use)\b|\bshell\s*\(|\"type\":\s*\"tool_use\"",
    re.IGNORECASE,
)
"""What a model would take for a way to make calls."""


def rounds(count: int, *, start: int = 0) -> list[Step]:
    """Turns of one user message, one call with its result, and an answer; ids count from `start`."""
    return [
        step
        for number in range(start, start + count)
        for step in (
            Say("user", f"Question {number}?"),
            Ask(((f"c{number}", "read"),), path=f"f{number}.txt"),
            Answer(((f"c{number}", f"content of f{number}"),)),
            Say("assistant", f"Answer {number}."),
        )
    ]


def call_ids(messages: Any) -> list[str]:
    """Ids of all calls, in any of the formats that have ids."""
    found: list[str] = []
    for message in messages:
        found += [call["id"] for call in message.get("tool_calls") or []]
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        found += [block["id"] for block in blocks if block.get("type") == "tool_use"]
        found += [message["call_id"]] if message.get("type") == "function_call" else []
    return found


def test_a_call_and_its_results_go_together_at_every_cut() -> None:
    """openclaw/openclaw#3243: a result survived its call. Law PAIR, law TAIL."""
    case = load("A01")
    last = case.messages[-1]
    for out in squeezes(grown(case.messages), format=case.format):
        assert ends_with(out.messages, last)
        assert out.messages[0]["role"] == "user"


@pytest.mark.parametrize("format", FORMATS)
def test_a_call_and_its_results_go_together_in_every_format(format: str) -> None:
    """Sibling of openclaw/openclaw#3243: many rounds, each wire."""
    messages = written([*rounds(6), Say("user", "Now change it.")], format=format)
    for out in squeezes(grown(messages), format=format):
        assert ends_with(out.messages, messages[-1])


def test_a_set_of_parallel_results_is_never_split() -> None:
    """langchain-ai/langchain#34282: the tail opened with some of four results. Law ROUND."""
    case = load("A03")
    for out in squeezes(grown(case.messages), format=case.format):
        ids = [message["tool_call_id"] for message in out.messages if message["role"] == "tool"]
        assert ids in ([], ["c1", "c2", "c3", "c4"])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("at", ["first", "middle", "last"])
def test_a_set_of_parallel_results_is_never_split_anywhere(format: str, at: str) -> None:
    """Sibling of langchain-ai/langchain#34282: the parallel round first, in the middle, last; on each wire."""
    calls = tuple((f"p{number}", "read") for number in range(4))
    parallel: list[Step] = [
        Say("user", "Read the four files."),
        Ask(calls),
        Answer(tuple((id, f"text of {id}") for id, _ in calls)),
        Say("assistant", "All four are read."),
    ]
    before, after = {"first": (0, 4), "middle": (2, 2), "last": (4, 0)}[at]
    steps = [*rounds(before), *parallel, *rounds(after, start=4), Say("user", "Which one is shortest?")]
    for out in squeezes(grown(written(steps, format=format)), format=format):
        assert len({id for id in call_ids(out.messages) if id.startswith("p")}) in (0, 4)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("to", [100_000, 0.7, 0.4, 0.1])
def test_parallel_results_that_came_apart_travel_together(format: str, to: float) -> None:
    """Sibling of langchain-ai/langchain#34282: agents log each result as a message of its own (Claude Code does), and
    the next message must hold them all ('Handle tool calls': every result in one user message)."""
    steps: list[Step] = [
        *rounds(2),
        Say("user", "Read both."),
        Ask((("p1", "read"), ("p2", "read"))),
        Answer((("p1", "text one"),)),
        Answer((("p2", "text two"),)),
        *rounds(2, start=2),
        Say("user", "Next."),
    ]
    messages = written(steps, format=format)
    out = squeezed(messages if to == 100_000 else grown(messages), format=format, to=to)
    assert judged(out.messages, format=format) == []
    if to == 100_000:
        assert [text for text in texts(out.messages) if text.startswith("text ")] == ["text one", "text two"]


def test_no_result_stands_straight_after_the_summary() -> None:
    """letta-ai/letta#2605: system, summary, tool."""
    case = load("A04")
    for out in squeezes(grown(case.messages), format=case.format):
        roles = [message["role"] for message in out.messages]
        assert all(roles[at - 1] in ("assistant", "tool") for at, role in enumerate(roles) if role == "tool")
        assert out.messages[0] == grown(case.messages)[0]


def test_an_orphan_result_at_the_front_is_mended_and_its_neighbour_kept() -> None:
    """anthropics/claude-code#24670: the history opens with a result of a call that an earlier trim dropped.

    The report is about the request to a summariser; that part belongs to compaction by a model.
    """
    case = load("A06")
    out = squeezed(case.messages, format=case.format, to=100_000)
    assert judged(out.messages, format=case.format) == []
    assert "and continue" in all_text(out.messages)
    assert out.report["repairs"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("at", [0, 1, 4, 8])
def test_an_orphan_result_is_mended_wherever_it_stands(format: str, at: int) -> None:
    """Sibling of anthropics/claude-code#24670 and pydantic/pydantic-ai#4728: first, second, middle, last. Law PAIR."""
    steps: list[Step] = [*rounds(2), Say("user", "Go on.")]
    steps.insert(at, Answer((("zz", "late result of another run"),)))
    messages = written(steps, format=format)
    assert judged(messages, format=format), "the fault must be there"
    for to in (100_000, 0.5, 0.1):
        out = squeezed(grown(messages), format=format, to=to)
        assert judged(out.messages, format=format) == []
        assert out.report["repairs"]
        assert "Go on." in all_text(out.messages)


def test_a_call_that_waits_for_approval_is_never_folded() -> None:
    """google/adk-python#4740: the call was summarised away, and the approval found nothing to answer.

    Only the front of the history can be folded here, so the filler goes into turns before the open call.
    """
    case = load("A08")
    early = written(rounds(4), format=case.format)
    for out in squeezes(grown([*early, *case.messages]), format=case.format):
        assert "c_confirm" in call_ids(out.messages)


@pytest.mark.parametrize("share", [*SHARES, 100_000])
def test_a_late_approval_is_accepted(share: float) -> None:
    """google/adk-python#4740, `then_append`: the answer comes turns after its call and still belongs to it."""
    case = load("A08")
    early = written(rounds(4), format=case.format)
    messages = [*grown([*early, *case.messages]), case.op["then_append"]]
    out = squeezed(messages, format=case.format, to=share)
    assert judged(out.messages, format=case.format) == []
    if "c_confirm" in call_ids(out.messages):
        answers = [text for text in texts(out.messages) if text == "approved"]
        assert len(answers) == 1


def test_a_call_that_died_does_not_block_compaction() -> None:
    """google/adk-python#7236: one open call, and every later compaction was silently skipped."""
    case = load("A10")
    for out in squeezes(grown(case.messages), format=case.format):
        assert out.report["outcome"] == "compacted" or out.report["reason"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_unanswered_call_is_closed_wherever_it_stands(format: str, parallel: bool, at: int) -> None:
    """Sibling of google/adk-python#7236: alone or beside an answered one; before, between and after other rounds."""
    calls = (("d1", "deploy"), ("d2", "read")) if parallel else (("d1", "deploy"),)
    dead: list[Step] = [Say("user", "Deploy."), Ask(calls)]
    dead += [Answer((("d2", "fine"),))] if parallel else []
    steps = [
        *rounds(at),
        *dead,
        Say("user", "Are you there?"),
        Say("assistant", "Yes."),
        *rounds(3 - at, start=3),
    ]
    messages = written([*steps, Say("user", "Next: changelog.")], format=format)
    assert judged(messages, format=format), "the fault must be there"
    for out in squeezes(grown(messages), format=format):
        assert ends_with(out.messages, messages[-1])
        assert out.report["outcome"] == "compacted" or out.report["reason"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_id_used_again_in_a_later_round_is_told_apart(format: str) -> None:
    """Sibling of pydantic/pydantic-ai#4728 (fw-ai/fireconnect#16: ids that count from 0 in every turn): pairs are
    made by round, and where the provider wants ids unique over the whole request they are made so."""
    messages = written([*rounds(3), *rounds(3), Say("user", "Next.")], format=format)
    for out in squeezes(grown(messages), format=format):
        assert ends_with(out.messages, messages[-1])
    whole = squeezed(messages, format=format, to=100_000)
    assert judged(whole.messages, format=format) == []
    assert [text for text in texts(whole.messages) if text.startswith("content of")] == [
        f"content of f{number}" for number in (0, 1, 2, 0, 1, 2)
    ]


def test_a_cut_never_lands_on_a_function_response() -> None:
    """google-gemini/gemini-cli#4105: responses have role user and were taken for turns."""
    case = load("A11")
    for out in squeezes(grown(case.messages), format=case.format):
        assert out.messages[0]["role"] == "user"
        assert all("text" in part for part in out.messages[0]["parts"])


def test_responses_items_are_paired_by_call_id_and_reasoning_stays_with_what_follows() -> None:
    """openai/codex#5385: 'No tool output found for function call'."""
    case = load("A13")
    early = written(rounds(3), format=case.format)
    for out in squeezes(grown([*early, *case.messages]), format=case.format):
        kinds = [item.get("type") for item in out.messages]
        assert ("reasoning" in kinds) <= ("fc1" in call_ids(out.messages))


@pytest.mark.parametrize("format", FORMATS)
def test_below_the_budget_nothing_changes(format: str) -> None:
    """Sibling of BerriAI/litellm#6505, each wire: the very objects come back. Law LOSSLESS."""
    messages = written(
        [*rounds(2), Say("user", "weather?"), Ask((("w", "weather"),)), Answer((("w", "4C"),))], format=format
    )
    out = squeezed(messages, format=format, to=100_000)
    assert out.messages == messages
    assert out.report["outcome"] == "unchanged"
    assert out.report["reason"]


def test_below_the_budget_the_trailing_result_stays() -> None:
    """BerriAI/litellm#6505: trimming removed the last tool result of a tiny history."""
    case = load("A14")
    out = squeezed(case.messages, format=case.format, to=case.op["budget_tokens"])
    assert json.dumps(out.messages) == json.dumps(case.messages)


def test_results_stored_as_user_messages_leave_no_open_call() -> None:
    """NVIDIA-NeMo/Gym#1181: another backend's shape. The request to the summariser belongs to compaction by a model."""
    case = load("A15")
    out = squeezed(case.messages, format=case.format, to=100_000)
    assert judged(out.messages, format=case.format) == []
    assert "[tool result for c1] ok" in all_text(out.messages)


def test_a_repaired_history_needs_no_second_repair() -> None:
    """pydantic/pydantic-ai#4728: a stream was cut after the call was saved; the history never healed."""
    case = load("A16")
    out = squeezed(case.messages, format=case.format, to=100_000)
    assert judged(out.messages, format=case.format) == []
    assert out.report["repairs"]
    again = squeezed(out.messages, format=case.format, to=100_000)
    assert again.messages == out.messages
    assert not again.report["repairs"]
    said = ("Book it.", "hello?", "try again")
    assert [text for text in texts(out.messages) if text in said] == list(said)


def checked(tmp_path: Path, messages: list[dict[str, Any]], *, format: str) -> tuple[int, dict[str, Any]]:
    """What `foldline check --json` says of a history in a file."""
    path = tmp_path / "history.json"
    path.write_text(json.dumps({LIST_KEYS[format]: messages}), encoding="utf-8")
    ran = CliRunner().invoke(main, ["check", str(path), "--from", format, "--json"])
    return ran.exit_code, json.loads(ran.stdout)


def test_check_finds_a_planted_orphan(tmp_path: Path) -> None:
    """code-yeongyu/oh-my-openagent#6605: the validator looked for block types that never occur. Law PAIR."""
    case = load("A18")
    code, report = checked(tmp_path, case.messages, format=case.format)
    assert (code, report["valid"]) == (1, False)
    assert "PAIR" in [violation["law"] for violation in report["violations"]]
    assert judged(case.messages, format=case.format)


@pytest.mark.parametrize("format", FORMATS)
def test_check_finds_a_planted_fault_in_every_format_and_passes_a_sound_history(
    tmp_path: Path, format: str
) -> None:
    """Sibling of code-yeongyu/oh-my-openagent#6605: orphan, unanswered, doubled; the judges agree each time."""
    sound = [*rounds(2), Say("user", "Go on.")]
    broken = {
        "orphan": [*sound[:1], *sound[2:]],
        "unanswered": [*sound[:2], *sound[3:]],
        "doubled": [*sound[:3], sound[2], *sound[3:]],
    }
    assert checked(tmp_path, written(sound, format=format), format=format)[0] == 0
    for steps in broken.values():
        messages = written(steps, format=format)
        assert judged(messages, format=format)
        code, report = checked(tmp_path, messages, format=format)
        assert (code, report["valid"]) == (1, False)


def test_a_compaction_that_a_call_asked_for_leaves_that_call_open() -> None:
    """shareAI-lab/learn-claude-code#502: the result of the `compact` tool pointed at nothing. Law TAIL."""
    case = load("A19")
    early = written(rounds(4), format=case.format)
    answer = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": case.op["call_id"], "content": "done"}],
    }
    for out in squeezes(grown([*early, *case.messages]), format=case.format):
        assert case.op["call_id"] in call_ids(out.messages[-1:])
        assert judged([*out.messages, answer], format=case.format) == []


@pytest.mark.parametrize("format", FORMATS)
def test_an_open_call_at_the_end_stays_open_in_every_format(format: str) -> None:
    """Sibling of shareAI-lab/learn-claude-code#502: one call, and two of which one is answered."""
    for calls in ((("t9", "compact"),), (("t8", "read"), ("t9", "compact"))):
        messages = written([*rounds(4), Say("user", "Work."), Ask(calls)], format=format)
        for out in squeezes(grown(messages), format=format):
            assert out.messages[-1] == messages[-1]


def test_a_list_with_an_open_call_is_counted(tmp_path: Path) -> None:
    """UKGovernmentBEIS/inspect_ai#3108: counting failed where sending would have. The provider's count endpoint
    belongs to durable sessions; here counting is local and must take every list that reducing takes."""
    case = load("A20")
    messages = case.messages[: -case.op["drop_last_messages"]]
    path = tmp_path / "history.json"
    path.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    ran = CliRunner().invoke(main, ["context", str(path), "--json"])
    assert ran.exit_code == 0
    counted = json.loads(ran.stdout)
    assert counted["tokens_total"] == sum(counted["by_kind"].values()) > 0
    out = squeezed(messages, format=case.format, to=100_000)
    assert judged(out.messages, format=case.format) == []


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_fold_says_of_calls_does_not_look_like_a_call(format: str) -> None:
    """anomalyco/opencode#50814: the model imitated the summary's bracketed calls instead of making real ones."""
    steps: list[Step] = []
    for number in range(4):
        steps += [
            Say("user", f"Check disk {number}."),
            Ask(((f"s{number}", "shell"),)),
            Answer(((f"s{number}", "91%"),)),
        ]
    messages = grown(written([*steps, Say("user", "Clean it.")], format=format))
    own = set(texts(messages))
    for out in squeezes(messages, format=format):
        made = [text for text in texts(out.messages) if text not in own]
        assert not [text for text in made if CALL_SYNTAX.search(text)]


def test_the_reported_history_folds_without_call_syntax() -> None:
    """anomalyco/opencode#50814, its own input."""
    case = load("A21")
    own = set(texts(grown(case.messages)))
    for out in squeezes(grown(case.messages), format=case.format):
        assert not [text for text in texts(out.messages) if text not in own and CALL_SYNTAX.search(text)]
