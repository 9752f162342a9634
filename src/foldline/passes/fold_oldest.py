"""Fold oldest: everything before the newest whole units becomes one message. The last tier: it always reaches the
target, or leaves the smallest history that still says what was done. Counterpart: `snip`, which only leaves a notice. Knows units and
tokens; what the fold says comes from `foldline.ledger`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.bounds import Share
from foldline.core.edit import Edit, Fold, Frame, Plan, weighed_in
from foldline.core.message import speaks_for_user
from foldline.core.ports import Moment
from foldline.core.rounds import TAIL_OVER, Outline, Unit, newest_units_start, outline_of
from foldline.core.view import Item, View
from foldline.ledger.book import Told
from foldline.ledger.called import Called, called_in
from foldline.ledger.compose import Evicted, draft, mentions_of
from foldline.ledger.mentions import Mentions
from foldline.ledger.numbering import MEANWHILE
from foldline.ledger.ranks import ASIDE, PARTICULAR, WISH
from foldline.ledger.readings import readings_in
from foldline.ledger.render import OMITTED_TOKENS, Draft
from foldline.ledger.words import Words, rule_lines, words_of
from foldline.passes.clamping import clamp
from foldline.passes.fold_least import (
    VITAL_TOKENS_MOST,
    acts_tokens,
    bare_fold,
    beyond_target,
    is_least,
    opening_of,
    owed_tokens,
)
from foldline.passes.folding import as_it_came, evicted_of, fold_of, may_fold
from foldline.passes.shorten import fact_cache, prices_of
from foldline.passes.template import body

SHORT_BELOW = 200
"""Below this target a fold opens with few words: there its usual first line costs a tenth of all that can be said."""
LEDGER_SHARE_MIN = 0.12
"""Share of the room that no other part of the view may take from the ledger: what is forgotten has to be said."""
LEDGER_TOKENS_MIN = 400
LEDGER_SHARE_MOST = 0.3
"""Of a small room that share is a line or two: there it is so many tokens, up to this share."""
OLDER, OLDER_TOKENS = "m{seq} sums up what was before: what it plans may be done since.", 24
"""Of another tool's summary that stays in the view, and what that takes at most."""
MEANWHILE_TOKENS, ORDINAL_TOKENS = 13, 3
"""What that takes at most, and each of them."""
MEANWHILE_SHARE = 0.1
"""Of the room that the ledger has: where they would take more, they are left out."""
EDGE_TOKENS_MIN = 400
"""Less room than this is not worth half a unit at the edge."""
TALK_SHARE = 0.6
"""Share of the target for older user messages in a history without tools."""
DIVISIONS_MAX = 2
"""How often the room is shared out: once more when the ledger leaves part of its own."""
SPARE_SHARE = 0.05
"""Share of the target that is worth sharing out again."""
SPARE_TOKENS_MIN = 16
"""Less is never worth it."""
TIGHT_SHARE, TIGHT_OVER = 0.5, 1.1
"""Share of the target for the newest whole units where room is tight, and how far they may pass it."""
EDGE_SHARE = 0.3
"""Share of the room at the edge that one unit too large for it may take, so that older units still find a place."""


