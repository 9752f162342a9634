"""Documents of other agents with anything in the wrong place: read, or refused in words, never a traceback."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.core.errors import FoldlineError
from foldline.transcripts import detect
from foldline.transcripts.source import open_source
from foldline.transcripts.transcript import NewHistory, Transcript

DATA = Path(__file__).parents[1] / "data"
RECORDED = {
    "langgraph": "langgraph/deerflow-b83fbb2a.json",
    "swe-agent": "swe-agent/marshmallow-function-calling.traj",
    "openhands": "openhands/deepseek-nonfncall-5076.json",
    "tau-bench": "tau-bench/gpt-4o-airline-first3.json",
    "trae": "trae/sonnet45-vllm-93e5f3c5-cut.json",
}
WRONG: tuple[Any, ...] = (
    None, 0, -1, 1.5, True, "", "x", "\ud800", [], {}, [1], [None], [[]], {"a": 1}, "[1]",
    {"type": "text"}, [{"type": "image"}], {"type": "image", "source": {}},
)  # fmt: skip
STRANGERS = ("openai-chat", "anthropic")
"""Readers that are asked for a document of another format by name."""


def shortened(value: Any) -> Any:
    """The document with short lists and texts, so that damage hits structure."""
    match value:
        case list():
            return [shortened(item) for item in value[:5]]
        case dict():
            return {key: shortened(item) for key, item in value.items()}
        case str():
            return value[:40]
        case _:
            return value


def damaged(value: Any, chance: float, draw: random.Random) -> Any:
    """The document with values of the wrong kind and keys gone, each with this chance."""
    if draw.random() < chance:
        return draw.choice(WRONG)
    if isinstance(value, dict):
        return {key: damaged(item, chance, draw) for key, item in value.items() if draw.random() > chance / 2}
    if isinstance(value, list):
        return [damaged(item, chance, draw) for item in value]
    return value


def documents() -> dict[str, Any]:
    """One short document of each format; the ATIF one is written from the first."""
    made = {name: shortened(json.loads((DATA / path).read_bytes())) for name, path in RECORDED.items()}
    (found, *_) = detect.read(DATA / RECORDED["langgraph"])
    atif = detect.writer("atif").write(found, NewHistory(messages=found.messages[:8]))
    return made | {"atif": shortened(json.loads(atif))}


DOCUMENTS = documents()


def read(reader: str, data: bytes) -> tuple[tuple[Transcript, ...], str | None]:
    """What a reader gives, or what it says against the document."""
    try:
        return detect.reader(reader).read(open_source(data, name="hostile.json")), None
    except FoldlineError as error:
        return (), str(error)


def writes(transcript: Transcript) -> None:
    """What was read can be written into the two formats that hold everything, and the log reads back the same."""
    result = NewHistory(messages=transcript.messages, system=transcript.system, tools=transcript.tools)
    log = detect.writer("foldline").write(transcript, result)
    assert detect.read(log)[0].messages == transcript.messages
    detect.writer("atif").write(transcript, result)


@pytest.mark.parametrize("name", DOCUMENTS)
@given(draw=st.randoms(use_true_random=False), chance=st.sampled_from([0.01, 0.03, 0.1]))
@settings(max_examples=40)
def test_a_damaged_document_is_read_or_refused_in_words(
    name: str, draw: random.Random, chance: float
) -> None:
    """Session files come from many versions of many programs; unknown shapes are never fatal in another way."""
    data = json.dumps(damaged(DOCUMENTS[name], chance, draw)).encode()
    for reader in (name, *STRANGERS):
        found, complaint = read(reader, data)
        assert "hostile.json" in (complaint or "hostile.json"), "an error says which file"
        for transcript in found:
            writes(transcript)
