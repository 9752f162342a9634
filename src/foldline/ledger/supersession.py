"""Supersession: which earlier words of a person a later message takes back, replaces, updates or allows.

"Scratch that", "Task B instead, drop A", "the port is 9090 now", "you may now touch src/db", "改成", "取消". Conservative
by design: hiding a rule that still stands is worse than showing one that does not, so where two readings are possible
nothing is superseded, an answer supersedes nothing, and rules fall only where they are named. Works on texts and
ordinals; who said them must be known before.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

from msgspec import Struct

from foldline.ledger.alternatives import is_other_choice, names_one, turns_to
from foldline.ledger.constraints import Constraint, constraints
from foldline.ledger.cue_words import (
    CUES,
    DROPS_LABEL,
    DROPS_NAMED,
    EVERYTHING,
    INSTEAD,
    INSTEAD_CUES,
    JOINS,
    KEEPS,
    OF,
    PLAN,
    RESET,
    THAT,
)
from foldline.ledger.cues import is_quoted, meant
from foldline.ledger.own_words import breaks_off, is_brought_in, own_sentences
from foldline.ledger.permissions import allows
from foldline.ledger.requests import is_answer, requests
from foldline.ledger.rules_allowed import lifted
from foldline.ledger.rules_taken_back import stems, taken_back
from foldline.ledger.sentences import Span, sentences
from foldline.ledger.stated_values import CLAUSE, Stated, stated_values, updates
from foldline.ledger.superseded import How, Supersession, joined, left_of
from foldline.ledger.unsaid import Done, undone

NEAR = 3
"""How many messages back "that" may point to."""
LOOK_BACK = 400
"""Messages that are searched for what a later one names."""
TEXTS_MAX = 512
"""Messages that are remembered as they were read: a session says little that is new between two compactions."""
BESIDE_WORDS_MAX = 3
"""A clause beside a value with no more words than these says nothing by itself ("by the way")."""
RECORD_KEYS_MIN = 2
"""Two messages that list so many keys with other values may be two records."""
SHARED_MIN = 2
"""Words that two plans have in common, at least, to be one."""
SENTENCE_CHARS_MAX = 400
"""Of a longer sentence only the beginning can allow something, and no rule as long is taken back: too much in it could
still stand."""
CUE_CHARS_MAX = 2_000
"""Longer messages are pasted text for the most part: only what stands before this counts as taking something back."""

BINDING = frozenset({"prohibition", "duty"})
"""Kinds of rules that no later plan replaces, even where a plan gives them: "we should never …"."""
WORD = re.compile(r"[^\W_][\w'’-]*")
SMALL = frozenset(
    "the a an to of in on at for with and or we we'll let's i you it is are be this that so ok yeah think going how should would will do not instead actually plan approach current new"
    " right call dig into execute wait option final answer".split()
)
SEVERAL = re.compile(
    r"[,;，；、](?=\s|[\u3400-\u9fff])|\b(?:and|plus|as well as)\b|(?:并且?|以及|还有|然后|和)(?=[\u3400-\u9fff])",
    re.IGNORECASE,
)
"""What joins two tasks in one sentence: naming one must not take back the other."""
HAN_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


class _Said(Struct, frozen=True, kw_only=True, dict=True):
    """One message. What of it is read, is read when it is first asked for: most messages take nothing back."""

    ordinal: int
    text: str

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Its sentences."""
        return sentences(self.text)

    @cached_property
    def own(self) -> tuple[Span, ...]:
        """The sentences that are the person's own and plain: no other takes anything back."""
        return own_sentences(self.text, self.spans)

    @cached_property
    def plans(self) -> tuple[Span, ...]:
        """Sentences that say what is planned."""
        return tuple(span for span in self.spans if PLAN.search(self.text[span[0] : span[1]]))

    @cached_property
    def tasks(self) -> tuple[Span, ...]:
        """Sentences that ask for something to be done."""
        asked = {asked.start for asked in requests(self.text) if asked.kind == "task"}
        return tuple(span for span in self.spans if span[0] in asked)

    @cached_property
    def rules(self) -> tuple[Span, ...]:
        """Sentences in which a rule stands."""
        return _ruled(self.spans, constraints(self.text))

    @cached_property
    def binding(self) -> tuple[Span, ...]:
        """Sentences that forbid something or bind to it, plans among them."""
        return _ruled(self.spans, tuple(rule for rule in constraints(self.text) if rule.kind in BINDING))

    @cached_property
    def values(self) -> tuple[Stated, ...]:
        """What its own sentences say that something is now."""
        stated = stated_values(self.text)
        own = {*self.own} if stated else ()
        return tuple(value for value in stated if value.span in own)

    @cached_property
    def listed(self) -> dict[frozenset[str], set[str]]:
        """The values of each key that it lists."""
        found: dict[frozenset[str], set[str]] = {}
        for value in self.values:
            if value.assigned.lists:
                found.setdefault(value.key, set()).add(value.value)
        return found

    @cached_property
    def values_once(self) -> tuple[Stated, ...]:
        """What its own sentences say that something is now, without keys that it lists several times."""
        return tuple(value for value in self.values if len(self.listed.get(value.key, ())) <= 1)

    @cached_property
    def answers(self) -> bool:
        """Whether it only answers."""
        return is_answer(self.text)

    @cached_property
    def cued(self) -> bool:
        """Whether one of `CUES` stands in it, so that it may take something back that it points at or names."""
        return any(map(self.text[:CUE_CHARS_MAX].lower().__contains__, CUES))


