"""How each format streams an answer, for whoever makes one of several: which event says, calls or ends, and how it reads behind others.

Owns one class a format: pure, of one request. Counterpart: `foldline.clients.splicing`, which holds back and lets go.

    anthropic          places of blocks go on; one `message_start`; the input counts of the last answer with its last usage;
                       no thought behind an answer that began with none
    openai-chat        `id` and `created` of the first; `role` once
    openai-responses   places of items and sequence numbers go on; one `response.created`; all items in the last response
    gemini             `responseId` of the first

What an answer says behind its calls goes out once it is known that these are answered here: the texts, not the calls.

Texts that a caller joins to one are parted by a blank line. The id of the last response of OpenAI's is that of the last answer: under
that the provider keeps all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias

from foldline.wire.responses_calls import CALLS

Event: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["passes", "waits", "says", "calls", "ends", "breaks"]
"""Nothing of an answer · said only if something is said behind it · what a person reads · a call for the caller to make, or what stands
behind one · the end · an error in its place."""

GAP: Final = "\n\n"
INPUT_COUNTS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
OWN_CALLS: Final = frozenset(kind for kind, shape in CALLS.items() if not shape.server)
"""Items of Responses that wait for the caller."""
OPENINGS: Final = frozenset({"response.created", "response.in_progress", "response.queued"})
THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
"""Blocks of Anthropic's that a message has to begin with where it has any (anthropics/claude-code#20705)."""
FAILURES: Final = frozenset({"response.failed", "response.cancelled"})
ENDS: Final = frozenset({"response.completed", "response.incomplete"})


class Dialect(Protocol):
    """Of the answers to one request."""

    def kind(self, event: Event) -> Kind:
        """What an event is."""
        ...

    def told(self, event: Event) -> Event | None:
        """An event that goes out now, as it reads behind those before: the very event where nothing changes, `None` for one that is not
        said again."""
        ...

    def beside_calls(self, events: Sequence[Event]) -> list[Event | None]:
        """What the last events of an answer say but for its calls, which are not made, and its end; `None` for one of these."""
        ...

    def go_on(self) -> None:
        """The answer was not the last one; something of it was told."""
        ...


class _Gap:
    """Between two texts that a caller joins."""

    def __init__(self) -> None:
        self._last, self._is_due = "", False

    def go_on(self) -> None:
        self._is_due = bool(self._last) and not self._last.endswith("\n")

    def parted(self, text: str) -> str:
        """A text as it is told."""
        told = GAP + text if self._is_due and text else text
        self._is_due, self._last = self._is_due and not text, told or self._last
        return told


class _Places:
    """Of blocks or items behind those of the answers before."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._before = self._count = 0
        self._left: set[int] = set()
        self.is_exact = True
        """True while each is told where it came."""

    def at(self, event: Event) -> int | None:
        """Where it came; `None` for an event of the answer as a whole."""
        return _number(event[self._key]) if self._key in event else None

    def leave(self, *places: int | None) -> None:
        """Say nothing of what stands there."""
        self._left.update(place for place in places if place is not None)
        self.is_exact = False

    def kept(self, event: Event) -> Event | None:
        """The event; `None` for one of what is left out."""
        return None if self.at(event) in self._left else event

    def told(self, event: Event) -> Event | None:
        """The event with its place as it is told; `None` for one of what is left out."""
        came = self.at(event)
        if came is None or came in self._left:
            return self.kept(event)
        place = self._before + came - sum(left < came for left in self._left)
        self._count = max(self._count, place + 1)
        return event if place == came else {**event, self._key: place}

    def go_on(self) -> None:
        self._before, self._left = self._count, set()
        self.is_exact = False


class _Anthropic:
    def __init__(self) -> None:
        self._places, self._begins_with = _Places("index"), ""
        self._is_behind = False
        self._input: dict[str, Any] = {}

    def kind(self, event: Event) -> Kind:
        match event.get("type"):
            case "message_start":
                return "waits"
            case "content_block_start":
                return "calls" if _block(event) == "tool_use" else "says"
            case "content_block_delta" | "content_block_stop":
                return "says"
            case "message_delta" | "message_stop":
                return "ends"
            case "error":
                return "breaks"
            case _:
                return "passes"

    def told(self, event: Event) -> Event | None:
        match event.get("type"):
            case "message_start":
                self._input = _of(_object(_object(event.get("message")).get("usage")), INPUT_COUNTS)
                return None if self._is_behind else event
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                self._begin(event)
                return self._places.told(event)
            case "message_delta" if self._is_behind:
                usage = _object(event.get("usage"))
                return {**event, "usage": {**usage, **self._input, **_of(usage, tuple(usage))}}
            case _:
                return event

    def _begin(self, event: Event) -> None:
        """A block. Where the first one said no thought a later answer's is left out: no provider would take the message back."""
        kind = _block(event)
        if not self._places.is_exact and kind in THOUGHTS and self._begins_with not in THOUGHTS | {""}:
            self._places.leave(self._places.at(event))
        elif kind != "compaction":
            self._begins_with = self._begins_with or kind

    def beside_calls(self, events: Sequence[Event]) -> list[Event | None]:
        self._places.leave(*(self._places.at(event) for event in events if self.kind(event) == "calls"))
        return [None if self.kind(event) == "ends" else self._places.kept(event) for event in events]

    def go_on(self) -> None:
        self._places.go_on()
        self._is_behind = True


