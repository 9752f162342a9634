"""Real sessions, reduced hard, in every wire format, before judges that share no code with the product.

The sessions are the small ones of `tests/data`; where the environment variable `FOLDLINE_CORPUS` names a folder,
every file in it too. Nothing here looks inside foldline: the command line goes in, files and reports come out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline.cli.main import main
from tests.judges import panel

DATA = Path(__file__).parent.parent / "data"
NO_SESSIONS = ("bugs", "LICENSES")
NO_SESSION_SUFFIXES = (".md", ".txt")
CORPUS = os.environ.get("FOLDLINE_CORPUS")
SHARES = ("50%", "20%", "5%")
SEEDS = ("1", "2")
DONE, UNREACHABLE = 0, 3
TRIMMED = "names at input.6.name: '[trimmed for fixture]' does not match"
"""A tool's name that a published fixture of Codex (its licence stands beside it) holds in place of the real one."""


def sessions() -> list[Path]:
    """Every session file, in a stable order."""
    folders = [DATA, *([Path(CORPUS)] if CORPUS else [])]
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in NO_SESSION_SUFFIXES and not {*path.parts} & {*NO_SESSIONS}
    ]


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def compacted(
    path: Path, to: str, *, format: str, folder: Path
) -> tuple[int, list[Any], list[dict[str, Any]]]:
    """Exit code, bodies and reports of one reduction; a file of many conversations gives many of each."""
    target = folder / "out.json"
    ran = CliRunner().invoke(
        main, ["compact", str(path), "--to", to, "--as", format, "-o", str(target), "--json"]
    )
    assert ran.exit_code in (DONE, UNREACHABLE), ran.output
    report, written = json.loads(ran.stdout), json.loads(target.read_bytes())
    return (
        ran.exit_code,
        written if isinstance(written, list) else [written],
        report.get("sessions", [report]),
    )


@pytest.mark.parametrize("format", panel.FORMATS)
@pytest.mark.parametrize("to", SHARES)
@pytest.mark.parametrize("path", sessions(), ids=named)
def test_a_reduced_session_meets_its_target_and_is_valid_everywhere(
    path: Path, to: str, format: str, tmp_path: Path
) -> None:
    """Law END: the target is reached, or the smallest size and the reason are given. Law ROLE and law PAIR, by
    other eyes: the rules of each provider and the types of its SDK."""
    code, bodies, reports = compacted(path, to, format=format, folder=tmp_path)
    assert len(bodies) == len(reports) > 0
    for report in reports:
        if report["outcome"] == "unreachable":
            assert report["tokens_after"] > report["tokens_target"]
            assert report["reason"]
        else:
            assert report["outcome"] in ("compacted", "unchanged")
            assert report["tokens_after"] <= report["tokens_target"]
        assert report["valid"] is True
        assert report["violations"] == []
    assert (code == UNREACHABLE) == any(report["outcome"] == "unreachable" for report in reports)
    found = [panel.violations(body, format=format, open_tail=True) for body in bodies]
    wrong = [[line for line in lines if not line.startswith(TRIMMED)] for lines in found]
    assert [lines[:5] for lines in wrong if lines][:5] == []


HASHED = """
import hashlib, json, sys
from click.testing import CliRunner
from foldline.cli.main import main

def still(report):
    if isinstance(report, dict):
        return {key: still(value) for key, value in report.items() if key != "seconds"}
    return [still(part) for part in report] if isinstance(report, list) else report

target = sys.argv[1]
for path in sys.argv[2:]:
    for format in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        ran = CliRunner().invoke(main, ["compact", path, "--to", "20%", "--as", format, "-o", target, "--json"])
        assert ran.exit_code in (0, 3), (path, format, ran.output)
        report = json.dumps(still(json.loads(ran.stdout)))
        with open(target, "rb") as file:
            print(hashlib.sha256(file.read()).hexdigest(), hashlib.sha256(report.encode()).hexdigest(), format, path)
"""


def test_two_processes_give_the_same_bytes(tmp_path: Path) -> None:
    """Law SAME: no clock, no chance, no order of a set in what is written or reported (`seconds` apart)."""
    paths = [str(path) for path in sessions()]
    outputs = []
    for seed in SEEDS:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run(
            [sys.executable, "-c", HASHED, str(tmp_path / f"{seed}.json"), *paths],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        outputs.append(ran.stdout)
    assert outputs[0].count("\n") == len(paths) * len(panel.FORMATS)
    assert outputs[0] == outputs[1]


def test_there_are_sessions_to_judge() -> None:
    """A glob that matches nothing would make every test above pass."""
    assert len({path.parent.name for path in sessions()}) >= 3
