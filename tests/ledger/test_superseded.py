"""What a later message strikes, and what is left."""

from __future__ import annotations

from foldline.ledger.superseded import Supersession, joined, left_of


def test_a_sentence_of_which_a_clause_is_struck_stands_with_its_rest() -> None:
    """The value alone falls: its neighbour was not changed."""
    assert left_of([(0, 20), (21, 40)], [(5, 12)]) == ((0, 5), (12, 20), (21, 40))
    assert left_of([(0, 20)], [(0, 20)]) == ()
    assert left_of([(0, 20)], [(0, 19)]) == ()


def test_what_two_messages_strike_is_put_together_as_the_second_does_it() -> None:
    """A clause within a sentence that falls is not said twice."""
    one = Supersession(ordinal=0, how="updated", spans=((5, 12),), stands=((0, 5), (13, 30)))
    two = Supersession(ordinal=0, how="withdrawn", spans=((0, 12),), stands=((13, 30),))
    both = joined(one, two)
    assert (both.how, both.spans, both.stands) == ("withdrawn", ((0, 12),), ((13, 30),))
