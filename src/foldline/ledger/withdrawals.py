"""Withdrawals: decisions that later words of the agent or the user take back.

    agent: "I decided to use Redis for the queue because …"     chosen: redis, for: queue
    user:  "Don't use Redis, use Postgres."                      given up: redis            taken back at m7
    user:  "Don't use Redis for sessions."                       given up: redis, sessions  stands

A decision falls where a later sentence plainly gives up what it chose, by the same name and without more (`given_up`), or chooses
another of the same kind. What the decision itself gives up, or takes away, is not what it chose. Counterparts: `decisions`, which finds
them, and `compose`, which has the later words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.alternatives import is_other_choice, others_of, turns_to
from foldline.ledger.answers import ANSWERED
from foldline.ledger.cue_words import UNSURE
from foldline.ledger.entries import Entry
from foldline.ledger.given_up import given_up_in
from foldline.ledger.marks import TAKEN_BACK
from foldline.ledger.overruling import decided_against, orders_in
from foldline.ledger.rules_taken_back import stems
from foldline.ledger.sentences import Span, sentences

_NAME = re.compile(
    r"`([^`\n]{2,60})`|[“\"「『]([^“”\"「」『』\n]{2,40})[”\"」』]|\b([a-z]{1,30}[A-Z]\w{0,40}|[A-Za-z]\w{0,30}_\w{1,40}|(?<=\w )[A-Z][A-Za-z]{2,30}|[A-Za-z]{2,30}(?:[.-][A-Za-z]{2,30}){1,3})\b"
    r"|[\u3000-\u9fff]\s?([A-Za-z][A-Za-z0-9.+-]{1,30})"
)
"""What a sentence calls by its name: in back quotes or quotation marks, a name of code, a capital within, Latin within Chinese …"""
_TAKEN = re.compile(
    r"\b(?:us(?:e|ing)|chose|choos(?:e|ing)|pick(?:ed|ing)?|go(?:ing)? with|went with|opted for|settled on|decided (?:on|for))\s(?!(?:the|a|an|this|that|these|those|it|its|one|two|three|both|all|our|my|your|their|some|any|more|only)\b)([a-z][\w+#-]{2,30})",
    re.IGNORECASE,
)
"""… and the very word behind one that takes it."""
_TAKES = re.compile(
    r"(?:\b(?:us(?:e|es|ed|ing)|chose|choos(?:e|ing)|pick(?:ed|ing)?|go(?:ing)? with|went with|opted for|settled on|decided (?:on|for)|adopt\w*|tak(?:e|ing)|prefer|install\w*|introduc\w*|add(?:ed|ing)?)\s"
    r"(?:the |a |an |our )?|\b(?:in|with|on|via|to|through)\s|[用择选定取]\s?)[`\"“「『]?$",
    re.IGNORECASE,
)
"""What stands before the name of something that is taken."""
_NOT_CHOSEN = re.compile(
    r"\b(?:because|since|instead of|rather than|so that|over|not|no longer|without|avoid\w*|remov\w+|delet\w+|drop\w*|abandon\w*|scrap\w*|skip\w*|disabl\w+|uninstall\w*|revert\w*|rid of|replac\w+(?=[^,，。;；]{0,200}$))\b[^,，。;；]{0,200}"
    r"|\breplac\w+\b[^,，。;；]{0,200}?\b(?:with|by)\b|\b(?:switch\w*|mov\w+|migrat\w+)\b[^,，。;；]{0,60}?\bfrom\b[^,，。;；]{0,100}?\bto\b|n['’]t\b[^,，。;；]{0,200}"
    r"|(?:因为|由于|而不是|不再|放弃|删除|移除|去掉|弃用|不用)[^,，。;；]{0,200}",
    re.IGNORECASE,
)
_FINALLY = re.compile(
    r"\b(?:finally|in the end|ultimately|final(?:ly)? (?:choice|decision)|going with|settled on)\b|最终|最后(?:决定|采用|选)|改用|改为|改成",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"\b(?:keep(?:ing)?|stay(?:ing)? with|stick(?:ing)? (?:to|with)|back to)\s(?:the |our |using )?[`\"“]?([\w.+-]{2,40}\w)"
    r"|\b(?:us(?:e|ing)|tak(?:e|ing)|with)\s(?:the |our )?[`\"“]?([\w.+-]{2,40}\w)[`\"”]?\s(?:after all|again|anyway)\b|(?:还是(?:用|选)|保留|恢复)\s?[`“\"]?([A-Za-z][\w.+-]{1,40})"
    r"|^\W{0,3}(?:(?:sorry|ok(?:ay)?|actually|yes|no|well)\b\W{1,3}){0,2}(?:please |do ){0,2}use\s(?:the )?[`\"“]?([\w.+-]{2,40}\w)[`\"”]?(?=\W*$)",
    re.IGNORECASE,
)
"""What is taken up again after it was given up …"""
_KEEPS_NOT = re.compile(
    r"(?:\b(?:no|not|never|without|neither|nor|cannot|nowhere|nobody|against|avoid\w*|refus\w+|stop\w*|instead of|rather than)\b|n['’]?t\b)(?! (?:forget|fail|hesitate|mind|only)\b)"
    r"|不(?![错錯如过過妨])|(?<![特区级类分识个性告辨鉴])[别別](?![的人名处忘])|[勿没沒無无]|拒绝|停止|避免",
    re.IGNORECASE,
)
"""… unless one of these stands before it in its clause."""
_CLAUSE_END = re.compile(r"[,;:!?，；：。！？、—–()\n]|\.(?!\w)|\s-\s|\b(?:and|but|so|because|since|then)\b")
_UNSURE = re.compile(UNSURE, re.IGNORECASE)
_HEAD = re.compile(r"[`”\"」』]\s?([\u4e00-\u9fff]{2,6}|[A-Za-z]{4,20})")
"""What a thing is that stands behind its name: a style, an approach, a direction."""
_FOR = re.compile(
    r"\bfor\s([^,.;:，。；\n]{2,60}?)(?=\s(?:because|since|so|as|instead|rather)\b|[,.;:，。；\n]|$)|([做当](?!什么)[^,，。；;\s因]{1,12})",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z0-9_]+(?:[.'’+#-]+[a-z0-9_]+)*|[^\W\da-z_]+")
_BESIDE = frozenset(
    "the a an our my your this that these those it us me we i here any more anymore longer at all after please to be on of for and use using go going with take taking choose choosing pick want need needed add adding"
    " install installing introduce keep keeping stay staying stick sticking back idea approach choice decision plan option solution tool library thing stuff either again then instead entirely completely altogether part"
    " bitte mehr das die der den le la les el los o os это".split()
)
"""What may stand beside a name without saying more than it."""
_HAN_BESIDE = re.compile(
    r"(?:的|了|吧|啦|这个|那个|这种|那种|这|那|方案|做法|方式|方法|选择|决定|想法|思路|保留|恢复|再|来|去|在|是|它|库|は|を|の|で|に|はもう|은|는|을|를|ください|下さい)+"
)

TAKES_CHARS = 32
"""How far before a name stands what takes it."""
END_CHARS = 3
"""By so many characters at its end a word is looked for where there are many."""

_Key: TypeAlias = tuple[str, str]
"""By what a decision is touched: "word", which one of its names begins with, "name", "head", "other" or "against", and which."""


class Withdrawal(Struct, frozen=True, kw_only=True, gc=False):
    """What one text takes back, or one sentence of it."""

    given_up: tuple[str, ...] = ()
    """The words of what it gives up …"""
    unwanted: tuple[str, ...] = ()
    """… and of what is not wanted."""
    heads: frozenset[str] = frozenset()
    """What it decides anew: a style, a direction …"""
    chosen: frozenset[str] = frozenset()
    """… and what it is now."""
    kept: frozenset[str] = frozenset()
    """What it stays with, or comes back to."""
    ordered: frozenset[str] = frozenset()
    """What a user orders to have or to use."""
    turns: str = ""
    """The sentence in which it turns to another of the things of which a project takes one."""


class _Decision(Struct, frozen=True, kw_only=True):
    """What a decision chose."""

    entry: Entry
    names: frozenset[str]
    taken: frozenset[str]
    """Those of the names that it takes, uses or puts something in, and does not only speak of."""
    heads: frozenset[str]
    aims: frozenset[str]
    """The words that say what it is for."""
    others: frozenset[str]
    """What could take its place."""
    against: frozenset[str]
    """What it decided against."""


def withdrawals_in(said: str, *, is_users: bool) -> tuple[Withdrawal, ...]:
    """What a text of a user or of the agent takes back."""
    given_up = given_up_in(said, is_users=is_users)
    unwanted = tuple([each.what for each in given_up if each.how == "unwanted"])
    others = tuple([each.what for each in given_up if each.how != "unwanted"])
    found = [Withdrawal(given_up=others, unwanted=unwanted)] if given_up else []
    if is_users and (ordered := orders_in(said)):
        found.append(Withdrawal(ordered=ordered))
    for start, end in sentences(said):
        sentence = said[start:end]
        if _UNSURE.search(sentence) is not None:
            continue
        if _FINALLY.search(sentence) is not None:
            found.append(Withdrawal(heads=frozenset(_HEAD.findall(sentence)), chosen=_chosen(sentence)))
        spans = [(low - start, high - start) for low, high in (each.span for each in given_up)]
        if kept := _kept(sentence, given_up=spans):
            found.append(Withdrawal(kept=kept))
        if turns_to(sentence):
            found.append(Withdrawal(turns=sentence))
    return tuple(found)


def taken_back(
    entries: Sequence[Entry],
    said: Iterable[tuple[int, str, bool]],
    *,
    read: Mapping[bool, Callable[[str], Sequence[Withdrawal]]],
) -> Iterator[Entry]:
    """The entries, each decision that later words take back, and none after them takes up again, with where they do. `said`: texts in their order, and whether a user said
    them; only those that name what was decided, or what could take its place, are `read`."""
    decisions = [
        _decision(entry)
        for entry in entries
        if entry.section == "decisions"
        and TAKEN_BACK not in entry.text
        and not entry.text.startswith(ANSWERED)  # which may say many things
    ]
    telling = frozenset(
        chain.from_iterable(each.names | each.heads | each.others | each.against for each in decisions)
    )
    by_end = _by_end(telling)
    touched = _by_what_touches(decisions)
    by: dict[str, int] = {}
    for seq, text, is_users in said:
        lowered = text.lower()
        if not _names_one(lowered, by_end, words=telling):
            continue
        for withdrawal in read[is_users](text):
            for each in chain.from_iterable([touched.get(key, ()) for key in _touching(withdrawal)]):
                key = each.entry.key
                if key not in by:
                    if seq > each.entry.seq and _takes_back(withdrawal, each):
                        by[key] = seq
                elif withdrawal.kept & each.names and not _takes_back(withdrawal, each):
                    del by[key]
    for entry in entries:
        at = by.get(entry.key) if entry.section == "decisions" else None
        yield entry if at is None else replace(entry, text=f"{entry.text}{TAKEN_BACK}{at}")


def _by_end(words: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Words under their last characters, those that are shorter under none."""
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(word[-END_CHARS:] if len(word) >= END_CHARS else "", []).append(word)
    return found


