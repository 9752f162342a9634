"""Recorded runs with the real usage of every call, under every preset: compactions begin at the documented lines, by the provider's
own count, no request is larger than the window, and none is compacted again without progress.

In CI one run of 23 calls; where `FOLDLINE_CORPUS` names a folder, every TRAE trajectory in it too (up to 271,315 tokens a call).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from foldline.core.budget import Room
from foldline.presets import POLICIES, policy_of
from foldline.transcripts import detect
from tests.session.replaying import OUTPUT_MAX, Replay, Sent

RECORDED = Path(__file__).parent.parent / "data" / "trae"
CORPUS = os.environ.get("FOLDLINE_CORPUS")
OFF: Final = 0.05
OFF_BY_LENGTH: Final = 0.1
"""How far a projection may be from what the provider counts, as a share of the line: the newest results are estimates.
`ladder-minimal` has no tokenizer at all."""
RESERVED, BUFFER = 20_000, 13_000
"""Of requirement BUD-2."""


def line(policy: str, window: int) -> int:
    """Where a compaction is due, by the documents: BUD-1, BUD-2, BUD-3, BUD-4 and TOK-11, written down once more."""
    match policy:
        case "balanced" | "handoff":
            return (window - min(max(window // 10, 8_192), 32_768)) * 80 // 100
        case "reserve":
            return window - RESERVED - BUFFER
        case "cascade":
            return window * 90 // 100
        case "ladder-enterprise":
            return (window * 95 // 100 - 1_000) * 85 // 100
        case _:
            return window * 95 // 100 * 85 // 100


def recorded() -> list[Path]:
    """Every trajectory at hand."""
    folders = [RECORDED, *([Path(CORPUS)] if CORPUS else [])]
    return [
        path for folder in folders for path in sorted(folder.rglob("*.json")) if "trae" in str(path.parent)
    ]


def replayed(path: Path, policy: str, share: float | None) -> tuple[int, Replay, list[Sent]]:
    """The window, the replay and its requests. `share`: where the line lies in what the run came to; `None`: in the window
    of the model that was recorded."""
    [transcript] = detect.read(path.read_bytes())
    top = max(m.meta.usage.tokens_input for m in transcript.messages if m.meta and m.meta.usage)
    window = 272_000 if (transcript.model or "").startswith("gpt-5") else 200_000
    if share is not None:
        window = next(size for size in range(10_000, 1_000_000, 500) if line(policy, size) >= share * top)
    replay = Replay(transcript, policy=policy_of(policy, window), window=window)
    return window, replay, list(replay.run())


@pytest.mark.parametrize("share", [None, 0.6, 0.35], ids=["own window", "line at 60 %", "line at 35 %"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("path", recorded(), ids=lambda path: path.stem)
def test_a_recorded_run_is_compacted_at_the_documented_line_and_never_beyond_its_window(
    path: Path, policy: str, share: float | None
) -> None:
    """CMP-1, BUD-1, BUD-2, BUD-3, BUD-4, TOK-3: by the provider's own count of every call."""
    window, replay, sent = replayed(path, policy, share)
    due, off = line(policy, window), OFF_BY_LENGTH if policy == "ladder-minimal" else OFF
    assert due == policy_of(policy, window).threshold.tokens(Room(window, output_max=OUTPUT_MAX))
    assert [one for one in sent if one.tokens > window] == [], "a request is larger than the window"
    assert [size for size in replay.asked if size > window] == [], (
        "a summary's request is larger than the window"
    )
    compacted = [one for one in sent if one.is_due]
    early = [(one.call, one.whole) for one in compacted if one.whole < due * (1 - off)]
    late = [(one.call, one.whole) for one in sent if one.tokens > due * (1 + off) and not one.report.reason]
    assert (early, late) == ([], []), f"the line is at {due:,}"
    for one in compacted:
        assert one.report.tokens_after < one.report.tokens_before
        assert one.tokens < one.whole * (1 + off / 2), "it freed nothing"
    if share is not None and max(one.whole for one in sent) > due * (1 + off):
        assert compacted


def test_the_run_of_ci_is_compacted_by_every_preset() -> None:
    """A replay in which nothing is ever due would prove nothing."""
    [path] = [path for path in recorded() if RECORDED in path.parents]
    for policy in POLICIES:
        _, _, sent = replayed(path, policy, 0.6)
        assert len(sent) == 23
        assert any(one.is_due for one in sent), policy
