"""The prompt cache of a provider: which prefix of a request was sent before, counted in tokens.

A request is a chain of pieces (tools, system, then each content block); a piece is named by all that stands before it too,
so that two requests share a piece only where they share everything up to it. A piece is cached whole or not at all.
Knows pieces and tokens, no dialect.

    Anthropic   is written at marks alone; looked for at each mark and up to 19 pieces before it
    OpenAI      is written everywhere from 1,024 tokens on, read in steps of 128
    Gemini      is written everywhere
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Final, NamedTuple

LOOKBACK: Final = 20
"""Pieces before a mark, itself included, in which Anthropic looks for what is written (its page on prompt caching)."""
OPENAI_STEP: Final = 128
"""OpenAI reads in steps of so many tokens (its guide on prompt caching)."""


class Piece(NamedTuple):
    """One piece of a request."""

    digest: bytes
    """Of its content, cache marks left out."""
    tokens: int
    mark: str | None = None
    """Lifetime of a cache mark on it (`5m`, `1h`); `None` without one."""


class Cached(NamedTuple):
    """What the cache made of a request."""

    read: int = 0
    written: int = 0
    written_1h: int = 0
    """The part of `written` that lives an hour."""
    shared: int = 0
    """Tokens of the longest prefix that was sent before, whatever was cached of it."""
    extends: int | None = None
    """The newest earlier request all of which this one begins with."""


class PromptCache:
    """All prefixes that were sent, and those that were cached."""

    def __init__(self, tokens_min: int) -> None:
        self.tokens_min = tokens_min
        self._written: set[bytes] = set()
        self._sent: set[bytes] = set()
        self._ends: dict[bytes, int] = {}

    def expire(self) -> None:
        """Everything cached is gone, as after its lifetime."""
        self._written.clear()

    def marked(self, pieces: Sequence[Piece], *, root: bytes, number: int) -> Cached:
        """The cache as Anthropic keeps it."""
        chain, sums = _chain(pieces, root), _sums(pieces)
        marks = [at for at, piece in enumerate(pieces) if piece.mark is not None]
        windows = [range(at, max(at - LOOKBACK, -1), -1) for at in marks]
        hits = [at for window in windows for at in window if self._is_cached(chain[at], sums[at])]
        last = max(hits, default=-1)
        read, counted = sums[last] if hits else 0, sums[last] if hits else 0
        written = hour = 0
        for at in marks:
            if at > last and sums[at] >= self.tokens_min:
                written += sums[at] - counted
                hour += sums[at] - counted if pieces[at].mark == "1h" else 0
                counted = sums[at]
        self._written.update(chain[at] for at in marks if sums[at] >= self.tokens_min)
        return self._known(chain, sums, number=number)._replace(read=read, written=written, written_1h=hour)

    def automatic(self, pieces: Sequence[Piece], *, root: bytes, number: int, step: int) -> Cached:
        """The cache as OpenAI and Gemini keep it, read in steps of `step` tokens."""
        chain, sums = _chain(pieces, root), _sums(pieces)
        read = max(
            (total for name, total in zip(chain, sums, strict=True) if self._is_cached(name, total)),
            default=0,
        )
        read -= read % step
        whole = sums[-1] if sums else 0
        self._written.update(
            name for name, total in zip(chain, sums, strict=True) if total >= self.tokens_min
        )
        written = whole - read if whole >= self.tokens_min else 0
        return self._known(chain, sums, number=number)._replace(read=read, written=written)

    def _is_cached(self, name: bytes, tokens: int) -> bool:
        return tokens >= self.tokens_min and name in self._written

    def _known(self, chain: Sequence[bytes], sums: Sequence[int], *, number: int) -> Cached:
        shared = max(
            (total for name, total in zip(chain, sums, strict=True) if name in self._sent), default=0
        )
        extends = max((self._ends[name] for name in chain if name in self._ends), default=None)
        self._sent.update(chain)
        if chain:
            self._ends[chain[-1]] = number
        return Cached(shared=shared, extends=extends)


def _chain(pieces: Iterable[Piece], root: bytes) -> list[bytes]:
    """The name of each piece: a digest of itself and of all before it."""
    names, name = [], root
    for piece in pieces:
        name = sha256(name + piece.digest).digest()
        names.append(name)
    return names


def _sums(pieces: Iterable[Piece]) -> list[int]:
    return list(accumulate(piece.tokens for piece in pieces))
