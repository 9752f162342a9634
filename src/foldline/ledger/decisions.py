"""Decisions: the sentences in which the agent says what it does and why, and what later words take back of them.

A decision is told where a sentence gives a reason or says that one was made, and none where it is left open: a question, a
guess, what should or could be done. It is taken back where a later sentence, plainly and unconditionally, calls wrong or gives up
what it chose, by the same name, or puts another in its place. Counterparts: `book`, which makes the entries, and `compose`, which
has the later words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.entries import Entry
from foldline.ledger.lines import one_line
from foldline.ledger.sentences import sentences

DECISION_CHARS = 240
TAKEN_BACK = "; taken back at m"
"""Behind a decision that no longer holds."""

_REASONS = (
    *("because", "since", "so that", "instead of", "rather than", "decid", "chose", "cause", "turns out"),
    *("因为", "由于", "决定", "改用", "原因", "而不是", "因此", "所以", "选择", "采用", "选用", "选定"),
    *("opted", "go with", "going with", "went with"),
)
_BECAUSE = re.compile(
    r"\bbecause\b|\bsince\b|\bso that\b|\binstead of\b|\brather than\b|\bdecided\b|\bdecision\b|\bchose\b|\bthe (?:root )?cause\b"
    r"|\bturns out\b|\bopted\b|\b(?:i['’]ll|we['’]ll|i will|we will) go with\b|\b(?:going|went) with\b|(?:选择|采用|选用|选定)了?[“\"「『]|因为|由于|决定|改用|原因|而不是|因此|所以",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"(?:n['’]t|\bnot|\bnever|\byet to|\bstill to|\bneed to|\bhave to|\bmust|\bshould|\bwill|\blet me|\bto|\bcannot) (?:yet |even |fully |really )?(?:been )?(?:decid|cho[so])"
    r"|\b(?:maybe|perhaps|possibly|should probably|(?:it|we) could|could (?:also|either|just|simply|even))\b|\bundecided\b|\bdecid\w* (?:yet )?(?:whether|if|between)\b|(?:\bnot|n['’]t) (?:\w{1,12} )?because\b|[?？][\"'”’)\]]{0,3}$"
    r"|(?:还没|没有|尚未|还未|未曾|未)(?:有)?(?:做)?(?:出)?决定|(?:不是|并非|并不是)(?:因为|由于)|(?:是否|要不要)",
    re.IGNORECASE,
)
"""What speaks of a decision that was not made, or denies a reason."""
_REVERSES = re.compile(
    r"\W*(?:(?:but|oh|hmm|and|so|well|ok|okay)\W+){0,2}(?:actually|wait|no\b|nope|on (?:reflection|second thoughts?)|thinking (?:about it )?again|scratch that|forget that|never\s?mind|correction|instead"
    r"|(?:that|this|it) (?:was|is) (?:wrong|a mistake|not right|incorrect)|(?:that|it)['’]s (?:wrong|not right)|i was (?:wrong|mistaken)|i take that back|i (?:have )?changed my mind|however)\b"
    r"|\W*(?:不对|等等|等一下|算了|其实|更正|重新考虑|改主意|转念|不过|但是|错了)",
    re.IGNORECASE,
)
"""How a sentence opens that may take back the one before."""
_LEFT_TO = re.compile(
    r"(?:让|由|请|给|交给)(?:我|你|您|用户)(?:们)?(?:来|自己|自行)?决定|(?:你|您|用户|他们)(?:来|自己|自行)?决定|\b(?:let|lets|asked) (?:me|you) decide\b|\b(?:you|they|the user) decides?\b",
    re.IGNORECASE,
)
"""Who is to decide is no decision."""
_GUESSED = re.compile(
    r"^(?:(?!\b(?:because|decided|chose)\b).){0,400}?\b(?:(?:i|we|it|this|that|they|you) should|probably|might|seems?|appears?|presumably|i guess|i suppose|i wonder)\b"
    r"|\b(?:let['’]?s|let me|we can|i can|we could|i(?:['’]ll| will)|we(?:['’]ll| will)|to) (?:\w{1,20} )?try\b"
    r"|^(?:(?!\b(?:because|decided|chose|cause)\b).){0,400}?\b(?:i|we|you) (?:still |also )?(?:need|have) to\b|\b(?:is|['’]s) (?:(?:a bit|kind of|almost|just) )?like\b"
    r"|\b(?:i|we)(?:['’]ll| will) (?:now|first|next)\b|\bassum(?:e|ing|ption)\b"
    r"|^(?:(?!决定|改用|采用).){0,400}?(?:应该|应当)|可能|也许|或许|大概|似乎|好像|不确定|可以(?:选择|采用|考虑|先)",
    re.IGNORECASE,
)
"""What is guessed, wished or tried is not decided."""
_MUSES = re.compile(
    r"\W*(?:(?:actually|wait|hmm+|oh|well|but|so|ok|okay|now)\W+){1,3}(?:(?:looking|thinking|reading|checking) (?:at|about|again|more|into|through|this|that|it)\b|let me\b|i (?:see|wonder|think|notice|realize|realise)\b)",
    re.IGNORECASE,
)
"""How a sentence opens that only thinks on: what stands before it was not decided."""
_TIDIES = re.compile(
    r"^\W*(?:minor|small|trivial|tiny|cosmetic)\b|\bclean(?:ing|ed)?[ -]?up\b", re.IGNORECASE
)
"""What only tidies up needs no reason that anybody asks for later."""
_ANNOUNCES = re.compile(r"[,，][^,，]{0,40}[:：]$")
_CHOICE = re.compile(
    r"决定|选择|采用|选用|选定|\b(?:decided|chose|opted|go with|going with|went with)\b", re.IGNORECASE
)
"""What says by itself that something was decided."""
_NAME = re.compile(
    r"`([^`\n]{2,60})`|[“\"「『]([^“”\"「」『』\n]{2,40})[”\"」』]|\b([a-z]{1,30}[A-Z]\w{0,40}|[A-Za-z]\w{0,30}_\w{1,40}|(?<=\w )[A-Z][A-Za-z]{2,30}|[A-Za-z]{2,30}(?:[.-][A-Za-z]{2,30}){1,3})\b"
    r"|[\u3000-\u9fff]\s?([A-Za-z][A-Za-z0-9.+-]{1,30})"
)
"""What a sentence calls by its name: in back quotes or quotation marks, a name of code, a capital within, Latin within Chinese."""
_NOT_CHOSEN = re.compile(
    r"\b(?:because|since|instead of|rather than|so that|over|not|no longer)\b[^,，。;；]{0,200}|(?:因为|由于|而不是|不再|放弃)[^,，。;；]{0,200}",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:if|whether|might|maybe|perhaps|could|would|unless|not sure|why|how)\b|(?:n['’]t|\bnot)\b[^,.;]{0,30}\b(?:wrong|a mistake|drop|abandon|scrap)|[?？]|如果|要是|是否|也许|可能|为什么|怎么",
    re.IGNORECASE,
)
_CALLED_WRONG = re.compile(
    r"\b(?:is|was|were|are) (?:(?:completely|clearly|simply|just|the|a) ){0,2}(?:wrong|mistaken|a mistake|mistake|incorrect|over-?complicated|over-?engineered)\b"
    r"|(?:是|就是|完全)?(?:错(?:了|误的|的)|不对|行不通|不可行)",
    re.IGNORECASE,
)
_GIVEN_UP = re.compile(
    r"\b(?:instead of|rather than|no longer us(?:e|ing)|stop(?:ped)? using|(?:drop|abandon|scrap)(?:p?ed|p?ing)?|gave up on|give up on)\s(?P<what>[^,.;，。；\n]{2,80})"
    r"|\breplac(?:e|ed|ing)\s(?P<old>[^,.;\n]{2,60}?)\s(?:with|by)\b|\bswitch(?:ed|ing)? from\s(?P<from>[^,.;\n]{2,60}?)\sto\b"
    r"|(?:而不是|放弃(?:了)?|不再(?:使用|采用|用)?|弃用(?:了)?)(?P<han>[^,，。；;\n]{2,40})|(?:从|把|将)(?P<out>[^,，。；;\n]{2,40}?)(?:改用|改为|改成|换成|换为|切换到)",
    re.IGNORECASE,
)
_FINALLY = re.compile(
    r"\b(?:finally|in the end|ultimately|final(?:ly)? (?:choice|decision)|going with|settled on)\b|最终|最后(?:决定|采用|选)|改用|改为|改成",
    re.IGNORECASE,
)
_DIFF = re.compile(r"^(?:diff --git |@@ -\d|--- a/|\*\*\* Begin Patch)", re.MULTILINE)
"""Where a patch begins that the agent quotes: what stands in it, files say."""
_HEAD = re.compile(r"[`”\"」』]\s?([\u4e00-\u9fff]{2,6}|[A-Za-z]{4,20})")
"""What a thing is that stands behind its name: a style, an approach, a direction."""
_CUES = (
    *(
        "wrong",
        "mistake",
        "incorrect",
        "complicated",
        "engineered",
        "instead of",
        "rather than",
        "no longer",
        "using",
        "drop",
        "abandon",
        "scrap",
    ),
    *(
        "gave up",
        "give up",
        "replac",
        "switch",
        "final",
        "in the end",
        "ultimately",
        "going with",
        "settled on",
    ),
    *(
        "错",
        "不对",
        "行不通",
        "不可行",
        "而不是",
        "放弃",
        "不再",
        "弃用",
        "改用",
        "改为",
        "改成",
        "换成",
        "换为",
        "切换到",
        "最终",
        "最后",
    ),
)


def reasons_in(said: str) -> Iterator[str]:
    """Sentences in which the assistant gives a reason, each with the next one where that turns against it, and none that the
    next one only doubts; one that announces what follows says nothing by itself. What a patch says is no reason of the agent's."""
    diff = _DIFF.search(said)
    said = said if diff is None else said[: diff.start()]
    spans = sentences(said) if _may_give_reason(said) else ()
    for place, (start, end) in enumerate(spans):
        end = start + len(_announced(said[start:end]))
        if not _decides(said[start:end]):
            continue
        after = spans[place + 1] if place + 1 < len(spans) else (end, end)
        turns = _REVERSES.match(said, *after) is not None
        if turns and (_UNDECIDED.search(said[slice(*after)]) or _MUSES.match(said, *after)):
            continue
        yield one_line(said[start : after[1] if turns else end], DECISION_CHARS)