def _names_one(text: str, by_end: Mapping[str, Sequence[str]], *, words: Collection[str]) -> bool:
    """Whether one of the words stands in a text. More of them than it has characters are not looked for one by one."""
    if len(words) <= len(text):
        return any([word in text for word in words])
    ends = {"", *(text[at : at + END_CHARS] for at in range(len(text)))}
    return any(word in text for end in ends & by_end.keys() for word in by_end[end])


def _by_what_touches(decisions: Iterable[_Decision]) -> Mapping[_Key, Sequence[_Decision]]:
    """The decisions under each thing by which words may take them back or up again: no text is held against all of them."""
    found: dict[_Key, list[_Decision]] = {}
    for each in decisions:
        words = {(_WORD.findall(name) or [""])[0] for name in each.names}
        told = {
            "word": words,
            "name": each.names,
            "head": each.heads,
            "other": each.others,
            "against": each.against,
        }
        for key in {(how, what) for how, whats in told.items() for what in whats}:
            found.setdefault(key, []).append(each)
    return found


def _touching(withdrawal: Withdrawal) -> Iterator[_Key]:
    """Under what those decisions stand that a withdrawal may speak of; "" is the word of a name of signs alone."""
    given_up = (*withdrawal.given_up, *withdrawal.unwanted)
    if given_up:
        yield "word", ""
    for what in given_up:
        yield from (("word", word) for word in _WORD.findall(what))
    yield from (("name", name) for name in withdrawal.kept)
    yield from (("head", head) for head in withdrawal.heads)
    yield from (("against", name) for name in withdrawal.ordered)
    if withdrawal.turns:
        yield "other", turns_to(withdrawal.turns)


