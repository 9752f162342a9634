"""Numbers in a text, each with its key: `port=8787`, `"latency_ms": 12`, `took 137 ms`, `12 passed`, `端口 8080`.

A number without a key says nothing and is left out, and so are dates, times, versions and hashes. The key is the word
before the number, past words that only connect (`timeout is 30`); without one it is the noun behind it. Knows only
the text.

A pattern that starts with the key would be tried at every letter. So the text is read backwards: from the last digit
to the first, over what separates, to the key; most places fail at their first character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from foldline.ledger.facts import INITIALS, VALUE, Fact, Named
from foldline.ledger.shapes import shape_of
from foldline.ledger.values_changed import Place, changes_in, with_changes

KEY_CHARS_MAX = 48
"""A longer key is cut at its left."""
NUMBERS_MAX = 4_096
"""Numbers of one form kept of one line, the last ones."""
NUMBER_CHARS_MAX = 26
UNIT_POINT = "·"
"""Between a number and its unit in a value, which holds no blank: both are words of their own."""
_INITIAL = INITIALS["numbers"]
_JOIN_CHARS_MAX = 13
LISTED_CHARS_MAX = 16
_STEPS_MAX = 2
"""Words that only connect, between a key and its number."""

_BACKWARDS = re.compile(
    r"(0(?<![0_<>&|#~^*@\\]0)(?<!0[.,]0)[0.,_]{0,24}+(?:-0{1,7})?(?:[-+](?=[ =:]{0,2}[=:]))?)"  # last digit first
    r"((?:(?:=(?=[<>]))?[$€£¥~<>≥≤`\"']{0,2}[ =:]{1,3}(?:\( ?)?|\( ?(?= ))[`\"')\]*:]{0,3} ?)"
    r"(?!0{1,4}(?![\w.-]))([\w.-]{1,48})"
)
_HASH = re.compile(r"(?=[a-f]*0)[0a-f]{7,40}")
"""A hash in the shape of a text, where every digit is a zero: what stands behind it is not its value."""
_KEY_BACKWARDS = re.compile(r"[ ]([\w.-]{2,48})")
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:[_,]\d{3}){0,6}(?:\.\d{1,18})?(?:-\d{1,7})?")
_ENDS = frozenset(["", *"\n,)}];\"'"])
_GOES_ON = frozenset("_<>&|#~^*@\\")
"""Behind a number, what makes it part of something else (`2>&1`)."""
_POINTS = frozenset(".-/:")
"""The same where a word goes on behind it, or behind `:` a number."""
_NOUN = re.compile(r"[A-Za-z][a-z-]{2,24}")
_HOLDS = frozenset("_.-/:#")
"""Before a number, what makes it part of something else."""
_CJK_UNIT = (
    "毫秒|微秒|纳秒|秒|分钟|小时|美元|公里|厘米|毫米|千克|公斤|个月|[天周月年元度米克倍兆万亿초분원]|시간"
)
_UNIT = re.compile(rf" ?(?:(%|[$€£¥°]|[A-Za-zµμ]{{1,8}})(?:/[A-Za-z]{{1,3}})?(?![\w])|(?:{_CJK_UNIT}))")
_SIGNS = frozenset("$€£¥~<>≥≤")
"""Before a number: without it the number says something else."""
_BOUNDS = ("=>", "=<")
"""The same of two characters, read backwards."""
_WIDE = "０１２３４５６７８９＝−"
_PLAIN = str.maketrans(_WIDE, "0123456789=-")
"""Digits and signs of other scripts; every character keeps its place."""
_CJK_NUMBER = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af][ :：=（(]{0,2}([0-9]{1,18}(?:,[0-9]{3}){0,5}(?:\.[0-9]{1,18})?)(?![0-9.:/-])"
    rf"( ?(?:%|[A-Za-z]{{1,4}}(?![A-Za-z])|{_CJK_UNIT}|[\u3400-\u9fff\uac00-\ud7af])?)"
)
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_SPELLED = re.compile(
    r"(?<![\w.])(?:0x[0-9a-fA-F]{1,8}|[-+]?\d{1,18}(?:\.\d{1,18})?[eE][-+]\d{1,3}"
    r"|[-+]?(?:\d{1,3}|\d{1,18}\.\d{1,18})[eE]\d{1,2}|(?:[01]?\d|2[0-3]):[0-5]\d)(?![\w.:])"
)
"""A number with sixteen digits, of which a longer one is an address or a hash; one with an exponent; a time of the day."""
_SPELLED_AT = re.compile(r"0(?:x|(?:[eE][-+]?0{1,3}|:00)(?![\w.:]))")
"""What stands in the shape of each, from the digit before the sign on."""
_SPELLED_KEY_BACKWARDS = re.compile(r"[\"']? ?[=:][\"']? ?([\w.-]{1,48})")
_TIMED_KEY_BACKWARDS = re.compile(
    r"[\"']?(?: [=:]|[=:] | ?= ?|(?: (?:si|ta|yb|ot|litnu|erofeb|morf|retfa)){1,2} )[\"']?([\w.-]{1,48})"
)
"""Behind a name and a colon alone stand a line and a column."""
_CJK_SCALE = re.compile(_CJK_UNIT)
_CJK_JOINS = re.compile(r"[的是为為在了把将將到至有共约約等从從与與和及第被由だはがをにの은는이가을를의]")

UNITS = frozenset(
    "ns us µs μs ms s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days week weeks month "
    "months year years b kb mb gb tb kib mib gib tib k m g bytes byte bits bit px pt em rem vh vw hz khz mhz ghz "
    "tokens token chars characters lines line rows times x % fps rpm qps rps km cm mm kg usd eur cny"
    " $ € £ ¥ °".split()
)
_COUNTED = frozenset("tokens token chars characters lines line rows times".split())
_DURATIONS = frozenset(
    f"{UNIT_POINT}{unit}" for unit in "ns us µs ms s sec secs seconds min mins minutes h hours".split()
)
_MEASURES = frozenset("px pt em rem vh vw ms us ns kb mb gb hz fps deg".split())
"""Units that stand before the next number in lists (`4px 8px`)."""
_JOINS = frozenset(
    "is was are were be been to of at by for in on only about around exactly over under above below than from up "
    "went goes gone down as and or the a an with per approximately roughly just now still nearly almost least most equals".split()
)
_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())
_NO_KEY = _MONTHS | frozenset(
    "january february march april june july august september october november december"
    " that this these those than then into onto instead within without between during before after until since each every"
    " both any another its my your our their his her if when while where which because not no already also even again"
    " necessarily can could should would must will does did do"
    " step steps task subtask subtasks panel row phase part chapter section figure fig table item option example slide".split()
)
"""Words that say nothing of a number behind a blank: words that only join, and what counts the pieces of a text. Behind `=` or
`:` they are keys like others."""
_MODE = re.compile(r"[dlbcps]?-?(?:[r-][w-][xst-]){1,2}[r-]?[w-]?[xst]?")
"""Of a file in a listing, without the signs at its ends."""
_LISTED = re.compile(
    rf"(?:[rwxst-]{{6,10}}[.+@]?|(?:{'|'.join(sorted(_MONTHS))}) {{1,2}}\d{{1,2}}) {{1,3}}$", re.IGNORECASE
)
"""What stands in a listing before the number of links, or before the year."""
_NO_NOUN = (
    _JOINS
    | _NO_KEY
    | frozenset(
        "if it this that then but so not no we you they he she i will would can could should may might has have had do "
        "does did when while where which who what because more less other others such between into out".split()
    )
)

Stated: TypeAlias = tuple[int, Named]
"""Where a number is stated, and the number."""
Key: TypeAlias = tuple[int, int]
"""Of a key: its characters, and those from its start to the end of the word before the number."""


def numbers_in(text: str, opened: str) -> tuple[list[Stated], list[Stated], list[Stated]]:
    """The numbers behind a key (`port=80`), before a noun (`80 ports`) and in East Asian script (`端口 80`), each from the last in
    the text to the first. `opened` is `text` with escapes laid open, character by character; what a fact quotes comes from
    `text`."""
    if not opened.isascii() and any(map(opened.__contains__, _WIDE)):
        opened = opened.translate(_PLAIN)
    shape = shape_of(opened)
    keyed = with_changes(opened, _keyed_places(opened, shape), measured=_measured)
    changes = [] if opened.isascii() else changes_in(opened, measured=_measured)
    ends = {place[3] for place in changes}
    if changes:  # the word that says so is no key
        keyed = [place for place in keyed if place[3] not in ends]
    if spelled := [*_spelled_places(opened, shape), *[place for place in changes if place[0].isascii()]]:
        keyed = sorted([*keyed, *spelled], key=_span_of, reverse=True)
    nouned = _nouned_places(opened, shape)
    taken = {place[3] for place in keyed} if nouned else ()
    apart = [place for place in nouned if place[3] not in taken and place[3] - len(place[0]) - 1 not in taken]
    cjk = [place for place in _cjk_places(opened) if place[3] not in ends]
    if east := [place for place in changes if not place[0].isascii()]:
        cjk = sorted([*cjk, *east], key=_span_of, reverse=True)
    return _stated(text, keyed), _stated(text, apart), _stated(text, cjk)


def _stated(text: str, places: Iterable[Place]) -> list[Stated]:
    """The numbers at these places, each with its name."""
    return [
        (
            start,
            (
                f"{_INITIAL}{key}{VALUE}{value}",
                Fact(kind="numbers", key=key, text=text[start:end], value=value),
            ),
        )
        for key, value, start, end in places
    ]


def _nouned_places(text: str, shape: str) -> list[Place]:
    places: list[Place] = []
    at = shape.rfind("0 ")
    while at >= 0:
        noun = _NOUN.match(text, at + 2)
        if noun is not None and (place := _nouned(text, noun)) is not None:
            places.append(place)
        at = shape.rfind("0 ", 0, at)
    return places


def _cjk_places(text: str) -> list[Place]:
    matches = [] if text.isascii() else list(_CJK_NUMBER.finditer(text))
    return [place for match in reversed(matches) if (place := _cjk(text, match)) is not None]


def _keyed_places(text: str, shape: str) -> Iterator[Place]:
    """The expressions read the shape of the text, where every digit is a zero."""
    size = len(text)
    keys: dict[str, Key | None] = {}
    names: dict[str, str] = {}
    """Each key once: they are few and said often."""
    for match in _BACKWARDS.finditer(shape[::-1]):
        between, word = match.group(2, 3)
        if word in keys:
            key = keys[word]
        else:
            key = _key(match, name := word[::-1])
            if name.lower() not in _JOINS:  # else the key stands further back
                keys[word] = key
        if key is None or (key[0] == 1 and "=" not in between and ":" not in between):
            continue
        stop = size - match.start()
        behind_key, behind_number = match.span(2)
        value = text[size - behind_key : stop]
        if len(value) == 13 or not value.isdigit():
            value = _value(value)
        end = stop if text[stop : stop + 1] in _ENDS else _end_of(text, stop)
        if not value or end is None:
            continue
        start = size - behind_number - key[1]
        name = text[start : start + key[0]]
        name = names.setdefault(name, name)
        if not ("=" in between or ":" in between) and _says_nothing(name, text[stop : stop + 4]):
            continue
        scale = _scale(text[stop:end]) if end > stop else ""
        value = _sign(between) + value
        if (
            key[1] > len(word)
            and scale.lower() in _DURATIONS
            and re.match(r"\d ", text[max(0, start - 2) : start])
        ):
            start += key[1] - len(word)  # of `12 passed in 4 s` the 4 is no count of what passed
            name = text[start : start + len(word)]
        else:
            value += scale
        if text[start - 1 : start] == '"' == text[start + len(name)]:
            start -= 1
        yield name, value, start, end


def _sign(between: str) -> str:
    """The sign that belongs to a number, of what stands before it, read backwards."""
    if between[:2] in _BOUNDS:
        return between[1::-1]
    return between[0] if between[0] in _SIGNS else ""


def _says_nothing(name: str, behind: str) -> bool:
    """Whether a word before a number and a blank is no key of it, or the number the size of a file in a listing: a month is
    behind it."""
    return name.lower() in _NO_KEY or behind[1:].lower() in _MONTHS or _MODE.fullmatch(name) is not None


def _spelled_places(text: str, shape: str) -> Iterator[Place]:
    """Numbers that are written with other than their digits, each behind its key."""
    for spelled in _SPELLED_AT.finditer(shape):
        at = spelled.start()
        piece = text[max(0, at - NUMBER_CHARS_MAX) : at + 1] if spelled[0] != "0x" else ""
        start = at + bool(piece) - len(piece) + len(piece.rstrip("0123456789.+-"))
        number = _SPELLED.match(text, start)
        if number is not None and (place := _behind_key(text, number)) is not None:
            yield place


def _behind_key(text: str, number: re.Match[str]) -> Place | None:
    start = number.start()
    before = text[max(0, start - KEY_CHARS_MAX - 4) : start][::-1]
    key = (_TIMED_KEY_BACKWARDS if ":" in number[0] else _SPELLED_KEY_BACKWARDS).match(before)
    if key is None or key[1].lower() in _JOINS:
        return None
    return key[1][::-1], number[0], start - key.end(), number.end()


def _span_of(place: Place) -> tuple[int, int]:
    return place[2:]


def _measured(text: str, stop: int) -> tuple[int, str]:
    """Where the number that stops there ends with its unit, and its unit."""
    end = _end_of(text, stop) or stop
    return end, _scale(text[stop:end])


def _value(number: str) -> str:
    """The number itself, empty for a list, a version, a time in milliseconds."""
    if not number.isdigit():
        number = number.lstrip(".,_")
        return number if _NUMBER.fullmatch(number) is not None else ""
    return "" if len(number) == 13 and number[0] == "1" else number


def _scale(unit: str) -> str:
    """The unit behind a number, without which it says something else, apart from the number by a point; empty for what is
    only counted."""
    unit = unit.strip()
    if unit.lower() in _COUNTED:
        return ""
    return f"{UNIT_POINT}{unit}" if unit[:1].isalpha() else unit


def _end_of(text: str, stop: int) -> int | None:
    """Where the number that stops at `stop` ends with its unit; `None` when it goes on as something else."""
    first, second = text[stop : stop + 1], text[stop + 1 : stop + 2]
    if first in _POINTS:
        return None if second.isdigit() or (first != ":" and second.isalnum()) else stop
    unit = _UNIT.match(text, stop)
    if unit is not None and (unit[1] is None or unit[1].lower() in UNITS):
        return unit.end()
    return None if first.isalnum() or first in _GOES_ON else stop


def _key(match: re.Match[str], key: str) -> Key | None:
    """The key of a number, given the word before the number."""
    stop = match.start(3)
    backwards = match.end(3)
    for _ in range(_STEPS_MAX):
        if len(key) > _JOIN_CHARS_MAX or key.lower() not in _JOINS:
            break
        step = _KEY_BACKWARDS.match(match.string, backwards)
        if step is None:
            return None
        key, backwards = step[1][::-1], step.end()
    bare = key.lstrip(".-0123456789")
    backwards -= len(key) - len(bare)
    bare = bare.rstrip(".-")
    if ".." in key or _HASH.fullmatch(key) is not None:
        return None
    if len(bare) <= _JOIN_CHARS_MAX and (not bare or bare.lower() in _JOINS or bare in _MEASURES):
        return None
    return len(bare), backwards - stop


def _nouned(text: str, match: re.Match[str]) -> Place | None:
    noun = match[0]
    end = match.start() - 1
    piece = text[max(0, end - NUMBER_CHARS_MAX) : end]
    start = end - len(piece) + len(piece.rstrip("0123456789.,"))
    number = text[start:end].lstrip(".,")
    before = text[start - 1 : start]
    if len(number) < end - start or before.isalnum() or before in _HOLDS:
        return None
    if noun.lower() in _NO_NOUN or noun.lower() in UNITS or _NUMBER.fullmatch(number) is None:
        return None
    if _LISTED.search(text, max(0, start - LISTED_CHARS_MAX), start) is not None:
        return None
    return noun, number, start, match.end()


def _cjk(text: str, match: re.Match[str]) -> Place | None:
    stop = match.start() + 1
    run = _CJK_RUN.match(text[max(0, stop - KEY_CHARS_MAX) : stop][::-1])
    if run is None:
        return None
    joined = run[0][::-1]
    pieces = [piece for piece in _CJK_JOINS.split(joined) if piece]
    if not pieces:
        return None
    key = pieces[-1]
    end = match.end() - len(match[2]) + len(match[2].rstrip())
    unit = match[2].strip()
    is_scale = unit.lower() in UNITS or _CJK_SCALE.fullmatch(unit) is not None
    value = match[1] + (_scale(unit) if is_scale else "")
    return key, value, stop - len(joined) + joined.rindex(key), end
