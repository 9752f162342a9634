"""A key that came with a request is nowhere when the proxy has run: not in what it printed, wrote or shows, nor in what others can read
of its process."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.proxy.running import PAGES_TOKEN, Proxy
from tests.proxy.test_request_matrix import statuses_of
from tests.proxy.upstreams import HOST, Command, Sent, Upstream, exchanged, request

CARRIERS: Final = ("bearer", "header", "query", "body", "error", "exception", "redirect", "echo")
KEYS: Final = {carrier: f"sk-ant-api03-{carrier}{'canary' * 12}-AA" for carrier in CARRIERS}
"""One a carrier, in the shape of a real one."""
LINES: Final = 40


def conversation(*, turns: int) -> dict[str, Any]:
    """Past a window of 2,000 tokens, with a key among a message's words and one in a field of its own."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Deploy with {KEYS['body']}."}]
    for n in range(turns):
        messages.append({"role": "assistant", "content": f"step {n}"})
        messages.append({"role": "user", "content": f"log {n}: " + "word " * LINES})
    return {
        "model": "claude-of-these-tests",
        "max_tokens": 100,
        "api_key": KEYS["body"],
        "metadata": {"user_id": KEYS["body"]},
        "messages": messages,
    }


def answered(head: bytes, body: bytes) -> Sent:
    """By the path: an answer that echoes the request's key, an error that quotes it, a redirect with it, bytes that are no HTTP."""
    echo = KEYS["echo"]
    if b"/error" in head.partition(b"\r\n")[0]:
        told = json.dumps(
            {
                "type": "error",
                "error": {"type": "authentication_error", "message": f"bad key {KEYS['error']}"},
            }
        ).encode()
        return Sent(
            head=b"HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % len(told),
            pieces=[told],
        )
    if b"/redirect" in head.partition(b"\r\n")[0]:
        return Sent(
            head=f"HTTP/1.1 307 Go\r\nLocation: http://localhost:9/?key={KEYS['redirect']}\r\nContent-Length: 0\r\n\r\n".encode()
        )
    if b"/exception" in head.partition(b"\r\n")[0]:
        return Sent(head=f"HTTP/1.1 200 OK\r\n{KEYS['exception']} no header\r\n\r\n".encode())
    told = json.dumps(
        {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": f"your key is {echo}"}],
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }
    ).encode()  # fmt: skip
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Echo: {echo}\r\nContent-Length: {len(told)}\r\n\r\n".encode()
    return Sent(head=head, pieces=[told])


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All that was written below a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()


@pytest.mark.skipif(
    not Path("/proc/self/environ").is_file(), reason="what others read of a process is in /proc"
)
def test_a_key_in_any_of_eight_carriers_is_nowhere_afterwards(tmp_path: Path) -> None:
    """Test S3: with all debugging switched on; stdout, stderr, sessions, pages, command line and environment."""
    (tmp_path / "foldline.toml").write_text(
        '[models."claude-of-these-tests"]\nwindow = 2000\nmax_output = 200\n'
    )
    env = {
        "PYTHONASYNCIODEBUG": "1",
        "FOLDLINE_CONFIG": str(tmp_path / "foldline.toml"),
        "AIOHTTP_NO_EXTENSIONS": "",
    }
    carried = {
        "Authorization": f"Bearer {KEYS['bearer']}",
        "x-api-key": KEYS["header"],
        "Connection": "close",
    }
    with (
        Upstream(answered) as upstream,
        Command(
            "--upstream", upstream.url, "--json", folder=tmp_path, env=env, python=["-X", "dev"]
        ) as proxy,
    ):
        statuses = []
        for turns in (2, 40, 41):
            body = json.dumps(conversation(turns=turns)).encode()
            for place in ("", "/error", "/redirect", "/exception"):
                path = f"{place}/v1/messages?key={KEYS['query']}"
                statuses += statuses_of(
                    exchanged(proxy.port, request(proxy.port, body, path=path, headers=carried), timeout=20)
                )
        gemini = json.dumps({"contents": [{"role": "user", "parts": [{"text": KEYS["body"]}]}]}).encode()
        for place in ("", "/error", "/exception"):
            path = f"{place}/v1beta/models/m:generateContent?key={KEYS['query']}"
            statuses += statuses_of(
                exchanged(proxy.port, request(proxy.port, gemini, path=path, headers=carried), timeout=20)
            )
        assert statuses == [200, 401, 307, 502] * 3 + [200, 401, 502]
        assert all(KEYS["bearer"].encode() in head for head in upstream.heads), "it goes on to the provider"
        pages = []
        for page in ("status", "metrics"):
            connection = http.client.HTTPConnection(HOST, proxy.port, timeout=20)
            connection.request("GET", f"/_foldline/{page}", headers={"x-foldline-token": proxy.status_token})
            pages.append((page, connection.getresponse().read()))
            connection.close()
        process = [(name, Path(f"/proc/{proxy.pid}/{name}").read_bytes()) for name in ("cmdline", "environ")]
    everything = [*files(tmp_path), *pages, *process]
    found = [
        (name, carrier) for name, data in everything for carrier, key in KEYS.items() if key.encode() in data
    ]
    assert found == []
    logs = [Path(name) for name, _ in everything if "/home/" in name]
    assert any(b"your key is" in log.read_bytes() for log in logs), "a session was written"
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "home").rglob("*")}
    assert modes == {0}, "state is its owner's alone"


