"""How blocks are packed, with the extra and without."""

from __future__ import annotations

import pytest

from foldline.core.errors import InvalidOption
from foldline.stores import packing
from foldline.stores.packing import GZIP, ZSTANDARD, BadBlock, Packing, best_packing, packing_of

PACKINGS = pytest.mark.parametrize("packing", [GZIP, ZSTANDARD], ids=lambda packing: packing.suffix)


@PACKINGS
@pytest.mark.parametrize("block", [b"x", b"some text " * 5_000, bytes(range(256)) * 400])
def test_a_block_comes_back_as_it_was(packing: Packing, block: bytes) -> None:
    assert packing.unpack(packing.pack(block), len(block)) == block


@PACKINGS
def test_what_is_no_block_of_that_size_is_refused_or_shown(packing: Packing) -> None:
    """S12: a caller compares the length of what comes back."""
    member = packing.pack(b"x" * 100)
    for data, size in (
        (member[:-1], 100),
        (member + b"y", 100),
        (b"", 100),
        (b"nonsense", 100),
        (member, 40),
    ):
        try:
            assert len(packing.unpack(data, size)) != size
        except BadBlock:
            continue


@PACKINGS
def test_the_same_bytes_are_packed_the_same_way(packing: Packing) -> None:
    """Law SAME: no time and no name of a machine is in it."""
    assert packing.pack(b"x" * 9_000) == packing.pack(b"x" * 9_000)


def test_without_the_extra_gzip_packs_and_zstandard_is_told_how_to_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert best_packing() is ZSTANDARD
    assert packing_of("zst", "f") is ZSTANDARD
    monkeypatch.setattr(packing, "has_zstandard", lambda: False)
    assert best_packing() is GZIP
    assert packing_of("gz", "f") is GZIP
    with pytest.raises(InvalidOption, match=r"pip install '\.\[archive\]' in a clone, 'foldline\[archive\]'"):
        packing_of("zst", "f")
