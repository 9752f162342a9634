"""Shortening one tool result to a limit, in characters or in tokens.

Texts of the result share the limit by their size; media and unknown parts stay. Counterpart of `results.cleared`,
which leaves nothing. Knows one result at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import has_notice, notice
from foldline.core.clamp import fit_head, fit_tail, head_and_tail, plain
from foldline.core.clamp_json import clamp_json
from foldline.core.edit import Frame, Replace
from foldline.core.message import Text
from foldline.passes.results import Found, with_content

NOTICE_MAX_CHARS = 180
"""A notice is never longer; a result within its limit plus this for each text that holds one was cut before."""
NOTICE_MAX_TOKENS = 60


class Limit(Struct, frozen=True, kw_only=True, gc=False):
    """How much of a result stays."""

    size: int
    """A result of this size or less is untouched."""
    head: int
    tail: int
    unit: str
    """`characters` or `tokens`."""

    def keeping(self, size: int) -> Limit:
        """The same proportions of head and tail, `size` in all."""
        head = size * self.head // (self.head + self.tail)
        return Limit(size=size, head=head, tail=size - head, unit=self.unit)

    def share(self, ratio: float) -> Limit:
        """This limit's part for one text of several; `ratio` in (0, 1]."""
        if ratio == 1:
            return self
        size, head, tail = (int(n * ratio) for n in (self.size, self.head, self.tail))
        return Limit(size=size, head=head, tail=tail, unit=self.unit)


def shorten(found: Found, limit: Limit, frame: Frame) -> Replace | None:
    """The edit that cuts a result over its limit to head and tail around a notice; `None` when it is within the limit,
    was cut before, or the cut would free nothing (law GAIN, requirement MIC-9)."""
    if limit.unit == "tokens" and found.tokens <= limit.size:
        return None
    measure = len if limit.unit == "characters" else frame.counter.text
    texts = [part for part in found.part.content if isinstance(part, Text)]
    size = sum(measure(part.text) for part in texts)
    if size <= limit.size:
        return None
    slack = NOTICE_MAX_CHARS if limit.unit == "characters" else NOTICE_MAX_TOKENS
    if size <= limit.size + slack * sum(has_notice(part.text) for part in texts):
        return None
    address = frame.part_address(found.seq, found.part)
    content = tuple(
        _cut(part, limit, address, measure, share=measure(part.text) / size)
        if isinstance(part, Text)
        else part
        for part in found.part.content
    )
    edit = with_content(found, content, frame)
    after = sum(measure(part.text) for part in content if isinstance(part, Text))
    return edit if after < size else None


def _cut(part: Text, limit: Limit, address: str, measure: Callable[[str], int], *, share: float) -> Text:
    text = plain(part.text)
    own, size = limit.share(share), measure(text)
    if size <= own.size:
        mark = "" if text is part.text else "\n" + notice("terminal codes removed", address)
        return part if text is part.text else replace(part, text=text + mark, edited=True)
    mark = notice(f"{size - own.head - own.tail:,} {limit.unit} omitted", address)
    whole = _as_json(text, own, mark, measure)
    if whole is None:
        whole = _head_and_tail(text, own, mark, measure)
    return replace(part, text=whole, edited=True) if len(whole) < len(part.text) else part


def _as_json(text: str, limit: Limit, mark: str, measure: Callable[[str], int]) -> str | None:
    chars = limit.head + limit.tail
    if measure is not len:
        chars = int(chars * len(text) / max(1, measure(text)))
    out = clamp_json(text, chars, mark)
    return out if out is not None and measure(out) <= limit.size + NOTICE_MAX_TOKENS else None


def _head_and_tail(text: str, limit: Limit, mark: str, measure: Callable[[str], int]) -> str:
    head, tail = limit.head, limit.tail
    if measure is not len:
        head, tail = fit_head(text, head, measure), fit_tail(text, tail, measure)
    cut = head_and_tail(text, head, tail)
    return text if cut is None else f"{cut[0]}\n{mark}\n{cut[1]}"
