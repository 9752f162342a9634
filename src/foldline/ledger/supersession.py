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
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.constraints import Constraint, constraints
from foldline.ledger.cues import meant
from foldline.ledger.requests import is_answer, requests
from foldline.ledger.rules_allowed import allows, lifted
from foldline.ledger.rules_taken_back import taken_back
from foldline.ledger.sentences import Span, sentences
from foldline.ledger.stated_values import Stated, may_update, stated_values, updates

How: TypeAlias = Literal["replaced", "withdrawn", "updated", "allowed", "reset"]

NEAR = 3
"""How many messages back "that" may point to."""
LOOK_BACK = 400
"""Messages that are searched for what a later one names."""
TEXTS_MAX = 512
"""Messages that are remembered as they were read: a session says little that is new between two compactions."""
SHARED_MIN = 2
"""Words that two plans have in common, at least, to be one."""
SENTENCE_CHARS_MAX = 400
"""Of a longer sentence only the beginning can allow something, and no rule as long is taken back: too much in it could
still stand."""
CUE_CHARS_MAX = 2_000
"""Longer messages are pasted text for the most part: only what stands before this counts as taking something back."""

PLAN = re.compile(
    r"\b(?:let['’]?s|let us|we(?:['’]ll| will| should|['’]re going to| are going to)|i(?:['’]d)? (?:suggest|propose))\b(?! not\b)"
    r"|\b(?:current |new |our |the |initial )?(?:plan|approach|decision|direction|strategy|option \w)\b[^.\n]{0,60}(?::|\s[—–-]\s)|\bis the right call\b"
    r"|我们(?:就|先|可以|来|要|决定)|(?:方案|计划|决定)[:：是]|就(?:用|做|按)",
    re.IGNORECASE,
)
RESET = re.compile(
    r"\b(?:ignore|forget|disregard|scratch|scrap|discard)\s+(?:about\s+)?(?:everything|all)\b(?:\s+(?:of\s+)?(?:it|this|that|these|those)\b(?=\s*(?:[.,;:!?—–-]|$|(?:and|but|for now|please|instead|now|stuff|mess|ideas|plans|tasks|requests|instructions)\b))|\s+(?:that\s+)?(?:we|i)\b(?![^.!?\n]{0,40}\b(?:about|regarding|on)\b)|\s+(?:the\s+)?(?:above|previous|earlier|prior|so far)\b(?!\s+(?:line|row|column|the|this|that|\d))|\s*[.!,;—–-]|\s*$)"
    r"|\b(?:total|complete|full) reset\b|(?:之前|前面|以上)(?:说|讲|提)?(?:的|过的)?(?:(?:这些|那些|全部|所有|要求|计划|方案|话|内容|指令|任务|东西|一切|事|了){1,3})?[，,]?\s?(?:都|全部?)(?:不算|作废|忘(?:了|掉)|不要了?(?!忘|改|动|丢|删|碰|取)|取消)|推倒重来|忘(?:掉|了)?(?:之前|前面)(?:的|说的)",
    re.IGNORECASE,
)
EVERYTHING = re.compile(
    r"\beverything\b|\b(?:total|complete|full) reset\b|之前|前面|以上|推倒", re.IGNORECASE
)
CUES = (
    *"ignor forget disregard scratch scrap discard reset cancel drop strike skip abandon nevermind".split(),
    *("never mind", "changed my mind", "off the table", "no longer", "not needed", " is out", " are out"),
    *"之前 前面 以上 推倒 忘 算了 改主意 当我没说 刚才 やっぱり さっき 今の 방금 아까 不做 取消 放弃 不要 不用 作废".split(),
    *"vergiss laisse oublie olvid esque deixa забудь".split(),
)
"""One of these stands in every message that takes something back by pointing at it or naming it."""
BINDING = frozenset({"prohibition", "duty"})
"""Kinds of rules that no later plan replaces, even where a plan gives them: "we should never …"."""
JOINS = re.compile(r"^\W*(?:and|but|so|also|und|et|y)\s+", re.IGNORECASE)
OF = re.compile(
    r"\b(?:the|our|my)\s+([\w-]{2,40})\s+(?:in|with|using|as|on|via|through)\b|\buse\s+\S{1,40}\s+for\s+(?:the\s+)?([\w-]{2,40})",
    re.IGNORECASE,
)
KEEPS = re.compile(
    r"\b(?:let['’]?s|let us|we(?:['’]ll| will| should))\s+(?:keep|preserve|maintain|never|always|make sure|not)\b",
    re.IGNORECASE,
)
"""A plan that says what has to stay."""
_END = r"(?=\s*(?:[.,;:!?—–-]|$|and\b|for now\b|please\b|instead\b))"
THAT = re.compile(
    rf"\b(?:scratch|scrap|forget(?: about)?|disregard|ignore|strike)\s+(?:that|it|this|(?:the|my) (?:earlier|previous|last|prior) (?:instruction|request|plan|idea|message|one|approach|task)){_END}"
    r"|(?:^|[.,;!—–-]\s*)never\s?mind(?=\s*(?:[.,;:!?—–-]|$))|\bcancel (?:that|the (?:last|previous)) (?:request|task|plan|idea|instruction)\b|\bi(?:['’]ve)? changed my mind\b|\bdrop (?:that|this) (?:idea|plan|approach|task|request)\b"
    r"|^[\W]*算了|改主意|当我没说|刚才(?:说)?的(?:不算|作废|取消)|やっぱり(?:いい|やめ|なし)|(?:さっきの|今の)は?(?:忘れ|取り消|なし)|(?:방금|아까).{0,8}(?:취소|잊)|\bvergiss (?:das|es)\b|\blaisse tomber\b|\boublie (?:ça|cela)\b|\bolv[ií]da(?:lo| eso)\b|\besqueç?[ae] (?:isso|o anterior)\b|\bdeixa pra lá\b|\bзабудь (?:это|об этом)\b",
    re.IGNORECASE,
)
INSTEAD = re.compile(
    r"\binstead\b(?! of)|\bfinal answer\b|^\W*actually\b|\bon second thought\b|\bstattdessen\b|\bplutôt\b|\ben cambio\b|\bem vez disso\b|改成|改为|还是",
    re.IGNORECASE,
)
LABEL = r"(?-i:(?:[Tt]ask|[Oo]ption|[Pp]lan|[Ss]tep|[Ii]tem|[Ii]dea|[Aa]pproach|[Vv]ariant|[Pp]art)\s+)?(?-i:[A-Z]|#?\d{1,3})\b"
DROPS_LABEL = re.compile(
    rf"\b(?:drop|forget(?: about)?|scrap|scratch|skip|ignore|abandon|cancel|never\s?mind)\s+(?P<labels>{LABEL}(?:(?:\s*,\s*|\s+(?:and|or)\s+){LABEL}){{0,5}})(?=\s*(?:[.,;:!?—–-]|$|for now|and\b))"
    r"|(?:不做|取消|放弃|不要|不用做?)(?:任务|方案|选项)?\s?(?P<han>[A-Z])(?:了)?",
    re.IGNORECASE,
)
DROPS_NAMED = re.compile(
    r"\b(?:forget(?: about)?|scrap|abandon|never\s?mind)\s+(?:the |my |our |that |about )*(?P<a>[^.,;:!?—–]{3,60})"
    r"|\b(?:drop|cancel|skip|ignore)\s+(?:the |my |our |that )*(?P<b>[^.,;:!?—–]{3,60}?)\s+(?:task|idea|plan|request|feature|approach|part|option|todo)\b"
    r"|\bthe (?P<c>[^.,;:!?—–]{3,80}?)(?: (?:task|idea|plan|request|feature|approach|part|option))? (?:is|are) (?:off the table|cancell?ed|no longer (?:needed|wanted|the plan|required)|dropped|scrapped|not needed any ?more|out)\b"
    r"|(?:不用(?:再)?做?|不做|取消|放弃|先不做)(?P<d>[^，。！？；\s]{2,20}?)(?:了|这个任务|的任务|功能)?(?=[，。！；\s]|$)"
    r"|(?P<e>[^，。！？；\s]{2,20}?)(?:先)?(?:不用做了|不做了|作废|取消(?:了|吧))",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W_][\w'’-]*")
SMALL = frozenset(
    "the a an to of in on at for with and or we we'll let's i you it is are be this that so ok yeah think going how should would will do not instead actually plan approach current new"
    " right call dig into execute wait option final answer".split()
)
HAN_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


class Supersession(Struct, frozen=True, kw_only=True, gc=False):
    """What a later message does to an earlier one."""

    ordinal: int
    """Of the earlier message."""
    how: How
    spans: tuple[Span, ...]
    """The sentences of the earlier message that no longer stand."""
    stands: tuple[Span, ...]
    """The sentences of the earlier message that still do; empty when all of it is superseded."""


class _Said(Struct, frozen=True, kw_only=True):
    """One message, read once."""

    ordinal: int
    text: str
    spans: tuple[Span, ...]
    plans: tuple[Span, ...]
    tasks: tuple[Span, ...]
    rules: tuple[Span, ...]
    binding: tuple[Span, ...]
    """Sentences that forbid something or bind to it, plans among them."""
    values: tuple[Stated, ...]
    answers: bool
    cued: bool
    """Whether one of `CUES` stands in it, so that it may take something back that it points at or names."""


_Struck: TypeAlias = "tuple[_Said, tuple[Span, ...], How]"


def supersedes(later: str, earlier: Sequence[tuple[int, str]]) -> tuple[Supersession, ...]:
    """What `later` supersedes among a person's earlier messages (ordinal and text, oldest first); often nothing."""
    if is_answer(later):
        return ()
    return _merged(
        _struck_by(_read(-1, later), [_read(ordinal, text) for ordinal, text in earlier[-LOOK_BACK:]])
    )


def supersessions(messages: Sequence[tuple[int, str]]) -> dict[int, tuple[int, Supersession]]:
    """Of all messages of a person, oldest first: each superseded one's ordinal → the ordinal of what supersedes it, and
    how. Where several do, their sentences are put together under the last. Reads each message once."""
    said: list[_Said] = []
    struck: dict[int, tuple[int, Supersession]] = {}
    for ordinal, text in messages:
        now = _read(ordinal, text)
        if not now.answers:
            for found in _merged(_struck_by(now, said[-LOOK_BACK:])):
                before = struck.get(found.ordinal)
                struck[found.ordinal] = (ordinal, found if before is None else joined(before[1], found))
        said.append(now)
    return struck


def _read(ordinal: int, text: str) -> _Said:
    return replace(_read_text(text), ordinal=ordinal)


@lru_cache(maxsize=TEXTS_MAX)
def _read_text(text: str) -> _Said:
    spans = sentences(text)
    asked = {asked.start for asked in requests(text) if asked.kind == "task"}
    rules = constraints(text)
    return _Said(
        ordinal=-1,
        text=text,
        spans=spans,
        plans=tuple(span for span in spans if PLAN.search(text[span[0] : span[1]])),
        tasks=tuple(span for span in spans if span[0] in asked),
        rules=_ruled(spans, rules),
        binding=_ruled(spans, tuple(rule for rule in rules if rule.kind in BINDING)),
        values=stated_values(text),
        answers=is_answer(text),
        cued=any(map(text[:CUE_CHARS_MAX].lower().__contains__, CUES)),
    )


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
    cue = next(meant(now.text, now.spans, cues=RESET.finditer(now.text, 0, CUE_CHARS_MAX)), None)
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
    """ "Scratch that", "never mind": the last thing planned or asked for."""
    if not any(meant(now.text, now.spans, cues=THAT.finditer(now.text, 0, CUE_CHARS_MAX))):
        return []
    return [(said, _open(said), "withdrawn") for said in _last(before, lambda said: bool(_open(said)))]


def _instead(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Let's do X instead": the plan before it. A task is not replaced by a word about how to do it."""
    ways = [span for span in now.plans if INSTEAD.search(now.text, *span)]
    if not ways:
        return []
    found: list[_Struck] = []
    for said in _last(before, lambda said: bool(said.plans)):
        plans = tuple(
            span
            for span in said.plans
            if span not in said.binding
            and not any(_of_another(now.text[slice(*way)], said.text[slice(*span)]) for way in ways)
        )
        found += [(said, plans, "replaced")] if plans else []
    return found


def _labelled(now: _Said, before: list[_Said]) -> list[_Struck]:
    """ "Drop A", "forget A and B": by the label they were given, or in their order where that leaves no doubt."""
    found: list[_Struck] = []
    for cue in meant(now.text, now.spans, cues=DROPS_LABEL.finditer(now.text, 0, CUE_CHARS_MAX)):
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
    for cue in meant(now.text, now.spans, cues=DROPS_NAMED.finditer(now.text, 0, CUE_CHARS_MAX)):
        name = next(group for group in cue.groups() if group)
        hits = [(said, spans) for said in before if (spans := _naming(said, name))]
        if len(hits) == 1:
            found.append((*hits[0], "withdrawn"))
    return found


def _updated(now: _Said, before: list[_Said]) -> list[_Struck]:
    """The same key with another value; a shorter name for it counts if it can mean only one thing."""
    found: list[_Struck] = []
    for value in now.values:
        same = [(said, old) for said in before for old in said.values if updates(value, old)]
        if not same:
            near = [(said, old) for said in before for old in said.values if may_update(value, old)]
            same = near if len({old.key for _, old in near}) == 1 else []
        found += [(said, (old.span,), "updated") for said, old in same if not _rules_beside(said.text, old)]
    return found


def _allowed(now: _Said, before: list[_Said]) -> list[_Struck]:
    """A rule about exactly the things that are now allowed, or about a kind of things of which one now is."""
    found: list[_Struck] = []
    rules = [(said, span) for said in before for span in said.rules]
    for start, end in now.spans:
        sentence = now.text[start : min(end, start + SENTENCE_CHARS_MAX)]
        if not rules or not allows(sentence):
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
            found += [
                (rules[place][0], (rules[place][1],), "withdrawn") for place in taken_back(sentence, texts)
            ]
    return found


_Strike: TypeAlias = "Callable[[_Said, list[_Said]], list[_Struck]]"
CUED_STRIKES: tuple[_Strike, ...] = (_reset, _pointed, _labelled, _named)
STRIKES: tuple[_Strike, ...] = (_instead, _updated, _allowed, _revoked)


# ── what is meant ────────────────────────────────────────────────────────────────────────────────────────────


def _open(said: _Said) -> tuple[Span, ...]:
    """Plans and tasks of a message, which a word like "that" may take back; never a rule."""
    struck = {*said.plans, *said.tasks} - ({*said.rules} - {*said.plans}) - {*said.binding}
    return tuple(sorted(struck))


def _rules_beside(text: str, value: Stated) -> bool:
    """Whether the sentence of a value forbids something too, or rules something in another clause: it has to stand."""
    start, end = value.span
    low, high = value.clause
    if value.span == value.clause:
        rest: tuple[str, ...] = ()
    else:
        rest = (text[start:low], text[high:end])
    if any(rule.kind == "prohibition" for rule in constraints(text[start:end])):
        return True
    return any(constraints(JOINS.sub("", piece)) for piece in rest if piece.strip())


def _of_another(way: str, plan: str) -> bool:
    """Whether two plans say of two things how each is to be done: "the API in Go", "the CLI in click"."""
    here, there = OF.search(way), OF.search(plan)
    if KEEPS.search(plan):
        return True
    return (
        here is not None
        and there is not None
        and (here[1] or here[2]).lower() != (there[1] or there[2]).lower()
    )


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


def _naming(said: _Said, name: str) -> tuple[Span, ...]:
    wanted = _words(name)
    han = HAN_RUN.findall(name)
    if not wanted and not han:
        return ()
    spans = []
    for start, end in _open(said):
        sentence = said.text[start:end]
        there = all(run in sentence for run in han) if han else wanted <= _words(sentence)
        if there:
            spans.append((start, end))
    return tuple(spans)


# ── put together ─────────────────────────────────────────────────────────────────────────────────────────────


def _merged(struck: list[_Struck]) -> tuple[Supersession, ...]:
    """One for each earlier message, in order; what strikes it first says how."""
    by_ordinal: dict[int, Supersession] = {}
    for said, spans, how in struck:
        if not spans:
            continue
        fallen = frozenset(spans)
        found = Supersession(
            ordinal=said.ordinal,
            how=how,
            spans=spans,
            stands=tuple(span for span in said.spans if span not in fallen),
        )
        before = by_ordinal.get(said.ordinal)
        by_ordinal[said.ordinal] = found if before is None else joined(found, before)
    return tuple(by_ordinal[ordinal] for ordinal in sorted(by_ordinal))


def joined(one: Supersession, other: Supersession) -> Supersession:
    """What both of them do to one message, as the second one does it."""
    spans = tuple(sorted({*one.spans, *other.spans}))
    standing = frozenset(other.stands)
    stands = tuple(span for span in one.stands if span in standing)
    return Supersession(ordinal=one.ordinal, how=other.how, spans=spans, stands=stands)
