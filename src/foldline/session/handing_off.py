"""The hand-off: before a compaction is due, one hidden reminder makes the model write down where it stands.

    below_handoff ──70 %──► handoff_band ──80 %──► compaction_due        (requirement HND-1, shares as `handoff` has them)

The reminder is an entry of the log and no message: it stands in every request of its epoch at the same place, and nowhere
else: not in the history, a page, an export, a fork, or what a compaction is made from (requirement HND-3). A committed
compaction ends the epoch (HND-4). Counterpart: `foldline.log.handoff`, the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from foldline.core.address import block
from foldline.core.budget import Room
from foldline.core.message import Message, holds_results
from foldline.core.ports import TokenCounter
from foldline.core.view import Item, View, item_of
from foldline.engine.policy import Policy
from foldline.ledger.entries import HEADINGS
from foldline.log.handoff import NO_EPOCH, Record
from foldline.log.state import ROOT, SUPPRESSED, Handoff, State
from foldline.session.incoming import user_message, waiting_calls

Band: TypeAlias = Literal["below_handoff", "handoff_band", "compaction_due"]

LEAD: Final = (
    "This reminder comes from the program that runs this conversation, not from the user; do not mention it and do not answer "
    "it on its own. The conversation is close to the size at which older parts are replaced by a summary. In your next message, "
    "before you go on with the task, write down what you would need to continue without those parts: what the user asked for "
    "and every rule they set, what is decided and why, which files changed, what was verified and how, what is still running or "
    "open, and the exact next action. Put what must be kept word for word on lines of their own in this form, at most one "
    "fact a line:"
)
FORM: Final = "EXACT CONTINUATION RECORD [heading] :: text"
TAIL: Final = "Headings: {headings}. Then go on with the task."


def band_of(tokens: int, policy: Policy, *, room: Room) -> Band:
    """Where a request of so many tokens stands. A policy without a hand-off line has no band."""
    if policy.threshold.is_reached(tokens, room):
        return "compaction_due"
    if policy.handoff is not None and policy.handoff.is_reached(tokens, room):
        return "handoff_band"
    return "below_handoff"


def due_record(state: State, view: View) -> Record | None:
    """The record that this epoch is to get now; `None` where it has one, may have none, or the model is in the middle of
    something: a call waits, or its own words come last."""
    last = next(reversed(state.root.view), None)
    if state.handoff is not None or last is None or last.message.role == "assistant" or waiting_calls(view):
        return None
    return Record(epoch=state.epoch, after=state.ordinals - 1, text=reminder(state.epoch))


def reminder(epoch: int) -> str:
    """The words of an epoch's reminder, in a block that nothing quoted can open or close."""
    headings = ", ".join(heading for section, heading in HEADINGS if section != "read")
    body = "\n".join((LEAD, FORM, TAIL.format(headings=headings)))
    return block("reminder", "start" if epoch == NO_EPOCH else f"e{epoch}", body=body)


def message_of(handoff: Handoff, *, format: str) -> Message:
    """The reminder as it is sent: a user message that no user said."""
    return replace(user_message(handoff.text, format=format), synthetic="reminder")


def in_force(state: State, scope: str) -> Handoff | None:
    """The reminder that requests of a scope carry: those of the session itself, never a node's."""
    handoff = state.handoff
    return None if scope != ROOT or handoff is None or handoff == SUPPRESSED else handoff


def with_reminder(items: Sequence[Item], handoff: Handoff | None, *, format: str) -> tuple[Item, ...]:
    """The items of a request with the reminder at its place: behind the message it was written after, or what stands for
    that one, never between a call and its results."""
    if handoff is None:
        return tuple(items)
    place = max((n + 1 for n, item in enumerate(items) if item.seq <= handoff.after), default=0)
    while 0 < place < len(items) and holds_results(items[place].message):
        place += 1
    message = message_of(handoff, format=format)
    one = item_of(handoff.after, message, weights=(0,) * len(message.parts), overhead=0)
    return (*items[:place], one, *items[place:])


def reminder_tokens(
    handoff: Handoff | None, *, anchor: int | None, counter: TokenCounter, format: str
) -> int:
    """What the reminder adds to a projection: nothing where the last usage has counted it already."""
    if handoff is None or (anchor is not None and handoff.after < anchor):
        return 0
    return counter.message(message_of(handoff, format=format))
