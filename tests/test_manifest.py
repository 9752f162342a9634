"""What is claimed and what is tested are the same list.

The claims stand in `tests/manifest.py`; a test names what it proves in its docstring.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.manifest import BEGUN, DONE, REQUIREMENTS, UNPROVEN

TESTS = Path(__file__).parent
FAMILIES = {
    "TOK": 11,
    "BUD": 13,
    "MIC": 10,
    "SNP": 8,
    "COL": 6,
    "CMP": 41,
    "REA": 4,
    "HND": 4,
    "JRN": 19,
    "RST": 10,
}
FAMILIES |= {"HOK": 4, "UIX": 13, "FUN": 4, "MEM": 12, "OBS": 3, "PRE": 7}
LAWS = tuple(row.id for row in REQUIREMENTS if "-" not in row.id)
NAMED = re.compile(rf"\b(?:(?:{'|'.join(FAMILIES)})-\d+|{'|'.join(LAWS)})\b")


def docstrings_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The docstrings that may claim: of test functions, and of state machines with their rules and invariants."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
                yield name, ast.get_docstring(node) or ""
            case ast.ClassDef(name=name) if any("StateMachine" in ast.unparse(base) for base in node.bases):
                rules = [
                    ast.get_docstring(item) or "" for item in node.body if isinstance(item, ast.FunctionDef)
                ]
                yield name, " ".join([ast.get_docstring(node) or "", *rules])


def ids_named(folder: Path) -> dict[str, list[str]]:
    """Requirement id → the tests that name it."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for name, text in docstrings_of(ast.parse(path.read_text(encoding="utf-8"))):
            for id in NAMED.findall(text):
                found.setdefault(id, []).append(f"{path.relative_to(folder)}::{name}")
    return found


def test_every_requirement_has_one_row() -> None:
    """None is forgotten, none stands twice."""
    ids = [row.id for row in REQUIREMENTS]
    assert [id for id, count in Counter(ids).items() if count > 1] == []
    assert {id for id in ids if "-" in id} == {
        f"{f}-{n}" for f, last in FAMILIES.items() for n in range(1, last + 1)
    }
    assert len(LAWS) == 15


def test_what_is_claimed_done_is_named_by_a_test() -> None:
    """A claim without a test is a hope."""
    claimed = {row.id for row in REQUIREMENTS if row.status in {DONE, BEGUN}}
    assert sorted(claimed - ids_named(TESTS).keys() - UNPROVEN) == []


def test_what_a_test_names_is_claimed_done_or_begun() -> None:
    """A test of a requirement belongs to a claim; what is not yet claimed is listed under its later stage."""
    claimed = {row.id for row in REQUIREMENTS if row.status in {DONE, BEGUN}}
    assert {id: tests for id, tests in ids_named(TESTS).items() if id not in claimed} == {}


def test_ids_are_found_where_they_are_claimed_and_nowhere_else(tmp_path: Path) -> None:
    """The checker is tested with broken input: other words with a dash and a number are no ids."""
    (tmp_path / "test_sample.py").write_text(
        '"""TOK-1 in a module claims nothing."""\n'
        'def test_a():\n    """TOK-4, law PAIR; not UTF-8, PAIRS or XTOK-2."""\n'
        'def other():\n    """TOK-3."""\n'
        'class Session(RuleBasedStateMachine):\n    """Law TAIL."""\n    def compact(self):\n        """Law SAME."""\n',
        encoding="utf-8",
    )
    assert sorted(ids_named(tmp_path)) == ["PAIR", "SAME", "TAIL", "TOK-4"]
