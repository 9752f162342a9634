"""What a client's reader of a streamed answer relies on, format by format: whether some events are one answer, as far as they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def check_sequence(format: str, events: Sequence[dict[str, Any]], *, is_whole: bool = True) -> None:
    """Raises `AssertionError` for events that no provider would send. `is_whole`: the answer came to its end."""
    assert '"recall"' not in repr(events).replace("'", '"'), "no call of the tool that was added is shown"
    _CHECKS[format](events, is_whole)


def _anthropic(events: Sequence[dict[str, Any]], is_whole: bool) -> None:
    kinds = [one["type"] for one in events if one["type"] != "ping"]
    assert kinds.count("message_start") == min(1, len(kinds))
    assert kinds[:1] in ([], ["message_start"])
    blocks: list[str] = []
    open_at: int | None = None
    for one in events:
        match one["type"]:
            case "content_block_start":
                assert (open_at, one["index"]) == (None, len(blocks))
                open_at = one["index"]
                blocks.append(one["content_block"]["type"])
            case "content_block_delta":
                assert one["index"] == open_at
            case "content_block_stop":
                assert one["index"] == open_at
                open_at = None
            case _:
                pass
    assert kinds.count("message_delta") == kinds.count("message_stop") == int(is_whole)
    if is_whole:
        assert kinds[-2:] == ["message_delta", "message_stop"]
        [end] = [one for one in events if one["type"] == "message_delta"]
        assert ("tool_use" in blocks) == (end["delta"]["stop_reason"] == "tool_use")


def _chat(events: Sequence[dict[str, Any]], is_whole: bool) -> None:
    assert len({(one["id"], one["created"], one["model"]) for one in events}) <= 1
    choices = [one["choices"][0] for one in events if one["choices"]]
    assert sum("role" in one["delta"] for one in choices) == min(1, len(choices))
    ends = [one["finish_reason"] for one in choices if one["finish_reason"]]
    assert len(ends) == int(is_whole)
    calls = [call for one in choices for call in one["delta"].get("tool_calls") or ()]
    assert [call["index"] for call in calls if "id" in call] == [*range(sum("id" in call for call in calls))]
    if is_whole:
        assert choices[-1]["finish_reason"]
        assert bool(calls) == (ends == ["tool_calls"])


def _responses(events: Sequence[dict[str, Any]], is_whole: bool) -> None:
    assert [one["sequence_number"] for one in events] == [*range(len(events))]
    kinds = [one["type"] for one in events]
    assert kinds.count("response.created") == min(1, len(kinds))
    done = [one for one in events if one["type"] == "response.output_item.done"]
    added = [one for one in events if one["type"] == "response.output_item.added"]
    assert [one["output_index"] for one in added] == [*range(len(added))]
    assert [one["output_index"] for one in done] == [*range(len(done))]
    assert [one["item"]["id"] for one in done] == [one["item"]["id"] for one in added[: len(done)]]
    items = [one["item"] for one in done]
    for place, one in enumerate(added):
        behind = added[place + 1 : place + 2]
        assert one["item"]["type"] != "reasoning" or [one["item"]["type"] for one in behind] not in (
            [],
            ["reasoning"],
        )
    if is_whole:
        assert kinds[-1] in ("response.completed", "response.incomplete")
        assert events[-1]["response"]["output"] == items
        assert len(added) == len(done)


def _gemini(events: Sequence[dict[str, Any]], is_whole: bool) -> None:
    assert len({one.get("responseId") for one in events}) <= 1
    ends = [one["candidates"][0].get("finishReason") for one in events if one.get("candidates")]
    assert [bool(one) for one in ends] == [*[False] * (len(ends) - 1), is_whole][: len(ends)]


_CHECKS = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
}
