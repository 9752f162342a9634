"""What a request is made of, kept from one request to the next: a turn costs what is new in it, and not what was said before.

    request n        [u][a c1][r1] … [a c7][r7][u]              settled: repaired, weighed, joined, judged
    request n + 1    [u][a c1][r1] … [a c7][r7][u] [a c8][r8]   looked at: what came since

A view that has only grown is the one before with items behind it, which is seen by what it is made of (`View.extends`); any other,
after an edit, an undo, a rollback, another counter, is looked at whole, once. What is remembered is never an answer of its own: it is
what `foldline.session.projecting`, `foldline.outgoing` and the laws say of the whole, and the tests hold the two together.
Counterpart, for the repair alone: `foldline.core.growing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.growing import Growing
from foldline.core.laws import Violation
from foldline.core.message import Message, Role, calls_of, is_native_compaction, is_own, is_text
from foldline.core.needs import Needs
from foldline.core.pairing import Repair
from foldline.core.repair import Repaired
from foldline.core.view import Item, View, view_of
from foldline.log.state import Handoff
from foldline.outgoing import joined
from foldline.provider_rules import broken_laws
from foldline.session.handing_off import with_reminder
from foldline.session.projecting import Fixed, Parts, Sound, items_of, outgoing_messages, sound
from foldline.session.setup import Setup
from foldline.wire.codec import Request
from foldline.wire.formats import settle

ROLES = frozenset(get_args(Role))


class Fitting:
    """The view of one scope, fit to send."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._view: View | None = None
        self._growing = Growing(Needs())
        self._forget()

    def _forget(self) -> None:
        self._settled: list[Item] = []
        self._repairs: list[Repair] = []
        self._tokens = 0
        self._is_same = True
        """True while the settled items are those of the view."""

    def of(self, view: View, setup: Setup) -> Sound:
        """As `foldline.session.projecting.sound` has it."""
        key = (setup.needs, id(setup.counter), setup.format)
        if self._view is None or key != self._key or not view.extends(self._view):
            self._key, self._growing = key, Growing(setup.needs)
            self._forget()
        self._view = view
        first = self._growing.count
        new = tuple(view.since(first))
        grown = self._growing.grown(
            settle(setup.format, [item.message for item in new]),
            whole=lambda: settle(setup.format, [item.message for item in view]),
        )
        if grown.taken is not None:
            if grown.is_anew:
                self._forget()
                first, new = 0, view.items()
            count = self._growing.count - first
            self._settle(new[:count], grown.taken, first=first, setup=setup)
            first, new = self._growing.count, new[count:]
        if grown.rest is None:
            return sound(view, needs=setup.needs, counter=setup.counter, format=setup.format)
        rest = tuple(items_of(new, grown.rest.placed, counter=setup.counter, first=first))
        parts = Parts(
            settled=self._settled, count=len(self._settled), rest=rest, given=view, given_count=first
        )
        if self._is_same and _are_same(new, rest):
            return Sound(view=view, parts=parts)
        whole = View(
            head=(*self._settled, *rest),
            tokens=self._tokens + sum(item.tokens for item in rest),
            next_seq=view.next_seq,
        )
        return Sound(
            view=whole, repairs=(*self._repairs, *_named(grown.rest.repairs, new, first=first)), parts=parts
        )

    def _settle(
        self,
        new: Sequence[Item],
        taken: Repaired,
        *,
        first: int,
        setup: Setup,
    ) -> None:
        items = tuple(items_of(new, taken.placed, counter=setup.counter, first=first))
        self._is_same = self._is_same and _are_same(new, items)
        self._settled += items
        self._tokens += sum(item.tokens for item in items)
        self._repairs += _named(taken.repairs, new, first=first)


def _are_same(items: Sequence[Item], others: Sequence[Item]) -> bool:
    return len(items) == len(others) and all(one is other for one, other in zip(items, others, strict=True))


def _named(repairs: Sequence[Repair], given: Sequence[Item], *, first: int) -> list[Repair]:
    """Repairs by the ordinals of the log."""
    return [replace(one, seq=given[one.seq - first].seq) for one in repairs]


