"""Every way in which a request can be spelt that two parsers may read differently, or that a page or another host would send, as bytes
on a socket: it is refused before the upstream hears of it, and the sound ones are not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import pytest
from msgspec import Struct

from tests.proxy.running import Proxy
from tests.proxy.upstreams import Sent, Upstream, exchanged, request

Headers: TypeAlias = Mapping[str, str | None]
ANSWER = b'{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop","index":0}]}'
OK = Sent(
    head=b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER),
    pieces=[ANSWER],
)
BODY = b'{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}'
STATUS: Final = re.compile(rb"HTTP/[01]\.[0-9] ([0-9]{3}) ")
LAST: Final[Headers] = {"Connection": "close"}
CLOSED = 0
"""In place of a status: closed without a word."""


class Case(Struct, frozen=True, kw_only=True):
    """What is sent to a port, and the statuses that may come back."""

    name: str
    sent: Callable[[int], bytes]
    statuses: tuple[int, ...]
    reaches: int = 0
    """Requests of it that the upstream gets."""


def plain(name: str, *statuses: int, reaches: int = 0, headers: Headers | None = None) -> Case:
    """A case that differs in headers alone; `PORT` in a value is the port."""

    def sent(port: int) -> bytes:
        given = {key: value and value.replace("PORT", str(port)) for key, value in (headers or {}).items()}
        return request(port, BODY, headers={**LAST, **given})

    return Case(name=name, sent=sent, statuses=statuses, reaches=reaches)


def lined(name: str, line: str, *statuses: int) -> Case:
    """A case with another first line."""

    def sent(port: int) -> bytes:
        rest = request(port, BODY, headers=LAST).partition(b"\r\n")[2]
        return line.replace("PORT", str(port)).encode("latin-1") + b"\r\n" + rest

    return Case(name=name, sent=sent, statuses=statuses)


def page(name: str, *more: str) -> Case:
    """A page of the proxy's own, asked for without leave."""

    def sent(port: int) -> bytes:
        lines = ["GET /_foldline/status HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *more]
        return "\r\n".join([*lines, "", ""]).encode()

    return Case(name=name, sent=sent, statuses=(401,))


def raw(name: str, more: bytes, *statuses: int, reaches: int = 0, body: bytes = BODY) -> Case:
    """A case with further bytes among its headers."""

    def sent(port: int) -> bytes:
        head, _, _ = request(port, body, headers=LAST).partition(b"\r\n\r\n")
        return head + b"\r\n" + more + b"\r\n\r\n" + body

    return Case(name=name, sent=sent, statuses=statuses, reaches=reaches)


def chunked(port: int) -> bytes:
    """A sound request whose body comes in a chunk."""
    head, _, _ = request(
        port, BODY, headers={**LAST, "Content-Length": None, "Transfer-Encoding": "chunked"}
    ).partition(b"\r\n\r\n")
    return head + b"\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)


def smuggled(port: int) -> bytes:
    """A length beside a transfer encoding, with another request where one of the two says that the body ended."""
    inner = request(port, BODY)
    head, _, _ = request(
        port, BODY, headers={"Content-Length": str(len(inner) + 5), "Transfer-Encoding": "chunked"}
    ).partition(b"\r\n\r\n")
    return head + b"\r\n\r\n0\r\n\r\n" + inner


MATRIX: Final = (
    # the seventeen of the probe
    plain("sound", 200, reaches=1),
    plain("host of another", 421, headers={"Host": "evil.example"}),
    plain("host rebound", 421, headers={"Host": "evil.example:PORT"}),
    plain("host missing", 400, 421, headers={"Host": None}),
    plain("host 0.0.0.0", 421, headers={"Host": "0.0.0.0:PORT"}),
    plain("origin of another", 403, headers={"Origin": "https://evil.example"}),
    plain("origin null", 403, headers={"Origin": "null"}),
    plain("cross-site fetch", 403, headers={"Sec-Fetch-Site": "cross-site"}),
    page("page without a token"),
    page("page with a wrong token", "x-foldline-token: x"),
    plain("a form's type", 415, headers={"Content-Type": "text/plain"}),
    plain("a transfer encoding beside a length", 400, headers={"Transfer-Encoding": "chunked"}),
    plain("a huge length", 413, headers={"Content-Length": "99999999999"}),
    plain("a negative length", 400, headers={"Content-Length": "-1"}),
    plain("a header of 70,000 bytes", 400, 431, headers={"X-A": "y" * 70_000}),
    raw("a second host", b"x: 1\r\nhost: evil.example", 400, 421),
    raw("a space before a colon", b"x-y : 1", 400),
    # thirteen more
    lined("absolute form", "POST http://evil.example/v1/chat/completions HTTP/1.1", 400),
    lined("an @ in the target", "POST @evil.example/v1/chat/completions HTTP/1.1", 400),
    lined("dots in the path", "POST /v1/../admin/chat/completions HTTP/1.1", 400),
    lined("CONNECT", "CONNECT evil.example:443 HTTP/1.1", 400, 405),
    raw("authorization twice", b"Authorization: Bearer other", 400),
    plain("an IPv6 host", 200, reaches=1, headers={"Host": "[::1]:PORT"}),
    plain("a host with a dot at its end", 421, headers={"Host": "localhost.:PORT"}),
    plain("a host in capitals", 200, reaches=1, headers={"Host": "LOCALHOST:PORT"}),
    raw("an upgrade to h2c", b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__", 400, 426),
    raw("an upgrade to WebSocket", b"Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", 400, 426),
    lined("OPTIONS", "OPTIONS /v1/chat/completions HTTP/1.1", 405),
    raw("a folded header", b"X-A: 1\r\n evil: 2", 400),
    raw("a NUL in a header", b"X-A: a\x00b", 400),
    # and their siblings
    Case(name="pipelined, the second of another host", statuses=(200,), reaches=1, sent=lambda port: request(port, BODY) + request(port, BODY, headers={**LAST, "Host": "evil.example"})),
    Case(name="a body in chunks", statuses=(200,), reaches=1, sent=chunked),
    Case(name="smuggled", statuses=(400,), sent=smuggled),
    lined("a NUL in the target", "POST /v1/chat\x00/completions HTTP/1.1", 400),
    lined("no version", "POST /v1/chat/completions", 400, 505),
    lined("a version that is not", "POST /v1/chat/completions HTTP/1.9", 400, 505),
    lined("HTTP/2 as text", "PRI * HTTP/2.0", 400, 405, 505, CLOSED),
    lined("two slashes", "POST //evil.example/v1/chat/completions HTTP/1.1", 400),
    plain("a length with a sign", 400, headers={"Content-Length": f"+{len(BODY)}"}),
    plain("a length of two", 400, headers={"Content-Length": f"{len(BODY)}, {len(BODY)}"}),
    plain("an encoding with spaces", 400, headers={"Content-Length": None, "Transfer-Encoding": "xchunked"}),
    raw("a bare line feed", b"X-A: 1\nhost: evil.example", 400, 421),
    plain("a preflight's header", 403, headers={"Origin": "http://localhost:PORT", "Access-Control-Request-Method": "POST"}),
)  # fmt: skip


def statuses_of(answer: bytes) -> list[int]:
    """The statuses in what came back; `CLOSED` where nothing did."""
    return [int(status) for status in STATUS.findall(answer)] or [CLOSED]


@pytest.mark.parametrize("case", MATRIX, ids=lambda case: case.name)
def test_only_the_sound_requests_pass_and_no_other_reaches_the_upstream(case: Case) -> None:
    """Test S1: thirty cases and their siblings, on a socket."""
    with Upstream(lambda head, body: OK) as upstream, Proxy(upstream.url) as proxy:
        answer = exchanged(proxy.port, case.sent(proxy.port), timeout=3)
        assert statuses_of(answer)[0] in case.statuses, answer[:400]
        assert len(upstream.heads) == case.reaches
        assert b"Access-Control" not in answer


def test_the_matrix_has_the_thirty_cases_of_its_plan() -> None:
    """Test S1: seventeen and thirteen; each once."""
    names = [case.name for case in MATRIX]
    assert len(names) == len(set(names)) >= 30


def test_pipelined_requests_are_answered_in_order_each_by_itself() -> None:
    """Test S1: the second is looked at as the first was."""
    with Upstream(lambda head, body: OK) as upstream, Proxy(upstream.url) as proxy:
        sound = request(proxy.port, BODY)
        evil = request(proxy.port, BODY, headers={"Host": "evil.example"})
        last = request(proxy.port, BODY, headers=LAST)
        answer = exchanged(proxy.port, sound + evil + last, timeout=3)
        assert statuses_of(answer) == [200, 421, 200]
        assert all(b"evil.example" not in head for head in upstream.heads)
