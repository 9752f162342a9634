"""Composing the ledger of one compaction: what leaves the view, what stays, and what an earlier ledger said.

    folded items ──► entries (book), what users asked and ruled, facts ranked by how likely they are wanted again
    earlier fold ──► entries and facts read back, merged by key: the newest state stands, nothing is summarised twice
                                   └──► text within the budget (render)

Facts that the kept part of the view shows anyway take no room. Knows nothing of how units were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import read_block
from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    result_text,
    speaks_for_user,
)
from foldline.core.view import Item
from foldline.ledger.book import Entry, Section, entries_of, one_line
from foldline.ledger.facts import Fact, FactCache
from foldline.ledger.render import Written, read, write

QUOTE_CHARS = 400
"""A user message that leaves is quoted up to this length."""
OWN_WORDS = 3
"""How many times more recent a fact counts that the user or the agent used in its own words: those come back."""


class Evicted(Struct, frozen=True, kw_only=True):
    """What a compaction takes out of the view, and what it leaves."""

    folded: Sequence[Item]
    """Items to be folded, as they came in, whatever an earlier pass made of them."""
    history: Sequence[Message]
    """Every message as it came in: results that were cleared or cut in what stays have facts too."""
    kept: Sequence[Message]
    """What stays, as it will be shown."""


def compose(
    evicted: Evicted, *, budget: int, count: Callable[[list[str]], list[int]], cache: FactCache
) -> Written:
    """The ledger within `budget` tokens."""
    folded = evicted.folded
    before = [read(body) for body in _earlier(folded)]
    entries = _merged([*(e for found, _ in before for e in found), *_asked(folded), *entries_of(folded)])
    facts = _wanted(evicted, [f for _, found in before for f in found], cache)
    return write(entries, facts, budget, count)


def _earlier(items: Iterable[Item]) -> Iterator[str]:
    """Bodies of earlier folds among the items, oldest first."""
    for item in items:
        if item.message.role == "user":
            for part in item.message.parts:
                found = (
                    read_block(part.text) if isinstance(part, Text) and "<foldline-" in part.text else None
                )
                if found is not None:
                    yield found[2]


def _merged(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """One entry a key, the newest; how often it occurred adds up."""
    book: dict[tuple[Section, str], Entry] = {}
    for entry in entries:
        before = book.pop((entry.section, entry.key), None)
        times = entry.times + (before.times if before is not None else 0)
        book[entry.section, entry.key] = replace(entry, times=times)
    return tuple(book.values())


def _asked(items: Iterable[Item]) -> Iterator[Entry]:
    """What users said in messages that leave, quoted."""
    for item in items:
        if speaks_for_user(item.message):
            said = "\n".join(
                part.text
                for part in item.message.parts
                if isinstance(part, Text) and read_block(part.text) is None
            )
            quoted = one_line(said, QUOTE_CHARS)
            if quoted:
                yield Entry(section="objective", key=quoted, text=f'"{quoted}"', seq=item.seq, origin="user")


def _wanted(evicted: Evicted, carried: Sequence[Fact], cache: FactCache) -> tuple[Fact, ...]:
    """Facts that the view will not show, most wanted first: newest mention first, a mention in the user's or the
    agent's own words counting for more than one in a tool's output."""
    shown = {(fact.kind, fact.text) for message in evicted.kept for fact in facts_in(message, cache)}
    found: dict[tuple[str, str], tuple[float, int, Fact]] = {}
    age = 0
    for message in reversed(evicted.history):
        for part in reversed(message.parts):
            own = not isinstance(part, ToolResult)
            for fact in cache.of(part, text_of(part)):
                if (fact.kind, fact.text) in shown:
                    continue
                age += 1
                score = age / OWN_WORDS if own else float(age)
                known = found.get((fact.kind, fact.key))
                if known is None:
                    found[fact.kind, fact.key] = (score, len(found), fact)
                elif score < known[0]:
                    found[fact.kind, fact.key] = (score, known[1], known[2])
    for fact in carried:
        if (fact.kind, fact.text) not in shown and (fact.kind, fact.key) not in found:
            age += 1
            found[fact.kind, fact.key] = (float(age), len(found), fact)
    return tuple(fact for _, _, fact in sorted(found.values(), key=lambda row: row[:2]))


def facts_in(message: Message, cache: FactCache) -> Iterator[Fact]:
    """Every fact of a message."""
    for part in message.parts:
        yield from cache.of(part, text_of(part))


def text_of(part: Part) -> str:
    """The text of a part that facts are looked for in."""
    match part:
        case Text() | Reasoning():
            return part.text
        case ToolCall():
            return part.arguments.replace("\\n", "\n").replace('\\"', '"')
        case ToolResult():
            return result_text(part)
        case Media():
            return part.name or part.url or ""
        case Opaque():
            return ""
