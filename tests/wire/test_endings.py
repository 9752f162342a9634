"""Why an answer ended, in every provider's words: what is not known to be good is not good."""

from __future__ import annotations

import pytest

from foldline.wire.endings import CALLING, CUT, DECLINED, WHOLE, ending
from foldline.wire.formats import CODECS


def test_every_format_has_its_good_endings_and_no_reason_is_two() -> None:
    """Requirement CMP-21."""
    assert set(CODECS) <= set(WHOLE)
    whole = frozenset[str]().union(*WHOLE.values())
    kinds = (whole, CUT, DECLINED, CALLING)
    assert sum(map(len, kinds)) == len(frozenset[str]().union(*kinds))
    assert all(reason == reason.lower() for kind in kinds for reason in kind)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("STOP", "whole"),
        ("MAX_TOKENS", "cut"),
        ("in_progress", "cut"),
        ("IMAGE_SAFETY", "declined"),
        ("MALFORMED_FUNCTION_CALL", "calling"),
        ("FINISH_REASON_UNSPECIFIED", "other"),
        ("pause_turn", "other"),
        ("", "other"),
    ],
)
def test_a_reason_is_told_in_any_case(reason: str, told: str) -> None:
    """Requirement CMP-21: Gemini writes them in capitals."""
    assert ending(reason) == told
