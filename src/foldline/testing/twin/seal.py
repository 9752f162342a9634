"""Signatures and sealed content, as the twin hands them out and knows them again: the part of a provider nobody can forge.

A seal carries what it was made for, so that the twin can tell *altered* from *foreign* and from *moved to another
conversation*, which real providers refuse with different words. The key is fixed: the same script gives the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["good", "foreign", "altered", "moved"]
_URL_SAFE: Final = str.maketrans("-_", "+/")
"""Google's SDK gives signatures back in the other alphabet."""
_KEY: Final = b"the twin's key; a double has no secrets"


def digest_of(value: Any) -> str:
    """A short digest of a JSON value; its keys in their order."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:16]


def sealed(value: Any) -> str:
    """A JSON value as a text that only the twin reads again."""
    inner = json.dumps(value, separators=(",", ":")).encode()
    mac = hmac.new(_KEY, inner, sha256).digest()[:16]
    return base64.b64encode(mac + inner).decode()


def opened(text: object) -> Any:
    """What `sealed` put in; `None` for anything it did not make."""
    if not isinstance(text, str):
        return None
    try:
        raw = base64.b64decode(text.translate(_URL_SAFE), validate=True)
    except (binascii.Error, ValueError):
        return None
    mac, inner = raw[:16], raw[16:]
    if not hmac.compare_digest(mac, hmac.new(_KEY, inner, sha256).digest()[:16]):
        return None
    return json.loads(inner)


def signature(content: Any, *, before: str) -> str:
    """The signature of content that was said behind a conversation of digest `before`."""
    return sealed({"of": digest_of(content), "before": before})


def verdict(given: object, *, content: Any, before: str | None) -> Verdict:
    """What a signature is worth that came back; `before=None` does not ask where it stands."""
    told = opened(given)
    if not isinstance(told, dict) or "of" not in told:
        return "foreign"
    if told["of"] != digest_of(content):
        return "altered"
    return "good" if before is None or told["before"] == before else "moved"