class Stumbling:
    """Conversations that fail over what they were given."""

    session = None

    def told(self, call: Any) -> Any:
        raise KeyError(KEYS["exception"])

    told_at_once = told

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    "lines",
    [
        b"Authorization: Bearer %b\0",
        b"x-api-key : %b",
        b"x-api-key: a\r\n %b",
        b"%b",
        b"Transfer-Encoding: %b",
        b"Transfer-Encoding: chunked\r\n\r\n%b",
    ],
)
def test_a_head_that_cannot_be_read_is_not_quoted(lines: bytes) -> None:
    """Test S3: what refuses it is the library beneath."""
    key = KEYS["header"].encode()
    with Upstream(answered) as upstream, Proxy(upstream.url) as proxy:
        sent = b"POST /v1/messages HTTP/1.1\r\nHost: %b:%d\r\n" % (HOST.encode(), proxy.port)
        told = exchanged(proxy.port, sent + lines % key + b"\r\n\r\n", timeout=5)
        assert told.split()[1:2] in ([b"400"], [b"415"])
        assert key not in told
        assert upstream.heads == []


@pytest.mark.parametrize("mode", ["open", "strict"])
def test_a_fault_in_here_quotes_nothing_of_the_request(mode: Any) -> None:
    """Test S3: neither to the client nor in a record, nor on the pages."""

    def begin(name: str, call: Any) -> Any:
        return Stumbling()

    body = b'{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}]}'
    with (
        Upstream(answered) as upstream,
        Proxy(upstream.url, begin=begin, mode=mode) as proxy,
    ):
        told = exchanged(
            proxy.port, request(proxy.port, body, path="/v1/messages", headers={"Connection": "close"})
        )
        assert statuses_of(told) == [200 if mode == "open" else 500]
        [record] = proxy.wait_for(1)
        connection = http.client.HTTPConnection(HOST, proxy.port, timeout=20)
        connection.request("GET", "/_foldline/metrics", headers={"x-foldline-token": PAGES_TOKEN})
        metrics = connection.getresponse().read()
        connection.close()
    assert "KeyError at" in record.why
    assert b"KeyError at" in metrics
    for said in (told, repr(record).encode(), metrics):
        assert KEYS["exception"].encode() not in said


def test_the_canaries_are_of_a_length_that_nothing_else_has() -> None:
    """Test S3: a search for one finds it alone, and no environment of the tests holds one."""
    assert len(set(KEYS.values())) == len(CARRIERS) == 8
    assert not any(key in value for key in KEYS.values() for value in os.environ.values())
