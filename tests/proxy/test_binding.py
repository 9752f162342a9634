"""Where the proxy listens, who gets in, and where it sends: as a process of its own, with everything tried that could move it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proxy.running import Proxy
from tests.proxy.sessions import MODEL
from tests.proxy.test_request_matrix import ANSWER, BODY, OK
from tests.proxy.upstreams import HOST, Command, Sent, Upstream, exchanged, request

NOBODY = 65_534
LISTENS = "0A"


def listening(pid: int) -> set[str]:
    """Local addresses on which a process listens, as the kernel has them."""
    descriptors = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    sockets = {name[8:-1] for name in descriptors if name.startswith("socket:[")}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == LISTENS and columns[9] in sockets:
                found.add(columns[1].partition(":")[0])
    return found


def as_another(uid: int, code: str) -> str:
    """What a program of another user of this machine prints.

    It starts as root and becomes the other, with all that it needs already read: where Python itself lies, that user may
    have no way in.
    """
    become = (
        f"import encodings.idna, http.client, os; os.setgroups([]); os.setgid({uid}); os.setuid({uid})\n"
        f"assert os.getresuid() == ({uid},) * 3\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", become + code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.skipif(not Path("/proc/self/net/tcp").is_file(), reason="what listens is read from /proc")
def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    """Test S2: one socket, on 127.0.0.1."""
    with (
        Upstream(lambda head, body: OK) as upstream,
        Command("--upstream", upstream.url, folder=tmp_path) as proxy,
    ):
        assert listening(proxy.pid) == {"0100007F"}


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can be another user")
def test_another_user_of_the_machine_gets_nothing_without_the_secrets(tmp_path: Path) -> None:
    """Test S2: 401 for the pages, and for everything where `--token` was asked for; neither secret is where another user reads."""
    with (
        Upstream(lambda head, body: OK) as upstream,
        Command("--upstream", upstream.url, "--token", folder=tmp_path) as proxy,
    ):
        asked = (
            f"for path in ('/_foldline/status', '/v1/models', '/{'0' * 32}/v1/models'):\n"
            f"    c = http.client.HTTPConnection('{HOST}', {proxy.port}); c.request('GET', path)\n"
            "    print(c.getresponse().status)\n"
            f"print(open('/proc/{proxy.pid}/cmdline').read())\n"
            f"print(open('/proc/{proxy.pid}/environ').read())\n"
        )
        said = as_another(NOBODY, asked)
        secret = proxy.url.rpartition("/")[2]
        assert len(secret) == len(proxy.status_token) == 32
        assert said.split()[:3] == ["401"] * 3
        assert "PermissionError" in said
        assert secret not in said
        assert proxy.status_token not in said
        assert upstream.heads == []
        assert b" 200 OK" in exchanged(
            proxy.port,
            request(proxy.port, BODY, path=f"/{secret}/v1/chat/completions", headers={"Connection": "close"}),
            timeout=5,
        )


class Decoy:
    """A listener that nobody should ever reach."""

    def __init__(self) -> None:
        self.reached = 0
        self._socket = socket.create_server((HOST, 0))
        self.port = int(self._socket.getsockname()[1])
        self.url = f"http://{HOST}:{self.port}"
        self._thread = threading.Thread(target=self._serve, name="decoy of a test")
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.reached += 1
            connection.close()

    def close(self) -> None:
        """Listen no more."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture
def decoy() -> Iterator[Decoy]:
    """Closed in the end."""
    one = Decoy()
    yield one
    one.close()


