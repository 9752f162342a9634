"""Composing the ledger of one compaction: what leaves the view, what stays, and what an earlier ledger said.

    folded items ──► entries (book), what users asked and ruled, facts ranked by how likely they are wanted again
    earlier fold ──► entries and facts read back, merged by key: the newest state stands, nothing is summarised twice
                                   └──► text within the budget (render)

Facts that the kept part of the view shows anyway take no room. Knows nothing of how units were chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import read_block, without_notices
from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    is_fold,
    result_text,
    speaks_for_user,
)
from foldline.core.view import Item
from foldline.ledger.book import Entry, Section, entries_of
from foldline.ledger.constraints import Constraint, constraints
from foldline.ledger.facts import Fact, FactCache
from foldline.ledger.lines import one_line
from foldline.ledger.render import QUOTE, Written, read, write
from foldline.ledger.requests import is_answer, requests
from foldline.ledger.supersession import Supersession, supersessions

QUOTE_CHARS = 400
"""A user message that leaves is quoted up to this length."""
OWN_WORDS = 3
"""How many times more recent a fact counts that the user or the agent used in its own words: those come back."""

SAID_CHARS_MAX = 100_000
"""Rules, and what was taken back, are looked for in this many of the newest characters that users wrote."""
CHARS_MAX = 8_000_000
"""Facts are looked for in this many of the newest characters, some two million tokens; older ones are behind addresses."""
PART_FACTS_MAX = 80
"""Facts of one kind taken from one part: a listing of a thousand files is data, not a thousand facts."""
ONCE = 2.0
"""How many times less a name of code counts that was seen in one place alone."""


class Words(Struct, frozen=True, kw_only=True):
    """What users said, as far as it is read, by the ordinal of its message, oldest first."""

    said: dict[int, str] = {}
    """The newest `SAID_CHARS_MAX` characters."""
    taken_back: dict[int, tuple[int, Supersession]] = {}
    """Ordinal of a message → the later one that took of it back what the second value says."""

    def stands(self, seq: int) -> bool:
        """False for a message that was taken back whole."""
        later = self.taken_back.get(seq)
        return later is None or bool(later[1].stands)

    def rules(self, seq: int) -> tuple[Constraint, ...]:
        """The rules of a message that nobody took back."""
        found = constraints(self.said.get(seq, ""))
        later = self.taken_back.get(seq)
        return found if later is None else tuple(r for r in found if not _is_struck(r.start, later[1]))


def words_of(items: Sequence[Item]) -> Words:
    """What users said in `items`, read once. Costs some 3 µs a character."""
    said: list[tuple[int, str]] = []
    room = SAID_CHARS_MAX
    for item in reversed(items):
        if room > 0 and speaks_for_user(item.message):
            text = said_in(item.message)[:room]
            room -= len(text)
            said.append((item.seq, text))
    said.reverse()
    return Words(said=dict(said), taken_back=supersessions(said))


class Evicted(Struct, frozen=True, kw_only=True):
    """What a compaction takes out of the view, and what it leaves."""

    folded: Sequence[Item]
    """Items to be folded, as they came in, whatever an earlier pass made of them."""
    history: Sequence[Message]
    """Every message as it came in: results that were cleared or cut in what stays have facts too."""
    kept: Sequence[Message]
    """What stays, as it will be shown."""
    words: Words
    """What users said in all of it: a later message may take an earlier one back."""


def compose(
    evicted: Evicted, *, budget: int, count: Callable[[list[str]], list[int]], cache: FactCache
) -> Written:
    """The ledger within `budget` tokens."""
    folded = evicted.folded
    before = [read(body) for body in _earlier(folded)]
    entries = _merged(
        [*(e for found, _ in before for e in found), *_asked(folded, evicted.words), *entries_of(folded)]
    )
    if any(message.role == "assistant" and message.text.strip() for message in evicted.kept):
        entries = tuple(
            entry for entry in entries if entry.section != "next"
        )  # newer words stand in the view
    facts = _wanted(evicted, [f for _, found in before for f in found], cache=cache)
    return write(entries, facts, budget=budget, count=count)


def _earlier(items: Iterable[Item]) -> Iterator[str]:
    """Bodies of earlier folds among the items, oldest first: only of messages known as folds of ours, since a block that
    a host or a tool brought in could plant rules in a user's name."""
    for item in items:
        message = item.message
        if not is_fold(message) or (message.meta is not None and message.meta.injected):
            continue
        for part in message.parts:
            found = read_block(part.text) if isinstance(part, Text) else None
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


