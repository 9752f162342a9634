"""The loop guard: what a compaction took out of view and the agent at once got back, by recall or by its own tools.

    … [call read a][result a] │ compaction {clear result a} │ [call read a] …        a was read again

Each such message cost its tokens twice and a round in between: a sign that the compaction took what was still needed, and
that the policy should keep more. A file that was written in between is read again for good reason and does not count.
A pure function over entries (law SAME). Knows calls by what their tools do (`foldline.ledger.tools`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

import msgspec
from msgspec import Struct

from foldline.core.address import is_address, place_in
from foldline.core.edit import Drop, Edit, Fold, Mark, Replace
from foldline.core.entry import Entry
from foldline.core.errors import UnknownAddress, UnknownFormat
from foldline.core.json_text import sorted_json
from foldline.core.message import Message, ToolCall, ToolResult
from foldline.core.view import seqs_in
from foldline.ledger.book import kind_of_call, paths_of
from foldline.ledger.tools import READS, kind_of
from foldline.log.values import members, read_edits
from foldline.recall.entries import message_of
from foldline.recall.texts import asked_in, is_asking

SOON_MESSAGES: Final = 40
"""Messages after a compaction in which a second reading counts: about ten rounds."""
AGAIN_MIN: Final = 3
"""Fewer second readings say nothing."""
SHARE_MIN: Final = 0.1
"""Share of the readings taken out that, when read again, says that more should be kept."""

Key = tuple[str, str]
"""What a call reads: the kind of tool, and the path or, where there is none, the arguments."""


class Reread(Struct, frozen=True, kw_only=True):
    """One reading that was taken out of view and came back."""

    compaction: int
    """`seq` of the entry that took it out."""
    message: int
    """Ordinal of the message that held it."""
    tool: str
    """The tool whose result it was."""
    by: str
    """The tool that got it back: `recall`, or the agent's own."""
    at: int
    """Ordinal of the message that asked."""


class Rereads(Struct, frozen=True, kw_only=True):
    """What became of the readings that compactions took out of view."""

    evicted: int
    """Results of reading tools, and whatever else recall got back."""
    again: tuple[Reread, ...]

    @property
    def share(self) -> float:
        """Of those taken out, how many came back."""
        return len(self.again) / self.evicted if self.evicted else 0.0

    @property
    def keep_more(self) -> bool:
        """True when so many came back that a policy which keeps more would cost less."""
        return len(self.again) >= AGAIN_MIN and self.share >= SHARE_MIN


class _Out(Struct, kw_only=True):
    """A message out of view."""

    compaction: int
    since: int
    """Ordinal that the next message had then."""
    keys: dict[Key, str]
    """What its results were readings of, with the tool of each."""


class _Walk:
    """One walk over a log."""

    def __init__(self) -> None:
        self.ordinal = 0
        self.evicted = 0
        self.again: list[Reread] = []
        self._calls: dict[str, tuple[Key, str]] = {}
        self._keys: dict[int, dict[Key, str]] = {}
        """Readings by the ordinal of the message that holds them."""
        self._out: dict[int, _Out] = {}

    def message(self, message: Message) -> None:
        for part in message.parts:
            if type(part) is ToolCall:
                self._call(part)
            elif type(part) is ToolResult and part.call_id in self._calls:
                key, tool = self._calls.pop(part.call_id)
                self._keys.setdefault(self.ordinal, {})[key] = tool

    def _call(self, call: ToolCall) -> None:
        if is_asking(call):
            self._recalled(call)
            return
        kind = kind_of_call(call)
        if kind in READS:
            keys = _keys_of(call)
            self._calls[call.id] = (keys[0], call.name)
            self._read(keys, call.name)
        elif kind in ("file_edit", "file_write"):
            changed = {("file_read", path) for path in paths_of(call)}
            for out in self._out.values():
                out.keys = {key: tool for key, tool in out.keys.items() if key not in changed}

    def _read(self, keys: list[Key], tool: str) -> None:
        for ordinal, out in self._soon():
            for key in keys:
                if key in out.keys:
                    self._note(ordinal, out, tool=out.keys.pop(key), by=tool)

    def _recalled(self, call: ToolCall) -> None:
        asked = asked_in(call) or {}
        query, address = str(asked.get("query") or ""), str(asked.get("address") or "")
        try:
            place = place_in(address or (query if is_address(query) else ""))
        except UnknownAddress:
            return
        for ordinal, out in self._soon():
            if place.start <= ordinal < place.end:
                tool = next(iter(out.keys.values()), "")
                self.evicted += not out.keys  # a result was counted when it went
                out.keys = {}
                self._note(ordinal, out, tool=tool, by=call.name)
                del self._out[ordinal]

    def _soon(self) -> list[tuple[int, _Out]]:
        late = [ordinal for ordinal, out in self._out.items() if self.ordinal - out.since > SOON_MESSAGES]
        for ordinal in late:
            del self._out[ordinal]
        return list(self._out.items())

    def _note(self, ordinal: int, out: _Out, *, tool: str, by: str) -> None:
        self.again.append(
            Reread(compaction=out.compaction, message=ordinal, tool=tool, by=by, at=self.ordinal)
        )

    def edits(self, entry: Entry) -> None:
        for ordinal in _ordinals(entry):
            if ordinal in self._out or ordinal >= self.ordinal:
                continue
            keys = dict(self._keys.get(ordinal, {}))
            self._out[ordinal] = _Out(compaction=entry.seq, since=self.ordinal, keys=keys)
            self.evicted += len(keys)

    def take_back(self, entry: Entry) -> None:
        """An undone compaction took nothing."""
        undone = msgspec.json.decode(entry.body).get("entry")
        for ordinal, out in list(self._out.items()):
            if out.compaction == undone:
                self.evicted -= len(out.keys)
                del self._out[ordinal]


def rereads(entries: Iterable[Entry]) -> Rereads:
    """What compactions took out of view that was soon read again; O(entries)."""
    walk = _Walk()
    for entry in entries:
        match entry.kind:
            case "message":
                message = message_of(entry)
                if message is not None:
                    walk.message(message)
                walk.ordinal += 1
            case "compaction" | "edit":
                walk.edits(entry)
            case "undo":
                walk.take_back(entry)
            case _:
                pass
    return Rereads(evicted=walk.evicted, again=tuple(walk.again))


def _keys_of(call: ToolCall) -> list[Key]:
    """What a reading call reads: its files, else its arguments."""
    kind = kind_of(call.name)
    paths = paths_of(call) if kind == "file_read" else ()
    return [(kind, path) for path in paths] or [(kind, sorted_json(call.arguments))]


def _ordinals(entry: Entry) -> Iterator[int]:
    """The messages whose content an entry took out of view, wholly or in part."""
    try:
        edits = read_edits(members(entry.body)["edits"])
    except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat):
        return
    for edit in edits:
        yield from _named(edit)


def _named(edit: Edit) -> Iterable[int]:
    match edit:
        case Replace():
            return (edit.seq,)
        case Drop():
            return range(edit.span.start, edit.span.end)
        case Fold():
            return list(seqs_in(edit.spans))
        case Mark():
            return ()  # takes nothing out
    assert_never(edit)