class FoldOldest(Struct, frozen=True, kw_only=True):
    """Keep the newest whole units, fold all before them.

        [system][u][a][r][u][a][r][a][r][u]  →  [system][u][‹ledger of 4 messages›][u][a][r][u]

    The fold is a ledger: what was asked, decided, changed and found, by rules. Costs: O(messages), the facts of parts
    not looked at before, and one count of the ledger. Breaks the cache once, at the first folded message; what follows is
    new to the cache too. Reach for it last: it forgets more than any other pass, and it is the only one that can
    always reach the target. Pins, leading system messages, the last user message and rounds that wait stay in place.
    """

    name: str = "fold"
    tail_share: Share = 0.6
    """Share of the target for the newest whole units."""
    user_share: Share = 0.25
    """Share of the target for older user messages, which stay where they are, verbatim; beyond it the ledger quotes
    them, questions first and rules last. What a later message took back claims no room."""
    ledger_share: Share = 0.45
    """Most of the target that the ledger may take beside the newest whole units …"""
    ledger_most: Share = 0.75
    """… and most where the target is smaller than `facts_first` of the history: there facts come before whole units …"""
    facts_share: Share = 0.026
    """… up to this share of the history: how many facts there are depends on it, not on the target."""
    facts_first: Share = 0.04
    """So small against the history, half of the target for whole units would leave out most of its facts."""
    tight: Share = 0.1
    """Where the target is smaller than this against the history, and facts need more than they have, whole units take half
    of it and facts the rest."""
    summary: Literal["ledger", "template"] = "ledger"
    """What the fold says: the ledger, or one line a message, which costs a tenth and says less."""
    clamp_edge: bool = True
    """Clamp the results of the one unit at the edge so that it fits, rather than fold it, where facts leave the room."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """A fold, and clamps of single results where those alone make the rest fit. Empty when the view fits."""
        if moment.tokens_excess <= 0:
            return Plan()
        structure = outline_of(view)
        loose: list[Unit] = []
        fixed: list[Unit] = []
        for unit in structure.units:
            (loose if may_fold(structure, unit, frame=frame) else fixed).append(unit)
        room = moment.tokens_target - sum(unit.tokens for unit in fixed)
        clamps: tuple[Edit, ...] = ()
        acts = acts_tokens(structure, loose, frame=frame) if self.summary == "ledger" else 0
        is_short = moment.tokens_target < SHORT_BELOW
        bare = bare_fold(structure, loose, is_short=is_short, frame=frame)
        if not is_short and room < bare + acts:
            is_short, bare = True, bare_fold(structure, loose, is_short=True, frame=frame)
        if room < bare:
            cut = clamp(structure, fixed, excess=bare + acts - room, frame=frame)
            clamps, room = cut.edits, room + cut.tokens_freed
        acts = min(acts, room - bare) if room >= bare else acts
        bare += acts
        missing = bare - room if self.summary == "ledger" else 0
        if missing > 0 and is_least(structure, loose, bare=bare, moment=moment):
            loose = []
        vital = bare
        if missing > 0 or (not moment.by_hand and room < bare + VITAL_TOKENS_MOST):
            vital += beyond_target(structure, loose, missing=missing, moment=moment, frame=frame)
        room = max(room, vital)
        words = words_of(structure.items, frame.memo)
        target, history = moment.tokens_target, max(moment.tokens_history, view.tokens)
        rooms = _Room(
            all=room,
            target=target,
            bare=bare,
            acts=acts,
            owed=bare + owed_tokens(structure, loose, words=words, frame=frame),
            ledger=max(vital, int(target * self.ledger_share)),
            said=int(target * self._said_share(structure)),
            most=self._most(target, history=history),
            is_small=self.summary == "ledger" and target < history * self.tight,
            is_floor=missing > 0,
            is_short=is_short,
        )
        sources = _Sources(structure, words=words, frame=frame)

        def shared_out(room: _Room) -> _Folding:
            division = self._divide(structure, loose, room=room, words=words, frame=frame)
            return _Folding(sources, division, clamps=clamps, summary=self.summary)

        folding = shared_out(rooms)
        for _ in range(DIVISIONS_MAX - 1):
            again = _again(rooms, folding) if missing <= 0 else None
            if again is None:
                break
            rooms, folding = again, shared_out(again)
        return Plan(edits=(*folding.edits, *folding.fold))

    def _most(self, target: int, *, history: int) -> int:
        """What the ledger may take before whole units have their part; 0 where facts do not come first."""
        if target >= history * self.facts_first:
            return 0
        return int(min(target * self.ledger_most, history * self.facts_share))

    def _said_share(self, structure: Outline) -> float:
        """Where nobody but users and the agent speaks, what was said is the work: older words weigh as much as newer."""
        is_talk = all(unit.kind != "round" or unit.end - unit.start == 1 for unit in structure.units)
        return max(self.user_share, TALK_SHARE) if is_talk else self.user_share

    def _divide(
        self, structure: Outline, loose: list[Unit], *, room: _Room, words: Words, frame: Frame
    ) -> _Division:
        """What is folded and what stays: first the newest whole units up to their share, then older user messages up to
        theirs, then the ledger up to its own, and more units from the end with what is left, one clamped at the edge."""
        share, over = (TIGHT_SHARE, TIGHT_OVER) if room.is_tight else (self.tail_share, TAIL_OVER)
        whole = newest_units_start(structure, room.target, share=share, over=over)
        begin = structure.units[whole].start if whole < len(structure.units) else len(structure.items)
        newest = [u for u in loose if u.start >= begin and words.stands(structure.items[u.start].seq)]
        said = [u for u in loose if _is_said(structure, u) and words.is_whole(structure.items[u.start].seq)]
        older = sum(unit.tokens for unit in said if unit.start < begin)
        answering = sum(unit.tokens for unit in newest if unit.start > _last_said(structure))
        least = room.ledger if room.is_floor else max(room.owed, _ledger_min(room.all))
        floor = max(room.bare, min(room.ledger, room.all, least))
        spare = max(int(room.target * self.user_share), room.all - floor - answering)
        asked_for = min(older, room.said, spare)
        outside, left = _newest_that_fit(newest, room.all - floor - asked_for)
        left += asked_for + floor
        held = {unit.start for unit in newest} - {unit.start for unit in outside}
        rest = [unit for unit in loose if unit.start not in held]
        quota = min(room.said, left - floor)
        starts = {unit.start for unit in rest}
        said, told = [u for u in said if u.start in starts], frame.memo.setdefault("told", Told())
        stays = _stay(structure, said, words=words, told=told, room=quota)
        left -= sum(unit.tokens for unit in stays)
        ledger = min(left, room.ledger)
        starts = {unit.start for unit in stays}
        rest = [unit for unit in rest if unit.start not in starts]
        gone, spare = _newest_that_fit(rest, left - ledger)
        if gone and ledger < room.bare:  # no ledger is wanted, and still a fold has to be paid for
            ledger = min(left, room.bare)
            gone, spare = _newest_that_fit(rest, left - ledger)
        rest = gone
        edits: tuple[Edit, ...] = ()
        edge = spare if len(rest) > 1 else spare + ledger  # with the last of them the fold goes too
        if rest and self.clamp_edge and not room.is_small and spare >= EDGE_TOKENS_MIN:
            rest, edits, spare = _with_edge(structure, rest, room=edge, frame=frame)
        return _Division(
            folded=tuple(rest),
            edits=edits,
            ledger=ledger + spare,
            bare=room.bare - room.acts,
            is_short=room.is_short,
        )


class _Sources:
    """What the ledgers of one plan are made from."""

    def __init__(self, structure: Outline, *, words: Words, frame: Frame) -> None:
        self.structure = structure
        self.words = words
        self.frame = frame
        self.facts = fact_cache(frame)
        self.told: Told = frame.memo.setdefault("told", Told())

    @cached_property
    def mentions(self) -> Mentions:
        """Of the whole history: the same whatever is folded."""
        return mentions_of(
            self.frame.history(self.structure.items), self.words, cache=self.facts, memo=self.frame.memo
        )

    @cached_property
    def called(self) -> Called:
        """The calls of all items as they came in: a division folds some of those."""
        came = [as_it_came(item, self.frame) for item in self.structure.items]
        return called_in(came, self.frame.memo)


class _Folding:
    """The fold of one division. Its ledger is drafted, and written, when somebody asks."""

    def __init__(
        self, sources: _Sources, division: _Division, *, clamps: Sequence[Edit], summary: str
    ) -> None:
        items = sources.structure.items
        self._sources = sources
        self.division = division
        self.edits = (*clamps, *division.edits)
        self._summary = summary
        self._gone = [item for unit in division.folded for item in items[unit.start : unit.end]]
        room = division.ledger - division.bare
        self._meanwhile = _meanwhile(items, self._gone, room=int(room * MEANWHILE_SHARE))
        count = sources.frame.counter.text
        self._tokens_said = count(self._meanwhile) + 1 if self._meanwhile else 0
        self._budget = room - self._tokens_said

    @cached_property
    def fold(self) -> tuple[Fold, ...]:
        """The edit; none where it would shrink nothing."""
        if not self._gone:
            return ()
        frame, head = self._sources.frame, opening_of(self._gone, is_short=self.division.is_short)
        said = "\n".join(filter(None, [head, self._meanwhile, self._text]))
        edit = fold_of(self._gone, said, frame=frame)
        weights, overhead = weighed_in(frame.memo).message(edit.message, frame.counter)
        return (edit,) if sum(weights) + overhead < self._tokens_gone else ()

    @property
    def is_any(self) -> bool:
        """Whether there is something to fold, told without writing where the ledger is certain to be shorter."""
        return (self._has_ledger and self._tokens_gone > self.division.ledger) or bool(self.fold)

    @property
    def tokens_wanted(self) -> int | None:
        """What the ledger would take with every fact; `None` for a fold without one."""
        return self._draft.tokens_wanted(self._budget) + self._tokens_said if self._has_ledger else None

    @property
    def _has_ledger(self) -> bool:
        return bool(self._gone) and self._budget > 0 and self._summary == "ledger"

    @property
    def _tokens_gone(self) -> int:
        return sum([item.tokens for item in self._gone])

    @property
    def _text(self) -> str:
        if self._has_ledger:
            return self._draft.written(self._budget).text
        frame, words = self._sources.frame, self._sources.words
        return _template(self._gone, self._budget, words=words, frame=frame) if self._budget > 0 else ""

    @cached_property
    def _evicted(self) -> Evicted:
        sources = self._sources
        evicted = evicted_of(
            sources.structure, self._gone, words=sources.words, frame=sources.frame, edits=self.edits
        )
        return replace(
            evicted,
            mentions=sources.mentions,
            calls=sources.called.within({item.seq for item in self._gone}),
            told=sources.told,
            readings=readings_in(sources.frame.memo),
        )

    @cached_property
    def _draft(self) -> Draft:
        sources = self._sources
        return draft(self._evicted, prices=prices_of(sources.frame), cache=sources.facts)


class _Room(Struct, frozen=True, kw_only=True, gc=False):
    """Tokens to share out, and the target they are a part of."""

    all: int
    target: int
    bare: int
    """What a fold costs that says no more than what tools did in it."""
    acts: int
    """What of that says so."""
    owed: int
    """What it costs with what has to be said of messages that were taken back in part."""
    ledger: int
    """Most that the ledger may take."""
    said: int
    """Most that older user messages may take where they stand."""
    most: int = 0
    """Most that the ledger may take before whole units have their part, where facts come first; else 0."""
    is_small: bool = False
    """Whether facts come before what whole units take beyond half and before half a unit at the edge, and it is not known
    yet what they need."""
    is_tight: bool = False
    """Whether they need so much that whole units have half."""
    is_floor: bool = False
    """Whether the ledger has its part before whole units have theirs."""
    is_short: bool = False
    """Whether a fold opens with few words."""


class _Division(Struct, frozen=True, kw_only=True):
    """What is folded, the cuts in what stays, and the ledger's budget."""

    folded: tuple[Unit, ...]
    edits: tuple[Edit, ...]
    ledger: int
    bare: int
    """What of it a fold costs that says nothing."""
    is_short: bool
    """Whether it opens with few words."""


