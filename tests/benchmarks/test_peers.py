"""The bench beside other libraries judges all alike: sizes, validity, what is kept, what a model was shown, who is first.

None of the libraries is needed here: a history that keeps its newest messages stands for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers import __main__ as command
from benchmarks.peers import table, worker
from benchmarks.peers.conversation import conversation
from benchmarks.peers.histories import BUNDLED, History, from_file, made_up, turns_of
from benchmarks.peers.judge import COLUMNS, Bench, Verdict, anthropic_body, refused, tally, weigh
from benchmarks.peers.libraries.foldline_here import Held
from benchmarks.peers.peer import (
    Call,
    Chat,
    Limits,
    Turn,
    Unit,
    arguments_of,
    chat_of,
    dump_turns,
    load_turns,
)
from benchmarks.peers.roster import LIBRARIES, REQUIREMENTS, ROSTER, Row, pins, row_named
from benchmarks.peers.table import Result

ROOT = Path(__file__).parents[2]
ASK = Turn(role="user", text="Please mend the parser in src/parse/reader.py and never touch the public API.")
CALL = Turn(role="assistant", text="I read it.", calls=(Call("c1", "read_file", '{"path": "src/a/b.py"}'),))
SHOWN = Turn(
    role="tool",
    text="retries = 41\nERROR: cannot open /var/log/app/today.log\nthe rest of this file is a list of names",
    call_id="c1",
    name="read_file",
)
SAID = Turn(role="assistant", text="The count of retries is wrong, so I will set it to seven in the reader.")
HISTORY = History(name="small", turns=(ASK, CALL, SHOWN, SAID), tokens=100)


class Newest:
    """Keeps the newest messages and asks a model for nothing."""

    unit: Unit = "messages"

    def __init__(self, *, smallest: int = 1, declines: bool = False) -> None:
        self.sent: list[Any] = []
        self.smallest, self.declines = smallest, declines

    def open(self, turns: Sequence[Turn]) -> Any:
        return list(turns)

    def add(self, history: Any, turn: Turn) -> None:
        history.append(turn)

    def check(self, history: Any) -> None:
        assert history

    def compact(self, history: Any, limits: Limits) -> Any:
        self.sent.append(limits)
        return None if self.declines else history[-max(limits.keep, self.smallest) :]

    def read(self, made: Any) -> list[Chat]:
        return [chat_of(turn) for turn in made]

    def asked(self) -> list[str]:
        return [str(limits.keep) for limits in self.sent]


def words(messages: Sequence[Chat]) -> int:
    """A size that a test can count."""
    return sum(len(message["content"]) for message in messages)


def test_the_made_up_conversation_has_the_same_bytes_at_every_run() -> None:
    """The speed of all is measured on one conversation of 2,000 messages, the system prompt apart."""
    turns = conversation()
    text = "".join(turn.text for turn in turns)
    assert (len(turns), len(text)) == (1_999, 4_148_790)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "4a2ae40162e50dc4"


def test_turns_come_back_from_another_process_as_they_went() -> None:
    """A row is measured in a process of its own, which is given turns as JSON."""
    turns = made_up(40).turns
    assert load_turns(dump_turns(turns)) == list(turns)


def test_an_assistants_usage_is_what_stands_before_it_and_what_it_said() -> None:
    """Some libraries trust the provider's counts alone, so each history has them, by the counter that judges sizes."""
    history = made_up(40)
    at = max(n for n, turn in enumerate(history.turns) if turn.role == "assistant")
    before, own = (weigh([chat_of(turn) for turn in history.turns[:end]]) for end in (at, at + 1))
    assert history.turns[at].usage == (before, own - before)


def test_a_chat_history_comes_back_from_its_turns() -> None:
    """The plain form loses nothing that these formats have in common."""
    wire = [chat_of(turn) for turn in HISTORY.turns]
    assert tuple(turns_of(wire)) == HISTORY.turns


def test_arguments_that_are_no_object_are_wrapped_in_one() -> None:
    """Most libraries hold a call's arguments as an object; a model may have written anything."""
    assert arguments_of(Call("c", "bash", "not json")) == {"input": "not json"}
    assert arguments_of(Call("c", "bash", '{"a": 1}')) == {"a": 1}


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_each_bundled_session_is_valid_as_it_comes_and_all_of_it_is_in_view(path: Path) -> None:
    """A judge that complains of what went in would blame a library for it."""
    history = from_file(path)
    bench = Bench(history)
    verdict = bench.judge(bench.chats, [])
    assert (verdict.chat, verdict.anthropic, verdict.evicted) == ((), (), 0)
    assert verdict.tokens == history.tokens
    assert all(total == held for total, held in verdict.retention.values())


def test_the_largest_result_that_fits_is_found() -> None:
    """Equal size: what a library is told to keep is varied until its result is as large as it may be."""
    turns = [Turn(role="user", text="x" * 10) for _ in range(100)]
    goal = {"target": 337, "tokens": 1_000, "due": 500}
    found = worker.fit(Newest(), turns, goal, words)
    assert (found["keep"], found["tokens"], len(found["messages"])) == (33, 330, 33)


