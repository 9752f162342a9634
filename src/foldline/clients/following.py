"""The conversations of one client, each found again by the longest known chain of messages.

    known    a b c d          the list goes on: e is appended, the session prepares, the request goes out
    request  a b c d e

    known    a b c d          d was answered and dropped, or said anew: it is taken back, x is appended
    request  a b c x

    known    a b c d          its newest message is said anew: it is taken back, with what was made of a b c kept
    request  a b c x y

    known    a b c d          another list that begins alike: a branch of its own, which costs nothing while it is short.
    request  a x              Gone on with while the first one rests, it takes its place in the session (a rollback)

Lists are compared by the bytes of their messages first, and by what these say where bytes differ (`digests`). The named session is
the first conversation's. Others pass as they are until a reduction may be due, and get a session of their own then. A request that
nothing was done for goes out as it came. Knows nothing of sockets and SDKs: a seat calls `outgoing`, `answered` and `refused`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Any, Final, Literal

from msgspec import Struct

from foldline.clients.calls import Call
from foldline.clients.chains import Chain, Link, ReadList, link_of
from foldline.clients.own_summaries import WHY as OWN_SUMMARY
from foldline.clients.own_summaries import is_own_summary
from foldline.clients.same_model import ON_ITS_WAY, on_its_way
from foldline.core.errors import FoldlineError, InvalidOption, SessionBusy, SessionExists
from foldline.core.message import Message
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.session.following import Following
from foldline.session.recovering import refused
from foldline.session.request import Prepared
from foldline.session.session import Session
from foldline.settings import Planned, plan_for
from foldline.wire.formats import codec

BRANCHES_MAX: Final = 64
"""Conversations beside the first that are known at a time; the one that rested longest is forgotten first."""
WHOLE_SLACK: Final = 1.05
"""A list is sent uncut where so many times its count fits: counters of ours and the provider's differ."""
FORKS_MAX: Final = 64
"""Forks that begin with the same message and are held at a time."""
SAID_ANEW_MAX: Final = 8
"""Messages before an answer that a client may have said otherwise when it sends the answer back."""
NAME_DIGITS: Final = 8
"""Of the digest in the name of a branch's session."""
WAIT_S_MAX: Final = 900.0
"""Longest wait for another request of the same conversation, while a model writes its summary: as long as for a piece of that."""
WITHIN: Final = "its conversation is being summed up"
ALWAYS_BYTES_MIN: Final = 4_000
"""Bytes of the shortest message that is shortened before a request of any size (requirement BUD-6)."""


class Ticket(Struct, kw_only=True):
    """A request that is on its way."""

    chain: Chain
    call: Call
    size: int
    """Links of the chain when it went out."""
    stamp: int = 0

    @property
    def is_late(self) -> bool:
        """True once the conversation has gone on, or was cut back."""
        return len(self.chain.links) != self.size or self.chain.stamp != self.stamp


class Found(Struct, frozen=True, kw_only=True):
    """The conversation that a list belongs to, or branches off."""

    chain: Chain
    count: int
    """So many of its messages are the list's."""
    how: Literal["goes on", "said anew", "branch"]


class Outgoing(Struct, frozen=True, kw_only=True):
    """What is sent."""

    ticket: Ticket
    messages: list[bytes] | None = None
    """In place of the caller's; `None`: as it came."""
    prepared: Prepared | None = None
    """What its session made of it; `None` while it has none."""


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
    recalls: bool = False
    """Whether reduced requests have the tool `recall`; whoever delivers answers asks `recalled` of each then."""
    plan: Callable[[str | None], Planned] = plan_for
    """The numbers of a model."""


