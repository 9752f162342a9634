"""What one message takes back, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.ledger.superseded import Supersession
from foldline.ledger.supersession import supersessions


def supersedes(later: str, earlier: Sequence[tuple[int, str]]) -> tuple[Supersession, ...]:
    """What `later` supersedes among a person's earlier messages (ordinal and text, oldest first)."""
    last = earlier[-1][0] + 1
    found = sorted(supersessions([*earlier, (last, later)]).items())
    return tuple(one for _, (by, one) in found if by == last)
