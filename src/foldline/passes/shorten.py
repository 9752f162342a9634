"""Shortening one tool result to a limit, in characters or in tokens.

Texts of the result share the limit by their size; media and unknown parts stay. Counterpart of `results.cleared`,
which leaves nothing. Knows one result at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import NOTICE_END, has_notice, notice
from foldline.core.clamp import fit_head, fit_tail, head_and_tail, plain
from foldline.core.clamp_json import clamp_json
from foldline.core.edit import Frame, Replace
from foldline.core.message import Text, ToolResult
from foldline.ledger.columns import Prices
from foldline.ledger.facts import FactCache
from foldline.ledger.found_in_text import Finder
from foldline.ledger.index import index
from foldline.passes.results import Found, with_content

NOTICE_MAX_CHARS = 180
"""A notice is never longer; a result within its limit plus this for each text that holds one was cut before."""
NOTICE_MAX_TOKENS = 60
SPARE_SHARE = 0.05
"""Share of a limit that is worth cutting again for."""
CUTS_MAX = 2_000
"""Cuts that are remembered with their results, beyond those of the last compaction."""


class Limit(Struct, frozen=True, kw_only=True, gc=False):
    """How much of a result stays."""

    size: int
    """A result of this size or less is untouched."""
    head: int
    tail: int
    unit: str
    """`characters` or `tokens`."""
    carry: int = 0
    """Tokens for facts of what is cut out, beside head and tail (only in tokens)."""

    @property
    def slack(self) -> int:
        """What a notice may add."""
        return NOTICE_MAX_CHARS if self.unit == "characters" else NOTICE_MAX_TOKENS + self.carry

    @property
    def kept(self) -> int:
        """What a result over the limit comes to: head, tail, facts and notice (only in tokens)."""
        return self.head + self.tail + self.carry + NOTICE_MAX_TOKENS

    @property
    def spare(self) -> int:
        """What that leaves of the size."""
        return self.size - self.kept

    def keeping(self, size: int) -> Limit:
        """The same proportions of head and tail, `size` in all; half each where neither has anything."""
        shares = self.head + self.tail
        head = size * self.head // shares if shares else size // 2
        return replace(self, size=size, head=head, tail=size - head)

    def share(self, ratio: float) -> Limit:
        """This limit's part for one text of several; `ratio` in (0, 1]."""
        if ratio == 1:
            return self
        size, head, tail, carry = (int(n * ratio) for n in (self.size, self.head, self.tail, self.carry))
        return Limit(size=size, head=head, tail=tail, unit=self.unit, carry=carry)


def cuts(wanted: Sequence[tuple[Found, Limit]], *, frame: Frame) -> list[Replace | None]:
    """`shorten` for many results. Remembered for the next compactions: a part never changes, and neither does its cut."""
    before: dict[Any, _Cut] = frame.memo.get("cuts", {})
    now: dict[Any, _Cut] = {}
    for found, limit in wanted:
        if limit.unit != "tokens" or found.tokens > limit.size:
            key = (id(found.part), found.seq, limit, frame.counter.name)
            now[key] = before.get(key) or _Cut(part=found.part, edit=shorten(found, limit, frame=frame))
    both = before | now
    frame.memo["cuts"] = both if len(both) <= CUTS_MAX else now
    return [cut.edit for cut in now.values()]


class _Cut(Struct, frozen=True, kw_only=True, gc=False):
    """A result that was looked at, and what came of it."""

    part: ToolResult
    """Held, so that no other part has its identity."""
    edit: Replace | None


def shorten(found: Found, limit: Limit, *, frame: Frame) -> Replace | None:
    """The edit that cuts a result over its limit to head and tail around a notice; `None` when it is within the limit,
    was cut before, or the cut would free nothing (law GAIN, requirement MIC-9)."""
    if limit.unit == "tokens" and found.tokens <= limit.size:
        return None
    sizes = _sizes(found, limit, frame=frame)
    size = sum(sizes)
    if size <= limit.size:
        return None
    texts = [part for part in found.part.content if isinstance(part, Text)]
    if size <= limit.size + limit.slack * sum([has_notice(part.text) for part in texts]):
        return None
    address = frame.part_address(found.seq, found.part)
    measure = len if limit.unit == "characters" else frame.counter.text
    cuts = [
        _cut(part, limit.share(own / size), address=address, frame=frame, size=own)
        for part, own in zip(texts, sizes, strict=True)
    ]
    left = iter(cuts)
    content = tuple([next(left) if isinstance(part, Text) else part for part in found.part.content])
    if size > limit.size + limit.slack * len(texts) and not any(map(is_, cuts, texts)):
        return with_content(found, content, address=address)  # every text is within its share and a notice
    after = sum([measure(part.text) for part in cuts])
    return with_content(found, content, address=address) if after < size else None


