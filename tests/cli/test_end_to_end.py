"""The command line over the real facade, as a program, on real and on hostile files.

What the result says is tested where it is made; here it is that the commands fit together: what one writes the next
reads, what a report names opens, what a file holds never acts on a terminal.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from rich.cells import cell_len

import foldline
from foldline.environment import FOLDLINE_HOME
from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import REPO, documents, environment, run, run_on_screen
from tests.cli.sessions import imported

SESSION = REPO / "tests" / "data" / "langgraph" / "deerflow-5aa47db1-cjk.json"
MANY = REPO / "tests" / "data" / "tau-bench" / "gpt-4o-airline-first3.json"
ENTRY = "from foldline.cli.main import main; main(prog_name='foldline')"
REAL = [sys.executable, "-c", ENTRY]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A session whose every free text is all payloads: prompts, tool names, arguments, results, ids."""
    text = "".join(PAYLOADS.values()) * 3
    messages: list[dict[str, object]] = [{"role": "system", "content": text}]
    for n in range(6):
        call = {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": text[:40], "arguments": json.dumps({"x": text})},
        }
        messages += [
            {"role": "user", "content": text},
            {"role": "assistant", "content": text, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "content": text},
        ]
    path = tmp_path / "hostile.json"
    path.write_text(
        json.dumps({"messages": [*messages, {"role": "user", "content": text}]}), encoding="utf-8"
    )
    return path


SHORT = re.compile(r"(?<![\w.])m\d+(?:-m?\d+)?(?:\.\d+)?(?![\w@.-])")


def test_every_message_that_a_ledger_names_is_opened_by_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law TRACE: `(m41 assistant ×4)` and `kept below: m12 m55` are typed as they stand, on the file and in its session."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path / "home"))
    source = REPO / "tests" / "data" / "pi" / "before-compaction-excerpt.jsonl"
    out = tmp_path / "out.json"
    assert run("compact", str(source), "--to", "8k", "-o", str(out)).exit_code == 0
    imported(session := "demo", source)
    ledger = run("show", str(out)).stdout
    named = set(SHORT.findall(ledger[: ledger.index("</foldline-fold>")]))
    assert {"m2", "m8", "m11", "m12"} <= named
    for address in sorted(named):
        opened = run("show", str(source), address)
        assert opened.exit_code == 0, address
        assert run("show", session, address).stdout_bytes == opened.stdout_bytes
        assert run("recall", session, address).exit_code == 0
    missing = run("show", session, "m99")
    assert (missing.exit_code, "this session holds nothing there, but m0 to m22" in missing.stderr) == (
        1,
        True,
    )
    made = run("show", str(out), "m2")
    assert (made.exit_code, "open it in the file that was compacted then" in made.stderr) == (1, True)


def test_what_is_written_is_read_again_and_valid(tmp_path: Path) -> None:
    """compact -o, then check; compact to a pipe, then check of `-`; each in every wire format."""
    for target in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        out = tmp_path / f"{target}.json"
        made = run("compact", str(SESSION), "--to", "30%", "--as", target, "-o", str(out), "--json")
        (report,) = documents(made.stdout)
        assert made.exit_code == 0, made.output
        assert report["tokens_after"] <= report["tokens_target"]
        checked = run("check", str(out), "--from", target)
        assert checked.exit_code == 0, checked.output
        piped = run("compact", str(SESSION), "--to", "30%", "--as", target)
        assert piped.stdout_bytes == out.read_bytes()
        assert run("check", "-", "--from", target, stdin=piped.stdout_bytes).exit_code == 0


def test_every_address_of_a_report_opens_on_the_file_it_came_from() -> None:
    """Law TRACE: `foldline show FILE ADDRESS`; and on another file it is refused."""
    (report,) = documents(run("compact", str(SESSION), "--to", "30%", "--json").stdout)
    addresses = report["covers"]["addresses"]
    assert addresses
    for address in addresses:
        shown = run("show", str(SESSION), address)
        assert shown.exit_code == 0
        assert shown.stdout_bytes
    other = REPO / "tests" / "data" / "bugs" / "A01.json"
    assert run("show", str(other), addresses[0]).exit_code == 1


def test_the_biggest_items_open_too() -> None:
    """`context` names addresses, `show` opens them."""
    (document,) = documents(run("context", str(SESSION), "--json").stdout)
    assert sum(document["by_kind"].values()) == document["tokens_total"]
    for item in document["largest"]:
        assert run("show", str(SESSION), item["address"]).exit_code == 0


