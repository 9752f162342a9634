"""pi session files: JSON Lines of entries, in order (version 1) or linked into a tree (versions 2 and 3).

Owns which entries are live, and how each kind of entry is said to a model. Its messages are of no wire format:
pi speaks to many providers and keeps its own shapes. Nothing writes this format.

    version 1   … kept from │ firstKeptEntryIndex … compaction │ entries │ EOF     index over all lines of the file
    version 2+  … the same along the path from the last entry to the root, by firstKeptEntryId

The file is read twice: headers first, then only the entries that are live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from foldline.core.message import Media, Message, Meta, Part, Reasoning, Text, ToolCall, ToolResult, Usage
from foldline.transcripts.headers import header_of
from foldline.transcripts.neutral import arguments_text, neutral, string, unix_time, usage_of
from foldline.transcripts.source import BadLines, Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire import strict
from foldline.wire.usage import read_usage

WIRES: Final = {
    "anthropic-messages": "anthropic",
    "bedrock-converse-stream": "anthropic",
    "openai-responses": "openai-responses",
    "azure-openai-responses": "openai-responses",
    "openai-codex-responses": "openai-responses",
    "google-generative-ai": "gemini",
    "google-gemini-cli": "gemini",
    "google-vertex": "gemini",
    "anthropic": "anthropic",
    "amazon-bedrock": "anthropic",
    "openai": "openai-responses",
    "openai-codex": "openai-responses",
    "google": "gemini",
}
"""pi's `api`, else its `provider`, to the wire format spoken; any other is OpenAI-compatible chat."""
NEVER_SENT: Final = {"aborted": "aborted answer", "error": "failed answer"}
"""Stop reasons of assistant entries that pi leaves out of every later request: their calls never ran."""
SUMMARY: Final = "The conversation history before this point was compacted into the following summary:"
BRANCH: Final = "The following is a summary of a branch that this conversation came back from:"
_TYPES: Final = frozenset(
    ("message", "compaction", "branch_summary", "custom_message", "model_change", "thinking_level_change", "custom",
     "label", "session_info")
)  # fmt: skip
_SPOKEN: Final = frozenset(("message", "compaction", "branch_summary", "custom_message", "model_change"))


class Entry(Struct, gc=False):
    """What decides whether an entry is live."""

    type: str = ""
    id: str | None = None
    parentId: str | UnsetType | None = UNSET
    firstKeptEntryId: str | None = None
    firstKeptEntryIndex: int | None = None
    number: int = 0

    @property
    def is_compaction(self) -> bool:
        return self.type == "compaction"


_entry = header_of(Entry)


class Pi(Struct, frozen=True):
    """The reader of pi session files. `whole`: as though its tool had never compacted."""

    name: str = "pi"
    whole: bool = False

    def recognise(self, head: bytes) -> int:
        """Certain of a session header; nearly of linked entries without one."""
        found = keys(head, depth=2)
        kind = found.get("type")
        if kind == "session" and "cwd" in found:
            return 100
        if kind == "message" and "message.role" in found and ("parentId" in found or "timestamp" in found):
            return 85
        return 80 if kind in _TYPES and "parentId" in found else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The live context of the session, or all of its branch; the tuple is empty when no message can be read."""
        bad = BadLines()
        entries: list[Entry] = []
        for number, line in source.lines():
            entry = _entry(line)
            if isinstance(entry, str):
                bad.add(number, entry)
                continue
            entry.number = number
            entries.append(entry)
        live, notes = live_entries(entries, whole=self.whole)
        reading = _Reading(source, bad, live={entry.number for entry in live})
        for number, line in source.lines():
            reading.take(number, line)
        counted = Counter(
            e.type or "(no type)" for e in entries if e.type not in _SPOKEN and e.type != "session"
        )
        return reading.transcripts([entry.number for entry in live], counted=counted, notes=notes)


READER = Pi()
WHOLE = Pi(whole=True)


def live_entries(entries: list[Entry], *, whole: bool = False) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries the model would be sent, a compaction before what it kept; and what a person should know. `whole`: those
    that it would be sent without any compaction."""
    spoken = [entry for entry in entries if entry.type != "session"]
    notes: list[str] = []
    linked = any(entry.id is not None and entry.parentId is not UNSET for entry in spoken)
    path = _path(spoken, notes) if linked else spoken
    if whole:
        return [entry for entry in path if not entry.is_compaction], tuple(notes)
    at = max((i for i, entry in enumerate(path) if entry.is_compaction), default=None)
    if at is None:
        return path, tuple(notes)
    compaction = path[at]
    if compaction.firstKeptEntryId is not None:
        first = next((i for i, e in enumerate(path[:at]) if e.id == compaction.firstKeptEntryId), None)
    elif compaction.firstKeptEntryIndex is not None:  # over all lines, the header being 0
        first = next((i for i, e in enumerate(path[:at]) if e.number > compaction.firstKeptEntryIndex), None)
    else:
        first = at
    if first is None:
        notes.append("the entries that the last compaction kept were not found")
        first = at
    kept = [entry for entry in path[first:at] if not entry.is_compaction]
    return [compaction, *kept, *path[at + 1 :]], tuple(notes)