class _Chat:
    CALLS = ("tool_calls", "function_call")

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}
        self._is_behind, self._gap = False, _Gap()

    def kind(self, event: Event) -> Kind:
        if event.get("error"):
            return "breaks"
        choice = _first(event.get("choices"))
        if not choice:
            return "ends" if event.get("usage") else "waits"
        delta = _object(choice.get("delta"))
        if any(delta.get(key) for key in self.CALLS):
            return "calls"
        if choice.get("finish_reason"):
            return "ends"
        return "says" if _says(delta) else "waits"

    def told(self, event: Event) -> Event | None:
        if not self._is_behind:
            self._first = self._first or _of(event, ("id", "created"))
        choice = _first(event.get("choices"))
        delta = dict(_object(choice.get("delta")))
        text = delta.get("content")
        told = self._gap.parted(text) if isinstance(text, str) else text
        if not self._is_behind:
            return event
        delta.pop("role", None)
        made = {**delta, "content": told} if "content" in delta else delta
        shown = {"choices": [{**choice, "delta": made}]} if choice else {}
        return {**event, **self._first, **shown}

    def beside_calls(self, events: Sequence[Event]) -> list[Event | None]:
        return [self._beside_calls(event) for event in events]

    def _beside_calls(self, event: Event) -> Event | None:
        if self.kind(event) in ("says", "waits"):
            return event
        choice = _first(event.get("choices"))
        delta = {key: value for key, value in _object(choice.get("delta")).items() if key not in self.CALLS}
        made = {**event, "choices": [{**choice, "delta": delta, "finish_reason": None}]}
        return made if "role" in delta or _says(delta) else None

    def go_on(self) -> None:
        self._is_behind = True
        self._gap.go_on()


