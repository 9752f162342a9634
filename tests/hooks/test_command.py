"""A command sees few variables, and the values of those it was given are not shown."""

from __future__ import annotations

import os
import py_compile
import sys
from pathlib import Path

import pytest

from foldline.hooks.command import SEEN_ALWAYS, Command, seen_by, without_values
from foldline.hooks.running import run

ENVIRON = {
    "PATH": "/bin",
    "LANG": "C",
    "ANTHROPIC_API_KEY": "sk-ant-abcdef",
    "LD_PRELOAD": "/x.so",
    "PYTHONPATH": "/evil",
    "TOKEN": "tok-123456",
    "TOKEN_LONG": "tok-123456-more",
    "SHORT": "1",
}


def test_only_the_usual_few_and_the_named_variables_are_seen() -> None:
    """S9: environment allow-list; keys of providers and what changes a program's loading are not among the usual."""
    seen = seen_by(Command(argv=("x",), env=("TOKEN", "NOT_SET")), ENVIRON, cwd="/work")
    assert seen.pop("PYTHONPYCACHEPREFIX") == os.devnull
    assert seen == {"PATH": "/bin", "LANG": "C", "TOKEN": "tok-123456", "CLAUDE_PROJECT_DIR": "/work"}
    assert not {"LD_PRELOAD", "PYTHONPATH", "ANTHROPIC_API_KEY"} & set(SEEN_ALWAYS)
    assert "CLAUDE_PROJECT_DIR" not in seen_by(Command(argv=("x",)), ENVIRON, cwd="")


def test_what_lies_in_a_cache_does_not_run_in_the_place_of_the_source(tmp_path: Path) -> None:
    """S9: an approval is for the source that was read. A compiled module with the right date in it would be taken for it."""
    source = tmp_path / "b.py"
    source.write_text("print('the evil')")
    compiled = py_compile.compile(str(source), doraise=True)
    was = source.stat()
    source.write_text("print('approved')")
    os.utime(source, (was.st_atime, was.st_mtime))
    assert compiled
    assert source.stat().st_size == was.st_size
    argv = (sys.executable, "-m", "b")
    command = Command(argv=argv)
    told = run(command, b"", cwd=str(tmp_path), environ=seen_by(command, os.environ, cwd=str(tmp_path)))
    assert told.stdout.strip() == "approved"
    assert [one.name for one in (tmp_path / "__pycache__").iterdir()] == [Path(compiled).name]


def test_values_of_named_variables_are_taken_out_of_what_it_says() -> None:
    """Secrets in a hook's environment are never logged; the longer of two that begin alike first."""
    command = Command(argv=("x",), env=("TOKEN", "TOKEN_LONG", "SHORT"))
    said = without_values("a tok-123456-more b tok-123456 c 1 sk-ant-abcdef", command, environ=ENVIRON)
    assert said == "a ⟦env:TOKEN_LONG⟧ b ⟦env:TOKEN⟧ c 1 sk-ant-abcdef"


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("/opt/hooks/before.sh",), "before.sh"),
        (("python3", "-I", "hooks/before.py", "secret"), "before.py"),
        (("python3", "-c"), "python3"),
        (("--",), "--"),
    ],
)
def test_a_person_reads_the_script_and_not_its_arguments(argv: tuple[str, ...], name: str) -> None:
    """Arguments may hold secrets."""
    assert Command(argv=argv).name == name