_Struck: TypeAlias = "tuple[_Said, tuple[Span, ...], How]"


def supersessions(messages: Sequence[tuple[int, str]]) -> dict[int, tuple[int, Supersession]]:
    """Of all messages of a person, oldest first: each superseded one's ordinal → the ordinal of what supersedes it, and
    how. Where several do, their sentences are put together under the last; what one did that is taken back itself is not done. Reads each
    message once."""
    said: list[_Said] = []
    done: list[Done] = []
    for place, (ordinal, text) in enumerate(messages):
        now = _read(ordinal, text)
        found = () if now.answers else _merged(_struck_by(now, said[-LOOK_BACK:]))
        unsaid = undone(text, messages, place=place, done=done, found=found)
        if unsaid:
            done = [one for one in done if one not in unsaid]
        spared = {one.ordinal for _, one in unsaid}
        causes = {by for by, _ in unsaid}
        done += [
            (ordinal, one)
            for one in found
            if one.ordinal not in spared and (not causes or one.how != "withdrawn" or one.ordinal in causes)
        ]
        said.append(now)
    struck: dict[int, tuple[int, Supersession]] = {}
    for ordinal, one in done:
        before = struck.get(one.ordinal)
        struck[one.ordinal] = (ordinal, one if before is None else joined(before[1], one))
    return struck


@lru_cache(maxsize=TEXTS_MAX)
def _read(ordinal: int, text: str) -> _Said:
    return _Said(ordinal=ordinal, text=text)


def _ruled(spans: tuple[Span, ...], rules: tuple[Constraint, ...]) -> tuple[Span, ...]:
    """The sentences in which a rule stands."""
    starts = [rule.start for rule in rules]
    return tuple(
        span
        for span in spans
        if (near := bisect_left(starts, span[1]) - 1) >= 0 and rules[near].end > span[0]
    )


# ── what a message strikes ───────────────────────────────────────────────────────────────────────────────────


def _struck_by(now: _Said, before: list[_Said]) -> list[_Struck]:
    found: list[_Struck] = []
    for strike in (*CUED_STRIKES, *STRIKES) if now.cued else STRIKES:
        found += strike(now, before)
    return found


