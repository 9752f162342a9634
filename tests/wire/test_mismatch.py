"""Usage against what was sent: what is cut in silence, what is larger than the window, and what is neither."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.wire.mismatch import Outgoing, mismatch_of


def kind_of(reported: int, **more: Any) -> str | None:
    """What is found."""
    told: dict[str, Any] = {"tokens": 20_000, "grown": 500, **more}
    found = mismatch_of(reported, Outgoing(**told), window=32_000)
    return None if found is None else found.kind


@pytest.mark.parametrize(
    ("reported", "more", "kind"),
    [
        (32_001, {"before": 30_000}, "over window"),
        (32_001, {}, "over window"),
        (4_096, {}, "truncated"),  # Ollama's default context of 4,096
        (4_096, {"is_text": False}, None),
        (9_000, {}, None),  # a counter may err
        (900, {"tokens": 2_700}, None),  # a short request, and a template of its own
        (20_500, {"before": 19_800}, None),
        (19_000, {"before": 20_000}, None),  # thinking of earlier turns is left out by the provider
        (14_999, {"before": 20_000}, "truncated"),
        (20_000, {"before": 20_000, "grown": 256}, "truncated"),  # anomalyco/opencode#45168: it sticks
        (20_000, {"before": 20_000, "grown": 255}, None),
    ],
)
def test_only_what_cannot_be_is_told(reported: int, more: dict[str, Any], kind: str | None) -> None:
    """Silent overflow and silent truncation noticed from usage where they can be."""
    assert kind_of(reported, **more) == kind


def test_the_note_names_both_numbers_and_what_helps() -> None:
    """style.md, 10: what to do next; never a limit that is planned with."""
    cut = mismatch_of(4_096, Outgoing(tokens=20_000, grown=0), window=32_000)
    assert cut is not None
    assert "20,000" in cut.note()
    assert "4,096" in cut.note()
    assert "num_ctx" in cut.note()
    assert cut.to_json() == {"kind": "truncated", "tokens_sent": 20_000, "tokens_reported": 4_096}
    large = mismatch_of(40_000, Outgoing(tokens=39_000, grown=0, before=30_000), window=32_000)
    assert large is not None
    assert "planned as 32,000" in large.note()
