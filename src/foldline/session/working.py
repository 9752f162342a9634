"""One compaction that runs while its session goes on: what it began with, and whether that still stands when it ends.

    plan on a snapshot ──► ask, the lock free ──► land on what the view has become, or give up
                             user, tool_result, record: kept, in order, behind what the snapshot held

Landing wants every message that an edit names to be there as it was (requirement JRN-10 and the laws, which judge the edits
on the new view). Knows no log and no model; counterpart: `foldline.session.compacting`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.edit import Drop, Edit, Fold, Frame, Mark, Replace, apply
from foldline.core.errors import LawViolation
from foldline.core.ports import TokenCounter
from foldline.core.view import Item, View, seqs_in
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.log import checkpoint
from foldline.log.edits import batches
from foldline.reduce import Goal, History, Reduced

BREAKER_MAX: Final = 3
"""Failures in a row after which a model is no longer asked of the session's own accord (requirement CMP-14)."""
WAIT_S_MAX: Final = 900.0
"""Longest that a request waits for a compaction that another caller runs."""
WITHIN_ASK: ContextVar[bool] = ContextVar("foldline_within_ask", default=False)
"""True inside a completer or hook: what it asks of the session compacts nothing and waits for nothing (requirement CMP-5)."""
MESSAGES_SHARE: Final = 0.8
"""Of what as many messages as a checkpoint holds weigh on average: the newest may be shorter."""

BUSY: Final = "another compaction of this session runs; this one is skipped"
ANSWERING: Final = "the model is answering; compact again when it has answered"
OPEN: Final = f"the model's summary failed {BREAKER_MAX} times in a row in this session, so it is not asked now; compact by hand to try it again"
TURNED: Final = "given up: the session was closed, cleared or taken back to an earlier point while the summary was written"
GONE: Final = "given up: what it was to replace is no longer in the view as it was"
LOWERED: Final = "the target was lowered: {:,} messages would have been left, and a checkpoint holds {:,}"
NO_GAIN: Final = "given up: it would make the view no smaller, as the view is now and is counted now"


class Work(Struct, kw_only=True):
    """A compaction between its beginning and its end."""

    goal: Goal
    history: History
    blank: Report
    reason: str
    """As its intent says: `threshold`, `by hand`, `overflow`, `background`."""
    counter: TokenCounter
    turn: int
    """The session's turn when it began; another one later: it was taken back, cleared or closed."""
    view: View
    """The view in the log when it began."""
    begin: int | None = None
    """Its intent in the log, once a model was asked."""
    reduced: Reduced | None = None
    """What came of it, where it waits to be taken in."""
    landed: Report | None = None
    """Its report, once it is committed."""
    is_background: bool = False
    fits: int = 0
    """Tokens that will do where the target is out of reach; 0: nothing but the target will."""
    stopped: str = ""
    """Why compactions do not help, where only one that makes the request fit the window is made."""
    notes: tuple[str, ...] = ()
    """What hooks had to say."""

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.goal.policy

    @property
    def is_named(self) -> bool:
        """True where nothing but the size that was named will do."""
        return self.reason in ("by hand", "overflow")

    @property
    def is_manual(self) -> bool:
        """True for one that a person or the host asked for."""
        return self.reason == "by hand"

    def lowered(self, reduced: Reduced) -> bool:
        """Lower the target where what came of it leaves more messages than a checkpoint holds. True where it was lowered, and is to
        be planned for again."""
        count, most, before = len(reduced.view), checkpoint.MESSAGES_MAX, self.goal.to
        if count <= most or not reduced.edits:
            return False
        tokens = max(1, int(reduced.report.tokens_after * most / count * MESSAGES_SHARE))
        if type(before) is int and tokens >= before:
            return False
        self.goal = replace(self.goal, to=tokens)
        self.blank = replace(self.blank, notes=(*self.blank.notes, LOWERED.format(count, most)))
        return True


def still_stands(before: View, now: View, *, edits: tuple[Edit, ...]) -> bool:
    """True where each message that the edits name stands in the view as it stood before."""
    was, is_now = {item.seq: item for item in before}, {item.seq: item for item in now}
    return all(
        _is_same(was.get(seq), is_now.get(seq)) for edit in edits for seq in named_in(edit) if seq in was
    )


def _is_same(before: Item | None, now: Item | None) -> bool:
    if before is None or now is None:
        return False
    return before is now or (before.message == now.message and before.covers == now.covers)


def named_in(edit: Edit) -> range | list[int]:
    """Ordinals of the messages that an edit names."""
    match edit:
        case Replace() | Mark():
            return [edit.seq]
        case Drop():
            return range(edit.span.start, edit.span.end)
        case Fold():
            return list(seqs_in(edit.spans))


def landed(view: View, edits: tuple[Edit, ...], *, frame: Frame) -> View | None:
    """The view with the edits made, judged by the laws as it is now; `None` where one forbids them."""
    try:
        for batch in batches(edits):
            view = apply(view, batch, frame=frame)
    except LawViolation:
        return None
    return view
