"""What a compaction of a session asks of the outside, and who answers: the completer, and the hooks in their order.

    Ask ──► completer        Before ──► PreCompact        Started ──► SessionStart        After ──► PostCompact

One answerer waits, one awaits; the generators that ask know neither. Inside an answer the session compacts nothing, so that a
completer or a hook that speaks to it neither recurses nor waits for itself (requirement CMP-5).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.asking import Basis, aanswering, answering
from foldline.core.completion import Ask
from foldline.core.ports import TokenCounter
from foldline.core.view import Item
from foldline.hooks.hooks import HookAdded, Hooks
from foldline.hooks.occasion import Occasion, Trigger
from foldline.restore.restorer import Limits, Restored, Restorer
from foldline.restore.sources import SubAgent
from foldline.session.hosting import Host
from foldline.session.working import WITHIN_ASK
from foldline.threads import off


class Before(Struct, frozen=True, kw_only=True):
    """PreCompact is to be asked."""

    trigger: Trigger
    instructions: str = ""
    may_block: bool = True


class Started(Struct, frozen=True, kw_only=True):
    """SessionStart is to be asked."""

    trigger: Trigger


class After(Struct, frozen=True, kw_only=True):
    """PostCompact is to be told."""

    trigger: Trigger
    summary: str


class Restoring(Struct, frozen=True, kw_only=True):
    """What is to be put behind the summary."""

    items: tuple[Item, ...]
    """The view before the compaction."""
    room: int
    """Tokens that the target leaves for it."""
    counter: TokenCounter
    kept: tuple[Item, ...] = ()
    """What of the view stays, once that is known."""
    nodes: tuple[SubAgent, ...] = ()
    """The session's own that have not answered; for a host that does not say."""
    skill_tokens: int | None = None
    """Of each skill, where the policy says so and the host does not."""


Outside: TypeAlias = Ask | Before | Started | After | Restoring
Answerer: TypeAlias = Callable[[Outside], Any]
AsyncAnswerer: TypeAlias = Callable[[Outside], Awaitable[Any]]
BasisOf: TypeAlias = Callable[[], Basis]
OccasionOf: TypeAlias = Callable[[Trigger], Occasion]


def answerer(host: Host, *, basis_of: BasisOf, occasion_of: OccasionOf) -> Answerer:
    """Answers by waiting."""

    def answer(outside: Outside) -> Any:
        with _within():
            if isinstance(outside, Ask):
                return answering(host.completer, basis_of(), on_delta=host.listener.delta)(outside)
            if isinstance(outside, Restoring):
                return restored_for(host, outside)
            hooks, occasion = _hooks(host), occasion_of(outside.trigger)
            match outside:
                case Before(instructions=said, may_block=may):
                    return hooks.pre_compact(occasion, instructions=said, may_block=may)
                case Started():
                    return hooks.session_start(occasion)
                case After(summary=summary):
                    return hooks.post_compact(occasion, summary=summary)
                case never:
                    assert_never(never)

    return answer


def aanswerer(host: Host, *, basis_of: BasisOf, occasion_of: OccasionOf) -> AsyncAnswerer:
    """Answers by awaiting, with the event loop free."""

    async def answer(outside: Outside) -> Any:
        with _within():
            if isinstance(outside, Ask):
                basis = await off(basis_of)
                return await aanswering(host.completer, basis, on_delta=host.listener.delta)(outside)
            if isinstance(outside, Restoring):
                return await off(restored_for, host, outside)
            hooks, occasion = _hooks(host), occasion_of(outside.trigger)
            match outside:
                case Before(instructions=said, may_block=may):
                    return await hooks.apre_compact(occasion, instructions=said, may_block=may)
                case Started():
                    return await hooks.asession_start(occasion)
                case After(summary=summary):
                    return await hooks.apost_compact(occasion, summary=summary)
                case never:
                    assert_never(never)

    return answer


def owed(outside: Any) -> HookAdded | None:
    """What a hook comes to that a caller gave up waiting for, behind a compaction that stands: it and the ones after it are
    told all the same. `None` for what is asked before."""
    match outside:
        case Started():
            return HookAdded(notes=("SessionStart: the caller gave up waiting for it",))
        case After():
            return HookAdded(notes=("PostCompact: the caller gave up waiting for it",))
        case _:
            return None


@contextmanager
def _within() -> Iterator[None]:
    token = WITHIN_ASK.set(True)
    try:
        yield
    finally:
        WITHIN_ASK.reset(token)


def restored_for(host: Host, outside: Restoring) -> Restored:
    """What is put behind a summary. Reads the disk."""
    restorer = _restorer(host, outside)
    return restorer.restored(outside.items, room=outside.room, counter=outside.counter, kept=outside.kept)


def _restorer(host: Host, outside: Restoring) -> Restorer:
    """The host's, with what the session knows and the host does not say. Where the host has none (requirement RST-1: the step is
    mandatory): what the log says, and the files that calls touched below the workspace, unless that is a whole disk."""
    restorer: Restorer = host.restore or Restorer(
        workspace="" if host.workspace == os.path.dirname(host.workspace) else host.workspace
    )
    sources, limits = restorer.sources, restorer.limits
    if sources.nodes is None and outside.nodes:
        sources = replace(sources, nodes=lambda: outside.nodes)
    if outside.skill_tokens is not None and limits.skill_tokens == Limits().skill_tokens:
        limits = replace(limits, skill_tokens=outside.skill_tokens)
    return replace(restorer, sources=sources, limits=limits)


def _hooks(host: Host) -> Hooks:
    assert host.hooks is not None, "nothing is asked of hooks that there are not"
    hooks: Hooks = host.hooks
    return hooks