def _path(entries: list[Entry], notes: list[str]) -> list[Entry]:
    """The entries from the root to the last one in the file. A missing parent is the entry before."""
    index = {entry.id: place for place, entry in enumerate(entries) if entry.id is not None}
    place = len(entries) - 1
    seen: set[int] = set()
    way: list[Entry] = []
    mended = 0
    while place >= 0 and place not in seen:
        seen.add(place)
        entry = entries[place]
        way.append(entry)
        if entry.parentId is None:
            break
        parent = index.get(entry.parentId) if entry.parentId is not UNSET else None
        mended += parent is None and entry.parentId is not UNSET
        place = parent if parent is not None else place - 1
    if mended:
        notes.append(f"{mended:,} links to missing records were mended from the order of the file")
    dead = sum(entry.type in ("message", "custom_message") for entry in entries) - sum(
        entry.type in ("message", "custom_message") for entry in way
    )
    if dead:
        notes.append(f"{dead:,} message{'s' if dead > 1 else ''} on branches that were left: not read")
    return way[::-1]


class _Reading:
    """Makes messages of the live entries."""

    def __init__(self, source: Source, bad: BadLines, *, live: set[int]) -> None:
        self.source, self.bad, self.live = source, bad, live
        self.header: dict[str, Any] = {}
        self.messages: dict[int, Message] = {}
        """By line number; put into order at the end."""
        self.skipped: Counter[str] = Counter()
        self.models: dict[int, tuple[str | None, str]] = {}
        """Line number → model and wire format from there on."""
        self.compacted_at = 0

    def take(self, number: int, line: bytes) -> None:
        """Read the line, if its entry is live."""
        if number not in self.live and not (number == 1 and not self.header):
            return
        try:
            entry = strict.loads(line)
            if isinstance(entry, dict):
                self._entry(number, entry)
        except ValueError as error:
            self.bad.add(number, str(error))

    def _entry(self, number: int, entry: dict[str, Any]) -> None:
        kind = entry.get("type")
        meta = Meta(id=string(entry.get("id")), time_s=unix_time(entry.get("timestamp")))
        message: Message | None = None
        match kind:
            case "session":
                self.header = entry
            case "message":
                inner = entry.get("message")
                if not isinstance(inner, dict):
                    raise ValueError("message: expected an object")
                message = self._message(number, inner, meta=meta)
            case "compaction":
                self.compacted_at = number
                message = _summary(SUMMARY, entry.get("summary"), meta=meta)
            case "branch_summary":
                message = _summary(BRANCH, entry.get("summary"), meta=meta)
            case "custom_message":
                message = neutral("user", _content(entry.get("content")), meta=replace(meta, injected=True))
            case "model_change":
                self._model(number, entry.get("modelId"), api=None, provider=entry.get("provider"))
            case _:
                pass
        if message is not None:
            self.messages[number] = message

    def _model(self, number: int, model: Any, *, api: Any, provider: Any) -> None:
        wire = WIRES.get(str(api)) or WIRES.get(str(provider)) or "openai-chat"
        self.models[number] = (string(model), wire)

    def _message(self, number: int, inner: dict[str, Any], *, meta: Meta) -> Message | None:
        role = inner.get("role")
        match role:
            case "user":
                return neutral("user", _content(inner.get("content")), meta=meta)
            case "assistant":
                return self._assistant(number, inner, meta=meta)
            case "toolResult":
                return neutral("tool", (_result(inner),), meta=meta)
            case "bashExecution":
                if inner.get("excludeFromContext") is True:
                    self.skipped["bashExecution kept out of context"] += 1
                    return None
                return neutral("user", (Text(text=_bash(inner)),), meta=replace(meta, injected=True))
            case "custom" | "hookMessage":
                return neutral("user", _content(inner.get("content")), meta=replace(meta, injected=True))
            case "compactionSummary":
                return _summary(SUMMARY, inner.get("summary"), meta=meta)
            case "branchSummary":
                return _summary(BRANCH, inner.get("summary"), meta=meta)
            case _:
                self.skipped[f"message {role}"] += 1
                return None

    def _assistant(self, number: int, inner: dict[str, Any], *, meta: Meta) -> Message | None:
        stop = string(inner.get("stopReason"))
        self._model(number, inner.get("model"), api=inner.get("api"), provider=inner.get("provider"))
        if stop in NEVER_SENT:
            self.skipped[NEVER_SENT[stop]] += 1
            return None
        content = inner.get("content")
        blocks = content if isinstance(content, list) else _content(content)
        wire = self.models[number][1]
        parts = [_block(block, wire) if isinstance(block, dict) else block for block in blocks]
        meta = replace(
            meta,
            model=string(inner.get("model")),
            response_id=string(inner.get("responseId")),
            stop_reason=stop,
            usage=_usage(inner.get("usage")),
        )
        return neutral("assistant", [part for part in parts if isinstance(part, Part)], meta=meta)

    def transcripts(
        self, order: list[int], *, counted: Counter[str], notes: tuple[str, ...]
    ) -> tuple[Transcript, ...]:
        """What was read, as the reader gives it."""
        numbers = [number for number in order if number in self.messages]
        if not numbers:
            if self.bad.count:
                raise self.bad.error(self.source)
            return ()
        messages = [self.messages[number] for number in numbers]
        since = (place for place in reversed(range(len(numbers))) if numbers[place] > self.compacted_at)
        at = next((place for place in since if usage_of(messages[place])), None)
        if not self.models:
            self._model(0, self.header.get("modelId"), api=None, provider=self.header.get("provider"))
        model, wire = self.models[max(self.models)]
        return (
            Transcript(
                format="pi",
                wire=wire,
                messages=tuple(messages),
                id=string(self.header.get("id")),
                model=model,
                usage=None if at is None else usage_of(messages[at]),
                usage_at=at,
                skipped=tuple(sorted((counted + self.skipped).items())),
                notes=self.bad.notes(self.source) + notes,
            ),
        )


