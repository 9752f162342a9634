"""Histories to be summed up, and a driver that answers a pass's questions from a script and keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from foldline.core.completion import Ask, ModelPass, Reply
from foldline.core.edit import Frame, Plan
from foldline.core.message import Message
from foldline.core.view import View
from foldline.engine.driving import drive
from foldline.testing.builders import assistant, call, frame_for, moment_for, result, user, view_from

RULE = "Never touch files under vendor/."
GOOD = (
    "<summary>The login bug was traced to the comparison of tokens, because equality leaks timing. It is now done in constant "
    "time. What is left is to run the tests and to write the change log.</summary>"
)


def work(rounds: int, *, lines: int = 12, turn: int = 6) -> list[Message]:
    """A user's task with a rule, and rounds in which files are read; every `turn` rounds the user says go on."""
    history: list[Message] = [user(f"Fix the login bug in src/auth/login.py. {RULE}")]
    for n in range(rounds):
        history.append(assistant(f"Reading file {n}.", call("read_file", f"c{n}", path=f"src/mod{n}.py")))
        text = "\n".join(f"line {k} of module {n} sets value_{n}_{k} = {n * k + 7}" for k in range(lines))
        history.append(result(f"c{n}", text))
        if n % turn == turn - 1:
            history += [assistant(f"File {n} is done."), user(f"Good, go on with part {n // turn}.")]
    return history


def frame_of(view: View, messages: list[Message], **values: Any) -> Frame:
    """The frame of a compaction that may ask: the view it began with is the live one."""
    return replace(frame_for(view, originals=messages), live=view.items(), **values)


class Script:
    """Answers in order, the last one again and again; keeps what was asked."""

    def __init__(self, *replies: Reply | str | Callable[[Ask], Reply]) -> None:
        self.replies, self.asked = replies, list[Ask]()

    def __call__(self, ask: Ask) -> Reply:
        """The next answer."""
        said = self.replies[min(len(self.asked), len(self.replies) - 1)]
        self.asked.append(ask)
        if isinstance(said, str):
            return Reply(text=said, stop_reason="end_turn")
        return said if isinstance(said, Reply) else said(ask)


def planned(
    one: ModelPass, messages: list[Message], target: int, script: Script, **values: Any
) -> tuple[View, Plan, Frame]:
    """What a pass plans for a history that has to come down to `target` tokens."""
    view = view_from(messages)
    frame = frame_of(view, messages)
    moment = moment_for(view, target, has_model=True, **values)
    return view, drive(one.asking(view, moment, frame=frame), script), frame


OVERFLOW = Reply(error="prompt is too long: 300,000 tokens > 200,000 maximum", is_overflow=True)
BROKEN = Reply(error="APIError: overloaded")
