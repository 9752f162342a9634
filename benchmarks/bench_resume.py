"""How long it takes to open a session, however long its log has grown.

Two sessions are made, one with a hundred times the log of the other and a view of the same size: each megabyte is folded
away but for its newest messages, as a compaction does. Measured is `foldline.open`, with and without the first request.
Printed in milliseconds; asserted is the ratio alone.
"""

from __future__ import annotations

import tempfile
from random import Random

import foldline
from benchmarks.histories import SEED, Pieces
from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from foldline.core.edit import Fold
from foldline.core.message import Message, Text
from foldline.core.view import Span
from foldline.log.state import ROOT
from foldline.session.incoming import user_message
from foldline.session.keep import message_draft
from foldline.session.session import Session

MEGABYTES = (2, 200)
MEGABYTES_QUICK = (1, 2)
CHUNK = 1_000_000
"""Bytes that one compaction folds away."""
KEPT = 40
"""Messages that stay."""
RATIO_MAX = 1.5


def grow(session: Session, megabytes: int) -> None:
    """Say so many megabytes, folding all but the newest messages of each."""
    texts = [Pieces(Random(SEED + n)).prose(2_400) for n in range(50)]
    keeper = session._keeper
    drafts = [message_draft(user_message(text, format="anthropic")) for text in texts]
    size = sum(len(draft.body) for draft in drafts)
    for _ in range(megabytes):
        for _ in range(CHUNK // size + 1):
            keeper.say(*drafts)
        items = keeper.state.root.view.items()[:-KEPT]
        spans = (Span(start=items[0].seq, end=items[-1].seq + 1),)
        into = Message(role="user", parts=(Text(text="folded"),), synthetic="fold")
        fold = Fold(spans=spans, message=into, address=f"m{spans[0].start}-{spans[0].end - 1}@00000000")
        keeper.commit({}, scope=ROOT, edits=[fold], result={})


def main() -> None:
    """Measure and judge."""
    quick = is_quick()
    sizes = MEGABYTES_QUICK if quick else MEGABYTES
    with tempfile.TemporaryDirectory() as home:
        for size in sizes:
            with foldline.open(
                f"s{size}", format="anthropic", home=home, durability="checkpoint", redact=False
            ) as session:
                grow(session, size)

        def resume(size: int) -> None:
            foldline.open(f"s{size}", home=home).close()

        def prepare(size: int) -> None:
            with foldline.open(f"s{size}", home=home) as session:
                session.prepare()

        works = {f"open at {size} MB of log": lambda size=size: resume(size) for size in sizes}
        works |= {f"open and prepare at {size} MB": lambda size=size: prepare(size) for size in sizes}
        taken = cpu_medians(works, quick=quick)
    milliseconds(taken)
    small, large = sizes
    verdict(
        [
            Bound(
                f"resume at {large} MB ÷ at {small} MB",
                taken[f"open at {large} MB of log"] / taken[f"open at {small} MB of log"],
                most=RATIO_MAX,
            ),
            Bound(
                f"resume and first request at {large} MB ÷ at {small} MB",
                taken[f"open and prepare at {large} MB"] / taken[f"open and prepare at {small} MB"],
                most=RATIO_MAX,
            ),
        ],
        quick=quick,
    )


if __name__ == "__main__":
    main()
