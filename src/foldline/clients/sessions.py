"""The sessions of a client's conversations: when one is begun, under which name, and with what is known from before.

Owns names, forks and the opening of logs; knows no turns and changes no chain. Counterpart: `foldline.clients.following`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import takewhile
from typing import Any, Final

from msgspec import Struct

from foldline.clients.calls import Call
from foldline.clients.chains import Chain, Link, ReadList, Unreadable, link_of, new_link, reported_in
from foldline.clients.due import Due
from foldline.clients.tickets import Ticket
from foldline.core.errors import FoldlineError, InvalidOption, SessionBusy, SessionExists
from foldline.core.message import Message
from foldline.engine.policy import Policy
from foldline.session.following import Following, Kept, Made
from foldline.session.session import Session
from foldline.settings import Planned, plan_for
from foldline.wire.response import read_response

WHOLE_SLACK: Final = 1.05
"""A list is sent uncut where so many times its count fits: counters of ours and the provider's differ."""
FORKS_MAX: Final = 64
"""Sessions whose names differ by a number alone and that are held at a time."""
NAME_DIGITS: Final = 8
"""Of the digest in the name of a branch's session."""

Open = Callable[[str, Call], Session]
"""Opens the session of that name, for requests like this one; an empty name is one in memory."""


class Terms(Struct, frozen=True, kw_only=True):
    """On what terms a client's sessions are kept."""

    open: Open
    policy: Policy
    model: str | None = None
    """Whose window is planned with; `None`: the one that a request names."""
    is_known: Callable[[str], bool] | None = None
    """Says whether there is a session of that name. Given, a session is begun only once a reduction may be due, and one
    that there is is gone on with at once; left out, the named session is opened with the first request."""
    names: Callable[[], Iterable[str]] = tuple
    """The names of all sessions that there are."""
    numbers: bool = False
    """Whether a session is begun under a number where another process holds the named one; left out, that is an error."""
    recalls: bool = False
    """Whether reduced requests have the tool `recall`; whoever delivers answers asks `recalled` of each then."""
    is_native: bool = False
    """Whether the provider's own service may do what the policy has for it; the first conversation has a session from the first request
    on then, which asks it."""
    plan: Callable[[str | None], Planned] = plan_for
    """The numbers of a model."""


class Begun(Struct, frozen=True, kw_only=True):
    """A session that holds all of a list."""

    kept: Following
    name: str
    places: list[tuple[int, int, frozenset[bytes]]]
    """Of each message entry and ordinal, and what it is known by where its caller has more in one."""
    remade: list[Made]
    """What was made of its beginning elsewhere, and could not be made again yet."""


class _Opened:
    """A session, and the messages it holds."""

    def __init__(self, *, name: str, kept: Following) -> None:
        held = kept.kept()
        self.name, self.kept = name, kept
        self.links = [link_of(one) for one in held]
        answers = takewhile(lambda one: one.message.role == "assistant", reversed(held))
        self.asked = len(held) - sum(1 for _ in answers)
        """So many of them were sent for sure; an answer at the end may have been dropped, or be on its way back."""

    def on(self, read: ReadList) -> int:
        """How many of its messages the list begins with."""
        return read.common(Chain(links=self.links))


def _gone_on(opened: _Opened, read: ReadList, *, remade: Sequence[Made] = ()) -> Begun:
    """The session with all of the list in it, and nothing that is not on it."""
    kept, known = opened.kept, opened.links
    count = opened.on(read)
    if count < len(known):
        kept.session.rollback(to=known[count - 1].seq if count else -1)
    places = [(link.seq, link.ordinal, link.merged) for link in known[:count]]
    places += [(one.seq, one.ordinal, frozenset()) for one in taken(kept, read.messages(count))]
    return Begun(kept=kept, name=opened.name, places=places, remade=list(remade))