def _template(gone: Sequence[Item], room: int, *, words: Words, frame: Frame) -> str:
    """The rules word for word, and one line a message in the room they leave."""
    rules = "\n".join(rule_lines(gone, words))
    left = room - (frame.counter.text(rules) + 1 if rules else 0)
    return "\n".join(filter(None, [body(gone, left, count=frame.counter.text), rules]))


def _last_said(structure: Outline) -> int:
    """Where the last user message stands; before everything where there is none."""
    return structure.units[structure.turns[-1][0]].start if structure.turns else -1


def _meanwhile(items: Sequence[Item], gone: Sequence[Item], *, room: int) -> str:
    """Which messages a user said within a fold and stand behind it, so that its entries can be read in order with them, and that
    another tool's summary, which stands before them all, is older; nothing that would take more than `room` tokens."""
    if not gone:
        return ""
    seqs = {seq for item in gone for seq in (item.seq, *[span.end - 1 for span in item.covers])}
    first, last = min(seqs), max(seqs)
    summary = next(
        (item.seq for item in items if item.message.synthetic == "summary" and item.seq < first), None
    )
    older = "" if summary is None or room < OLDER_TOKENS else OLDER.format(seq=summary)
    room -= OLDER_TOKENS if older else 0
    said = [
        f"m{item.seq}"
        for item in items
        if first < item.seq < last and item.seq not in seqs and speaks_for_user(item.message)
    ]
    if not said or MEANWHILE_TOKENS + len(said) * ORDINAL_TOKENS > room:
        return older
    return "\n".join(filter(None, [older, f"{MEANWHILE} {' '.join(said)}"]))


