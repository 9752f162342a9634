"""An entry is a value: what it says is compared, and a changed one is another."""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.message import ToolCall
from foldline.ledger.entries import Done, Entry


def test_an_entry_occurred_once_and_is_compared_by_what_it_says() -> None:
    """CMP-8: ledgers are merged by their entries, whoever made them."""
    entry = Entry(section="read", key="a.py", text="a.py", seq=1, origin="assistant")
    assert entry.times == 1
    assert entry == replace(entry)
    assert replace(entry, times=2) != entry


def test_a_call_may_have_no_result() -> None:
    """CMP-8: a call that waits is told, too."""
    assert Done(seq=1, call=ToolCall(id="a", name="bash", arguments="{}"), result=None).result is None
