"""Shortening one text: head and tail kept, the cut marked, nothing split that belongs together.

Knows characters, not tokens or messages: a caller that thinks in tokens brings a measure. A cut never falls inside
a terminal escape sequence, a surrogate pair, or between a character and what modifies it; JSON stays JSON
(`foldline.core.clamp_json`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

SEQUENCE_MAX = 2_100
"""Longest terminal escape sequence looked for around a cut, in characters: a hyperlink with its address."""
GRAPHEME_MAX = 64
"""Most characters a cut moves to keep together what is read as one; real text joins some ten at most."""
STEPS_MAX = 6
"""Most measurements to find a cut by an outside measure."""
CHARS_PER_UNIT = 4.0
"""Where nothing better is known, characters for one unit of an outside measure: a token of English or code."""
FIT_AIM = 0.99
"""Share of the limit that a guess after a miss aims at, so that few miss again …"""
FIT_ENOUGH = 0.97
"""… and from here on the next guess is not worth a measurement."""

_CONTROL = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,16}[@-~]"  # CSI: colours, cursor movement
    r"|\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)"  # OSC: titles, hyperlinks
    r"|\x1b[PX^_][^\x1b]{0,2048}\x1b\\"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]{0,4}[0-~]"
)
_SEQUENCE_START = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?\Z")

Measure = Callable[[str], int]


def plain(text: str) -> str:
    """Terminal output as a person would have seen it: escape sequences gone, and of each line redrawn with carriage
    returns the first and the last state. Linear in the text; ordinary text comes back as the same object."""
    if "\x1b" in text:
        text = _CONTROL.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            text = "\n".join(map(_settle, text.split("\n")))
    return text


def _settle(line: str) -> str:
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state.strip()]
    if len(states) <= 1:
        return states[0] if states else ""
    return states[0] if states[0] == states[-1] else f"{states[0]}\n{states[-1]}"


def head_end(text: str, chars: int) -> int:
    """Where a head of at most `chars` characters ends, moved back to a clean border."""
    if chars >= len(text):
        return len(text)
    return _clean_before(text, max(0, chars))


def tail_start(text: str, chars: int) -> int:
    """Where a tail of at most `chars` characters begins, moved forward to a clean border."""
    if chars >= len(text):
        return 0
    return _clean_after(text, len(text) - max(0, chars))


def _clean_before(text: str, end: int) -> int:
    window = text[max(0, end - SEQUENCE_MAX) : end]
    opened = _SEQUENCE_START.search(window)
    if opened is not None:
        end -= len(window) - opened.start()
    for at in range(end, max(0, end - GRAPHEME_MAX), -1):
        if not _joins(text, at):
            return at
    if end <= GRAPHEME_MAX:
        return 0
    return end - 1 if _is_pair(text, end) else end


def _clean_after(text: str, start: int) -> int:
    escape = text.rfind("\x1b", max(0, start - SEQUENCE_MAX), start)
    if escape >= 0:
        match = _CONTROL.match(text, escape)
        if match is not None and match.end() > start:
            start = match.end()
    for at in range(start, min(len(text), start + GRAPHEME_MAX)):
        if not _joins(text, at):
            return at
    if start + GRAPHEME_MAX >= len(text):
        return len(text)
    return start + 1 if _is_pair(text, start) else start


def _joins(text: str, at: int) -> bool:
    """True when a cut before `at` (inside the text) would tear what is read as one: pairs, marks, joined emoji, flags."""
    after, before = text[at], text[at - 1]
    if after < "\x80" and before < "\x80":
        return False
    return (
        _is_pair(text, at)
        or after == "\u200d"
        or before == "\u200d"
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # tags of flags
        or unicodedata.category(after)[0] == "M"
        or _is_inside_flag(text, at)
    )


def _is_pair(text: str, at: int) -> bool:
    return "\udc00" <= text[at] <= "\udfff" and "\ud800" <= text[at - 1] <= "\udbff"


def _is_inside_flag(text: str, at: int) -> bool:
    """Flags are pairs of regional indicators, counted from where their row begins."""
    start = at
    while start > max(0, at - GRAPHEME_MAX) and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
        start -= 1
    return (at - start) % 2 == 1 and "\U0001f1e6" <= text[at] <= "\U0001f1ff"


def head_and_tail(text: str, head: int, *, tail: int) -> tuple[str, str] | None:
    """The first `head` and last `tail` characters at clean borders; `None` when they cover the text."""
    if head + tail >= len(text):
        return None
    end, start = head_end(text, head), tail_start(text, tail)
    return text[:end], text[start:]


def fit_head(text: str, limit: int, *, measure: Measure, guess: float = CHARS_PER_UNIT) -> int:
    """Characters of the longest head found whose measure is at most `limit`; 0 when none is. `guess`: characters for
    one unit of the measure, to begin with."""
    return _fit(text, limit, measure=measure, cut=lambda n: text[: head_end(text, n)], guess=guess)


def fit_tail(text: str, limit: int, *, measure: Measure, guess: float = CHARS_PER_UNIT) -> int:
    """Characters of the longest tail found whose measure is at most `limit`; 0 when none is. `guess` as above."""
    return _fit(text, limit, measure=measure, cut=lambda n: text[tail_start(text, n) :], guess=guess)


def _fit(text: str, limit: int, *, measure: Measure, cut: Callable[[int], str], guess: float) -> int:
    if limit <= 0 or not text:
        return 0
    low, high = 0, len(text)
    chars = min(high, max(1, int(limit * guess)))
    for _ in range(STEPS_MAX):
        piece = cut(chars)
        size = measure(piece)
        if size <= limit:
            low = max(low, len(piece))
            if chars >= high or size >= limit * FIT_ENOUGH:
                break
        else:
            high = chars
        ratio = max(1, len(piece)) / max(1, size)
        chars = min(high - 1, max(low + 1, int(limit * ratio * FIT_AIM)))
        if chars <= low or chars >= high:
            break
    return low
