"""One line of text: flat, and cut where it is too long.

What everything goes through that stands on a line of the ledger. Knows nothing of what a line says.
"""

from __future__ import annotations

import re

OUTCOME_CHARS = 160

_BREAKS = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
"""Everything that some reader takes for the end of a line."""


_OPENING = re.compile(r"(?:<[a-z_]{2,30}>){0,4}")
_CLOSING = re.compile(r"</[a-z_]{2,30}>")


def unbroken(text: str) -> str:
    """Text that ends no line: what a file or a tool is called cannot open a heading or an entry of its own."""
    return text if text.isprintable() else _BREAKS.sub(" ", text)


def one_line(text: str, chars: int) -> str:
    """Text with its white space collapsed, cut at a word where it is longer."""
    flat = " ".join(text[: chars * 4].split())
    if len(flat) <= chars and len(text) <= chars * 4:
        return flat
    cut = flat[: chars - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[chars // 2 :] else cut).rstrip() + "…"


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line for line in text[-4000:].splitlines() if line.strip()]
    return one_line(untagged(lines[-1]), OUTCOME_CHARS) if lines else "no output"


def untagged(line: str) -> str:
    """A line without the tags at its ends that a host put around what a tool said."""
    said = line.strip()
    opening = _OPENING.match(said)
    said = said[opening.end() :] if opening is not None else said
    while (at := said.rfind("<")) > 0 and _CLOSING.fullmatch(said, at) is not None:
        said = said[:at]
    return said


def unticked(said: str) -> str:
    """What stands between back quotes, without any of its own."""
    return said.replace("`", "'")
