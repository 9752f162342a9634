"""`foldline check`: exit 1 lists each violation with its place."""

from __future__ import annotations

import pytest

from tests.cli.running import documents, run

pytestmark = pytest.mark.usefixtures("stub")


def test_a_valid_session_says_so() -> None:
    """Exit 0, by the file's own format."""
    done = run("check", "session.jsonl")
    assert done.exit_code == 0
    assert done.stdout == "valid  session.jsonl\n  pi · 4 messages as written\n"


def test_violations_are_listed_with_law_place_and_reason() -> None:
    """Interface: exit 1 lists each violation with its place."""
    done = run("check", "invalid.jsonl", "--as", "anthropic")
    assert done.exit_code == 1
    assert done.stdout.startswith(
        "not valid  invalid.jsonl\n  anthropic · 4 messages as written · 3 violations\n"
    )
    assert done.stdout.count("PAIR message 3 text: text") == 3


def test_json_is_the_documents_of_the_interface() -> None:
    """One conversation gives `foldline.check/1`, many a document around them."""
    (one,) = documents(run("check", "invalid.jsonl", "--json").stdout)
    assert set(one) == {"schema", "format", "messages", "valid", "violations"}
    (many,) = documents(run("check", "many.json", "--json").stdout)
    assert (many["schema"], many["valid"], len(many["sessions"])) == ("foldline.checks/1", True, 2)


def test_many_conversations_are_told_apart() -> None:
    """Each heading carries the number that `--select` takes."""
    assert "valid  many.json [1]" in run("check", "many.json").stdout
