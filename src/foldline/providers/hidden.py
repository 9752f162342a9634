"""What no error may show: the keys that a client sends, found again however a server spells them.

    client, its request ──► values of headers and address that stand for a key ──► a pattern ──► "[secret]" in their place

A gateway's key has no shape by which it could be told, and comes back URL-encoded, in base64, with escaped slashes, in capitals or cut
short. So what was sent is what is looked for, sign by sign. Counterpart: `foldline.log.secrets`, which knows keys by their shape.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

CHARS_MIN: Final = 5
"""A shorter value is no key: it would be found in words."""
OPAQUE_CHARS_MIN: Final = 12
"""Shortest value of a header with no telling name that is taken for one."""
MATCHED_CHARS_MAX: Final = 96
"""Signs of a key that are compared; what follows in the same word goes with them."""
SHARE_MIN: Final = 0.75
"""Share of a key that is hidden where the rest was cut off."""
BASE64_CHARS_MIN: Final = 10
"""Shortest piece of base64 that is looked for."""
_BASE64_END: Final = "[A-Za-z0-9+/_=-]{0,3}"
"""Of a piece of base64: the sign that the key shares with what follows, and what fills it up."""
TELLING: Final = re.compile(
    r"auth|key|token|secret|cookie|credential|password|passwd|signature|session|bearer|jwt", re.IGNORECASE
)
"""In the name of a header or a parameter that holds one."""
PLAIN: Final = re.compile(
    r"accept|connection|content-|host$|user-agent|x-stainless|anthropic-(?:version|beta)|openai-|"
    r"x-goog-(?!api-key)|idempotency|traceparent|date$",
    re.IGNORECASE,
)
"""Begins the name of a header that an SDK or HTTP itself sends, and that says nothing secret."""


def sent(headers: object, url: object = "") -> tuple[str, ...]:
    """The values of headers and of an address that stand for a key."""
    return tuple(dict.fromkeys([*_in_headers(headers), *_in_url(str(url or ""))]))


def sent_with(error: BaseException) -> tuple[str, ...]:
    """The same of the request that an SDK's exception names: a key that a function gave is nowhere else."""
    response = getattr(error, "response", None)
    found: list[str] = []
    for owner in (error, response):
        try:
            request = getattr(owner, "request", None)
        except RuntimeError:  # a response of httpx that knows of none
            continue
        found += sent(getattr(request, "headers", None), getattr(request, "url", ""))
    return tuple(dict.fromkeys(found))


def _in_headers(headers: object) -> Iterator[str]:
    for name, value in headers.items() if isinstance(headers, Mapping) else ():
        if not isinstance(value, str) or PLAIN.match(str(name)):
            continue
        if TELLING.search(str(name)) or len(value) >= OPAQUE_CHARS_MIN:
            yield from _pieces(value)


def _pieces(value: str) -> Iterator[str]:
    """A header's value, without its scheme, and what a Basic one stands for."""
    scheme, _, rest = value.partition(" ")
    yield rest.strip() or scheme
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(rest, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return
        yield pair.partition(":")[2]


def _in_url(url: str) -> Iterator[str]:
    try:
        split = urlsplit(url)
        password = split.password
    except ValueError:
        return
    if password:
        yield unquote(password)
    for name, value in parse_qsl(split.query):
        if TELLING.search(name):
            yield value


def hider(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """What finds any of them, in any spelling; `None` where there is nothing to find."""
    wanted = sorted({one for one in secrets if len(one) >= CHARS_MIN}, key=len, reverse=True)
    spelt = [
        pattern
        for one in wanted
        for pattern in (_spelt(one), *(f"{_spelt(piece)}{_BASE64_END}" for piece in _in_base64(one)))
    ]
    return re.compile("|".join(spelt), re.IGNORECASE) if spelt else None


def _spelt(secret: str) -> str:
    """A key sign by sign, its end optional."""
    signs = [_sign(one) for one in secret[:MATCHED_CHARS_MAX]]
    needed = max(CHARS_MIN, int(len(signs) * SHARE_MIN))
    end = r"[\w.~+/=%\\-]*" if len(secret) > MATCHED_CHARS_MAX else ""
    return "".join(signs[:needed]) + "".join(f"{sign}?" for sign in signs[needed:]) + end


def _sign(one: str) -> str:
    """A sign as it is, percent-encoded (twice too), escaped in JSON, or as an entity of HTML."""
    plain = re.escape(one)
    if one.isalnum() and one.isascii():
        return plain
    encoded = "".join(f"%(?:25)?{byte:02x}" for byte in one.encode("utf-8", "replace"))
    ways = [plain, encoded, rf"\\+{plain}", rf"\\+u{ord(one):04x}", f"&#x?0*(?:{ord(one)}|{ord(one):x});"]
    named = html.escape(one)
    return f"(?:{'|'.join([*ways, re.escape(named)] if named != one else ways)})"


def _in_base64(secret: str) -> Iterator[str]:
    """A key inside a longer base64: where it begins decides how it is spelt, in three ways, both alphabets."""
    data = secret.encode("utf-8", "replace")
    for before in range(3):
        told = base64.b64encode(b"\0" * before + data).decode()
        piece = told[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(piece) >= BASE64_CHARS_MIN:
            yield piece
            if (other := piece.replace("+", "-").replace("/", "_")) != piece:
                yield other


def client_headers(client: Any) -> Any:
    """The headers that a client sends with everything, as far as it says; asking it may fail where its key is not there yet."""
    try:
        return client.default_headers
    except (AttributeError, TypeError, ValueError):
        return None
