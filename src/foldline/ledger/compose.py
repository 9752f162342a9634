"""Composing the ledger of one compaction: what leaves the view, what stays, and what an earlier ledger said.

    folded items ──► entries (book), what users asked and ruled, facts ranked by how likely they are wanted again
    earlier fold ──► entries and facts read back, merged by key: the newest state stands, nothing is summarised twice
                                   └──► text within the budget (render)

Facts that the kept part of the view shows anyway take no room. Knows nothing of how units were chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from operator import is_, itemgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    is_injected,
    result_text,
    speaks_for_user,
)
from foldline.core.view import Item
from foldline.ledger.book import (
    Told,
    asks,
    calls_in,
    calls_of,
    entries_of,
    is_unmade,
    kind_of_call,
)
from foldline.ledger.brief import seds_together
from foldline.ledger.carrying import Book, put, settled
from foldline.ledger.columns import Prices
from foldline.ledger.entries import Done, Entry, Section
from foldline.ledger.facts import INITIALS, Fact, FactCache, Name, name_of
from foldline.ledger.lines import one_line
from foldline.ledger.marks import CHANGED
from foldline.ledger.mentions import Mentions
from foldline.ledger.readings import Reading, Readings, fold_in, readings_in, unmade_text_of
from foldline.ledger.refusals import answers_in, complaint, is_complaint, refused
from foldline.ledger.render import QUOTE, Draft, Written, read
from foldline.ledger.tasks import tasks_of, withdrawn
from foldline.ledger.withdrawals import taken_back
from foldline.ledger.words import Words, earlier, said_in, texts_in

SUMMARY_CHARS = 600
COMMAND_CHARS = 800
"""What a user's own command asks is quoted up to this length."""
SUMMARY_LABEL = "earlier summary: "
_GOAL = re.compile(
    r"^[#*\s\d.]{0,12}(?:(?:current |primary |overall |user['’]?s? )?(?:goal|objective|task|request)|目标|任务)",
    re.IGNORECASE | re.MULTILINE,
)
"""The line of a summary that opens what the work is for."""
_COMMAND = re.compile(r"<command-name>\s{0,8}(/?[\w:.-]{1,80})\s{0,8}</command-name>")
"""How a host writes that a user called a command of the user's own."""
_EXAMPLE = re.compile(
    r"^#{1,6}[ \t].{0,40}(?:example|usage|sample|示例|例).*$|^```", re.IGNORECASE | re.MULTILINE
)
_HEADING = re.compile(r"\s{0,8}(?:#{1,6}\s|[-*_]{3,}\s{0,8}$|$)")
EDIT_KEYS = ("edit of `", "write of `", "delete of `")
"""What the keys of edits open with that were not made."""
MADE_LATER = re.compile(rf"{CHANGED}\d+$")
ANSWERS_MAX = 8_000
"""Edits of which is remembered whether they were made."""
CHARS_MAX = 8_000_000
"""Facts are looked for in this many of the newest characters, some two million tokens; older ones are behind addresses."""
_IN_VIEW = -1
"""In place of a message's ordinal: the message stays."""


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
    seqs: Sequence[int] = ()
    """Ordinals of what stays, as far as they are known."""
    mentions: Mentions | None = None
    """`mentions_of` the history and the words, where it is known already."""
    calls: Sequence[Done] | None = None
    """Of the folded items, where they are known already."""
    told: Told | None = None
    """What was told of calls before, and is to be known the next time."""
    readings: Readings | None = None
    """Messages that were read before."""


def compose(evicted: Evicted, *, budget: int, prices: Prices, cache: FactCache) -> Written:
    """The ledger within `budget` tokens."""
    return draft(evicted, prices=prices, cache=cache).written(budget)


