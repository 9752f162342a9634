"""Agents through a proxy that runs: the official SDKs against the twin, in every dialect, as they would be used without it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import foldline
from foldline.home import disk_store
from foldline.session.library import listed
from foldline.testing.twin import Answer, Twin, endless
from tests.clients.agents import FORMATS, RULE, SETTINGS, WINDOW, client_of
from tests.clients.test_wrap import run
from tests.proxy.running import Proxy

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
TURNS = 16


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    (tmp_path / "foldline").mkdir()
    (tmp_path / "foldline" / "foldline.toml").write_text(SETTINGS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def twin() -> Iterator[Twin]:
    """A provider whose window is that of the model in the settings."""
    with Twin(endless(Answer(text="done", thinking="hm")), window=WINDOW) as twin:
        yield twin


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
def test_an_unchanged_agent_runs_past_its_window(
    twin: Twin, home: Path, format: str, stream: bool, is_async: bool
) -> None:
    """CMP-1, law ONCE: the provider takes every request, the rule of the first message is in all of them, one break of the
    prefix a compaction, and the log has every word."""
    with Proxy(twin.url) as proxy:
        run(
            client_of(format, proxy.url, is_async=is_async),
            format,
            turns=TURNS,
            stream=stream,
            is_async=is_async,
        )
        records = proxy.wait_for(TURNS)
    assert [request.status for request in twin.requests] == [200] * TURNS
    assert all("Never touch auth.py" in request.body.decode() for request in twin.requests)
    broken = [n for n in range(1, TURNS) if twin.requests[n].extends != n - 1]
    assert len(broken) == sum(record.is_compaction for record in records) >= 1
    assert {record.outcome for record in records} == {"as it came", "edited"}
    [session] = [one.name for one in listed(disk_store(home))]
    with foldline.open(session) as kept:
        texts = [json.dumps(message) for message in kept.messages]
    assert all(any(f"step {n} w" in text for text in texts) for n in range(TURNS - 1))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
def test_below_the_threshold_the_bytes_are_those_of_the_client(home: Path, format: str, stream: bool) -> None:
    """LOSSLESS on the wire: the requests that go up are those that would have gone, and nothing is written."""
    bodies = []
    for is_through in (False, True):
        with (
            Twin(endless(Answer(text="done", thinking="hm")), window=WINDOW) as twin,
            Proxy(twin.url) as proxy,
        ):
            url = proxy.url if is_through else twin.url
            run(client_of(format, url), format, turns=3, stream=stream, is_async=False)
            bodies.append([(request.path, request.body) for request in twin.requests])
    assert bodies[0] == bodies[1]
    assert RULE.encode() in bodies[0][0][1]
    assert not list(listed(disk_store(home)))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
def test_an_overflow_is_recovered_from_before_the_client_sees_anything(format: str, stream: bool) -> None:
    """REA-1, REA-2: a provider whose window is smaller than what is known of it refuses; one compaction, one retry."""
    with Twin(endless("done"), window=WINDOW // 3) as twin, Proxy(twin.url) as proxy:
        run(client_of(format, proxy.url), format, turns=9, stream=stream, is_async=False)
        refused = [n for n, request in enumerate(twin.requests) if request.tokens > WINDOW // 3]
        records = proxy.wait_for(9)
    assert refused
    assert len(twin.requests) == 9 + len(refused)
    assert sum(record.outcome == "recovered" for record in records) == len(refused)
    assert {record.cause for record in records if record.outcome == "recovered"} == {"too long"}
    assert {record.status for record in records} == {200}


@pytest.mark.parametrize("format", FORMATS)
def test_a_restarted_proxy_goes_on_with_the_same_bytes(twin: Twin, format: str) -> None:
    """REPLAY on the wire: the state is the session's log, and a restart breaks no prefix."""
    from tests.clients.agents import asked, echoed, said, step

    messages = [said(format, RULE)]
    for part in range(2):
        with Proxy(twin.url) as proxy:
            client = client_of(format, proxy.url)
            for n in range(10 * part, 10 * part + 10):
                messages += echoed(format, asked(client, format, messages))
                messages.append(said(format, step(n, 1_600)))
            client.close()
    broken = [n for n in range(1, 20) if twin.requests[n].extends != n - 1]
    assert 10 not in broken
    assert len(broken) >= 1


def test_the_secret_of_the_base_url_is_in_no_record(twin: Twin) -> None:
    """Test S3: of a request that is refused for something else neither."""
    with Proxy(twin.url, prefix="s3cret") as proxy:
        for headers in ({"origin": "null"}, {"content-type": "text/plain"}):
            asked = urllib.request.Request(f"{proxy.url}/v1/messages", b"{}", headers)
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked, timeout=20)
            refused.value.close()
        records = proxy.wait_for(2)
    assert [record.path for record in records] == ["/v1/messages"] * 2
    assert "s3cret" not in str(records)
    assert twin.requests == ()


def test_it_listens_on_the_other_loopback_too(twin: Twin) -> None:
    """Its URL is one that can be copied."""
    with Proxy(twin.url, host="::1") as proxy:
        assert proxy.url == f"http://[::1]:{proxy.port}"
        client = client_of("anthropic", proxy.url)
        run(client, "anthropic", turns=1, stream=False, is_async=False)
    assert twin.requests[0].status == 200
