"""Running a server from a command: signals end it calmly, and a taken address is said."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from foldline.testing.twin import Twin, endless
from tests.cli.running import environment, run, run_on_screen

PROGRAM = [sys.executable, "-c", "from foldline.cli.main import main; main()", "proxy", "--port", "0"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_proxy_serves_until_a_signal_and_ends_with_0(number: signal.Signals, tmp_path: Path) -> None:
    """interface.md: `foldline proxy --upstream URL --port N`; a record a line in a pipe, words for people on stderr."""
    with (
        Twin(endless("done")) as twin,
        subprocess.Popen(
            [*PROGRAM, "--upstream", twin.url, "--token", "--window", "32k"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(FOLDLINE_HOME=str(tmp_path)),
            cwd=tmp_path,
        ) as child,
    ):
        assert child.stderr is not None
        assert child.stdout is not None
        first, *_, status = (child.stderr.readline().decode() for _ in range(4))
        url = first.split()[3]
        assert (
            "(policy balanced, window 32,000, reduces from 80% of what a request's output cap leaves of it"
            in first
        )
        body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}).encode()
        asked = urllib.request.Request(
            f"{url}/v1/chat/completions",
            body,
            {"content-type": "application/json", "authorization": "Bearer KEY"},
        )
        with urllib.request.urlopen(asked, timeout=120) as response:
            assert json.loads(response.read())["choices"][0]["message"]["content"] == "done"
        told = json.loads(child.stdout.readline())
        child.send_signal(number)
        out, err = child.communicate(timeout=120)
        assert child.returncode == 0, err
    assert (told["schema"], told["model"], told["status"]) == ("foldline.proxy/1", "gpt-4o", 200)
    assert out == b""
    assert err.decode() == "foldline: stopped: 1 request, 0 compactions, 0 tokens saved\n"
    assert "curl -H 'x-foldline-token: " in status, "to be copied, however narrow the terminal is"
    assert status.endswith(f"{url}/_foldline/status\n")
    assert b"KEY" not in err
    assert url.rpartition("/")[2].encode() not in json.dumps(told).encode()


def test_an_address_that_is_taken_is_said() -> None:
    """With what to do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("proxy", "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 1
    assert "choose another with --port" in done.stderr


def test_a_terminal_hears_of_it_before_it_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading takes seconds on a slow machine, and a screen that says nothing looks as though it hung."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run_on_screen(monkeypatch, "proxy", "--port", str(taken.getsockname()[1]))
    assert done.err.startswith("foldline: starting …\n")
    assert run("proxy", "--port", "70000").stdout == ""