def test_nothing_but_the_start_says_where_requests_go(tmp_path: Path, decoy: Decoy) -> None:
    """Test S4: twelve attempts by the project's files, the environment, headers, the target and the body; the decoy hears nothing and the
    upstream everything."""
    written = f'upstream = "{decoy.url}"\n[proxy]\nupstream = "{decoy.url}"\nbase_url = "{decoy.url}"\n'
    (tmp_path / "foldline.toml").write_text(written)
    (tmp_path / ".env").write_text(f"ANTHROPIC_BASE_URL={decoy.url}\nOPENAI_BASE_URL={decoy.url}\n")
    (tmp_path / ".netrc").write_text(f"machine {HOST} login a password decoy\n")
    named = [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "FOLDLINE_UPSTREAM",
    ]
    env = {
        **dict.fromkeys([*named, *map(str.lower, named)], decoy.url),
        "NETRC": str(tmp_path / ".netrc"),
        "NO_PROXY": "",
    }
    moved = {**json.loads(BODY), "api_base": decoy.url, "base_url": decoy.url, "upstream": decoy.url}
    headers = [
        {"X-Forwarded-Host": f"{HOST}:{decoy.port}"},
        {"X-Upstream": decoy.url, "X-Base-Url": decoy.url, "Forwarded": f"host={HOST}:{decoy.port}"},
        {"X-Original-URL": decoy.url, "X-Rewrite-URL": decoy.url, "Proxy-Connection": "keep-alive"},
        {"Host": f"{HOST}:{decoy.port}"},
    ]
    lines = [f"POST {decoy.url}/v1/chat/completions HTTP/1.1", f"POST @{HOST}:{decoy.port}/v1/chat/completions HTTP/1.1",
             f"POST //{HOST}:{decoy.port}/v1/chat/completions HTTP/1.1"]  # fmt: skip
    with (
        Upstream(lambda head, body: OK) as upstream,
        Command("--upstream", upstream.url, folder=tmp_path, env=env) as proxy,
    ):
        last = {"Connection": "close"}
        answers = [
            exchanged(proxy.port, request(proxy.port, BODY, headers={**last, **more}), timeout=5)
            for more in headers
        ]
        answers.append(
            exchanged(proxy.port, request(proxy.port, json.dumps(moved).encode(), headers=last), timeout=5)
        )
        plain = request(proxy.port, BODY, headers=last)
        for line in lines:
            answers.append(
                exchanged(proxy.port, line.encode() + b"\r\n" + plain.partition(b"\r\n")[2], timeout=5)
            )
        assert [int(answer.split()[1]) for answer in answers] == [200, 200, 200, 421, 200, 400, 400, 400]
        assert len(upstream.heads) == 4
        assert all(f"Host: {upstream.url[7:]}".encode() in head for head in upstream.heads)
        assert all(b"decoy" not in head and b"Authorization: Bearer k" in head for head in upstream.heads)
    assert decoy.reached == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_passed_back_and_never_followed(status: int, decoy: Decoy) -> None:
    """Test S4: it would take the key along."""
    head = f"HTTP/1.1 {status} Moved\r\nLocation: {decoy.url}/v1\r\nContent-Length: 0\r\n\r\n".encode()
    with Upstream(lambda *_: Sent(head=head)) as upstream, Proxy(upstream.url) as proxy:
        answer = exchanged(proxy.port, request(proxy.port, BODY, headers={"Connection": "close"}), timeout=5)
        assert int(answer.split()[1]) == status
        assert f"Location: {decoy.url}/v1".encode() in answer
    assert decoy.reached == 0
    assert len(upstream.heads) == 1


@pytest.mark.parametrize("value", ["api_base", "base_url"])
def test_a_body_that_names_another_server_goes_on_as_it_came(value: str) -> None:
    """Test S4, LOSSLESS: what it says is the provider's to read."""
    body = json.dumps(
        {"model": MODEL, "messages": [{"role": "user", "content": "a"}], value: "http://localhost:9"}
    ).encode()
    with Upstream(lambda *_: OK) as upstream, Proxy(upstream.url) as proxy:
        connection = http.client.HTTPConnection(HOST, proxy.port, timeout=20)
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        assert connection.getresponse().read() == ANSWER
        connection.close()
    assert upstream.bodies == [body]
