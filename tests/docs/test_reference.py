"""The reference pages of passes, policies and reports are the ones that the values make."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from foldline import files, reading
from foldline.distribution import distribution
from foldline.presets import POLICIES

REPO = Path(__file__).parents[2]
MADE: dict[str, Any] = runpy.run_path(str(REPO / "scripts" / "make_reference.py"))
SESSION = REPO / "tests" / "data" / "openhands" / "sonnet4-fncall-5046.json"


@pytest.mark.parametrize("name", sorted(MADE["PAGES"]))
def test_a_page_is_what_the_values_make(name: str) -> None:
    """Style: reference pages are generated and compared. After a change: `python scripts/make_reference.py`."""
    assert (MADE["FOLDER"] / name).read_text(encoding="utf-8") == MADE["PAGES"][name]()


def test_every_key_of_a_document_is_described() -> None:
    """A key that is added to a document is added to its page."""
    [transcript] = reading.read(str(SESSION))
    assert list(distribution(transcript)) == [key for key in MADE["CONTEXT_SAYS"] if key != "read_again"]
    assert list(files.check(transcript)) == list(MADE["CHECK_SAYS"])


def test_a_key_is_described_in_one_place() -> None:
    """A field's docstring goes before the script's sentence, which nobody would read then; nor one of a key that is gone."""
    values = (MADE["Report"], *[value for _, value in MADE["PARTS"]])
    bare = {field.name for value in values for field in MADE["fields_of"](value) if not field.says}
    assert set(MADE["REPORT_SAYS"]) == bare


def test_every_pass_and_policy_has_its_place() -> None:
    """And every pass says what it costs, what it breaks in the cache and when to reach for it."""
    for value in MADE["PASSES"]:
        assert all(MADE["about"](value))
    page = MADE["policies_page"]()
    assert all(f"\n## {name}\n" in page for name in POLICIES)
