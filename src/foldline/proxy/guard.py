"""Who may come in: the first look at a request, before anything of it is read, logged or passed on.

A port on loopback is within reach of every page that a browser shows and of every user of the machine. So a request has to name
this very host and port (or a page that had its name rebound would reach it), may come from no page at all, has to be spelt in the
one way in which two parsers cannot differ, and for the proxy's own pages has to bring the token that was printed at the start.
Pure: values in, a refusal or nothing out.
"""

from __future__ import annotations

import hmac
import re
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

VERSIONS: Final = ((1, 0), (1, 1))
"""A first line without a version is read as one of HTTP/0.9, which has no headers to look at."""
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
"""OPTIONS is what a browser asks before it sends for a page; CONNECT and TRACE are for other proxies."""
ONCE: Final = frozenset(
    {
        "host", "content-length", "transfer-encoding", "content-type", "content-encoding", "authorization",
        "x-api-key", "x-goog-api-key", "api-key", "x-foldline-token", "origin",
    }
)  # fmt: skip
"""Headers of which two would mean that somebody downstream reads another one."""
PAGES: Final = "/_foldline"
TOKEN_HEADER: Final = "x-foldline-token"
_BAD: Final = re.compile(r"[\x00-\x20\x7f-\U0010ffff\\#]|%(?:00|0[aAdD]|5[cC])")
_DOTS: Final = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)


class Head(Struct, frozen=True, kw_only=True):
    """A request's head, as it came."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    version: tuple[int, int] = (1, 1)
    by_name: dict[str, list[str]] = {}
    """The values of each header, under its name in small letters. Made of `headers`."""

    def __post_init__(self) -> None:
        found: dict[str, list[str]] = {}
        for key, value in self.headers:
            found.setdefault(key.lower(), []).append(value)
        force_setattr(self, "by_name", found)

    def every(self, name: str) -> list[str]:
        """The values of a header."""
        return self.by_name.get(name, [])

    def one(self, name: str) -> str:
        """The first of them; empty for none."""
        values = self.by_name.get(name)
        return values[0] if values else ""


class Rules(Struct, frozen=True, kw_only=True):
    """What this proxy asks of a request."""

    hosts: frozenset[str] | None
    """Host headers that name it; `None`: any, for one that other machines may reach."""
    pages_token: str
    """For everything under `/_foldline/`."""
    prefix: str = ""
    """A secret that the base URL begins with; empty for none."""


class Refusal(Struct, frozen=True, kw_only=True):
    """An answer of the proxy's own."""

    status: int
    why: str


def loopback_hosts(port: int) -> frozenset[str]:
    """What a client on this machine calls it."""
    return frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))


def refusal(asked: Head, rules: Rules) -> Refusal | None:
    """Why a request may not come in; `None` where it may."""
    return _spelt(asked) or _from(asked, rules) or _token(asked, rules)


def no_json(asked: Head) -> Refusal | None:
    """What is read as a conversation has to say that it is JSON: a form in a page cannot."""
    kind = asked.one("content-type").partition(";")[0].strip().lower()
    if kind == "application/json":
        return None
    return Refusal(status=415, why=f"the body is {kind[:40] or 'of no type'}; send application/json")


def inner_target(asked: Head, rules: Rules) -> str:
    """The target without the secret that the base URL begins with, of a request that is refused too: it is shown."""
    secret = f"/{rules.prefix}"
    if not rules.prefix or not (
        asked.target == secret or asked.target.startswith((f"{secret}/", f"{secret}?"))
    ):
        return asked.target
    return asked.target[len(secret) :] or "/"


def _spelt(asked: Head) -> Refusal | None:
    """Spelt in the one way."""
    path = asked.target.partition("?")[0]
    if asked.version not in VERSIONS:
        return Refusal(status=505, why="HTTP/1.1 alone is spoken here; name that version")
    if asked.method not in METHODS:
        return Refusal(
            status=405, why=f"{asked.method[:20]} is not passed on; ask with {', '.join(sorted(METHODS))}"
        )
    if not path.startswith("/") or path.startswith("//"):
        return Refusal(status=400, why="the target is no path; ask this proxy as the provider's own host")
    if _BAD.search(asked.target) or _DOTS.search(path):
        return Refusal(status=400, why="the path may be read in two ways; write it without dots and controls")
    twice = [name for name, values in asked.by_name.items() if len(values) > 1 and name in ONCE]
    if twice:
        return Refusal(status=400, why=f"the header {twice[0]} is there twice; send it once")
    if "content-length" in asked.by_name and "transfer-encoding" in asked.by_name:
        return Refusal(status=400, why="a length and a transfer encoding contradict each other; send one")
    if "upgrade" in asked.by_name:
        return Refusal(status=426, why="HTTP/1.1 alone is spoken here; ask without an upgrade")
    return None


def _from(asked: Head, rules: Rules) -> Refusal | None:
    """From a program on this machine."""
    host = asked.one("host").lower()
    if rules.hosts is not None and host not in rules.hosts:
        return Refusal(
            status=421, why="the Host header names another host; use the URL that was printed at the start"
        )
    if asked.every("origin"):
        return Refusal(status=403, why="pages in a browser may not use this proxy; ask from a program")
    if asked.one("sec-fetch-site") not in ("", "none"):
        return Refusal(status=403, why="pages in a browser may not use this proxy; ask from a program")
    return None


def _token(asked: Head, rules: Rules) -> Refusal | None:
    """With what is known to whoever started it."""
    target = asked.target
    if rules.prefix:
        given, rest = target[1:].partition("/")[0], target[len(rules.prefix) + 1 :]
        if not _same(given, rules.prefix) or not rest.startswith("/"):
            return Refusal(
                status=401, why="the base URL lacks its secret part; copy the whole URL that was printed"
            )
        target = rest
    path = target.partition("?")[0]
    if path != PAGES and not path.startswith(f"{PAGES}/"):
        return None
    given = asked.one(TOKEN_HEADER) or asked.one("authorization").removeprefix("Bearer ")
    if not _same(given, rules.pages_token):
        return Refusal(
            status=401, why=f"this page needs the token that was printed at the start, as {TOKEN_HEADER}"
        )
    return None


def _same(given: str, wanted: str) -> bool:
    """In the same time for any two texts of a length."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
