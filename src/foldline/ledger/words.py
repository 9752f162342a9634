"""Words: what users said in a history, and what of it still stands.

Reads user messages, the rules and quotations that an earlier ledger carries, and the marks that an earlier compaction
wrote, so that a rule or a value is taken back wherever it stands by then. Knows nothing of budgets. Counterparts:
`supersession`, which says what a later text does to an earlier one, and `compose`, which writes what stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import Marked, read_block, read_mark
from foldline.core.message import Message, Text, speaks_for_user
from foldline.core.view import Item
from foldline.ledger.constraints import Constraint, constraints
from foldline.ledger.entries import HEADINGS, QUOTING, Entry
from foldline.ledger.facts import Fact
from foldline.ledger.marks import told_by
from foldline.ledger.numbering import blocks_in, is_counted_with
from foldline.ledger.permissions import permissions
from foldline.ledger.render import QUOTE, key_of, line_of, read
from foldline.ledger.sentences import Span, sentences
from foldline.ledger.superseded import Supersession, joined, left_of
from foldline.ledger.supersession import supersessions

SAID_CHARS_MAX = 100_000
"""Rules, and what was taken back, are looked for in this many of the newest characters that users wrote."""


class Words(Struct, frozen=True, kw_only=True):
    """What users said, as far as it is read, oldest first. A message is known by its ordinal, a line that an earlier
    ledger carries by a number below zero."""

    said: dict[int, str] = {}
    """The newest `SAID_CHARS_MAX` characters."""
    taken_back: dict[int, tuple[int, Supersession]] = {}
    """Message or line → the later one that took of it back what the second value says (`BY_MARK`: a mark says so)."""
    lines: dict[str, int] = {}
    """Text of a ledger's line → its number."""
    repeated: frozenset[int] = frozenset()
    """Messages that a later one repeats word for word."""

    def stands(self, seq: int) -> bool:
        """False for a message that was taken back whole, or is said again later."""
        later = self.taken_back.get(seq)
        return seq not in self.repeated and (later is None or bool(later[1].stands))

    def is_whole(self, seq: int) -> bool:
        """True for a message of which all stands, and that is not said again."""
        return seq not in self.repeated and seq not in self.taken_back

    def rules(self, seq: int) -> tuple[Constraint, ...]:
        """The rules of a message that nobody took back."""
        found = constraints(self.said.get(seq, ""))
        later = self.taken_back.get(seq)
        return found if later is None else tuple(r for r in found if not _is_struck(r.start, later[1]))

    def rulings(self, seq: int) -> tuple[str, ...]:
        """The rules of a message that nobody took back, and what it allows: without that a rule that an earlier notice
        shows would stand for good."""
        given = tuple(rule.text for rule in self.rules(seq))
        later = self.taken_back.get(seq)
        said = self.said.get(seq, "")
        freed = permissions(said if later is None else without(said, later[1].spans))
        return (*given, *(text for text in freed if not any(text in rule or rule in text for rule in given)))

    def standing_rules(self) -> tuple[tuple[int, str], ...]:
        """Every rule that stands, once, with the newest message that gives it."""
        newest = {rule.text: seq for seq in self.said if seq >= 0 for rule in self.rules(seq)}
        return tuple((seq, text) for text, seq in newest.items())

    def struck_rules(self) -> tuple[tuple[int, str], ...]:
        """Every rule that was taken back and that nothing said later gives again, once, with the newest message that gave
        it."""
        stand = {text for _, text in self.standing_rules()}
        newest = {
            rule.text: seq
            for seq, later in self.taken_back.items()
            if seq >= 0
            for rule in constraints(self.said.get(seq, ""))
            if _is_struck(rule.start, later[1])
        }
        return tuple((seq, text) for text, seq in newest.items() if text not in stand)

    def standing(self, seq: int) -> str:
        """What still stands of a message, or of a ledger's line."""
        text = self.said.get(seq, "")
        later = self.taken_back.get(seq)
        return text if later is None else without(text, later[1].spans)

    def struck(self, seq: int) -> str:
        """What no longer stands of it."""
        later = self.taken_back.get(seq)
        text = self.said.get(seq, "")
        return "" if later is None else "\n".join(text[start:end] for start, end in later[1].spans)


