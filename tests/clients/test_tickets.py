"""What is sent for a request: its messages, and a cap on the output where the caller's own leaves no room."""

from __future__ import annotations

from foldline.clients.chains import Chain
from foldline.clients.tickets import Outgoing, Ticket, apart
from foldline.wire import strict
from tests.clients.lists import call, user


def test_a_ticket_is_late_once_its_conversation_went_on_or_was_cut_back() -> None:
    """Two samples of one request: the list says which one counts."""
    chain = Chain()
    ticket = Ticket(chain=chain, call=call([user("a")]), size=0)
    told = [ticket.is_late]
    chain.stamp += 1
    assert [*told, ticket.is_late] == [False, True]
    assert Ticket(chain=chain, call=call([user("a")]), size=1, stamp=1).is_late


def test_a_body_is_the_callers_own_where_nothing_was_done() -> None:
    """LOSSLESS: `None` says so; other messages stand under the caller's own key."""
    asked = call([user("a")], temperature=0)
    ticket = Ticket(chain=Chain(), call=asked, size=1)
    assert Outgoing(ticket=ticket).body is None
    assert Outgoing(ticket=ticket).changed == {}
    body = Outgoing(ticket=ticket, messages=[b'{"role":"user","content":"b"}']).body
    assert strict.parse(strict.dump(body)) == {**asked.body, "messages": [user("b")]}


def test_what_no_conversation_goes_on_with_goes_out_as_it_came() -> None:
    """An agent's own summary, and a short request of conversations without a session."""
    left = apart(call([user("a")]), why="told")
    assert (left.body, left.why, left.ticket.is_apart, left.ticket.chain.links) == (None, "told", True, [])
