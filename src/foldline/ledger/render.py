"""Writing the ledger: entries under their headings, facts in a dense index, within a budget.

What does not fit leaves in a stated order: facts (oldest first), files that were only read, tasks served, what turns ended
with, commands that went well or whose failure was left behind or passed since, those that reached out of the machine,
decisions and what was verified, commands that failed, changes to the workspace, open tasks, what users said (what says
least first), and last what they ruled.
Quoted text cannot open a block of ours, and every line says where it comes from, so that a later compaction can read
the ledger back and carry it on. Counterpart: `book`, which makes the entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from functools import cached_property
from itertools import product
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import escape_tags
from foldline.ledger.actions import bearing_of
from foldline.ledger.answers import ANSWERED
from foldline.ledger.brief import in_brief, is_act, is_brief
from foldline.ledger.columns import Columns, Place, Prices
from foldline.ledger.entries import HEADINGS, Entry, Section
from foldline.ledger.facts import Fact, Origin
from foldline.ledger.home_folder import home_in, home_of, said_of, shortened, whole
from foldline.ledger.index import AMPLE, Choice, Priced, choose, facts_in_line, labels_of
from foldline.ledger.lines import unbroken
from foldline.ledger.marks import (
    BEFORE_RESET,
    BEFORE_RESTORED,
    MAYBE_UNDONE,
    MOVED_ON,
    PUT_AWAY,
    REFUSED_AT,
    TAKEN_BACK,
)
from foldline.ledger.refusals import is_complaint
from foldline.ledger.runs import run_of
from foldline.ledger.standing_within import Standing

INDEX_HEADING = "Facts"
QUOTE = '"'
"""What an entry opens with that quotes a user; a rule stands without, verbatim."""
ENTRY_SHARE = 0.15
"""Share of the budget that entries may take before facts get a line …"""
AMPLE_TOKENS, AMPLE_SHARE = 3_600, 0.5
"""… and of what it holds beyond so many tokens: there the facts wanted most stand already."""
ENTRY_TOKENS_MIN, READ_TOKENS_MIN = 350, 200
ENTRY_SHARE_MOST = 0.4
"""Of a ledger so small that their share holds no line, entries may have so much, up to this share: what comes next
is worth more than some facts."""
CHANGES_SHARE = 0.5
"""Share of the budget that open tasks and changes to files may take before facts, with what users said."""
ENTRY_TOKENS = 500
"""What entries may have where facts are few."""
ACTIONS_SHARE = 0.75
"""What they may take with the actions of other tools, which nobody may make twice."""
HEADING_TOKENS = 8
SPARE_TOKENS = 8
"""Less room than this is not worth filling again."""
OMITTED_TOKENS = 16
"""Room kept for the line that says what was left out."""

_CHANGES = 4
_BY_SHELL_LEAVING = _CHANGES + 1
_READ_LEAVING = 9
"""How soon changes to files leave (`_leaving`): these and what leaves later stand before facts."""
_BY_AGE: Set[Section] = frozenset({"evidence", "decisions"})
"""Sections of which the newest tell most."""
_CHANGED = re.compile(
    r" (?:edit undone|removed(?: by git clean)?|moved to [^`]{1,512}|copied from [^`]{1,512}|made|restored by git"
    r"|(?:edited|written|deleted|read)(?: \(failed\)|(?:, (?:[+−]\d|indented anew|by sed|lines \d).*)?(?:; last edit undone)?))"
    rf"(?:(?:{BEFORE_RESET}|{PUT_AWAY}|{BEFORE_RESTORED}|{MAYBE_UNDONE})\d+)?$"
)
"""What stands behind the name of a file."""
_BY_SHELL = re.compile(
    r" (?:removed(?: by git clean)?|moved to [^`]{1,512}|copied from [^`]{1,512}|restored by git|edited, by sed: .*|written)$"
)
_SOURCE = re.compile(r" \((m\d+) (user|assistant|tool|system)(?: ×(\d+))?\)$")
_MOVED_ON = re.compile(rf"{MOVED_ON}\d{{1,9}}$")
_NEWEST = re.compile(r"(?<= edited)(, )(newest )?(?=[+−]\d|indented anew|lines \d)")
"""Before what an edit did; of many edits of a file only the newest is told, and that it is the newest."""


class Written(Struct, frozen=True, kw_only=True):
    """The ledger as text."""

    text: str
    entries: tuple[Entry, ...]
    """What stands in it, in order."""
    choice: Choice
    omitted: int
    """Entries that did not fit …"""
    rules_omitted: int
    """… and those among them that are rules, word for word."""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of its index, the most wanted first."""
        return self.choice.facts


