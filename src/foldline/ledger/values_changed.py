"""Values that become others in one statement: `max_retries from 3 to 7`, `port: 80 → 90`, `端口从 8080 改为 9090`.

What it became is stated after what it was, so that it leads. Knows only the text and the numbers that were found in it
(`numbers_in_text`). Every pattern starts at a digit or stands at the end of a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

Place: TypeAlias = tuple[str, str, int, int]
"""Key, value, start and end of what is quoted."""

Measured: TypeAlias = Callable[[str, int], tuple[int, str]]
"""Where a number that stops at a place ends with its unit, and the unit as a value has it."""

BEFORE_CHARS = 48
_NUMBER = r"[+-]?\d{1,18}(?:[_,]\d{3}){0,6}(?:\.\d{1,18})?"
_BECAME = re.compile(
    rf"[`\"')]?(?: ?(?:-{{1,2}}>|=>|→|⟶|➜) ?|(?P<to> (?:up |down )?to )|[;,.] (?:and |but )?(?:it is |it['’]s )?now (?:it is |it['’]s )?)[`\"'(]?(?P<value>{_NUMBER})(?![\w/:-]|\.\d)"
)
"""Behind a number."""
_OPENS_BECAME = frozenset("`\"') -=→⟶➜;,.")
"""What it begins with."""
_CHANGES = re.compile(
    r"\bfrom\b|\b(?:chang|rais|bump|lower|increas|decreas|reduc|updat|mov|dropp?|went|adjust|switch|tun|cut|grew|fell|rose|set)\w{0,4}\b",
    re.IGNORECASE,
)
"""Before a number, what makes `to` say that it became another."""
_CJK_BECAME = re.compile(
    rf"(?<![\d.,:])(?P<old>{_NUMBER})(?P<unit> ?[\u3400-\u9fff%]{{0,2}}?| ?[A-Za-z]{{1,4}}) ?(?:(?:修改|更改|调整|调高|调低|提高|提升|增加|降低|减少|缩短|延长|升级|改|调|升|降|增|减|加|变)(?:为|成|到|至)了?|→|->|=>) ?(?P<new>{_NUMBER})(?![\d.:/-]\d)"
)
_CJK_BECOMES = re.compile(r"(?:为了?|成了?|到了?|至了?|→|->|=>) ?[+-]?\d")
"""What stands in the middle of it: a look for that alone costs a tenth."""
_CJK_KEY_BACKWARDS = re.compile(
    r" ?(?:[从由從为是:：=＝] ?)?(?:值的|值)?[`\"']?(?P<key>[A-Za-z0-9_.-]{2,48}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,24})"
)
_CJK_JOINS = re.compile(r"[的是为為在了把将將我你从從由与與和已并]")


def with_changes(text: str, places: Iterable[Place], *, measured: Measured) -> list[Place]:
    """The places, last first, each behind that of the value which it became."""
    told: list[Place] = []
    ends: dict[int, str] = {}
    for place in places:
        key, _, start, end = place
        became = _BECAME.match(text, end) if text[end : end + 1] in _OPENS_BECAME else None
        if became is not None and (
            became["to"] is None or _CHANGES.search(text, max(0, start - BEFORE_CHARS), end)
        ):
            stop, unit = measured(text, became.end("value"))
            told.append((key, became["value"] + unit, start, stop))
            ends[stop] = key
        told.append(place)
    return [place for place in told if ends.get(place[3], place[0]) == place[0]] if ends else told


def changes_in(text: str, *, measured: Measured) -> list[Place]:
    """What East Asian words or an arrow say that became another, last first: the new value, then the old."""
    found: list[Place] = []
    for change in _cjk_changes(text):
        before = text[max(0, change.start() - BEFORE_CHARS) : change.start()][::-1]
        key = _CJK_KEY_BACKWARDS.match(before)
        name = _CJK_JOINS.split(key["key"][::-1])[-1].lstrip("0123456789.-") if key is not None else ""
        if key is None or not name:
            continue
        start = change.start() - key.start("key") - len(name)
        for which in ("old", "new"):
            stop, unit = measured(text, change.end(which))
            found.append((name, change[which] + unit, start, stop))
    return found[::-1]


def _cjk_changes(text: str) -> Iterator[re.Match[str]]:
    """Every `_CJK_BECAME`, none of which reaches over the end of a line."""
    end = 0
    for becomes in _CJK_BECOMES.finditer(text):
        if becomes.start() >= end:
            start = text.rfind("\n", 0, becomes.start()) + 1
            end = text.find("\n", becomes.end())
            end = len(text) if end < 0 else end
            yield from _CJK_BECAME.finditer(text, start, end)
