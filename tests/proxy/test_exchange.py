"""One request up and down: what goes wrong on either side looks to the other like what it is."""

from __future__ import annotations

import http.client
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from foldline.proxy.limits import BODY_BYTES_MAX
from foldline.proxy.lines import line
from foldline.proxy.meters import Record, as_json
from foldline.testing.twin import Answer, Delivery, Fault, Twin, endless
from tests.proxy.running import Proxy, own_settings
from tests.proxy.sessions import HEADERS, MODEL, PATHS, Agent, generated, replayed, run, script
from tests.proxy.test_request_matrix import OK
from tests.proxy.upstreams import Sent, Upstream

BODY = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
JSON = {"content-type": "application/json", "authorization": "Bearer k"}


def post(
    proxy: Proxy, body: Any = BODY, *, path: str = "/v1/chat/completions", **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """A request as a program without an SDK sends it. Raises `http.client.IncompleteRead` for an answer that broke off."""
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=120)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(
            "POST", path, data, {**JSON, **{k.replace("_", "-"): v for k, v in headers.items()}}
        )
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def test_what_is_no_json_goes_on_as_it_came() -> None:
    """It is the provider's to refuse, in its own words."""
    with Twin() as twin, Proxy(twin.url) as proxy:
        status, _, headers = post(proxy, b"{nonsense")
        assert status == 400
        assert headers["request-id"] == "req_000000"
        assert twin.requests[0].body == b"{nonsense"
        assert proxy.wait_for(1)[0].why == "its body is no JSON that is read here"


def test_a_mark_of_byte_order_before_a_body_is_passed_over() -> None:
    """RFC 8259, 8.1: a reader may ignore it; the bytes go on as they came."""
    body = b"\xef\xbb\xbf" + json.dumps(BODY).encode()
    with Twin(replies=["ok"]) as twin, Proxy(twin.url) as proxy:
        assert post(proxy, body)[0] == 200
        assert twin.requests[0].body == body
        assert proxy.wait_for(1)[0].why != "its body is no conversation"
        assert proxy.wait_for(1)[0].model == MODEL or proxy.wait_for(1)[0].model == BODY["model"]


def test_a_form_is_refused_before_anything_is_sent() -> None:
    """Threat 6."""
    with Twin() as twin, Proxy(twin.url) as proxy:
        status, told, _ = post(proxy, content_type="text/plain")
        assert (status, twin.requests) == (415, ())
        assert "foldline proxy" in json.loads(told)["error"]["message"]


@pytest.mark.parametrize("format", PATHS)
def test_a_body_that_is_too_large_is_refused(format: str) -> None:
    """Test S7: by its length before it is read, where its provider would not take it."""
    provider = {"anthropic": "anthropic", "gemini": "gemini"}.get(format, "openai")
    with Twin() as twin, Proxy(twin.url) as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=120)
        connection.putrequest("POST", PATHS[format])
        for name, value in {**JSON, "content-length": str(BODY_BYTES_MAX[provider] + 1)}.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        assert response.status == 413
        assert (
            f"larger than {BODY_BYTES_MAX[provider]:,} bytes"
            in json.loads(response.read())["error"]["message"]
        )
        connection.close()
        assert twin.requests == ()


