"""Where the agent stood in its own list of things to do, when the host does not say.

Read from the calls of the history that keep such a list (`foldline.ledger.tasks`), on top of what an earlier restoration named,
so that the list outlives a compaction after which it was not touched. Only the agent's own list makes tasks: nothing that a tool,
a file or the web said does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from foldline.core.message import speaks_for_user
from foldline.core.view import Item
from foldline.ledger.book import calls_in
from foldline.ledger.entries import Entry
from foldline.ledger.tasks import tasks_of, withdrawn
from foldline.ledger.words import said_in
from foldline.restore.pieces import read_pieces
from foldline.restore.sources import PlanSteps

PENDING_MAX: Final = 20
_OPEN: Final = "[open] "
_IN_PROGRESS: Final = " (in progress)"


class Agenda(Struct, frozen=True, kw_only=True):
    """What is open."""

    steps: PlanSteps | None = None
    pending: tuple[str, ...] = ()


def agenda_of(items: Sequence[Item]) -> Agenda:
    """The agenda at the end of a history."""
    said = [(item.seq, said_in(item.message)) for item in items if speaks_for_user(item.message)]
    tasks = withdrawn(tasks_of(calls_in(items), _before(items)), said)
    rows = [task.text.removeprefix(_OPEN) for task in tasks if task.text.startswith(_OPEN)]
    if not rows:
        return Agenda()
    current = next((row for row in rows if row.endswith(_IN_PROGRESS)), "")
    following = next((row for row in rows if row != current), "")
    steps = PlanSteps(current=current.removesuffix(_IN_PROGRESS), next=following)
    return Agenda(steps=steps, pending=tuple(rows[:PENDING_MAX]))


def _before(items: Sequence[Item]) -> Iterator[Entry]:
    """The tasks that the last restoration in the history named."""
    for item in reversed(items):
        pieces = [one for one in read_pieces(item.message) if one.kind == "tasks"]
        if pieces:
            for line in pieces[-1].lines:
                if line.startswith("- "):
                    text = line.removeprefix("- ")
                    key = text.removesuffix(_IN_PROGRESS)
                    yield Entry(
                        section="tasks", key=key, text=f"{_OPEN}{text}", seq=item.seq, origin="assistant"
                    )
            return
