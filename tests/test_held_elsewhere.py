"""A list of which the provider holds a part is refused where it would be reduced, by its place, and nothing is lost of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import foldline
from foldline.cli.main import main
from foldline.core.errors import InvalidTranscript


def held() -> list[dict[str, Any]]:
    """A call that stands by reference, its result, and enough to be folded."""
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"type": "item_reference", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "42 files"},
    ]
    for n in range(12):
        said += [
            {"role": "assistant", "content": f"look {n} " + "word " * 300},
            {"role": "user", "content": f"next {n}"},
        ]
    return said


@pytest.mark.parametrize("reference", [{"type": "item_reference", "id": "fc_1"}, {"id": "fc_1"}])
def test_an_item_by_reference_is_refused_by_the_function(reference: dict[str, Any]) -> None:
    """What it says is not here: folded it would be gone, and its result taken for one without a call."""
    messages = held()
    messages[1] = reference
    with pytest.raises(InvalidTranscript, match="item 1 stands there by reference"):
        foldline.compact(messages, to=0.5, format="openai-responses")


def test_an_item_by_reference_is_refused_on_the_command_line(tmp_path: Path) -> None:
    """Exit 1: the input is bad; nothing is written."""
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"model": "gpt-5", "input": held()}))
    told = CliRunner().invoke(main, ["compact", str(path), "--to", "1k", "-o", str(tmp_path / "out.json")])
    assert told.exit_code == 1
    assert "by reference" in told.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_result_alone_is_mended_as_ever() -> None:
    """A list that was cut at its beginning is here, as far as it goes."""
    messages = held()
    del messages[1]
    assert foldline.compact(messages, to=0.5, format="openai-responses").report.outcome == "compacted"
