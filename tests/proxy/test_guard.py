"""Who may come in: one host, no page, one spelling, and the token where it is asked for."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.proxy.guard import Head, Rules, inner_target, loopback_hosts, no_json, refusal

HOST = "127.0.0.1:8377"
RULES = Rules(hosts=loopback_hosts(8377), pages_token="pages")
SECRET = Rules(hosts=loopback_hosts(8377), pages_token="pages", prefix="s3cret")


def asked(
    *more: tuple[str, str], method: str = "POST", target: str = "/v1/messages", host: str | None = HOST
) -> Head:
    first = [] if host is None else [("Host", host)]
    return Head(method=method, target=target, headers=(*first, *more))


def status(one: Head, rules: Rules = RULES) -> int:
    found = refusal(one, rules)
    return 0 if found is None else found.status


@pytest.mark.parametrize("host", [HOST, "localhost:8377", "LOCALHOST:8377", "[::1]:8377"])
def test_the_names_of_this_machine_come_in(host: str) -> None:
    """Test S1: the valid ones pass."""
    assert status(asked(host=host)) == 0


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.:8377", "localhost.:8377", "evil.example:8377",
     "127.0.0.1:8377@evil.example", "[::2]:8377", "0.0.0.0:8377"],
)  # fmt: skip
def test_every_other_host_is_refused(host: str | None) -> None:
    """Test S1: a page whose name was rebound to loopback still says its own name."""
    assert status(asked(host=host)) == 421


@pytest.mark.parametrize(
    "target",
    ["http://evil.example/", "//evil.example/", "*", "evil.example:443", "", "/a/../b", "/a/%2e%2E/b", "/..", "/a\\b",
     "/a%5cb", "/a%00", "/a b", "/a\tb", "/a#b", "/%0d%0aX: y", "/\u00e9"],
)  # fmt: skip
def test_a_target_that_can_be_read_in_two_ways_is_refused(target: str) -> None:
    """Test S1: absolute form, dots, controls; none of them reaches the upstream."""
    assert status(asked(target=target)) == 400


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "OPTIONS", "PRI", "get", "M" * 500])
def test_other_methods_are_refused(method: str) -> None:
    """Test S1: a browser's question before it sends is answered without leave."""
    assert status(asked(method=method)) == 405


@pytest.mark.parametrize("version", [(0, 9), (1, 2), (2, 0)])
def test_another_version_is_refused(version: tuple[int, int]) -> None:
    """Test S1: a first line without one passes for 0.9."""
    found = refusal(replace(asked(), version=version), RULES)
    assert found is not None
    assert found.status == 505


@pytest.mark.parametrize(
    "more",
    [[("Origin", "http://localhost:8377")], [("Origin", "null")], [("Sec-Fetch-Site", "same-site")],
     [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-origin")]],
)  # fmt: skip
def test_pages_in_a_browser_are_refused(more: list[tuple[str, str]]) -> None:
    """Test S1: any dev server on this machine is same-site."""
    assert status(asked(*more)) == 403


@pytest.mark.parametrize(
    "name", ["Authorization", "x-api-key", "Content-Length", "Host", "Content-Type", "Transfer-Encoding"]
)
def test_a_header_that_counts_may_not_be_there_twice(name: str) -> None:
    """Test S1."""
    assert status(asked((name, "1"), (name.lower(), "2"))) == 400
    assert status(asked(("X-Other", "1"), ("X-Other", "2"))) == 0


def test_a_length_beside_a_transfer_encoding_is_refused() -> None:
    """Test S1: request smuggling."""
    assert status(asked(("Content-Length", "3"), ("Transfer-Encoding", "chunked"))) == 400


@pytest.mark.parametrize("to", ["websocket", "h2c"])
def test_an_upgrade_is_refused(to: str) -> None:
    """Test S1."""
    assert status(asked(("Connection", "Upgrade"), ("Upgrade", to))) == 426


@pytest.mark.parametrize(
    ("target", "given", "wanted"),
    [("/_foldline/status", [], 401), ("/_foldline", [], 401), ("/_foldline/x?token=pages", [], 401),
     ("/_foldline/status", [("X-Foldline-Token", "other")], 401),
     ("/_foldline/status", [("X-Foldline-Token", "pag\udc80")], 401),
     ("/_foldline/status", [("X-Foldline-Token", "pages")], 0),
     ("/_foldline/status", [("Authorization", "Bearer pages")], 0), ("/_foldlines", [], 0)],
)  # fmt: skip
def test_the_own_pages_need_their_token(target: str, given: list[tuple[str, str]], wanted: int) -> None:
    """Test S2: another user of the machine does not have it."""
    assert status(asked(*given, target=target, method="GET")) == wanted


def test_a_base_url_with_a_secret_lets_in_who_knows_it() -> None:
    """Test S2: for machines with several users."""
    assert status(asked(target="/v1/messages"), SECRET) == 401
    assert status(asked(target="/s3cretx/v1/messages"), SECRET) == 401
    assert status(asked(target="/s3cret"), SECRET) == 401
    inside = asked(target="/s3cret/v1/messages?beta=true")
    assert status(inside, SECRET) == 0
    assert inner_target(inside, SECRET) == "/v1/messages?beta=true"
    assert status(asked(target="/s3cret/_foldline/status"), SECRET) == 401
    assert inner_target(asked(target="/v1/x"), RULES) == "/v1/x"
    assert inner_target(asked(target="/"), RULES) == "/"
    assert inner_target(asked(target="/s3cret"), SECRET) == "/"
    assert inner_target(asked(target="/s3cret?a"), SECRET) == "?a"
    assert inner_target(asked(target="/s3cretx/v1"), SECRET) == "/s3cretx/v1"


def test_a_conversation_has_to_say_that_it_is_json() -> None:
    """A form in a page can send `text/plain` without asking first."""
    assert no_json(asked(("Content-Type", "application/json; charset=utf-8"))) is None
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        found = no_json(asked(("Content-Type", kind)))
        assert found is not None
        assert found.status == 415
