"""In brief: what tools did to the world, tool by tool, where there is no room to tell it call by call.

What was looked up can be looked up again, and what was changed must not be changed twice: that something was booked, and how often, is
said in a target of any size. One line is an entry like others, so that a later ledger carries it on. Knows entries and the names
of tools; `render` says which entries find no room.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from posixpath import commonpath

from msgspec.structs import replace

from foldline.core.message import ToolCall
from foldline.core.view import Item
from foldline.ledger.actions import bearing_of
from foldline.ledger.book import is_of_tasks, kind_of_call
from foldline.ledger.entries import Entry
from foldline.ledger.marks import between

LINES_MAX = 4
"""Tools that are told so, those that acted last."""
FILES_MIN, FILES_MAX = 6, 32
"""So many files that `sed` changed are told in one line, and so many of them by name."""
_BY_SED = re.compile(r"(?P<path>[^`]{1,512}) edited, by sed: (?P<script>`[^`]{1,80}`)$")
_TOOL = re.compile(r"`([^` ]{1,100})")
_BRIEF = re.compile(r"`[^` ]{1,100}` → (?:done|answered)$")


def is_act(entry: Entry) -> bool:
    """Whether an entry tells what a tool did that acts, as its name says."""
    tool = _TOOL.match(entry.text) if entry.section == "mutations" else None
    return tool is not None and bearing_of(tool[1]) == "acts"


def is_brief(entry: Entry) -> bool:
    """Whether an entry tells all that a tool did in one line."""
    return is_act(entry) and _BRIEF.match(entry.text) is not None


def in_brief(entries: Sequence[Entry], without: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries, those that find no room tool by tool, with what an earlier ledger says so: how often it acted, and when last."""
    left: dict[str, list[Entry]] = {}
    told = {id(entry): entry for entry in (*without, *filter(is_brief, entries))}
    for entry in sorted(told.values(), key=lambda entry: entry.seq):
        found = _TOOL.match(entry.text)
        if found is not None:
            left[found[1]] = [*left.pop(found[1], []), entry]
    newest = dict(list(left.items())[-LINES_MAX:])
    gone = {id(entry) for every in newest.values() for entry in every}
    stay = [entry for entry in entries if id(entry) not in gone]
    return (*stay, *(_all_of(tool, every) for tool, every in newest.items()))


def _all_of(tool: str, told: Sequence[Entry]) -> Entry:
    done = all("` → ok" in entry.text or entry.text.endswith("` → done") for entry in told)
    return replace(
        told[-1],
        key=tool,
        text=f"`{tool}` → {'done' if done else 'answered'}",
        times=sum(entry.times for entry in told),
    )


def brief_of(items: Iterable[Item], carried: Iterable[Entry]) -> list[str]:
    """About the lines that the calls of the items take at least, with the entries of earlier ledgers, one a tool that acts."""
    acts = Counter(
        [
            part.name
            for item in items
            for part in item.message.parts
            if type(part) is ToolCall
            and bearing_of(part.name) == "acts"
            and not is_of_tasks(part)
            and kind_of_call(part) == "other"
        ]
    )
    acts.update([found[1] for entry in carried if is_act(entry) and (found := _TOOL.match(entry.text))])
    return [f"- `{tool}` → answered (m1000 tool ×{times})" for tool, times in acts.items()][-LINES_MAX:]


def seds_together(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries, files that `sed` changed in one where they are many: where they stand, and with what the last of them."""
    found = {id(entry): match for entry in entries if (match := _by_sed(entry)) is not None}
    if len(found) < FILES_MIN:
        return tuple(entries)
    told = sorted([entry for entry in entries if id(entry) in found], key=lambda entry: entry.seq)
    paths = [found[id(entry)]["path"] for entry in told]
    folder = f"{commonpath(paths)}/" if len({path.startswith("/") for path in paths}) == 1 else ""
    names = [path.removeprefix(folder) for path in paths[: -FILES_MAX - 1 : -1]]
    more = " …" if len(paths) > FILES_MAX else ""
    key = f"{between(told[0].seq, told[-1].seq)}: {len(told)} files"
    below = f"below {folder}: " if folder.strip("/") else ""
    text = f"{key} edited, by sed: {below}{' '.join(names)}{more}; last {found[id(told[-1])]['script']}"
    one = replace(told[-1], key=key, text=text, times=1)
    return tuple(
        [
            one if entry is told[-1] else entry
            for entry in entries
            if id(entry) not in found or entry is told[-1]
        ]
    )


def _by_sed(entry: Entry) -> re.Match[str] | None:
    return _BY_SED.match(entry.text) if entry.section == "mutations" else None