def _ledger_min(room: int) -> int:
    return max(int(room * LEDGER_SHARE_MIN), min(LEDGER_TOKENS_MIN, int(room * LEDGER_SHARE_MOST)))


def _with_edge(
    structure: Outline, rest: list[Unit], *, room: int, frame: Frame
) -> tuple[list[Unit], tuple[Edit, ...], int]:
    """The newest unit that does not fit, clamped to its share of the room, and older ones while they fit: what is left of
    the units, oldest first, the cuts, and the room that is left."""
    edge, older = rest[-1], rest[:-1]
    share = max(EDGE_TOKENS_MIN, int(room * EDGE_SHARE))
    beyond, left = _newest_that_fit(older, room - share)
    size = share + left
    cut = clamp(structure, [edge], excess=edge.tokens - size, frame=frame)
    if edge.tokens - cut.tokens_freed > size:
        return rest, (), room
    return beyond, cut.edits, 0


def _again(room: _Room, folding: _Folding) -> _Room | None:
    """The room shared out anew, now that it is known what the ledger needs: what it leaves, users' words get, then whole
    units; and where facts come first, or the target is small, those give way to it. `None` where the division is right."""
    division = folding.division
    least = max(SPARE_TOKENS_MIN, int(room.target * SPARE_SHARE))
    if not folding.is_any:
        return replace(room, ledger=0, said=room.said + division.ledger) if division.ledger else None
    if (tokens := folding.tokens_wanted) is None:
        return None
    wanted = tokens + room.bare - room.acts + (OMITTED_TOKENS if room.owed > room.bare else 0)
    if wanted < division.ledger - least:
        said = room.said + division.ledger - wanted
        return replace(room, ledger=wanted, said=said, is_small=False)
    floor = min(room.most, wanted)
    if floor > division.ledger + least:
        return replace(room, ledger=floor, is_floor=True)
    if room.is_small and not room.most and wanted > division.ledger + least:
        return replace(room, ledger=wanted, is_small=False, is_tight=True)
    return None