def test_what_a_model_was_asked_is_that_of_the_compaction_which_counts() -> None:
    """`fit` compacts many times; the requests of the others say nothing of this result."""
    goal = {"target": 337, "tokens": 1_000, "due": 500}
    found = worker.fit(Newest(), [Turn(role="user", text="x" * 10)] * 100, goal, words)
    assert found["asked"] == ["33"]


def test_the_smallest_result_is_given_where_none_fits() -> None:
    """A library that cannot go further is shown with what it reaches, and marked."""
    turns = [Turn(role="user", text="x" * 10) for _ in range(100)]
    found = worker.fit(Newest(smallest=50), turns, {"target": 100, "tokens": 1_000, "due": 500}, words)
    assert found["tokens"] == 500


def test_a_library_that_declines_gives_nothing() -> None:
    """Its row is skipped with that reason, not shown as a result of size nought."""
    goal = {"target": 100, "tokens": 1_000, "due": 500}
    assert worker.fit(Newest(declines=True), [ASK] * 10, goal, words) is None


def test_measuring_gives_each_cost_and_counts_the_calls_of_one_compaction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Times are not judged here; that each is there is."""
    monkeypatch.setattr(worker, "CHECKS", 1)
    monkeypatch.setattr(worker, "COMPACTIONS", 2)
    found = worker.measure(Newest(), HISTORY.turns, Limits(due=50, target=10, keep=1))
    assert sorted(found) == ["calls", "check_s", "compact_s", "peak_mb", "rss_mb"]
    assert found["calls"] == 1


def test_the_memory_of_a_process_is_its_own_high_water_mark() -> None:
    """Linux hands `ru_maxrss` on to a started program, so that it would say the size of the one that started it."""
    assert worker.rss_of("Name:\tpython\nVmPeak:\t  999 kB\nVmHWM:\t    2000 kB\n") == 2.048
    assert worker.rss_of("nothing of the kind") == 0.0


def test_this_project_is_measured_by_what_it_does_for_one_more_message() -> None:
    """The steady check is a decode, a count and a comparison on a view that is kept."""
    ours = Held()
    history = ours.open(HISTORY.turns)
    tokens = history.view.tokens
    ours.add(history, ASK)
    ours.check(history)
    assert history.view.tokens == tokens + weigh([chat_of(ASK)])


def test_a_result_without_the_results_of_its_calls_is_refused_by_both_judges() -> None:
    """Validity is judged by `tests/judges`, which share no code with foldline."""
    chat, anthropic = refused(HISTORY, [chat_of(ASK), chat_of(CALL), chat_of(SAID)])
    assert chat
    assert anthropic


def test_a_result_that_opens_with_the_assistant_is_refused_by_anthropic_alone() -> None:
    """Role order: OpenAI takes it."""
    chat, anthropic = refused(HISTORY, [chat_of(SAID), chat_of(ASK)])
    assert (chat, [line.split()[0] for line in anthropic]) == ((), ["first-user"])


def test_a_history_becomes_anthropics_without_any_mending() -> None:
    """A converter that mends would hide what a library got wrong."""
    body = anthropic_body([chat_of(turn) for turn in (CALL, SHOWN, ASK)])
    assert [message["role"] for message in body["messages"]] == ["assistant", "user"]
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_result", "text"]


def test_messages_that_stand_unchanged_count_whole_however_their_json_is_spaced() -> None:
    """A library that holds arguments as an object writes them anew."""
    bench = Bench(HISTORY)
    respaced = chat_of(CALL)
    respaced["tool_calls"][0]["function"]["arguments"] = '{"path":"src/a/b.py"}'
    verdict = bench.judge([chat_of(ASK), respaced, chat_of(SHOWN), chat_of(SAID)], [])
    assert all(total == held for total, held in verdict.retention.values())


def test_facts_of_what_left_are_missed_unless_the_summary_says_them() -> None:
    """Retention is read from the resulting text alone, for every library."""
    bench = Bench(HISTORY)
    rest = [chat_of(ASK), chat_of(SAID)]
    without = bench.judge(rest, [])
    told = bench.judge([rest[0], {"role": "user", "content": "retries = 41"}, rest[1]], [])
    numbers = COLUMNS["numbers"]
    assert tally(without.retention, numbers) == (1, 0)
    assert tally(told.retention, numbers) == (1, 1)
    assert tally(without.retention, COLUMNS["user messages"]) == (1, 1)


def test_text_that_left_is_seen_where_it_stands_in_a_request_escaped_or_not() -> None:
    """Libraries put the old history into their request as text, as JSON or as XML."""
    bench = Bench(HISTORY)
    rest = [chat_of(ASK), chat_of(SAID)]
    for asked in (SHOWN.text, json.dumps({"content": SHOWN.text}), SHOWN.text.replace("\n", "&#10;")):
        verdict = bench.judge(rest, [f"Summarise: {asked}"])
        assert verdict.seen == verdict.evicted > 0
    nothing = bench.judge(rest, ["Summarise: nothing of it"])
    assert (nothing.seen, nothing.evicted) == (0, verdict.evicted)


def test_every_row_drives_a_module_that_is_there_and_a_package_that_is_pinned() -> None:
    """The versions are exact; foldline is this tree."""
    pinned = pins(REQUIREMENTS.read_text(encoding="utf-8"))
    for row in ROSTER:
        module = row.entry.partition(":")[0]
        assert (ROOT / LIBRARIES.replace(".", "/") / f"{module}.py").exists()
        assert row.package == "foldline" or row.package in pinned
    assert len({row.name for row in ROSTER}) == len(ROSTER)


def test_the_environment_holds_the_versions_that_are_asked_for() -> None:
    """`constraints.txt` is the whole environment, `requirements.txt` what was asked for."""
    whole = pins((REQUIREMENTS.parent / "constraints.txt").read_text(encoding="utf-8"))
    asked = pins(REQUIREMENTS.read_text(encoding="utf-8"))
    assert {package: whole.get(package) for package in asked} == asked


def test_a_row_says_why_it_cannot_run_here() -> None:
    """A skip with its reason: a Python that is too old, a package that is not there."""
    old = Row("Later", "later", "later:Later", python=(9, 0))
    absent = Row("Absent", "no-such-package", "absent:Absent")
    assert "needs Python 9.0, this is 3." in str(old.missing())
    assert "no-such-package" in str(absent.missing())
    assert row_named("foldline balanced").missing() is None
    assert command.run(absent, HISTORY, (), seconds=1) == absent.missing()


def test_a_row_that_is_not_done_in_time_or_fails_says_so() -> None:
    """Each step of each row has a limit, and one that breaks stops no other."""
    row = row_named("foldline ladder-minimal")
    late = command.step("fit", row, [command.goal_of(HISTORY)], seconds=0.01)
    broken = command.step("fit", row, [{"turns": "no turns"}], seconds=60)
    assert late == {"error": "fit: not done after 0.01 s"}
    assert "JSONDecodeError" in broken["error"]


def verdict(*, held: int, seen: int = 0) -> Verdict:
    """Ten numbers, some in view."""
    return Verdict(
        tokens=100,
        chat=(),
        anthropic=(),
        retention={"numbers": (10, held)},
        probes={},
        evicted=10,
        seen=seen,
    )


def result(name: str, *, package: str, check: float, held: int, over: bool = False) -> Result:
    """A row with two figures."""
    return Result(
        row=Row(name, package, "none:None"),
        version="1.0",
        cost={"check_s": check},
        tokens={"made up": 150 if over else 100},
        wanted={"made up": 100},
        refused={"made up": ((), ())},
        verdicts=(verdict(held=held, seen=5),),
    )


def test_each_column_names_who_is_first_and_the_best_row_here_where_that_is_another() -> None:
    """Ours first in every column, or the note says where not."""
    ours = result("foldline x", package="foldline", check=0.002, held=9)
    other = result("Other", package="other", check=0.001, held=3)
    lines = list(table.firsts([ours, other]))
    assert "- check, ms: **Other** 1.0; here foldline x 2.0" in lines
    assert "- numbers: foldline (90 %)" in lines


def test_a_result_that_is_larger_than_wanted_is_first_in_nothing_that_is_kept() -> None:
    """At equal size, or not at all; what it costs still counts."""
    ours = result("foldline x", package="foldline", check=0.002, held=5)
    other = result("Other", package="other", check=0.001, held=10, over=True)
    lines = list(table.firsts([ours, other]))
    assert "- numbers: foldline (50 %)" in lines
    assert any(line.startswith("- check, ms: **Other**") for line in lines)
    assert f"| Other {table.OVER} | 1.0 |" in "\n".join(table.table([ours, other]))
    assert "150 %" in list(table.table([other]))[-1]


def test_a_complaint_is_printed_with_the_row_and_the_judge() -> None:
    """A column says how many histories came out valid, a line below why one did not."""
    row = Row("Other", "other", "none:None")
    bad = Result(row=row, version="1", cost={}, tokens={}, refused={"a": ((), ("first-user at …",))})
    assert list(table.refusals([bad])) == ["- Other, Anthropic: first-user at …"]
    assert list(table.table([bad]))[-1].count(" 0 %") == 1


@pytest.mark.nightly
def test_the_command_prints_the_table_and_skips_what_is_not_there() -> None:
    """`make bench-peers` without the libraries: this project's rows, and a reason for each of the others."""
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", "--quick", "--only", "foldline", "--only", "headroom"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "| foldline balanced |" in done.stdout
    assert "- valid: foldline" in done.stdout
