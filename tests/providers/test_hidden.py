"""Keys are hidden however a server spells them, and nothing else is."""

from __future__ import annotations

import base64
import json
from types import SimpleNamespace
from urllib.parse import quote, quote_plus

import pytest

from foldline.providers.hidden import MATCHED_CHARS_MAX, hider, sent, sent_with

KEY = "my-own+gateway/key=Zz91"  # a gateway's own: no known shape
ESCAPED = "".join(one if one.isalnum() else f"\\u{ord(one):04x}" for one in KEY)


def hidden(text: str, *secrets: str) -> str:
    found = hider(secrets or (KEY,))
    assert found is not None
    return found.sub("*", text)


@pytest.mark.parametrize(
    "spelt",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY, safe="").lower(),
        quote(quote(KEY, safe=""), safe=""),
        quote_plus(KEY),
        KEY.replace("/", "\\/"),
        ESCAPED,
        KEY.upper(),
        KEY[:-1],
        KEY[:-5],
        KEY.replace("+", "&#43;"),
        base64.b64encode(KEY.encode()).decode(),
        base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    ],
)
def test_a_key_is_hidden_in_every_spelling(spelt: str) -> None:
    """A key, whatever a server makes of it."""
    assert hidden(f"bad key {spelt} here") == "bad key * here"


@pytest.mark.parametrize("user", ["", "u:", "us:", "use:"])
def test_a_key_is_hidden_inside_a_longer_base64(user: str) -> None:
    """As in an echoed Basic credential: where it begins decides how it is spelt."""
    told = hidden(f"got {base64.b64encode((user + KEY).encode()).decode()}")
    assert "*" in told
    assert len(told) < len("got ") + 12


def test_words_stay_and_a_long_token_goes_whole() -> None:
    """What is no key is for the person to read."""
    words = "my own gateway says: the key is wrong"
    assert hidden(words) == words
    token = "ab" * MATCHED_CHARS_MAX
    assert hidden(f"no {token}!", token) == "no *!"
    assert hider(("none", "")) is None


def test_what_is_sent_as_a_key_is_known_by_its_place() -> None:
    """Headers of a gateway, whatever their names; what a key stands behind; an address."""
    basic = base64.b64encode(b"me:a-password").decode()
    headers = {
        "Authorization": f"Bearer {KEY}",
        "x-gateway-key": "short-one",
        "x-tenant": "an-opaque-value",
        "x-team": "blue",
        "Proxy-Authorization": f"Basic {basic}",
        "User-Agent": "OpenAI/Python 1.2.3",
        "Content-Type": "application/json",
        "x-stainless-runtime": "CPython-of-some-length",
    }
    url = f"https://me:{quote(KEY, safe='')}@host/v1?key=in-the-query&alt=sse"
    assert sent(headers) == (KEY, "short-one", "an-opaque-value", basic, "a-password")
    assert sent(None, url) == (KEY, "in-the-query")
    assert sent(None, "http://[broken") == ()


def test_the_request_of_an_error_says_what_was_sent() -> None:
    """A key that a function gives is on no client."""
    error = Exception("refused")
    error.response = SimpleNamespace(request=SimpleNamespace(headers={"x-api-key": KEY}, url="http://h"))  # type: ignore[attr-defined]
    assert sent_with(error) == (KEY,)
    assert sent_with(Exception("plain")) == ()


def test_a_key_in_json_is_hidden_as_json_writes_it() -> None:
    """Quotes and backslashes of a key are escaped there."""
    odd = 'a"key\\with/signs-99'
    assert hidden(json.dumps({"m": odd}), odd) == '{"m": "*"}'
