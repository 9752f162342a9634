"""The conversations of one client, each found again by what is known of its messages (`finding`).

    known    a b c d          the list goes on: e is appended, the session prepares, the request goes out
    request  a b c d e

    known    a b c d          d was answered and dropped, or said anew: it is taken back, x is appended
    request  a b c x

    known    a b c d          its newest message is said anew: it is taken back, with what was made of a b c kept
    request  a b c x y

    known    a b c d          another list that begins alike: a branch of its own, which costs nothing while it is short.
    request  a x              Gone on with while the first one rests, it takes its place in the session (a rollback)

A parent rests while no request of it came since, and none of its calls waits for a result. A branch is a rewind of it where the two
share messages, and the system prompt or the tools; else it is another agent's. The first list of a program may share nothing with
what a log of that name holds, and takes its place.

The named session is the first conversation's; others get sessions of their own (`sessions`). Until a reduction may be due lists pass as
they are. The first one's session is begun behind the answer after which one may be due soon, else with the request that needs it. A request
that nothing was done for goes out as it came.

Requests of one conversation have their turn one after another; those of others go on meanwhile. The client's lock is for what is
known of the lists (`chains`), and never held while a disk, a model or a turn is waited for. What needs one of these is a generator:
`outgoing` and `refused` wait, their twins await (`steps`). Links change after the log did; where that is not sure, the log is read
again with the next request, and a session that can no longer be used is opened again. Knows nothing of sockets and SDKs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from foldline.asking import adriven
from foldline.clients.calls import Call
from foldline.clients.chains import Chain, ReadList, Unreadable, link_of
from foldline.clients.finding import Found, found
from foldline.clients.own_summaries import IN_PART, WHY, sums_up
from foldline.clients.same_model import ON_ITS_WAY
from foldline.clients.sessions import Sessions, Terms, recorded, taken
from foldline.clients.showing import shown, would_show
from foldline.clients.steps import Preparing, Step, Waiting, aanswered, answered
from foldline.clients.tickets import RECALLS_MAX, TOLD_MAX, Outgoing, Ticket, apart
from foldline.clients.weights import tokens_came
from foldline.core.errors import CheckpointFailed, FoldlineError, InvalidOption, SessionFailed
from foldline.core.foreign import Raised, tried
from foldline.engine.driving import drive
from foldline.engine.report import Report
from foldline.session.following import Following
from foldline.session.recovering import refused
from foldline.session.request import Prepared
from foldline.session.session import Session

BRANCHES_MAX: Final = 64
"""Conversations beside the first that are known at a time; the one that rested longest is forgotten first."""
WITHIN: Final = "its conversation is being summed up"
NOT_RECALLED: Final = "a call of recall was not answered"
NOT_TAKEN_IN: Final = "an answer was delivered and not taken in"

_Going: TypeAlias = Generator[Step, Any, Outgoing | None]
_Told: TypeAlias = Generator[Step, Any, Outgoing | str]


class Conversations:
    """Of one client. Safe to use from several threads and tasks."""

    def __init__(self, terms: Terms, *, name: str = "", session: Session | None = None) -> None:
        self._terms = terms
        self._first = Chain(kept=None if session is None else Following(session))
        self._sessions = Sessions(terms, name=name)
        self._first_is_read = False
        self._apart = Chain()
        self._branches: list[Chain] = []
        self._now = 0
        self._lock, self._opening = Lock(), Lock()
        self.report: Report | None = None
        """Of the last request that a session prepared."""
        self.passed: dict[str, int] = {}
        """Requests that were none of ours, and answers that were not taken in, by why."""

    @property
    def session(self) -> Session | None:
        """The first conversation's, once there is one."""
        return self._first.kept.session if self._first.kept is not None else None

    def close(self) -> None:
        """Close every session."""
        with self._lock:
            chains = (self._first, *self._branches)
        for chain in chains:
            if chain.kept is not None:
                chain.kept.session.close()

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────

    def outgoing(self, call: Call) -> Outgoing | None:
        """What goes out for a request; `None` for one that is none of ours. Raises what opening and preparing raise."""
        told = self.told(call)
        return told if isinstance(told, Outgoing) else None

    def told(self, call: Call) -> Outgoing | str:
        """As `outgoing`; why, for a request that is none of ours."""
        return drive(self._going(ReadList(call)), answered)

    def told_at_once(self, call: Call) -> Outgoing | str | None:
        """As `told`, where nothing has to be waited for: no disk, no model and no other request; else `None`, and it is to be told. A
        short list of conversations that have no session goes out as it came, whichever it belongs to."""
        read = ReadList(call)
        with self._lock:
            chains = (self._first, *self._branches)
            rests = self._first_is_read and not any(one.kept or one.is_unsure for one in chains)
        if not rests or not self._sessions.due.is_short(read):
            return None
        return drive(self._going(read, is_apart=True), answered)

    async def aoutgoing(self, call: Call) -> Outgoing | None:
        """As `outgoing`, off the event loop; who writes a summary is awaited. Cancelled, it frees its conversation."""
        told = await adriven(self._going(ReadList(call)), aanswered)
        return told if isinstance(told, Outgoing) else None

    def refused(self, ticket: Ticket, status: int | None, *, body: Any) -> Outgoing | None:
        """After a refusal, before anything was delivered: what to send once more, at most once until the next answer; `None` to let
        the refusal through (requirements REA-1, REA-2)."""
        return drive(self._recovering(ticket, status, body=body), answered)

    async def arefused(self, ticket: Ticket, status: int | None, *, body: Any) -> Outgoing | None:
        """As `refused`, off the event loop."""
        return await adriven(self._recovering(ticket, status, body=body), aanswered)

    def _going(self, read: ReadList, *, is_apart: bool = False) -> _Told:
        try:
            passed = read.call.why_passed(is_native=self._terms.is_native)
            told = passed or (yield from self._followed(read, is_apart=is_apart))
        except Unreadable as error:
            told = str(error)
        why = told if isinstance(told, str) else told.why
        if why:
            self._count(why)
        return told

    def _followed(self, read: ReadList, *, is_apart: bool) -> _Told:
        if is_apart:
            read.all_of(0, fixed=self._apart.fixed)
            self._apart.fixed = read.fixed
        is_summary = sums_up(read)
        if is_apart or (is_summary and self._sessions.fits_whole(read)):
            return apart(read.call, why=WHY if is_summary else "")
        return (yield from self._gone_on(read))

    def _gone_on(self, read: ReadList) -> _Told:
        where, call = (yield from self._turn(read)), read.call
        if where is None:
            return WITHIN
        chain = where.into or where.chain
        try:
            with self._watched(chain):
                self._take(where, read)
                size, stamp = len(chain.links), chain.stamp
                may_begin = chain is self._first and not chain.kept and not self._sessions.due.is_short(read)
                prepared = yield from self._prepared(chain, self._with_recall(chain, call))
                call = self._with_recall(chain, call)
                ticket = Ticket(chain=chain, call=call, size=size, stamp=stamp, may_begin=may_begin)
                return self._made(ticket, read, prepared=prepared)
        finally:
            self._leave(where.changed)

    def _with_recall(self, chain: Chain, call: Call) -> Call:
        """The tool goes along from the first reduction on, which breaks the prefix anyway, and with every request after it."""
        is_reduced = chain.kept is not None and not chain.kept.is_whole()
        return call.with_recall() if self._terms.recalls and is_reduced else call

    def _recovering(self, ticket: Ticket, status: int | None, *, body: Any) -> _Going:
        told = refused(body, status=status)
        if not (
            told.is_about_reasoning
            or (self._terms.policy.is_reactive and told.may_shrink(has_session=self._sessions.keeps(ticket)))
        ):
            return None
        if ticket.is_apart:
            ticket = yield from self._found_after_all(ticket)
        chain, read = ticket.chain, ReadList(ticket.call)
        if not self._has_turn(ticket):
            return None  # the conversation has gone on meanwhile
        try:
            with self._watched(chain):
                if chain.kept is None:
                    self._begin(chain, read)
                    yield from self._prepared(chain, ticket.call)
                prepared = yield from self._prepared(chain, ticket.call, refusal=(status, body))
                assert prepared is not None, "who has a session prepares"
                return replace(self._made(ticket, read, prepared=prepared), cause=told.cause)
        except FoldlineError:
            return None  # the view is as it was, and the refusal says what is wrong (requirement REA-4)
        finally:
            self._leave((chain,))

    def _found_after_all(self, ticket: Ticket) -> Generator[Step, Any, Ticket]:
        """A summary of the agent's own that was to be sent whole and is too long for its provider: from here on a request of its
        conversation like any other, whose view ends with the instruction. The same ticket where it has no turn."""
        try:
            told = yield from self._gone_on(ReadList(ticket.call))
        except (FoldlineError, Unreadable):
            return ticket
        return told.ticket if isinstance(told, Outgoing) else ticket

    def _prepared(
        self, chain: Chain, call: Call, *, refusal: tuple[int | None, Any] | None = None
    ) -> Generator[Step, Any, Prepared | None]:
        kept = chain.kept
        if kept is None:
            return None
        model = self._terms.model or call.model
        if model is not None and model != kept.session.model:
            kept.session.use(model)
        told = yield Preparing(session=kept.session, call=call, refusal=refusal)
        if isinstance(told, Raised):
            raise told.error
        prepared: Prepared = told
        if prepared.lowered and call.with_output_cap(prepared.output_cap or 0) is call:
            prepared.uncapped()
        self.report = prepared.report
        return prepared

    def _made(self, ticket: Ticket, read: ReadList, *, prepared: Prepared | None) -> Outgoing:
        if prepared is None:
            return Outgoing(ticket=ticket)
        chain, tokens = ticket.chain, prepared.tokens.tokens
        messages = shown(chain, read, prepared=prepared)
        came = tokens if messages is None else tokens_came(chain, read, tokens_sent=tokens)
        why = IN_PART if messages is not None and sums_up(read) else ""
        return Outgoing(ticket=ticket, messages=messages, prepared=prepared, why=why, tokens_came=came)

    def counted(self, call: Call, *, only_too_long: bool = False) -> list[bytes] | None:
        """What would be sent of a list that is only counted; `None`: as it came. Nothing is taken in. `only_too_long`: as it came where
        it fits the window too."""
        read = ReadList(call)
        if only_too_long and self._sessions.fits_whole(read):
            return None
        with self._lock:
            where = self._found(read)
            chain, links = where.chain, where.chain.links
        return would_show(chain, read, links=links, count=where.count) if where.how == "goes on" else None

    def _count(self, why: str) -> None:
        with self._lock:
            self.passed[why] = self.passed.get(why, 0) + 1

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────

    def answered(self, ticket: Ticket, response: Any) -> Raised | None:
        """Take in what was answered, whole. Nothing where the conversation has gone on meanwhile, or the answer holds no message: the
        next list says how it goes on. The answer is its caller's already: what went wrong is counted and returned, not raised."""
        if not self._has_turn(ticket):
            return None
        try:
            told = tried(lambda: self._take_in(ticket, response))
        finally:
            self._leave((ticket.chain,))
        if isinstance(told, Raised) and not isinstance(told.error, InvalidOption):
            return self.left_out(told)
        return None

    def left_out(self, raised: Raised) -> Raised:
        """Count an answer that was delivered and cannot be taken in, by what went wrong; that once more."""
        self._count(f"{NOT_TAKEN_IN} ({type(raised.error).__name__})")
        return raised

    def _take_in(self, ticket: Ticket, response: Any) -> None:
        chain, call = ticket.chain, ticket.call
        with self._watched(chain):
            made = recorded(chain.kept, response, format=call.format)
            if ticket.may_begin and chain.kept is None and self._sessions.is_needed_soon(call, answered=made):
                self._begin(chain, ReadList(call))
                drive(self._prepared(chain, call), answered)  # so that it knows what is answered
                made = recorded(chain.kept, response, format=call.format)
            with self._lock:
                chain.answered(made, to=call)

    def recalled(self, going: Outgoing, response: Any, *, is_delivered: bool = False) -> Outgoing | None:
        """Where an answer calls `recall`: the request that goes on with what was recalled, of which the caller's list has nothing; past
        `RECALLS_MAX` with word that nothing more is looked up; without the tool where the conversation went on beside this request.
        `None` for an answer to be delivered, which never calls it. `is_delivered`: all but its calls was."""
        return drive(self._recalling(going, response, is_delivered=is_delivered), answered)

    async def arecalled(self, going: Outgoing, response: Any) -> Outgoing | None:
        """As `recalled`, off the event loop."""
        return await adriven(self._recalling(going, response), aanswered)

    def unrecalled(self, going: Outgoing, raised: Raised) -> Outgoing:
        """Where a recall could not be answered: the same request, without the tool. Counted, by what went wrong."""
        self._count(f"{NOT_RECALLED} ({type(raised.error).__name__})")
        return going.unrecalled

    def _recalling(self, going: Outgoing, response: Any, *, is_delivered: bool = False) -> _Going:
        ticket = going.ticket
        chain, read, count = ticket.chain, ReadList(ticket.call), ticket.recalls + 1
        if not ticket.call.has_recall or chain.kept is None or not chain.kept.calls_recall(response):
            return None
        if not self._has_turn(ticket):
            self._count(f"{NOT_RECALLED} (the conversation went on beside it)")
            return going.unrecalled
        try:
            with self._watched(chain):
                given = chain.kept.recall(response, is_spent=count > RECALLS_MAX, is_delivered=is_delivered)
                with self._lock:
                    chain.answered([(one.message, link_of(one)) for one in given])
                call = ticket.call if count < RECALLS_MAX + TOLD_MAX else ticket.call.without_recall()
                ticket = replace(ticket, call=call, recalls=count, size=len(chain.links))
                prepared = yield from self._prepared(chain, call)
                return self._made(ticket, read, prepared=prepared)
        finally:
            self._leave((chain,))

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────────────

    def _turn(self, read: ReadList) -> Generator[Step, Any, Found | None]:
        """Where a list belongs, once no other request has the turn of what it changes. `None` for one that is made while that is
        prepared, and would wait for itself, and for one that waited too long. Raises `Unreadable`; nothing has changed then."""
        self._read_first(read.call)
        while True:
            with self._lock:
                where = self._found(read)
            read.all_of(where.count, fixed=where.chain.fixed)
            turn: Future[None] = Future()
            entered = self._entered(read, turn)
            if entered is None:
                if ON_ITS_WAY.get() is not None or not (yield Waiting(turn=turn)):
                    return None
                continue
            unsure = [one for one in entered.changed if one.is_unsure]
            if not unsure:
                return entered
            try:
                for one in unsure:
                    self._read_again(one, read.call)
            finally:
                self._leave(entered.changed)

    def _found(self, read: ReadList) -> Found:
        return found(read, (self._first, *self._branches), takes_places=self._terms.is_known is None)

    def _entered(self, read: ReadList, turn: Future[None]) -> Found | None:
        """Have the turn of the conversations that a list changes; `None` where another request has it, and `turn` will be told."""
        with self._lock:
            where = self._found(read)
            held = next((one.waiting for one in where.changed if one.waiting is not None), None)
            if held is not None:
                held.append(turn)
                return None
            self._now += 1
            if where.how == "branch":
                where = where.branched(read, now=self._now)
                self._branches = [*(one for one in self._branches if one is not where.chain), where.chain]
            for one in where.changed:
                one.waiting = []
            return where

    def _has_turn(self, ticket: Ticket) -> bool:
        """Have the turn of a conversation that has not gone on since; false where it has, or does at this moment."""
        chain = ticket.chain
        with self._lock:
            if ticket.is_apart or ticket.is_late or chain.waiting is not None or chain.is_unsure:
                return False
            chain.waiting = []
            return True

    def _leave(self, chains: tuple[Chain, ...]) -> None:
        """The end of a turn: whoever waits looks again where its list belongs."""
        with self._lock:
            turns = [turn for one in chains for turn in one.waiting or ()]
            for one in chains:
                one.waiting = None
        for turn in turns:
            if turn.set_running_or_notify_cancel():
                turn.set_result(None)

    # ── log and links ────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _watched(self, chain: Chain) -> Iterator[None]:
        """While a log is written. Where it is not known whether it was, or what is in memory followed, the log is read before the
        next request."""
        is_sure = False
        try:
            yield
            is_sure = True
        except (SessionFailed, CheckpointFailed):
            raise
        except (FoldlineError, Unreadable):
            is_sure = True
            raise
        finally:
            chain.is_unsure |= not is_sure

    def _read_again(self, chain: Chain, call: Call) -> None:
        """What the log has, after a failure. A session that can no longer be used is opened again by its name; one that the host
        opened is the host's to open again. Raises as opening does."""
        kept = chain.kept
        if kept is not None and chain.name is not None and not kept.is_usable():
            tried(kept.session.close)
            kept = Following(self._terms.open(chain.name, call))
        with self._lock:
            if kept is not None:
                chain.kept = kept
                chain.remember(kept.kept())
            chain.is_unsure, chain.stamp = False, chain.stamp + 1

    def _read_first(self, call: Call) -> None:
        """Open the named session, and read what it knows from before."""
        with self._opening:
            if self._first_is_read:
                return
            first = self._first
            kept = first.kept or self._sessions.first(call)
            if kept is not None:
                with self._lock:
                    first.name = None if first.kept is kept else self._sessions.name
                    first.kept = kept
                    first.remember(kept.kept())
            self._first_is_read = True

    def _take(self, where: Found, read: ReadList) -> None:
        """Take in what a list has beyond what is known, and take back what it does not have; in the log first, so that what failed
        there is not known here."""
        chain = where.chain
        if where.into is not None:
            chain = self._promoted(chain, where.into, read=read)
        elif where.how == "said anew":
            self._cut_back(chain, where.count, read=read)
        elif where.count < len(chain.links):
            self._answered_otherwise(chain, where.asked)
        chain.answers, chain.fixed, start = 0, read.fixed, len(chain.links)
        chain.merged, chain.has_open_calls = b"", False
        links = read.links(start)
        if chain.kept is not None:
            for link, one in zip(links, taken(chain.kept, read.messages(start)), strict=True):
                link.seq, link.ordinal = one.seq, one.ordinal
        with self._lock:
            if links:
                chain.links = [*chain.links, *links]
                chain.steady = start
            chain.used = self._now
        if chain.kept is None and self._sessions.is_needed(chain, read, is_first=chain is self._first):
            self._begin(chain, read)
        if chain.kept is not None and chain.remade:
            chain.kept.make_again(chain.remade)
            chain.remade = []
        self._forget()

    def _begin(self, chain: Chain, read: ReadList) -> None:
        """A session for a conversation that has none."""
        made = self._sessions.begun(chain, read, is_first=chain is self._first)
        with self._lock:
            chain.keep(made.kept, name=made.name, places=made.places)
            chain.remade = made.remade

    def _answered_otherwise(self, chain: Chain, count: int) -> None:
        """An answer that came back otherwise, in part or not at all is taken back; `count`: without it."""
        if chain.kept is not None:
            chain.kept.session.rollback(to=chain.before_answer)
        with self._lock:
            chain.links, chain.answers, chain.stamp = chain.links[:count], 0, chain.stamp + 1

    def _promoted(self, branch: Chain, into: Chain, *, read: ReadList) -> Chain:
        """The conversation that a branch takes the place of, with what it has of the list."""
        self._cut_back(into, read.common(into), read=read)
        with self._lock:
            self._branches.remove(branch)
            for other in [one for one in self._branches if one.parent is branch and one is not into]:
                other.parent = into
        return into

    def _cut_back(self, chain: Chain, count: int, *, read: ReadList) -> None:
        """Back to so many messages, which keep what was made of them since; as they stood then, where they are all of the list."""
        links = chain.links[:count]
        stood = chain.stood(links) if count == len(read) else None
        seq, ordinal = (links[-1].seq, links[-1].ordinal) if links else (-1, -1)
        if chain.kept is not None:
            made = chain.kept.made_since(seq, ordinal=ordinal) if stood is None else []
            chain.kept.session.rollback(to=seq if stood is None else stood)
            chain.remade = chain.kept.make_again(made)  # here if it can be: it stays when this is said anew
        with self._lock:
            chain.links, chain.answers, chain.stamp = links, 0, chain.stamp + 1

    def _forget(self) -> None:
        """The conversations that rested longest, where there are too many."""
        with self._lock:
            resting = sorted((c for c in self._branches if c.waiting is None), key=lambda chain: chain.used)
            gone = resting[: max(0, len(self._branches) - BRANCHES_MAX)]
            self._branches = [chain for chain in self._branches if chain not in gone]
            closed = [chain.kept for chain in gone if chain.kept is not None]
            for chain in gone:
                chain.kept = None
        for kept in closed:
            tried(kept.session.close)
