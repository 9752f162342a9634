"""A scope of a session's log as it would be sent: its view, weighed and fit, with system prompt and tools.

Reads and weighs; says to the log only what it is given of system prompt, tools and the epoch's reminder. Counterpart:
`foldline.session.compacting`, which reduces the view.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from threading import Condition
from typing import Any

from msgspec import Raw, Struct
from msgspec.structs import replace

from foldline.asking import Basis
from foldline.core.budget import Room, output_cap_left
from foldline.core.entry import Draft
from foldline.core.errors import InvalidOption
from foldline.core.estimate import Estimate
from foldline.core.message import Message
from foldline.core.view import view_of
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.log.handoff import KIND as HANDOFF
from foldline.log.handoff import handoff_json
from foldline.log.state import ROOT, Scope
from foldline.log.values import bytes_json, dumps, system_json
from foldline.reduce import History
from foldline.session.fitting import Fitting, Joining, Seen
from foldline.session.handing_off import band_of, due_record, in_force, reminder_tokens
from foldline.session.hosting import Host
from foldline.session.incoming import fixed_part
from foldline.session.keep import Keeper
from foldline.session.originals import Originals, Shown, Spans
from foldline.session.projecting import Fixed, Sound, baseline, fixed_of, held_in, projected
from foldline.session.recovering import without_reasoning
from foldline.session.request import NOTHING, Beside, Prepared
from foldline.session.serving import asked_of, compacts, served
from foldline.session.setup import Setup
from foldline.session.working import Work
from foldline.survival import Ahead
from foldline.wire import strict
from foldline.wire.codec import Request

FINGERPRINT_CHARS = 16
SLACK_TOKENS, SLACK_SHARE = 256, 20
"""A cap that is lowered leaves so many tokens, and this part of what was not counted by the provider: an estimate that is a little
short would have every request refused (Claude Code through a proxy: 17 tokens of 64,000)."""
LOWERED = "output cap lowered to {:,} from {:,}: the request takes {:,} tokens of a window of {:,}"


class Known(Struct, kw_only=True):
    """What a session and its nodes share, beside the log."""

    setup: Setup
    memo: dict[str, Any] = {}
    """What passes found in parts that the views still show."""
    spans: Spans
    fixed: dict[str, Fixed] = {}
    """By scope, the system prompt and tools last given in this process."""
    host: Host = Host()
    log_path: str = ""
    """The log on disk, as hooks are told of it; empty where it is on none."""
    idle: Condition
    """On the session's lock: told when a compaction has ended."""
    work: Work | None = None
    """The compaction that runs, or that waits to be taken in."""
    waiting_context: tuple[Message, ...] = ()
    """What hooks said while calls waited for their results."""
    task: Any = None
    """The task that writes in the background, held so that it goes on."""
    answering: int = 0
    """Answers of the model that are under way, as far as the host says so."""


class Sent(Struct, frozen=True, kw_only=True):
    """The last request that was prepared in a scope."""

    revision: bytes
    model: str | None
    tokens_fixed: int
    tokens: Estimate = Estimate(tokens_anchored=0, tokens_estimated=0)
    """As it was projected."""
    tokens_before: int | None = None
    """The input that the provider counted for the request which this one extends."""