def _is_said(structure: Outline, unit: Unit) -> bool:
    """True for a user's message, and for the summary of another tool's compaction, which holds what users said before."""
    message = structure.items[unit.start].message
    return speaks_for_user(message) or message.synthetic == "summary"


def _stay(structure: Outline, said: Sequence[Unit], *, words: Words, told: Told, room: int) -> list[Unit]:
    """Older user messages that stay in place within `room`: of those that do not fit the ones that only ask or answer
    leave first, those that give a rule last, and of two alike the older."""
    if sum(unit.tokens for unit in said) <= room:
        return list(said)
    newest_first = list(reversed(said))
    ranks = [_rank(structure.items[unit.start], words, told=told) for unit in newest_first]
    stays: list[Unit] = []
    most = ASIDE
    for place in sorted(range(len(ranks)), key=ranks.__getitem__):
        unit = newest_first[place]
        if unit.tokens > room:
            most = min(most, max(PARTICULAR, ranks[place]))  # its quotation is worth more than what says less
        elif ranks[place] <= most:
            stays.append(unit)
            room -= unit.tokens
    return stays


def _rank(item: Item, words: Words, *, told: Told) -> int:
    """The words that open a history, or an earlier tool's summary of it, say what it is about."""
    if item.message.synthetic == "summary":
        return 0
    opening = next((seq for seq in words.said if seq >= 0), None)
    rank = told.rank(words.standing(item.seq))
    return min(rank, WISH) if item.seq == opening else rank


def _newest_that_fit(units: Sequence[Unit], room: int) -> tuple[list[Unit], int]:
    """The units without the newest ones that fit into `room`, and the room that is left."""
    rest, left = list(units), room
    while rest and rest[-1].tokens <= left:
        left -= rest.pop().tokens
    return rest, left