def _decides(sentence: str) -> bool:
    told = _LEFT_TO.sub("", sentence)
    return (
        _may_give_reason(told)
        and not told.endswith((":", "："))
        and _BECAUSE.search(told) is not None
        and not _UNDECIDED.search(told)
        and not _GUESSED.search(told)
        and not _MUSES.match(told)
        and not (_TIDIES.search(told) and not _CHOICE.search(told))
    )


def _announced(sentence: str) -> str:
    """What a sentence says before the clause that announces what follows it."""
    before = _ANNOUNCES.sub("", sentence)
    return before if _CHOICE.search(before) is not None else sentence


def _may_give_reason(text: str) -> bool:
    """Whether a text holds a word of `_BECAUSE`; far cheaper than the expression."""
    lowered = text.lower()
    return any([word in lowered for word in _REASONS])


class Withdrawal(Struct, frozen=True, kw_only=True, gc=False):
    """What one sentence takes back."""

    names: frozenset[str]
    """What it calls wrong or gives up."""
    heads: frozenset[str] = frozenset()
    """What it decides anew: a style, a direction …"""
    chosen: frozenset[str] = frozenset()
    """… and what it is now."""


def withdrawals_in(said: str) -> tuple[Withdrawal, ...]:
    """What a text takes back, sentence by sentence."""
    lowered = said.lower()
    if not any([cue in lowered for cue in _CUES]):
        return ()
    found = (_withdrawal(said[start:end]) for start, end in sentences(said))
    return tuple([each for each in found if each is not None])


