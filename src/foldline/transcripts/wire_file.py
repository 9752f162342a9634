"""Files in one of the four wire formats: request bodies, bare lists of messages, rows of data sets.

Owns the shapes such files come in, and that one file may hold many conversations; recognition and decoding of messages
are `foldline.wire`'s. Four readers and four writers, one a format:

    {"model": …, "system": S, "messages": […], "tools": T}     a request body: one conversation
    [ message, message, … ]                                    one conversation
    [ {"messages": […]}, {"messages": […]}, … ]                as many as there are bodies (SWE-Gym)
    {"messages": "[{\\"role\\": …}]", "instance_id": …}           a list inside a string (SWE-smith)
    one message a line · one body a line                       JSON Lines of either

Writing gives the part of a request body that carries the conversation. A list is copied message by message and the
document let go before they are decoded, so that reading takes less than three times the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Raw, Struct

from foldline.core.errors import InvalidTranscript, UnknownFormat
from foldline.transcripts import document, openhands
from foldline.transcripts.chat import decode_all
from foldline.transcripts.document import Piece
from foldline.transcripts.neutral import string
from foldline.transcripts.source import BadLines, Source, keys
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.wire import strict
from foldline.wire.body import KEYS, read_body, write_body
from foldline.wire.codec import Request
from foldline.wire.formats import DEFAULT, detect

_MESSAGE_KEYS: Final = frozenset(body.messages for body in KEYS.values())
_SYSTEM_KEYS: Final = frozenset(name for body in KEYS.values() for name in body.system)
_ID_KEYS: Final = ("id", "custom_id", "instance_id", "traj_id", "task_id", "session_id")
_WRAPPERS: Final = ("body", "request")
"""Where logs of requests keep the body (OpenAI's batch files: `body`)."""
_CERTAIN, _LIKELY, _POSSIBLE = 70, 60, 50
"""Below any session format's: their own keys say more."""

# In JSON text a quote inside a string is escaped, so that these match keys and values alone.
_MARKS: Final = {
    "gemini": re.compile(rb'"parts"\s*:\s*\[|"role"\s*:\s*"model"|"contents"\s*:\s*\['),
    "openai-responses": re.compile(
        rb'"type"\s*:\s*"(?:input_text|output_text|input_image|input_file|function_call|function_call_output|reasoning)"'
    ),
    "openai-chat": re.compile(
        rb'"(?:tool_calls|tool_call_id|reasoning_content|image_url)"\s*:|"role"\s*:\s*"(?:tool|function)"'
    ),
    "anthropic": re.compile(
        rb'"type"\s*:\s*"(?:tool_use|tool_result|thinking|redacted_thinking|server_tool_use)"|"input_schema"\s*:'
    ),
}


class _Conversation(Struct, frozen=True, kw_only=True):
    """One conversation, copied out of its document."""

    at: str
    """Place of the messages in the document, for errors."""
    key: str
    slices: list[bytes]
    about: dict[str, bytes]
    """Other members of the body, as JSON."""


class WireReader(Struct, frozen=True, kw_only=True):
    """Reads files of one wire format."""

    name: str
    by_content: bool = False
    """True where the content of a whole conversation may say that it is of another format, as for the default one."""

    def recognise(self, head: bytes) -> int:
        """At most 70: for the format whose unmistakable mark comes first, or for the default without any."""
        found = _body_keys(head)
        if not found:
            return 0
        marks = {name: match.start() for name, mark in _MARKS.items() if (match := mark.search(head))}
        if "contents" in found:
            likely, sure = "gemini", _CERTAIN
        elif "input" in found and "messages" not in found:
            likely, sure = "openai-responses", _CERTAIN
        elif marks:
            likely, sure = min(marks, key=lambda name: marks[name]), _LIKELY
        else:
            likely, sure = ("anthropic" if "system" in found else DEFAULT), _POSSIBLE
        return sure if self.name == likely else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """All conversations, in the file's order."""
        bad = BadLines()
        if _is_lines(source):
            conversations = _of_lines(source, bad)
        else:
            root = document.open_document(source)
            if openhands.is_log(document.fields(root)):  # its own keys may stand beyond the first 64 kB
                return openhands.READER.read(source)
            conversations = list(_of_document(source, root))
            del root
        notes = bad.notes(source)
        found = [
            self._transcript(source, conversation) for conversation in conversations if conversation.slices
        ]
        return tuple(
            Transcript(
                format=request.format,
                wire=request.format,
                messages=request.messages,
                system=request.system,
                tools=request.tools,
                id=_told(about, _ID_KEYS),
                model=_told(about, ("model",)),
                notes=notes,
            )
            for request, about in found
        )

    def _transcript(self, source: Source, conversation: _Conversation) -> tuple[Request, dict[str, bytes]]:
        name = _detected(source, conversation) if self.by_content else self.name
        messages = decode_all(source, conversation.slices, wire=name, at=conversation.at)
        rest: dict[str, Any] = {}
        for key, data in conversation.about.items():
            if key in _SYSTEM_KEYS:
                _value(
                    source, data, at=key
                )  # a key given twice would say another thing to who reads the first
                rest[key] = Raw(data)
        if "tools" in conversation.about:
            rest["tools"] = Raw(_tools(source, conversation))
        beside = read_body({"messages": [], **rest}, format=name, path=source.path)
        request = Request(format=name, messages=messages, system=beside.system, tools=beside.tools)
        return request, conversation.about


class WireWriter(Struct, frozen=True, kw_only=True):
    """Writes the conversation's part of a request body in one wire format."""

    name: str
    holds_prompt: bool = True

    @property
    def wire(self) -> str:
        """The format itself."""
        return self.name

    def write(self, transcript: Transcript, result: NewHistory) -> bytes:
        """One JSON object and a line feed; messages that were not edited keep their bytes."""
        request = Request(
            format=self.name, messages=result.messages, system=result.system, tools=result.tools
        )
        return write_body(request) + b"\n"


ANTHROPIC: Final = WireReader(name="anthropic")
OPENAI_CHAT: Final = WireReader(name="openai-chat", by_content=True)
OPENAI_CHAT_NAMED: Final = WireReader(name="openai-chat")
OPENAI_RESPONSES: Final = WireReader(name="openai-responses")
GEMINI: Final = WireReader(name="gemini")
ANTHROPIC_WRITER: Final = WireWriter(name="anthropic")
OPENAI_CHAT_WRITER: Final = WireWriter(name="openai-chat")
OPENAI_RESPONSES_WRITER: Final = WireWriter(name="openai-responses")
GEMINI_WRITER: Final = WireWriter(name="gemini")


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────


def _body_keys(head: bytes) -> set[str]:
    """Keys of the first body or message in `head`; empty when it is neither."""
    found = keys(head, depth=2)
    outer = {name for name in found if "." not in name}
    for wrapper in _WRAPPERS:
        inner = {name.partition(".")[2] for name in found if name.startswith(f"{wrapper}.")}
        if not inner.isdisjoint(_MESSAGE_KEYS):
            return inner
    item = (found.get("type") or "").startswith(("function_call", "reasoning")) and "payload" not in found
    return outer if item or "role" in outer or not outer.isdisjoint(_MESSAGE_KEYS) else set()


def _is_lines(source: Source) -> bool:
    """True when the first line is a whole JSON object and more follows it."""
    first, _, rest = source.head.partition(b"\n")
    if not rest.strip() and len(source.head) == source.size:
        return False
    if first == source.head:  # the first line is longer than the head: only its end can tell
        return _first_of_many(source)
    return _is_object(first)


def _first_of_many(source: Source) -> bool:
    try:
        lines = source.lines()
        _, first = next(lines)
        return next(lines, None) is not None and _is_object(first)
    except InvalidTranscript:  # a line beyond the bound for lines: one document
        return False


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(strict.loads(data), dict)
    except strict.BadJson:
        return False


def _of_document(source: Source, root: Piece) -> Iterator[_Conversation]:
    elements = document.items(root)
    if not elements:
        yield from _of_body(source, root, at="")
    elif _holds_messages(elements[0]):
        for index, element in enumerate(elements):
            yield from _of_body(source, element, at=f"[{index}].")
    elif document.items(elements[0]):
        for index, element in enumerate(elements):
            yield _Conversation(at=f"[{index}]", key="messages", slices=document.copies(element), about={})
    else:
        yield _Conversation(at="", key="messages", slices=document.copies(root), about={})


def _holds_messages(piece: Piece) -> bool:
    """True for a body, bare or wrapped; a message of any wire has none of these keys."""
    members = document.fields(piece)
    return any(key in members for key in (*_MESSAGE_KEYS, *_WRAPPERS)) and "role" not in members


def _of_body(source: Source, piece: Piece, *, at: str) -> Iterator[_Conversation]:
    outer = members = document.unique_fields(source, piece, at=at or "the top")
    for wrapper in _WRAPPERS:
        if wrapper in members and _holds_messages(members[wrapper]):
            at = f"{at}{wrapper}."
            members = document.unique_fields(source, members[wrapper], at=at)
            break
    key = next((key for key in ("contents", "messages", "input") if key in members), None)
    if key is None:
        return
    about = {
        name: document.raw_bytes(told)
        for name, told in {**outer, **members}.items()
        if name in (*_SYSTEM_KEYS, *_ID_KEYS, "tools", "model")
    }
    yield _Conversation(at=at + key, key=key, slices=_slices(members[key], key), about=about)


def _slices(piece: Piece, key: str) -> list[bytes]:
    """The messages under a key: a list, a list inside a string, or one text where the wire takes that."""
    data = document.raw_bytes(piece) if not document.items(piece) else b""
    if data[:1] != b'"':
        return document.copies(piece)
    text = strict.loads(data)
    try:
        inner = strict.loads(text.encode("utf-8", "surrogatepass"))
    except strict.BadJson:
        inner = None
    if isinstance(inner, list):
        return [strict.dump(item) for item in inner]
    return [strict.dump({"role": "user", "content": text})] if key == "input" else []


def _of_lines(source: Source, bad: BadLines) -> list[_Conversation]:
    """One conversation of all messages, or one of each body; lines that are neither are bad."""
    messages: list[bytes] = []
    bodies: list[_Conversation] = []
    for number, line in source.lines():
        try:
            value = strict.loads(line)
        except strict.BadJson as error:
            bad.add(number, str(error))
            continue
        if not isinstance(value, dict):
            bad.add(number, "not a JSON object")
        elif _holds_messages(value):
            bodies.extend(_of_body(source, Raw(line.strip()), at=f"line {number}, "))
        else:
            messages.append(line.strip())
    if not bodies:
        return [_Conversation(at="messages", key="messages", slices=messages, about={})]
    return bodies


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────


def _tools(source: Source, conversation: _Conversation) -> bytes:
    """The tool schemas: a list, `null`, or (in rows of data sets) a list inside a string."""
    data = conversation.about["tools"]
    value = _value(source, data, at="tools")
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        value = _value(source, data, at="tools")
    if value is not None and not isinstance(value, list):
        raise document.unreadable(source, f"expected a list of tools, got {type(value).__name__}", at="tools")
    return data


def _detected(source: Source, conversation: _Conversation) -> str:
    """The format that the content of the whole conversation speaks for."""
    values = [
        _value(source, data, at=f"{conversation.at}[{n}]") for n, data in enumerate(conversation.slices)
    ]
    beside = {
        key: _value(source, data, at=key)
        for key, data in conversation.about.items()
        if key in (*_SYSTEM_KEYS, "tools")
    }
    try:
        return detect({conversation.key: values, **beside})
    except UnknownFormat as error:
        raise document.unreadable(source, str(error), at=conversation.at or "the list") from error


def _value(source: Source, data: bytes, *, at: str) -> Any:
    try:
        return strict.loads(data)
    except strict.BadJson as error:
        raise document.unreadable(source, str(error), at=at) from error


def _told(about: dict[str, bytes], names: Iterable[str]) -> str | None:
    """The first of `names` that holds a text or a whole number."""
    for name in names:
        if name in about:
            value = strict.loads(about[name])
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
            if string(value):
                return str(value)
    return None
