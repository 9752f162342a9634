"""Runs one pass over messages as the engine would, and keeps what a test asks about.

Four characters are a token here, so that sizes can be written down. Every plan is applied, with all laws checked, and
planned again on its own result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from foldline.core.edit import Edit, Frame, Replace, apply
from foldline.core.message import Message, ToolResult, result_text
from foldline.core.ports import Pass
from foldline.core.view import View
from foldline.testing.builders import assistant, call, frame_for, moment_for, result, user, view_from

TARGET_NONE = -(10**9)
"""A target that no view meets, for passes that go by count and not by size."""


class Planned(NamedTuple):
    """What a pass did to a view."""

    before: View
    edits: tuple[Edit, ...]
    after: View
    again: tuple[Edit, ...]
    """What the same pass would do to its own result, at the same target."""

    @property
    def results(self) -> list[str]:
        """The text of every result afterwards, in order."""
        return [result_text(p) for i in self.after for p in i.message.parts if isinstance(p, ToolResult)]

    @property
    def edited(self) -> list[int]:
        """Ordinals of the messages with a replaced part."""
        return [edit.seq for edit in self.edits if isinstance(edit, Replace)]

    @property
    def folded(self) -> list[int]:
        """Ordinals that a synthetic message now stands for."""
        return [seq for i in self.after for span in i.covers for seq in range(span.start, span.end)]

    @property
    def texts(self) -> list[str]:
        """The plain text of every message afterwards."""
        return [item.message.text for item in self.after]


def planned(
    reduce: Pass,
    messages: Sequence[Message],
    *,
    target: int = 0,
    pins: Sequence[int] = (),
    limits: tuple[tuple[str, int], ...] = (),
    **moment: Any,
) -> Planned:
    """The pass run over messages down to `target` tokens; `moment` is what else it may know."""
    view = view_from(messages)
    frame = framed(view, messages, pins=pins, limits=limits)
    plan = reduce.plan(view, moment_for(view, target, **moment), frame)
    after = apply(view, plan.edits, frame=frame)
    follow = framed(after, messages, pins=pins, limits=limits)
    again = reduce.plan(after, moment_for(after, target, **moment), follow)
    return Planned(view, plan.edits, after, again.edits)


def framed(
    view: View,
    messages: Sequence[Message],
    *,
    pins: Sequence[int] = (),
    limits: tuple[tuple[str, int], ...] = (),
) -> Frame:
    """The frame of a view, with what tools declared."""
    frame = frame_for(view, pins=pins, originals=messages)
    return Frame(
        counter=frame.counter, pins=frame.pins, kept=frame.kept, limits=limits, originals=frame.originals
    )


def work(count: int, *, tool: str = "read_file", chars: int = 800) -> list[Message]:
    """A user's wish and `count` rounds that each call a tool once; call n reads another file."""
    return [user("go"), *(message for n in range(count) for message in one_round(n, tool=tool, chars=chars))]


def one_round(
    number: int, *, tool: str = "read_file", chars: int = 800, error: bool = False
) -> Iterator[Message]:
    """A call and its result."""
    yield assistant(call(tool, f"c{number}", path=f"{number}.py"))
    yield result(f"c{number}", f"{number:04}" + "x" * (chars - 4), is_error=error)


def talk(count: int, *, chars: int = 200) -> list[Message]:
    """`count` messages of a user and an assistant in turn, the user's last, without a call."""
    return [(assistant, user)[(count - n) % 2](f"{n:04} " + "talk " * (chars // 5 - 1)) for n in range(count)]
