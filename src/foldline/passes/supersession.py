"""Supersession: behind a user's words that a later message takes back stands what takes them back.

The words themselves are never rewritten (`foldline.core.edit.Mark`). Counterpart: `fold_oldest`, which lets such messages
leave first. Knows marks and ordinals; what takes back what is `foldline.ledger.supersession`'s affair.
"""

from __future__ import annotations

from msgspec import Struct

from foldline.core.address import mark
from foldline.core.edit import Edit, Frame, Mark, Plan
from foldline.core.message import NEW, Text
from foldline.core.ports import Moment
from foldline.core.view import View
from foldline.ledger.words import to_mark, words_of


class MarkSuperseded(Struct, frozen=True, kw_only=True):
    """Mark what no longer stands, with the address of what supersedes it.

        [u "port 8080"][a][u "port 9090 now"]  →  [u "port 8080" ‹superseded by m2@…›][a][u "port 9090 now"]

    Of a message that stands in part the mark quotes what does not. Costs: O(users' words), and some 20 tokens a mark.
    Breaks the cache from the first marked message. Reach for it along with a compaction alone: it runs before the tiers
    of every policy, which make room for what it adds, and what they fold needs no mark. Pins and the last user message
    stay as they are.
    """

    name: str = "supersession"

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """One mark for each text that is superseded, or of which more is than a mark says already."""
        items = view.items()
        words = words_of(items, frame.memo)
        edits: list[Edit] = []
        by_seq = {item.seq: item for item in items} if words.taken_back else {}
        for item in items:
            by, found = words.taken_back.get(item.seq, (NEW, None))
            if found is None or by not in by_seq or item.seq in frame.kept:
                continue
            address = frame.span_address([by_seq[by]])
            for part, quotes in to_mark(item, found):
                text = Text(text=mark(address, quotes))
                edits.append(Mark(seq=item.seq, slot=part.slot, part=text, address=address))
        return Plan(edits=tuple(edits))
