"""Which conversations of a file are read: one, many, one of many, what is piped in, and what is none."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from foldline import reading
from foldline.core.errors import InvalidOption, InvalidTranscript, UnknownFormat
from foldline.environment import FOLDLINE_HOME
from foldline.stores.disk import DiskStore

DATA = Path(__file__).parent / "data"
LANGGRAPH = DATA / "langgraph" / "deerflow-5aa47db1-cjk.json"
MANY = DATA / "tau-bench" / "gpt-4o-airline-first3.json"


def test_one_conversation_of_many_is_taken_by_number_or_id() -> None:
    """interface.md: `--select`."""
    everyone = reading.read(str(MANY))
    assert len(everyone) == 3
    (second,) = reading.read(str(MANY), select="1")
    assert second.messages == everyone[1].messages
    if everyone[2].id is not None:
        (third,) = reading.read(str(MANY), select=everyone[2].id)
        assert third.messages == everyone[2].messages


@pytest.mark.parametrize("select", ["3", "-1", "nobody", "½"])
def test_a_selection_that_names_none_says_what_there_is(select: str) -> None:
    """The error says how many there are."""
    with pytest.raises(InvalidOption) as caught:
        reading.read(str(MANY), select=select)
    assert "there are 3 conversations" in str(caught.value)


def test_a_dash_reads_what_is_piped_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` is stdin."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LANGGRAPH.read_bytes())))
    (piped,) = reading.read("-")
    assert piped.messages == reading.read(str(LANGGRAPH))[0].messages


def test_a_file_that_is_no_session_is_refused(tmp_path: Path) -> None:
    """Exit code 1's error: which file, and what to do."""
    path = tmp_path / "notes.txt"
    path.write_text("not a session", encoding="utf-8")
    with pytest.raises((InvalidTranscript, UnknownFormat)) as caught:
        reading.read(str(path))
    assert "notes.txt" in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "then"), [("fix-login2", "did you mean 'fix-login'"), ("notes.json", "lists the sessions")]
)
def test_a_name_of_neither_a_file_nor_a_session_is_told_as_both(
    asked: str, then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the nearest session, where one is near."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    DiskStore(tmp_path).create("fix-login", format="anthropic", about=b"{}").close()
    for read in (reading.read, reading.read_both):
        with pytest.raises(InvalidTranscript, match=f"no such file, and no session of that name; .*{then}"):
            read(asked)
