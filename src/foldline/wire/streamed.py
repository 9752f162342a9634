"""Streamed responses: the events of a stream, put together to the response that would have come whole.

Owns one reader a format. Each takes events as dicts, says what text and reasoning came with one, and gives at any time the
response so far, in the shape that `foldline.wire.response` reads. What it does not know it passes over; the stream itself
goes to its caller untouched.

    anthropic          message_start · content_block_start/_delta · message_delta
    openai-chat        chunks with `choices[0].delta`, usage in a last one
    openai-responses   response.output_item.done …, the whole response in the last event
    gemini             responses with a piece of the content each
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from foldline.wire.completion import Delta
from foldline.wire.splice import arguments_object

NOTHING = Delta()


class Streamed(Protocol):
    """A response under way. Mutable; of one reader."""

    begun: bool
    """True once anything of the answer was delivered: content, reasoning, a call, or usage."""

    def take(self, event: Mapping[str, Any]) -> Delta:
        """Take an event in."""
        ...

    def response(self) -> dict[str, Any]:
        """The response so far; empty before the first event."""
        ...


def streamed(format: str) -> Streamed:
    """A reader for one response. Raises `KeyError` for what is no wire format."""
    return _READERS[format]()


class _Pieces:
    """Texts that grow: joined once, when they are asked for."""

    def __init__(self) -> None:
        self._pieces: dict[tuple[int, str], list[str]] = {}

    def add(self, place: int, key: str, *, piece: Any) -> str:
        """Add to a text; returns what was added."""
        if not isinstance(piece, str) or not piece:
            return ""
        self._pieces.setdefault((place, key), []).append(piece)
        return piece

    def at(self, place: int) -> Iterator[tuple[str, str]]:
        """The texts of one place, by key."""
        for (where, key), pieces in self._pieces.items():
            if where == place:
                yield key, "".join(pieces)


class _Anthropic:
    def __init__(self) -> None:
        self.begun = False
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces = _Pieces()

    def take(self, event: Mapping[str, Any]) -> Delta:
        match event.get("type"):
            case "message_start":
                self._message = _object(event.get("message"))
                self._usage = _object(self._message.get("usage"))
                self.begun = self.begun or bool(self._usage)
            case "content_block_start":
                self.begun = True
                self._blocks[_index(event)] = block = _object(event.get("content_block"))
                return Delta(text=_text(block.get("text")), reasoning=_text(block.get("thinking")))
            case "content_block_delta":
                self.begun = True
                return self._delta(_index(event), _object(event.get("delta")))
            case "message_delta":
                self._message.update(_told(event.get("delta")))
                self._usage.update(_told(event.get("usage")))
            case _:
                pass
        return NOTHING

    def _delta(self, index: int, delta: dict[str, Any]) -> Delta:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        add = self._pieces.add
        match delta.get("type"):
            case "text_delta":
                return Delta(text=add(index, "text", piece=delta.get("text")))
            case "thinking_delta":
                return Delta(reasoning=add(index, "thinking", piece=delta.get("thinking")))
            case "signature_delta":
                block["signature"] = _text(delta.get("signature"))
            case "input_json_delta":
                add(index, "input", piece=delta.get("partial_json"))
            case "citations_delta":
                block["citations"] = [*_list(block.get("citations")), delta.get("citation")]
            case "compaction_delta":
                block.update(_told({key: delta.get(key) for key in ("content", "encrypted_content")}))
            case _:
                pass
        return NOTHING

    def response(self) -> dict[str, Any]:
        if not self._message:
            return {}
        content = [self._block(index) for index in sorted(self._blocks)]
        return {**self._message, "content": content, "usage": self._usage}

    def _block(self, index: int) -> dict[str, Any]:
        block = dict(self._blocks[index])
        for key, text in self._pieces.at(index):
            block[key] = arguments_object(text) if key == "input" else _text(block.get(key)) + text
        return block


class _Chat:
    NAMES = ("id", "model")
    TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
    """Keys of a delta whose texts grow; the last two are reasoning, by servers beside OpenAI's own."""

    def __init__(self) -> None:
        self.begun = False
        self._chunk: dict[str, Any] = {}
        self._message: dict[str, Any] = {"role": "assistant"}
        self._calls: dict[int, dict[str, Any]] = {}
        self._pieces = _Pieces()
        self._usage: Any = None
        self._reason: Any = None

    def take(self, event: Mapping[str, Any]) -> Delta:
        for key in self.NAMES:
            if event.get(key) is not None:
                self._chunk[key] = event[key]
        if event.get("usage") is not None:
            self._usage, self.begun = event["usage"], True
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._reason = choice.get("finish_reason") or self._reason
                return self._delta(_object(choice.get("delta")))
        return NOTHING

    def _delta(self, delta: dict[str, Any]) -> Delta:
        added: dict[str, str] = {}
        for key, value in delta.items():
            if key in self.TEXTS:
                added[key] = self._pieces.add(-1, key, piece=value)
            elif isinstance(value, list) and key != "tool_calls":
                self._message[key] = [*_list(self._message.get(key)), *value]
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._call(_object(call))
        self.begun = self.begun or bool(calls) or any(added.values())
        text, refusal, *reasoning = (added.get(key, "") for key in self.TEXTS)
        return Delta(text=text or refusal, reasoning=reasoning[0] or reasoning[1])

    def _call(self, told: dict[str, Any]) -> None:
        index = _index(told)
        made = {"id": "", "type": "function", "function": {"name": ""}}
        call = self._calls.setdefault(index, made)
        function = _object(told.get("function"))
        call["id"] = call["id"] or _text(told.get("id"))
        call["function"]["name"] = call["function"]["name"] or _text(function.get("name"))
        self._pieces.add(index, "arguments", piece=function.get("arguments"))

    def response(self) -> dict[str, Any]:
        if not (self.begun or self._chunk):
            return {}
        message = {**self._message, "content": None, **dict(self._pieces.at(-1))}
        if self._calls:
            message["tool_calls"] = [
                {**call, "function": {**call["function"], "arguments": "", **dict(self._pieces.at(index))}}
                for index, call in sorted(self._calls.items())
            ]
        choice = {"index": 0, "message": message, "finish_reason": self._reason}
        return {**self._chunk, "choices": [choice], "usage": self._usage}


