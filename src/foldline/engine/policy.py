"""Policies: tiers in order, each a pass with the condition under which it runs, and the numbers of a window.

A policy is a value. Counterpart: `foldline.core.ports.Pass`, which plans a reduction and knows no condition.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from foldline.core.bounds import Percent, Positive, PositivePercent, Whole
from foldline.core.budget import Room, effective_budget, input_budget, reserve_threshold
from foldline.core.completion import ModelPass
from foldline.core.estimate import Counting
from foldline.core.ports import Pass


class Line(Struct, frozen=True, kw_only=True, gc=False):
    """A threshold or target as a share of a budget."""

    percent: PositivePercent
    of: Literal["input", "effective", "window", "reserve"]
    """`input`: window less output reserve (BUD-1). `effective`: 95 % of the window (TOK-11). `reserve`: window less the
    model's output, at most 20,000, less 13,000 (BUD-2)."""
    reserved: Whole = 0
    """Tokens taken off the budget before the share is taken."""
    over: bool = False
    """True for a line that has to be passed; else it is enough to reach it."""

    def is_reached(self, tokens: int, room: Room) -> bool:
        """True when a request of so many tokens is due by this line."""
        line = self.tokens(room)
        return tokens > line if self.over else tokens >= line

    def tokens(self, room: Room) -> int:
        """The line for a window, rounded down. Where the reserve takes the whole window the line is the window itself, so
        that nothing is due while the request fits."""
        budget = self.budget(room)
        return max(1, budget * self.percent // 100) if budget > 0 else room.window

    def budget(self, room: Room) -> int:
        """What the share is taken of; 0 where the reserve takes the whole window."""
        match self.of:
            case "input":
                return input_budget(room.window, room.output_cap)
            case "effective":
                return effective_budget(room.window, self.reserved)
            case "window":
                return room.window
            case "reserve":
                return reserve_threshold(room.window, room.output_max)
            case _:
                assert_never(self.of)


Lack: TypeAlias = Literal["", "model", "session", "provider"]
"""What a tier needs and the pure function does not have: a model to write, a session's records, a provider's service."""


class Tier(Struct, frozen=True, kw_only=True):
    """One place in a policy's order."""

    name: str
    reduce: Pass | None
    """What it plans with; `None` while what it needs is missing, and where no pass does it (`done`)."""
    needs: Lack = ""
    done: Literal["", "reminder", "restore"] = ""
    """What a session does at this place by itself, and no pass plans: the epoch's reminder (`Policy.handoff`), or what is restored
    behind each summary. Such a tier takes nothing out of a view."""
    ask: ModelPass | None = None
    """What it plans with where a model can be asked; such a tier is inactive without one."""
    when: Literal["always", "over", "blind"] = "over"
    """`always`: before every request, whatever its size. `over`: while the view is over the target. `blind`: then too, and before
    every request as long as nobody knows how full the window is."""
    due: Line | None = None
    """Runs only from here on, where the caller names no target; `None`: whenever it is over its target."""
    target: Line | None = None
    """Down to here, where the caller names no target; `None`: the policy's target."""
    gain_min: Positive = 1
    """Fewer tokens freed than this, and the plan is dropped (law GAIN)."""
    only_marks: bool = False
    """True for a tier that adds marks and frees nothing by itself: what it adds, the tiers behind it make room for."""


class Floor(Struct, frozen=True, kw_only=True, gc=False):
    """How much of one kind has to be kept of what a compaction takes out of the view."""

    kind: str
    """As the report's retention names it."""
    in_view: Percent = 0
    """Percent that must still be said in the view."""
    not_lost: Percent = 100
    """Percent that must be in view or behind an address in it."""


class Clears(Struct, frozen=True, kw_only=True, gc=False):
    """Clearing of old results by the provider's service, at stated counts of calls (requirement MIC-3)."""

    first_calls: Positive = 50
    every_calls: Positive = 25
    keep_results: Whole = 5
    """The newest stay."""
    tokens_least: Whole = 5_000
    """A clearing that frees less is not made: it costs the prompt cache from that point on (`clear_at_least`)."""


class Native(Struct, frozen=True, kw_only=True):
    """What the provider's own service does, in a session whose host passes it on (`foldline.open(native=True)`)."""

    clears: Clears | None = None
    """In the place of the policy's own clearing before every request."""
    compacts: bool = False
    """From the policy's threshold on, in the place of the tiers."""


class Policy(Struct, frozen=True, kw_only=True):
    """When, in which order, how far."""

    name: str
    sentence: str
    """What it is for, in one sentence."""
    source: str
    """The document its numbers come from."""
    threshold: Line
    """From here on a compaction is due."""
    target: Line
    """Down to here, where the caller names no target."""
    tiers: tuple[Tier, ...]
    handoff: Line | None = None
    """From here on, below the threshold, a hand-off note is due (requirement HND-1)."""
    advice: Line | None = None
    """From here on a compaction by hand is suggested."""
    forced: Line | None = None
    """From here on the request waits for it."""
    floors: tuple[Floor, ...] = ()
    """Below them a compaction is repaired within its budget, or refused."""
    native: Native = Native()
    """What the provider's service does in its place, where it may."""
    counter: str | None = None
    """The counter its document asks for; `None`: the model's own."""
    counting: Counting = Counting()
    """How a session projects the next request."""
    once_per_response: bool = False
    """True: a second compaction without a response between is refused (requirement CMP-18)."""
    is_reactive: bool = True
    """False: a provider's refusal for size is not recovered from (requirement REA-3)."""
    hooks_may_block: bool = True
    """False: what a hook blocks is shown and made all the same (requirements HOK-2, CMP-17)."""
    restores: bool = True
    """False: nothing is put behind what it folds (requirement RST-1; the document of `ladder-minimal` has no such step)."""
    skill_tokens: Positive | None = None
    """Of each skill that is restored behind a summary; `None`: as whoever restores has it (requirement RST-8)."""
    resumes_at_summary: bool = False
    """True: opened again, a session goes on from its last summary and what followed it (requirement JRN-8)."""

    def acts_on_each(self, *, is_window_known: bool) -> bool:
        """True where something is done before every request, whatever its size."""
        whens = {tier.when for tier in self.tiers}
        return "always" in whens or ("blind" in whens and not is_window_known)

    def tokens_target(self, room: Room) -> int:
        """The target for a window. A request that stands on the threshold is due, unless it has to be passed; one that is
        reduced comes below it then, also where the target is the threshold itself."""
        target = self.target.tokens(room)
        if self.threshold.over:
            return target
        return max(1, min(target, self.threshold.tokens(room) - 1))

    def advised(self, tokens: int, room: Room) -> tuple[str, ...]:
        """What a person is told of a request of so many tokens that nothing is due for yet; nothing below the policy's line for
        it (requirement BUD-4)."""
        if self.advice is None or not self.advice.is_reached(tokens, room):
            return ()
        if self.threshold.is_reached(tokens, room):
            return ()
        line = self.advice.tokens(room)
        return (
            f"{self.name} suggests to compact by hand from {line:,} tokens on, and the request has {tokens:,}",
        )

    @property
    def asking(self) -> tuple[Tier, ...]:
        """Tiers that ask a model, where there is one."""
        return tuple(tier for tier in self.tiers if tier.ask is not None)
