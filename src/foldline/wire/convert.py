"""Conversion: a history of one wire format, or of none, as another format wants it.

Owns the order and the shape of messages on each wire; what a wire can carry is `foldline.wire.carry`'s, ids are
`foldline.wire.call_ids`', tool schemas `foldline.wire.tools`'. Knows formats by their `Rules`. Messages that come out
hold parts alone (no origin): the target's codec makes them.

A history is read as runs of the assistant's messages and what lies between them:

    source      a: c1 │ a: c2 │ user: r2, r1, "go on"
    anthropic   a: c1 c2      │ user: r1, r2, "go on"             results first, in the order of their calls
    chat        a: c1 c2      │ tool: r1 │ tool: r2 │ user: "go on"
    responses   c1 │ c2       │ r1 │ r2 │ user: "go on"           one item each
    gemini      model: c1 c2  │ user: r1, r2 │ user: "go on"

Nothing is left out in silence: what cannot go along becomes a marked text, or is counted in the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import (
    NEW,
    Media,
    Message,
    Meta,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    is_blank,
    is_fold,
    is_injected,
    is_native_compaction,
    may_open,
)
from foldline.core.pairing import INTERRUPTED
from foldline.core.repair import OPENING, SILENT
from foldline.wire import anthropic, gemini, openai_chat, openai_responses
from foldline.wire.body import KEYS
from foldline.wire.call_ids import CallIds
from foldline.wire.carry import CARRIES, carry_media, carry_reasoning, media_words, opaque_words, server_words
from foldline.wire.codec import Request, Rules
from foldline.wire.splice import WRAPPED, arguments_object
from foldline.wire.strict import dump_text
from foldline.wire.tools import convert_tools, tool_name

RULES: dict[str, Rules] = {
    module.NAME: module.CODEC.rules for module in (anthropic, openai_chat, openai_responses, gemini)
}
"""The targets."""

OBJECT_ARGUMENTS = frozenset({"anthropic", "gemini"})
"""Formats whose calls hold an object; text that is none is wrapped as `splice.arguments_object` says."""
LEFT_OUT = "[foldline: the first message could not go along]"
"""Stands where all of the user message that opens a history was left out."""
ERROR_MARK = frozenset({"anthropic", "gemini"})
"""Formats that can say that a tool failed."""
SYSTEM_WORDS = "[foldline: a system message stood here]\n"
"""Opens the user message a system message in the middle becomes where the target has no place for it."""


class Converted(Struct, frozen=True, kw_only=True):
    """A history in its new format, and what a person should know about it."""

    request: Request
    notes: tuple[str, ...] = ()
    """What could not go along as it was, with counts, in the order of first occurrence."""
    reasoning_dropped: int = 0
    """Parts of reasoning left out: signed by another provider, or of a kind the target refuses."""
    ids: dict[str, str] = {}
    """Old call id → new call id, for ids that changed; where one id stood for several calls, its first change."""


def convert(request: Request, to: str) -> Converted:
    """`request` in the format `to`. Raises `KeyError` for a format that is no wire format.

    To its own format a request comes back itself. A request of format `""` holds neutral messages, made by a reader:
    results in messages of role `tool` or `user`, calls with any id. Results are taken to stand in their rounds, as
    `foldline.core.repair` leaves them.
    """
    rules = RULES[to]
    if request.format == to:
        return Converted(request=request)
    work = _Work(request.format, rules)
    system, messages = work.system(request)
    out = [message for segment in _segments(messages) for message in work.segment(segment)]
    if rules.needs.alternates:
        out = list(_joined(out))
    if (
        out
        and out[0].role not in (rules.needs.first | {"system"})
        and may_open(messages[0], rules.needs.first)
    ):
        line = OPENING if is_native_compaction(messages[0]) else LEFT_OUT
        out.insert(0, Message(role="user", parts=(Text(text=line),), synthetic="repair"))
    tools, left_out = convert_tools(request.tools, to=to)
    work.note("tools of the provider itself left out: " + ", ".join(left_out), if_=bool(left_out))
    return Converted(
        request=Request(format=to, messages=tuple(out), system=system, tools=tools),
        notes=tuple(text if count == 1 else f"{text} ({count} ×)" for text, count in work.notes.items()),
        reasoning_dropped=work.reasoning_dropped,
        ids=work.ids.renamed,
    )


def _segments(messages: Iterable[Message]) -> Iterator[tuple[bool, list[Message]]]:
    """Runs of the assistant's messages (True), and of all others (False)."""
    for is_assistant, run in groupby(messages, key=lambda message: message.role == "assistant"):
        yield is_assistant, list(run)