def _asked(items: Sequence[Item], words: Words) -> Iterator[Entry]:
    """What users said in messages that leave: rules verbatim, the rest quoted; what a later message took back is left to
    its address."""
    for item in items:
        if not speaks_for_user(item.message) or not words.stands(item.seq):
            continue
        rules = words.rules(item.seq)
        for rule in rules:
            yield Entry(
                section="objective", key=rule.text, text=_flat(rule.text), seq=item.seq, origin="user"
            )
        quoted = one_line(said_in(item.message), QUOTE_CHARS)
        if quoted and not any(quoted == _flat(rule.text) for rule in rules):
            yield Entry(
                section="objective",
                key=quoted,
                text=f"{QUOTE}{quoted}{QUOTE}",
                seq=item.seq,
                origin="user",
            )


def _is_struck(at: int, later: Supersession) -> bool:
    return any(start <= at < end for start, end in later.spans)


def said_in(message: Message) -> str:
    """A user's own text in a message, blocks of ours left out."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return "\n".join(text for text in texts if read_block(text) is None)


def rank_of(said: str) -> int:
    """How soon a user's words may leave the view, the lowest last: 0 for words that give a rule, 1 for words that ask to
    have something done, 2 for words that tell something, 3 for a question or an answer alone."""
    if constraints(said):
        return 0
    if is_answer(said):
        return 3
    kinds = {asked.kind for asked in requests(said)}
    return 1 if "task" in kinds else 3 if kinds else 2


def _flat(text: str) -> str:
    return " ".join(text.split())


def _wanted(evicted: Evicted, carried: Sequence[Fact], *, cache: FactCache) -> tuple[Fact, ...]:
    """Facts that the view will not show, most wanted first: newest mention first, a mention in the user's or the
    agent's own words counting for more than one in a tool's output, a name seen once for less. Each value of a number is
    a fact of its own: what a tool measured twice is two facts."""
    shown = {_same(fact) for message in evicted.kept for fact in facts_in(message, cache)}
    found: dict[tuple[str, ...], tuple[float, int, Fact]] = {}
    again: set[tuple[str, ...]] = set()
    age = read = 0
    newest: dict[tuple[str, str], Fact] = {}  # of a kind and key, wherever it stands
    for message in _newest_first(evicted):
        for part in reversed(message.parts):
            own = not isinstance(part, ToolResult)
            text = text_of(part)
            read += len(text)
            if read > CHARS_MAX:
                break
            of_kind: Counter[str] = Counter()
            for fact in cache.of(text):
                same = _same(fact)
                of_kind[fact.kind] += 1
                newest.setdefault((fact.kind, fact.key), fact)
                if same in shown or of_kind[fact.kind] > PART_FACTS_MAX:
                    continue
                age += 1
                score = age / OWN_WORDS if own else float(age)
                known = found.get(same)
                if known is None:
                    found[same] = (score, len(found), fact)
                    continue
                again.add(same)
                if score < known[0]:
                    found[same] = (score, known[1], known[2])
    for fact in carried:
        if (same := _same(fact)) not in shown and same not in found:
            age += 1
            found[same] = (float(age), len(found), fact)
    rows = [
        (score * ONCE if fact.kind == "symbols" and same not in again else score, place, fact)
        for same, (score, place, fact) in found.items()
    ]
    return _newest_value_first([fact for _, _, fact in sorted(rows, key=lambda row: row[:2])], newest)


def _newest_value_first(facts: Iterable[Fact], newest: Mapping[tuple[str, str], Fact]) -> tuple[Fact, ...]:
    """The facts, each number's key led by its newest value, even one that the view shows: an older value alone would
    pass for what holds."""
    out: dict[tuple[str, ...], Fact] = {}
    for fact in facts:
        if fact.kind == "numbers":
            first = newest.get((fact.kind, fact.key), fact)
            out.setdefault(_same(first), first)
        out.setdefault(_same(fact), fact)
    return tuple(out.values())


def _newest_first(evicted: Evicted) -> Iterator[Message]:
    """The history without what users took back: a value must not come back as a fact."""
    stale = {said for seq, said in evicted.words.said.items() if not evicted.words.stands(seq)}
    for message in reversed(evicted.history):
        if not (stale and speaks_for_user(message) and said_in(message) in stale):
            yield message


def _same(fact: Fact) -> tuple[str, ...]:
    return (fact.kind, fact.key, fact.value) if fact.kind == "numbers" else (fact.kind, fact.text)


def facts_in(message: Message, cache: FactCache) -> Iterator[Fact]:
    """Every fact of a message."""
    for part in message.parts:
        yield from cache.of(text_of(part))


def text_of(part: Part) -> str:
    """The text of a part that facts are looked for in: not what a fold or a notice says of itself."""
    if isinstance(part, Text) and (found := read_block(part.text)) is not None:
        return without_notices(found[2].partition("\n")[2])
    return without_notices(whole_text_of(part))


def whole_text_of(part: Part) -> str:
    """All that a part says, with the addresses that foldline wrote into it."""
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
