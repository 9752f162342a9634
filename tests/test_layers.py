"""The layer contracts of pyproject.toml hold, and notice when they are broken.

The contracts are import-linter's; here they are run over this source tree, and over copies with one forbidden import.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

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
        timeout=120,
    )


def test_imports_go_down_only() -> None:
    """Layers: cli, facade, passes | engine | transcripts | stores | recall, log, wire | ledger | tokens, core; the testing
    kit beside them."""
    run = lint(REPO)
    assert run.returncode == 0, run.stdout + run.stderr


FORBIDDEN = {
    "core/stray.py": "import foldline.wire",
    "passes/stray.py": "import foldline.engine",
    "wire/stray.py": "import foldline.tokens",
    "engine/stray.py": "import time",
    "core/strayed.py": "from os import environ",
    "tokens/stray.py": "import foldline.testing",
}
"""Where a module must not import what: up, sideways, the clock, the environment, the testing kit."""


def test_each_forbidden_import_breaks_a_contract(tmp_path: Path) -> None:
    """The checker is tested with broken input."""
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    shutil.copytree(REPO / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for module, line in FORBIDDEN.items():
        (tmp_path / "src/foldline" / module).write_text(line + "\n", encoding="utf-8")
    run = lint(tmp_path)
    assert run.returncode == 1
    for module, line in FORBIDDEN.items():
        importer, imported = "foldline." + module[:-3].replace("/", "."), line.split()[1]
        assert re.search(rf"{importer} -> {imported} ", run.stdout), run.stdout
