"""After a provider refused a request for its size: one compaction and one retry, or the reason why not.

    recover ─┬─ too long ────────────► compact (at most once until the next answer) ─► request to send once more
             ├─ signed reasoning ─────► the request without the reasoning outside the open round, once
             ├─ in words nobody knows, near the limit ─► as too long
             ├─ delivered already ────► InvalidRequest: nothing is replayed (requirement REA-2)
             └─ anything else ────────► the error itself

What is no refusal of a size is not this module's: it goes back as it came. A limit that the provider names is planned with from
here on, and kept for the next process (`foldline.session.limits`); one that it does not name is not guessed. Counterpart: `foldline.wire.overflow`, which reads refusals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.errors import InvalidRequest
from foldline.core.message import Reasoning
from foldline.core.rounds import open_seqs, outline
from foldline.core.view import Item, item_of
from foldline.wire.overflow import Refusal, classify_error

SHRUNK_TO: Final = 0.8
"""Of the limit that a provider named: the size that is tried next, since its count and ours differ."""
HALVED: Final = 0.5
"""Of the request that was refused, where the provider named no limit."""
NEAR: Final = 0.9
"""Of the line from which the policy compacts: a request of this size that is refused in words nobody knows is probably too long."""
TOO_LARGE: Final = 413
"""Says it without words, of tokens or of bytes (requirement REA-1)."""
UNKNOWN: Final = (400, 422)
"""Statuses with which providers and gateways refuse a request for what is in it."""
_SIGNED: Final = re.compile(r"redacted_thinking|thinking[^\n]{0,40}?blocks?|signature", re.IGNORECASE)


class Refused(Struct, frozen=True, kw_only=True):
    """A refusal, taken apart."""

    refusal: Refusal
    is_about_reasoning: bool
    error: BaseException | None
    """As it was raised; `None` for a body."""
    words: str
    status: int | None = None
    may_be_size: bool = False
    """True where nobody knows the words, and it may be the size: probably, where the request is near the limit."""

    @property
    def cause(self) -> str:
        """In a word or two, of one that was recovered from."""
        return "refused signature" if self.is_about_reasoning else "too long"

    @property
    def names_compaction(self) -> bool:
        """True where a smaller conversation is the remedy."""
        return self.refusal.is_overflow or "compact" in self.refusal.recovery or self.status == TOO_LARGE

    def may_shrink(self, *, has_session: bool) -> bool:
        """True where a smaller conversation is the remedy, or may be: of words that nobody knows a session says how near it is."""
        return self.names_compaction or (self.may_be_size and has_session)


def refused(error: Any, *, status: int | None = None) -> Refused:
    """What an SDK's exception, or the body of a refusal, means."""
    raised = error if isinstance(error, BaseException) else None
    body: Any = error
    if raised is not None:
        status = status or next(
            (
                code
                for name in ("status_code", "code", "status")
                if isinstance(code := getattr(raised, name, None), int)
            ),
            None,
        )
        told = getattr(raised, "body", None) or getattr(raised, "details", None)
        body = told if isinstance(told, (Mapping, str, bytes)) and told else str(raised)
    refusal = classify_error(
        status=status, body=body if isinstance(body, (Mapping, str, bytes)) else str(body)
    )
    words = str(raised if raised is not None else body)
    about = refusal.recovery == "fix_structure" and _SIGNED.search(words) is not None
    return Refused(
        refusal=refusal,
        is_about_reasoning=about,
        error=raised,
        words=" ".join(words.split())[:300],
        status=status,
        may_be_size=not refusal.is_known and status in UNKNOWN,
    )


def target_after(refusal: Refusal, *, tokens: int, target: int) -> int:
    """The size of the request that is tried next, smaller than the one that was refused."""
    limit = refusal.tokens_limit
    wanted = int(limit * SHRUNK_TO) if limit else int(tokens * HALVED)
    return max(1, min(target, wanted, tokens - 1))


def what_fits(refusal: Refusal, *, tokens: int) -> int:
    """The largest request, as it is counted here, that may pass where the target is out of reach: the limit in our count, as
    far as the provider said what it counted; always smaller than the `tokens` that were refused."""
    limit, used = refusal.tokens_limit, refusal.tokens_used
    if not limit:
        return max(1, tokens - 1)
    ours = limit * tokens // used if used and used > limit else limit
    return max(1, min(ours, tokens - 1))


def invalid(why: str, told: Refused) -> InvalidRequest:
    """The end of a turn that nothing can save, for a person (requirement REA-3)."""
    used, limit = told.refusal.tokens_used, told.refusal.tokens_limit
    return InvalidRequest(why, tokens_used=used, tokens_limit=limit, said=told.words)


def without_reasoning(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items without the reasoning that stands outside the open round; a message that held nothing else stays as it is."""
    kept = open_seqs(outline(items))
    return tuple(item if item.seq in kept else _bare(item) for item in items)


def _bare(item: Item) -> Item:
    held = [
        (part, weight)
        for part, weight in zip(item.message.parts, item.weights, strict=True)
        if not isinstance(part, Reasoning)
    ]
    if not held or len(held) == len(item.message.parts):
        return item
    parts, weights = zip(*held, strict=True)
    message = replace(item.message, parts=parts, edited=True)
    return item_of(item.seq, message, weights=weights, overhead=item.overhead, covers=item.covers)