class _Responses:
    def __init__(self) -> None:
        self._given: list[Any] = []
        """Items of the answers before."""
        self._items: list[Any] = []
        self._places, self._next = _Places("output_index"), 0
        self._is_behind = False
        self._thoughts: set[int] = set()
        """Places of reasoning, which is refused without the item behind it: it is said with that, or not at all."""

    def kind(self, event: Event) -> Kind:
        kind, place = str(event.get("type")), _number(event.get("output_index"))
        if kind == "response.output_item.added":
            item = _object(event.get("item")).get("type")
            self._thoughts -= {place}
            if item == "reasoning":
                self._thoughts |= {place}
            elif item in OWN_CALLS:
                return "calls"
        if kind in OPENINGS or ("output_index" in event and place in self._thoughts):
            return "waits"
        if kind in ENDS:
            return "ends"
        if kind in FAILURES or kind == "error":
            return "breaks"
        return "says" if kind.startswith("response.") else "passes"

    def told(self, event: Event) -> Event | None:
        kind = str(event.get("type"))
        if self._is_behind and kind in OPENINGS:
            return None
        made = self._places.told(self._with_items(event, kind))
        if made is None:
            return None
        if kind == "response.output_item.done":
            self._items.append(event.get("item"))
        if "sequence_number" in event:
            if not self._places.is_exact:
                made = {**made, "sequence_number": self._next}
            self._next = _number(made["sequence_number"]) + 1
        return made

    def _with_items(self, event: Event, kind: str) -> Event:
        """A last response with all that was said; one that failed holds no call."""
        response = _object(event.get("response"))
        own = response.get("output")
        if not own or kind not in ENDS | FAILURES:
            return event
        told = [item for item in own if not (kind in FAILURES and _object(item).get("type") in OWN_CALLS)]
        if len(told) == len(own) and not self._given:
            return event
        return {**event, "response": {**response, "output": [*self._given, *told]}}

    def beside_calls(self, events: Sequence[Event]) -> list[Event | None]:
        """Reasoning that leads to a call goes with it."""
        added = [event for event in events if event.get("type") == "response.output_item.added"]
        items = {
            _number(event.get("output_index")): _object(event.get("item")).get("type") for event in added
        }
        leads = False
        for place in sorted(items, reverse=True):
            leads = items[place] not in OWN_CALLS and (leads or items[place] != "reasoning")
            if not leads:
                self._places.leave(place)
        return [None if event.get("type") in ENDS else self._places.kept(event) for event in events]

    def go_on(self) -> None:
        self._given, self._items = [*self._given, *self._items], []
        self._places.go_on()
        self._is_behind = True


class _Gemini:
    CALLS = ("functionCall", "function_call")
    QUIET = frozenset({"text", "thought", "thoughtSignature"})

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}
        self._is_behind, self._gap = False, _Gap()

    def kind(self, event: Event) -> Kind:
        if event.get("error"):
            return "breaks"
        candidate = _first(event.get("candidates"))
        parts = _parts(candidate)
        if any(self._calls(part) for part in parts):
            return "calls"
        if candidate.get("finishReason") or event.get("promptFeedback"):
            return "ends"
        return "says" if self._say(parts) else "waits"

    def told(self, event: Event) -> Event | None:
        if not self._is_behind:
            self._first = self._first or _of(event, ("responseId",))
        candidate = _first(event.get("candidates"))
        parts = [self._parted(part) for part in _parts(candidate)]
        if not self._is_behind:
            return event
        return {**event, **self._first, **_with_parts(candidate, parts)}

    def beside_calls(self, events: Sequence[Event]) -> list[Event | None]:
        return [self._beside_calls(event) for event in events]

    def _beside_calls(self, event: Event) -> Event | None:
        if self.kind(event) in ("says", "waits"):
            return event
        candidate = _first(event.get("candidates"))
        parts = [part for part in _parts(candidate) if not self._calls(part)]
        open = {key: value for key, value in candidate.items() if key != "finishReason"}
        return {**event, **_with_parts(open, parts)} if self._say(parts) else None

    def go_on(self) -> None:
        self._is_behind = True
        self._gap.go_on()

    def _calls(self, part: Mapping[str, Any]) -> bool:
        return any(part.get(key) for key in self.CALLS)

    def _say(self, parts: list[Mapping[str, Any]]) -> bool:
        return any(part.get("text") or not self.QUIET.issuperset(part) for part in parts)

    def _parted(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        text = part.get("text")
        if not isinstance(text, str) or part.get("thought"):
            return part
        return {**part, "text": self._gap.parted(text)}


DIALECTS: Final[Mapping[str, Callable[[], Dialect]]] = {
    "anthropic": _Anthropic,
    "openai-chat": _Chat,
    "openai-responses": _Responses,
    "gemini": _Gemini,
}


def _block(event: Event) -> str:
    return str(_object(event.get("content_block")).get("type", ""))


def _says(delta: Mapping[str, Any]) -> bool:
    return any(value for key, value in delta.items() if key != "role")


def _with_parts(candidate: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    if not candidate:
        return {}
    content = {**_object(candidate.get("content")), "parts": parts}
    return {"candidates": [{**candidate, "content": content} if "content" in candidate else candidate]}


def _parts(candidate: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = _object(candidate.get("content")).get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _first(choices: Any) -> Mapping[str, Any]:
    return _object(choices[0]) if isinstance(choices, list) and choices else {}


def _of(told: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: told[key] for key in keys if told.get(key) is not None}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
