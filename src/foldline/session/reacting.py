"""What a session does after a provider refused a request: one compaction and one retry, or the reason why not.

    recover ─► too long ─► emergency compaction ─► prepare ─► the request to send once more

Counterpart: `foldline.session.recovering`, which reads a refusal and knows no session.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from foldline.core.kinds import refuse_no_flag, refuse_no_number
from foldline.engine.report import Report
from foldline.presets import last_resort
from foldline.reduce import Goal
from foldline.session.compacting import Compacting, Going
from foldline.session.limits import learned
from foldline.session.recovering import NEAR, Refused, invalid, refused, target_after, what_fits
from foldline.session.request import Prepared
from foldline.session.working import BUSY


class Reacting(Compacting):
    """What a session and its nodes do about a refusal."""

    def _recovering(self, error: Any, *, delivered: bool, status: int | None) -> Going[Prepared]:
        """The request to send once more, or the reason why there is none."""
        refuse_no_flag(delivered=delivered)
        refuse_no_number(or_none=True, status=status)
        told = refused(error, status=status)
        made: Report | None = None
        if told.names_compaction or (
            told.may_be_size and not self._why_not(delivered=delivered) and self._is_near()
        ):
            made = yield from self._shrunk(told, delivered=delivered)
        elif told.is_about_reasoning and not (delivered or self._bare):
            self._bare = True
        elif told.error is not None:
            raise told.error
        else:
            raise invalid(told.words, told)
        return (yield from self._preparing(None, None, output_cap=self._cap, made=made))

    def _shrunk(self, told: Refused, *, delivered: bool) -> Going[Report]:
        """One emergency compaction (requirements REA-1…4), or the one that was made and whose request its caller never got.
        Raises `InvalidRequest`; the view is as it was then."""
        why = self._why_not(delivered=delivered)
        if why:
            raise invalid(why, told) from told.error
        made = self._recovering_with
        if made is not None and made.landed is not None and self._stands(made):
            return made.landed
        with self._keeper.lock:
            self._learn(told)
            self._weigh()
            fixed = self._fix(None, None)
            fit, tokens = self._fit(fixed)
            target = self._policy.target.tokens(self._room(tokens))
            to = target_after(told.refusal, tokens=fit.view.tokens + fixed.tokens, target=target)
            looked = self._looked(fixed, Goal(policy=self._policy, to=to))
            if self._known.work is not None:
                raise invalid(BUSY, told) from told.error
            asks = self._may_ask()
            work = self._known.work = self._work(looked, reason="overflow", asks=asks)
            work.fits = what_fits(told.refusal, tokens=fit.view.tokens + fixed.tokens)
        try:
            report = yield from self._carried(work)
        finally:
            self._recovering_with = work if work.landed is not None else None
        if report.outcome != "compacted":
            raise invalid(f"it could not be made smaller: {report.reason}", told) from told.error
        return report

    def _is_near(self) -> bool:
        """True for a request that is nearly as long as one that would be compacted, or longer: counts differ."""
        with self._keeper.lock:
            self._weigh()
            _, tokens = self._fit(self._fix(None, None))
            line = self._policy.threshold.tokens(self._room(tokens))
            return self._known.setup.planned.is_window_known and tokens.tokens >= line * NEAR

    def _given_out(self, prepared: Prepared) -> Prepared:
        """A request that its caller is given: with it a recovery is used up, and not before. One that was blocked, cancelled,
        skipped or came to nothing may be asked for again."""
        if self._recovering_with is not None:
            self._recovered, self._recovering_with = True, None
        return prepared

    def _last_resort(self) -> Going[Report]:
        """What is left where a ladder's levels did not help (requirement CMP-39)."""
        with self._keeper.lock:
            self._weigh()
            policy = last_resort(self._known.setup.policy.name)
            looked = self._looked(self._fix(None, None), Goal(policy=policy))
            if self._known.work is not None:
                return replace(self._untouched(looked.fit, looked.tokens), reason=BUSY)
            asks = self._asks(policy)
            looked = replace(looked, goal=replace(looked.goal, at_once=asks))
            work = self._known.work = self._work(looked, reason="by hand", asks=asks)
        return (yield from self._carried(work))

    def _why_not(self, *, delivered: bool) -> str:
        """Why a refusal is not recovered from; empty where it is."""
        if delivered:
            return "part of an answer was delivered already, so nothing is sent again; send the last message anew"
        if not self._policy.is_reactive:
            return (
                f"policy {self._policy.name} does not recover; compact by hand, clear, or take a larger model"
            )
        if self._recovered:
            return (
                "it was made smaller once already and refused again; compact by hand, or take a larger model"
            )
        return ""

    def _learn(self, told: Refused) -> None:
        """Plan with the limit that the provider named, never with a guess."""
        limit = told.refusal.tokens_limit
        if told.refusal.is_overflow and limit:
            self._known.setup = learned(self._known.setup, limit)