def _joined(messages: Iterable[Message]) -> Iterator[Message]:
    """Neighbours of one role as one message, folds apart. A user who spoke counts more than a host that added
    something."""
    for _, run in groupby(messages, key=lambda message: (message.role, is_fold(message))):
        first, *more = run
        if not more:
            yield first
            continue
        run_all = [first, *more]
        spoken = next((m for m in run_all if not m.synthetic and not is_injected(m)), first)
        yield replace(
            first,
            parts=tuple(part for message in run_all for part in message.parts),
            synthetic=first.synthetic if all(m.synthetic == first.synthetic for m in run_all) else None,
            meta=spoken.meta,
        )


class _Work:
    """One conversion under way. Mutable, and seen by nobody else."""

    def __init__(self, source: str, rules: Rules) -> None:
        self.source, self.rules, self.to = source, rules, rules.format
        self.ids = CallIds(rules)
        self.notes: Counter[str] = Counter()
        self.reasoning_dropped = 0
        self._calls: dict[str, ToolCall] = {}
        """Calls of the current round by new id, in order."""
        self._started = False

    def note(self, text: str, *, if_: bool = True) -> None:
        """Count something that could not go along as it was."""
        if if_:
            self.notes[text] += 1

    # --- system -------------------------------------------------------------------------------------------------

    def system(self, request: Request) -> tuple[Message | None, list[Message]]:
        """The system prompt for the body's key, where the target has one, and the messages that are left."""
        messages = list(request.messages)
        leading = [request.system] if request.system is not None else []
        if self.rules.system == "apart":
            while messages and messages[0].role == "system":
                leading.append(messages.pop(0))
        if KEYS[self.to].system_is_message:
            return None, [*leading, *messages]
        parts = [part for message in leading for part in self._side(message, message.role)]
        return (self._message("system", parts, source=leading[0]) if parts else None), messages

    # --- segments -----------------------------------------------------------------------------------------------

    def segment(self, segment: tuple[bool, list[Message]]) -> Iterator[Message]:
        """The target's messages for one run."""
        is_assistant, run = segment
        if is_assistant:
            self.ids.open_round()
            self._calls, self._started = {}, True
            yield from self._assistant(run)
        yield from self._results(run)
        if not is_assistant:
            for message in run:
                yield from self._others(message)

    def _assistant(self, run: list[Message]) -> Iterator[Message]:
        """One message for a run, or one item for each part of it."""
        spoken = [
            (message, new) for message in run for part in message.parts for new in self._spoken(part, message)
        ]
        self._drop_dangling(spoken)
        if self.rules.needs.items:
            before: Message | None = None
            for message, part in spoken:
                yield self._message("assistant", [part], source=message, first=message is not before)
                before = message
        elif spoken:
            parts = [part for _, part in spoken]
            if self.rules.needs.reasoning_first:
                parts.sort(key=lambda part: not isinstance(part, Reasoning))
            yield self._message("assistant", parts, source=run[0], meta=_latest_meta(run))

    def _drop_dangling(self, spoken: list[tuple[Message, Part]]) -> None:
        """Take out reasoning that nothing follows where the target refuses it, counted."""
        if not self.rules.needs.reasoning_may_end or all(isinstance(part, Reasoning) for _, part in spoken):
            while spoken and isinstance(spoken[-1][1], Reasoning):
                spoken.pop()
                self.reasoning_dropped += 1

    def _results(self, run: list[Message]) -> Iterator[Message]:
        """The results a run holds, in the order of their calls, where the target wants them; behind them what may
        not stand inside a result."""
        beside: list[Part] = []
        found = [
            (message, self._result(part, message, beside=beside))
            for message in run
            for part in message.parts
            if isinstance(part, ToolResult) and not part.server
        ]
        if not found:
            return
        if beside:  # a user message follows, for which no call of the round may still wait
            found += [(found[0][0], one) for one in self._interrupted([one.call_id for _, one in found])]
        places = {call_id: place for place, call_id in enumerate(self._calls)}
        found.sort(key=lambda pair: places.get(pair[1].call_id, len(places)))
        if self.rules.needs.results_role == "user":
            yield self._message("user", [result for _, result in found], source=found[0][0])
        else:
            for message, result in found:
                yield self._message("tool", [result], source=message)
        if beside:
            yield self._message("user", beside, source=found[0][0], meta=Meta(injected=True))

    def _interrupted(self, answered: Collection[str]) -> Iterator[ToolResult]:
        """Results for the calls of the round that have none."""
        for call_id, call in self._calls.items():
            if call_id not in answered:
                self.note("a call without a result closed, for media of its round to stand behind it")
                yield ToolResult(
                    call_id=call_id,
                    content=(Text(text=INTERRUPTED),),
                    name=call.name,
                    is_error=True,
                    wire_id=call.wire_id,
                    kind=call.kind,
                )

    def _others(self, message: Message) -> Iterator[Message]:
        """What a message between rounds holds beside results."""
        role: Role = "system" if message.role == "system" else "user"
        parts = list(self._side(message, role))
        if not parts:
            return
        if role == "system" and not self._takes_system():
            self.note("a system message in the middle became a marked user message")
            parts = [Text(text=SYSTEM_WORDS.rstrip()), *parts]
            meta = replace(message.meta, injected=True) if message.meta else Meta(injected=True)
            yield self._message("user", parts, source=message, meta=meta)
            return
        self._started = self._started or role == "user"
        yield self._message(role, parts, source=message)

    def _takes_system(self) -> bool:
        """True where the target takes a system message at this place."""
        return self.rules.system == "anywhere" or (self.rules.system == "leading" and not self._started)

    def _message(
        self,
        role: Role,
        parts: Iterable[Part],
        *,
        source: Message,
        first: bool = True,
        meta: Meta | None = None,
    ) -> Message:
        meta = meta or source.meta
        if meta is not None and not first:
            meta = replace(meta, usage=None)  # one response, one usage
        return Message(role=role, parts=tuple(parts), format=self.to, synthetic=source.synthetic, meta=meta)

    # --- parts --------------------------------------------------------------------------------------------------

    def _spoken(self, part: Part, message: Message) -> Iterator[Part]:
        """The assistant's part as the target takes it: as it is, as a marked text, or not at all (counted)."""
        match part:
            case ToolCall(server=False):
                yield self._call(part)
            case ToolResult(server=False):
                return  # an answer in the wrong place; `_results` puts it into the right one
            case Reasoning():
                kept = carry_reasoning(part, to=self.to)
                self.reasoning_dropped += kept is None
                if kept is not None:
                    yield kept
            case Media():
                self.note(f"media of the assistant became a marked text: {part.kind}")
                yield media_words(part, to=self.to)
            case Text() | Opaque() | ToolCall() | ToolResult():
                yield from self._plain(part, message)
            case _:
                assert_never(part)

    def _side(self, message: Message, role: Role) -> Iterator[Part]:
        """Parts of a system or user message, results apart."""
        for part in message.parts:
            match part:
                case ToolResult(server=False):
                    continue
                case Media() if role == "system":
                    self.note(f"media in a system message became a marked text: {part.kind}")
                    yield media_words(part, to=self.to)
                case Media():
                    yield self._media(part, message)
                case Reasoning():
                    self.reasoning_dropped += 1
                case Text() | Opaque() | ToolCall() | ToolResult():
                    yield from self._plain(part, message)
                case _:
                    assert_never(part)

    def _plain(self, part: Text | Opaque | ToolCall | ToolResult, message: Message) -> Iterator[Part]:
        """Parts that every role may hold."""
        match part:
            case Text():
                if self.rules.needs.blank_text or not is_blank(part):
                    yield Text(text=part.text)
            case Opaque():
                yield from self._opaque(part, message)
            case ToolCall() | ToolResult():
                self.note(
                    f"a call of {part.name or 'a tool'} that the provider answered became a marked text"
                )
                yield from server_words(part, source=self.source)
            case _:
                assert_never(part)

    def _opaque(self, part: Opaque, message: Message) -> Iterator[Opaque | Text]:
        if message.format == self.to:
            yield replace(part, slot=NEW, edited=False)
            return
        words = opaque_words(part, source=message.format or self.source)
        self.note(
            f"{part.type} of {self.source or 'the host'} " + ("became a marked text" if words else "left out")
        )
        if words is not None:
            yield words

    def _media(self, media: Media, message: Message) -> Media | Text:
        kept = carry_media(media, source=message.format or self.source, to=self.to)
        if kept is None:
            self.note(f"media became a marked text: {media.kind}")
            return media_words(media, to=self.to)
        return kept

    def _call(self, call: ToolCall) -> ToolCall:
        arguments = call.arguments or "{}"
        if self.to in OBJECT_ARGUMENTS:
            value = arguments_object(arguments)
            if value == {WRAPPED: arguments}:
                self.note("arguments that are no JSON object were wrapped in one")
                arguments = dump_text(value)
        new = ToolCall(
            id=self.ids.of_call(call),
            name=self._tool_name(call.name),
            arguments=arguments,
            wire_id=call.wire_id or self.to != "gemini",
        )
        self._calls[new.id] = new
        return new

    def _tool_name(self, name: str) -> str:
        new = tool_name(name, to=self.to)
        self.note(f"the tool {name} is called {new}", if_=new != name)
        return new

    def _result(self, result: ToolResult, message: Message, *, beside: list[Part]) -> ToolResult:
        """A result under its new id, with the name of its tool. What may not stand inside goes to `beside`."""
        new = self.ids.of_result(result)
        call = self._calls.get(new)
        self.note(
            f"{self.to} cannot say that a tool failed: the mark is left out",
            if_=result.is_error and self.to not in ERROR_MARK,
        )
        content: list[Text | Media | Opaque] = []
        for piece in result.content:
            match piece:
                case Text():
                    if self.rules.needs.blank_text or not is_blank(piece):
                        content.append(Text(text=piece.text))
                case Opaque():
                    content.extend(self._opaque(piece, message))
                case Media():
                    content.append(self._media_of_result(piece, message, call_id=new, beside=beside))
                case _:
                    assert_never(piece)
        if (
            result.is_error
            and not content
            and (self.to not in ERROR_MARK or not self.rules.needs.empty_failure)
        ):
            content.append(Text(text=SILENT))
        return ToolResult(
            call_id=new,
            content=tuple(content),
            name=call.name if call is not None else result.name and self._tool_name(result.name),
            is_error=result.is_error,
            wire_id=call.wire_id if call is not None else result.wire_id or self.to != "gemini",
        )

    def _media_of_result(
        self, media: Media, message: Message, *, call_id: str, beside: list[Part]
    ) -> Media | Text:
        kept = self._media(media, message)
        if isinstance(kept, Text) or CARRIES[self.to].results:
            return kept
        self.note(f"media inside a result moved into a user message behind it: {media.kind}")
        beside.extend([media_words(media, to=self.to, why=f"from the result of call {call_id}"), kept])
        return media_words(media, to=self.to, why="in the user message behind the results")


def _latest_meta(run: list[Message]) -> Meta | None:
    """Of one run the last word: its usage is the size of the context after it."""
    return next((message.meta for message in reversed(run) if message.meta is not None), None)
