"""The chain of entries: who is on it, and what is taken back."""

from __future__ import annotations

import pytest

from foldline.core.entry import Entry
from foldline.log.chain import Beyond, chain_of


def entries(*kinds: str) -> list[Entry]:
    """`undo 3`, `rollback 0` or a kind without a number."""
    made = []
    for seq, said in enumerate(kinds):
        kind, _, number = said.partition(" ")
        member = b'"to":' if kind == "rollback" else b'"address":"m0@0","entry":'
        made.append(Entry(seq=seq, kind=kind, body=b"{%b%b}" % (member, number.encode() or b"0"), offset=seq))
    return made


def test_what_a_rollback_leaves_behind_is_not_on_the_chain() -> None:
    """JRN-16: nor is what was taken back there."""
    given = entries("message", "compaction", "undo 1", "rollback 1", "message", "rollback 4")
    on_chain, voided = chain_of(given, after=-1)
    assert on_chain == [True, True, False, True, True, True]
    assert voided.entries == frozenset()
    assert chain_of(given[:3], after=-1)[1].entries == {1}
    assert chain_of(entries("compaction", "unfold 0"), after=-1)[1].spans == {0: {"m0@0"}}


def test_a_chain_that_goes_on_before_the_entries_at_hand_says_so() -> None:
    """JRN-6: the replay begins earlier then."""
    later = [e for e in entries("message", "compaction", "message", "undo 1", "rollback 0") if e.seq > 1]
    assert chain_of(later[:1], after=1)[0] == [True]
    for end in (2, 3):
        with pytest.raises(Beyond):
            chain_of(later[:end], after=1)
