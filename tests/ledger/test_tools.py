"""Tools by what they do, whatever an agent calls them."""

from __future__ import annotations

import pytest

from foldline.ledger.tools import CASCADE_KINDS, kind_of, rank


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Read", "file_read"),
        ("read_file", "file_read"),
        ("mcp__fs__read_file", "file_read"),
        ("fs.read_file", "file_read"),
        ("Bash", "shell"),
        ("execute_bash", "shell"),
        ("local_shell", "shell"),
        ("shell_command", "shell"),
        ("run_in_terminal", "shell"),
        ("Grep", "grep"),
        ("Glob", "glob"),
        ("WebSearch", "web_search"),
        ("web-fetch", "web_fetch"),
        ("Edit", "file_edit"),
        ("apply_patch", "file_edit"),
        ("MultiEdit", "file_edit"),
        ("multi_edit", "file_edit"),
        ("NotebookEdit", "file_edit"),
        ("str_replace_based_edit_tool", "file_edit"),
        ("replace_in_file", "file_edit"),
        ("mcp__desktop-commander__edit_block", "file_edit"),
        ("replaceStringInFile", "file_edit"),
        ("write_to_file", "file_write"),
        ("Write", "file_write"),
        ("book_flight", "other"),
        ("thread", "other"),
        ("", "other"),
        (None, "other"),
    ],
)
def test_names_of_many_agents_map_onto_eight_kinds(name: str | None, kind: str) -> None:
    """MIC-2: names mapped per agent; what is not known is none of the eight."""
    assert kind_of(name) == kind


def test_there_are_eight_kinds_to_clear() -> None:
    """MIC-2: file read, shell, grep, glob, web search, web fetch, file edit, file write."""
    assert len(CASCADE_KINDS) == 8
    assert "other" not in CASCADE_KINDS


def test_what_can_be_read_again_leaves_first_and_errors_last() -> None:
    """SNP-3: read-only success, then write, then error; a tool nobody knows counts as one that wrote."""
    order = [
        rank("grep", is_error=False),
        rank("file_write", is_error=False),
        rank("file_read", is_error=True),
    ]
    assert order == sorted(set(order))
    assert rank("other", is_error=False) == rank("shell", is_error=False) == rank("file_edit", is_error=False)
