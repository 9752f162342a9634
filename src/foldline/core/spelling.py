"""Ids and names of calls, spelt so that every provider takes them.

Owns the two spellings, each a pure function of what it stands for: calls, results and schemas that are respelt apart come to agree, today
and when the history has grown. Which spellings a provider takes is `foldline.wire`'s to say. Counterpart: `foldline.core.repair`.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from foldline.core.surrogates import is_torn

DIGEST_CHARS: Final = 8
ID_CHARS_MAX: Final = 40
"""Longest id that every known provider accepts: OpenAI chat's limit."""
NAME_CHARS_MAX: Final = 64
"""As `ID_CHARS_MAX`, of a name."""
ANY_ID: Final = r"[^\0]+"
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")


def is_fit_id(id: str, *, pattern: str | None, longest: int | None) -> bool:
    """True for an id that matches the pattern whole, is not too long, and is text that can be sent."""
    return (
        re.fullmatch(pattern or ANY_ID, id) is not None
        and (longest is None or len(id) <= longest)
        and not is_torn(id)
    )


def is_fit_name(name: str, *, pattern: str) -> bool:
    """True for a name that matches the pattern whole, and is text that can be sent."""
    return re.fullmatch(pattern, name) is not None and not is_torn(name)


def fit_id(old: str, times: int = 1) -> str:
    """An id that stands for `old`, the so many-th time that it was used."""
    kept = _REFUSED.sub("_", old)[: ID_CHARS_MAX - DIGEST_CHARS - 1]
    digest = _digest(f"{old}\0{times}")
    return f"{kept or 'call'}_{digest}"


def fit_name(old: str) -> str:
    """A tool's name that stands for `old`; two names never become one."""
    kept = _REFUSED.sub("_", old)[: NAME_CHARS_MAX - DIGEST_CHARS - 2] or "tool"
    return f"{kept if kept[:1].isalpha() else '_' + kept}_{_digest(old)}"


def free_id(wanted: str, number: int, *, longest: int | None) -> str:
    """`wanted` with a number behind it, cut where it would be longer than the provider takes."""
    mark = f"_{number}"
    return (wanted if longest is None else wanted[: longest - len(mark)]) + mark


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]