def line_of(entry: Entry) -> str:
    """One entry as it stands in the ledger: one line, whatever it quotes."""
    times = f" ×{entry.times}" if entry.times > 1 else ""
    text = _NEWEST.sub(r"\1newest ", entry.text, count=1) if times else entry.text
    return f"- {escape_tags(unbroken(text))} (m{entry.seq} {entry.origin}{times})"


class Supply(Protocol):
    """Facts for a ledger."""

    @property
    def columns(self) -> Columns:
        """These and maybe others."""
        ...

    @property
    def places(self) -> Sequence[Place]:
        """Of all of them, in no order of any meaning."""
        ...

    @property
    def ranked(self) -> Sequence[Place]:
        """Of all of them, most wanted first."""
        ...

    @property
    def standing(self) -> Standing:
        """Which of their texts show which."""
        ...


class Draft:
    """What a ledger has to say, counted, and not yet cut to a budget."""

    def __init__(
        self,
        entries: Sequence[Entry],
        supply: Supply,
        *,
        prices: Prices,
        rank: Callable[[str], int],
        evidence: Callable[[str], int],
    ) -> None:
        """`rank` says how soon a user's words leave, `evidence` the line of a command (`ranks`)."""
        self._entries = entries
        self._rank = rank
        self._evidence = evidence
        self._lines = [line_of(entry) for entry in entries]
        told = [n for n, entry in enumerate(entries) if entry.section == "evidence"]
        self._home = home_of(self._lines[n] for n in told)
        if self._home:
            for n in told:
                self._lines[n] = shortened(self._lines[n], self._home)
        self._costs = prices.of(self._lines, behind="")
        self._supply = supply
        self._prices = prices
        self._home_tokens = prices.of([said_of(self._home)], behind="")[0] + 1 if self._home else 0
        headings = HEADING_TOKENS * len({entry.section for entry in entries}) + self._home_tokens
        self._needed = sum(self._costs) + len(self._costs) + headings
        self._vital = sum(
            [
                cost + 1
                for entry, cost in zip(entries, self._costs, strict=True)
                if entry.section == "objective"
            ]
        )

    def tokens_wanted(self, budget: int) -> int:
        """What the ledger would take with every fact, and with the entries that its share holds then; where `budget` holds
        all, what they take, to a token a line. Told piece by piece, without putting the facts in order."""
        priced = self._priced(self._supply.places)
        share = self._share(budget, has_facts=bool(priced.places))
        choice = choose(priced, AMPLE, said=share.said)
        every = choice.tokens
        is_all = every <= share.left
        if is_all and share.crowded:
            share = self._more_entries(share, facts=every)
        if is_all and not self._omitted(share):
            bare = self._text(share, labels_of(choice))
            return self._prices.count([bare])[0] + every - priced.labels
        facts = every if is_all else priced.tokens
        entries = min(self._needed, _entries_wanted(self._vital, facts=facts))
        return facts + OMITTED_TOKENS + HEADING_TOKENS + entries

    def written(self, budget: int) -> Written:
        """The ledger within `budget` tokens; what tools did that find no room call by call is told tool by tool."""
        left: list[Entry] = []
        written = self._written(budget)
        while written.omitted and (
            lost := [e for e in self._acts if e not in written.entries and e not in left]
        ):
            left += lost
            written = self._with(in_brief(self._entries, left))._written(budget)
        return written

    def _with(self, entries: Sequence[Entry]) -> Draft:
        """The same with other entries."""
        return Draft(entries, self._supply, prices=self._prices, rank=self._rank, evidence=self._evidence)

    @cached_property
    def _acts(self) -> Sequence[Entry]:
        return [entry for entry in self._entries if is_act(entry)]

    def _written(self, budget: int) -> Written:
        priced = self._ranked
        share = self._share(budget, has_facts=bool(priced.places))
        said, left = share.said, share.left
        choice = choose(priced, left, said=said)
        if choice.is_all and share.crowded:  # entries may have what the facts leave
            share = self._more_entries(share, facts=choice.tokens)
        text, is_grown = self._text(share, choice.lines), choice.is_all
        tokens = self._prices.count([text])[0]
        while choice.places:
            if tokens > budget:  # pieces counted one by one can come to more when they stand in a row
                is_grown = True
                left -= max(tokens - budget, left // 16)
            elif is_grown or budget - tokens <= max(SPARE_TOKENS, budget // 50):
                break
            else:
                is_grown = True
                left += budget - tokens
            choice = choose(priced, left, said=said)
            text = self._text(share, choice.lines)
            tokens = self._prices.count([text])[0]
        return Written(
            text=text,
            entries=tuple([self._entries[n] for n in sorted(share.kept)]),
            choice=choice,
            omitted=self._omitted(share),
            rules_omitted=sum(
                entry.section == "objective" and not _quotes(entry)
                for n, entry in enumerate(self._entries)
                if n not in share.kept
            ),
        )

    @cached_property
    def _ranked(self) -> Priced:
        return self._priced(self._supply.ranked)

    def _priced(self, places: Sequence[Place]) -> Priced:
        supply = self._supply
        return Priced(supply.columns, places, prices=self._prices, standing=lambda: supply.standing)

    def _share(self, budget: int, *, has_facts: bool) -> _Share:
        """The entries that stand before facts, and what they leave."""
        crowded = self._needed > budget or (has_facts and self._needed - self._vital > _entry_cap(budget))
        room = budget - OMITTED_TOKENS if crowded else budget
        cap = _entry_cap(room) if has_facts and crowded else room
        kept, used = self._kept(room, cap=cap, crowded=crowded)
        said = tuple([self._lines[n] for n in sorted(kept)])
        if self._home and any(self._entries[n].section == "evidence" for n in kept):
            said = (*said, said_of(self._home))
        return _Share(room=room, crowded=crowded, kept=kept, used=used, said=said)

    def _more_entries(self, share: _Share, *, facts: int) -> _Share:
        """The same with the entries that find room beside so many tokens of facts."""
        cap = max(share.used, share.room - HEADING_TOKENS - facts)
        kept, used = self._kept(share.room, cap=cap, crowded=True)
        return replace(share, kept=kept, used=used)

    def _kept(self, room: int, *, cap: int, crowded: bool) -> tuple[set[int], int]:
        """Places of the entries that stay, and what they cost: what users said within `room`, open tasks and changes to files
        within their share of it, all others within `cap`, half of either being theirs whatever was said and changed. What a shell changed has
        a quarter of that before what commands came to, and the rest behind it; files that were only read come last. Where a newer command or decision finds no room,
        no older one of its kind has it, but for one that is long."""
        kept: set[int] = set()
        closed: set[tuple[Section, int]] = set()
        sections: set[Section] = set()
        used = changes = said = shell = 0
        order = self._order_crowded if crowded else self._order
        for again, place in product((False, True), order):
            section, leaving = self._entries[place].section, self._leaving[place]
            opens = HEADING_TOKENS + (self._home_tokens if section == "evidence" else 0)
            cost = self._costs[place] + 1 + (0 if section in sections else opens)
            is_change = section != "objective" and leaving <= _CHANGES
            is_shell = section == "mutations" and leaving == _BY_SHELL_LEAVING
            if (
                place in kept
                or (section, leaving) in closed
                or (is_shell and not again and shell + cost > cap // 4)
                or (leaving >= _READ_LEAVING and not again)
            ):
                continue
            most = self._most(place, room=room, cap=cap)
            before, part = (said, most) if is_change else (said + changes, cap)
            given = 0 if section == "objective" else max(0, before - part // 2)
            if used + cost > room or used - given + cost > most:
                if section in _BY_AGE and cost <= cap // 2:
                    closed.add((section, leaving))
                continue
            kept.add(place)
            sections.add(section)
            used += cost
            said += cost if section == "objective" else 0
            changes += cost if is_change else 0
            shell += cost if is_shell else 0
        return kept, used

    def _most(self, place: int, *, room: int, cap: int) -> int:
        """How far an entry may fill the room."""
        entry = self._entries[place]
        if entry.section == "objective" or is_brief(entry):
            return room
        if self._leaving[place] >= _READ_LEAVING and cap <= _entry_cap(room):
            return _entry_cap(room, least=READ_TOKENS_MIN)
        if self._leaving[place] > _CHANGES:
            return cap
        return max(cap, int(room * (ACTIONS_SHARE if entry.text.startswith("`") else CHANGES_SHARE)))

    @cached_property
    def _leaving(self) -> Sequence[int]:
        """Of each entry how soon it leaves."""
        return [_leaving(entry, evidence=self._evidence) for entry in self._entries]

    @cached_property
    def _order(self) -> Sequence[int]:
        """Places of the entries, the last to leave first; of those that leave alike the newest."""
        entries, leaving = self._entries, self._leaving
        return sorted(range(len(entries)), key=lambda place: (leaving[place], -entries[place].seq))

    @cached_property
    def _order_crowded(self) -> Sequence[int]:
        """The same where not all find room: of two quotations, the one that says more stays longer."""
        ranks = [self._rank(entry.text.strip(QUOTE)) if _quotes(entry) else 0 for entry in self._entries]
        return sorted(self._order, key=lambda place: (self._leaving[place], ranks[place]))

    def _omitted(self, share: _Share) -> int:
        return len(self._entries) - len(share.kept) if share.room >= 0 else 0

    def _text(self, share: _Share, index: Sequence[str]) -> str:
        omitted = self._omitted(share)
        text = _text(self._entries, self._lines, kept=share.kept, index=index, omitted=omitted)
        heading = f"## {dict(HEADINGS)['evidence']}\n"
        return text.replace(heading, f"{heading}{said_of(self._home)}\n", 1) if self._home else text


class _Share(Struct, frozen=True, kw_only=True):
    """The part of a budget that entries have."""

    room: int
    crowded: bool
    """Whether not all entries find room beside the facts."""
    kept: Set[int]
    """Places of the entries that stand."""
    used: int
    said: tuple[str, ...]
    """Lines of the entries that stand whatever the facts leave."""

    @property
    def left(self) -> int:
        """What facts may have."""
        return self.room - self.used - HEADING_TOKENS


def _entry_cap(room: int, *, least: int = ENTRY_TOKENS_MIN) -> int:
    ample = max(room - AMPLE_TOKENS, 0)
    share = int((room - ample) * ENTRY_SHARE + ample * AMPLE_SHARE)
    return max(share, min(least, int(room * ENTRY_SHARE_MOST)))


def _entries_wanted(vital: int, *, facts: int) -> int:
    """What entries may have beside so many tokens of facts; never less than what users said."""
    least = AMPLE_TOKENS * (1 - ENTRY_SHARE)
    ample = max(facts - least, 0)
    share = int((facts - ample) * ENTRY_SHARE / (1 - ENTRY_SHARE) + ample * AMPLE_SHARE / (1 - AMPLE_SHARE))
    return max(vital, share, ENTRY_TOKENS)


def _leaving(entry: Entry, *, evidence: Callable[[str], int]) -> int:
    """The higher, the sooner an entry leaves. `evidence`: as `Draft` is given it."""
    match entry.section:
        case "objective":
            return 1 if entry.text.startswith(QUOTE) else 0
        case "next":
            return 2
        case "tasks":
            return 3 if entry.text.startswith("[open]") else 8
        case "mutations":
            return 0 if is_brief(entry) else _change_leaving(entry.text)
        case "evidence":
            return (5, 6, 7, 8)[evidence(entry.text)]
        case "risks":
            return 2 if is_complaint(entry) or REFUSED_AT in entry.text else 5
        case "decisions":
            return 8 if TAKEN_BACK in entry.text or entry.text.startswith(ANSWERED) else 6
        case "read" | "index":
            return _READ_LEAVING


def _change_leaving(text: str) -> int:
    """A folder that was made soon; what a shell did, and a call that may have been a read, before what an editor or a tool that
    acts changed."""
    if text.startswith("`"):
        return _CHANGES if bearing_of(text[1:].partition(" ")[0].rstrip("`")) == "acts" else _BY_SHELL_LEAVING
    if text.endswith(" made"):
        return 8
    return _BY_SHELL_LEAVING if _BY_SHELL.search(text) is not None else _CHANGES


def _quotes(entry: Entry) -> bool:
    return entry.section == "objective" and entry.text.startswith(QUOTE)


def _text(
    entries: Sequence[Entry], lines: Sequence[str], *, kept: Set[int], index: Sequence[str], omitted: int
) -> str:
    out: list[str] = []
    for section, heading in HEADINGS:
        here = [lines[n] for n in sorted(kept) if entries[n].section == section]
        if here:
            out += [f"## {heading}", *here]
    if index:
        out += [f"## {INDEX_HEADING}", *index]
    if omitted:
        out.append(f"({omitted} further entr{'y' if omitted == 1 else 'ies'} left out)")
    return "\n".join(out)


# ── reading it back ──────────────────────────────────────────────────────────────────────────────────────────

_SECTION_OF = {heading: section for section, heading in HEADINGS}
_ORIGINS: dict[str, Origin] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}


def read(body: str) -> tuple[tuple[Entry, ...], tuple[Fact, ...]]:
    """The entries and facts of an earlier ledger, to be carried on; text that is no ledger gives nothing."""
    entries: list[Entry] = []
    facts: list[Fact] = []
    section: Section | None = None
    home = ""
    for line in body.split("\n"):
        if line.startswith("## "):
            section = _SECTION_OF.get(line[3:], "index" if line[3:] == INDEX_HEADING else None)
        elif section == "index":
            facts.extend(facts_in_line(line))
        elif section == "evidence" and not line.startswith("- "):
            home = home_in(line) or home
        elif section is not None and line.startswith("- "):
            entry = _entry_in(f"- {whole(line[2:], home)}", section)
            if entry is not None:
                entries.append(entry)
    return tuple(entries), tuple(facts)


def _entry_in(line: str, section: Section) -> Entry | None:
    source = _SOURCE.search(line)
    if source is None:
        return None
    text = _NEWEST.sub(r"\1", line[2 : source.start()], count=1)
    return Entry(
        section=section,
        key=key_of(section, text),
        text=text,
        seq=int(source.group(1)[1:]),
        origin=_ORIGINS[source.group(2)],
        times=int(source.group(3) or 1),
    )


def key_of(section: Section, text: str) -> str:
    """The key an entry's text was made with."""
    match section:
        case "mutations" | "risks" if text.startswith("`"):
            return text[1:].partition("`")[0]
        case "mutations" | "read":
            return _CHANGED.sub("", text)
        case "evidence":
            moved = _MOVED_ON.search(text)
            return run_of(text.partition("` → ")[0].removeprefix("`")) + (
                moved[0] if moved is not None else ""
            )
        case "tasks":
            return re.sub(r"^\[\w+\] | \((?:in progress|status: [^()]{1,24})\)$", "", text)
        case "next":
            return "said"
        case _:
            return text
