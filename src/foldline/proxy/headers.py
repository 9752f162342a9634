"""Headers: which go on to the other side, which belong to one connection, and which hold a key.

Keys are in headers, so none of them is recorded or logged anywhere; what holds a key is named for errors of the upstream that quote
one. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

HOP: Final = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "expect",
    }
)  # fmt: skip
"""Of one connection (RFC 9110, 7.6.1), and what a proxy settles itself."""
OURS: Final = frozenset({"host", "content-length", "x-foldline-token"})
"""Written anew, or none of the provider's business."""
LENGTH: Final = frozenset({"content-length"})
KEYS: Final = frozenset(
    {"authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"}
)
"""Hold the caller's key."""
OPENED: Final = ("gzip", "deflate", "identity", "*")
"""Encodings that can be read on the side."""

Pairs = list[tuple[str, str]]


def request_headers(given: Iterable[tuple[str, str]], *, is_heard: bool, is_written_anew: bool) -> Pairs:
    """What goes up. `is_heard`: the answer is read on the side, so it is asked for in an encoding that can be; `is_written_anew`:
    the body is no longer the client's, and is not compressed."""
    pairs = _forwarded(given)
    if is_written_anew:
        pairs = [(name, value) for name, value in pairs if name.lower() != "content-encoding"]
    if is_heard:
        pairs = [
            (name, readable(value) if name.lower() == "accept-encoding" else value) for name, value in pairs
        ]
    return pairs


def response_headers(given: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """What goes down, from a response's raw headers: its length with it, since its body stays as it came."""
    return _forwarded(text_of(given), but=LENGTH)


def text_of(raw: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """Raw headers as text that is written as the same bytes again, where they are UTF-8."""
    pairs = list(raw)
    try:
        return [(name.decode(), value.decode()) for name, value in pairs]
    except UnicodeDecodeError:
        return [(_text(name), _text(value)) for name, value in pairs]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def secrets_in(given: Iterable[tuple[str, str]], target: str) -> tuple[str, ...]:
    """Values that no error may show: keys in headers, and in the query, where Gemini takes one."""
    held = [value.removeprefix("Bearer ") for name, value in given if name.lower() in KEYS]
    held += [
        pair.partition("=")[2] for pair in target.partition("?")[2].split("&") if pair.startswith("key=")
    ]
    return tuple(value for value in held if value)


def readable(accepted: str) -> str:
    """Encodings a client takes, without those that cannot be read here."""
    kept = [one for one in accepted.split(",") if one.partition(";")[0].strip().lower() in OPENED]
    return ",".join(kept).strip() or "identity"


def _forwarded(given: Iterable[tuple[str, str]], *, but: frozenset[str] = frozenset()) -> Pairs:
    pairs = list(given)
    named = [value for name, value in pairs if name.lower() == "connection"]
    listed = {word.strip().lower() for value in named for word in value.split(",")}
    left = (HOP | OURS | listed) - but
    return [pair for pair in pairs if pair[0].lower() not in left]
