"""The prompt cache: what is read and written of a chain of pieces, by each provider's rule."""

from __future__ import annotations

from foldline.testing.twin.cache import LOOKBACK, Cached, Piece, PromptCache

ROOT = b"model"


def pieces(*tokens: int, mark: int | None = None, ttl: str = "5m", name: str = "p") -> list[Piece]:
    """Pieces of so many tokens; the one at `mark` is marked."""
    return [
        Piece(b"%s%d" % (name.encode(), at), size, ttl if at == mark else None)
        for at, size in enumerate(tokens)
    ]


def test_nothing_is_cached_without_a_mark() -> None:
    """Prompt caching of the Messages API is asked for, block by block."""
    cache = PromptCache(10)
    assert cache.marked(pieces(50, 50), root=ROOT, number=0) == Cached()
    assert cache.marked(pieces(50, 50), root=ROOT, number=1) == Cached(shared=100, extends=0)


def test_a_marked_prefix_is_written_once_and_read_after() -> None:
    cache = PromptCache(10)
    assert cache.marked(pieces(50, 50, 5, mark=1), root=ROOT, number=0).written == 100
    again = cache.marked(pieces(50, 50, 5, 40, mark=3), root=ROOT, number=1)
    assert (again.read, again.written, again.extends) == (100, 45, 0)


def test_a_mark_that_moved_is_found_up_to_twenty_pieces_back() -> None:
    """The provider's page on prompt caching: the lookback window."""
    near, far = [1] * LOOKBACK, [1] * (LOOKBACK + 1)
    for grown, read in ((near, 50), (far, 0)):
        cache = PromptCache(10)
        cache.marked(pieces(50, mark=0), root=ROOT, number=0)
        sizes = (50, *grown[:-1])
        assert cache.marked(pieces(*sizes, mark=len(sizes) - 1), root=ROOT, number=1).read == read


def test_a_change_in_front_misses_everything_behind_it() -> None:
    cache = PromptCache(10)
    cache.marked(pieces(50, 50, mark=1), root=ROOT, number=0)
    other = [Piece(b"other", 50), *pieces(50, 50, mark=1)[1:]]
    assert cache.marked(other, root=ROOT, number=1) == Cached(written=100)


def test_a_prefix_below_the_minimum_is_not_cached() -> None:
    cache = PromptCache(1_024)
    assert cache.marked(pieces(1_023, mark=0), root=ROOT, number=0).written == 0
    assert cache.marked(pieces(1_023, mark=0), root=ROOT, number=1).read == 0
    assert cache.marked(pieces(1_024, mark=0), root=ROOT, number=2).written == 1_024


def test_what_lives_an_hour_is_counted_apart() -> None:
    cache = PromptCache(10)
    marked = [Piece(b"a", 100, "1h"), Piece(b"b", 30, "5m")]
    cached = cache.marked(marked, root=ROOT, number=0)
    assert (cached.written, cached.written_1h) == (130, 100)


def test_an_automatic_cache_is_read_in_steps() -> None:
    """OpenAI's guide on prompt caching: from 1,024 tokens on, in steps of 128."""
    cache = PromptCache(1_024)
    assert cache.automatic(pieces(1_000, 200), root=ROOT, number=0, step=128).read == 0
    assert cache.automatic(pieces(1_000, 200, 50), root=ROOT, number=1, step=128).read == 1_152
    assert cache.automatic(pieces(1_000, 200, 50), root=b"other model", number=2, step=128).read == 0


def test_an_expired_cache_still_knows_what_was_sent() -> None:
    """A test wants to tell a broken prefix from a cache that has gone cold."""
    cache = PromptCache(10)
    cache.automatic(pieces(50, 50), root=ROOT, number=0, step=1)
    cache.expire()
    cached = cache.automatic(pieces(50, 50, 1), root=ROOT, number=1, step=1)
    assert (cached.read, cached.shared, cached.extends) == (0, 100, 0)
