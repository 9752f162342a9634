"""The arguments of an edit are read in the order of time, whatever order they came in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.ledger.edit_arguments import in_time, without_new

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


def test_of_an_edit_that_was_not_made_only_the_old_text_is_left() -> None:
    """OBS-3: a value that an edit failed to bring led as the newest."""
    assert keys(without_new(json.dumps(TURNED))) == ["old_string", "path"]
    assert without_new('{"path": "a", "content": "x"}') == '{"path":"a"}'
    assert without_new("{") == "{"
