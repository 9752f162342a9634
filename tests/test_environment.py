"""Every environment variable is declared once, and nothing reads another."""

from __future__ import annotations

import re
from pathlib import Path

from foldline.environment import VARIABLES

SOURCE = Path(__file__).parents[1] / "src" / "foldline"


def test_every_variable_has_its_sentence_and_stands_once() -> None:
    """The reference page is made from this table."""
    names = [variable.name for variable in VARIABLES]
    assert len(set(names)) == len(names)
    assert all(variable.sentence.endswith(".") for variable in VARIABLES)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", name) for name in names)


def test_no_other_module_names_a_variable_in_words() -> None:
    """style.md 14: environment variables are declared in one file."""
    declared = {variable.name for variable in VARIABLES}
    found = set()
    for path in SOURCE.rglob("*.py"):
        if path.name != "environment.py":
            text = path.read_text(encoding="utf-8")
            found |= set(re.findall(r"(?:environ(?:\.get)?|getenv)[\[(]\s*[\"'](\w+)", text)) - declared
    assert found == set()