class Conversations:
    """Of one client. Safe to use from several threads; whatever waits for a disk is called off the event loop by its seat.

    One lock for what is known of the lists, free while a session prepares: a summary takes a model minutes, and holds up its own
    conversation alone.
    """

    def __init__(self, terms: Terms, *, name: str = "", session: Session | None = None) -> None:
        self._terms, self._name = terms, name
        self._open, self._policy, self._model = terms.open, terms.policy, terms.model
        self._first = Chain(kept=None if session is None else Following(session))
        self._first_is_read = False
        self._branches: list[Chain] = []
        self._now = 0
        self._lock = Condition()
        self.report: Report | None = None
        """Of the last request that a session prepared."""
        self.passed: dict[str, int] = {}
        """Requests that were none of ours, by why."""

    @property
    def session(self) -> Session | None:
        """The first conversation's, once there is one."""
        return self._first.kept.session if self._first.kept is not None else None

    def close(self) -> None:
        """Close every session."""
        with self._lock:
            for chain in (self._first, *self._branches):
                if chain.kept is not None:
                    chain.kept.session.close()

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────

    def outgoing(self, call: Call) -> Outgoing | None:
        """What goes out for a request; `None` for one that is none of ours. Raises what opening and preparing raise."""
        why = call.passes_because
        if why:
            self.passed[why] = self.passed.get(why, 0) + 1
            return None
        read = ReadList(call)
        if is_own_summary(read.message(len(read) - 1)) and self._fits_whole(read):
            self.passed[OWN_SUMMARY] = self.passed.get(OWN_SUMMARY, 0) + 1
            return None
        with self._lock:
            chain = self._chain(read)
            if chain is None:
                self.passed[WITHIN] = self.passed.get(WITHIN, 0) + 1
                return None
            self._extend(chain, read)
            chain.used = self._now
            chain.is_busy = True
            call, chain.before_recall = self._with_recall(chain, call), -1
        with self._busy(chain), on_its_way(call):
            ticket = Ticket(chain=chain, call=call, size=len(chain.links), stamp=chain.stamp)
            prepared = self._prepared(chain, call)
            if prepared is None or (chain.kept is not None and chain.kept.is_whole()):
                return Outgoing(ticket=ticket, prepared=prepared)
            ticket.call = self._with_recall(chain, call)
            shown = self._shown(chain, read, prepared=prepared)
            return Outgoing(ticket=ticket, messages=shown, prepared=prepared)

    def _with_recall(self, chain: Chain, call: Call) -> Call:
        """The tool goes along from the first reduction on, which breaks the prefix anyway, and with every request after it."""
        is_reduced = chain.kept is not None and not chain.kept.is_whole()
        return call.with_recall() if self._terms.recalls and is_reduced else call

    @contextmanager
    def _busy(self, chain: Chain) -> Iterator[None]:
        """While its session does what may take long; who marked it so holds the lock no more."""
        try:
            yield
        finally:
            with self._lock:
                chain.is_busy = False
                self._lock.notify_all()

    def counted(self, call: Call) -> list[bytes] | None:
        """What would be sent of a list that is only counted; `None`: as it came. Nothing is taken in."""
        read = ReadList(call)
        with self._lock:
            counts = [(read.common(chain), chain) for chain in (self._first, *self._branches)]
            count, chain = max(counts, key=lambda pair: pair[0])
            kept = chain.kept
            if kept is None or kept.is_whole() or count < len(chain.links) - chain.answers:
                return None
            places = {link.ordinal: place for place, link in enumerate(chain.links[:count])}
            unsaid = {link.ordinal for link in chain.links[count:]}
            shown = self._written(call, kept.view(places, without=unsaid))
            return [*call.messages[: call.leading], *shown, *call.messages[call.leading + count :]]

    def _fits_whole(self, read: ReadList) -> bool:
        """True where a list can be sent uncut: an agent that sums up its own conversation is to see all of it."""
        planned = self._terms.plan(self._model or read.call.model)
        room = planned.window - (read.call.output_cap or planned.output_max or 0)
        return read.size <= room or read.tokens(planned.counter) * WHOLE_SLACK <= room

    def _prepared(self, chain: Chain, call: Call) -> Prepared | None:
        kept = chain.kept
        if kept is None:
            return None
        model = self._model or call.model
        if model is not None and model != kept.session.model:
            kept.session.use(model)
        prepared = kept.session.prepare(system=call.system, tools=call.tools)
        self.report = prepared.report
        return prepared

    def _shown(self, chain: Chain, read: ReadList, *, prepared: Prepared) -> list[bytes]:
        """The messages to send, in bytes: the caller's own, and what the session put in the place of others."""
        kept, call = chain.kept, read.call
        assert kept is not None, "who prepared has a session"
        places = {link.ordinal: place for place, link in enumerate(chain.links)}
        return [*call.messages[: call.leading], *self._written(call, kept.shown(prepared, places))]

    def _written(self, call: Call, shown: Iterable[int | Message]) -> list[bytes]:
        writer, own = codec(call.format), call.messages[call.leading :]
        return [own[one] if isinstance(one, int) else writer.encode_bytes(one) for one in shown]

    # ── which conversation ───────────────────────────────────────────────────────────────────────────────────

    def _chain(self, read: ReadList) -> Chain | None:
        """The conversation that a list belongs to, cut back to what is known of it, once no other request of it prepares. `None`
        for a request that is made while it is: it cannot wait for itself."""
        self._read_first(read.call)
        found = self._found(read)
        while any(chain.is_busy for chain in self._touched(found)):
            if ON_ITS_WAY.get() is not None or not self._lock.wait(WAIT_S_MAX):
                return None
            found = self._found(read)
        self._now += 1
        match found.how:
            case "goes on":
                return self._gone_on(found.chain, found.count, further=len(read) > len(found.chain.links))
            case "said anew":
                self._cut_back(found.chain, found.count)
                return found.chain
            case "branch":
                return self._branch(found.chain, found.count)

    def _found(self, read: ReadList) -> Found:
        """Where a list goes on, or branches off. Changes nothing but what is known of spellings."""
        chains = [self._first, *self._branches]
        known = [read.common(chain) for chain in chains]
        most = max(known)
        for chain, count in zip(chains, known, strict=True):
            goes_on = count >= len(chain.links) - chain.answers
            if count == most and goes_on and (count or chain is self._first):
                return Found(chain=chain, count=count, how="goes on")
        nearest = chains[known.index(most)]
        anew = _is_said_anew(nearest, most, read=read)
        return Found(chain=nearest, count=most, how="said anew" if anew else "branch")

    def _touched(self, found: Found) -> tuple[Chain, ...]:
        """What is changed where a list goes on; a branch reads its parent alone."""
        if found.how == "branch":
            return ()
        return (found.chain, self._first) if found.chain.parent is self._first else (found.chain,)

    def _gone_on(self, chain: Chain, count: int, *, further: bool) -> Chain:
        """A conversation that goes on: an answer that came back otherwise is taken back; a branch that goes further while
        the first one rests takes its place."""
        if count < len(chain.links):
            if chain.kept is not None:
                chain.kept.session.rollback(to=chain.before_answer)
            del chain.links[count:]
            chain.stamp += 1
        chain.answers = 0
        rests = further and chain.parent is self._first and self._first.used < chain.born
        if rests and self._terms.is_known is None and chain.kept is None and self._first.kept is not None:
            return self._promoted(chain)
        return chain

    def _promoted(self, branch: Chain) -> Chain:
        """The first conversation, with the branch in the place of what came after the two parted."""
        first = self._first
        assert first.kept is not None, "what has no session has nothing to go back in"
        at = next((n for n, link in enumerate(branch.links) if link.seq < 0), len(branch.links))
        self._cut_back(first, at)
        self._branches.remove(branch)
        return first

    def _cut_back(self, chain: Chain, count: int) -> None:
        """Back to so many messages, which keep what was made of them since."""
        seq, ordinal = (chain.links[count - 1].seq, chain.links[count - 1].ordinal) if count else (-1, -1)
        if chain.kept is not None:
            made = chain.kept.made_since(seq, ordinal=ordinal)
            chain.kept.session.rollback(to=seq)
            chain.remade = chain.kept.make_again(
                made
            )  # here if it can be: then it stays when this is said anew too
        del chain.links[count:]
        chain.answers, chain.stamp = 0, chain.stamp + 1

    def _branch(self, parent: Chain, count: int) -> Chain:
        links = [
            Link(raw=link.raw, said=link.said, loose=link.loose, seq=link.seq, ordinal=link.ordinal)
            for link in parent.links[:count]
        ]
        branch = Chain(links=links, parent=parent, born=self._now)
        self._branches.append(branch)
        if len(self._branches) > BRANCHES_MAX:
            resting = [chain for chain in self._branches[:-1] if not chain.is_busy]
            gone = min(resting or [branch], key=lambda chain: chain.used)
            self._branches.remove(gone)
            if gone.kept is not None:
                gone.kept.session.close()
                gone.kept = None
        return branch

    def _read_first(self, call: Call) -> None:
        """Open the named session, and read what it knows from before."""
        if self._first_is_read:
            return
        is_known = self._terms.is_known
        if self._first.kept is None and self._name and (is_known is None or is_known(self._name)):
            self._first.kept = Following(self._open(self._name, call))
        if self._first.kept is not None:
            self._first.remember(self._first.kept.kept())
        self._first_is_read = True

    # ── what is new ──────────────────────────────────────────────────────────────────────────────────────────

    def _extend(self, chain: Chain, read: ReadList) -> None:
        """Take in what the list has beyond what is known; in the log first, so that what failed there is not known here."""
        start = len(chain.links)
        links = [read.link(place) for place in range(start, len(read))]
        if chain.kept is not None:
            made = chain.kept.take([read.message(place) for place in range(start, len(read))])
            for link, one in zip(links, made, strict=True):
                link.seq, link.ordinal = one.seq, one.ordinal
        if links:
            chain.links += links
            chain.steady = start
        if chain.kept is None and self._may_be_due(read):
            self._own_session(chain, read)
        if chain.kept is not None and chain.remade:
            chain.kept.make_again(chain.remade)
            chain.remade = []

    def _append(self, chain: Chain, kept: Following, *, read: ReadList, start: int) -> None:
        made = kept.take([read.message(place) for place in range(start, len(read))])
        for link, one in zip(chain.links[start:], made, strict=True):
            link.seq, link.ordinal = one.seq, one.ordinal

    def _may_be_due(self, read: ReadList) -> bool:
        """True where a reduction cannot be ruled out: no token is shorter than a byte."""
        planned = self._terms.plan(self._model or read.call.model)
        whens = {tier.when for tier in self._policy.tiers}
        always = read.longest >= ALWAYS_BYTES_MIN and "always" in whens
        blind = "blind" in whens and not planned.is_window_known
        line = self._policy.threshold
        return always or blind or line.is_reached(read.size, planned.window, output_max=planned.output_max)

    def _own_session(self, chain: Chain, read: ReadList) -> None:
        """A session for a conversation that has none: a fork where it branched off one that has, its own else."""
        at = next((n for n, link in enumerate(chain.links) if link.seq < 0), 0)
        parent = chain.parent.kept if chain.parent is not None and at else None
        mark = chain.links[min(at, len(chain.links) - 1)].said.hex()[:NAME_DIGITS]
        name = f"{self._name}.{mark}" if self._name and chain is not self._first else self._name
        if parent is not None and self._name:
            last = chain.links[at - 1]
            kept, is_new = self._forked(parent, name, at=last.seq, call=read.call)
            if is_new:
                chain.remade = kept.make_again(parent.made_since(last.seq, ordinal=last.ordinal))
        else:
            kept = Following(self._open(name, read.call))
        known = [link_of(one) for one in kept.kept()]
        count = read.common(Chain(links=known))
        if count < len(known):
            kept.session.rollback(to=known[count - 1].seq if count else -1)
        for place, link in enumerate(known[:count]):
            chain.links[place].seq, chain.links[place].ordinal = link.seq, link.ordinal
        chain.kept = kept
        self._append(chain, kept, read=read, start=count)

    def _forked(self, parent: Following, name: str, *, at: int, call: Call) -> tuple[Following, bool]:
        """The fork of that name, new (then it is true) or gone on with after a restart; under a further name where another one
        holds it; a session of its own where forks go no deeper."""
        for named in (name, *(f"{name}.{n}" for n in range(2, FORKS_MAX + 1))):
            try:
                return Following(parent.session.fork(named, at=at)), True
            except SessionExists:
                pass
            except InvalidOption:
                return Following(self._open(named, call)), False
            try:
                return Following(self._open(named, call)), False
            except SessionBusy:
                continue
        raise SessionBusy(name)

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────

    def answered(self, ticket: Ticket, response: Any) -> None:
        """Take in what was answered, whole. Nothing where the conversation has gone on meanwhile."""
        with self._lock:
            chain = ticket.chain
            if ticket.is_late or chain.kept is None or chain.is_busy:
                return
            before = chain.before_recall if chain.before_recall >= 0 else chain.kept.seq
            made = chain.kept.record(response)
            chain.links += [link_of(one) for one in made]
            chain.answers, chain.before_answer = len(made), before

    def recalled(self, ticket: Ticket, response: Any) -> Outgoing | None:
        """Where an answer calls `recall`: the request that goes on with what was recalled. Neither is the caller's to see; both
        stand in the session. `None` for an answer to be delivered."""
        chain, read = ticket.chain, ReadList(ticket.call)
        with self._lock:
            if ticket.is_late or chain.is_busy or chain.kept is None or not self._terms.recalls:
                return None
            before = chain.kept.seq
            if not chain.kept.recall(response):
                return None
            chain.before_recall = before if chain.before_recall < 0 else chain.before_recall
            chain.is_busy = True
        with self._busy(chain), on_its_way(ticket.call):
            prepared = self._prepared(chain, ticket.call)
            assert prepared is not None, "it has a session"
            shown = self._shown(chain, read, prepared=prepared)
            return Outgoing(ticket=ticket, messages=shown, prepared=prepared)

    def refused(self, ticket: Ticket, status: int | None, *, body: Any) -> Outgoing | None:
        """After a refusal, before anything was delivered: what to send once more, or `None` to let the refusal through. One
        recovery and one retry, at most once until the next answer (requirements REA-1, REA-2)."""
        told = refused(body, status=status)
        if not (told.is_about_reasoning or (told.names_compaction and self._policy.is_reactive)):
            return None
        chain, read = ticket.chain, ReadList(ticket.call)
        with self._lock:
            if ticket.is_late or chain.is_busy:
                return None  # the conversation has gone on, or goes on at this moment
            chain.is_busy = True
        with self._busy(chain), on_its_way(ticket.call):
            try:
                if chain.kept is None:
                    with self._lock:
                        self._own_session(chain, read)
                    self._prepared(chain, ticket.call)
                assert chain.kept is not None, "it has one now"
                prepared = chain.kept.session.recover(body, status=status)
            except FoldlineError:
                return None  # the view is as it was, and the refusal says what is wrong (requirement REA-4)
            self.report = prepared.report
            shown = self._shown(chain, read, prepared=prepared)
            return Outgoing(ticket=ticket, messages=shown, prepared=prepared)


def _is_said_anew(chain: Chain, count: int, *, read: ReadList) -> bool:
    """True for a list that differs only in what the last request brought, and has its answer behind that: of a client that puts the
    time or a reminder behind its newest message, and takes it away again."""
    if not (chain.answers and 0 < chain.steady <= count):
        return False
    last = min(len(read) - chain.answers, count + SAID_ANEW_MAX)
    return any(read.answers_at(place, chain) for place in range(count, last + 1))
