"""Hypothesis strategies of sessions: sound ones, and ones broken as real histories are.

`sessions()` draws neutral messages with everything the laws speak of; `broken_sessions()` adds what arrives damaged:
results late, twice, interim, missing or without a call, ids used twice, ids and names that providers refuse, empty messages,
half surrogate pairs.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec
from hypothesis import strategies as st

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult

TOOLS = ("read_file", "bash", "grep", "edit_file", "web_search", "request_approval", "custom")
WORDS = (
    "plan",
    "the port is 8080",
    "错误 in main.py",
    "don't touch src/db",
    "naïve 🙂‍↔️",
    "x" * 900,
    "line\n" * 60,
)

texts = st.one_of(st.sampled_from(WORDS), st.text(max_size=40).filter(lambda text: text.strip() != ""))
"""Texts with a visible character: short, long, CJK, emoji."""
blank_texts = st.sampled_from(("", " ", "\n\t "))
odd_ids = st.sampled_from(("functions.Read:0", "", "a b", "é", "a\ud83d", "c" * 41, "c" * 65))
odd_names = st.sampled_from(("fs.read", "read file", "读取", "", "a\ud83d", "n" * 65, "n" * 129, "n" * 201))
torn_texts = st.sampled_from(("a\ud83d", "\udc00b", "x\ud800y"))


@st.composite
def media(draw: st.DrawFn) -> Media:
    """An image or a document, by data or by address."""
    kind: Literal["image", "document"] = draw(st.sampled_from(("image", "document")))
    mime = "image/png" if kind == "image" else "application/pdf"
    if draw(st.booleans()):
        return Media(kind=kind, mime=mime, data="iVBORw0KGgo=")
    return Media(kind=kind, mime=mime, url="https://example.com/a.png")


@st.composite
def results(draw: st.DrawFn, call_id: str) -> ToolResult:
    """A result for a call: text short or long, an image, an error, or nothing at all, which no failure is."""
    content: list[Text | Media | Opaque] = [Text(text=text) for text in draw(st.lists(texts, max_size=2))]
    if draw(st.integers(0, 9)) == 0:
        content.append(draw(media()))
    is_error = bool(content) and draw(st.integers(0, 5)) == 0
    return ToolResult(call_id=call_id, content=tuple(content), is_error=is_error)


@st.composite
def rounds(draw: st.DrawFn, number: int, *, answered: bool = True) -> list[Message]:
    """One assistant message with up to four parallel calls and their results in any order."""
    calls = [
        ToolCall(
            id=f"c{number}_{n}",
            name=draw(st.sampled_from(TOOLS)),
            arguments=msgspec.json.encode({"path": draw(st.sampled_from(WORDS[:4])), "n": n}).decode(),
        )
        for n in range(draw(st.integers(0, 4)))
    ]
    parts: list[Part] = []
    if draw(st.integers(0, 3)) == 0:
        parts.append(Reasoning(text="because", signature="c2ln", provider="anthropic"))
    if not calls or draw(st.booleans()):
        parts.append(Text(text=draw(texts)))
    messages = [Message(role="assistant", parts=_slotted([*parts, *calls]))]
    if answered:
        for one in draw(st.permutations(calls)):
            part = draw(results(one.id))
            messages.append(Message(role="tool", parts=_slotted([part])))
    return messages


@st.composite
def sessions(
    draw: st.DrawFn, *, turns_max: int = 5, rounds_max: int = 4, open_tail: bool = True
) -> list[Message]:
    """A sound session: system text, turns of rounds, perhaps a round that is still open."""
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append(Message(role="system", parts=_slotted([Text(text=draw(texts))])))
    number = 0
    for _ in range(draw(st.integers(1, turns_max))):
        parts: list[Part] = [Text(text=draw(texts))]
        if draw(st.integers(0, 6)) == 0:
            parts.append(draw(media()))
        messages.append(Message(role="user", parts=_slotted(parts)))
        for _ in range(draw(st.integers(0, rounds_max))):
            number += 1
            messages.extend(draw(rounds(number)))
        if draw(st.integers(0, 9)) == 0:
            messages.append(Message(role="system", parts=_slotted([Text(text="note")])))
    if open_tail and draw(st.integers(0, 3)) == 0:
        messages.extend(draw(rounds(number + 1, answered=False)))
    return messages


@st.composite
def broken_sessions(draw: st.DrawFn) -> list[Message]:
    """A session damaged in one to four places."""
    messages = draw(sessions())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(messages) - 1)) if messages else 0
        damage: _Damage = draw(st.sampled_from(_DAMAGE))
        messages = damage(draw, messages, at=at)
    return messages


class _Damage(Protocol):
    def __call__(self, draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]: ...


def _lose(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    return messages[:at] + messages[at + 1 :]


def _repeat(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    to = draw(st.integers(at, len(messages)))
    return messages[:to] + messages[at : at + 1] + messages[to:]


def _move(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    rest = messages[:at] + messages[at + 1 :]
    to = draw(st.integers(0, len(rest)))
    return rest[:to] + messages[at : at + 1] + rest[to:]


def _orphan(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    part = ToolResult(call_id="gone", content=(Text(text="late"),), slot=0)
    return [*messages[:at], Message(role="tool", parts=(part,)), *messages[at:]]


def _interim(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    for part in messages[at].parts if messages else ():
        if isinstance(part, ToolResult):
            early = ToolResult(
                call_id=part.call_id, content=(Text(text="pending"),), interim=draw(st.booleans()), slot=0
            )
            return [*messages[:at], Message(role="tool", parts=(early,)), *messages[at:]]
    return messages


def _empty(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    role: Role = draw(st.sampled_from(("user", "assistant")))
    parts: list[Part] = [Text(text=draw(blank_texts))] if draw(st.booleans()) else []
    return [*messages[:at], Message(role=role, parts=_slotted(parts)), *messages[at:]]


def _tear(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    message = Message(role="user", parts=_slotted([Text(text=draw(torn_texts))]))
    return [*messages[:at], message, *messages[at:]]


def _reuse(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    twins = [
        ToolCall(id="same", name="bash", arguments="{}"),
        ToolCall(id="same", name="grep", arguments="{}"),
    ]
    round_ = [
        Message(role="assistant", parts=_slotted(list(twins))),
        *(
            Message(role="tool", parts=_slotted([ToolResult(call_id="same", content=(Text(text=t),))]))
            for t in "ab"
        ),
    ]
    return [*messages[:at], *round_, *messages[at:]]


def _silence(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    if not messages:
        return messages
    parts = [
        msgspec.structs.replace(part, content=(), is_error=True) if isinstance(part, ToolResult) else part
        for part in messages[at].parts
    ]
    return [*messages[:at], msgspec.structs.replace(messages[at], parts=tuple(parts)), *messages[at + 1 :]]


def _misspell(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    """One id or name that some provider refuses, wherever it is used."""
    called = [part for message in messages for part in message.parts if isinstance(part, ToolCall)]
    if not called:
        return messages
    old, id, name = draw(st.sampled_from(called)), draw(odd_ids), draw(odd_names)

    def anew(part: Part) -> Part:
        if isinstance(part, ToolCall) and part.id == old.id:
            return msgspec.structs.replace(part, id=id, name=name)
        is_answer = isinstance(part, ToolResult) and part.call_id == old.id
        return msgspec.structs.replace(part, call_id=id) if is_answer else part

    return [msgspec.structs.replace(message, parts=tuple(map(anew, message.parts))) for message in messages]


def _interrupt(draw: st.DrawFn, messages: list[Message], *, at: int) -> list[Message]:
    """Two answers with nothing between them that can be sent, the second of which reasons."""
    between: Message = draw(
        st.sampled_from(
            (
                Message(role="assistant", parts=_slotted([Text(text=" ")])),
                Message(role="user", parts=()),
                Message(role="tool", parts=_slotted([ToolResult(call_id="gone")])),
            )
        )
    )
    thought: list[Part] = [
        Reasoning(text="because", signature="c2ln", provider="anthropic"),
        Text(text="done"),
    ]
    first = Message(role="assistant", parts=_slotted([Text(text="ok")]))
    second = Message(role="assistant", parts=_slotted(thought))
    return [*messages[:at], first, between, second, *messages[at:]]


_DAMAGE = (
    *(_lose, _repeat, _move, _orphan, _interim, _empty, _tear, _reuse, _silence),
    *(_misspell, _interrupt),
)


def _slotted(parts: list[Part]) -> tuple[Part, ...]:
    return tuple(msgspec.structs.replace(part, slot=index) for index, part in enumerate(parts))
