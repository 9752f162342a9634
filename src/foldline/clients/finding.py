"""Which conversation a request's list belongs to, of those that are known: what it goes on, says anew, takes the place of or leaves.

    known      a b c d      e f         lists that are known
    request    a b c x                  shares three with the first and has not all of it: a branch
    then       a b c x y                goes on from the branch; `a b` would too, had it been asked for since
    once more  a b                      of a task that is run again: a branch of the first run, and its next list goes on from that

Compares and decides, and changes nothing but a branch that is made. Knows no log and no turn; its counterpart is
`foldline.clients.following`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from foldline.clients.chains import NOT_YET, Chain, ReadList, merged

SAID_ANEW_MAX: Final = 8
"""Messages before an answer that a client may have said otherwise when it sends the answer back."""


class Found(Struct, frozen=True, kw_only=True):
    """The conversation that a list belongs to, or branches off."""

    chain: Chain
    count: int
    """So many of its messages are the list's."""
    how: Literal["goes on", "said anew", "branch"]
    into: Chain | None = None
    """The conversation whose place it takes: one that rests, of a branch that goes on; one without a session, of a new branch."""

    @property
    def changed(self) -> tuple[Chain, ...]:
        """What is changed for the list; a branch reads its parent alone."""
        own = () if self.how == "branch" else (self.chain,)
        return own if self.into is None else (*own, self.into)

    def branched(self, read: ReadList, *, now: int) -> Found:
        """The conversation of its own that a branch is: a new one, or the one whose place it takes, which begins anew where its answer
        was dropped."""
        chain = self.into or Chain(born=now)
        if read.common(chain) < len(chain.links):
            chain.born, chain.reported = now, 0
        chain.branch_off(self.chain, self.count)
        return replace(self, chain=chain, how="goes on", into=None)

    @property
    def asked(self) -> int:
        """Messages of the conversation without its last answer."""
        return len(self.chain.links) - self.chain.answers

    @property
    def is_answered(self) -> bool:
        """True where the list has all of the conversation, its last answer too."""
        return self.count == len(self.chain.links)


def found(read: ReadList, chains: Sequence[Chain], *, takes_places: bool = True) -> Found:
    """Where a list goes on, or branches off. What goes on from a conversation that is known is that one's, though another may have more
    of the list: a task that is run once more shares all of its first run, and goes on from its own. `takes_places`: false where a
    branch stays one, though the other rests."""
    known = [Found(chain=chain, count=read.common(chain), how="goes on") for chain in chains]
    nearest = max(known, key=lambda one: one.count)
    own = _own(known, nearest, read=read)
    if own is None:
        return replace(nearest, how="branch")
    is_behind = own.count < nearest.count
    if takes_places and own.how == "goes on" and (own.is_answered or not is_behind):
        own = replace(own, into=_place_taken(own.chain, read))
    if is_behind and own.into is None and own.chain.kept is None and own.chain is not chains[0]:
        return replace(nearest, how="branch", into=own.chain)
    return own


def _own(known: Sequence[Found], nearest: Found, *, read: ReadList) -> Found | None:
    """The conversation that a list goes on, or says anew: the one that has most of it. `None` where it is none's."""
    going = [one for one in known if one.count >= one.asked and (one.count or one is known[0] is nearest)]
    gone_on = _gone_on(going, read) if len(going) > 1 else next(iter(going), None)
    least = 0 if gone_on is None else gone_on.count
    anew = [
        replace(one, how="said anew")
        for one in known
        if (one.count > least or (gone_on is None and one is nearest))
        and _is_said_anew(one.chain, one.count, read=read)
    ]
    return max(anew, key=_by_count, default=gone_on)


def _gone_on(going: Sequence[Found], read: ReadList) -> Found:
    """Of several conversations that a list goes on, one that had the request before it, and whose answer came back; else one that had this
    one already; else the one that has most of it. One that rests since another of them was begun is an earlier run's, which ended here.
    One that has a session goes first, then the one that waited longest."""
    before = read.asked_before()
    near = [one for one in going if one.asked >= before]
    near = [one for one in near if not any(_has_ended(one.chain, other.chain) for other in near)]
    close = [one for one in near if one.asked > before or one.is_answered]
    close = [one for one in close if one.chain.kept is not None] or close
    if close:
        return min(close, key=lambda one: (one.asked, one.chain.used))
    return max(near or going, key=_by_count)


def _has_ended(chain: Chain, other: Chain) -> bool:
    """True for one that rests since another was begun, which was gone on with: an earlier run, which ended here. Its session is taken all
    the same before one is begun for the other."""
    return chain.used < other.born < other.used and (other.kept is not None or chain.kept is None)


def _by_count(where: Found) -> tuple[int, int]:
    return where.count, where.chain.used


def _place_taken(chain: Chain, read: ReadList) -> Chain | None:
    """The conversation whose place a branch of it takes, if it does: it goes further, and the other one rests."""
    parent = chain.parent
    goes_further = len(read) > len(chain.links) - chain.answers
    if parent is None or chain.kept is not None or not goes_further:
        return None
    if parent.used == 0:
        return parent  # known from a log, and nobody's in this process: a program that begins anew under the name
    rests = parent.used < chain.born and parent.waiting is None and not parent.has_open_calls
    is_rewind = chain.shared > 0 and read.fixed.is_of_one_agent(parent.fixed)
    return parent if rests and is_rewind else None


def _is_said_anew(chain: Chain, count: int, *, read: ReadList) -> bool:
    """True for a list that differs only in what the last request brought, and has its answer behind that: of a client that puts the
    time or a reminder behind its newest message, and takes it away again, or that gives each answer a beginning."""
    asked = len(chain.links) - chain.answers
    if chain.merged and count == asked - 1 < len(read) and merged(read.message(count)) == chain.merged:
        return True
    is_its = chain.steady > 0 or chain.fixed in (NOT_YET, read.fixed)
    if not (chain.answers and chain.steady <= count and is_its):
        return False
    last = min(len(read) - chain.answers, count + SAID_ANEW_MAX)
    return any(read.answers_at(place, chain) for place in range(count, last + 1))
