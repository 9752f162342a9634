"""`foldline proxy`: what may be asked of it on the command line."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.cli import screen
from foldline.cli.commands.proxy import Wanted, _say_ready, teller
from foldline.proxy.meters import Meters, Record
from foldline.proxy.server import Running
from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import Screen, run


@pytest.mark.parametrize(
    "args",
    [
        ("--host", "0.0.0.0"),
        ("--host", "0.0.0.0", "--expose"),
        ("--host", "0.0.0.0", "--token"),
        ("--host", "192.0.2.1", "--token"),
        ("--upstream", "http://api.example.com"),
        ("--upstream", "nonsense"),
        ("--policy", "nonsense"),
        ("--strict", "--observe"),
        ("--port", "70000"),
    ],
)
def test_what_is_not_safe_or_not_known_is_refused_before_anything_listens(args: tuple[str, ...]) -> None:
    """Test S2: another address than loopback takes a word for it; threat 7: keys do not go in the clear."""
    done = run("proxy", *args)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""


WANTED = Wanted(
    upstream=None,
    port=0,
    host="127.0.0.1",
    expose=False,
    policy="balanced",
    window=None,
    completer="none",
    recall=False,
    token=False,
    strict=False,
    observe=False,
    as_json=False,
)


@pytest.mark.parametrize("columns", [40, 80, 110])
def test_what_is_copied_is_never_broken_inside_a_word(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow terminal the status command is two lines of one command, which a shell takes as it stands."""
    err = Screen()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(screen, "width_of", lambda _: columns)
    _say_ready(Running(url="http://localhost:8377", port=8377, meters=Meters()), "f" * 32, wanted=WANTED)
    command = err.text().partition("status:")[2].strip()
    words = shlex.split(command.replace("\\\n", ""))
    assert words == ["curl", "-H", f"x-foldline-token: {'f' * 32}", "http://localhost:8377/_foldline/status"]
    assert columns == 40 or max(map(len, err.text().splitlines())) <= columns


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("balanced", "80% of what a request's output cap leaves of it (19,046 tokens where it names none)"),
        ("cascade", " tokens)"),
        ("reserve", " tokens, or later where the model writes little)"),
    ],
)
def test_the_line_that_is_told_is_the_line_that_is_kept(
    policy: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BUD-1, BUD-2: where a line depends on the request or the model, the first line says so."""
    err = Screen()
    monkeypatch.setattr(sys, "stderr", err)
    wanted = replace(WANTED, policy=policy, window="32k")
    _say_ready(Running(url="http://localhost:1", port=1, meters=Meters()), "f", wanted=wanted)
    assert words in " ".join(err.text().split())


NOTE = "its server drops the beginning of the history in silence"


def record(**values: Any) -> Record:
    return Record(**{"method": "POST", "path": "/v1/messages", "status": 200, "session": "proxy-1", **values})


def test_a_terminal_shows_a_calm_line_and_each_note_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A truncation in silence is reported; threat 9: what a client named never acts on a terminal."""
    out = Screen()
    monkeypatch.setattr(sys, "stdout", out)
    tell = teller(WANTED)
    for name in ("claude-sonnet-5", *PAYLOADS.values()):
        tell(record(model=name, why=name[:40], notes=(NOTE,)))
    shown = out.text()
    assert "claude-sonnet-5" in shown
    assert shown.count(NOTE) == 1
    assert FORBIDDEN.search(shown) is None


def test_elsewhere_each_request_is_one_json_object(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """For programs; on a terminal too where it is asked for."""
    tell = teller(WANTED)
    tell(record(notes=(NOTE,)))
    tell(record(model="\x1b[31m"))
    first, second = capsysbinary.readouterr().out.splitlines()
    assert json.loads(first)["notes"] == [NOTE]
    assert json.loads(second)["model"] == "\x1b[31m"
    assert b"\x1b" not in second