def _decision(entry: Entry) -> _Decision:
    names = _chosen(entry.text)
    aim = _FOR.search(entry.text)
    return _Decision(
        entry=entry,
        names=names,
        taken=_taken(entry.text),
        heads=frozenset(_HEAD.findall(entry.text)),
        aims=frozenset() if aim is None else _telling(aim[1] or aim[2]),
        others=others_of(entry.text),
        against=decided_against(entry.text) - names,
    )


def _kept(sentence: str, *, given_up: Sequence[Span]) -> frozenset[str]:
    """What a sentence takes up again, in small letters: not what it says is not to be, nor what stands where it gives something up."""
    return frozenset(
        [
            (hit[hit.lastindex or 0]).lower()
            for hit in _KEPT.finditer(sentence)
            if _KEEPS_NOT.search(_CLAUSE_END.split(sentence[: hit.start()])[-1]) is None
            and not any(low < hit.end() and hit.start() < high for low, high in given_up)
        ]
    )


def _takes_back(withdrawal: Withdrawal, decision: _Decision) -> bool:
    given_up = (
        *[(what, name) for what in withdrawal.given_up for name in decision.names],
        *[(what, name) for what in withdrawal.unwanted for name in decision.taken],
    )
    if any(_is_given_up(what, name, aims=decision.aims) for what, name in given_up):
        return True
    if withdrawal.ordered:
        return bool(withdrawal.ordered & decision.against) and not withdrawal.ordered & decision.names
    if withdrawal.turns:
        chosen = turns_to(withdrawal.turns)
        return is_other_choice(chosen, withdrawal.turns, earlier=decision.entry.text)
    return (
        bool(withdrawal.heads & decision.heads and withdrawal.chosen and decision.names)
        and not withdrawal.chosen & decision.names
    )


