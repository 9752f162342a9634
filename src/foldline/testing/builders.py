"""Short ways to write messages down.

    [user("fix it"), assistant(call("read", path="a.py")), result("read", "text"), assistant("done")]

The messages are neutral: no wire format, results in messages of role `tool`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from foldline.core.edit import Frame
from foldline.core.message import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.core.ports import Moment, TokenCounter
from foldline.core.rounds import kept_seqs, outline_of, whole_units
from foldline.core.view import View
from foldline.reduce import history_of
from foldline.testing.counting import CharacterCounter


def system(text: str) -> Message:
    """A system message."""
    return Message(role="system", parts=(Text(text=text, slot=0),))


def user(*content: str | Part) -> Message:
    """A user message of texts and other parts."""
    return Message(role="user", parts=_parts(content))


def assistant(*content: str | Part) -> Message:
    """An assistant message of texts, calls and other parts."""
    return Message(role="assistant", parts=_parts(content))


def call(name: str, id: str | None = None, **arguments: Any) -> ToolCall:
    """A tool call; its id is its name where none is given."""
    return ToolCall(id=id or name, name=name, arguments=msgspec.json.encode(arguments).decode())


def result(id: str, *content: str | Media, is_error: bool = False, interim: bool = False) -> Message:
    """A message with the result of call `id`."""
    inner = tuple(Text(text=c) if isinstance(c, str) else c for c in content)
    part = ToolResult(call_id=id, content=inner, is_error=is_error, interim=interim, slot=0)
    return Message(role="tool", parts=(part,))


def thinking(text: str, signature: str | None = None) -> Reasoning:
    """Reasoning, signed by Anthropic where a signature is given."""
    return Reasoning(text=text, signature=signature, provider="anthropic" if signature else None)


def image(width: int = 1, kind: Literal["image", "document"] = "image") -> Media:
    """A small image (or document) whose base64 is `width` times as long as the smallest."""
    return Media(
        kind=kind, mime="image/png" if kind == "image" else "application/pdf", data="iVBORw0K" * width
    )


def view_from(
    messages: Sequence[Message], *, counter: TokenCounter | None = None, needs: Needs | None = None
) -> View:
    """A repaired, weighed view of messages."""
    return history_of(
        messages, needs=needs or Needs(), counter=counter or CharacterCounter(), tokens_fixed=0
    ).view


def frame_for(
    view: View,
    *,
    pins: Sequence[int] = (),
    counter: TokenCounter | None = None,
    originals: Sequence[Message] = (),
) -> Frame:
    """The frame an engine would make for a view; `originals` are what addresses point at."""
    pinned = frozenset(pins)
    structure = outline_of(view)
    kept = whole_units(structure, kept_seqs(structure) | pinned)
    return Frame(counter=counter or CharacterCounter(), pins=pinned, kept=kept, originals=tuple(originals))


def moment_for(view: View, target: int, **values: Any) -> Moment:
    """The moment in which `view` has to come down to `target` tokens."""
    return Moment(tokens_excess=view.tokens - target, tokens_target=target, **values)


def _parts(content: tuple[str | Part, ...]) -> tuple[Part, ...]:
    parts: list[Part] = [Text(text=c) if isinstance(c, str) else c for c in content]
    return tuple(msgspec.structs.replace(part, slot=index) for index, part in enumerate(parts))
