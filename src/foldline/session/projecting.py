"""From a view of the log to a history fit to send: repaired, weighed, with what the passes need to know of the session.

What stands in the log is never mended: a repair is part of the projection, the same each time. A sound view is taken as it
is, and its weights are never counted again. Counterpart for a whole list of messages: `foldline.reduce.history_of`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.estimate import Counting, Estimate, project
from foldline.core.mending import mended
from foldline.core.message import Message
from foldline.core.needs import Needs
from foldline.core.pairing import Placed, Repair
from foldline.core.ports import TokenCounter
from foldline.core.repair import repair
from foldline.core.view import Item, View, item_of, view_of
from foldline.log.state import Anchor, Handoff, Node, Scope, State
from foldline.outgoing import fixed_tokens, joined
from foldline.session.handing_off import with_reminder
from foldline.session.setup import Setup
from foldline.wire.body import declared_limits, refused_names
from foldline.wire.codec import Request
from foldline.wire.formats import codec, settle


class Fixed(Struct, frozen=True, kw_only=True):
    """System prompt and tools, and what they weigh."""

    system: Message | None = None
    tools: bytes | None = None
    tokens: int = 0
    limits: tuple[tuple[str, int], ...] = ()
    refused: frozenset[str] = frozenset()
    """Names of tools that the format's provider refuses."""


def fixed_of(request: Request, counter: TokenCounter) -> Fixed:
    """The part of a request that no pass touches."""
    system = mended(request.system) if request.system is not None else None
    whole = replace(request, system=system)
    return Fixed(
        system=system,
        tools=request.tools,
        tokens=fixed_tokens(whole, counter),
        limits=declared_limits(request.tools),
        refused=refused_names(request.tools, codec(request.format).rules.needs.names_pattern),
    )


class Sound(Struct, frozen=True, kw_only=True):
    """A view fit to send."""

    view: View
    repairs: tuple[Repair, ...] = ()
    parts: Parts | None = None
    """The same in two parts, where its beginning stays as it is while the session goes on."""


class Parts(Struct, frozen=True, kw_only=True):
    """A fit view as `foldline.session.fitting` makes it: what is settled, and what is behind that."""

    settled: list[Item]
    """The beginning; this very list grows at its end, and whoever looks at it later looks at `count` of it."""
    count: int
    rest: tuple[Item, ...]
    given: View
    """Before any repair."""
    given_count: int
    """Items of `given` that came to be the settled ones."""


def sound(view: View, *, needs: Needs, counter: TokenCounter, format: str) -> Sound:
    """The view repaired; the very view where nothing was wrong with it."""
    given = view.items()
    messages = settle(format, [item.message for item in given])
    done = repair(messages, needs)
    items = tuple(items_of(given, done.placed, counter=counter))
    if len(items) == len(given) and all(new is old for new, old in zip(items, given, strict=True)):
        return Sound(view=view)
    repairs = tuple(replace(one, seq=given[one.seq].seq) for one in done.repairs)
    return Sound(view=view_of(items, next_seq=view.next_seq), repairs=repairs)


def items_of(
    given: Sequence[Item], placed: Sequence[Placed], *, counter: TokenCounter, first: int = 0
) -> Iterator[Item]:
    """The items behind repaired messages; one that a repair touched or put in is counted. `first`: the place of the first item
    in the history that was repaired."""
    for one in placed:
        item = given[one.seq - first]
        if one.message is item.message:
            yield item
            continue
        weights, overhead = counter.weights(one.message)
        covers = item.covers if one.message.synthetic == item.message.synthetic else ()
        yield item_of(item.seq, one.message, weights=weights, overhead=overhead, covers=covers)


def baseline(scope: Scope, counting: Counting) -> Anchor | None:
    """The usage that a policy counts from (requirement TOK-5)."""
    return None if counting.latest and scope.unsaid is not None else scope.anchor


def projected(scope: Scope, view: View, *, fixed: int, counting: Counting, beside: int = 0) -> Estimate:
    """The size of the next request: from the last usage on, where there is one that still counts (requirement TOK-3).
    `beside`: tokens of what is sent with the view and that usage did not count (TOK-7: the pending control message)."""
    anchor = baseline(scope, counting)
    if anchor is None:
        return project(view.tokens + beside, fixed=fixed, counting=counting)
    since = beside
    for item in reversed(view):
        if item.seq <= anchor.ordinal:
            break
        since += item.tokens
    return project(since, fixed=fixed, counting=counting, usage=anchor.usage, fixed_then=anchor.tokens_fixed)


def held_in(state: State, scope: str) -> frozenset[int]:
    """Ordinals of a view that belong to nodes that run: their place outside is not to be taken (requirements FUN-1,
    SNP-2)."""
    running: list[Node] = [node for node in state.nodes.values() if node.id != scope]
    held: set[int] = set()
    for node in running:
        held.add(node.start)
        held.update(item.seq for item in state.scopes[node.id].view)
    return frozenset(held)


def outgoing_messages(
    fit: Sound, raw: View, *, setup: Setup, handoff: Handoff | None = None
) -> tuple[Message, ...]:
    """What is sent: neighbours joined as the wire wants them, where a repair or an edit made them neighbours, and the
    epoch's reminder at its place. `raw`: the view before any repair."""
    codec = setup.codec
    follows = dict(pairwise(item.seq for item in raw))
    items = with_reminder(fit.view.items(), handoff, format=setup.format)
    return tuple(joined(items, codec, rules=codec.rules, follows=follows))
