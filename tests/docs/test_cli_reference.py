"""The reference page of the command line is the one that the commands make."""

from __future__ import annotations

import runpy
from pathlib import Path

REPO = Path(__file__).parents[2]


def test_the_page_is_what_the_commands_make() -> None:
    """Style: help pages are generated and compared. After a change: `python scripts/make_cli_docs.py`."""
    made = runpy.run_path(str(REPO / "scripts" / "make_cli_docs.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"]()


def test_the_page_names_every_option_and_code() -> None:
    """The script itself leaves nothing out."""
    page = (REPO / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    for word in (
        "`--to` SIZE",
        "`--select` N\\|ID",
        "`--json`",
        "| 70 |",
        "| 130 |",
        "foldline show [OPTIONS] FILE [ADDRESS]",
    ):
        assert word in page
