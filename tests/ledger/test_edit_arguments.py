"""The arguments of an edit are read in the order of time, whatever order they came in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.ledger.edit_arguments import in_time, without_new
from foldline.ledger.found_in_text import extract

TURNED: dict[str, Any] = {"new_string": "max_retries = 7", "old_string": "max_retries = 3", "path": "c.py"}


def keys(arguments: str) -> list[str]:
    """The names of arguments in their order."""
    return list(json.loads(arguments))


def test_the_old_text_stands_before_the_new() -> None:
    """OBS-3: an edit whose JSON names the new text first gave the old value as the newest."""
    assert keys(in_time(json.dumps(TURNED))) == ["old_string", "path", "new_string"]
    edits = json.dumps({"path": "c.py", "edits": [{"newText": "超时 7", "oldText": "超时 3"}]})
    assert list(json.loads(in_time(edits))["edits"][0]) == ["oldText", "newText"]


@pytest.mark.parametrize(
    "arguments",
    ['{"old_string": "3", "new_string": "7"}', '{"new_string": "7"}', "{", "[1]", '{"new_str": "old_str"'],
)
def test_arguments_that_are_in_order_stand_as_they_came(arguments: str) -> None:
    """OBS-3: to the byte, also where they are none."""
    assert in_time(arguments) == arguments


def test_of_what_an_edit_did_not_bring_the_names_of_code_are_left() -> None:
    """OBS-3: a value that an edit failed to bring led as the newest; its names are in the next attempt again."""
    assert json.loads(without_new(json.dumps(TURNED))) == TURNED | {"new_string": "max_retries"}
    assert without_new('{"path": "a", "content": "x = 5"}') == '{"path":"a","content":""}'
    assert without_new('{"new_str": ["maxTries"], "path": "a"}') == '{"path":"a","new_str":""}'
    assert without_new("{") == "{"


def test_the_class_of_a_failure_in_what_was_not_brought_reports_none() -> None:
    """OBS-3: `raise ValueError` in a failed edit is no failure that came."""
    code = json.dumps({"path": "a.py", "new_string": "if is_bad:\n    raise ValueError\nreturn to_row"})
    found = extract(without_new(code))
    assert {"ValueError", "is_bad", "to_row"} <= {fact.key for fact in found if fact.kind == "symbols"}
    assert [fact for fact in found if fact.kind == "errors"] == []
