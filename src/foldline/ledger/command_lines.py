"""Command lines: whether the status that a host states is that of the command a line is known by.

Reads a shell's line as far as that takes: quotes, substitutions, heredocs, comments and what joins commands. Knows nothing
of results; `outcomes` does. Where it cannot tell, the status is hidden: an outcome too few is better than one too many.
"""

from __future__ import annotations

import re

from msgspec import Struct

CHARS_MAX = 20_000
"""A longer line hides its status."""
DEPTH_MAX = 3
"""How deep a shell may be called from a shell's line."""

_TOKEN = re.compile(
    r"\\[\s\S]"
    r"|'[^']*'"
    r"|\"(?:\\[\s\S]|[^\"\\])*\""
    r"|`[^`]*`"
    r"|(?:(?<=\s)|(?<![\s\S]))#[^\n]*"
    r"|<<<"
    r"|<<-?\s?(?P<quote>['\"]?)(?P<here>\w+)(?P=quote)"
    r"|\d?>&\d?-?|<&\d?-?|&>>?|>>?\|?"
    r"|\$\(\(|\$\(|\$\{[^}\n]{0,200}\}"
    r"|(?P<join>&&|\|\||\|&|;;|[;|&\n])"
    r"|[()]",
)
_ERREXIT = re.compile(r"set\s+(?:-\w*e\w*|-o\s+errexit)\b")
_PIPEFAIL = re.compile(r"\bset\s{1,8}(?:-\w{1,16}\s{1,8}){0,8}-\w{0,16}o\s{1,8}pipefail\b")
_TRIVIAL = re.compile(
    r"(?:(?:cd|pushd|popd|export|source|\.|set|shopt|unset|ulimit|umask|alias|echo|printf|pwd|sleep|date|clear|true|:)(?=\s|$)[\s\S]*"
    r"|\w+=\S*)$"
)
"""Commands before another that nobody asks the outcome of."""
_GIVES_UP = re.compile(r"\s*(?:false|(?:exit|return)\s+[1-9]\d{0,2})\s*$")
"""What may follow `||` and still end with a failure."""
_SHELL = re.compile(
    r"(?:^|[\s/])(?:ba|da|z|k|a)?sh(?:\s+-\w+)*\s+-\w*c\s+(?P<script>'[^']*'|\"(?:\\[\s\S]|[^\"\\])*\"|.+$)"
)
_KEYWORD = re.compile(r"\s*(?:for|while|until|if|case|select|!|function)(?=\s|$)")
_PIPES = ("|", "|&")


class _List(Struct):
    """Commands joined by `&&`, `||` and pipes, up to a `;`, a line break or a `&`."""

    pieces: list[tuple[str, str]] = []
    """What joins a command to the one before, and the command."""
    in_background: bool = False


def hides_status(line: str, *, depth: int = 0) -> bool:
    """True where status 0 does not say that every command of the line went well: behind a pipe, where others follow
    whatever it came to (`;`, a line break, `||`), in the background, in a loop or a condition."""
    if len(line) > CHARS_MAX or depth > DEPTH_MAX:
        return True
    script = _SHELL.search(line)
    if script is not None and hides_status(_unquoted(script["script"]), depth=depth + 1):
        return True
    lists = _lists(line)
    if not any(_ERREXIT.match(found.pieces[0][1].strip()) for found in lists):
        while len(lists) > 1 and _is_trivial(lists[0]):
            lists = lists[1:]
        if len(lists) > 1:
            return True
    pipefail = _PIPEFAIL.search(line) is not None
    return not all(_tells(found, pipefail=pipefail) for found in lists)


def _is_trivial(found: _List) -> bool:
    return all(_TRIVIAL.match(command.strip()) for _, command in found.pieces)


def _tells(found: _List, *, pipefail: bool) -> bool:
    """True where status 0 of a list is that of each of its commands."""
    if found.in_background or any(_KEYWORD.match(command) for _, command in found.pieces):
        return False
    return all(
        (join not in _PIPES or pipefail) and (join != "||" or _GIVES_UP.match(command) is not None)
        for join, command in found.pieces
    )


def _lists(line: str) -> list[_List]:
    """The lists of a line in order, empty ones left out. Linear in the line."""
    lists: list[_List] = []
    now, join, command = _List(pieces=[]), "", ""
    inside = at = 0
    here: list[str] = []
    while (token := _TOKEN.search(line, at)) is not None:
        command += line[at : token.start()]
        at = token.end()
        text = token[0]
        if token["here"]:
            here.append(token["here"])
        elif text in ("$(", "$(("):
            inside += len(text) - 1
        elif text == ")" and inside:
            inside -= 1
        elif token["join"] is None or inside:
            command += text if text not in "()" else " "
        else:
            if command.strip():
                now.pieces.append((join, command))
            join, command = text, ""
            if text in ("&", ";", ";;", "\n"):
                now.in_background = text == "&"
                lists += [now] if now.pieces else []
                now, join = _List(pieces=[]), ""
            if text == "\n":
                at, here = _behind(line, at, here=here), []
    command += line[at:]
    if command.strip():
        now.pieces.append((join, command))
    return [*lists, now] if now.pieces else lists


def _behind(line: str, at: int, *, here: list[str]) -> int:
    """Where a line goes on behind the texts that its heredocs bring."""
    for word in here:
        end = re.compile(rf"^\s*{re.escape(word)}\s*$", re.MULTILINE).search(line, at)
        at = end.end() if end is not None else len(line)
    return at


def _unquoted(script: str) -> str:
    if script[:1] == script[-1:] == "'":
        return script[1:-1]
    return re.sub(r"\\([\"\\$`])", r"\1", script[1:-1]) if script[:1] == script[-1:] == '"' else script
