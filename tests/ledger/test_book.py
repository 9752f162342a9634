"""What the ledger says of a command is what its output says."""

from __future__ import annotations

import pytest

from foldline.core.message import Text, ToolResult
from foldline.ledger.book import outcome_of

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/x/reproduce.py", line 17, in <module>\n'
    "    result = array(ds)\n"
    "AttributeError: Unable to convert the pixel data\n"
)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("60 passed in 3.05s\n", "ok"),
        ("", "ok"),
        ("done\nexit code: 0", "ok"),
        (TRACEBACK + "exit code: 0", "ok"),
        ("make: *** [all]\nexit code: 2", "failed (exit 2): exit code: 2"),
        (TRACEBACK, "failed: AttributeError: Unable to convert the pixel data"),
        (
            TRACEBACK + "\n(Open file: /x/a.py)\nbash-$",
            "failed: AttributeError: Unable to convert the pixel data",
        ),
        (
            TRACEBACK + "\n" + TRACEBACK.replace("Attribute", "Value"),
            "failed: ValueError: Unable to convert the pixel data",
        ),
        ("the log says Traceback (most recent call last): twice", "ok"),
    ],
)
def test_a_command_without_an_exit_status_fails_by_its_traceback(text: str, outcome: str) -> None:
    """A recorded SWE-agent session: a run that raised was listed as verified, since its tool reports no status."""
    assert outcome_of(ToolResult(call_id="c", content=(Text(text=text),))) == outcome


def test_a_tools_own_mark_of_failure_is_taken_at_its_word() -> None:
    """And a call without a result has none."""
    assert outcome_of(
        ToolResult(call_id="c", content=(Text(text="no such file"),), is_error=True)
    ).startswith("failed")
    assert outcome_of(None) == "no result"


def test_a_long_output_of_broken_tracebacks_takes_linear_time() -> None:
    """Only the end is searched."""
    text = "Traceback (most recent call last):\n" + "  File\n\n" * 200_000
    assert outcome_of(ToolResult(call_id="c", content=(Text(text=text),))) == "ok"
