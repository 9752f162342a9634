"""The messages of a log by ordinal, and the addresses of spans that grow."""

from __future__ import annotations

import pytest

from foldline.core.address import span_address
from foldline.core.received import received
from foldline.log.replay import resume
from foldline.session.originals import SPANS_MAX, Originals, Shown, Spans, between
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from tests.log.drafts import compaction, draft, fold, said, texts

MESSAGES = [user(f"m{n}") for n in range(30)]


def logged() -> tuple[MemoryStore, Originals]:
    store = MemoryStore()
    journal = store.create("s", format="neutral", about=b"{}")
    for message in MESSAGES:
        journal.append([said(message), draft("weather")])
    journal.append([compaction(fold(0, 20))])
    replay = resume(journal)
    items = replay.state.root.view.items()
    return store, Originals(journal, replay.places, count=30, shown=items)


def test_originals_are_read_by_ordinal_whether_shown_or_not() -> None:
    """Law TRACE: what a fold stands for is read from the log."""
    _, originals = logged()
    assert len(originals) == 30
    assert originals[3].text == "m3"
    assert originals[-1].text == "m29"
    assert [message.text for message in originals[18:24:2]] == ["m18", "m20", "m22"]
    assert list(originals[4:4]) == []
    with pytest.raises(IndexError):
        originals[30]


def test_what_a_view_shows_is_read_as_it_came_in_and_a_fold_stands_for_itself() -> None:
    """The facts of a result that was cleared are in its original."""
    store, originals = logged()
    items = resume(store.read("s")).state.root.view.items()
    shown = Shown(originals, items)
    assert (len(shown), shown[0].text, [m.text for m in shown[1:3]]) == (10, "folded", ["m21", "m22"])
    assert texts(items)[0] == "folded"


def test_the_address_of_a_span_that_grows_is_gone_on_with() -> None:
    """Law TRACE: the same address as made anew, and no message is read twice."""
    store, _ = logged()
    pages = store.read("s")
    spans = Spans(pages, resume(pages).places)
    for end in (1, 2, 5, 5, 30, 7):
        assert spans.address(0, end) == span_address([(n, received(MESSAGES[n])) for n in range(end)])
    for start in range(1, SPANS_MAX + 5):
        assert spans.address(start, 25) == span_address(
            [(n, received(MESSAGES[n])) for n in range(start, 25)]
        )
    assert [message.text for _, message in between(pages, {}, span=(2, 4))] == ["m2", "m3"]
