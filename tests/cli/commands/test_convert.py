"""`foldline convert`: the result, and what could not be held."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import stub_files
from tests.cli.running import documents, run, run_on_terminal

pytestmark = pytest.mark.usefixtures("stub")


def test_the_result_goes_to_stdout_and_the_notes_to_stderr() -> None:
    """What the target format cannot hold is named, not dropped in silence."""
    done = run("convert", "session.jsonl", "--as", "pi")
    assert done.stdout_bytes == stub_files.result()
    assert "foldline: reasoning of text left out" in done.stderr
    assert "foldline: left out, no part of the conversation: 3 × progress" in done.stderr


def test_the_result_goes_to_a_file(tmp_path: Path) -> None:
    """As for compact."""
    out = tmp_path / "out.json"
    done = run("convert", "session.jsonl", "--as", "pi", "-o", str(out))
    assert out.read_bytes() == stub_files.result()
    assert done.stdout == ""
    assert f"written to {out}" in done.stderr


def test_json_prints_the_notes_as_one_document(tmp_path: Path) -> None:
    """The result goes only to -o."""
    out = tmp_path / "out.json"
    done = run("convert", "session.jsonl", "--as", "pi", "--json", "-o", str(out))
    (document,) = documents(done.stdout)
    assert document == {
        "schema": "foldline.convert/1",
        "format": "pi",
        "sessions": 1,
        "bytes": len(stub_files.result()),
        "written": str(out),
        "notes": [
            "text",
            "left out, no part of the conversation: 3 × progress",
            "reasoning of text left out",
        ],
    }
    assert out.read_bytes() == stub_files.result()


def test_a_terminal_gets_no_result_unless_it_insists() -> None:
    """As for compact."""
    assert '"messages"' not in run_on_terminal("convert", "session.jsonl", "--as", "pi")[1]