@pytest.mark.parametrize(
    ("code", "args"),
    [
        (1, ("compact", "MISSING")),
        (1, ("compact", "EMPTY")),
        (1, ("compact", "BINARY")),
        (2, ("compact", "SESSION", "--policy", "nonsense")),
        (2, ("compact", "SESSION", "--from", "nonsense")),
        (2, ("compact", "SESSION", "--as", "nonsense")),
        (2, ("compact", "SESSION", "--counter", "nonsense")),
        (2, ("compact", "SESSION", "--select", "99")),
        (2, ("convert", "SESSION", "--as", "nonsense")),
        (1, ("show", "SESSION", "nonsense")),
        (3, ("compact", "SESSION", "--to", "1")),
    ],
    ids=str,
)
def test_the_real_facade_gives_the_promised_codes(code: int, args: tuple[str, ...], tmp_path: Path) -> None:
    """The stand-in's errors are the real ones."""
    (tmp_path / "EMPTY").write_bytes(b"")
    (tmp_path / "BINARY").write_bytes(bytes(range(256)) * 20)
    places = {"SESSION": str(SESSION), **{n: str(tmp_path / n) for n in ("MISSING", "EMPTY", "BINARY")}}
    done = run(*(places.get(arg, arg) for arg in args))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output


def test_a_file_with_many_conversations_gives_a_list_and_one_document(tmp_path: Path) -> None:
    """Interface: a JSON list, `foldline.reports/1` with totals; `--select` takes one by number."""
    out = tmp_path / "out.json"
    done = run("compact", str(MANY), "--to", "60%", "--as", "openai-chat", "-o", str(out), "--json")
    (document,) = documents(done.stdout)
    assert document["schema"] == "foldline.reports/1"
    assert len(json.loads(out.read_bytes())) == len(document["sessions"]) == 3
    (one,) = documents(run("compact", str(MANY), "--to", "60%", "--select", "1", "--json").stdout)
    assert one["tokens_before"] == document["sessions"][1]["tokens_before"]


def test_a_list_command_prints_what_there_is() -> None:
    """formats, policies, models; the names of the interface."""
    (formats,) = documents(run("formats", "--json").stdout)
    assert {"anthropic", "claude-code", "tau-bench", "foldline"} <= {f["name"] for f in formats["formats"]}
    assert "balanced" in run("policies").stdout
    assert "family" in run("models", "claude-sonnet-5").stdout


