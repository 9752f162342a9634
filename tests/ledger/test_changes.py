"""What an edit did, in a few words."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.ledger.changes import LINE_CHARS, gist_of, is_edit, patched_files

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+def load(path):\n+    return 2\n*** Update File: b.py\n+y\n*** End Patch"

BLOCK = "<<<<<<< SEARCH\n:start_line:3\n-------\nx = 1\n=======\ndef load():\n    return 1\n>>>>>>> REPLACE\n"
UNIFIED = "--- a/a.py\t2025\n+++ b/a.py\t2025\n@@ -1 +1 @@\n-x = 100\n+x = 200\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n+y = 1\n"


@pytest.mark.parametrize(
    ("arguments", "gist"),
    [
        ({"old_str": "x = 1\ny = 2", "new_str": "x = 1\ny = 3000"}, ", +1 −1: `y = 3000`"),
        ({"old_string": "a = b", "new_string": "# why\nq = 1\nclass Row:\n    b"}, ", +4 −1: `class Row:`"),
        ({"oldText": "import json", "newText": ""}, ", −1: `import json`"),
        ({"edits": [{"old_string": "aaaa bb", "new_string": "cccc dd"}] * 2}, ", +2 −2: `cccc dd`"),
        ({"content": "}\n"}, ", +1"),
        ({"content": "alpha = 1\n\n\nalpha = 1\n}\n"}, ", +5: `alpha = 1`"),
        ({"content": "value = 1\n" * 9_000}, ", +9,000: `value = 1`"),
        ({"old_str": "x = 100\n}\n}\n", "new_str": "x = 100\n}\ny = 2000\n"}, ", +1 −1: `y = 2000`"),
        ({"input": PATCH}, ", +2 −1: `def load(path):`"),
        ({"old_str": "same", "new_str": "same"}, ""),
        ({"old_str": "  def f(x):\n    y", "new_str": "def f(x):\n  y"}, ", indented anew: `def f(x):`"),
        ({"replacement_text": "x = 100", "start_line": 4, "end_line": 9}, ", lines 4:9: `x = 100`"),
        ({"replacement_text": "", "start_line": 4, "end_line": 9}, ", lines 4:9"),
        ({"replacement_text": "x = 100"}, ""),
        ({"edits": "all"}, ""),
        ({"notebook_path": "a.py", "new_source": "x = 100\ny = 2"}, ", +2: `x = 100`"),
        ({"filePath": "a.py", "oldString": "x = 100", "newString": "x = 200"}, ", +1 −1: `x = 200`"),
        ({"operations": [{"search": "aaaa", "replace": "bbbb"}]}, ", +1 −1: `bbbb`"),
        ({"ReplacementChunks": [{"TargetContent": "aa", "ReplacementContent": "bbb"}]}, ", +1 −1: `bbb`"),
        ({"path": "a.py", "diff": BLOCK}, ", +2 −1: `def load():`"),
        ({"content": BLOCK}, ", +2 −1: `def load():`"),
        ({"content": "FULL SEARCH\nnothing else"}, ", +2: `FULL SEARCH`"),
        ({"patch": UNIFIED}, ", +1 −1: `x = 200`"),
        ({}, ""),
    ],
)
def test_an_edit_is_told_by_its_size_and_the_line_that_says_most(
    arguments: dict[str, Any], gist: str
) -> None:
    """CMP-8: in none of seven ledgers could a fresh reader say what had been changed in a file."""
    assert gist_of(arguments, "a.py") == gist


@pytest.mark.parametrize(
    ("patch", "files"),
    [
        (UNIFIED, [("a.py", False), ("b.py", False)]),
        ("*** Update File: a.py\n@@\n+++ i;\n*** Delete File: b.py", [("a.py", False), ("b.py", True)]),
        ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x;\n+++ i;\n--- j;\n y", [("a.py", False)]),
        ("--- a/a.py\t2025\n+++ /dev/null\t2025\n@@ -1 +0,0 @@\n-x\n", [("a.py", True)]),
        ("--- /dev/null\r\n+++ b/a.py\r\n@@ -0,0 +1 @@\r\n+x\r\n", [("a.py", False)]),
        ("+++ a.py", []),
    ],
)
def test_a_line_that_a_patch_adds_names_no_file(patch: str, files: list[tuple[str, bool]]) -> None:
    """CMP-8: `++ i;` was told as a second edited file, and a file that a unified diff deletes not at all."""
    assert list(patched_files(patch)) == files


def test_what_a_patch_takes_out_ends_no_file() -> None:
    """CMP-8: the counterpart; `-- x` that goes stands there as `--- x`."""
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1 @@\n--- old words\n-more of them\n+new words\n"
    assert gist_of({"patch": patch}, "a.py") == ", +1 −2: `new words`"
    assert (
        gist_of({"patch": "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 100\n"}, "a.py")
        == ", −1: `x = 100`"
    )


def test_a_change_takes_a_part_of_a_line_whatever_is_written() -> None:
    """A minified file is one line."""
    assert len(gist_of({"content": "var a = 'b';" * 10_000}, "a.js")) < LINE_CHARS + 20


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"path": "a", "old_string": "x", "new_string": ""}, True),
        ({"path": "a", "oldString": "", "newString": "y"}, True),
        ({"path": "a", "edits": [{"search": "x", "replace": "y"}]}, True),
        ({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}, True),
        ({"path": "a", "diff": BLOCK}, True),
        ({"path": "a", "search": "x"}, False),
        ({"path": "a", "search": "x", "replace": "y"}, False),
        ({"path": "a", "old_text": "x", "new_text": "y"}, False),
        ({"path": "a", "oldText": "x", "newText": "y"}, False),
        ({"path": "a", "old_string": "", "new_string": ""}, False),
        ({"path": "a", "edits": [{"search": "", "replace": ""}]}, False),
        ({"path": "a", "old_string": None, "new_string": 3}, False),
        ({"path": "a", "content": "x"}, False),
        ({"path": "a", "text": "a RE-SEARCH of <<<<<<< SEARCH"}, False),
    ],
)
def test_an_editor_is_known_by_what_it_is_given(arguments: dict[str, Any], *, told: bool) -> None:
    """CMP-8: what an editor of an unknown name did was told as any tool's call, without a line of it."""
    assert is_edit(arguments) is told
