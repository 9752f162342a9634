"""Fault reports of kind `images-bytes`: images are counted by their pixels, stay whole or go, oldest first.

Recovering from a provider's 413, or from its limit on many images, belongs to compaction by a model (reactive);
what is tested here is what that recovery stands on: counting, and shedding whole images at a target.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from tests.bugs.case import FORMATS, judged, load, squeezed

BYTES_EACH = 6_000
TOKENS_EACH_MAX = 2_500
"""More than any provider's rule gives for the sizes used here, less than their base64 as text."""


def png(width: int, height: int, number: int) -> str:
    """A PNG's head and some bytes, base64: enough for its size to be read; each number another picture."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + number.to_bytes(4, "big") * (BYTES_EACH // 4)).decode()


def shot(data: str, *, format: str) -> list[dict[str, Any]]:
    """A user message that holds one picture."""
    match format:
        case "anthropic":
            source = {"type": "base64", "media_type": "image/png", "data": data}
            return [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "look"}, {"type": "image", "source": source}],
                }
            ]
        case "openai-chat":
            url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
            return [{"role": "user", "content": [{"type": "text", "text": "look"}, url]}]
        case "openai-responses":
            part = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{data}"}
            return [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}, part]}
            ]
        case _:
            return [
                {
                    "role": "user",
                    "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": data}}],
                }
            ]


def seen(number: int, *, format: str) -> list[dict[str, Any]]:
    """The assistant's short answer."""
    text = f"I see picture {number}."
    match format:
        case "openai-responses":
            return [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
            ]
        case "gemini":
            return [{"role": "model", "parts": [{"text": text}]}]
        case _:
            return [{"role": "assistant", "content": text}]


def album(pictures: list[str], *, format: str) -> list[dict[str, Any]]:
    """A history of pictures, each answered, and a last question."""
    messages = [
        message
        for number, data in enumerate(pictures)
        for message in (*shot(data, format=format), *seen(number, format=format))
    ]
    last = (
        {"role": "user", "parts": [{"text": "Which was best?"}]}
        if format == "gemini"
        else {"role": "user", "content": "Which was best?"}
    )
    return [*messages, last]


def kept(messages: list[dict[str, Any]], pictures: list[str]) -> list[int]:
    """Numbers of the pictures still in the history, whole."""
    whole = str(messages)
    return [number for number, data in enumerate(pictures) if data in whole]


@pytest.mark.parametrize("format", FORMATS)
def test_pictures_are_counted_by_pixels_and_shed_whole_from_the_oldest(format: str) -> None:
    """earendil-works/pi#2734: 63 images reached the body limit at 30 % of the tokens."""
    case = load("M01")
    pictures = [png(600, 400, number) for number in range(case.payload["images"])]
    messages = album(pictures, format=format)
    before = squeezed(messages, format=format, to=1_000_000).report["tokens_before"]
    assert 60 * len(pictures) < before < TOKENS_EACH_MAX * len(pictures)
    for share in (0.7, 0.4, 0.15):
        out = squeezed(messages, format=format, to=share)
        assert judged(out.messages, format=format) == []
        assert out.report["tokens_after"] <= out.report["tokens_target"]
        left = [number for number in kept(out.messages, pictures) if number]
        assert left == list(range(len(pictures)))[len(pictures) - len(left) :]
        assert len(left) < len(pictures) * (share + 0.2)


def test_large_pictures_inside_results_are_counted_and_shed_too() -> None:
    """charmbracelet/crush#3810: more than 20 images, also nested in tool results. That the provider's refusal is no
    overflow (`classify_error`) belongs to compaction by a model."""
    sizes = load("M03").payload["images"]
    pictures = [png(size["w"], size["h"], number) for number, size in enumerate(sizes)]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Compare the screens."}]
    for number, data in enumerate(pictures):
        source = {"type": "base64", "media_type": "image/png", "data": data}
        use = {"type": "tool_use", "id": f"t{number}", "name": "screenshot", "input": {}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": [{"type": "image", "source": source}],
        }
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    messages += [
        {"role": "assistant", "content": "All seen."},
        {"role": "user", "content": "Which is widest?"},
    ]
    before = squeezed(messages, format="anthropic", to=1_000_000).report["tokens_before"]
    assert 400 * len(pictures) < before < TOKENS_EACH_MAX * 2 * len(pictures)
    for share in (0.6, 0.3, 0.1):
        out = squeezed(messages, format="anthropic", to=share)
        assert judged(out.messages, format="anthropic") == []
        assert out.report["tokens_after"] <= out.report["tokens_target"]
        assert len(kept(out.messages, pictures)) < len(pictures)


@pytest.mark.parametrize("format", FORMATS)
def test_the_newest_picture_of_a_new_chat_is_never_taken(format: str) -> None:
    """Sibling (justrach/codegraff#260): a pasted picture was replaced by text before it was ever sent. Law TAIL."""
    data = png(1_600, 1_200, 7)
    messages = shot(data, format=format)
    for to in (0.5, 1):
        out = squeezed(messages, format=format, to=to)
        assert out.messages == messages