def draft(evicted: Evicted, *, prices: Prices, cache: FactCache) -> Draft:
    """All that the ledger has to say."""
    folded, told = evicted.folded, Told() if evicted.told is None else evicted.told
    before = earlier(folded)
    calls = list(calls_in(folded)) if evicted.calls is None else evicted.calls
    stand = [entry for found, _ in before for entry in _standing(found, evicted.words)]
    did = [entry for entry in stand if entry.section != "objective"]
    said = [(seq, text) for seq, text in evicted.words.said.items() if seq >= 0]
    entries = _merged(
        [
            *[entry for entry in stand if entry.section == "objective"],
            *_asked(folded, evicted.words, told=told),
            *_called(evicted),
            *refused(
                entries_of(folded, did, told=told, calls=calls), answers_in(_in_order(evicted)), said=said
            ),
        ]
    )
    entries = tuple(_complained(entries, evicted.words, told=told))
    if any(entry.section == "decisions" for entry in entries):
        entries = tuple(taken_back(entries, _spoken(evicted), read=told.withdrawals))
    entries = (
        *[entry for entry in seds_together(entries) if entry.section != "tasks"],
        *_tasks(evicted, entries, calls=calls),
    )
    if any(message.role == "assistant" and message.parts for message in evicted.kept):
        # newer words or deeds stand in the view
        entries = tuple(entry for entry in entries if entry.section != "next")
    elif any(speaks_for_user(message) and message.text.strip() for message in evicted.kept):
        entries = tuple(entry for entry in entries if entry.section != "next" or not asks(entry.text))
    carried = [fact for said, found in reversed(before) for fact in (*found, *_named_in(said, cache))]
    mentions = evicted.mentions or mentions_of(evicted.history, evicted.words, cache=cache, memo={})
    supply = mentions.wanted(_shown(evicted, cache), carried)
    return Draft(entries, supply, prices=prices, rank=told.rank, evidence=told.evidence)


def _in_order(evicted: Evicted) -> Iterable[tuple[int, Message]]:
    """What leaves and what stays, where its place is known, as it was said."""
    gone = [(item.seq, item.message) for item in evicted.folded]
    return sorted([*gone, *zip(evicted.seqs, evicted.kept, strict=False)], key=itemgetter(0))


def _complained(entries: Sequence[Entry], words: Words, *, told: Told) -> Iterator[Entry]:
    """The entries behind what users refuse now, which takes the place of what an earlier ledger says of it."""
    before = next((entry for entry in reversed(entries) if is_complaint(entry)), None)
    said = [(seq, text) for seq, text in words.said.items() if seq >= 0]
    newest = complaint(said, before, refuses=told.refuses)
    if newest is not None:
        yield newest
    yield from (entry for entry in entries if not is_complaint(entry))


def _spoken(evicted: Evicted) -> Iterator[tuple[int, str, bool]]:
    """What the agent and the user said, in what leaves and in what stays, where its place is known; and whether the user did."""
    for seq, message in _in_order(evicted):
        is_users = speaks_for_user(message)
        if message.role == "assistant" or is_users:
            for part in message.parts:
                if isinstance(part, (Text, Reasoning)):
                    yield seq, part.text, is_users