class _Responses:
    REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
    ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")

    def __init__(self) -> None:
        self.begun = False
        self._response: dict[str, Any] = {}
        self._items: dict[int, Any] = {}

    def take(self, event: Mapping[str, Any]) -> Delta:
        kind = _text(event.get("type"))
        if kind == "response.output_item.done":
            place = event.get("output_index")
            self._items[place if isinstance(place, int) else len(self._items)] = event.get("item")
        elif kind in self.ENDS or kind == "response.created":
            self._response = _object(event.get("response"))
            if kind in self.ENDS and self._response.get("status") is None:
                self._response["status"] = kind.partition(".")[2]
        self.begun = self.begun or kind.startswith("response.output_item") or kind.endswith(".delta")
        if kind == "response.output_text.delta":
            return Delta(text=_text(event.get("delta")))
        return Delta(reasoning=_text(event.get("delta"))) if kind in self.REASONING else NOTHING

    def response(self) -> dict[str, Any]:
        if not (self._response or self._items):
            return {}
        output = self._response.get("output") or [self._items[index] for index in sorted(self._items)]
        return {**self._response, "output": output}


class _Gemini:
    def __init__(self) -> None:
        self.begun = False
        self._response: dict[str, Any] = {}
        self._candidate: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []

    def take(self, event: Mapping[str, Any]) -> Delta:
        self._response.update({key: value for key, value in event.items() if key != "candidates"})
        candidates = event.get("candidates")
        candidate = _object(candidates[0]) if isinstance(candidates, list) and candidates else {}
        self._candidate.update({key: value for key, value in candidate.items() if key != "content"})
        parts = _object(candidate.get("content")).get("parts")
        text = reasoning = ""
        for part in parts if isinstance(parts, list) else ():
            piece = self._part(_object(part))
            text, reasoning = text + piece.text, reasoning + piece.reasoning
        return Delta(text=text, reasoning=reasoning)

    def _part(self, part: dict[str, Any]) -> Delta:
        """A text goes on from the text before it, unless that ended with a signature, which covers it as it stands."""
        if not part:
            return NOTHING
        self.begun = True
        last = self._parts[-1] if self._parts else {}
        text, thought = _text(part.get("text")), bool(part.get("thought"))
        goes_on = (
            "text" in part and isinstance(last.get("text"), str) and bool(last.get("thought")) == thought
        )
        if goes_on and "thoughtSignature" not in last:
            self._parts[-1] = {**last, **part, "text": last["text"] + text}
        else:
            self._parts.append(part)
        return Delta(reasoning=text) if thought else Delta(text=text)

    def response(self) -> dict[str, Any]:
        if not (self._response or self._candidate or self._parts):
            return {}
        content = {"role": "model", "parts": self._parts}
        shown = [{**self._candidate, "content": content}] if self._parts or self._candidate else []
        return {**self._response, "candidates": shown}


_READERS: dict[str, type[_Anthropic] | type[_Chat] | type[_Responses] | type[_Gemini]] = {
    "anthropic": _Anthropic,
    "openai-chat": _Chat,
    "openai-responses": _Responses,
    "gemini": _Gemini,
}


def _object(value: Any) -> dict[str, Any]:
    """A copy, so that no event is changed."""
    return dict(value) if isinstance(value, (dict, Mapping)) else {}  # asking a class is slow


def _told(value: Any) -> dict[str, Any]:
    return {key: told for key, told in _object(value).items() if told is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0
