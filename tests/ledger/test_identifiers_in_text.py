"""URLs, hashes, tickets and ids, without the punctuation around them."""

from __future__ import annotations

import pytest

from foldline.ledger.found_in_text import extract


def texts(text: str) -> list[str]:
    return [fact.text for fact in extract(text) if fact.kind == "identifiers"]


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("(see https://a.b/c/d_(e)).", ["https://a.b/c/d_(e)"]),
        ("文档在https://a.b/c。", ["https://a.b/c"]),
        (
            "commit 3f2a9bc1d of 2f0c81e7-3a55-4d0b-9d2f-0a1b2c3d4e5f",
            ["3f2a9bc1d", "2f0c81e7-3a55-4d0b-9d2f-0a1b2c3d4e5f"],
        ),
        ("PROJ-412 and #98, not UTF-8", ["PROJ-412", "#98"]),
        ("booking NO6JO3 on HAT156 for mia_li_3668", ["NO6JO3", "HAT156", "mia_li_3668"]),
        ("ann.lee@example.org", ["ann.lee@example.org"]),
        ("numpy==1.26.4, python 3.11.7", ["numpy==1.26.4", "3.11.7"]),
        ("1234567 2025 defaced accede", []),
    ],
)
def test_identifiers_are_found_without_the_punctuation_around_them(text: str, identifiers: list[str]) -> None:
    """OBS-3: URLs, hashes, tickets and ids of records; a run of digits alone is none."""
    found = texts(text)
    assert found == identifiers
