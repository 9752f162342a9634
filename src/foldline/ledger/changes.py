"""Changes: what an edit does to a file, in a few words: lines that come and go, and the first new one that says something.

Reads the arguments of a call in the shapes that agents give their editors: an old text and a new one, a list of such, a
patch, a whole file. Knows nothing of results; `outcomes` does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from foldline.ledger.lines import one_line

LINE_CHARS = 48
"""What is quoted of a line."""
TEXT_CHARS_MAX = 20_000
"""Of a longer text a line is quoted only where it stands in the beginning; all of it is counted."""
EDITS_MAX = 64

PATH_KEYS = (
    "path",
    "file_path",
    "filename",
    "file",
    "target_file",
    "notebook_path",
    "filepath",
    "absolute_path",
    "filePath",
    "TargetFile",
    "relative_path",
    "pathInProject",
    "target_notebook",
)
"""Under these names a call, or one edit of several, has its file."""
OLD = (
    "old_str",
    "old_string",
    "oldText",
    "old_text",
    "search",
    "oldString",
    "old_content",
    "old_source",
    "TargetContent",
)
NEW = (
    "new_str",
    "new_string",
    "newText",
    "new_text",
    "replace",
    "newString",
    "new_content",
    "new_source",
    "ReplacementContent",
)
_SHARED = frozenset(("search", "replace", "old_text", "new_text", "oldText", "newText"))
"""What tools have, too, that edit no file: those are editors by a word in their name."""
_EDITS = re.compile(r"(?<![A-Za-z])(?:edit|patch|replace)|Edit|Patch|Replace")
WHOLE = ("file_text", "content", "contents", "text", "CodeContent")
EDITS = ("edits", "operations", "replacements", "ReplacementChunks")
"""Under these names a call has a list of edits."""
_PATCH = re.compile(
    r"^(?:\*\*\* (?P<does>Update|Add|Delete) File: (?P<named>[^\n]{1,512})"
    r"|--- (?:a/)?(?P<old>[^\t\n]{1,512})(?:\t[^\n]{0,80})?\n\+\+\+ (?:b/)?(?P<new>[^\t\n]{1,512})(?:\t[^\n]{0,80})?)$",
    re.MULTILINE,
)
"""How a patch names a file: that of Codex, and a unified diff, in two lines: an added line of either may begin as the second does."""
_NO_FILE = "/dev/null"
_SEARCH = re.compile(r"^[-<]{5,9} ?SEARCH>?[ \t]{0,4}$", re.MULTILINE)
_BETWEEN = re.compile(r"={5,9}[ \t]{0,4}$")
_REPLACE = re.compile(r"[+>]{5,9} ?REPLACE[ \t]{0,4}$")
"""What stands around an old text and a new one in the blocks that some editors take …"""
_PLACE = re.compile(r":\w{1,20}:[ \t]{0,4}\d{0,9}$|-{5,9}$")
"""… and the lines that say where a block belongs."""
_DEFINES = re.compile(
    r"(?:(?:export|default|public|private|protected|static|async|pub)\s+){0,4}(?:def|class|function|func|fn|interface|struct|enum|trait|type|impl)\s+\w|<title>"
)
_LINES = re.compile(r"edit (\d{1,9}:\d{1,9})\s*\n([\s\S]*?)\n?end_of_edit\s*$")
"""How an editor is told the lines that it is to replace (SWE-agent)."""
_PLACED = ("replacement_text", "start_line", "end_line")
"""The same in a call's arguments."""
_WORDS = re.compile(r"\w{3}")
_COMMENT = ("#", "//", "/*", "*", '"""', "<!", ":root", "@charset")


def gist_of(arguments: Mapping[str, Any], path: str) -> str:
    """What a call does to the file at `path`, to stand behind that it did so; empty where its arguments do not say."""
    command = arguments.get("command")
    if isinstance(command, str) and (lines := _LINES.match(command[:TEXT_CHARS_MAX])) is not None:
        return _placed(lines[1], lines[2])
    text, first, last = (arguments.get(key) for key in _PLACED)
    if isinstance(text, str) and type(first) is int and type(last) is int:
        return _placed(f"{first}:{last}", text)
    came, went, moved = [], [], []
    added = removed = 0
    for old, new in _texts(arguments, path):
        before, after = _lines(old), _lines(new)
        had, has = Counter(_all_lines(old)), Counter(_all_lines(new))
        added, removed = added + (has - had).total(), removed + (had - has).total()
        came += [line for line in after if line not in before]
        went += [line for line in before if line not in after]
        moved += list(after) if old != new and before == after else []
    if not (came or went):
        return f", indented anew: `{_telling(moved)}`" if _telling(moved) else ""
    told = _telling(came) or _telling(went)
    size = " ".join([f"+{added:,}"] * bool(added) + [f"−{removed:,}"] * bool(removed))
    return f", {size}: `{told}`" if told else f", {size}"