def test_a_body_is_measured_by_its_own_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Anthropic does not take another one may."""
    monkeypatch.setitem(BODY_BYTES_MAX, "anthropic", 50)
    with Upstream(lambda *_: OK) as upstream, Proxy(upstream.url) as proxy:
        assert post(proxy)[0] == 200
        assert post(proxy, path="/v1/messages")[0] == 413
        assert len(upstream.bodies) == 1


def test_a_body_of_megabytes_is_handed_on_in_pieces() -> None:
    """Nobody else waits for it; it arrives whole."""
    body = json.dumps({**BODY, "user": "u" * (3 * 2**20)}).encode()
    with Upstream(lambda *_: OK) as upstream, Proxy(upstream.url) as proxy:
        assert post(proxy, body)[0] == 200
        assert upstream.bodies == [body]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{nonsense", "its body is no JSON"),
        (b'{"model":"gpt-4o","prompt":"hello"}', "its body is no conversation"),
        (b'{"model":"gpt-4o","messages":["hello",7]}', "a message cannot be read here"),
        (
            b'{"model":"gpt-4o","messages":[{"role":"user","content":"a"}],"tools":[7]}',
            "tools cannot be read here",
        ),
    ],
)
def test_strict_refuses_what_cannot_be_read_and_the_open_proxy_passes_it(body: bytes, why: str) -> None:
    """`--strict`: a conversation that cannot be read is not kept, so it does not go out; a status that no SDK repeats."""
    with Upstream(lambda *_: OK) as upstream:
        with Proxy(upstream.url, mode="strict") as proxy:
            status, told, _ = post(proxy, body)
            assert status == 400
            assert why in json.loads(told)["error"]["message"]
            assert upstream.bodies == []
            assert proxy.wait_for(1)[0].outcome == "refused"
        with Proxy(upstream.url) as proxy:
            assert post(proxy, body)[0] == 200
            assert upstream.bodies == [body]
            [record] = proxy.wait_for(1)
            assert record.outcome == "as it came"
            assert why in record.why


@pytest.mark.parametrize("more", [{"previous_response_id": "r"}, {"conversation": "c"}])
def test_strict_passes_what_the_provider_keeps(more: dict[str, str]) -> None:
    """Server-held history is passed through and said so: there is nothing of it that could be kept here."""
    body = json.dumps({"model": "gpt-5", "input": "hello", **more}).encode()
    with Upstream(lambda *_: OK) as upstream, Proxy(upstream.url, mode="strict") as proxy:
        assert post(proxy, body, path="/v1/responses")[0] == 200
        assert upstream.bodies == [body]
        assert "the provider keeps the history" in proxy.wait_for(1)[0].why


@pytest.mark.parametrize("end", ["cut", "reset"])
@pytest.mark.parametrize("after", [1, 2])
def test_an_answer_that_breaks_off_never_looks_whole(end: str, after: int) -> None:
    """Test S5: the client sees that it broke off, and the record says so."""
    broken = Answer(text="one two three four five six seven", delivery=Delivery(end=end, end_after=after))  # type: ignore[arg-type]  # one of the two
    with Twin([broken]) as twin, Proxy(twin.url) as proxy:
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            post(proxy, {**BODY, "stream": True})
        assert proxy.wait_for(1)[0].is_cut


def test_an_upstream_that_is_not_there_is_said_in_the_clients_words() -> None:
    """With what to do."""
    with Proxy("http://localhost:9") as proxy:
        status, told, _ = post(proxy)
        assert status == 502
        assert "check the upstream" in json.loads(told)["error"]["message"]


def test_other_paths_are_passed_through_both_ways() -> None:
    """Everything else passed through; a body in chunks too, and a refusal as it came."""
    with Twin() as twin, Proxy(twin.url) as proxy:
        status, told, _ = post(
            proxy, b"x" * 300_000, path="/v1/files", content_type="application/octet-stream"
        )
        assert status == 400
        assert b"not valid JSON" in told
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=120)
        connection.request("POST", "/v1/files", iter([b"a" * 10, b"b" * 10]), JSON)
        connection.getresponse().read()
        connection.close()
        assert [request.body for request in twin.requests] == [b"x" * 300_000, b"a" * 10 + b"b" * 10]


def test_a_client_that_waits_for_leave_to_send_is_given_it() -> None:
    """curl asks so for a large body."""
    with Twin(endless("done")) as twin, Proxy(twin.url) as proxy:
        assert post(proxy, expect="100-continue")[0] == 200
        assert json.loads(twin.requests[0].body) == BODY


@pytest.mark.parametrize(("mode", "status", "sent"), [("open", 200, 1), ("strict", 500, 0)])
def test_what_goes_wrong_here_is_passed_on_or_refused(
    mode: Any, status: int, sent: int, tmp_path: Path
) -> None:
    """Fail open by default, counted and shown; `--strict` refuses."""

    def begin(name: str, call: Any) -> Any:
        return Broken()

    with Twin(endless("done")) as twin, Proxy(twin.url, begin=begin, mode=mode) as proxy:
        assert post(proxy)[0] == status
        [record] = proxy.wait_for(1)
        assert len(twin.requests) == sent
        assert record.outcome == ("failed open" if mode == "open" else "refused")
        assert record.why.startswith(
            ("ZeroDivisionError at", "the conversation cannot be kept (ZeroDivisionError")
        )
        assert "a fault of these tests" not in record.why


class Broken:
    """Conversations with a fault."""

    session = None

    def told(self, call: Any) -> Any:
        raise ZeroDivisionError("a fault of these tests")

    told_at_once = told

    def close(self) -> None:
        """Nothing is open."""


def test_throttling_is_passed_on_with_its_headers() -> None:
    """Of the upstream's, not ours."""
    with Twin([Fault(status=429, retry_after_s=7)]) as twin, Proxy(twin.url) as proxy:
        status, _, headers = post(proxy)
        assert (status, headers["retry-after"]) == (429, "7")
        assert proxy.wait_for(1)[0].outcome == "as it came"


