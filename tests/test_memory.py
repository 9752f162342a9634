"""A loop that compacts the same history again finds its facts once."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import foldline
from foldline import memory
from foldline.ledger.facts import FactCache, Found
from foldline.ledger.found_in_text import Finder
from foldline.survival import AHEAD_CHARS


class Counted(Finder):
    """A finder that notes what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.searched: list[str] = []

    def many(self, texts: Iterable[str]) -> list[Found]:
        asked = list(texts)
        self.searched += asked
        return super().many(asked)


@pytest.fixture
def finder() -> Iterator[Counted]:
    """What the next call of `compact` finds facts with."""
    memory.forget()
    found = Counted()
    memory._idle.append({"facts": FactCache(found)})
    yield found
    memory.forget()


def history(rounds: int, *, chars: int = 2_000) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Never touch db/schema.sql."}]
    for number in range(rounds):
        call = {"name": "bash", "arguments": '{"command":"make check"}'}
        text = f"src/part{number}.py: port={number} is taken\n"
        text += "filler words\n" * (chars // 13)
        messages += [
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text},
        ]
    return [*messages, {"role": "user", "content": "Go on."}]


def test_the_same_history_at_the_next_call_is_searched_for_no_fact_again(finder: Counted) -> None:
    """OBS-3: facts are found once for each immutable part, and what is sent is the same."""
    messages = history(20)
    first = foldline.compact(messages, 0.3)
    assert finder.searched
    finder.searched.clear()
    again = foldline.compact(copy.deepcopy(messages), 0.3)
    assert finder.searched == []
    assert again.messages == first.messages
    assert again.report.retention == first.report.retention


def test_facts_are_found_from_half_the_threshold_on_so_that_the_cut_need_not_wait(finder: Counted) -> None:
    """OBS-3: before that nothing is looked for; after it each call looks only so far, and then at what is new."""
    foldline.compact(history(40))
    assert finder.searched == []
    messages = history(130)
    for least, most in ((AHEAD_CHARS * 0.9, AHEAD_CHARS + 3_000), (10_000, AHEAD_CHARS), (0, 0)):
        assert foldline.compact(messages).report.reason == "below the threshold"
        assert least <= sum(map(len, finder.searched)) <= most
        finder.searched.clear()
    foldline.compact([*messages, {"role": "assistant", "content": "See src/new.py."}])
    assert finder.searched == ["See src/new.py."]


def test_what_a_pass_noted_for_its_own_call_does_not_reach_the_next() -> None:
    """Law SAME: another history may have other messages at the same ordinals."""
    memory.forget()
    with memory.remembered() as memo:
        memo.update(dict.fromkeys(memory.KEPT - {"facts"}, "found"), mine={0: "of this history"})
    with memory.remembered() as memo:
        assert memo.keys() == memory.KEPT
    memory.forget()


def test_a_memo_that_an_error_interrupted_is_not_given_back() -> None:
    """Law SAME: what stands in a memo was found to the end."""
    memory.forget()
    with pytest.raises(KeyboardInterrupt), memory.remembered():
        raise KeyboardInterrupt
    assert memory._idle == []


def test_calls_at_the_same_time_have_a_memo_each_and_few_are_kept() -> None:
    """Style rule 11: every buffer has a named bound."""
    memory.forget()
    with memory.remembered() as one, memory.remembered() as two, memory.remembered() as three:
        assert len({id(one), id(two), id(three)}) == 3
    assert len(memory._idle) == memory.MEMOS_MAX
    memory.forget()
