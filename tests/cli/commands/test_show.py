"""`foldline show`: the original, untouched where no terminal is."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.cli import stub_files
from tests.cli.running import documents, run, run_on_screen, run_on_terminal

pytestmark = pytest.mark.usefixtures("stub")


def test_a_pipe_gets_the_original_to_the_last_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """No escape, no line feed added: what the tool said."""
    monkeypatch.setattr(stub_files, "TEXT", "one\r\n\x1b[2Jtwo")
    done = run("show", "session.jsonl", "m1")
    assert done.stdout_bytes == b"one\r\n\x1b[2Jtwo"
    assert done.stderr == ""


def test_a_file_gets_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With -o as in a pipe."""
    monkeypatch.setattr(stub_files, "TEXT", "a\x1b")
    out = tmp_path / "original.txt"
    assert run("show", "session.jsonl", "m1", "-o", str(out)).exit_code == 0
    assert out.read_bytes() == b"a\x1b"


@pytest.mark.parametrize(
    ("asked", "given"), [("2-3", "two\nthree\u2028x"), ("3-", "three\u2028x\nfour"), ("-1", "one"), ("9", "")]
)
def test_lines_are_counted_at_line_feeds_alone(
    asked: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """U+2028 and its like break no line (threat 10: `str.splitlines` makes several lines of one)."""
    monkeypatch.setattr(stub_files, "TEXT", "one\ntwo\nthree\u2028x\nfour")
    assert run("show", "session.jsonl", "m1", "--lines", asked).stdout_bytes.decode() == given


def test_bytes_go_to_a_pipe_as_they_are_and_never_to_a_terminal() -> None:
    """An image on a terminal is noise at best."""
    assert run("show", "session.jsonl", "image").stdout_bytes == b"\x89PNG\x00\xff"
    _, shown = run_on_terminal("show", "session.jsonl", "image")
    assert "an image (image/png), 6 bytes; keep them with -o FILE" in " ".join(shown.split())
    assert "\x89" not in shown


def test_a_terminal_shows_what_is_told_and_lines_are_those_of_the_original(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call's script is read line by line; `--lines` counts what a pipe gets."""
    monkeypatch.setattr(stub_files, "TOLD", "write path=a\n  content:\n    1")
    assert "  content:\n    1\n" in run_on_screen(monkeypatch, "show", "session.jsonl", "m1").out
    assert run_on_screen(monkeypatch, "show", "session.jsonl", "m1", "--lines", "1").out == "text\n"


def test_a_pipe_gets_no_more_than_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stub_files, "TOLD", "told")
    assert run("show", "session.jsonl", "m1").stdout == "text"


def test_json_holds_text_or_base64() -> None:
    """One document for every kind of original."""
    (text,) = documents(run("show", "session.jsonl", "m1", "--json").stdout)
    assert text == {"schema": "foldline.show/1", "address": "m1", "title": "result of text", "text": "text"}
    (image,) = documents(run("show", "session.jsonl", "image", "--json").stdout)
    assert base64.b64decode(image["base64"]) == b"\x89PNG\x00\xff"


def test_lines_of_what_has_none_is_a_usage_error() -> None:
    """Says what the address holds."""
    done = run("show", "session.jsonl", "image", "--lines", "1-2")
    assert done.exit_code == 2
    assert "an image (image/png), which has no lines" in done.stderr


def test_an_unknown_address_says_where_to_take_one() -> None:
    """Exit 1: the file does not hold it."""
    done = run("show", "session.jsonl", "nowhere")
    assert done.exit_code == 1
    assert "take an address from a report" in done.stderr


def test_bytes_go_to_a_file_and_stdout_is_a_dash(tmp_path: Path) -> None:
    """`-o FILE` for an image; `-o -` is what a pipe gets anyway; `--json` holds the original itself."""
    out = tmp_path / "image.png"
    assert "written to" in run("show", "session.jsonl", "image", "-o", str(out)).stderr
    assert out.read_bytes() == b"\x89PNG\x00\xff"
    assert run("show", "session.jsonl", "m1", "-o", "-").stdout == "text"
    assert run("show", "session.jsonl", "m1", "--json", "-o", str(out)).exit_code == 2
