"""Passes that do what a test says, and note what they were asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foldline.core.address import block
from foldline.core.completion import Ask, Asked, Failure, Planning
from foldline.core.edit import Drop, Edit, Fold, Frame, Plan
from foldline.core.message import Message, Text
from foldline.core.ports import Moment
from foldline.core.view import Span, View
from foldline.engine.policy import Line, Policy, Tier

LINE = Line(percent=50, of="window")


class Scripted:
    """A pass whose edits are made by a function of the view; keeps every moment it was asked at."""

    def __init__(self, name: str, edits: Callable[[View], tuple[Edit, ...]], *hints: str) -> None:
        self.name, self.edits, self.hints = name, edits, hints
        self.moments: list[Moment] = []

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """The scripted edits."""
        self.moments.append(moment)
        return Plan(edits=self.edits(view), hints=self.hints)


class Asking:
    """A pass that asks once, and does what the reply says where it says anything: a fold of one range, half-open."""

    def __init__(self, start: int, end: int, name: str = "auto-compact") -> None:
        self.name = name
        self._range = (start, end)
        self.moments: list[Moment] = []

    def asking(self, view: View, moment: Moment, *, frame: Frame) -> Planning:
        """The fold, with the model's words in it."""
        self.moments.append(moment)
        live = frame.live
        reply = yield Ask(messages=(), live=live, is_fork=True, instruction="Sum it up")
        if not reply.text:
            failure = Failure(name="empty", attempt=1, why="no text")
            return Plan(asked=Asked(form="full", requests=1, attempts=1, failures=(failure,)))
        done = folding(*self._range, says=reply.text).edits(view)
        return Plan(edits=done, asked=Asked(form="full", requests=1, attempts=1, is_written=True))


def asking_tier(one: Asking, **values: Any) -> Tier:
    """A tier that needs a model."""
    return Tier(name=one.name, reduce=None, ask=one, needs="model", **values)


def idle(name: str = "idle") -> Scripted:
    """A pass that finds nothing to do."""
    return Scripted(name, lambda view: ())


def dropping(*seqs: int, name: str = "drop") -> Scripted:
    """A pass that drops these ordinals."""
    return Scripted(name, lambda view: tuple(Drop(span=Span(start=seq, end=seq + 1)) for seq in seqs))


def folding(start: int, end: int, *, says: str = "what went", name: str = "fold") -> Scripted:
    """A pass that folds one range, half-open."""
    address = f"m{start}-{end - 1}@00000000"
    message = Message(role="user", parts=(Text(text=block("fold", address, body=says)),), synthetic="fold")
    edit = Fold(spans=(Span(start=start, end=end),), message=message, address=address)
    return Scripted(name, lambda view: (edit,))


def tier(one: Scripted, **values: Any) -> Tier:
    """A tier named as its pass."""
    return Tier(name=one.name, reduce=one, **values)


def policy(*tiers: Tier) -> Policy:
    """A policy of these tiers."""
    return Policy(
        name="scripted", sentence="For tests.", source="none", threshold=LINE, target=LINE, tiers=tiers
    )
