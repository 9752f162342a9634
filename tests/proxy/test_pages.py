"""The own pages: status and metrics, for whoever has the token."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from foldline.testing.twin import Twin
from tests.clients.agents import asked, client_of, said
from tests.proxy.running import PAGES_TOKEN, Proxy


def get(url: str, token: str = "") -> tuple[int, str, Message]:
    request = urllib.request.Request(url, headers={"x-foldline-token": token} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, response.read().decode(), response.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


def test_status_and_metrics_tell_the_same(tmp_path: Path) -> None:
    """`/_foldline/status` and `/_foldline/metrics`, the second by Prometheus' own reader."""
    with Twin() as twin, Proxy(twin.url, home=tmp_path, about={"policy": "balanced"}) as proxy:
        client = client_of("anthropic", proxy.url)
        asked(client, "anthropic", [said("anthropic", "hello")])
        client.close()
        proxy.wait_for(1)
        status, text, headers = get(f"{proxy.url}/_foldline/status", PAGES_TOKEN)
        told = json.loads(text)
        assert (status, told["requests"], told["policy"]) == (200, 1, "balanced")
        assert told["tokens_sent"] == twin.requests[0].tokens
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["Access-Control-Allow-Origin"] is None
        _, text, _ = get(f"{proxy.url}/_foldline/metrics", PAGES_TOKEN)
        samples = {
            sample.name: sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
        assert samples["foldline_proxy_requests_total"] == 1
        assert samples["foldline_proxy_tokens_sent_total"] == told["tokens_sent"]
        assert get(f"{proxy.url}/_foldline/other", PAGES_TOKEN)[0] == 404
        assert len(twin.requests) == 1


@pytest.mark.parametrize("path", ["/_foldline/status", "/_foldline/metrics", "/_foldline"])
def test_without_the_token_there_is_nothing(path: str) -> None:
    """Test S2."""
    with Twin() as twin, Proxy(twin.url) as proxy:
        assert get(proxy.url + path)[0] == 401
        assert get(proxy.url + path, "wrong")[0] == 401
        assert twin.requests == ()