def _placed(lines: str, text: str) -> str:
    """What stands in the place of these lines."""
    told = _telling(list(_lines(text)))
    return f", lines {lines}{f': `{told}`' if told else ''}"


def _texts(arguments: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """The texts that go, each with what comes in its place."""
    for edit in (arguments, *edits_in(arguments)):
        old, new = _text_in(edit, OLD), _text_in(edit, NEW)
        if edit is not arguments and (_text_in(edit, PATH_KEYS) or path).strip() != path:
            continue
        if old or new:
            yield old, new
        elif edit is arguments and (whole := _text_in(edit, WHOLE)) and not _SEARCH.search(whole):
            yield "", whole
    for value in arguments.values():
        if isinstance(value, str) and ("*** " in value or "+++ " in value):
            yield from _patched(value, path)
        if isinstance(value, str) and "SEARCH" in value and _SEARCH.search(value) is not None:
            yield from _blocks(value)


def edits_in(arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The edits of a call that brings a list of them."""
    found: list[Any] = next((arguments[key] for key in EDITS if isinstance(arguments.get(key), list)), [])
    return [edit for edit in found[:EDITS_MAX] if isinstance(edit, dict)]


def is_edit(arguments: Mapping[str, Any], *, name: str = "") -> bool:
    """Whether a call's arguments are those of an editor, and of nothing else if its `name` is not one of an editor: an old text
    and a new one, a list of such, or a block of them. One of both texts is not empty."""
    texts = [value for value in arguments.values() if isinstance(value, str) and "SEARCH" in value]
    own = {key: value for key, value in arguments.items() if key not in _SHARED or _EDITS.search(name)}
    return any(map(_SEARCH.search, texts)) or any(map(_replaces, (own, *edits_in(arguments))))


def _replaces(edit: Mapping[str, Any]) -> bool:
    both = [[edit[key] for key in keys if key in edit] for keys in (OLD, NEW)]
    return all(both) and any(isinstance(text, str) and text for texts in both for text in texts)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The old and the new text of each block `<<<<<<< SEARCH … ======= … >>>>>>> REPLACE`."""
    old: list[str] = []
    new: list[str] = []
    into: list[str] | None = None
    for line in text.split("\n"):
        if _SEARCH.match(line) is not None:
            old, new = [], []
            into = old
        elif into is old and _BETWEEN.match(line) is not None:
            into = new
        elif into is new and _REPLACE.match(line) is not None:
            yield "\n".join(old), "\n".join(new)
            into = None
        elif into is not None and not (into is old and _PLACE.match(line) is not None):
            into.append(line)


def patched_files(patch: str) -> Iterator[tuple[str, bool]]:
    """The files that a patch names, each with whether it goes."""
    if "*** " in patch or "+++ " in patch:
        yield from map(_file_in, _PATCH.finditer(patch))


def _file_in(found: re.Match[str]) -> tuple[str, bool]:
    if found["does"] is not None:
        return found["named"].strip(), found["does"] == "Delete"
    old, new = found["old"].strip(), found["new"].strip()
    return (old, True) if new == _NO_FILE else (new, False)


def _patched(patch: str, path: str) -> Iterator[tuple[str, str]]:
    """What a patch does to one of its files."""
    found = list(_PATCH.finditer(patch))
    ends = [*[one.start() for one in found[1:]], len(patch)]
    for one, end in zip(found, ends, strict=False):
        if _file_in(one)[0] == path:
            lines = patch[one.end() : end].split("\n")
            old, new = ([line[1:] for line in lines if line[:1] == sign] for sign in "-+")
            yield "\n".join(old), "\n".join(new)


def _text_in(holder: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((holder[key] for key in keys if isinstance(holder.get(key), str)), "")


def _all_lines(text: str) -> list[str]:
    """The lines of a text as `git diff --stat` counts them: blank ones too, and none behind the last line's end."""
    return text.removesuffix("\n").split("\n") if text else []


def _lines(text: str) -> dict[str, None]:
    """The lines of a text that say something, each once."""
    return dict.fromkeys(filter(None, map(str.strip, text[:TEXT_CHARS_MAX].split("\n"))))


def _telling(lines: list[str]) -> str:
    """The first line that defines something, or else that is more than a sign or a comment."""
    said = [line for line in lines if _WORDS.search(line) and not line.startswith(_COMMENT)]
    told = next(filter(_DEFINES.match, said), said[0] if said else "")
    return one_line(told.replace("`", "'"), LINE_CHARS)