class Made(Struct, frozen=True, kw_only=True):
    """A request before it is put together, which costs as much as it is long."""

    format: str
    fixed: Fixed
    settled: list[Message]
    """The messages at its beginning that stay; this very list grows at its end."""
    count: int
    """So many of them; 0 for a request that was made whole."""
    rest: tuple[Message, ...]

    def __len__(self) -> int:
        return self.count + len(self.rest)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of them."""
        return (*islice(self.settled, self.count), *self.rest)

    def request(self) -> Request:
        """The request."""
        return Request(
            format=self.format, messages=self.messages, system=self.fixed.system, tools=self.fixed.tools
        )


class Joining:
    """The messages of one scope's requests, joined and judged as far as they stay."""

    def __init__(self) -> None:
        self._begin(None, ())

    def _begin(self, settled: list[Item] | None, key: tuple[Any, ...]) -> None:
        self._settled, self._key = settled, key
        self._count = self._given_count = 0
        self._messages: list[Message] = []
        self._lawful = 0
        """So many of them break no law."""
        self._is_apart = False
        """True for a history whose system messages may have to move, wherever they stand."""

    def made(self, fit: Sound, raw: View, *, fixed: Fixed, setup: Setup, handoff: Handoff | None) -> Made:
        """As `foldline.session.projecting.outgoing_messages` has them."""
        parts = fit.parts
        rest = None if parts is None else self._rest(parts, setup, handoff=handoff)
        if rest is None:
            whole = outgoing_messages(fit, raw, setup=setup, handoff=handoff)
            return Made(format=setup.format, fixed=fixed, settled=[], count=0, rest=whole)
        return Made(
            format=setup.format,
            fixed=fixed,
            settled=self._messages,
            count=len(self._messages),
            rest=tuple(rest),
        )

    def _rest(self, parts: Parts, setup: Setup, *, handoff: Handoff | None) -> list[Message] | None:
        """The messages behind the settled ones, which are taken in; `None` where the whole has to be joined."""
        key = (setup.codec, setup.needs, handoff)
        if parts.settled is not self._settled or key != self._key:
            self._begin(parts.settled, key)
        new = parts.settled[self._count : parts.count]
        if setup.codec.rules.needs.system_between:
            self._is_apart = self._is_apart or _has_system(new)
            if self._is_apart or _has_system(parts.rest):
                return None
        follows = dict(pairwise(item.seq for item in parts.given.since(self._given_count)))
        cut = parts.rest[0].seq
        is_first = not self._count
        self._messages += _joined(
            with_reminder(new, _within(handoff, None if is_first else new, until=cut), format=setup.format),
            setup,
            follows=follows,
        )
        self._count, self._given_count = parts.count, parts.given_count
        ours = _within(handoff, parts.rest, until=None)
        return _joined(with_reminder(parts.rest, ours, format=setup.format), setup, follows=follows)

    def violations(self, made: Made, needs: Needs) -> tuple[Violation, ...]:
        """The laws that the request broke which was made last."""
        new = made.settled[self._lawful : made.count]
        closed = replace(needs, tail_stays_open=False, first=ROLES if self._lawful else needs.first)
        is_lawful = made.count and not broken_laws(new, closed, is_whole=False)
        if not is_lawful or broken_laws(made.rest, replace(needs, first=ROLES)):
            return broken_laws(made.messages, needs)
        self._lawful = made.count
        return ()


def _joined(items: Sequence[Item], setup: Setup, *, follows: Mapping[int, int]) -> list[Message]:
    return joined(items, setup.codec, rules=setup.codec.rules, follows=follows)


def _within(handoff: Handoff | None, items: Sequence[Item] | None, *, until: int | None) -> Handoff | None:
    """The reminder where its place is among these items; `None`: they are the first. `until`: the ordinal behind them."""
    if handoff is None or (until is not None and handoff.after >= until):
        return None
    is_later = items is None or (bool(items) and items[0].seq <= handoff.after)
    return handoff if is_later else None


def _has_system(items: Sequence[Item]) -> bool:
    return any(item.message.role == "system" for item in items)


class Seen:
    """What one scope's view holds, counted as it grows."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._view = View()
        self._apart: View | None = None
        self.has_block = False
        """True where a compaction of the provider's service stands in the view."""
        self.calls = 0
        """In what is sent."""
        self.is_text = True
        self.is_own = True
        """True while every message stands as its author made it, and as the caller sends it."""

    @property
    def standing(self) -> View:
        """The part of the view that is sent: from the service's newest compaction on, which stands for all before it."""
        return self._view if self._apart is None else replace(self._apart, next_seq=self._view.next_seq)

    def of(self, view: View) -> Seen:
        """The same of this view, which is looked at from where the last one ended."""
        if not view.extends(self._view):
            self._forget()
        for place, item in enumerate(view.since(len(self._view)), len(self._view)):
            self._take(item, place)
        self._view = view
        return self

    def _take(self, item: Item, place: int) -> None:
        message = item.message
        self.is_text = self.is_text and is_text(message)
        self.is_own = self.is_own and is_own(message)
        if is_native_compaction(message):
            self.has_block = True
            if place:
                self._apart, self.calls = view_of(()), 0
        if self._apart is not None:
            self._apart = self._apart.append(item)
        self.calls += len(calls_of(message))
