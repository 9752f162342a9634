"""The view: appending costs nothing that was paid before, and an older view never changes."""

from __future__ import annotations

from foldline.core.view import Item, Span, View, item_of, view_of
from foldline.testing.builders import user
from foldline.testing.counting import CharacterCounter

COUNTER = CharacterCounter()


def item(seq: int, text: str = "text") -> Item:
    """An item with its weights."""
    message = user(text)
    weights, overhead = COUNTER.weights(message)
    return item_of(seq, message, weights=weights, overhead=overhead)


def test_an_item_weighs_its_parts_and_its_envelope() -> None:
    """A view adds up weights that came in; it never counts."""
    assert item_of(0, user("a"), weights=(3, 4), overhead=5).tokens == 12


def test_a_view_grows_at_its_end_and_keeps_a_running_total() -> None:
    """Checking is O(new messages): the total is kept, never recounted."""
    view = View()
    for seq in range(5):
        view = view.append(item(seq, "x" * seq))
    assert len(view) == 5
    assert [i.seq for i in view] == [0, 1, 2, 3, 4]
    assert view.tokens == sum(i.tokens for i in view) == sum(COUNTER.message(i.message) for i in view)
    assert view.next_seq == 5
    assert view.items() == tuple(view)


def test_an_older_view_stays_what_it_was_while_newer_ones_grow() -> None:
    """Views share one tail; each sees its own length of it."""
    first = View().append(item(0))
    second = first.append(item(1))
    assert [i.seq for i in first] == [0]
    assert [i.seq for i in second] == [0, 1]
    assert first.tail is second.tail


def test_two_views_that_go_on_from_the_same_one_do_not_see_each_other() -> None:
    """The second to append branches: it copies the tail instead of writing over the first one's."""
    root = View().append(item(0, "root"))
    left, right = root.append(item(1, "left")), root.append(item(1, "right"))
    left = left.append(item(2, "left again"))
    assert [i.message.text for i in left] == ["root", "left", "left again"]
    assert [i.message.text for i in right] == ["root", "right"]
    assert [i.message.text for i in root] == ["root"]


def test_a_view_over_a_head_goes_on_behind_it() -> None:
    """An edit makes a head; what is appended later stands behind it."""
    view = view_of((item(3), item(9))).append(item(10))
    assert [i.seq for i in view] == [3, 9, 10]
    assert len(view) == 3
    assert view.items() == tuple(view)


def test_the_next_ordinal_follows_the_last_item_unless_the_log_is_longer() -> None:
    """A message taken out at the end keeps its ordinal for ever."""
    assert view_of((item(3),)).next_seq == 4
    assert view_of((item(3),), next_seq=8).next_seq == 8
    assert view_of(()).next_seq == 0


def test_a_span_is_as_long_as_the_ordinals_in_it() -> None:
    """Spans are half-open, and sort by where they begin."""
    assert len(Span(start=4, end=9)) == 5
    assert sorted([Span(start=4, end=9), Span(start=1, end=2)])[0].start == 1


def test_a_view_is_looked_at_from_where_one_was_the_last_time() -> None:
    """What is behind the first few, over the head and the tail, and from the end."""
    view = view_of((item(3), item(9))).append(item(10)).append(item(11))
    seqs = [3, 9, 10, 11]
    for count in range(6):
        assert [i.seq for i in view.since(count)] == seqs[count:]
    assert [i.seq for i in reversed(view)] == seqs[::-1]


def test_a_view_extends_the_ones_it_went_on_from() -> None:
    """By `append` alone: an edit, a branch and another history with the same messages do not count."""
    root = view_of((item(0),))
    longer = root.append(item(1)).append(item(2))
    assert longer.extends(root)
    assert longer.extends(longer)
    assert not root.extends(longer)
    assert not root.append(item(1)).extends(longer)
    assert not view_of(longer.items()).extends(root)
    assert not View().extends(View())