def _withdrawal(sentence: str) -> Withdrawal | None:
    if _OPEN.search(sentence) is not None:
        return None
    names: set[str] = set()
    if (wrong := _CALLED_WRONG.search(sentence)) is not None:
        names |= _names(sentence[: wrong.start()])
    for given_up in _GIVEN_UP.finditer(sentence):
        group = given_up.lastgroup or ""
        names |= _names(f"{'用' if group in ('han', 'out') else 'x '}{given_up[group].strip()} ")
    if _FINALLY.search(sentence) is not None:
        heads = frozenset(_HEAD.findall(sentence))
        return Withdrawal(names=frozenset(names), heads=heads, chosen=_chosen(sentence))
    return Withdrawal(names=frozenset(names)) if names else None


def taken_back(entries: Sequence[Entry], said: Iterable[tuple[int, Sequence[Withdrawal]]]) -> Iterator[Entry]:
    """The entries, each decision that later words take back with where they do. O(decisions × withdrawals)."""
    withdrawals = [(seq, each) for seq, found in said for each in found]
    for entry in entries:
        if entry.section != "decisions" or TAKEN_BACK in entry.text:
            yield entry
            continue
        chosen, heads = _chosen(entry.text), frozenset(_HEAD.findall(entry.text))
        by = next(
            (seq for seq, each in withdrawals if seq > entry.seq and _takes_back(each, chosen, heads=heads)),
            None,
        )
        yield entry if by is None else replace(entry, text=f"{entry.text}{TAKEN_BACK}{by}")


def _takes_back(withdrawal: Withdrawal, chosen: frozenset[str], *, heads: frozenset[str]) -> bool:
    if withdrawal.names & chosen and not withdrawal.chosen & chosen:
        return True
    return bool(withdrawal.heads & heads and withdrawal.chosen and chosen) and not withdrawal.chosen & chosen


def _chosen(sentence: str) -> frozenset[str]:
    """The names of what a sentence decides for: not those in its reason, nor those that it decides against."""
    return frozenset(_names(_NOT_CHOSEN.sub(" ", sentence)))


def _names(text: str) -> set[str]:
    return {name.strip().lower() for found in _NAME.findall(text) for name in found if name.strip()}
