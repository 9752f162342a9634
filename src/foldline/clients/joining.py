"""Answers to one request that came whole and reach their caller as one: what those said that looked something up, and then the last one.

    answer 1   text  call of recall  text
    answer 2   text                          ─►   text  text  text

By the rules of streamed ones (`foldline.clients.dialects`), to which each block, item or message is an event: no call, no thought that
could not be given back, texts that a caller joins parted. Of the last answer what it says is written anew; its other keys stay in
their bytes. Values and bytes in, bytes out. Counterpart: `foldline.clients.splicing`, for streams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.clients.calls import plain
from foldline.clients.dialects import DIALECTS, Dialect, Event
from foldline.wire import strict
from foldline.wire.slices import fields, items

_NO_ANSWER: Final = (ValueError, LookupError, TypeError, AttributeError)


def joined(earlier: Sequence[Mapping[str, Any]], last: bytes, *, format: str) -> bytes:
    """The last answer behind what the earlier ones said. As it came where they said nothing, or where it is none that is read here."""
    try:
        dialect, said = DIALECTS[format](), list[Event]()
        for response in earlier:
            told = _told(dialect, dialect.beside_calls(_events(response, format)))
            says = any(dialect.kind(event) == "says" for event in told)
            said += told if says else []
            if said:
                dialect.go_on()
            else:
                dialect = DIALECTS[format]()
        if not said:
            return last
        own = fields(last.strip())
        whole = {key: plain(value) for key, value in own.items()}
        if format == "openai-chat" and isinstance(whole["choices"][0]["message"].get("content"), list):
            return last  # some servers' parts in the place of a text
        return strict.dump(_with(own, [*said, *_told(dialect, _events(whole, format))], format=format))
    except _NO_ANSWER:
        return last


def _told(dialect: Dialect, events: Sequence[Event | None]) -> list[Event]:
    told = [dialect.told(event) for event in events if event is not None]
    return [event for event in told if event is not None]


def _events(response: Mapping[str, Any], format: str) -> list[Event]:
    """What a whole answer says, as events."""
    match format:
        case "anthropic":
            kind = "content_block_start"
            blocks = enumerate(response["content"])
            return [{"type": kind, "index": place, "content_block": block} for place, block in blocks]
        case "openai-chat":
            return [{"choices": [{"delta": response["choices"][0]["message"]}]}]
        case "openai-responses":
            kind = "response.output_item.added"
            output = enumerate(response["output"])
            return [{"type": kind, "output_index": place, "item": item} for place, item in output]
        case _:
            return [{"candidates": [{"content": response["candidates"][0]["content"]}]}]


def _with(own: Mapping[str, Any], said: Sequence[Event], *, format: str) -> dict[str, Any]:
    """The last answer, which says all of it."""
    match format:
        case "anthropic":
            return {**own, "content": [event["content_block"] for event in said]}
        case "openai-chat":
            choice = fields(items(own["choices"])[0])
            message = _message([event["choices"][0]["delta"] for event in said])
            return {**own, "choices": [{**choice, "message": {**fields(choice["message"]), **message}}]}
        case "openai-responses":
            return {**own, "output": [event["item"] for event in said]}
        case _:
            candidate = fields(items(own["candidates"])[0])
            parts = [part for event in said for part in event["candidates"][0]["content"]["parts"]]
            return {
                **own,
                "candidates": [{**candidate, "content": {**fields(candidate["content"]), "parts": parts}}],
            }


def _message(deltas: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The texts of one of Chat Completions."""
    said: dict[str, str] = {}
    for delta in deltas:
        for key, value in delta.items():
            if isinstance(value, str) and key != "role":
                said[key] = said.get(key, "") + value
    return said
