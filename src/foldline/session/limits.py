"""What a session plans with beside the table of models: the limit that its provider once named for this model and endpoint.

    refused ──► learned: planned with from here on, and kept in the home ──► the next process plans with it
    answered with more input than that ──► forgotten: it no longer holds

The user's own word goes first where it was changed since. A model without a name has no limit that could be kept. A home that
cannot be read or written costs the note alone. Counterpart: `foldline.stores.limits`, the file.
"""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.errors import InvalidOption
from foldline.log.said import time_told
from foldline.presets import policy_of
from foldline.session.setup import Setup, setup_again
from foldline.settings import Planned
from foldline.stores.limits import Limit

HELD = "a limit that its provider named is not kept for the next process: {why}"


def with_limit(setup: Setup) -> Setup:
    """The settings with what is known of this model at this endpoint."""
    if setup.asked.limits is None or setup.model is None:
        return setup
    try:
        limit = setup.asked.limits.of(setup.model, setup.asked.endpoint)
    except (OSError, InvalidOption) as error:
        return _noted(setup, f"limits that providers named are not known: {error}")
    if limit is None or not holds(limit, setup.planned):
        return setup
    return _planned(setup, limit, note=_kept_note(limit))


def holds(limit: Limit, planned: Planned) -> bool:
    """True where a limit is planned with: below the window, unless that was stated anew since."""
    changed = planned.source == "override" and planned.window != limit.instead_of
    return limit.tokens < planned.window and not changed


def learned(setup: Setup, tokens: int) -> Setup:
    """The settings after a refusal that named a limit; the same where it is none."""
    window = setup.planned.window
    if tokens <= 0 or tokens >= window:
        return setup
    before = setup.learned.instead_of if setup.learned is not None else window
    limit = Limit(
        model=setup.model or "",
        endpoint=setup.asked.endpoint,
        tokens=tokens,
        instead_of=before,
        time_ms=setup.asked.clock(),
    )
    note = f"the provider named a limit of {tokens:,} tokens, which is planned with from here on in the place of {before:,}"
    setup = _planned(setup, limit, note=note)
    if setup.asked.limits is None or setup.model is None:
        return setup
    try:
        setup.asked.limits.keep(limit)
    except (OSError, InvalidOption) as error:
        return _noted(setup, HELD.format(why=error))
    return setup


def outgrown(setup: Setup, tokens: int) -> Setup:
    """The settings after a request of so many tokens was answered: a limit below that no longer holds."""
    limit = setup.learned
    if limit is None or tokens <= limit.tokens:
        return setup
    fresh = setup_again(setup, model=setup.model)
    note = f"a request of {tokens:,} tokens was answered, so the limit of {limit.tokens:,} is forgotten"
    if setup.asked.limits is not None:
        try:
            setup.asked.limits.forget(limit)
        except (OSError, InvalidOption) as error:
            note = f"{note} in this process; the file keeps it: {error}"
    return _noted(fresh, note)


def _planned(setup: Setup, limit: Limit, *, note: str) -> Setup:
    planned = replace(
        setup.planned,
        window=limit.tokens,
        window_whole=None,
        is_window_known=True,
        source="refusal",
        notes=(*setup.planned.notes, note),
    )
    return replace(setup, planned=planned, learned=limit, policy=policy_of(setup.asked.policy, limit.tokens))


def _noted(setup: Setup, note: str) -> Setup:
    return replace(setup, planned=replace(setup.planned, notes=(*setup.planned.notes, note)))


def _kept_note(limit: Limit) -> str:
    where = f" at {limit.endpoint}" if limit.endpoint else ""
    when = f" on {time_told(limit.time_ms)}" if limit.time_ms is not None else ""
    return (
        f"planned with {limit.tokens:,} tokens in the place of {limit.instead_of:,}: the provider named that limit for "
        f"{limit.model}{where}{when}; state the window in foldline.toml, or drop it with `foldline models {limit.model} --forget-limits`"
    )