def _usage(given: Any) -> Usage | None:
    """What the provider counted; `None` where nothing is told, as zeros tell nothing."""
    usage = read_usage(given, format="pi") if isinstance(given, dict) else None
    return usage if usage is not None and usage.tokens_context else None


def _content(content: Any) -> Sequence[Text | Media]:
    """Text and images of a user message or a result; anything else in it is refused."""
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    if not isinstance(content, list):
        raise ValueError("content: expected text or a list")
    return [_piece(piece) for piece in content]


def _piece(piece: Any) -> Text | Media:
    if isinstance(piece, dict):
        kind, text, data = piece.get("type"), piece.get("text"), piece.get("data")
        if kind == "text" and isinstance(text, str):
            return Text(text=text)
        if kind == "image" and isinstance(data, str):
            return Media(kind="image", mime=string(piece.get("mimeType")), data=data)
    raise ValueError("content: expected text and image blocks")


def _block(block: dict[str, Any], wire: str) -> Part:
    """One block of an assistant message."""
    match block.get("type"):
        case "toolCall":
            identity, name = block.get("id"), block.get("name")
            if not isinstance(identity, str) or not isinstance(name, str):
                raise ValueError("toolCall: expected an id and a name")
            return ToolCall(id=identity, name=name, arguments=arguments_text(block.get("arguments")))
        case "thinking":
            return _thinking(block, wire)
        case _:
            return _piece(block)


def _thinking(block: dict[str, Any], wire: str) -> Reasoning:
    """Reasoning with its provider's seal. For OpenAI Responses pi keeps the whole reasoning item as the seal; for
    compatible chat only the name of the field the text came in, which seals nothing."""
    text = block.get("thinking")
    seal = string(block.get("thinkingSignature"))
    if wire == "openai-chat":
        seal = None
    elif wire == "openai-responses" and seal is not None:
        seal = _encrypted(seal)
    return Reasoning(
        text=text if isinstance(text, str) and block.get("redacted") is not True else "",
        signature=seal,
        redacted=block.get("redacted") is True,
        provider=wire if seal is not None else None,
    )


def _encrypted(item: str) -> str | None:
    try:
        value = strict.loads(item.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    return string(value.get("encrypted_content")) if isinstance(value, dict) else None


def _result(inner: dict[str, Any]) -> ToolResult:
    call = inner.get("toolCallId")
    if not isinstance(call, str):
        raise ValueError("toolResult: expected a toolCallId")
    return ToolResult(
        call_id=call,
        content=tuple(_content(inner.get("content") or "")),
        name=string(inner.get("toolName")),
        is_error=inner.get("isError") is True,
    )


def _bash(inner: dict[str, Any]) -> str:
    """A command the user ran, in the words pi tells a model about it."""
    output = inner.get("output")
    code = inner.get("exitCode")
    text = f"Ran `{inner.get('command')}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    if inner.get("cancelled") is True:
        text += "\n\n(command cancelled)"
    elif isinstance(code, int) and code != 0:
        text += f"\n\nCommand exited with code {code}"
    if inner.get("truncated") is True and inner.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {inner['fullOutputPath']}]"
    return text


def _summary(lead: str, summary: Any, *, meta: Meta) -> Message | None:
    """A summary as pi tells it: a user message that no user wrote."""
    if not isinstance(summary, str) or not summary:
        return None
    text = Text(text=f"{lead}\n\n<summary>\n{summary}\n</summary>")
    return replace(neutral("user", (text,), meta=meta), synthetic="summary")
