"""What the report says survived: kinds, sums, and that nothing of a real session is lost without an address.

Through `foldline.compact` and the functions behind `foldline compact FILE`, as callers meet it. How each fact is judged
is tested with `foldline.ledger.retention`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline import files, reading
from foldline.ledger.compose import CHARS_MAX
from foldline.ledger.words import SAID_CHARS_MAX
from foldline.survival import UNMEASURED
from foldline.transcripts import detect

DATA = Path(__file__).parent / "data"
SESSIONS = sorted(path for path in DATA.glob("*/*") if path.parent.name in detect.READERS)
KINDS = [*"paths identifiers numbers errors commands user_messages constraints rules_taken_back pins".split()]
COLUMNS = ["total", "in_view", "recallable", "lost", "altered"]
QUICK = "length/4"
History = list[dict[str, Any]]


def session(rounds: int = 12, rule: str = "Never touch db/schema.sql.") -> History:
    """A user's rule and rounds of a shell command each, with long results."""
    made: History = [{"role": "user", "content": f"Speed up the import. {rule}"}]
    for n in range(rounds):
        call = {
            "id": f"c{n}",
            "type": "function",
            "function": {
                "name": "bash",
                "arguments": json.dumps({"command": f"pytest -q tests/test_{n}.py"}),
            },
        }
        said = (
            f"tests/test_{n}.py rows_{n}={n} id REQ-{n}00\n" * 40
            + f"ValueError: row {n} is bad\nexit code: 1"
        )
        made += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": said},
        ]
    return [*made, {"role": "assistant", "content": "All run."}, {"role": "user", "content": "Go on."}]


def report_of(messages: History, to: float, **options: Any) -> dict[str, Any]:
    """The report as its JSON."""
    return foldline.compact(messages, to=to, counter=QUICK, **options).report.to_dict()


def test_the_report_counts_every_kind_in_the_same_columns() -> None:
    """OBS-3 and the interface: eight kinds, each with a total and what became of it, over all and over what left."""
    report = report_of(session(), 0.3)
    for section in ("retention", "retention_evicted"):
        assert list(report[section]) == KINDS
        for row in report[section].values():
            assert list(row) == COLUMNS
            assert row["total"] == sum(row[column] for column in COLUMNS[1:])


def test_what_left_is_a_part_of_the_whole_and_holds_what_is_not_in_view() -> None:
    """OBS-3: what stayed untouched is in view, so nothing is recallable that did not leave."""
    report = report_of(session(), 0.3)
    for kind in KINDS:
        whole, left = report["retention"][kind], report["retention_evicted"][kind]
        assert left["total"] <= whole["total"]
        assert left["recallable"] == whole["recallable"]
        assert whole["lost"] == left["lost"] == 0


def test_rules_and_commands_of_a_session_are_counted_and_found_again() -> None:
    """OBS-3: the rule is in view verbatim, each command either told with its outcome or behind an address."""
    report = report_of(session(), 0.3)
    assert report["retention"]["constraints"] == {
        "total": 1, "in_view": 1, "recallable": 0, "lost": 0, "altered": 0
    }  # fmt: skip
    assert report["retention"]["commands"]["total"] == 12
    assert report["retention"]["user_messages"]["total"] == 2
    assert report["retention"]["identifiers"]["total"] >= 12


def test_a_pin_is_counted_and_stays_in_view() -> None:
    """OBS-3, law PIN."""
    report = report_of(session(), 0.5, pins=["REQ-300"])
    assert report["retention"]["pins"]["total"] >= 1
    assert report["retention"]["pins"]["in_view"] == report["retention"]["pins"]["total"]


def test_what_was_not_compacted_is_not_measured() -> None:
    """Nothing left, so there is nothing to say; measuring would cost and tell nothing."""
    assert report_of(session(), 10**9)["retention"] == {}


def test_the_smaller_the_target_the_less_is_in_view_and_still_nothing_is_lost() -> None:
    """OBS-3, law TRACE: an address stands for all that left."""
    shown = []
    for share in (0.6, 0.3, 0.15):
        report = report_of(session(40), share)
        shown.append(sum(row["in_view"] for row in report["retention"].values()))
        assert all(row["lost"] == 0 for row in report["retention"].values())
    assert shown == sorted(shown, reverse=True)
    assert shown[0] > shown[-1]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_of_a_recorded_session_is_lost(path: Path) -> None:
    """OBS-3: everything that a real session says is in view, behind an address, or reported as altered."""
    options = files.CompactOptions(to=0.3, counter=QUICK)
    (result,) = files.compact(reading.read(str(path))[:1], options).results
    report = result.report.to_dict()
    if report["outcome"] != "unchanged":
        assert {kind: row["lost"] for kind, row in report["retention"].items()} == dict.fromkeys(KINDS, 0)


def test_a_history_that_is_too_long_says_so_instead_of_being_measured() -> None:
    """Every bound has a name: the report is not silently partial."""
    long = session(2)
    long[2]["content"] = "x" * (CHARS_MAX + 1)
    report = foldline.compact(long, to=0.1, counter=QUICK).report
    assert report.to_dict()["retention"] == {}
    assert UNMEASURED in report.notes


def test_rules_are_looked_for_in_the_newest_words_of_users_only_so_far() -> None:
    """Every bound has a name: a user who pastes a book does not make the report slow."""
    book = {
        "role": "user",
        "content": "word " * (SAID_CHARS_MAX // 5 + 1) + "Never do that.",
    }
    report = report_of([book, {"role": "assistant", "content": "Read."}, *session()], 0.3)
    assert report["retention"]["constraints"]["total"] == 1