def _is_given_up(what: str, name: str, *, aims: frozenset[str]) -> bool:
    """Whether words name a thing and nothing beside it but what it was chosen for, all of that."""
    if name not in what:
        return False
    said, wanted = _WORD.findall(what), _WORD.findall(name)
    for at in range(len(said) - len(wanted) + 1):
        if said[at : at + len(wanted)] == wanted:
            rest = _telling(" ".join([*said[:at], *said[at + len(wanted) :]]))
            return not rest or rest == aims
    return False


def _telling(words: str) -> frozenset[str]:
    """Words without those that say no more."""
    found = _WORD.findall(words.lower())
    return stems(word for word in found if word not in _BESIDE and _HAN_BESIDE.fullmatch(word) is None)


def _chosen(sentence: str) -> frozenset[str]:
    """The names of what a sentence decides for, in small letters: not those in its reason, nor those that it decides against."""
    told = _NOT_CHOSEN.sub(" ", sentence)
    names = [name.strip().lower() for found in _NAME.findall(told) for name in found]
    return frozenset([name for name in (*names, *map(str.lower, _TAKEN.findall(told))) if name])


def _taken(sentence: str) -> frozenset[str]:
    """The names of what a sentence takes, in small letters."""
    told = _NOT_CHOSEN.sub(" ", sentence)
    hits = [(hit[hit.lastindex or 0], hit.start(hit.lastindex or 0)) for hit in _NAME.finditer(told)]
    names = [name for name, at in hits if _TAKES.search(told, max(0, at - TAKES_CHARS), at) is not None]
    return frozenset([name.strip().lower() for name in (*names, *_TAKEN.findall(told))])
