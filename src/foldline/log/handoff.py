"""The hand-off record: one hidden reminder an epoch, strict in form.

    {"version":1,"epoch":41,"after":117,"text":"…"}

An epoch lasts from one compaction of the session's own view to the next; the record names the one it belongs to. It is no
message: nothing that reads messages can show it. Counterparts: `foldline.log.replay`, which says what a record comes to, and
`foldline.session.handing_off`, which writes one and puts it into requests.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from foldline.core.entry import Entry
from foldline.log.state import SUPPRESSED, Handoff, State
from foldline.log.values import Json
from foldline.wire import strict

VERSION: Final = 1
TEXT_CHARS_MAX: Final = 8_192
"""Characters of a reminder."""
KIND: Final = "handoff"
NO_EPOCH: Final = -1
"""The epoch before the first compaction."""
_MEMBERS: Final = frozenset(("version", "epoch", "after", "text"))


class Record(Struct, frozen=True, kw_only=True):
    """What a hand-off entry says."""

    epoch: int
    """The compaction that it comes after, by its `seq`; -1: none has been made."""
    after: int
    """Ordinal of the last message when it was written: it stands behind that one."""
    text: str


def handoff_json(record: Record) -> Json:
    """The body of a hand-off entry."""
    return {"version": VERSION, "epoch": record.epoch, "after": record.after, "text": record.text}


def read_handoff(body: bytes) -> Record:
    """The record of an entry's body. Raises `ValueError` for anything that is not exactly one of version 1."""
    told = strict.loads(body)
    if not isinstance(told, dict) or told.keys() != _MEMBERS:
        raise ValueError(f"a hand-off record has exactly the members {', '.join(sorted(_MEMBERS))}")
    version, epoch, after, text = told["version"], told["epoch"], told["after"], told["text"]
    if type(version) is not int or version != VERSION:
        raise ValueError(f"a hand-off record of version {VERSION} is wanted")
    if type(epoch) is not int or epoch < NO_EPOCH or type(after) is not int or after < 0:
        raise ValueError("epoch and place of a hand-off record are whole numbers")
    if not isinstance(text, str) or not text.strip() or len(text) > TEXT_CHARS_MAX:
        raise ValueError(f"a hand-off record says something in at most {TEXT_CHARS_MAX:,} characters")
    return Record(epoch=epoch, after=after, text=text)


def taken_in(state: State, entry: Entry, *, voided: frozenset[int]) -> Handoff | None:
    """What an epoch's record is after one more entry: that one where it is the first and well formed; none for the rest of
    the epoch where it is a second one, malformed or of another epoch (requirement HND-2). A record of an epoch whose
    compaction was taken back is passed over with it."""
    try:
        record = read_handoff(entry.body)
    except (ValueError, RecursionError):
        return SUPPRESSED
    if record.epoch in voided:
        return state.handoff
    if state.handoff is not None or record.epoch != state.epoch or record.after >= state.ordinals:
        return SUPPRESSED
    return Handoff(seq=entry.seq, offset=entry.offset, after=record.after, text=record.text)


def found_at(entry: Entry) -> Handoff | None:
    """The record behind a checkpoint's word for it; `None` where it is a parent's, which forks do not take over."""
    if entry.kind != KIND:
        return None
    record = read_handoff(entry.body)
    return Handoff(seq=entry.seq, offset=entry.offset, after=record.after, text=record.text)