BY_MARK = -1
"""In the place of a later message: the mark of an earlier compaction says that something is superseded."""


def words_of(items: Sequence[Item], memo: dict[str, Any] | None = None) -> Words:
    """What users said in `items`. Costs some 3 µs a character, once for the same words where there is a `memo`."""
    said: list[tuple[int, str]] = []
    lines: dict[str, int] = {}
    marks: dict[int, tuple[int, Supersession]] = {}
    room = SAID_CHARS_MAX
    for item in reversed(items):
        if room <= 0:
            break
        if item.message.role != "user":
            continue
        if speaks_for_user(item.message):
            text = said_in(item.message)[:room]
            room -= len(text)
            said.append((item.seq, text))
            if (marked := _marked(item)) is not None:
                marks[item.seq] = (BY_MARK, marked)
        for entry in reversed(_carried(item)):
            number = BY_MARK - 1 - len(lines)
            if entry.text not in lines:
                lines[entry.text] = number
                said.append((number, entry.text.strip(QUOTE)))
                room -= len(entry.text)
    said.reverse()
    struck = dict(_read_once(said, {} if memo is None else memo))
    for seq, (by, before) in marks.items():
        now = struck.get(seq)
        struck[seq] = (by, before) if now is None else (now[0], joined(before, now[1]))
    return Words(said=dict(said), taken_back=struck, lines=lines, repeated=frozenset(_repeated(said)))


def _read_once(said: list[tuple[int, str]], memo: dict[str, Any]) -> dict[int, tuple[int, Supersession]]:
    """What supersedes what, from the memo where the words are those of the last time."""
    before = memo.get("words")
    if before is None or before[0] != said:
        before = memo["words"] = (said, supersessions(said))
    found: dict[int, tuple[int, Supersession]] = before[1]
    return found


def _repeated(said: Sequence[tuple[int, str]]) -> Iterator[int]:
    """Messages whose very words a later message says again."""
    seen: set[str] = set()
    for seq, text in reversed(said):
        plain = text.strip()
        if plain in seen and plain and seq >= 0:
            yield seq
        seen.add(plain)


def _carried(item: Item) -> list[Entry]:
    """What an earlier ledger in a message says that users ruled or said."""
    return [
        entry
        for entries, _ in earlier([item])
        for entry in entries
        if entry.section == "objective" and entry.origin == "user"
    ]


def earlier(items: Iterable[Item]) -> list[tuple[tuple[Entry, ...], tuple[Fact, ...]]]:
    """What earlier ledgers among the items say, oldest first. Lines of one that counts another history are told by the message that
    holds them here."""
    return [_read_in(item, address, body=body) for item in items for address, body in blocks_in(item.message)]


def _read_in(item: Item, address: str, *, body: str) -> tuple[tuple[Entry, ...], tuple[Fact, ...]]:
    entries, facts = read(body)
    if is_counted_with(item, address):
        return entries, facts
    return tuple([_told_by(entry, item.seq) for entry in entries]), facts


def _told_by(entry: Entry, seq: int) -> Entry:
    """An entry of another history, told by the message that holds it here."""
    if entry.section in QUOTING:
        return replace(entry, seq=seq)
    text = told_by(entry.text, seq)
    return replace(entry, seq=seq, text=text, key=key_of(entry.section, text))


def said_in(message: Message) -> str:
    """A user's own text in a message, blocks and marks of ours left out."""
    return "\n".join(texts_in(message))


