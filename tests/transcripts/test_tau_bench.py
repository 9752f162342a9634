"""tau-bench results: many conversations in one file."""

from __future__ import annotations

import pytest

from foldline.core.errors import InvalidTranscript
from foldline.transcripts import detect
from foldline.transcripts.source import open_source
from foldline.transcripts.tau_bench import READER
from foldline.wire.formats import codec
from tests.transcripts.data import DATA, bytes_of, calls_in, read_one, results_in

FIRST = DATA / "tau-bench/gpt-4o-airline-first3.json"


def test_every_result_is_a_conversation_with_the_id_of_its_task_and_trial() -> None:
    """`--select` takes a number or this id."""
    found = READER.read(open_source(FIRST))
    assert [t.id for t in found] == ["0.0", "1.0", "2.0"]
    assert [len(t.messages) for t in found] == [32, 12, 24]
    assert [len(calls_in(t)) for t in found] == [len(results_in(t)) for t in found] == [8, 0, 7]
    assert {t.wire for t in found} == {"openai-chat"}


def test_results_are_recognised_though_the_history_comes_after_a_long_info() -> None:
    """`task_id`, `reward` and `info` stand first."""
    assert detect.recognise(FIRST.read_bytes()[:2_000]) == "tau-bench"


def test_one_result_alone_is_read_and_a_result_without_a_history_is_left_out() -> None:
    """The same element, taken out of its list; a run that never started."""
    message = {"role": "user", "content": "hi"}
    assert read_one(READER, {"task_id": 3, "traj": [message]}).id == "3"
    assert read_one(READER, [{"task_id": 1, "traj": []}, {"task_id": 2, "traj": [message]}]).id == "2"


def test_messages_keep_their_bytes() -> None:
    """Law LOSSLESS."""
    for found in READER.read(open_source(FIRST)):
        for message in found.messages:
            assert isinstance(message.origin, bytes)
            assert codec("openai-chat").encode_bytes(message) == message.origin
            assert message.origin in FIRST.read_bytes()


def test_a_message_that_is_none_is_named_by_its_place() -> None:
    """Every error says where and what to do next."""
    with pytest.raises(InvalidTranscript, match=r"\[1\]\.traj\[0\].*repair or remove"):
        READER.read(open_source(bytes_of([{"task_id": 1, "traj": []}, {"task_id": 2, "traj": [7]}])))
