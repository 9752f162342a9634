"""The named policies: values made of passes, thresholds and targets.

Each but `balanced` carries the numbers of one design document (`docs/reference/policies.md` names it), row for row of
its presets table. Tiers that need a model, a session's records or a provider's service are named and inactive here.
A name that is none of them is one of the user's own (`foldline.policy_file`). Counterpart: `foldline.engine.policy`, which
says what a policy is.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from foldline.core.budget import result_limits
from foldline.core.errors import InvalidOption, UnknownPolicy
from foldline.core.estimate import Counting
from foldline.engine.policy import Clears, Floor, Line, Native, Policy, Tier
from foldline.ledger.retention import KINDS
from foldline.ledger.tools import CASCADE_KINDS
from foldline.passes.bounded_fold import BoundedFold
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.collapse import Collapse
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.fold_range import FoldRange
from foldline.passes.microcompact import Microcompact
from foldline.passes.snip import Snip
from foldline.policy_file import read_policy
from foldline.settings import WrittenPolicy, load
from foldline.summary.full_summary import FullSummary
from foldline.summary.prose_ledger import ProseLedger
from foldline.summary.segments import Segments

WINDOW_SHOWN = 200_000
"""The window that `foldline policies` shows numbers for."""
INPUT_80 = Line(percent=80, of="input")
INPUT_70 = Line(percent=70, of="input")
TRIGGER = Line(percent=85, of="effective", over=True)


FLOORS = tuple(Floor(kind=kind, in_view=100 if kind in ("constraints", "pins") else 0) for kind in KINDS)
"""No document sets a rate of its own: nothing may be lost, and rules and pins stay in view."""


HANDOFF = FullSummary(
    name="auto-compact",
    form="handoff",
    keep="percent",
    keep_count=20,
    is_fork=False,
    attempts=3,
    retries_errors=True,
    shrinks=True,
)
"""Its own call on text and placeholders, the newest fifth kept (requirements CMP-9 to 11)."""
RESERVE = FullSummary(name="auto-compact", form="reserve", keep="rounds", keep_count=2, summary_tokens=0)
"""A fork, the last two rounds kept (requirements CMP-2, CMP-6)."""
LADDER = FullSummary(
    name="auto-compact",
    form="ladder",
    keep="messages",
    keep_count=10,
    is_fork=False,
    summary_tokens=2_000,
    attempts=2,
)
"""The smallest oldest part, never one of the last ten messages (requirement CMP-25)."""
CASCADE = FullSummary(
    name="auto-compact",
    form="full",
    keep="turns",
    keep_count=2,
    is_fork=False,
    summary_tokens=5_000,
    attempts=2,
)
"""One call, the last two turns whole (requirement CMP-37)."""


def _ledger(*, due: Line | None = None, target: Line | None = None) -> Tier:
    """The deterministic last tier: where a model fails or is absent, and before a request that would not fit."""
    return Tier(name="ledger", reduce=FoldOldest(name="ledger"), due=due, target=target)


def _balanced(_window: int | None) -> Policy:
    return Policy(
        name="balanced",
        sentence="Shrinks at the least loss: oversized results, then old tool output, then old rounds.",
        source="ours: docs/decisions/0005-balanced.md",
        floors=FLOORS,
        threshold=INPUT_80,
        target=Line(percent=50, of="input"),
        tiers=(
            Tier(
                name="budget-reduction",
                reduce=BudgetReduction(
                    unit="tokens",
                    limit=4000,
                    head=1500,
                    tail=500,
                    per_tool=(("file_read", 8000), ("shell", 2000)),
                    carry=300,
                    keep_share=0.7,
                ),
            ),
            Tier(
                name="microcompact",
                reduce=Microcompact(to_target=True, only_enough=True, keep_share=0.5, carry_tokens=120),
            ),
            Tier(name="auto-compact", reduce=None, ask=ProseLedger(name="auto-compact"), needs="model"),
            _ledger(),
        ),
    )


def _handoff(window: int | None) -> Policy:
    per_turn, per_result = result_limits(window)
    clamp = BudgetReduction(
        limit=per_result,
        head=per_result * 3 // 4,
        tail=per_result - per_result * 3 // 4,
        per_turn=per_turn,
    )
    return Policy(
        name="handoff",
        sentence="A hand-off note before the line, then local reduction, then a ledger with exact records.",
        source="A: context module of a coding agent",
        floors=FLOORS,
        threshold=INPUT_80,
        target=INPUT_70,
        handoff=INPUT_70,
        tiers=(
            Tier(name="budget-reduction", reduce=clamp, when="always"),
            Tier(name="hand-off", reduce=None, needs="session", done="reminder"),
            Tier(
                name="microcompact",
                reduce=Microcompact(idle_over_s=60, keep_rounds=3, keep_results=0),
                needs="session",
                when="always",
            ),
            Tier(name="snip", reduce=Snip(unit="tool-rounds"), when="blind", due=INPUT_80, target=INPUT_70),
            Tier(name="auto-compact", reduce=None, ask=HANDOFF, needs="model", due=INPUT_80),
            Tier(name="ledger", reduce=BoundedFold(name="ledger"), due=INPUT_80),
        ),
    )


def _reserve(_window: int | None) -> Policy:
    return Policy(
        name="reserve",
        sentence="One summary by the same model on the live prefix, before the request that would cross the line.",
        source="B: message-compact specification",
        counting=Counting(growth=False, fixed=False, latest=False),
        resumes_at_summary=True,
        hooks_may_block=False,
        is_reactive=False,
        threshold=Line(percent=100, of="reserve"),
        target=Line(percent=100, of="reserve"),
        tiers=(Tier(name="auto-compact", reduce=None, ask=RESERVE, needs="model"),),
    )


def _minimal(_window: int | None) -> Policy:
    return Policy(
        name="ladder-minimal",
        sentence="The oldest messages go, a notice stays; no model, no tokenizer.",
        source="C: four-level pipeline, minimal scale",
        once_per_response=True,
        floors=FLOORS,
        threshold=TRIGGER,
        target=TRIGGER,
        counter="length/4",
        restores=False,
        tiers=(Tier(name="snip", reduce=Snip(over_messages=50)), _ledger()),
    )


def _ladder(name: str, reserved: int, *tail: Tier) -> Policy:
    trigger = Line(percent=85, of="effective", reserved=reserved, over=True)
    half = Line(percent=50, of="effective", reserved=reserved)
    truncate = BudgetReduction(
        name="microcompact",
        unit="tokens",
        limit=4000,
        head=1500,
        tail=500,
        per_tool=(("file_read", 8000), ("shell", 2000)),
    )
    return Policy(
        name=name,
        sentence="Four levels, cheapest first: snip, truncate, collapse, summarise to half the budget.",
        source="C: four-level pipeline",
        once_per_response=True,
        skill_tokens=1_500,
        floors=FLOORS,
        threshold=trigger,
        target=trigger,
        tiers=(
            Tier(name="snip", reduce=Snip(over_messages=20)),
            Tier(name="microcompact", reduce=truncate),
            Tier(name="collapse", reduce=Collapse(window=15)),
            Tier(name="auto-compact", reduce=None, ask=LADDER, needs="model", due=trigger, target=half),
            Tier(name="fold-range", reduce=FoldRange(), due=trigger, target=half),
            _ledger(due=trigger, target=half),
            *tail,
        ),
    )


def _professional(_window: int | None) -> Policy:
    return _ladder("ladder-professional", 0)


def _enterprise(_window: int | None) -> Policy:
    return _ladder(
        "ladder-enterprise", 1000, Tier(name="rebuild", reduce=None, needs="session", done="restore")
    )


def _cascade(_window: int | None) -> Policy:
    line = Line(percent=90, of="window")
    clear = Microcompact(kinds=CASCADE_KINDS, first_calls=50, every_calls=25, idle_from_s=5400)
    return Policy(
        name="cascade",
        sentence="Results are cut before every request and cleared by count; whole turns go before anything is summarised.",
        source="D: budget reduction and five-tier cascade",
        floors=FLOORS,
        threshold=line,
        target=line,
        forced=Line(percent=95, of="window"),
        advice=Line(percent=60, of="window"),
        native=Native(clears=Clears()),
        tiers=(
            Tier(name="budget-reduction", reduce=BudgetReduction(), when="always"),
            Tier(name="microcompact", reduce=clear, when="always"),
            Tier(name="snip", reduce=Snip(unit="turns")),
            Tier(name="collapse", reduce=None, ask=Segments(name="collapse"), needs="model"),
            Tier(name="auto-compact", reduce=None, ask=CASCADE, needs="model"),
            _ledger(),
        ),
    )


LAST_RESORTS = {"ladder-professional": 3, "ladder-enterprise": 0}
"""Newest messages that stay when nothing else helped (requirement CMP-39)."""


def last_resort(name: str) -> Policy:
    """What a caller falls back to who was told `ContextExhausted` by one of the ladders: a policy that keeps the newest three
    messages (`ladder-professional`) or none (`ladder-enterprise`) beside the system prompt, the last user message, pins and
    an open round, and sums up the rest. Raises `InvalidOption` for a policy that has none."""
    if name not in LAST_RESORTS:
        raise InvalidOption("policy", name, why=f"only {' and '.join(LAST_RESORTS)} have a last resort")
    keep = LAST_RESORTS[name]
    summary = FullSummary(
        name="auto-compact",
        form="ladder",
        keep="newest",
        keep_count=keep,
        is_fork=False,
        summary_tokens=2_000,
        attempts=2,
    )
    tiers = (Tier(name="auto-compact", reduce=None, ask=summary, needs="model"), _ledger())
    return replace(policy_of(name), tiers=tiers, once_per_response=False)


POLICIES: dict[str, Callable[[int | None], Policy]] = {
    "balanced": _balanced,
    "handoff": _handoff,
    "reserve": _reserve,
    "ladder-minimal": _minimal,
    "ladder-professional": _professional,
    "ladder-enterprise": _enterprise,
    "cascade": _cascade,
}
"""By name: what makes the policy for a window (tokens, `None` when it is not known)."""


def policy_of(name: str | Policy, tokens_window: int | None = None) -> Policy:
    """The policy of that name for a window; a policy value is taken as it is. One of the user's own has the same numbers for
    every window. Raises `UnknownPolicy`, which lists what there is, and `InvalidOption` for one that is written wrongly."""
    if isinstance(name, Policy):
        return name
    own = own_policies()
    if name in POLICIES:
        return POLICIES[name](tokens_window)
    if name not in own:
        raise UnknownPolicy(name, (*POLICIES, *own))
    return read_policy(name, own[name].table, file=own[name].file)


def refuse_no_policy(given: object) -> None:
    """Raise `InvalidOption` for what is neither a policy nor a text that may name one."""
    if not isinstance(given, (str, Policy)):
        raise InvalidOption("policy", given, why="give a policy's name (`foldline policies` lists them)")


def own_policies() -> dict[str, WrittenPolicy]:
    """The user's own, as their files have them. Raises `InvalidOption` for one that takes the name of a preset: what a name
    stands for must not depend on the folder."""
    own = load().policies
    for name in POLICIES:
        if name in own:
            why = f"in {own[name].file}: a policy of this name comes with foldline; take another"
            raise InvalidOption("policies", name, why=why)
    return own