def test_a_count_is_of_what_would_be_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`count_tokens` for a conversation that was reduced; one that was not is counted as it came."""
    own_settings(monkeypatch, tmp_path, window=20_000)
    turns = generated(60, tokens=240)
    agent = Agent("anthropic", first="Refactor the project.")

    def counted(proxy: Proxy) -> int:
        body = {
            key: value
            for key, value in json.loads(agent.body()).items()
            if key not in ("max_tokens", "stream")
        }
        status, told, _ = post(
            proxy,
            body,
            path="/v1/messages/count_tokens",
            **{"x-api-key": "k", "anthropic-version": "2023-06-01"},
        )
        assert status == 200
        return int(json.loads(told)["input_tokens"])

    with Twin(script(turns), window=20_000) as twin, Proxy(twin.url, home=tmp_path) as proxy:
        run(agent, turns[:5], proxy.url)
        whole = counted(proxy)
        assert json.loads(twin.requests[-1].body)["messages"] == json.loads(agent.body())["messages"]
        run(agent, turns[5:], proxy.url)
        assert whole < counted(proxy) < 20_000
        assert len(json.loads(twin.requests[-1].body)["messages"]) < len(agent.messages)
        assert len(proxy.wait_for(62)) == 62


def test_a_list_that_the_provider_is_to_compact_is_sent_whole_where_it_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/responses/compact` is passed on; past the window with the edits that were made, since it would be refused as it came."""
    own_settings(monkeypatch, tmp_path, window=20_000)
    turns = generated(60, tokens=240)
    agent = Agent("openai-responses", first="Refactor the project.")

    def asked(proxy: Proxy) -> bytes:
        body = json.loads(agent.body())
        data = json.dumps({key: body[key] for key in ("model", "instructions", "input")}).encode()
        post(proxy, data, path="/v1/responses/compact")
        return data

    with Twin(script(turns), window=20_000) as twin, Proxy(twin.url, home=tmp_path) as proxy:
        run(agent, turns[:5], proxy.url)
        assert asked(proxy) == twin.requests[-1].body
        run(agent, turns[5:], proxy.url)
        whole = json.loads(asked(proxy))
        sent = json.loads(twin.requests[-1].body)
        assert sent["input"][-1] == whole["input"][-1]
        assert len(sent["input"]) < len(whole["input"])
        before = json.loads(twin.requests[-2].body)["input"]
        assert sent["input"][: len(before)] == before, "the edits are those of the last request"
        assert {record.outcome for record in proxy.wait_for(62)[-1:]} == {"edited"}


COUNTS = {
    "anthropic": ("/v1/messages/count_tokens", ("max_tokens", "stream")),
    "openai-responses": ("/v1/responses/input_tokens", ("stream", "store")),
    "gemini": (f"/v1beta/models/{MODEL}:countTokens", ()),
}
"""Where a provider counts, and what it does not want to see then; Chat Completions has no such place."""


def came(agent: Agent, format: str, url: str) -> int:
    """What the provider counts for the agent's own list."""
    body = json.loads(agent.body())
    if format not in COUNTS:
        status, told = asked(url, PATHS[format], {**body, "stream": False, "stream_options": None})
        assert status == 200, told
        return int(told["usage"]["prompt_tokens"])
    path, apart = COUNTS[format]
    body = {key: value for key, value in body.items() if key not in apart}
    if format == "gemini":
        body = {"generateContentRequest": {"model": f"models/{MODEL}", **body}}
    status, told = asked(url, path, body)
    assert status == 200, told
    return int(told.get("input_tokens") or told["totalTokens"])