def _reset(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Ignore everything we said": all plans and tasks; "scratch all of this": the plan and what it is the same as."""
    cue = next(meant(now.text, now.own, cues=RESET.finditer(now.text, 0, CUE_CHARS_MAX)), None)
    if cue is None:
        return []
    if EVERYTHING.search(cue[0]):
        return [(said, _open(said), "reset") for said in before]
    newest = next((said for said in reversed(before) if said.plans), None)
    return (
        []
        if newest is None
        else [(said, _open(said), "reset") for said in before if _same_plan(said, newest)]
    )


def _pointed(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Scratch that", "never mind": the last thing planned or asked for, unless it may be something that the same message
    says before it, or goes on to allow."""
    cue = next(meant(now.text, now.own, cues=THAT.finditer(now.text, 0, CUE_CHARS_MAX)), None)
    if cue is None:
        return []
    here = (*now.plans, *now.tasks, *now.rules, *(value.span for value in now.values))
    sentence = next(span for span in now.own if cue.start() < span[1])
    if any(span[1] <= sentence[0] for span in here) or allows(now.text[slice(*sentence)]):
        return []
    return [(said, _open(said), "withdrawn") for said in _last(before, lambda said: bool(_open(said)))]


def _instead(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Let's do X instead": the plan before it. A task is not replaced by a word about how to do it."""
    if not any(map(now.text.lower().__contains__, INSTEAD_CUES)):
        return []
    ways = [span for span in now.plans if _is_way(now.text, span) and span in now.own]
    if not ways:
        return []
    found: list[_Struck] = []
    for said in _last(before, lambda said: bool(said.plans)):
        plans = tuple(
            span
            for span in said.plans
            if span not in said.binding
            and all(_of_one(now.text[slice(*way)], said.text[slice(*span)]) for way in ways)
        )
        found += [(said, plans, "replaced")] if plans else []
    return found


def _is_way(text: str, span: Span) -> bool:
    """Whether a sentence is a plan in the place of another."""
    plan, instead = PLAN.search(text, *span), INSTEAD.search(text, *span)
    if plan is None or instead is None:
        return False
    sentence, at = text[slice(*span)], plan.start() - span[0]
    return not (is_quoted(text, plan.span()) or is_brought_in(sentence, at) or breaks_off(sentence, at))


def _labelled(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Drop A", "forget A and B": by the label they were given, or in their order where that leaves no doubt."""
    found: list[_Struck] = []
    for cue in meant(now.text, now.own, cues=DROPS_LABEL.finditer(now.text, 0, CUE_CHARS_MAX)):
        labels = re.findall(r"\b(?:[A-Z]|\d{1,3})\b", cue["labels"] or cue["han"])
        matches = [[_under(said, label) for said in before] for label in labels]
        if any(any(spans) for spans in matches):
            for spans_of in matches:
                found += [
                    (said, spans, "withdrawn") for said, spans in zip(before, spans_of, strict=True) if spans
                ]
            continue
        planned = [said for said in before if said.plans]
        if now.plans and labels == [chr(ord("A") + index) for index in range(len(planned))]:
            found += [(said, said.plans, "withdrawn") for said in planned]
    return found


def _named(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Forget about the export": the plan or task that has all words of the name, if only one message has."""
    found: list[_Struck] = []
    for cue in meant(now.text, now.own, cues=DROPS_NAMED.finditer(now.text, 0, CUE_CHARS_MAX)):
        name = next(group for group in cue.groups() if group)
        hits = [(said, spans) for said in before if (spans := _naming(said, name, cue=_called(cue)))]
        if len(hits) == 1:
            found.append((*hits[0], "withdrawn"))
    return found


def _updated(now: _Said, before: list[_Said]) -> list[_Struck]:
    """The same key with another value; of those that nothing gave to a key ("look at PR 12") the last alone."""
    found: list[_Struck] = []
    values = now.values_once
    earlier = [said for said in before if not _is_other_record(now, said)] if values else ()
    for value in values:
        same = [(said, old) for said in earlier for old in said.values_once if updates(value, old)]
        same = [(said, old) for said, old in same[:-1] if old.assigned.sets] + same[-1:]
        found += [(said, spans, "updated") for said, old in same if (spans := _spans_of(old, said))]
    return found


def _is_other_record(now: _Said, said: _Said) -> bool:
    """Whether two messages list several keys with other values each: "name: …, age: …" of another person."""
    here, there = now.listed, said.listed
    return sum(here[key] != there[key] for key in here.keys() & there.keys()) >= RECORD_KEYS_MIN


def _allowed(now: _Said, before: list[_Said]) -> list[_Struck]:
    """A rule about exactly the things that are now allowed, or about a kind of things of which one now is."""
    found: list[_Struck] = []
    rules = [(said, span) for said in before for span in said.rules]
    for start, end in now.spans if rules else ():
        sentence = now.text[start : min(end, start + SENTENCE_CHARS_MAX)]
        if not allows(sentence) or (start, end) not in now.own:
            continue
        texts = [said.text[first:last] for said, (first, last) in rules]
        found += [(rules[n][0], (rules[n][1],), "allowed") for n in lifted(sentence, texts)]
    return found


def _revoked(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Forget what I said about tabs", "stop running the linter": a rule that is named."""
    rules = [
        (said, span) for said in before for span in said.rules if span[1] - span[0] <= SENTENCE_CHARS_MAX
    ]
    texts = [said.text[start:end] for said, (start, end) in rules]
    found: list[_Struck] = []
    for start, end in now.spans if rules else ():
        if start < CUE_CHARS_MAX:
            sentence = now.text[start : min(end, start + SENTENCE_CHARS_MAX)]
            places = taken_back(sentence, texts)
            if places and (start, end) in now.own:
                found += [(rules[place][0], (rules[place][1],), "withdrawn") for place in places]
    return found


def _chosen(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "On second thought, use spaces": the choice of another of the same things, wherever it stands alone."""
    found: list[_Struck] = []
    for span in now.spans if names_one(now.text[:CUE_CHARS_MAX]) else ():
        sentence = now.text[slice(*span)]
        chosen = turns_to(sentence)
        at = sentence.lower().rfind(chosen) if chosen else -1
        if at >= 0 and span in now.own and not _is_told(now.text, span, at=at, chars=len(chosen)):
            struck = [(said, _choosing(said, chosen, sentence=sentence)) for said in before]
            found += [(said, spans, "replaced") for said, spans in struck if spans]
    return found


def _is_told(text: str, span: Span, *, at: int, chars: int) -> bool:
    """Whether what stands at a place of a sentence is quoted, somebody else's, or taken back at once."""
    place = (span[0] + at, span[0] + at + chars)
    sentence = text[slice(*span)]
    return is_quoted(text, place) or is_brought_in(sentence, at) or breaks_off(sentence, at)


def _choosing(said: _Said, chosen: str, *, sentence: str) -> tuple[Span, ...]:
    """The sentences of a message that choose something else than a later one."""
    others = [
        span for span in said.spans if is_other_choice(chosen, sentence, earlier=said.text[slice(*span)])
    ]
    return tuple(span for span in others if span in said.own) if others else ()


_Strike: TypeAlias = "Callable[[_Said, list[_Said]], list[_Struck]]"
CUED_STRIKES: tuple[_Strike, ...] = (_reset, _pointed, _labelled, _named)
STRIKES: tuple[_Strike, ...] = (_instead, _updated, _allowed, _revoked, _chosen)


# ── what is meant ────────────────────────────────────────────────────────────────────────────────────────────


def _open(said: _Said) -> tuple[Span, ...]:
    """Plans and tasks of a message, which a word like "that" may take back; never a rule."""
    struck = {*said.plans, *said.tasks} - ({*said.rules} - {*said.plans}) - {*said.binding}
    return tuple(sorted(struck))


@lru_cache(maxsize=TEXTS_MAX)
def _spans_of(old: Stated, said: _Said) -> tuple[Span, ...]:
    """What falls with an older value: its sentence; where others stand in it, its clause alone, if each of them goes without
    it; else nothing. Nor does a sentence fall that forbids something, or rules something in another clause."""
    start, end = old.span
    rules = () if old.assigned.orders else constraints(said.text[start:end])  # "no more than 3" forbids too
    if any(rule.kind == "prohibition" for rule in rules):
        return ()
    cuts = [(start + cut.start(), start + cut.end()) for cut in CLAUSE.finditer(said.text[start:end])]
    pieces = zip([start, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), end], strict=True)
    others = [piece for piece in pieces if piece != old.clause]
    texts = [JOINS.sub("", said.text[slice(*piece)]) for piece in others]
    stated = {value.clause for value in said.values}
    if requests(said.text[slice(*old.clause)]) and any(map(requests, texts)):
        return ()  # what it is set to for the sake of what else is asked for
    goes = [piece in stated or bool(requests(text)) for piece, text in zip(others, texts, strict=True)]
    if any(constraints(text) for text in texts):
        return ()
    if not any(goes) and all(len(WORD.findall(text)) <= BESIDE_WORDS_MAX for text in texts):
        return (old.span,)
    return (_with_join(said.text, old.clause, cuts=cuts),) if all(goes) else ()


def _with_join(text: str, clause: Span, *, cuts: Sequence[Span]) -> Span:
    """A clause with what joins it to the one before, or else to the one behind it; without blanks and full stop."""
    low, high = clause
    before = next((cut[0] for cut in cuts if cut[1] == low), None)
    if before is None:
        high = next((cut[1] for cut in cuts if cut[0] == high), high)
    else:
        low, high = before, low + len(text[low:high].rstrip(".!。！"))
    piece = text[low:high]
    return low + len(piece) - len(piece.lstrip()), high - (len(piece) - len(piece.rstrip()))


def _of_one(way: str, plan: str) -> bool:
    """Whether one plan may stand in the place of another: both say of one thing how it is to be done, as far as they say so,
    and they have a word in common. "The API in Go" and "the CLI in click" are two."""
    here, there = OF.search(way), OF.search(plan)
    if KEEPS.search(plan):
        return False
    if here is not None and there is not None:
        return (here[1] or here[2]).lower() == (there[1] or there[2]).lower()
    return bool(HAN_RUN.search(way) or stems(_words(way)) & stems(_words(plan)))


def _last(before: list[_Said], fits: Callable[[_Said], bool]) -> list[_Said]:
    """The newest message that fits, if it is near; what only answers does not count."""
    for said in [said for said in reversed(before) if not said.answers][:NEAR]:
        if fits(said):
            return [said]
    return []


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in WORD.findall(text)) - SMALL


def _same_plan(said: _Said, newest: _Said) -> bool:
    if said is newest:
        return True
    there = _words(" ".join(newest.text[start:end] for start, end in newest.plans))
    return any(_overlap(_words(said.text[start:end]), there) for start, end in (*said.plans, *said.tasks))


def _overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= SHARED_MIN and 2 * shared >= min(len(one), len(other))


def _under(said: _Said, label: str) -> tuple[Span, ...]:
    """Plans and tasks that open with a label: "Task A: …", "A) …"."""
    opens = re.compile(
        rf"\W{{0,3}}(?:(?:task|option|plan|step|item|idea|approach|variant|part)\s+#?{label}\b|#?{label}\s?[:.)]|(?:任务|方案|选项)\s?{label})",
        re.IGNORECASE if label.isdigit() else 0,
    )
    loose = re.compile(rf"\W{{0,3}}(?:Task|Option|Plan|Step|Item|Idea|Approach|Variant|Part)\s+#?{label}\b")
    return tuple(
        span for span in said.spans if opens.match(said.text, *span) or loose.match(said.text, *span)
    )


def _naming(said: _Said, name: str, *, cue: str) -> tuple[Span, ...]:
    """Plans and tasks that a name means: all its words stand there, and nothing else is asked for beside them. Words that
    stand there along with the verb that would drop them are a name themselves: "fix the drop shadow"."""
    wanted = _words(name)
    han = HAN_RUN.findall(name)
    if not wanted and not han:
        return ()
    spans = []
    for start, end in _open(said):
        sentence = said.text[start:end]
        there = all(run in sentence for run in han) if han else wanted <= _words(sentence)
        is_name = bool(cue) and " ".join(cue.split()).lower() in " ".join(sentence.split()).lower()
        if there and not is_name and not (SEVERAL.search(sentence) and not _is_listed(name, sentence)):
            spans.append((start, end))
    return tuple(spans)


def _called(cue: re.Match[str]) -> str:
    """The verb of a cue and the name behind it; empty where no verb stands before."""
    end = max(cue.end(group) for group in "abd")
    return cue[0][: end - cue.start()] if end > 0 else ""


def _is_listed(name: str, sentence: str) -> bool:
    """Whether a name says itself all that a sentence lists."""
    return len(SEVERAL.findall(name)) >= len(SEVERAL.findall(sentence))


# ── put together ─────────────────────────────────────────────────────────────────────────────────────────────


def _merged(struck: list[_Struck]) -> tuple[Supersession, ...]:
    """One for each earlier message, in order; what strikes it first says how."""
    by_ordinal: dict[int, Supersession] = {}
    for said, spans, how in struck:
        if not spans:
            continue
        found = Supersession(ordinal=said.ordinal, how=how, spans=spans, stands=left_of(said.spans, spans))
        before = by_ordinal.get(said.ordinal)
        by_ordinal[said.ordinal] = found if before is None else joined(found, before)
    return tuple(by_ordinal[ordinal] for ordinal in sorted(by_ordinal))