def _merged(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """One entry a key, the newest; how often it occurred adds up."""
    book: Book = {}
    for entry in entries:
        put(book, entry)
    return tuple(map(partial(_settled, changed=book), book.values()))


def _settled(entry: Entry, *, changed: Mapping[tuple[Section, str], Entry]) -> Entry:
    """An edit that was not made, with where the file was changed after it; an action that failed, with where it was made."""
    if entry.section == "risks":
        done = changed.get(("mutations", entry.key))
        return settled(entry, by=done) if done is not None and done.seq > entry.seq else entry
    if entry.section != "evidence" or not entry.key.startswith(EDIT_KEYS):
        return entry
    made = changed.get(("mutations", entry.key.partition("`")[2]))
    text = MADE_LATER.sub("", entry.text)
    later = f"{CHANGED}{made.seq}" if made is not None and made.seq > entry.seq else ""
    return replace(entry, text=f"{text}{later}") if text + later != entry.text else entry


def _tasks(evicted: Evicted, entries: Iterable[Entry], *, calls: Iterable[Done]) -> Iterator[Entry]:
    """What the agent has to do, as its newest list says, which may stand in the view, and what users withdrew since: each state
    with the address of the message that says it. What the view alone tells of is not told again."""
    before = [entry for entry in entries if entry.section == "tasks"]
    gone = tasks_of(calls, before)
    known = {entry.key: entry for entry in gone}
    in_view = {_IN_VIEW, *evicted.seqs}
    seqs = [*evicted.seqs, *[_IN_VIEW] * (len(evicted.kept) - len(evicted.seqs))]
    words = evicted.words
    said = [(seq, words.standing(seq)) for seq in words.said if seq >= 0]
    for entry in withdrawn(tasks_of(calls_of(zip(seqs, evicted.kept, strict=True)), gone), said):
        if entry.seq not in in_view:
            yield entry
        elif (told := known.get(entry.key)) is not None:
            if entry.text == told.text:
                yield told
            elif entry.seq != _IN_VIEW:
                yield entry


def _asked(items: Sequence[Item], words: Words, *, told: Told) -> Iterator[Entry]:
    """What users said in messages that leave: rules and permissions verbatim, the rest quoted, text by text; what a later message took
    back is left to its address."""
    for item in items:
        if item.message.synthetic == "summary":
            yield _summed_up(item)
        if not speaks_for_user(item.message) or not words.stands(item.seq):
            continue
        rulings = words.rulings(item.seq)
        for ruling in rulings:
            yield Entry(section="objective", key=ruling, text=_flat(ruling), seq=item.seq, origin="user")
        ruled = {_flat(ruling) for ruling in rulings}
        for said in _texts(item, words):
            quoted = told.quotation(said)
            if quoted and quoted not in ruled:
                text = f"{QUOTE}{quoted}{QUOTE}"
                yield Entry(section="objective", key=text, text=text, seq=item.seq, origin="user")


def _summed_up(item: Item) -> Entry:
    """What another tool's compaction said of the work before it, from its goal on: nothing else in the history says it."""
    said = item.message.text.partition("<summary>")[2].partition("</summary>")[0] or item.message.text
    goal = _GOAL.search(said)
    text = f"{SUMMARY_LABEL}{one_line(said[goal.start() if goal is not None else 0 :], SUMMARY_CHARS)}"
    return Entry(section="objective", key=text, text=text, seq=item.seq, origin="system")


def _called(evicted: Evicted) -> Iterator[Entry]:
    """What commands ask that a user called, as their host put it behind the calls: their lists, without headings and examples."""
    bodies = [item for item in evicted.folded if item.message.role == "user" and is_injected(item.message)]
    if not bodies:
        return
    said = dict(zip(evicted.seqs, evicted.kept, strict=False)) | {
        item.seq: item.message for item in evicted.folded
    }
    for item in bodies:
        before = said.get(item.seq - 1)
        called = _COMMAND.search(before.text) if before is not None and speaks_for_user(before) else None
        body = _EXAMPLE.split(item.message.text, maxsplit=1)[0]
        lines = [line.strip(" \t*-#>") for line in body.split("\n") if not _HEADING.match(line)]
        if called is not None and lines:
            told = one_line(" ".join(lines).replace("**", ""), COMMAND_CHARS)
            text = f"{QUOTE}{called[1]}: {told}{QUOTE}"
            yield Entry(section="objective", key=text, text=text, seq=item.seq, origin="system")


def _texts(item: Item, words: Words) -> list[str]:
    """A message's texts one by one, since several messages may have been joined; of one that was taken back in part
    what stands."""
    return [words.standing(item.seq)] if item.seq in words.taken_back else texts_in(item.message)


def _standing(entries: Iterable[Entry], words: Words) -> Iterator[Entry]:
    """An earlier ledger's entries without what users took back since."""
    for entry in entries:
        number = words.lines.get(entry.text)
        if number is None or number not in words.taken_back:
            yield entry
        elif words.stands(number):
            standing = words.standing(number)
            text = f"{QUOTE}{standing}{QUOTE}" if entry.text.startswith(QUOTE) else standing
            yield replace(entry, key=text, text=text)


def _flat(text: str) -> str:
    return " ".join(text.split())


class _Told(Struct, frozen=True, kw_only=True):
    """The mentions of a history, and the texts that they were found in, the oldest first."""

    texts: list[str]
    own: list[bool]
    """Whether each was said in somebody's own words."""
    mentions: Mentions


class _Heard(Struct, frozen=True, kw_only=True):
    """The messages that say it, where they are all of a history: told apart from `_Told`, which outlives them."""

    messages: Sequence[Message]
    stale: Set[str]
    """What users had taken back."""
    told: _Told

    def begins(self, history: Sequence[Message], stale: Set[str]) -> bool:
        """Whether a history begins with these very messages, and nothing in them was taken back since."""
        return (
            self.stale == stale
            and len(self.messages) <= len(history)
            and all(map(is_, self.messages, history))
        )

    def is_all_of(self, history: Sequence[Message], stale: Set[str]) -> bool:
        """Whether it has no more messages."""
        return len(self.messages) == len(history) and self.begins(history, stale)


class _Said(Struct, frozen=True, kw_only=True):
    """The text of each part of messages, the newest first."""

    texts: list[str]
    own: list[bool]
    """Whether each was said in somebody's own words."""
    is_whole: bool
    """Whether no part was left out for want of room, and no result answers a call before them."""

    @property
    def chars(self) -> int:
        """Of all."""
        return sum(map(len, self.texts))


def mentions_of(
    history: Sequence[Message],
    words: Words,
    *,
    cache: FactCache,
    memo: dict[str, Any],
    parts_max: int | None = None,
) -> Mentions:
    """What a history says as often as it says it, as far as `CHARS_MAX` reaches. Of one that goes on from what the `memo`
    has, only what is new is read; ahead of a compaction of that no more than `parts_max`."""
    stale = {said for seq, said in words.said.items() if not words.standing(seq)}
    heard: _Heard | None = memo.get("heard")
    before: _Told | None = memo.get("mentions")
    if heard is not None and heard.told is before and heard.is_all_of(history, stale):
        known: Mentions = heard.told.mentions
        return known
    memo.pop("mentions", None)  # away while it grows: an interrupt would leave half of it
    memo.pop("heard", None)
    said = _said_in(history, stale, heard=heard if heard and heard.told is before else None, memo=memo)
    texts, own = said.texts[::-1], said.own[::-1]
    size = 0 if before is None else len(before.texts)
    if before is None or before.texts != texts[:size] or before.own != own[:size]:
        before, size = None, 0
    if parts_max is not None:
        del texts[size + parts_max :], own[size + parts_max :]
    mentions = Mentions() if before is None else before.mentions
    mentions.grow(zip(cache.all_of(texts[size:]), own[size:], strict=True))
    told = memo["mentions"] = _Told(texts=texts, own=own, mentions=mentions)
    if said.is_whole and len(texts) == len(said.texts):
        memo["heard"] = _Heard(messages=list(history), stale=stale, told=told)
    return mentions


def _said_in(
    history: Sequence[Message], stale: Set[str], *, heard: _Heard | None, memo: dict[str, Any]
) -> _Said:
    """What the messages of a history say. Of one that begins with the very messages of the last time, those are read that came
    behind them."""
    if heard is not None and heard.begins(history, stale):
        before = heard.told
        new = _read(history[len(heard.messages) :], stale, memo=memo)
        if new.is_whole and new.chars + sum(map(len, before.texts)) <= CHARS_MAX:
            texts, own = [*new.texts, *reversed(before.texts)], [*new.own, *reversed(before.own)]
            return _Said(texts=texts, own=own, is_whole=True)
    return _read(history, stale, memo=memo)


def _read(history: Sequence[Message], stale: Set[str], *, memo: dict[str, Any]) -> _Said:
    """Of a fold nothing: its facts and entries are carried on as what they are; of an edit that was not made not what it was to
    bring; and nothing of what users took back: a value must not come back as a fact."""
    readings: Readings = readings_in(memo)
    texts: list[str] = []
    own: list[bool] = []
    seen = 0
    results: dict[str, ToolResult] = {}
    for message in reversed(history):
        if stale and speaks_for_user(message) and said_in(message) in stale:
            continue
        reading = readings.of(message)
        for place in range(len(message.parts) - 1, -1, -1):
            part = message.parts[place]
            if place in reading.folds:
                continue
            text = reading.texts[place]
            if isinstance(part, ToolResult):
                results[part.call_id] = part
            elif isinstance(part, ToolCall) and _is_unmade(part, results.pop(part.id, None), memo=memo):
                text = unmade_text_of(part)
            seen += len(text)
            if seen > CHARS_MAX:
                return _Said(texts=texts, own=own, is_whole=False)
            texts.append(text)
            own.append(not isinstance(part, ToolResult))
    return _Said(texts=texts, own=own, is_whole=not results)


def _is_unmade(call: ToolCall, result: ToolResult | None, *, memo: dict[str, Any]) -> bool:
    """`is_unmade`, found out once for a call and its answer."""
    if result is None or kind_of_call(call) not in ("file_edit", "file_write"):
        return False
    known: dict[tuple[str, int, int, bool], bool] = memo.setdefault("unmade", {})
    key = (call.id, hash(call.arguments), hash(result_text(result)), result.is_error)
    if key not in known:
        if len(known) >= ANSWERS_MAX:
            known.clear()
        known[key] = is_unmade(call, result)
    return known[key]


def _shown(evicted: Evicted, cache: FactCache) -> Iterator[Name]:
    """The names of facts that the view will show, and of those that no longer hold."""
    readings = evicted.readings or Readings()
    names = [names for message in evicted.kept for names in names_in(readings.of(message), cache)]
    return chain(chain.from_iterable(names), _outdated(evicted.words, cache))


def _newest_number_first(facts: Sequence[Fact]) -> Iterator[Fact]:
    """Facts of one text as they came, its numbers from the last back: what an output says further down is newer."""
    numbers = iter([fact for fact in reversed(facts) if fact.kind == "numbers"])
    for fact in facts:
        yield next(numbers) if fact.kind == "numbers" else fact


def _outdated(words: Words, cache: FactCache) -> set[Name]:
    """Numbers that users took back or gave another value, whoever repeats them."""
    struck = {name for seq in words.taken_back for name in cache.found(words.struck(seq)).names}
    if not struck:
        return set()
    standing = {name for seq in words.said for name in cache.found(words.standing(seq)).names}
    return {name for name in struck - standing if name.startswith(INITIALS["numbers"])}


def names_in(reading: Reading, cache: FactCache) -> Iterator[Iterable[Name]]:
    """The names of the facts of each part of a message; of a fold what its ledger lists and its entries name."""
    for place, text in enumerate(reading.texts):
        body = fold_in(reading.message.parts[place]) if place in reading.folds else None
        if body is None:
            yield cache.found(text).names
        else:
            entries, facts = read(body)
            yield map(name_of, chain(facts, _named_in(entries, cache)))


def _named_in(entries: Iterable[Entry], cache: FactCache) -> Iterator[Fact]:
    """What entries name, for when they leave. Numbers are those of somebody's words: the status that an outcome states is
    told with its command, and so is what failed."""
    for entry in entries:
        told = entry.section in ("objective", "decisions")
        for fact in _newest_number_first(cache.of(entry.text)):
            if fact.kind != "errors" and (told or fact.kind != "numbers"):
                yield fact
