"""What a session works with: wire format, model, policy, counter and clock, resolved once and passed on as a value.

Knows the names of all of them; nothing below reads a setting again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.errors import InvalidOption
from foldline.core.needs import Needs
from foldline.core.ports import Pages, TokenCounter
from foldline.engine.policy import Policy, Tier
from foldline.log.checkpoint import EVERY
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.microcompact import Microcompact
from foldline.presets import POLICIES, policy_of
from foldline.session.hosting import Host
from foldline.session.keep import Durability
from foldline.settings import Planned, in_window, plan_for
from foldline.stores.limits import Limit, Limits
from foldline.tokens.choose import counter_for
from foldline.wire import strict
from foldline.wire.codec import Codec
from foldline.wire.formats import CODECS, DEFAULT, codec

GENTLE: Final = (BudgetReduction, Microcompact)
"""Passes that may run inside a node while it runs: they shorten results, and nothing leaves (requirement FUN-4)."""

SPEAKS: Final = {
    "claude": ("anthropic",),
    "gemini": ("gemini",),
    "gpt": ("openai-chat", "openai-responses"),
}
"""By a word of a model's name: the formats that its own provider speaks."""


class SessionOptions(Struct, frozen=True, kw_only=True):
    """What a session is opened with."""

    model: str | None = None
    policy: str | Policy = "balanced"
    format: str | None = None
    counter: str | None = None
    """By name; it stays when the model changes."""
    durability: Durability = "event"
    redact: Callable[[bytes], bytes] = lambda body: body
    clock: Callable[[], int | None] = lambda: None
    """Unix time in milliseconds, as the store stamps its entries; it says how long a session was idle."""
    checkpoint_every: int = EVERY
    """Entries after which a checkpoint is written (requirement JRN-13)."""
    window: int | None = None
    """Tokens of the window, whatever the model; `None`: the model's."""
    native: bool = False
    """True where the host passes on what a request asks of the provider's service."""
    endpoint: str = ""
    """The base URL that requests go to, where the host says it."""
    limits: Limits | None = None
    """Where limits that providers named are kept; `None`: nowhere."""
    host: Host = Host()
    """Who is asked and told."""


class Setup(Struct, frozen=True, kw_only=True, dict=True):
    """One session's."""

    format: str
    model: str | None
    policy: Policy
    planned: Planned
    counter: TokenCounter
    asked: SessionOptions
    """What it was opened with. A preset is looked up anew for another model's window; a policy that is a value stays as it is, and so
    does one of the user's own, whose file may be another by then: it is a value here."""
    learned: Limit | None = None
    """The limit of its provider's that is planned with."""
    names_kept: frozenset[str] = frozenset()
    """Names of the host's own tools that the format's provider refuses; whoever serves it takes them, or refuses the tools too."""

    @cached_property
    def codec(self) -> Codec:
        """The format's."""
        return codec(self.format)

    @cached_property
    def needs(self) -> Needs:
        """What the format's provider demands; results may still come."""
        return replace(self.codec.rules.needs_for(self.model), names_kept=self.names_kept)

    @cached_property
    def inside(self) -> Policy:
        """The policy of a node that runs: of its tiers those that only shorten."""
        gentle = tuple(_alone(tier) for tier in self.policy.tiers if _is_gentle(tier))
        return replace(self.policy, tiers=gentle)


def _is_gentle(tier: Tier) -> bool:
    return isinstance(tier.reduce, GENTLE)


def _alone(tier: Tier) -> Tier:
    """The tier where no fold follows: it clears what it can, though that be not enough."""
    reduce = tier.reduce
    return (
        replace(tier, reduce=replace(reduce, only_enough=False)) if isinstance(reduce, Microcompact) else tier
    )


def setup_for(asked: SessionOptions, *, format: str, model: str | None) -> Setup:
    """Resolve a session's settings, for the format that it speaks and the model that it has now. Raises `InvalidOption`,
    `UnknownPolicy`, `UnknownFormat`."""
    codec(format)
    planned = plan_for(model)
    if asked.window is not None:
        planned = in_window(planned, asked.window)
    other = _other_format(model, format)
    if other:
        note = (
            f"the session speaks {format}, and so do its requests; {model} is served in {other}: "
            f"convert them, or `foldline export` the session and import it with a model of its own"
        )
        planned = replace(planned, notes=(*planned.notes, note))
    chosen = policy_of(asked.policy, planned.window)
    named = asked.counter or chosen.counter or planned.counter
    is_preset = isinstance(asked.policy, str) and asked.policy in POLICIES
    return Setup(
        format=format,
        model=model,
        policy=chosen,
        planned=planned,
        counter=counter_for(model, counter=named, wire=format),
        asked=asked if is_preset else replace(asked, policy=chosen),
    )


def setup_again(setup: Setup, *, model: str | None) -> Setup:
    """The same session's settings for another model."""
    return setup_for(setup.asked, format=setup.format, model=model)


def _other_format(model: str | None, format: str) -> str:
    """The format a model's own provider speaks, where it is none of the session's family; empty where nothing is known of it,
    or the format is not one of a provider."""
    spoken = _spoken_by(model)
    return "" if not spoken or format in (*spoken, DEFAULT) else spoken[0]


def _spoken_by(model: str | None) -> tuple[str, ...]:
    """The formats that a model's own provider speaks, the usual one first; empty where nothing is known of it."""
    name = (model or "").lower()
    return next((formats for word, formats in SPEAKS.items() if word in name), ())


def model_in(pages: Pages) -> str | None:
    """The model that a log's first line names."""
    about = strict.loads(pages.about)
    found = about.get("model") if isinstance(about, dict) else None
    return found if isinstance(found, str) else None


def format_for(model: str | None, given: str | None) -> str:
    """The wire format of a new session: the one given, else the one that the model's own provider speaks. Raises
    `InvalidOption`."""
    if given is not None:
        if given not in CODECS:
            raise InvalidOption("format", given, why=f"a session speaks one of {', '.join(CODECS)}")
        return given
    return next(iter(_spoken_by(model)), DEFAULT)
