"""Each cue is found in what people say to take something back, and not in words that only look like it."""

from __future__ import annotations

import re

import pytest

from foldline.ledger import cue_words


@pytest.mark.parametrize(
    ("pattern", "said", "looks_alike"),
    [
        (cue_words.THAT, "算了，不做了。", "算了一下，一共 30 个。"),
        (cue_words.THAT, "算了", "算了三遍都不对，你再看看。"),
        (cue_words.THAT, "I changed my mind.", "I changed my mind about lunch."),
        (cue_words.RESET, "Total reset.", "The device needs a complete reset after flashing."),
        (cue_words.RESET, "No more of that; full reset!", "We did a full reset of the router, still broken."),
        (cue_words.DROPS_NAMED, "The export feature is out.", "The new version is out."),
        (cue_words.DROPS_NAMED, "The export is off the table.", "The skip intro feature is out of sync."),
        (cue_words.DROPS_NAMED, "Drop the shadow feature.", "Drop shadow feature is urgent."),
        (cue_words.DROPS_NAMED, "Cancel the order task for now.", "Cancel order task first."),
        (cue_words.DROPS_NAMED, "导出功能取消了。", "订单取消了。"),
        (cue_words.INSTEAD, "我们还是用 Redis", "还是有问题"),
    ],
)
def test_a_cue_is_no_word_that_looks_like_it(pattern: re.Pattern[str], said: str, looks_alike: str) -> None:
    """Kind stale-instruction: a task left the view though the later words took nothing back."""
    assert pattern.search(said)
    assert not pattern.search(looks_alike)


def test_what_takes_back_by_pointing_or_naming_has_a_word_of_the_list() -> None:
    """Messages without one are not searched."""
    for said in (
        "scratch that",
        "never mind",
        "Total reset.",
        "取消导出功能",
        "the export is dropped",
        "算了",
    ):
        assert any(word in said.lower() for word in cue_words.CUES), said
