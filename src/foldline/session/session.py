"""A session, as a caller holds it: a conversation with a log, and everything that goes back in it.

What it has in common with its nodes is `foldline.session.conversation`'s; here stand undo, unfold, rollback, fork and the
history. Nothing is ever taken out of the log: each of them is an entry of its own, and can be rolled back.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from threading import Condition
from types import NoneType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from foldline.asking import awaited
from foldline.core.edit import Drop
from foldline.core.entry import Draft
from foldline.core.errors import FoldlineError, InvalidOption, UnknownAddress
from foldline.core.kinds import refuse_no_flag, refuse_no_name, refuse_no_number, refuse_no_text
from foldline.core.ports import Store
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.ledger.book import TOLD_CHARS_MAX, Told
from foldline.ledger.facts import CACHED_BYTES_MAX, FactCache
from foldline.ledger.found_in_text import WORDS_MAX, Finder
from foldline.log.applied import newest_first
from foldline.log.state import ROOT, Applied, Expose
from foldline.log.values import dumps, members, read_edits
from foldline.lookup import Shown
from foldline.own_loop import begun
from foldline.recall.find import HITS, Found
from foldline.recall.loops import Rereads, rereads
from foldline.recall.opening import TOKENS, Excerpt, Opened
from foldline.recall.rows import Filters
from foldline.recall.tool import TOKENS_MAX, Answer
from foldline.reduce import frame_of
from foldline.session.commanding import (
    CONTEXT,
    FAILS,
    Commanded,
    of_compaction,
    of_context,
    of_failure,
    read_command,
)
from foldline.session.conversation import Conversation
from foldline.session.forking import create_fork
from foldline.session.history import PAGE, TOLD, Chronicle, Made, Messages, Page, happened
from foldline.session.hosting import Host
from foldline.session.keep import Keeper
from foldline.session.limits import with_limit
from foldline.session.nodes import ROLLED_BACK, RunningNode, begin, interrupt_all
from foldline.session.originals import Spans, shown_in
from foldline.session.planning import Known
from foldline.session.projecting import fixed_of
from foldline.session.recalling import Range, answered
from foldline.session.resuming import ended, kept_tail, told
from foldline.session.setup import Setup, model_in, setup_again
from foldline.session.twins import twin
from foldline.stores.disk import DiskStore
from foldline.threads import off
from foldline.wire import strict
from foldline.wire.codec import Request

if TYPE_CHECKING:
    from foldline.recall.find import Recall

FACTS_BYTES_A_TOKEN = 128
"""About what facts may take in memory for each token of the window: twice what a view full of them takes."""
TOLD_CHARS_A_TOKEN = 16
"""What calls with their results and texts may hold in memory for each token of the window: about twice what a view full of them
has."""
TOKENS_A_WORD = 4
"""A word is remembered for so many tokens of the window: more than a view has that are different."""


NOBODY = Host()
"""Of a session that has no model to ask and nobody to tell."""
COUNTING_SHOWN = 10
"""Compactions that an error names of those that can be undone."""


def memo_for(setup: Setup) -> dict[str, Any]:
    """An empty memo for what passes find. Facts are asked of what a view shows, which fits the window; those of what has
    left it go, so that memory does not grow with the log."""
    window = setup.planned.window
    finder = Finder(words_max=min(WORDS_MAX, window // TOKENS_A_WORD))
    return {
        "facts": FactCache(finder, bytes_max=min(CACHED_BYTES_MAX, window * FACTS_BYTES_A_TOKEN)),
        "told": Told(chars_max=min(TOLD_CHARS_MAX, window * TOLD_CHARS_A_TOKEN)),
    }


class Session(Conversation):
    """A durable conversation. Open one with `foldline.open`; a context manager that closes it."""

    def __init__(self, keeper: Keeper, setup: Setup, *, store: Store, host: Host = NOBODY) -> None:
        known = Known(
            setup=setup,
            memo=memo_for(setup),
            spans=Spans(keeper.log, keeper.replay.places),
            host=host,
            log_path=str(store.path_of(keeper.name)) if isinstance(store, DiskStore) else "",
            idle=Condition(keeper.lock),
        )
        super().__init__(keeper, known)
        keeper.counter = setup.counter
        self._store = store
        self._recall: Recall | None = None
        self.torn = keeper.log.torn
        """What an interrupted append had left at the end of the log, and was cut off; empty when it ended well."""
        keeper.settle()
        self.interrupted = interrupt_all(keeper, known)
        """Nodes that ran when the last process ended."""

    def _resume(self) -> None:
        """Opened again under a policy that resumes at its summary: end the tail that the last compaction kept."""
        keeper, setup = self._keeper, self._known.setup
        if not setup.policy.resumes_at_summary or keeper.state.epoch < 0:
            return
        boundary = next(one.offset for one in self._counting() if not one.is_edit and one.scope == ROOT)
        self._weigh()
        fixed = self._fix(None, None)
        fit, _ = self._fit(fixed)
        frame = frame_of(self._history(fit, fixed=fixed.tokens), counter=setup.counter)
        gone = kept_tail(fit.view, places=keeper.replay.places, boundary=boundary, kept=frame.kept)
        made = ended(gone, fit.view, frame=frame) if gone else None
        if made is not None:
            fold, after = made
            blank = Report(
                format=setup.format, model=setup.model, policy=setup.policy.name, counter=setup.counter.name
            )
            keeper.edit(scope=ROOT, edits=(fold,), report=told(fold, fit.view, after=after, blank=blank))

    @property
    def name(self) -> str:
        """The session's."""
        return self._keeper.name

    @property
    def model(self) -> str | None:
        """The model it is planned for."""
        return self._known.setup.model

    @property
    def policy(self) -> Policy:
        """When and how far its view is reduced."""
        return self._known.setup.policy

    @property
    def seq(self) -> int:
        """The last entry of the log: what `rollback(to=…)` comes back to later."""
        return self._keeper.state.seq

    def use(self, model: str) -> None:
        """Plan for another model from here on: its window, its counter. The format stays, and so does what was said. What the
        model before reported of usage counts no more: the next request is measured by the new counter, whole, against the
        new window, and compacted where it is due; where even the smallest view is larger, the request's report says
        `unreachable`. Raises `InvalidOption` for an empty name."""
        refuse_no_name(model=model)
        with self._keeper.lock:
            self._keeper.refuse_closed()
            fresh = with_limit(setup_again(self._known.setup, model=model))
            if model != self._known.setup.model:
                self._keeper.say(Draft(kind="model", body=dumps({"model": model})))
            self._weigh_anew(fresh)

    ause = twin(use)

    def _weigh_anew(self, setup: Setup) -> None:
        """Go on with other settings; system prompts and tools that were said stay, counted by the new counter."""
        known = self._known
        known.setup, known.memo = setup, memo_for(setup)
        self._keeper.counter = setup.counter
        for scope, fixed in list(known.fixed.items()):
            request = Request(format=setup.format, messages=(), system=fixed.system, tools=fixed.tools)
            known.fixed[scope] = fixed_of(request, setup.counter)

    def _taken_back(self) -> None:
        """After a rollback: system prompt, tools and model are what the log says at that point."""
        known, setup = self._known, self._known.setup
        known.fixed.pop(ROOT, None)
        model = self._keeper.state.model or model_in(self._keeper.log)
        if model != setup.model:
            self._weigh_anew(with_limit(setup_again(setup, model=model)))

    def node(
        self, name: str, *, input: Any = "", expose: Expose = "io", call_id: str | None = None
    ) -> RunningNode:
        """A sub-agent that keeps its messages in this log, for a `with` block. `expose`: what this session sees of it.
        `call_id`: the call it answers."""
        return begin(self, name=name, input=input, where=(ROOT, expose, call_id))

    anode = twin(node)

    # ── back ─────────────────────────────────────────────────────────────────────────────────────────────────

    def undo(self, entry: int | None = None) -> int:
        """Take a compaction back, the last one where none is named; returns its entry. The view is what it would be had
        it not been made. Raises `InvalidOption` where there is none."""
        refuse_no_number(or_none=True, entry=entry)
        with self._keeper.lock:
            self._keeper.refuse_closed()
            chosen = self._chosen(entry)
            told = Draft(kind="undo", body=dumps({"entry": chosen.seq}))
            self._keeper.take_back(told, seq=chosen.seq - 1)
            return chosen.seq

    aundo = twin(undo)

    def _chosen(self, entry: int | None) -> Applied:
        counting: list[str] = []
        for one in self._counting():
            if one.seq == entry or (entry is None and not one.is_edit and one.scope == ROOT):
                return one
            if len(counting) < COUNTING_SHOWN:
                counting.insert(0, str(one.seq))
        if entry is None:
            raise InvalidOption("session", self.name, why="no compaction of it counts that could be undone")
        told = f"no compaction that counts has this number; the last are {', '.join(counting)}"
        raise InvalidOption("entry", entry, why=told if counting else "no compaction of this session counts")

    def _counting(self) -> Iterator[Applied]:
        """The compactions and edits that count, the newest first."""
        return newest_first(self._keeper.state, self._keeper.log)

    def unfold(self, address: str) -> int:
        """Take back the one edit that put this address into the view, and nothing else of its compaction; returns the
        entry of that. Raises `UnknownAddress`."""
        refuse_no_text(address=address)
        with self._keeper.lock:
            self._keeper.refuse_closed()
            for one in self._counting():
                edits = read_edits(members(self._keeper.log.entry(one.offset).body)["edits"])
                if any(not isinstance(edit, Drop) and edit.address == address for edit in edits):
                    draft = Draft(kind="unfold", body=dumps({"entry": one.seq, "address": address}))
                    self._keeper.take_back(draft, seq=one.seq - 1)
                    return one.seq
            raise UnknownAddress(address, "no compaction that counts has put this address into the view")

    aunfold = twin(unfold)

    def rollback(self, to: int | None = None, *, before: int | None = None) -> int:
        """Make entry `to` the last one again (-1: none), or the one before compaction `before` began; returns it. What
        came after stays in the log, and can be come back to: `rollback(to=…)` takes any earlier entry. A node that had ended and ran
        at that point is interrupted, as one that runs when its process ends."""
        refuse_no_number(or_none=True, to=to, before=before)
        with self._keeper.lock:
            self._keeper.refuse_closed()
            if (to is None) == (before is None):
                raise InvalidOption(
                    "to", to, why="give the entry to come back to, or the compaction to go before"
                )
            target = self._before(before) if before is not None else to
            assert target is not None, "one of the two is given"
            if not -1 <= target <= self.seq:
                raise InvalidOption(
                    "to", target, why=f"entries go from 0 to {self.seq}; -1 is before all of them"
                )
            running = self._keeper.state.nodes
            self._keeper.take_back(Draft(kind="rollback", body=dumps({"to": target})), seq=target)
            self._taken_back()
            interrupt_all(self._keeper, self._known, held=running, why=ROLLED_BACK)
            return target

    arollback = twin(rollback)

    def _before(self, seq: int) -> int:
        """The last entry before a compaction, its intent included."""
        for entry in self._keeper.log.back():
            if entry.seq == seq and entry.kind in ("compaction", "edit"):
                begin = strict.loads(members(entry.body).get("begin", b"null"))
                return (begin if isinstance(begin, int) else seq) - 1
            if entry.seq < seq:
                break
        raise InvalidOption(
            "before", seq, why="no compaction has this number; `foldline undo SESSION --list` names them"
        )

    def clear(self) -> int:
        """Begin anew with an empty view; returns the entry that `rollback(to=…)` comes back to. A compaction that runs is given
        up (requirement JRN-10)."""
        with self._keeper.lock:
            last = self.seq
            self.rollback(to=-1)
            return last

    aclear = twin(clear)

    def compact_in_background(self, *, focus: str | None = None) -> bool:
        """Have the next compaction planned while the session goes on: a model writes its summary beside it, and the next
        `prepare` takes it in, where everything it names still stands. False where one runs or waits already. Should the
        process end before, nothing has changed."""
        work = self._ahead(focus=focus)
        if work is not None:
            going = self._quietly(self._going_ahead(work))
            self._known.task = begun(going, here=awaited(self._known.host.completer))
        return work is not None

    async def acompact_in_background(self, *, focus: str | None = None) -> bool:
        """As `compact_in_background`, as a task of this event loop."""
        work = await off(self._ahead, focus=focus)
        if work is not None:
            self._known.task = asyncio.create_task(self._quietly(self._going_ahead(work)))
        return work is not None

    async def _quietly(self, going: Any) -> None:
        """Carry it through where nobody waits for it: that it failed stands in the log, and the next request goes on."""
        with contextlib.suppress(FoldlineError):
            await self._await(going)  # a completer may await

    def fork(self, name: str, *, at: int | None = None) -> Session:
        """A session of its own that goes on from here, or from entry `at`. Nothing is copied; hand-off records stay
        behind. This one stays open. Raises `SessionExists`."""
        refuse_no_text(name=name)
        refuse_no_number(or_none=True, at=at)
        with self._keeper.lock:
            self._keeper.log.sync()
            left = self.seq if at is None else at
            counter = self._known.setup.counter
            log = create_fork(self._store, self.name, name=name, at=left, counter=counter)
            was = self._keeper
            keeper = Keeper(name, log, durability=was.durability, redact=was.redact, every=was.every)
            return Session(keeper, self._known.setup, store=self._store, host=self._known.host)

    afork = twin(fork)

    def command(self, line: str) -> Commanded | None:
        """What a line of a chat asks of the session: `/compact [instructions]` or `/context` (requirement UIX-1). `None` for one that is
        to be said. A compaction that a hook blocks, or that cannot be made, is told; nothing has changed then."""
        refuse_no_text(line=line)
        asked = read_command(line)
        if asked is None:
            return None
        if asked.name == CONTEXT:
            return of_context(self.context_use())
        try:
            return of_compaction(self.compact(focus=asked.rest or None))
        except FAILS as error:
            return of_failure(error)

    async def acommand(self, line: str) -> Commanded | None:
        """As `command`; the completer may be async."""
        asked = read_command(line)
        if asked is None or asked.name == CONTEXT:
            return await off(self.command, line)
        try:
            return of_compaction(await self.acompact(focus=asked.rest or None))
        except FAILS as error:
            return of_failure(error)

    # ── what was ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def messages(self) -> Messages:
        """Every message ever said on the way to here, compacted or not, in order; read when it is looked at."""
        return Messages(self._keeper.log)

    def page(self, *, before: int | None = None, limit: int = PAGE) -> Page:
        """The newest part of the history, or the part before an entry: messages and summaries in the order of the log."""
        refuse_no_number(or_none=True, before=before)
        refuse_no_number(limit=limit)
        if limit < 1:
            raise InvalidOption("limit", limit, why="a page has at least one entry")
        return Chronicle(self._keeper.log, kinds=TOLD).page(before=before, limit=limit)

    @property
    def compactions(self) -> Iterator[Made]:
        """Every compaction ever made, oldest first, with its report, whether or not it still counts."""
        counting = {one.seq for one in self._counting()}
        for entry in self._keeper.log.entries():
            if entry.kind == "compaction":
                yield Made(seq=entry.seq, counts=entry.seq in counting, happened=happened(entry))

    def show(self, address: str) -> Shown:
        """The original behind an address, whole or short (`m12`); where something was forgotten, what is left of it. Raises
        `UnknownAddress`."""
        refuse_no_text(address=address)
        return shown_in(self._keeper.log, address)

    # ── and is found again ───────────────────────────────────────────────────────────────────────────────────

    def recall(
        self, query: str, *, filters: Filters | None = None, limit: int = HITS, everywhere: bool = False
    ) -> Found:
        """What was ever said, in this session and in those it is a fork of, that answers a query; with `everywhere` in all
        sessions. Each hit has its address. Raises `InvalidOption`."""
        refuse_no_text(query=query)
        refuse_no_number(limit=limit)
        refuse_no_flag(everywhere=everywhere)
        given: object = filters
        if not isinstance(given, (Filters, NoneType)):
            raise InvalidOption(
                "filters", filters, why="give a `foldline.recall.rows.Filters`, or leave it out"
            )
        name = None if everywhere else self.name
        return self._recaller().search(query, session=name, filters=filters, hits_max=limit)

    arecall = twin(recall)

    def open_address(
        self, address: str, *, lines: Range | None = None, chars: Range | None = None, tokens: int = TOKENS
    ) -> Opened:
        """The original behind an address, or a range of it, at most so many tokens; `rest` says what to ask for next. Raises
        `UnknownAddress`, `InvalidOption`."""
        refuse_no_text(address=address)
        refuse_no_number(tokens=tokens)
        excerpt = Excerpt(lines=lines, chars=chars, tokens_max=tokens)
        return self._recaller().open(address, session=self.name, excerpt=excerpt)

    aopen_address = twin(open_address)

    def answer(self, call: object, *, everywhere: bool = False, tokens_max: int = TOKENS_MAX) -> Answer:
        """Answer a model's call of `foldline.recall_tool` and record the result. The call is taken as it came. What cannot be
        done is said in the result. Raises `InvalidOption` for what is no call, or one that the view does not have."""
        return answered(self, self, call=call, everywhere=everywhere, tokens_max=tokens_max)

    aanswer = twin(answer)

    @property
    def rereads(self) -> Rereads:
        """What compactions took out of view and was soon read again: the sign to keep more."""
        return rereads(self._keeper.log.entries())

    def _recaller(self) -> Recall:
        from foldline.recollect import recall_over

        with self._keeper.lock:
            self._keeper.refuse_closed()
            counter = self._known.setup.counter
            if self._recall is None:
                self._recall = recall_over(self._store, counter=counter)
            self._recall.counter = counter
            return self._recall

    def close(self) -> None:
        """Put on disk what is not, and let others open it. Closing twice is closing once."""
        with self._keeper.lock:
            work = self._known.work
            if work is not None and not self._keeper.is_closed:
                with contextlib.suppress(
                    FoldlineError
                ):  # the log can no longer be written: close says so itself
                    self._settle(work, "the session was closed", outcome="abandoned")
            if self._recall is not None:
                self._recall.close()
            self._keeper.close()
            self._known.idle.notify_all()

    aclose = twin(close)

    def __enter__(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    __aexit__ = twin(__exit__)
