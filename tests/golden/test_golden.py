"""Each golden case gives exactly the files that stand beside it, and nothing in them breaks a rule."""

from __future__ import annotations

import json

import pytest

from tests.golden.cases import WIRES, expected, made, names
from tests.judges import panel


@pytest.mark.parametrize("name", names())
def test_a_case_gives_what_stands_beside_it(name: str) -> None:
    """Law SAME. After a wanted change: `python -m tests.golden.regenerate`, and read the difference."""
    assert made(name) == expected(name)


@pytest.mark.parametrize("name", names())
def test_every_request_of_a_case_is_valid(name: str) -> None:
    """Independent judges: validators that share no code with the laws."""
    for file, text in expected(name).items():
        format = file.removeprefix("request.").removesuffix(".json")
        if format in WIRES:
            assert panel.violations(json.loads(text), format=format, open_tail=True) == []


@pytest.mark.parametrize("name", names())
def test_a_case_makes_its_session_smaller(name: str) -> None:
    """Law GAIN: a case that changes nothing shows nothing, but for repairs. Marks add: other passes make room for them."""
    report = json.loads(expected(name)["report.json"])
    if report.get("pass") == "supersession":
        assert report["tokens_after"] > report["tokens_before"]
    else:
        assert report["tokens_after"] < report["tokens_before"] or report["repairs"]


def test_there_is_a_case_for_every_pass_and_every_format_that_can_be_written() -> None:
    """Style: one for each pass, format and mended fault."""
    files = {file for name in names() for file in expected(name)}
    assert {file.split(".")[1] for file in files if file.startswith("request.")} == set(WIRES)
    assert {file.split(".")[1] for file in files if file.startswith("session.")} == {
        "claude-code",
        "foldline",
        "atif",
    }
    assert {"budget-reduction", "microcompact", "snip", "collapse", "fold"} <= set(names())