@pytest.mark.parametrize(
    "args",
    [
        ("compact", "--to", "30%"),
        ("compact", "--to", "30%", "-o", "-"),
        ("compact", "--to", "30%", "--json"),
        ("context",),
        ("context", "--json"),
        ("check",),
        ("convert", "--as", "anthropic", "-o", "-"),
    ],
    ids=" ".join,
)
def test_a_hostile_session_does_not_act_on_a_terminal(
    args: tuple[str, ...], hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threat 9 from the file to the screen, through every layer between."""
    monkeypatch.setenv("TERM", "dumb")
    done = run_on_screen(monkeypatch, args[0], str(hostile), *args[1:])
    assert done.code in (0, 1, 3)
    assert not FORBIDDEN.search(done.out + done.err)


def test_every_part_of_a_hostile_session_is_shown_harmless(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`show` prints the most foreign text of all."""
    (document,) = documents(run("context", str(hostile), "--json").stdout)
    monkeypatch.setenv("TERM", "dumb")
    for item in document["largest"]:
        done = run_on_screen(monkeypatch, "show", str(hostile), item["address"])
        assert done.code == 0
        assert not FORBIDDEN.search(done.out + done.err)
        assert "\\e]0;pwn" in done.out


def test_the_same_bytes_come_out_of_two_processes() -> None:
    """Law SAME, with other hash seeds."""
    outs = [
        subprocess.run(
            [sys.executable, "-c", ENTRY, "compact", str(SESSION), "--to", "30%"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=120,
            env={**os.environ, "PYTHONPATH": str(REPO / "src"), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert outs[0] == outs[1]


def test_a_policy_of_ones_own_goes_wherever_a_presets_name_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """interface.md, Policies: on files and on sessions, to compact and to look."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLDLINE_CONFIG", "/dev/null")
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    (tmp_path / "foldline.toml").write_text(run("policies", "balanced", "--toml").stdout, encoding="utf-8")
    page = run("policies", "my-balanced").stdout
    assert "file" in page
    assert "foldline.toml" in page
    assert run("import", str(SESSION), "--name", "s").exit_code == 0
    for file in (str(SESSION), "s"):
        done = run("compact", file, "--to", "25%", "--policy", "my-balanced", "--json", "--dry-run")
        assert documents(done.stdout)[0]["policy"] == "my-balanced"
        seen = run("context", file, "--policy", "my-balanced", "--json")
        assert documents(seen.stdout)[0]["policy"] == "my-balanced"
        refused = run("compact", file, "--policy", "nobodys", "--dry-run")
        assert refused.exit_code == 2
        assert "my-balanced" in refused.stderr


@pytest.mark.parametrize("goes_on", [False, True], ids=["waiting", "gone on without it"])
def test_a_call_that_waits_for_its_answer_in_a_session_is_open_and_no_breach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    """Law PAIR: every call of a *closed* round has its result. A durable session is gone on with, so its last round may be
    open; `context` counts it as it stands, `check` finds it sound. One that went on without the answer is neither."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    with foldline.open("s") as session:
        session.user("Run the tests.")
        session.record({"role": "assistant", "content": None, "tool_calls": [call]})
    file = tmp_path / "log.jsonl"
    assert run("export", "s", "--as", "foldline", "-o", str(file)).exit_code == 0
    if goes_on:
        with foldline.open("s") as session:
            session.user("Never mind.")
        assert run("export", "s", "--as", "foldline", "-o", str(file)).exit_code == 0
    for name in ("s", str(file)):
        checked = run("check", name, "--json")
        seen = documents(run("context", name, "--json").stdout)[0]
        assert documents(checked.stdout)[0]["valid"] is (not goes_on)
        assert checked.exit_code == (1 if goes_on else 0)
        assert seen["messages"] == (4 if goes_on else 2)
        assert (seen["by_kind"]["tool_results"] > 0) is goes_on


@pytest.mark.parametrize("command", [("compact", "-", "--to", "25%"), ("convert", "-", "--as", "anthropic")])
def test_the_only_original_is_not_replaced_through_stdin(command: tuple[str, ...], tmp_path: Path) -> None:
    """The shell opened it, and its addresses open there alone."""
    only = tmp_path / "only.jsonl"
    only.write_bytes(SESSION.read_bytes())
    with only.open("rb") as opened:
        done = subprocess.run(
            [*REAL, *command, "-o", str(only)],
            stdin=opened, capture_output=True, env=environment(PYTHONPATH=str(REPO / "src")), check=False, timeout=120,
        )  # fmt: skip
    assert (done.returncode, b"is the file that is read" in done.stderr) == (2, True)
    assert only.read_bytes() == SESSION.read_bytes()


def test_a_report_of_stdin_names_no_file_that_there_is_not() -> None:
    page = run("compact", "-", "--to", "25%", stdin=SESSION.read_bytes()).stderr
    assert "foldline show FILE ADDRESS" in page
    assert "FILE is what came from stdin" in page


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device is Linux's")
def test_what_is_done_is_done_also_where_nobody_can_be_told(tmp_path: Path) -> None:
    """A script that retries on exit code 1 would do it twice."""
    home = {"FOLDLINE_HOME": str(tmp_path / "home")}
    out = tmp_path / "out.json"
    commands = (
        ("compact", str(SESSION), "--to", "25%", "-o", str(out)),
        ("import", str(SESSION), "--name", "a"),
        ("compact", "a", "--to", "25%"),
        ("undo", "a"),
        ("fork", "a", "b"),
        ("forget", "b", "--yes"),
    )
    with open("/dev/full", "wb") as full:
        codes = [
            subprocess.run(
                [*REAL, *command],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=full, env=environment(PYTHONPATH=str(REPO / "src"), **home), check=False,
                timeout=120,
            ).returncode
            for command in commands
        ]  # fmt: skip
    assert codes == [0] * len(commands)
    assert out.stat().st_size


def test_a_closed_stdin_is_told_as_such() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *REAL, "check", "-"],
        capture_output=True, env=environment(PYTHONPATH=str(REPO / "src")), check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, b"foldline: stdin: is closed; give a file, or pipe one in\n")


def test_a_number_of_a_conversation_may_be_too_long_for_a_number() -> None:
    done = run("check", str(SESSION), "--select", "1" * 5_000)
    assert (done.exit_code, "numbered from 0" in done.stderr) == (2, True)


def test_of_many_conversations_the_first_ten_are_shown(tmp_path: Path) -> None:
    """A file of a hundred printed a hundred pages."""
    many = json.loads((REPO / "tests/data" / "tau-bench/gpt-4o-airline-first3.json").read_text())
    file = tmp_path / "many.json"
    file.write_text(json.dumps(many * 5))
    done = run("context", str(file))
    assert len(re.findall(r"\[\d+\]$", done.stdout, re.MULTILINE)) == 10
    assert "5 more conversations: --select N shows one" in done.stderr


FIGURE = re.compile(r"\d[\d,.]*\d%?|\d%?")
FIGURED = [
    ("stats",), ("sessions",), ("verify", "demo"), ("events", "demo"), ("undo", "demo", "--list"), ("models", "claude-opus-4-5"),
    ("policies",), ("scan", "demo"), ("context", "one.json"),
    ("compact", "one.json", "--to", "30%", "--dry-run"), ("compact", "many.json", "--to", "30%", "--dry-run"),
]  # fmt: skip


@pytest.mark.parametrize("command", FIGURED, ids=" ".join)
def test_a_figure_is_shown_whole_at_every_width(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a wide page says a narrow one says too: no figure cut, none left out, no line wider than the page."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    shutil.copy(SESSION, "one.json")
    shutil.copy(MANY, "many.json")
    imported()
    assert run("compact", "demo", "--to", "50%").exit_code == 0
    found: dict[int, Counter[str]] = {}
    for columns in (120, 100, 80, 70, 60, 55, 50, 45, 41, 40, 20):
        monkeypatch.setenv("COLUMNS", str(columns))
        page = [row for row in run(*command).output.splitlines() if not row.startswith("foldline: ")]
        assert max(map(cell_len, page)) <= max(40, columns)
        found[columns] = Counter(FIGURE.findall(re.sub(r"\d[\d.]* m?s\b", "", "\n".join(page))))
    assert found[120]
    for columns, figures in found.items():
        assert figures == found[120], columns
