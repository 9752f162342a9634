"""`foldline events`: a page, one document, or a line an event; never what was said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import pytest

from foldline.core.entry import Draft
from foldline.environment import FOLDLINE_HOME
from foldline.stores.disk import DiskStore
from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import documents, run

WORD = "swordfish"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a session of today and one of long ago."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path))
    session(tmp_path, "now", time.time_ns() // 1_000_000)
    session(tmp_path, "old", 1_000)
    return tmp_path


def session(home: Path, name: str, time_ms: int, *, tool: str = "run", count: int = 1) -> None:
    call = {"type": "tool_use", "id": "t1", "name": tool, "input": {"cmd": WORD}}
    error = {"type": "tool_result", "tool_use_id": "t1", "content": tool, "is_error": True}
    drafts = [draft("user", WORD)] * count + [draft("assistant", [call]), draft("user", [error])]
    journal = DiskStore(home, clock=lambda: time_ms).create(name, format="anthropic", about=b"{}")
    journal.append(drafts)
    journal.close()


def draft(role: str, content: Any) -> Draft:
    body = {"format": "anthropic", "wire": {"role": role, "content": content}}
    return Draft(kind="message", body=json.dumps(body).encode())


def test_a_page_lists_the_events_without_their_content() -> None:
    """JRN-4."""
    done = run("events", "now")
    assert done.exit_code == 0
    for word in ("USER_INPUT", "TOOL_CALL", "TOOL_RESULT", "content hash", "tool run", "success no"):
        assert word in done.stdout
    assert WORD not in done.output


def test_an_event_is_one_line_in_a_pipe_and_as_wide_as_a_screen_that_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe is read by line; a table there keeps that, and so does this page."""
    monkeypatch.delenv("COLUMNS", raising=False)
    session(
        home, "long", time.time_ns() // 1_000_000, tool="a_tool_with_a_name_of_fifty_characters_for_example"
    )
    wide = run("events", "long").stdout.splitlines()
    assert [row.split()[0] for row in wide[1:]] == [str(number) for number in range(len(wide) - 1)]
    assert max(map(len, wide)) > 100
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run("events", "long").stdout.splitlines()
    assert len(narrow) > len(wide)
    assert max(map(len, narrow)) <= 80


def test_json_is_one_document_and_lines_are_many() -> None:
    """For scripts; the fields are the document's."""
    (document,) = documents(run("events", "now", "--json").stdout)
    assert (document["schema"], document["session"]) == ("foldline.events/1", "now")
    assert document["events"] == documents(run("events", "now", "--lines").stdout)
    assert run("events", "now", "--lines", "--json").exit_code == 2


def _lines_up_to(kind: str, told: IO[str]) -> list[str]:
    """What is told up to the first line of an event of a kind; a page may break the line before it."""
    lines: list[str] = []
    while not lines or kind not in lines[-1]:
        lines.append(told.readline())
        assert lines[-1], f"it ended before {kind}: {lines}"
    return lines


@pytest.mark.parametrize("options", [(), ("--json",), ("--lines",)], ids=["page", "json", "lines"])
def test_what_comes_is_followed_until_ctrl_c(home: Path, options: tuple[str, ...]) -> None:
    """JRN-4, as it happens: what is there, then each new event, a call and its result in one reading or in two; stopping it
    is no failure. Words of the session are in none of it."""
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from foldline.cli.main import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "events", "now", "--follow", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    ) as child:
        assert child.stdout is not None
        seen = _lines_up_to("TOOL_RESULT", child.stdout)
        with closing(DiskStore(home).write("now")) as journal:
            journal.append([draft("user", f"{WORD} again")])
            seen += _lines_up_to("USER_INPUT", child.stdout)
            journal.append(
                [draft("assistant", [{"type": "tool_use", "id": "t2", "name": "run", "input": {}}])]
            )
            seen += _lines_up_to("TOOL_CALL", child.stdout)
        child.send_signal(signal.SIGINT)
        rest, said = child.communicate(timeout=120)
        assert child.returncode == 0
    assert (rest, said) == ("", "")
    assert WORD not in "".join(seen)
    if options:
        assert [json.loads(line)["seq"] for line in seen] == [1, 2, 3, 4, 5]


def test_a_session_that_goes_away_ends_the_following(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Exit 1, by name; nothing is made in its place."""

    def removed(_: float) -> None:
        DiskStore(home).remove("now")

    monkeypatch.setattr("foldline.cli.commands.events.time.sleep", removed)
    done = run("events", "now", "--follow")
    assert done.exit_code == 1
    assert "no session is called 'now'" in done.stderr


def test_events_older_than_seven_days_are_deleted_and_messages_are_not() -> None:
    """JRN-7: at each way to ask; how many they were is said each time, and what stays."""
    for options in ((), ("--lines",)):
        done = run("events", "old", *options)
        assert (done.exit_code, done.stdout) == (0, "")
        assert (
            "3 events are deleted, older than 7 days; messages never are, except by `foldline forget old`"
            in done.stderr
        )
    [document] = documents(run("events", "old", "--json").stdout)
    assert (document["events"], document["deleted"]) == ([], 3)
    assert run("events", "old", "--all").exit_code == 2
    assert WORD in run("show", "old").stdout
    assert "deleted" not in run("events", "now").stderr


@pytest.mark.parametrize("days", [7, 30])
def test_an_event_is_there_up_to_the_end_of_its_days_and_not_after(
    days: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JRN-7, at both sides, to the millisecond: seven days, or as many as the user's settings say; a project's have no say."""
    now = 1_800_000_000_000
    monkeypatch.setattr("foldline.stores.disk.time.time_ns", lambda: now * 1_000_000)
    monkeypatch.chdir(home)
    (home / "foldline.toml").write_text("[events]\ndays = 1\n")
    if days != 7:
        (home / "mine.toml").write_text(f"[events]\ndays = {days}\n")
        monkeypatch.setenv("FOLDLINE_CONFIG", str(home / "mine.toml"))
    for name, age_ms in (("kept", days * 86_400_000), ("gone", days * 86_400_000 + 1)):
        session(home, name, now - age_ms)
        [document] = documents(run("events", name, "--json").stdout)
        assert (len(document["events"]), document["deleted"]) == ((3, 0) if name == "kept" else (0, 3))
    assert f"older than {days} days" in run("events", "gone").stderr


def test_some_events_may_be_older_and_some_not(home: Path) -> None:
    """JRN-7: the page shows the younger ones, and counts the others."""
    journal = DiskStore(home, clock=lambda: time.time_ns() // 1_000_000).write("old")
    journal.append([draft("user", "again")])
    journal.close()
    done = run("events", "old")
    assert done.stdout.count("USER_INPUT") == 1
    assert "3 events are deleted, older than 7 days" in done.stderr


def test_a_long_page_ends_with_the_newest(home: Path) -> None:
    """Bounded for people, whole for programs."""
    session(home, "long", time.time_ns() // 1_000_000, count=600)
    done = run("events", "long")
    assert done.stdout.count("\n") >= 500
    assert "newest 500 of 602" in done.stderr
    assert len(documents(run("events", "long", "--lines").stdout)) == 602


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_no_payload_reaches_the_terminal(payload: str, home: Path) -> None:
    """S10: in the name of a tool and in an error."""
    session(home, "bad", time.time_ns() // 1_000_000, tool=payload)
    for options in ((), ("--json",)):
        done = run("events", "bad", *options)
        assert done.exit_code == 0
        assert not FORBIDDEN.search(done.output)
