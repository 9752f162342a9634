"""The twin on its socket: HTTP, faults of the connection, what is recorded, and an end that leaves nothing behind."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import zlib
from urllib.parse import urlsplit

import pytest

from foldline.testing.twin import Answer, Delivery, Fault, Received, Twin, endless
from tests.testing.twin.client import CLAUDE, KEY, ask, chat, send

BODY = {"model": CLAUDE, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def test_it_listens_on_loopback_alone() -> None:
    with Twin() as twin:
        assert urlsplit(twin.url).hostname == "127.0.0.1"


def test_without_a_script_every_answer_is_ok() -> None:
    with Twin() as twin:
        assert [ask(twin, "hi").body["content"][0]["text"] for _ in range(2)] == ["ok", "ok"]


def test_a_request_is_recorded_without_its_key() -> None:
    with Twin(replies=["Hello."]) as twin:
        ask(twin, "hi", beta="context-management-2025-06-27")
        (received,) = twin.requests
    assert received.path == "/v1/messages"
    assert received.dialect == "anthropic"
    assert received.parsed["messages"] == [{"role": "user", "content": "hi"}]
    assert json.loads(received.body) == received.parsed
    assert received.headers["anthropic-beta"] == "context-management-2025-06-27"
    assert "sk-test" not in repr(received)
    assert (received.status, received.refusal) == (200, "")
    assert received.tokens > 0


def test_a_refusal_takes_no_step_of_the_script_and_says_why() -> None:
    with Twin(replies=["Hello."]) as twin:
        assert ask(twin, []).status == 400
        assert ask(twin, "hi").body["content"][0]["text"] == "Hello."
        assert twin.requests[0].refusal.startswith("messages: at least one")


def test_a_fault_is_sent_with_its_headers_or_with_a_body_of_its_own() -> None:
    faults = [
        Fault(status=429, retry_after_s=0.5, headers={"x-ratelimit-remaining-tokens": "0"}),
        Fault(status=529),
        Fault(status=502, body="<html>Bad Gateway</html>"),
        Fault(status=400, message="no", kind="odd", code="compaction_unavailable"),
    ]
    with Twin(replies=faults) as twin:
        limited, overloaded, gateway, odd = (ask(twin, "hi") for _ in faults)
    assert (limited.status, limited.headers["retry-after"]) == (429, "0.5")
    assert limited.headers["x-ratelimit-remaining-tokens"] == "0"
    assert overloaded.body["error"] == {"type": "overloaded_error", "message": "Overloaded"}
    assert (gateway.status, gateway.data) == (502, b"<html>Bad Gateway</html>")
    assert odd.body["error"]["details"] == {"error_code": "compaction_unavailable"}


def test_a_script_may_decide_by_the_request() -> None:
    def echo(received: Received) -> str:
        return str(received.parsed["messages"][-1]["content"])

    with Twin(replies=endless(echo)) as twin:
        assert ask(twin, "first").body["content"][0]["text"] == "first"
        assert ask(twin, "second").body["content"][0]["text"] == "second"


def test_a_script_may_hold_one_request_while_another_is_answered() -> None:
    """A message that arrives while a compaction runs: two requests at once."""
    begun, let_go = threading.Event(), threading.Event()

    def held(_: Received) -> str:
        begun.set()
        assert let_go.wait(20)
        return "held"

    def second(_: Received) -> str:
        let_go.set()
        return "second"

    with Twin(replies=[held, second]) as twin:
        answers: list[str] = []
        slow = threading.Thread(target=lambda: answers.append(ask(twin, "a").body["content"][0]["text"]))
        slow.start()
        assert begun.wait(20)
        assert twin.requests[0].status == 0
        assert ask(twin, "b").body["content"][0]["text"] == "second"
        slow.join(20)
    assert answers == ["held"]


def test_waiting_for_a_request_that_does_not_come_ends() -> None:
    with Twin() as twin, pytest.raises(TimeoutError, match="0 of 1 requests"):
        twin.wait_for(1, timeout_s=0.01)


def test_a_stream_may_be_cut_before_its_end() -> None:
    with Twin(replies=[Answer(text="x" * 200, delivery=Delivery(end="cut", end_after=3))]) as twin:
        with pytest.raises(http.client.IncompleteRead) as cut:
            ask(twin, "hi", stream=True)
    assert cut.value.partial.count(b"event: ") == 3


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("after", [0, 2])
def test_a_connection_may_be_reset(stream: bool, after: int) -> None:
    with Twin(replies=[Answer(text="x" * 200, delivery=Delivery(end="reset", end_after=after))]) as twin:
        with pytest.raises(ConnectionResetError):
            ask(twin, "hi", stream=stream)


def test_a_stream_may_end_in_an_error() -> None:
    with Twin(replies=[Answer(text="x" * 200, delivery=Delivery(end="error", end_after=2))] * 2) as twin:
        last = ask(twin, "hi", stream=True).events[-1]
        other = chat(twin, "hi", stream=True).events[-1]
    assert last == {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert other["error"]["type"] == "server_error"


def test_a_stall_ends_when_the_twin_is_closed() -> None:
    """A test of a time limit must not have to wait for it."""
    stalled = Answer(text="x" * 200, delivery=Delivery(stall_after=2, stall_s=600))
    with Twin(replies=[stalled]) as twin:
        connection = socket.create_connection(
            (urlsplit(twin.url).hostname, urlsplit(twin.url).port), timeout=120
        )
        body = json.dumps({**BODY, "stream": True}).encode()
        head = "".join(
            f"{name}: {value}\r\n" for name, value in {**KEY, "anthropic-version": "2023-06-01"}.items()
        )
        connection.sendall(
            f"POST /v1/messages HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body
        )
        twin.wait_for(1)
    with connection:
        assert b"".join(iter(lambda: connection.recv(65_536), b"")).count(b"event: ") <= 2


def test_a_connection_is_kept_for_the_next_request() -> None:
    with Twin() as twin:
        connection = http.client.HTTPConnection(urlsplit(twin.url).netloc, timeout=120)
        ports = []
        for _ in range(2):
            connection.request("POST", "/v1/messages", json.dumps(BODY), {"anthropic-version": "x", **KEY})
            connection.getresponse().read()
            ports.append(connection.sock.getsockname())
        connection.close()
    assert ports[0] == ports[1]


def test_a_body_may_come_in_chunks_or_compressed() -> None:
    """What proxies and some clients send."""
    data = json.dumps(BODY).encode()
    with Twin() as twin:
        assert send(twin, "/v1/messages", zlib.compress(data), {"content-encoding": "deflate"}).status == 200
        connection = http.client.HTTPConnection(urlsplit(twin.url).netloc, timeout=120)
        pieces = (data[at : at + 10] for at in range(0, len(data), 10))
        connection.request(
            "POST", "/v1/messages", pieces, {"anthropic-version": "x", **KEY}, encode_chunked=True
        )
        assert connection.getresponse().status == 200
        connection.close()
        assert twin.requests[0].tokens == twin.requests[1].tokens


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"model": "\xff"}', b'{"a": 1, "a": 2}', b'"\\ud800"'])
def test_what_is_no_json_is_refused_as_such(body: bytes) -> None:
    with Twin() as twin:
        back = send(twin, "/v1/messages", body)
    assert back.status == 400
    assert "not valid JSON" in back.message


def test_a_body_over_the_providers_limit_is_refused_by_bytes() -> None:
    """E066 of the recorded errors: 32 MB, whatever the tokens."""
    with Twin() as twin:
        back = send(twin, "/v1/messages", b" " * (32 * 2**20 + 1))
    assert back.status == 413
    assert back.body["error"] == {"type": "request_too_large", "message": "Request exceeds the maximum size"}


@pytest.mark.parametrize("path", ["/v1/messages/batches", "/v1/embeddings", "/"])
def test_a_path_that_nobody_answers_is_not_found(path: str) -> None:
    with Twin() as twin:
        assert send(twin, path, BODY).status == 404
        assert send(twin, path, b"", method="GET").status == 404


def test_a_fault_of_a_script_fails_the_test_that_wrote_it() -> None:
    """An assertion in a script that nobody sees would be a test that cannot fail."""

    def wrong(_: Received) -> str:
        raise LookupError("not what was expected")

    twin = Twin(replies=[wrong])
    twin.__enter__()
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        ask(twin, "hi")
    with pytest.raises(LookupError, match="not what was expected"):
        twin.__exit__(None, None, None)


def test_closing_leaves_no_thread() -> None:
    before = threading.active_count()
    with Twin() as twin:
        connection = http.client.HTTPConnection(urlsplit(twin.url).netloc, timeout=120)
        connection.request("POST", "/v1/messages", json.dumps(BODY), {"anthropic-version": "x", **KEY})
        connection.getresponse().read()
    connection.close()
    assert threading.active_count() == before


def test_many_requests_at_once_are_each_answered() -> None:
    with Twin(replies=endless("ok")) as twin:
        statuses: list[int] = []
        threads = [
            threading.Thread(target=lambda: statuses.append(ask(twin, "hi").status)) for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert statuses == [200] * 16
        assert len({received.status for received in twin.requests}) == 1
