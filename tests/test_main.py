"""`python -m foldline`."""

from __future__ import annotations

import subprocess
import sys

from tests.cli.running import environment


def test_the_package_runs_as_a_module() -> None:
    """The program, where its script is not on the path."""
    done = subprocess.run(
        [sys.executable, "-m", "foldline", "--version"], capture_output=True, env=environment(), check=False
    )
    assert (done.returncode, done.stdout[:9]) == (0, b"foldline ")