def texts_in(message: Message) -> list[str]:
    """A user's own texts in a message, part by part."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return [text for text in texts if read_block(text) is None and read_mark(text) is None]


def rule_lines(items: Iterable[Item], words: Words) -> list[str]:
    """The rules that stand of messages which leave without a ledger, under the ledger's own heading, so that the next
    compaction carries them on; nothing where there are none."""
    rules: dict[str, Entry] = {}
    for item in items:
        for entry in _carried(item):
            number = words.lines.get(entry.text)
            if not entry.text.startswith(QUOTE) and (number is None or words.stands(number)):
                rules.pop(entry.text, None)
                rules[entry.text] = entry
        for ruling in words.rulings(item.seq) if item.seq not in words.repeated else ():
            text = quoted(ruling, (0, len(ruling)))
            rules.pop(text, None)
            rules[text] = Entry(section="objective", key=text, text=text, seq=item.seq, origin="user")
    lines = [line_of(entry) for entry in rules.values()]
    return [f"## {HEADINGS[0][1]}", *lines] if lines else []


# ── what stands ──────────────────────────────────────────────────────────────────────────────────────────────


def without(text: str, spans: Sequence[Span]) -> str:
    """A text without some of its sentences."""
    pieces, at = [], 0
    for start, end in spans:
        pieces.append(text[at:start].rstrip(" \t"))
        at = max(at, end)
    return "".join([*pieces, text[at:]]).strip() if spans else text


def _is_struck(at: int, later: Supersession) -> bool:
    return any(start <= at < end for start, end in later.spans)


def _marked(item: Item) -> Supersession | None:
    """What the marks in a message take back. A mark speaks of the text before it: all of it, or what it quotes."""
    said = said_in(item.message)
    struck: set[Span] = set()
    for _, place, marks in _pieces(item.message):
        for span in sentences(said[slice(*place)]) if marks else ():
            sentence = (place[0] + span[0], place[0] + span[1])
            struck.update(*[_struck_by(mark, said, sentence=sentence) for mark in marks])
    if not struck:
        return None
    stands = left_of(sentences(said), struck)
    return Supersession(ordinal=item.seq, how="withdrawn", spans=tuple(sorted(struck)), stands=stands)


def _struck_by(mark: Marked, said: str, *, sentence: Span) -> list[Span]:
    """What a mark takes back of a sentence: all of it where it quotes it, or nothing at all; a clause where it quotes one."""
    if not mark.quotes or quoted(said, sentence) in mark.quotes:
        return [sentence]
    pieces = (r"\s+".join(map(re.escape, quote.split())) for quote in mark.quotes)
    found = (re.compile(piece).search(said, *sentence) for piece in pieces)
    return [match.span() for match in found if match is not None]


def to_mark(item: Item, found: Supersession) -> Iterator[tuple[Text, tuple[str, ...]]]:
    """The texts of a message that no longer stand, or not whole, and of these what to quote; what marks say already left
    out."""
    said = said_in(item.message)
    before = _marked(item)
    known = before.spans if before is not None else ()
    spans = [
        span for span in found.spans if not any(low <= span[0] and span[1] <= high for low, high in known)
    ]
    stands = set(found.stands)
    for part, (start, end), _ in _pieces(item.message):
        fresh = [span for span in spans if start <= span[0] < end]
        if fresh:
            is_whole = not any(start <= span[0] < end for span in stands)
            yield part, () if is_whole else tuple(quoted(said, span) for span in fresh)


def quoted(said: str, span: Span) -> str:
    """A sentence as a mark quotes it: on one line."""
    return " ".join(said[slice(*span)].split())


def _pieces(message: Message) -> Iterator[tuple[Text, Span, list[Marked]]]:
    """The texts of a message that are a user's, each with its place in `said_in` and the marks behind it."""
    texts = [part for part in message.parts if isinstance(part, Text) and read_block(part.text) is None]
    start = 0
    for n, part in enumerate(texts):
        if read_mark(part.text) is None:
            marks = list(
                takewhile(lambda mark: mark is not None, (read_mark(p.text) for p in texts[n + 1 :]))
            )
            yield part, (start, start + len(part.text)), [mark for mark in marks if mark is not None]
            start += len(part.text) + 1
