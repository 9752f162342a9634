"""Exact counts with OpenAI's public encodings, offline, through toktok-rs.

The one place that knows toktok. Its single count is a private call three times as fast as the public batch call
(7 µs against 21 µs for 1.6 kB), so it is used where it is there and the public one stands behind it; the
dependency is pinned below the next minor version and both are tested against tiktoken. Loading a vocabulary
costs about 350 ms of CPU under the GIL: it happens at the first count, never at import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from foldline.core.surrogates import whole

Encoding: TypeAlias = Literal["o200k_base", "cl100k_base"]

THREADS: Final = 1
"""Counting threads. More did not help on two cores below 1 MB, and the caller's cores are the caller's."""


def load_toktok() -> Any:
    """The toktok module. Raises `ImportError` where no wheel fits (Alpine, rare processors)."""
    return importlib.import_module("toktok")


class Exact:
    """A `foldline.tokens.text.TextCount` that gives the encoding's own number.

    Text that spells a special token (`<|endoftext|>`) counts as ordinary text: content cannot inject control
    tokens. Lone surrogates count as U+FFFD, as in tiktoken.
    """

    def __init__(self, encoding: Encoding, *, load: Callable[[], Any] = load_toktok) -> None:
        """Imports toktok (3 ms) but not yet the vocabulary. Raises `ImportError` where it is missing."""
        self.encoding = encoding
        self._toktok = load()
        self._single: Callable[[str], int] = self._first

    def one(self, text: str) -> int:
        if not text:
            return 0
        try:
            return self._single(text)
        except UnicodeEncodeError:
            return self._single(whole(text))

    def many(self, texts: list[str]) -> list[int]:
        try:
            return self._batch(texts)
        except UnicodeEncodeError:
            return self._batch([text if text.isascii() else whole(text) for text in texts])

    def _first(self, text: str) -> int:
        tokenizer = getattr(self._toktok, "_encoding", None)
        count = getattr(tokenizer(self.encoding), "count", None) if tokenizer is not None else None
        self._single = count if count is not None else self._public
        return self._single(text)

    def _public(self, text: str) -> int:
        return self._batch([text])[0]

    def _batch(self, texts: list[str]) -> list[int]:
        counts: list[int] = self._toktok.batch_count(texts, self.encoding, THREADS)
        return counts
