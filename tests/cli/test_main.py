"""The door itself: help without cost, every exit code, no traceback, nothing half written, nothing unescaped."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from foldline.cli.main import COMMANDS, main
from tests.cli import stub_files
from tests.cli.payloads import FORBIDDEN, OWN_STYLE, PAYLOADS
from tests.cli.running import (
    PROGRAM,
    documents,
    environment,
    run,
    run_on_screen,
    run_on_terminal,
    run_program,
)

EVERY_PAGE = [
    ("compact", "session.jsonl"),
    ("compact", "failing.jsonl"),
    ("compact", "many.json"),
    ("compact", "session.jsonl", "--to", "1"),
    ("compact", "session.jsonl", "-o", "-"),
    ("compact", "session.jsonl", "--json"),
    ("compact", "session.jsonl", "--model", "nobody"),
    ("context", "session.jsonl"),
    ("context", "many.json", "--json"),
    ("check", "invalid.jsonl"),
    ("check", "invalid.jsonl", "--json"),
    ("convert", "session.jsonl", "--as", "pi"),
    ("convert", "session.jsonl", "--as", "pi", "-o", "-"),
    ("convert", "session.jsonl", "--as", "pi", "--json"),
    ("show", "session.jsonl", "m1"),
    ("show", "session.jsonl", "m1", "--json"),
    ("formats",),
    ("formats", "--json"),
    ("policies",),
    ("models",),
    ("models", "gpt-5", "--json"),
]
"""Every command that prints content, in every way it prints it."""

CODES = [
    (0, ("compact", "session.jsonl", "--to", "20k", "-o", "OUT")),
    (0, ("check", "session.jsonl")),
    (0, ("--version",)),
    (0, ("--help",)),
    (1, ("compact", "missing.jsonl", "-o", "OUT")),
    (1, ("compact", "broken.jsonl", "-o", "OUT")),
    (1, ("compact", "unknown.bin", "-o", "OUT")),
    (1, ("compact", "full.jsonl", "-o", "OUT")),
    (1, ("check", "invalid.jsonl")),
    (1, ("show", "session.jsonl", "nowhere")),
    (1, ("compact", "session.jsonl", "-o", "OUT/no/such/folder")),
    (2, ()),
    (2, ("compact",)),
    (2, ("nonsense",)),
    (2, ("compact", "session.jsonl", "--nonsense", "-o", "OUT")),
    (2, ("compact", "session.jsonl", "--to", "0", "-o", "OUT")),
    (2, ("compact", "session.jsonl", "--policy", "nonsense", "-o", "OUT")),
    (2, ("compact", "session.jsonl", "--from", "nonsense", "-o", "OUT")),
    (2, ("compact", "session.jsonl", "--as", "nonsense", "-o", "OUT")),
    (2, ("compact", "session.jsonl", "--counter", "abacus", "-o", "OUT")),
    (2, ("compact", "session.jsonl", "--counter", "", "-o", "OUT")),
    (2, ("compact", "session.jsonl", "--model", " ", "-o", "OUT")),
    (2, ("context", "session.jsonl", "--model", "")),
    (2, ("context", "session.jsonl", "--policy", "")),
    (2, ("compact", "session.jsonl", "--json", "-o", "-")),
    (2, ("convert", "session.jsonl", "-o", "OUT")),
    (2, ("policies", "nonsense")),
    (3, ("compact", "session.jsonl", "--to", "1")),
    (4, ("compact", "busy.jsonl", "-o", "OUT")),
    (4, ("compact", "blocked.jsonl", "-o", "OUT")),
    (70, ("compact", "fault.jsonl", "-o", "OUT")),
    (70, ("compact", "law.jsonl", "-o", "OUT")),
    (70, ("compact", "recursion.jsonl", "-o", "OUT")),
    (70, ("compact", "failing.jsonl", "-o", "OUT")),
    (130, ("compact", "interrupt.jsonl", "-o", "OUT")),
]


@pytest.mark.parametrize(("code", "args"), CODES, ids=str)
@pytest.mark.usefixtures("stub")
def test_the_exit_code_is_the_promised_one(code: int, args: tuple[str, ...], tmp_path: Path) -> None:
    """Interface, "Command line": the codes; with any other than 0 and 3 nothing is written. No traceback, ever."""
    out = tmp_path / "out.json"
    done = run(*(arg.replace("OUT", str(out)) for arg in args))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    if code not in (0, 3):
        assert list(tmp_path.iterdir()) == []
    if code not in (0, 1, 3, 70, 130):
        assert done.stderr.startswith(("foldline: ", "Usage: "))
        assert "--json" in args or not done.stdout


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("compact", "session.jsonl", "--policy", "x"), "there are: balanced, handoff"),
        (("compact", "session.jsonl", "--from", "x"), "known formats: anthropic, pi"),
        (("compact", "session.jsonl", "--as", "x"), "known formats: anthropic, pi"),
        (("policies", "x"), "there are: balanced, handoff"),
        (("comapct",), "did you mean 'compact'?"),
        (("x",), "there are: compact, context"),
        (("compact", "broken.jsonl"), "broken.jsonl:12: not valid JSON; cut the line"),
        (("compact", "session.jsonl", "--too", "1"), "foldline compact --help"),
    ],
)
@pytest.mark.usefixtures("stub")
def test_a_mistake_is_told_what_where_and_what_next(args: tuple[str, ...], hint: str) -> None:
    """An unknown name lists what exists; a bad file names the line."""
    assert hint in run(*args).stderr


@pytest.mark.parametrize("args", [args for code, args in CODES if code in (1, 2, 3, 4, 70) and args])
@pytest.mark.usefixtures("stub")
def test_json_is_one_document_whatever_happens(args: tuple[str, ...], tmp_path: Path) -> None:
    """Interface: `--json` prints one JSON document on stdout and nothing else there; a script never guesses."""
    given = [arg.replace("OUT", str(tmp_path / "out.json")) for arg in args]
    done = run(*given, *(() if "--json" in given else ("--json",)))
    (document,) = documents(done.stdout)
    assert document["schema"].startswith("foldline.")
    if document["schema"] == "foldline.error/1":
        assert document["exit_code"] == done.exit_code
        assert document["message"] in done.stderr.replace("\n", " ")


@pytest.mark.usefixtures("stub")
def test_a_fault_of_ours_is_one_line_and_its_place_on_demand() -> None:
    """Exit 70: a clear line, a hint to report it; FOLDLINE_DEBUG=1 shows the traceback."""
    done = run("compact", "fault.jsonl")
    assert done.stderr.count("\n") == 1
    assert "report" in done.stderr
    shown = run("--debug", "compact", "fault.jsonl")
    assert "Traceback" in shown.stderr
    assert shown.exit_code == 70
    assert b"Traceback" in run_program("compact", "fault.jsonl", FOLDLINE_DEBUG="1").stderr


@pytest.mark.usefixtures("stub")
def test_an_unknown_model_is_a_warning_in_one_line() -> None:
    """`UnknownModel` is a warning: a default serves, the work is done, no line of source code is shown."""
    done = run("compact", "session.jsonl", "--to", "20k", "--model", "nobody")
    assert done.exit_code == 0
    assert "foldline: warning: nobody" in done.stderr
    assert "warnings.warn" not in done.stderr


def test_help_imports_nothing_but_click_and_the_standard_library() -> None:
    """Design: everything optional is imported lazily; `foldline --help` costs its page of text."""
    program = (
        "import sys, click, msgspec; before = set(sys.modules)\n"
        "from foldline.cli.main import main\n"
        "try:\n    main(['--help'], prog_name='foldline')\nexcept SystemExit:\n    pass\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(new - set(sys.stdlib_module_names)), *sorted(n for n in sys.modules if n.startswith('foldline.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
        timeout=120,
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    outside = {name for name in loaded if not name.startswith("foldline")}
    assert outside <= {"click", "msgspec"}, "beyond what importing those two loads"
    assert not {name for name in loaded if name.startswith("foldline.cli.commands")}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says(name: str) -> None:
    """The help page is printed from the table alone, so both must agree."""
    module, line = COMMANDS[name]
    command = importlib.import_module(module).command
    assert command.name == name
    assert (command.help or "").splitlines()[0] == line
    assert run(name, "--help").exit_code == 0


def test_every_command_takes_json() -> None:
    """Interface: every command has `--json`."""
    with click.Context(main) as ctx:
        for name in COMMANDS:
            command = main.get_command(ctx, name)
            assert command is not None
            assert any("--json" in option.opts for option in command.params), name


@pytest.mark.parametrize("args", EVERY_PAGE, ids=" ".join)
@pytest.mark.usefixtures("stub")
def test_no_payload_reaches_a_terminal(args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Threat 9, test S10: every payload in every field of every command, on a terminal that gets no styles of ours."""
    monkeypatch.setenv("TERM", "dumb")
    for name, payload in PAYLOADS.items():
        monkeypatch.setattr(stub_files, "TEXT", payload)
        done = run_on_screen(monkeypatch, *args)
        assert done.code in (0, 1, 3, 70)
        found = FORBIDDEN.search(done.out + done.err)
        assert found is None, (name, found, done)


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize(
    "args", [("compact", "{}"), ("{}",), ("compact", "f", "--{}"), ("compact", "f", "--to", "{}")]
)
@pytest.mark.usefixtures("stub")
def test_no_payload_in_an_argument_reaches_a_terminal(
    args: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file's name, or what a script puts in an option, is content too; in errors as well as in headings."""
    monkeypatch.setenv("TERM", "dumb")
    for prefix in ("", "missing"):
        done = run_on_screen(monkeypatch, *(arg.replace("{}", prefix + PAYLOADS[name]) for arg in args))
        assert not FORBIDDEN.search(done.out + done.err), done


@pytest.mark.parametrize(
    "args", [("compact", "session.jsonl"), ("context", "session.jsonl"), ("show", "f", "m1")]
)
def test_no_payload_reaches_a_real_terminal(args: tuple[str, ...]) -> None:
    """The same through a pseudo-terminal, with colours: beyond our own styles nothing acts."""
    joined = json.dumps("".join(PAYLOADS.values()))
    code, shown = run_on_terminal(*args, STUB_TEXT=joined)
    assert code == 0
    assert args[0] == "show" or OWN_STYLE.search(shown), "colours are on"
    assert not FORBIDDEN.search(OWN_STYLE.sub("", shown))
    assert "\\e[31mred" in shown.replace("\n", "")


def test_no_colour_is_honoured() -> None:
    """Interface: `NO_COLOR`. Bold and dim are no colours."""
    _, shown = run_on_terminal("context", "session.jsonl", NO_COLOR="1")
    assert not [style for style in OWN_STYLE.findall(shown) if style not in ("\x1b[0m", "\x1b[1m", "\x1b[2m")]


def test_a_reader_that_closes_early_is_no_error() -> None:
    """`foldline … | head -1`: quiet, also when the interpreter flushes at its end."""
    with subprocess.Popen(
        [*PROGRAM, "compact", "session.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(STUB_TEXT="x" * 100_000),
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        said = child.stderr.read()
        assert child.wait(timeout=120) == 0
    assert said == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "args", [("formats",), ("compact", "session.jsonl"), ("check", "f", "--json"), ("--help",)]
)
def test_a_full_disk_behind_stdout_exits_1(args: tuple[str, ...]) -> None:
    """A result cut off by a full disk must not look done."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*PROGRAM, *args],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
            timeout=120,
        )
    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    "args", [("formats",), ("formats", "--json"), ("compact", "session.jsonl"), ("show", "f", "m1")]
)
def test_a_closed_stdout_exits_1(args: tuple[str, ...]) -> None:
    """`>&-`: the answer has nowhere to go."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, *args],
        stderr=subprocess.PIPE, env=environment(), check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert b"stdout is closed" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_interrupt_exits_130_and_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a read: one sentence, and no file beside the old one."""
    out = tmp_path / "out.json"
    out.write_bytes(b"old")
    with subprocess.Popen(
        [*PROGRAM, "compact", "-", "--json", "-o", str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment(STUB_READY="1"),
    ) as child:  # fmt: skip
        assert child.stderr is not None
        assert child.stdout is not None
        assert child.stderr.readline() == b"reading\n"
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
        told = json.loads(child.stdout.read())
        assert child.wait(timeout=120) == 130
    assert (told["schema"], told["exit_code"]) == ("foldline.error/1", 130)
    assert said.strip() == b"foldline: interrupted from the keyboard; nothing is half written"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]
    assert out.read_bytes() == b"old"
