"""Counting messages: what of a message is counted, and by which rule.

One counter for every model: a text count (exact, corrected or estimated) and a media rule make it. The sum of a
message's parts and its overhead is its count, always, so that views keep counts by part and never recount.
Knows nothing of providers' names: `foldline.tokens.choose` puts the two together.

What is not text on the wire is counted by stated rules: the JSON around calls and results by constants,
encrypted reasoning and opaque blobs by their length, media by pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, assert_never

from msgspec import Struct

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.ports import Weights
from foldline.tokens.media import MediaRule, media_tokens, plain_text
from foldline.tokens.text import TextCount, runs_of

MESSAGE_OVERHEAD: Final = 4
"""Role markers of one message (`<|im_start|>`, the role, a line feed, `<|im_end|>`): requirement TOK-1, and OpenAI's
cookbook, "How to count tokens", 3 to 4."""
CALL_OVERHEAD: Final = 13
"""o200k_base tokens of the JSON around a call's name and arguments, its id left out."""
RESULT_OVERHEAD: Final = 14
"""o200k_base tokens of the JSON around a result's content, its id left out."""
BLOB_CHARS_PER_TOKEN: Final = 5
"""Base64 characters of encrypted content for each token inside: 4 characters of text a token, 4 of base64 for 3 bytes."""
OPAQUE_BLOB_TOKENS_MAX: Final = 4_784
"""Most a blob inside an opaque part can cost: the largest image of any published rule."""
OPAQUE_BLOB_CHARS_MIN: Final = 256
"""Shorter base64 inside an opaque part counts as text: ids and digests."""


def encrypted_tokens(blob: str) -> int:
    """Tokens of content only the provider can read, by the length of its base64."""
    return -(-len(blob) // BLOB_CHARS_PER_TOKEN)


class Counter(Struct, frozen=True, kw_only=True):
    """A `foldline.core.ports.TokenCounter`."""

    name: str
    """As reported: an encoding, a family, or `estimate`."""
    count: TextCount
    media: MediaRule
    tools_overhead: int = 0
    """Tokens the provider adds to a request that has tools at all."""

    def text(self, text: str) -> int:
        return self.count.one(text)

    def texts(self, texts: list[str]) -> list[int]:
        return self.count.many(texts)

    def part(self, part: Part) -> int:
        texts: list[str] = []
        fixed = self._spell(part, texts)
        return fixed + sum(map(self.count.one, texts))

    def message(self, message: Message) -> int:
        weights, overhead = self.weights(message)
        return overhead + sum(weights)

    def tools(self, schemas: str) -> int:
        """Tokens of tool schemas as JSON text; 0 for an empty string or an empty list."""
        if schemas.strip() in ("", "[]"):
            return 0
        return self.tools_overhead + self.count.one(schemas)

    def weights(self, message: Message) -> Weights:
        """Tokens of each part of a message, and its overhead."""
        return tuple(map(self.part, message.parts)), MESSAGE_OVERHEAD

    def weights_of(self, messages: Iterable[Message]) -> list[Weights]:
        """`weights` of each message, with all their texts counted in one call: the way to count a history."""
        texts: list[str] = []
        fixed: list[int] = []
        ends: list[int] = []
        spans: list[int] = []
        for message in messages:
            for part in message.parts:
                fixed.append(self._spell(part, texts))
                ends.append(len(texts))
            spans.append(len(ends))
        weights = _sums(fixed, ends, counts=self.count.many(texts))
        return [(tuple(weights[start:end]), MESSAGE_OVERHEAD) for start, end in pairwise((0, *spans))]

    def _spell(self, part: Part, texts: list[str]) -> int:
        """Adds the texts of a part that are to be counted; returns its tokens beside them."""
        match part:
            case Text():
                texts.append(part.text)
                return 0
            case ToolCall():
                texts.append(f"{part.name}\n{part.arguments}")
                return CALL_OVERHEAD
            case ToolResult():
                return RESULT_OVERHEAD + sum([self._spell(inner, texts) for inner in part.content])
            case Reasoning():
                texts.append(part.text)
                return self._hidden(part)
            case Media():
                return self._media(part, texts)
            case Opaque():
                return _opaque(part, texts)
        assert_never(part)

    def _hidden(self, part: Reasoning) -> int:
        """What a reasoning part holds beyond its visible text.

        A signature beside readable reasoning only proves it. Where nothing can be read, and where the text is a
        summary of encrypted content (OpenAI), the encrypted content is what the model gets back.
        """
        if part.signature is None:
            return 0
        if part.text and not part.redacted and not (part.provider or "").startswith("openai"):
            return 0
        return max(0, encrypted_tokens(part.signature) - self.count.one(part.text))

    def _media(self, part: Media, texts: list[str]) -> int:
        text = plain_text(part)
        if text is None:
            return media_tokens(part, self.media)
        texts.append(text)
        return 0


def _sums(fixed: Sequence[int], ends: Sequence[int], *, counts: Sequence[int]) -> list[int]:
    """Tokens of each part: what is fixed, and the counts of its texts, which end at `ends`."""
    weights, start = [], 0
    for tokens, end in zip(fixed, ends, strict=True):
        if end - start == 1:
            weights.append(tokens + counts[start])
        else:
            weights.append(tokens + sum(counts[start:end]))
        start = end
    return weights


def _opaque(part: Opaque, texts: list[str]) -> int:
    """An unknown part's JSON is text; long base64 inside is not."""
    rest, tokens, at = [], 0, 0
    for start, end in runs_of(part.raw, OPAQUE_BLOB_CHARS_MIN):
        rest.append(part.raw[at:start])
        tokens += min(OPAQUE_BLOB_TOKENS_MAX, -(-(end - start) // BLOB_CHARS_PER_TOKEN))
        at = end
    rest.append(part.raw[at:])
    texts.append(b" ".join(rest).decode("utf-8", "replace"))
    return tokens
