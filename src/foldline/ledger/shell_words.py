"""Shell words: what a command says word by word, where its output goes, and what text its line brings it.

Reads quotes, redirections, heredocs and the variables that a line sets for itself. Knows no commands; `shell_changes` does, and
`command_lines` what joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

_PIECE = re.compile(
    r"(?P<to>(?<![\w)])[1&]?>>?\|?|>>?\|?)(?!&)\s*|(?P<other>\d>&\d?-?|>&\d?-?|\d>>?|<<<|<<-?|<)\s*"
    r"|(?P<word>(?:[^\s'\"\\<>]|\\[\s\S]|'[^']*'|\"(?:\\[\s\S]|[^\"\\])*\")+)"
)
_QUOTES = re.compile(r"'([^']*)'|\"((?:\\[\s\S]|[^\"\\])*)\"|\\([\s\S])")
_SET = re.compile(r"(\w{1,40})=(\S*)$")
_VARIABLE = re.compile(r"\$\{?(\w{1,40})\}?")
_HEREDOC = re.compile(r"(?<!<)<<-?\s?['\"]?(\w{1,40})['\"]?")


class Words(Struct):
    """A command as its shell reads it."""

    said: list[str] = []
    targets: list[tuple[str, str]] = []
    """Where its output goes, each with how."""
    hides_errors: bool = False
    """Whether what it says of a failure goes elsewhere than its output."""


def words_of(command: str, names: dict[str, str]) -> Words:
    """The words of a command; a variable that it sets for the rest of its line goes to `names`."""
    read = Words(said=[], targets=[])
    into = ""
    for piece in _PIECE.finditer(command):
        if piece[0].startswith("#"):
            break
        if piece["word"] is None:
            into = _redirected(piece, read)
            continue
        word = _plain(piece["word"], names)
        if not into:
            read.said.append(word)
        elif ">" in into and "&" not in into[1:] and into[:1] not in "023456789":
            read.targets.append((into, word))
        into = ""
    settings = [_SET.match(word) for word in read.said]
    if all(settings):  # of the line, not of one command
        names |= {found[1]: found[2] for found in settings if found is not None}
        read.said = []
    return read


def _redirected(piece: re.Match[str], read: Words) -> str:
    """How what goes where the next word says goes there; empty where no word belongs to it (`2>&1`)."""
    into = (piece["to"] or piece["other"]).strip()
    is_joined = into[-1:].isdigit() or into.endswith("-")
    if into.startswith(("2>", "&>", ">&")) and (not is_joined or (into.endswith(">&1") and read.targets)):
        read.hides_errors = True
    return "" if is_joined else into


def _plain(word: str, names: Mapping[str, str]) -> str:
    """A word as the shell reads it; a sign of the unknown stays in it where it cannot be told."""
    if "'" not in word and "$" in word:
        word = _VARIABLE.sub(lambda found: names.get(found[1], found[0]), word)
    return _QUOTES.sub(lambda found: found[1] if found[1] is not None else (found[2] or found[3] or ""), word)


def heredocs(script: str) -> Iterator[tuple[str, str]]:
    """Each line that brings a text, up to where it says so, with the text. Linear: one that does not end is the last."""
    lines = script.split("\n")
    at = 0
    while at < len(lines):
        found = _HEREDOC.search(lines[at])
        at += 1
        if found is not None:
            end = next((n for n in range(at, len(lines)) if lines[n].strip() == found[1]), len(lines))
            yield lines[at - 1][: found.start()], "\n".join(lines[at:end])
            at = end + 1
