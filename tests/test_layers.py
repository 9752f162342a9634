"""The layer contracts of pyproject.toml hold, and notice when they are broken.

The contracts are import-linter's; here they are run over this source tree, and over copies with one forbidden import.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parent.parent
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    """Run all contracts over the tree at `root`."""
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=root,
        env={"PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_imports_go_down_only() -> None:
    """Layers: cli, facade, passes | engine | transcripts, wire | tokens, core; the testing kit beside them."""
    run = lint(REPO)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("core/stray.py", "import foldline.wire"),
        ("passes/stray.py", "import foldline.engine"),
        ("wire/stray.py", "import foldline.tokens"),
        ("engine/stray.py", "import time"),
        ("core/stray.py", "from os import environ"),
        ("tokens/stray.py", "import foldline.testing"),
    ],
)
def test_a_forbidden_import_breaks_a_contract(module: str, line: str, tmp_path: Path) -> None:
    """The checker is tested with broken input."""
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    shutil.copytree(REPO / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    (tmp_path / "src/foldline" / module).write_text(line + "\n", encoding="utf-8")
    run = lint(tmp_path)
    assert run.returncode == 1
    assert "BROKEN" in run.stdout, run.stdout + run.stderr