class Planning:
    """One scope of a session's log: the session itself, or a node."""

    def __init__(self, keeper: Keeper, known: Known, *, scope: str = ROOT) -> None:
        self._keeper, self._known, self._scope = keeper, known, scope
        self._sent: Sent | None = None
        self._recovered = False
        """True from the request of a recovery until the next answer (requirement REA-1)."""
        self._recovering_with: Work | None = None
        """A recovery's compaction that stands, and whose request nobody has been given yet."""
        self._cap: int | None = None
        """The output cap of the request that was prepared last, as the caller named it."""
        self._heard: tuple[str, ...] = ()
        """What the last response told, for the next report."""
        self._bare = False
        """True once a provider refused signed reasoning of closed rounds."""
        self._seen, self._fitting, self._joining = Seen(), Fitting(), Joining()
        self._ahead_of_cuts = Ahead()
        self._is_half_way = False
        """True where the last request came half the way to its threshold: facts are looked for once it was answered, which nobody waits
        for, so that the cut need not wait either."""

    @property
    def size(self) -> int:
        """Messages in the view."""
        return len(self._view().view)

    @property
    def format(self) -> str:
        """The wire format that is spoken."""
        return self._known.setup.format

    @property
    def _policy(self) -> Policy:
        setup = self._known.setup
        return served(setup) if self._scope == ROOT else setup.inside

    @property
    def _is_served(self) -> bool:
        """True where the provider's service compacts, and ours does not."""
        return self._scope == ROOT and compacts(self._known.setup, epoch=self._keeper.state.epoch)

    def _view(self) -> Scope:
        """This scope of the log. Raises `InvalidOption` for a node that is no more, `SessionFailed` once it was closed."""
        self._keeper.refuse_closed()
        scope = self._keeper.state.scopes.get(self._scope)
        if scope is None:
            why = "it has ended, or was rolled back; start another"
            raise InvalidOption("node", self._scope, why=why)
        return scope

    def _weigh(self) -> None:
        self._view()
        self._keeper.weigh_by(self._known.setup.counter)

    def _fix(self, system: Any, tools: Any) -> Fixed:
        """System prompt and tools of this request; what is new of them is appended."""
        state, known = self._keeper.state, self._known
        before = known.fixed.get(self._scope)
        if before is None and self._scope == ROOT:
            stored = Request(format=known.setup.format, messages=(), system=state.system, tools=state.tools)
            before = fixed_of(stored, known.setup.counter)
        before = before or Fixed()
        if system is not None or tools is not None:
            given = fixed_part(system, tools, format=known.setup.format)
            whole = replace(
                given,
                system=before.system if system is None else given.system,
                tools=before.tools if tools is None else given.tools,
            )
            now = before if _is_same(before, whole) else fixed_of(whole, known.setup.counter)
            if self._scope == ROOT:
                self._say_fixed(before, now)
            before = now
        known.fixed[self._scope] = before
        if before.refused - known.setup.names_kept:
            known.setup = replace(known.setup, names_kept=known.setup.names_kept | before.refused)
        return before

    def _say_fixed(self, before: Fixed, now: Fixed) -> None:
        drafts = []
        if _system_body(now.system) != _system_body(before.system):
            drafts.append(Draft(kind="system", body=_system_body(now.system)))
        if now.tools != before.tools:
            told = (
                {}
                if now.tools is None
                else {"format": self._known.setup.format, **bytes_json("tools", now.tools)}
            )
            drafts.append(Draft(kind="tools", body=dumps(told)))
        if drafts:
            self._keeper.say(*drafts)

    def _fit(self, fixed: Fixed) -> tuple[Sound, Estimate]:
        """The view fit to send, and the size of the request with it."""
        setup, scope = self._known.setup, self._view()
        fit = self._fitting.of(self._seen.of(scope.view).standing, setup)
        counting = setup.policy.counting
        anchor = baseline(scope, counting)
        beside = reminder_tokens(
            in_force(self._keeper.state, self._scope),
            anchor=None if anchor is None else anchor.ordinal,
            counter=setup.counter,
            format=setup.format,
        )
        return fit, projected(scope, fit.view, fixed=fixed.tokens, counting=counting, beside=beside)

    def _counted(self, fixed: Fixed, tokens: Estimate) -> int:
        """System prompt and tools as the policy counts them."""
        counts = tokens.tokens_anchored or self._known.setup.policy.counting.fixed
        return fixed.tokens if counts else 0

    def _remind(self, fit: Sound, tokens: Estimate) -> bool:
        """Write the epoch's reminder where the request is in the hand-off band; never where the window is not known
        (requirements HND-1, TOK-10)."""
        setup, policy = self._known.setup, self._policy
        room = self._room(tokens)
        if self._scope != ROOT or not setup.planned.is_window_known:
            return False
        record = due_record(self._keeper.state, fit.view) if policy.handoff is not None else None
        if record is None:
            return False
        more = setup.counter.text(record.text)
        for size in (
            tokens.tokens,
            tokens.tokens + more,
        ):  # with it the request is still no reason to compact
            if band_of(size, policy, room=room) != "handoff_band":
                return False
        self._keeper.say(Draft(kind=HANDOFF, body=dumps(handoff_json(record))))
        return True

    def _history(self, fit: Sound, *, fixed: int) -> History:
        """The view as the passes see it."""
        setup, keeper, known = self._known.setup, self._keeper, self._known
        view, state = self._view().view, keeper.state
        originals = Originals(
            keeper.log,
            keeper.replay.places,
            count=state.ordinals,
            shown=view.items(),
            withheld=frozenset(keeper.lives),
        )
        return History(
            view=replace(fit.view, next_seq=state.ordinals),
            tokens_fixed=fixed,
            repairs=fit.repairs,
            needs=setup.needs,
            originals=originals,
            shown=Shown(originals, view.items()),
            address_of=known.spans.address,
            held=held_in(state, self._scope),
            limits=known.fixed[self._scope].limits,
            memo=known.memo,
        )

    def _basis(self) -> Basis:
        """What a fork of the conversation shares with its own requests."""
        with self._keeper.lock:
            fixed, setup = self._fix(None, None), self._known.setup
            system: Any = None
            if fixed.system is not None:
                system = setup.codec.encode_system(fixed.system)
                system = strict.parse(bytes(system)) if isinstance(system, Raw) else system
            seqs = [item.seq for item in self._view().view]
            return Basis(
                format=setup.format,
                model=setup.model,
                system=system,
                tools=strict.parse(fixed.tools) if fixed.tools else None,
                follows=dict(pairwise(seqs)),
            )

    def _idle_s(self) -> float | None:
        now, answered = self._known.setup.asked.clock(), self._keeper.state.answered_ms
        return None if now is None or answered is None else max(0, now - answered) / 1000

    def _untouched(self, fit: Sound, tokens: Estimate) -> Report:
        """The report of a request that nothing was due for."""
        setup, size = self._known.setup, len(fit.view)
        return Report(
            format=setup.format,
            model=setup.model,
            policy=setup.policy.name,
            counter=setup.counter.name,
            reason="below the threshold",
            messages_before=size,
            tokens_before=tokens.tokens,
            tokens_after=tokens.tokens,
            repairs=fit.repairs,
            notes=setup.planned.notes,
        )

    def _prepared(self, fixed: Fixed, fit: Sound, *, tokens: Estimate, report: Report) -> Prepared:
        setup, state = self._known.setup, self._keeper.state
        handoff = in_force(state, self._scope)
        if self._bare:
            items = without_reasoning(fit.view.items())
            fit = replace(fit, view=view_of(items, next_seq=fit.view.next_seq), parts=None)
        view = self._view().view
        made = self._joining.made(fit, view, fixed=fixed, setup=setup, handoff=handoff)
        if report.outcome != "unchanged" or report.repairs:
            violations = self._joining.violations(made, setup.needs)
            report = replace(report, valid=not violations, violations=violations)
        asked = NOTHING
        if self._scope == ROOT:
            asked = asked_of(setup, self._seen.of(view), fixed=fixed, state=state, room=self._room(tokens))
        anchor = baseline(self._view(), setup.policy.counting)
        self._sent = Sent(
            revision=state.revision,
            model=setup.model,
            tokens_fixed=fixed.tokens,
            tokens=tokens,
            tokens_before=None if anchor is None else anchor.usage.tokens_input,
        )
        sha = sha256(state.revision)
        control = b"" if handoff is None else handoff.text.encode()
        for piece in (self._scope.encode(), _system_body(fixed.system), fixed.tools or b"", control):
            sha.update(b"%d:" % len(piece) + piece)
        if asked.body:
            sha.update(dumps(dict(asked.body)))
        cap = self._capped(tokens)
        lowered = (
            LOWERED.format(cap, self._cap, tokens.tokens, setup.planned.window) if cap != self._cap else ""
        )
        notes = (*report.notes, *self._heard, *filter(None, (lowered,)))
        if report.outcome == "unchanged":
            notes += setup.policy.advised(tokens.tokens, self._room(tokens))
        self._heard = ()
        report = replace(report, messages_after=len(made), notes=notes)
        digest = sha.hexdigest()[:FINGERPRINT_CHARS]
        beside = Beside(asked=asked, output_cap=cap, lowered=lowered)
        return Prepared(made, report=report, tokens=tokens, fingerprint=digest, beside=beside)

    def _room(self, tokens: Estimate) -> Room:
        """What the policy's lines are measured in. The output cap that the request names is the reserve (requirement BUD-1)
        where the window has room for it; one that is lowered (CMP-41) moves no line."""
        cap = self._cap if self._capped(tokens) == self._cap else None
        return self._known.setup.planned.room(cap)

    def _capped(self, tokens: Estimate) -> int | None:
        """The output cap to send: lowered to what the window leaves, before anything is compacted for it (CMP-41)."""
        planned = self._known.setup.planned
        if self._cap is None or not planned.is_window_known:
            return self._cap
        slack = SLACK_TOKENS + tokens.tokens_estimated // SLACK_SHARE
        return output_cap_left(self._cap, tokens.tokens + slack, tokens_window=planned.window_shared)


def _system_body(system: Message | None) -> bytes:
    return b"{}" if system is None else dumps(system_json(system))


def _is_same(before: Fixed, whole: Request) -> bool:
    return before.tools == whole.tools and _system_body(before.system) == _system_body(whole.system)