def asked(url: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    data = json.dumps({key: value for key, value in body.items() if value is not None}).encode()
    request = urllib.request.Request(f"{url}{path}", data, HEADERS)
    with urllib.request.urlopen(request, timeout=20) as answered:
        return answered.status, json.load(answered)


@pytest.mark.parametrize(
    ("format", "kind", "proxies"),
    [
        ("anthropic", "generated", 1),
        ("anthropic", "replayed", 2),
        ("openai-chat", "replayed", 1),
        ("openai-responses", "generated", 2),
        ("gemini", "replayed", 1),
    ],
)
def test_what_came_in_is_what_the_provider_would_have_counted(
    format: str, kind: str, proxies: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OBS-1: the left number of a line, and with it what was saved, within a few percent of the caller's own body in every dialect, past
    three compactions and in a proxy that was started again."""
    own_settings(monkeypatch, tmp_path, window=20_000)
    turns = generated(140, tokens=240) if kind == "generated" else replayed(140, chars_max=1_200)
    tools = sorted({call.name for turn in turns for call in turn.calls})
    agent, each = Agent(format, first="Refactor.", tools=tools), 140 // proxies
    records, true = list[Record](), dict[int, int]()
    with Twin(script(turns), window=20_000) as twin, Twin(endless("counted"), window=2_000_000) as counter:
        for part in range(proxies):
            with Proxy(twin.url, home=tmp_path) as proxy:
                for n in range(part * each, (part + 1) * each):
                    if n % 3 == 0:
                        true[n] = came(agent, format, counter.url)
                    run(agent, [turns[n]], proxy.url)
                records += proxy.wait_for(each)
    assert sum(record.is_compaction for record in records) >= 3
    off = {records[n].tokens_in / count - 1 for n, count in true.items()}
    assert -0.05 <= min(off) <= max(off) <= 0.05
    whole = [record for record in records if record.outcome == "as it came"]
    assert all(record.tokens_in == record.tokens_sent for record in whole)


@pytest.mark.parametrize("is_known", [False, True], ids=["unknown window", "known window"])
def test_a_server_that_cuts_in_silence_is_reported(
    is_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent truncation reported, as of Ollama: before a reduction is due, and of what was reduced for a larger window."""
    window = 32_000 if is_known else 200_000
    own_settings(monkeypatch, tmp_path, window=window)
    turns = generated(40, tokens=300)
    agent = Agent("openai-chat", first="Refactor the project.")
    with Twin(script(turns), window=8_000, truncates=True) as twin, Proxy(twin.url, home=tmp_path) as proxy:
        run(agent, turns, proxy.url)
        records = proxy.wait_for(len(turns))
    notes = [note for record in records for note in record.notes if "in silence" in note]
    assert notes
    assert "num_ctx" in notes[0]
    cut = next(n for n, request in enumerate(twin.requests) if request.tokens > 8_000)
    first = next(n for n, record in enumerate(records) if any("in silence" in note for note in record.notes))
    assert first - cut <= 2


def test_a_server_that_cuts_nothing_is_not_accused(tmp_path: Path) -> None:
    """Not of its own counting, nor of a picture's bytes."""
    turns = generated(30, tokens=300)
    agent = Agent("anthropic", first="Refactor the project.")
    with Twin(script(turns), window=200_000) as twin, Proxy(twin.url, home=tmp_path) as proxy:
        run(agent, turns, proxy.url)
        records = proxy.wait_for(len(turns))
    assert not [record.notes for record in records if any("in silence" in note for note in record.notes)]


def test_an_odd_event_goes_to_the_client_like_any_other() -> None:
    """LOSSLESS: at the beginning of a stream, where a refusal may stand, and later."""
    odd = b'data: {"type":["x"],"output_index":[],"choices":[{"index":[],"delta":{"content":["y"]}}]}\n\n'
    end = b"data: [DONE]\n\n"
    with Upstream(lambda head, body: Sent(pieces=[odd, odd, end])) as upstream, Proxy(upstream.url) as proxy:
        for path in ("/v1/chat/completions", "/v1/messages", "/v1/responses"):
            body = {"model": MODEL, "stream": True, "messages": BODY["messages"], "input": "hello"}
            status, told, _ = post(proxy, body, path=path)
            assert (status, told) == (200, odd + odd + end)
        assert [record.why for record in proxy.wait_for(3)] == ["", "", ""]


@pytest.mark.parametrize(
    ("method", "head", "pieces", "body"),
    [
        ("GET", "200 OK\r\nContent-Length: 2", [b"hi"], b"hi"),
        ("GET", "200 OK\r\nConnection: close", [b"hi"], b"hi"),
        ("GET", "204 No Content\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2", [], b""),
        ("GET", "302 Found\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0", [], b""),
        ("GET", "304 Not Modified\r\nETag: x", [], b""),
        ("HEAD", "200 OK\r\nContent-Type: application/json\r\nContent-Length: 500", [], b""),
    ],
    ids=[
        "no type",
        "ends with the connection",
        "nothing in it",
        "a redirect",
        "not modified",
        "a head alone",
    ],
)
def test_an_answer_has_the_upstreams_headers_and_none_beside_them(
    method: str, head: str, pieces: list[bytes], body: bytes
) -> None:
    """LOSSLESS of heads: no type that nobody said, no name of ours. The time is added where it is not there (RFC 9110, 6.6.1)."""
    given = [tuple(line.split(": ")) for line in head.split("\r\n")[1:]]
    answer = Sent(head=f"HTTP/1.1 {head}\r\n\r\n".encode(), pieces=pieces)
    with Upstream(lambda *_: answer) as upstream, Proxy(upstream.url) as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
        connection.request(method, "/v1/models")
        response = connection.getresponse()
        assert (response.status, response.read()) == (int(head[:3]), body)
        told = [pair for pair in response.getheaders() if pair[0] not in ("Date", "Transfer-Encoding")]
        connection.close()
        assert told == [pair for pair in given if pair[0] != "Connection"]
        assert b"user-agent" not in upstream.heads[0].lower(), "nor does a request get any"


@pytest.mark.parametrize(("mode", "outcome"), [("open", "edited"), ("observe", "would edit")])
def test_a_lowered_output_cap_is_an_edit_and_is_told_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, outcome: str
) -> None:
    """CMP-41: `as it came` is said of the caller's own bytes alone; a cap that thinking needs stays, and nothing is said of one."""
    own_settings(monkeypatch, tmp_path, window=40_000)
    body = {"model": MODEL, "max_tokens": 64_000, "messages": [{"role": "user", "content": "go"}]}
    thinks = {**body, "thinking": {"type": "enabled", "budget_tokens": 63_000}}
    with Twin(endless("ok")) as twin, Proxy(twin.url, home=tmp_path / "home", mode=mode) as proxy:
        for one in (body, thinks):
            post(proxy, one, path="/v1/messages", anthropic_version="2023-06-01", x_api_key="k")
        lowered, left = proxy.wait_for(2)
        caps = [request.parsed["max_tokens"] for request in twin.requests]
    sent = caps[0] if mode == "open" else 64_000
    assert (sent < 64_000, caps) == (mode == "open", [sent, 64_000])
    assert lowered.outcome == outcome
    why = as_json(lowered)["why"]
    assert why.startswith("output cap lowered to ")
    assert why.endswith(" from 64,000")
    assert (left.outcome, as_json(left)["why"]) == ("as it came", "")
    assert not any("cap lowered" in note for record in (lowered, left) for note in record.notes)


def test_what_a_provider_refused_is_told_where_it_was_recovered_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REA-1: a signature that is refused; the request goes up once more without the reasoning, and its line says why."""
    own_settings(monkeypatch, tmp_path, window=40_000)
    thought = {"type": "thinking", "thinking": "so", "signature": "c2lnbmVk"}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "gone"}]},
        {"role": "user", "content": "on"},
    ]
    fault = Fault(status=400, message="messages.1.content.0: Invalid `signature` in `thinking` block")
    body = {"model": MODEL, "max_tokens": 1_000, "messages": messages}
    steps: list[Any] = [lambda request: fault if b"signature" in request.body else "ok"] * 2
    with Twin(steps) as twin, Proxy(twin.url, home=tmp_path / "home") as proxy:
        told = post(proxy, body, path="/v1/messages", anthropic_version="2023-06-01", x_api_key="k")
        assert told[0] == 200
        [record] = proxy.wait_for(1)
        assert "signature" not in twin.requests[1].body.decode()
    assert (record.outcome, as_json(record)["why"]) == ("recovered", "refused signature")
    assert "recovered: refused signature" in line(record, clock="14:02:11")
