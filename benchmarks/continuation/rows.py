"""The histories that are compared: ways to bring a prefix to a size, by name.

A row is a policy of foldline, or one of the plain ways people use. Each gives the items of a history; how they are
judged is not known here. A policy is named as `foldline policies` does, or by a dotted path to a `Policy` value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TypeAlias

from msgspec import Struct

from benchmarks.continuation.judge import Fact, Kind
from benchmarks.continuation.session import Session
from foldline.core.errors import UnknownPolicy
from foldline.core.message import Message, Text, speaks_for_user
from foldline.core.ports import TokenCounter
from foldline.core.rounds import outline_of
from foldline.core.view import Item, View, item_of
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.ledger.found_in_text import extract
from foldline.presets import policy_of
from foldline.reduce import Goal, History, reduce

LISTED: tuple[Kind, ...] = ("paths", "identifiers", "numbers", "names")
"""Kinds in a bare list."""
LIST_TOKENS = 8
"""What a message costs beside its text, at most."""
LINE_TOKENS = 1
"""What a line feed costs."""


class Case(Struct, frozen=True, kw_only=True):
    """A prefix to be brought to a size."""

    session: Session
    at: int
    prefix: History
    tokens_target: int

    @property
    def view(self) -> View:
        return self.prefix.view


class Kept(Struct, frozen=True, kw_only=True):
    """What a row made of a case."""

    items: tuple[Item, ...]
    report: Report | None = None
    """What foldline says it did; `None` for a plain way."""

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)


Row: TypeAlias = Callable[[Case], Kept]


def policy_row(name: str) -> Row:
    """The row of a policy. Raises `UnknownPolicy`."""
    return row_of(policy_named(name))


def row_of(policy: Policy) -> Row:
    """The row of a policy's value."""

    def keep(case: Case) -> Kept:
        goal = Goal(policy=policy, to=case.tokens_target)
        done = reduce(case.prefix, goal, counter=case.session.counter, report=Report(format="", model=None))
        return Kept(items=done.view.items(), report=done.report)

    return keep


def policy_named(name: str) -> Policy:
    """A policy by its name, or by `package.module.NAME` or `package.module:NAME`. Raises `UnknownPolicy`."""
    module, _, attribute = name.replace(":", ".").rpartition(".")
    if not module:
        return policy_of(name)
    value = getattr(import_module(module), attribute, None)
    if not isinstance(value, Policy):
        raise UnknownPolicy(name, ("a dotted path to a Policy",))
    return value


def last_units(case: Case) -> Kept:
    """System messages, then the newest whole units that fit."""
    return Kept(items=_with_tail(case, frozenset(), case.tokens_target))


def user_text(case: Case) -> Kept:
    """Every message of the user, newest first while they fit, and the newest whole units in what is left."""
    structure, left = outline_of(case.view), case.tokens_target - _system_tokens(case)
    kept: set[int] = set()
    for unit in reversed(structure.units):
        if unit.tokens <= left and speaks_for_user(structure.items[unit.start].message):
            left -= unit.tokens
            kept.update(range(unit.start, unit.end))
    return Kept(items=_with_tail(case, frozenset(kept), case.tokens_target))


def bare_list(case: Case) -> Kept:
    """One message: the facts of the prefix as the judge sees them, the newest first, as many as fit."""
    return Kept(items=(_listed(_judged_facts(case), case.tokens_target, case.session.counter),))


def half_list(case: Case) -> Kept:
    """Half of the budget a bare list, the other half the newest whole units."""
    listed = _listed(_judged_facts(case), case.tokens_target // 2, case.session.counter)
    return Kept(items=(listed, *_with_tail(case, frozenset(), case.tokens_target - listed.tokens)))


def ledger_list(case: Case) -> Kept:
    """As a bare list, of the facts that the ledger's extractors find: what they see, apart from how it is told."""
    return Kept(items=(_listed(_ledger_facts(case), case.tokens_target, case.session.counter),))


PLAIN: dict[str, Row] = {
    "last units": last_units,
    "user text + tail": user_text,
    "bare list": bare_list,
    "half list + tail": half_list,
    "bare list, ledger's": ledger_list,
}
"""The plain ways, by the name in the table."""


def _system_tokens(case: Case) -> int:
    return sum(unit.tokens for unit in outline_of(case.view).units if unit.kind == "system")


def _with_tail(case: Case, kept: frozenset[int], tokens_max: int) -> tuple[Item, ...]:
    """System messages, the items at the indexes `kept`, and the newest units that still fit, in place."""
    structure = outline_of(case.view)
    taken = set(kept)
    for unit in structure.units:
        if unit.kind == "system":
            taken.update(range(unit.start, unit.end))
    left = tokens_max - sum(structure.items[index].tokens for index in taken)
    for unit in reversed(structure.units):
        if unit.start in taken:
            continue
        if unit.tokens > left:
            break
        left -= unit.tokens
        taken.update(range(unit.start, unit.end))
    return tuple(structure.items[index] for index in sorted(taken))


def _judged_facts(case: Case) -> list[str]:
    """The facts of a prefix, newest first, each once."""
    newest: dict[Fact, None] = {}
    for index in reversed(range(case.at)):
        facts = case.session.facts(index)
        newest.update(dict.fromkeys(fact for fact in reversed(facts) if fact.kind in LISTED))
    return [str(fact) for fact in newest]


def _ledger_facts(case: Case) -> list[str]:
    newest: dict[tuple[str, str, str], str] = {}
    for index in reversed(range(case.at)):
        for fact in reversed(extract(case.session.words[index].text)):
            newest.setdefault((fact.kind, fact.key, fact.value), fact.text)
    return list(newest.values())


def _listed(lines: list[str], tokens_max: int, counter: TokenCounter) -> Item:
    """A message with as many of the lines as fit."""
    return listed_item(_that_fit(lines, tokens_max - LIST_TOKENS, counter), counter)


def listed_item(lines: Sequence[str], counter: TokenCounter) -> Item:
    """A message of lines, weighed."""
    message = Message(role="user", parts=(Text(text="\n".join(lines)),), synthetic="summary", edited=True)
    weights, overhead = counter.weights(message)
    return item_of(0, message, weights=weights, overhead=overhead)


def _that_fit(lines: list[str], tokens_max: int, counter: TokenCounter) -> list[str]:
    left = tokens_max
    for number, cost in enumerate(counter.texts(lines)):
        left -= cost + LINE_TOKENS
        if left < 0:
            return lines[:number]
    return lines
