"""Histories for the tests of codecs and conversion: neutral ones by hypothesis, and what is said in wire values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from foldline.core.message import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire.codec import Request

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
"""One pixel."""

IDS = ("c1", "c2", "toolu_01", "call_a|fc_b", "x" * 70, "fünf", "c1.2")
"""Ids that some wire refuses, among ordinary ones; they come again in later rounds."""

MEDIA = (
    Media(kind="image", mime="image/png", data=PNG),
    Media(kind="image", mime="image/svg+xml", data="PHN2Zy8+"),
    Media(kind="image", url="https://example.com/a.png"),
    Media(kind="document", mime="application/pdf", data="JVBERi0xLjQK", name="a.pdf"),
    Media(kind="document", mime="text/plain", data="plain words", name="a.txt"),
    Media(kind="audio", mime="audio/wav", data="UklGRg=="),
    Media(kind="image", ref="file_1"),
)


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)


def texts_of(messages: tuple[Message, ...]) -> list[str]:
    """Every text a history says, those inside results too."""
    found: list[str] = []
    for message in messages:
        for part in message.parts:
            pieces: tuple[Any, ...] = part.content if isinstance(part, ToolResult) else (part,)
            found.extend(piece.text for piece in pieces if isinstance(piece, Text) and piece.text.strip())
    return found


@st.composite
def neutral_histories(draw: st.DrawFn) -> Request:
    """Sound histories as a reader of session files makes them: format `""`, results in messages of role tool or user,
    results of one round in any order, ids that come again in later rounds, a system message in the middle."""
    numbers = itertools.count(1)

    def text() -> Text:
        return Text(text=f"words {next(numbers)} " + draw(st.text(alphabet='aé漢😀\n"\\', max_size=4)))

    messages: list[Message] = []
    for _ in range(draw(st.integers(1, 3))):
        said: list[Part] = [text()]
        if draw(st.booleans()):
            said.append(draw(st.sampled_from(MEDIA)))
        messages.append(Message(role="user", parts=tuple(said)))
        for _ in range(draw(st.integers(0, 2))):
            messages.extend(_round(draw, text))
        if draw(st.integers(0, 4)) == 0:
            messages.append(Message(role="system", parts=(text(),)))
        messages.append(Message(role="assistant", parts=(text(),)))
    messages.append(Message(role="user", parts=(text(),)))
    system = Message(role="system", parts=(text(),)) if draw(st.booleans()) else None
    return Request(format="", messages=tuple(messages), system=system)


def _round(draw: st.DrawFn, text: Any) -> list[Message]:
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True))
    parts: list[Part] = []
    if draw(st.booleans()):
        parts.append(
            draw(
                st.sampled_from(
                    [
                        Reasoning(text="thinking aloud"),
                        Reasoning(text="signed", signature="c2ln", provider="anthropic"),
                        Reasoning(signature="ZW5j", redacted=True, provider="openai-responses"),
                    ]
                )
            )
        )
    if draw(st.booleans()):
        parts.append(text())
    arguments = st.sampled_from(['{"path": "a"}', "{}", "", "not json", "[1]", '{"a":'])
    calls = [ToolCall(id=id, name="read", arguments=draw(arguments)) for id in ids]
    split = draw(st.booleans())
    spoken = (
        [
            Message(role="assistant", parts=(*parts, calls[0])),
            Message(role="assistant", parts=tuple(calls[1:])),
        ]
        if split and len(calls) > 1
        else [Message(role="assistant", parts=(*parts, *calls))]
    )
    results = [_result(draw, text, id) for id in draw(st.permutations(ids))]
    if draw(st.booleans()):
        return [*spoken, *(Message(role="tool", parts=(result,)) for result in results)]
    beside = (text(),) if draw(st.booleans()) else ()
    return [*spoken, Message(role="user", parts=(*results, *beside))]


def _result(draw: st.DrawFn, text: Any, call_id: str) -> ToolResult:
    content: list[Any] = [text() for _ in range(draw(st.integers(0, 2)))]
    if draw(st.integers(0, 3)) == 0:
        content.append(draw(st.sampled_from(MEDIA)))
    return ToolResult(call_id=call_id, content=tuple(content), is_error=draw(st.booleans()))
