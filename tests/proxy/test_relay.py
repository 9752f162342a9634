"""The way up: one upstream, nothing followed, nothing kept."""

from __future__ import annotations

import asyncio

import pytest

from foldline.core.errors import InvalidOption
from foldline.proxy.relay import Relay, Sending, Unreached, checked_upstream
from foldline.testing.twin import Fault, Twin

GET = Sending(method="GET", provider="openai", target="/v1/models", headers=[], body=None)


@pytest.mark.parametrize(
    "url", ["https://api.example.com", "http://localhost:1/v1/", "http://localhost:11434"]
)
def test_an_upstream_is_https_or_on_this_machine(url: str) -> None:
    """Threat 7."""
    assert checked_upstream(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    ["http://api.example.com", "ftp://x", "api.example.com", "", "https://", "https://u:p@x.com", "https://x.com?a=b",
     "https://x.com#f", "https://x.com:0", "https://x.com:99999", "http://localhost.evil.example"],
)  # fmt: skip
def test_every_other_upstream_is_refused(url: str) -> None:
    """Test S4: keys do not go over the network in the clear."""
    with pytest.raises(InvalidOption):
        checked_upstream(url)


def test_each_provider_has_its_own_unless_one_is_named() -> None:
    """Where `--upstream` is left out."""
    assert Relay(None).base("anthropic") == "https://api.anthropic.com"
    assert Relay("https://x.com").base("anthropic") == "https://x.com"


def test_a_redirect_is_passed_back_and_not_followed() -> None:
    """Test S4: a redirect to another host would take the key with it."""
    moved = Fault(status=307, headers={"location": "http://localhost:9/decoy"})

    async def asked(url: str) -> tuple[int, str]:
        async with Relay(url) as relay:
            key = [("authorization", "Bearer k")]
            body = b'{"model":"gpt-4o","messages":[{"role":"user","content":"a"}]}'
            sending = Sending(
                method="POST", provider="openai", target="/v1/chat/completions", headers=key, body=body
            )
            response = await relay.send(sending)
            await response.read()
            return response.status, response.headers["location"]

    with Twin([moved]) as twin:
        assert asyncio.run(asked(twin.url)) == (307, "http://localhost:9/decoy")


def test_an_upstream_that_is_not_there_is_said_without_its_words() -> None:
    """What it says could quote a key."""

    async def asked() -> None:
        async with Relay("http://localhost:9") as relay:
            await relay.send(GET)

    with pytest.raises(Unreached, match=r"localhost gave no answer") as unreached:
        asyncio.run(asked())
    assert unreached.value.status == 502