class Sessions:
    """Of one client."""

    def __init__(self, terms: Terms, *, name: str) -> None:
        self._terms, self.name = terms, name
        self.due = Due(terms.policy, self._planned)

    def _planned(self, read: ReadList) -> Planned:
        return self._terms.plan(self._terms.model or read.call.model)

    def first(self, call: Call) -> Following | None:
        """The named session, where there is one before a reduction may be due."""
        is_known = self._terms.is_known
        if self._terms.is_native and is_known is None:
            return Following(self._terms.open(self.name, call))
        if not self.name or (is_known is not None and not is_known(self.name)):
            return None
        try:
            return Following(self._terms.open(self.name, call))
        except SessionBusy:
            if not self._terms.numbers:
                raise
            return None

    def fits_whole(self, read: ReadList) -> bool:
        """True where a list can be sent uncut: an agent that sums up its own conversation is to see all of it."""
        planned = self._planned(read)
        room = min(planned.window, planned.window_shared - (read.call.output_cap or planned.output_max or 0))
        return read.size <= room or read.tokens(planned.counter) * WHOLE_SLACK <= room

    def is_needed(self, chain: Chain, read: ReadList, *, is_first: bool) -> bool:
        """True for a list whose session is begun before its request goes out: a reduction may be due, or, of a branch, soon: it keeps what
        was made of what it shares then."""
        reported = chain.most_reported(read)
        if self.due.may_be(read, reported=reported):
            return True
        return not is_first and self.due.may_be_soon(read, reported=reported)

    def is_needed_soon(self, call: Call, *, answered: Sequence[tuple[Message, Link]]) -> bool:
        """True where a session is begun behind the answer, so that the request which needs it need not wait for that."""
        return self.due.may_be_soon(ReadList(call), reported=reported_in(answered))

    def keeps(self, ticket: Ticket) -> bool:
        """True for a conversation that has a session, or would be given one behind the answer to this request."""
        soon = ticket.may_begin and self.is_needed_soon(ticket.call, answered=())
        return ticket.chain.kept is not None or soon

    def begun(self, chain: Chain, read: ReadList, *, is_first: bool) -> Begun:
        """A session for a conversation that has none: a fork where it branched off one that has, its own else."""
        at = next((n for n, link in enumerate(chain.links) if link.seq < 0), len(chain.links))
        there = frozenset() if is_first or not self.name else frozenset(self._terms.names())
        if (found := self._found(chain, read, among=there)) is not None:
            return _gone_on(found, read)
        parent = chain.parent if chain.parent is not None and at else None
        name = (
            self.name
            if is_first or not self.name
            else self._marked(chain.links[min(at, len(chain.links) - 1)])
        )
        remade: list[Made] = []
        stood = None if parent is None else parent.stood(chain.links)
        last = chain.links[at - 1]
        kept = None if parent is None or not self.name else parent.kept
        fork = None if kept is None else (kept.session, last.seq if stood is None else stood)
        opened, is_fork = self._opened(self._free(name, there), read, fork=fork)
        if is_fork and kept is not None and stood is None:
            remade = opened.kept.make_again(kept.made_since(last.seq, ordinal=last.ordinal))
        return _gone_on(opened, read, remade=remade)

    def _marked(self, link: Link) -> str:
        """The name of a branch that parts from what is known with this message."""
        return f"{self.name}.{link.says().hex()[:NAME_DIGITS]}"

    def _found(self, chain: Chain, read: ReadList, *, among: Set[str]) -> _Opened | None:
        """The session of a branch that was begun before a restart: the one of which all is on the list, and most of the list in it. It
        bears the mark of a message of the list; what does not match is left as it is."""
        marks = {self._marked(link) for link in chain.links}
        found: _Opened | None = None
        most = 0
        for name in sorted(among):
            if name not in marks and name.rpartition(".")[0] not in marks:
                continue
            try:
                opened: _Opened | None = _Opened(name=name, kept=Following(self._terms.open(name, read.call)))
            except FoldlineError:
                continue  # another conversation holds it, or it cannot be read
            assert opened is not None, "it was opened"
            count = opened.on(read)
            if opened.asked <= count > most:
                most, found, opened = count, opened, found
            if opened is not None:
                opened.kept.session.close()
        return found

    def _free(self, name: str, there: Set[str]) -> Iterator[str]:
        """Names that no session has, the given one first."""
        numbered = (f"{name}.{n}" for n in range(2, len(there) + FORKS_MAX + 1))
        return (one for one in (name, *numbered) if one not in there)

    def _opened(
        self, names: Iterable[str], read: ReadList, *, fork: tuple[Session, int] | None
    ) -> tuple[_Opened, bool]:
        """The session of the first name that nobody holds, as a new fork (then it is true), new, or the named one after a restart.
        `fork`: of which one, from which entry on."""
        for name in names:
            try:
                forked = None if fork is None else self._forked(name, fork)
                kept = Following(forked or self._terms.open(name, read.call))
                return _Opened(name=name, kept=kept), forked is not None
            except SessionBusy:
                if name == self.name and not self._terms.numbers:
                    raise
        raise SessionBusy(self.name)

    @staticmethod
    def _forked(name: str, fork: tuple[Session, int]) -> Session | None:
        """The fork of that name; `None` where there is one already, or forks go no deeper."""
        try:
            return fork[0].fork(name, at=fork[1])
        except (SessionExists, InvalidOption):
            return None


def recorded(kept: Following | None, response: Any, *, format: str) -> list[tuple[Message, Link]]:
    """What was answered, taken in where there is a session. Raises as `Session.record`."""
    if kept is not None:
        return [(one.message, link_of(one)) for one in kept.record(response)]
    return [(one, new_link(one)) for one in read_response(response, format=format).messages]


def taken(kept: Following, messages: list[Message]) -> list[Kept]:
    """Messages, taken in. Raises `Unreadable` for what no log takes; nothing was written then."""
    try:
        return kept.take(messages)
    except InvalidOption as error:
        raise Unreadable("its messages cannot be kept here") from error
