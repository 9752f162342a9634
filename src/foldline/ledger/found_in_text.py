"""Facts of one text, by what they are: paths, identifiers, numbers with their key, failures, names of code.

Owns the order of the kinds and what all of them read: the text with its line ends laid open, and its words, each
once. How a kind is recognised stands in a module of its own beside this one (`paths_in_text`, `identifiers_in_text`,
`numbers_in_text`, `errors_in_text`, `symbols_in_text`). Knows nothing of messages; what a user asked for is read by
`said_by_user`.

Every step is linear in the text, whatever it holds: words and lines are told apart by the string methods, patterns
run over what is left, and no pattern can fail after a run without a bound.
"""

from __future__ import annotations

import re

from foldline.ledger.errors_in_text import errors_in
from foldline.ledger.facts import Fact
from foldline.ledger.identifiers_in_text import identifiers_in
from foldline.ledger.numbers_in_text import numbers_in
from foldline.ledger.paths_in_text import paths_in
from foldline.ledger.symbols_in_text import symbols_in

_ESCAPE = re.compile(r'\\(?:[nr"]|t(?![a-z]))')
_DRIVE = re.compile(r"(?<![A-Za-z])[A-Za-z]:\\")
_TOKEN = re.compile(r"[A-Za-z0-9_]+")


def extract(text: str) -> tuple[Fact, ...]:
    """Facts of a text: kind after kind in the order of `facts.KINDS`, each kind in order of first occurrence, each
    fact once. A number counts once for each of its values.

    The `text` of each fact stands in `text` as it is. About 25 MB/s on the output of tools.
    """
    opened = laid_open(text)
    words = tuple(dict.fromkeys(opened.split()))
    tokens = tuple(dict.fromkeys(_TOKEN.findall("\n".join(words))))
    return (
        *paths_in(words),
        *identifiers_in(words, tokens),
        *numbers_in(text, opened),
        *errors_in(text, opened),
        *symbols_in(opened, tokens),
    )


def laid_open(text: str) -> str:
    """The text with escaped line ends and quotes (JSON within a string) turned into real ones and carriage returns
    into line ends. Every character keeps its place. Text with a Windows drive is left alone: `C:\\new` is no escape."""
    if "\r" in text:
        text = text.replace("\r", "\n")
    if "\\" not in text or _DRIVE.search(text):
        return text
    return _ESCAPE.sub(_plain, text)


def _plain(match: re.Match[str]) -> str:
    return " \n" if match[0][1] in "nr" else ' "' if match[0][1] == '"' else "  "