def _sizes(found: Found, limit: Limit, *, frame: Frame) -> list[int]:
    """The size of each text. One text alone is as many tokens as its result without what stands around it."""
    content = found.part.content
    if limit.unit == "tokens" and len(content) == 1 and isinstance(content[0], Text):
        return [found.tokens - frame.counter.part(replace(found.part, content=()))]
    texts = [part.text for part in content if isinstance(part, Text)]
    return list(map(len, texts)) if limit.unit == "characters" else frame.counter.texts(texts)


def _cut(part: Text, limit: Limit, *, address: str, frame: Frame, size: int) -> Text:
    """The text within its limit; `size` is what it measures as it is."""
    measure = len if limit.unit == "characters" else frame.counter.text
    text = plain(part.text)
    if text is not part.text:
        size = measure(text)
        if size <= limit.size:
            mark = notice("terminal codes removed", address)
            return replace(part, text=f"{text}\n{mark}", edited=True)
    if size <= limit.size:
        return part
    mark = notice(f"{size - limit.head - limit.tail:,} {limit.unit} omitted", address)
    whole = _as_json(text, limit, mark=mark, measure=measure, size=size)
    if whole is None:
        whole = _head_and_tail(text, limit, mark=mark, frame=frame, size=size)
    return replace(part, text=whole, edited=True) if len(whole) < len(part.text) else part


def _as_json(text: str, limit: Limit, *, mark: str, measure: Callable[[str], int], size: int) -> str | None:
    chars = (limit.head + limit.tail) * len(text) // max(1, size)
    out = clamp_json(text, chars, mark=mark)
    return out if out is not None and measure(out) <= limit.size + NOTICE_MAX_TOKENS else None


def _head_and_tail(text: str, limit: Limit, *, mark: str, frame: Frame, size: int) -> str:
    measure, prices = frame.counter.text, prices_of(frame)
    head, tail = limit.head, limit.tail
    if limit.unit == "tokens":
        guess = len(text) / max(1, size)
        head, tail = (
            fit_head(text, head, measure=measure, guess=guess),
            fit_tail(text, tail, measure=measure, guess=guess),
        )
    cut = head_and_tail(text, head, tail=tail) or (text, "")
    if limit.carry <= 0:
        return "\n".join([cut[0], mark, cut[1]])
    shown, omitted = "".join(cut), text[len(cut[0]) : len(text) - len(cut[1])]
    facts = [fact for fact in fact_cache(frame).of(omitted) if fact.text not in shown]
    lines = index(facts, limit.carry, prices=prices)[1]
    spare = limit.carry - sum(prices.count(lines))
    if spare > limit.size * SPARE_SHARE:  # what no fact needs goes to head and tail
        wider = limit.keeping(limit.head + limit.tail + spare)
        guess = len(shown) / max(1, limit.head + limit.tail)
        head = fit_head(text, wider.head, measure=measure, guess=guess)
        cut = head_and_tail(text, head, tail=fit_tail(text, wider.tail, measure=measure, guess=guess)) or cut
    said = [*lines, NOTICE_END] if lines else []
    return "\n".join([cut[0], mark, *said, cut[1]])


def fact_cache(frame: Frame) -> FactCache:
    """The facts found so far in this compaction."""
    cache: FactCache = frame.memo.setdefault("facts", FactCache(Finder()))
    return cache


def prices_of(frame: Frame) -> Prices:
    """What pieces of an index cost by the counter of this compaction, as far as they were counted before."""
    prices: Prices | None = frame.memo.get("prices")
    if prices is None or prices.counter != frame.counter.name:
        prices = frame.memo["prices"] = Prices(frame.counter.texts, counter=frame.counter.name)
    return prices
