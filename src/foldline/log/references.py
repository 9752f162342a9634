"""Whether what entries say of others is so: a checkpoint's messages stand where it says, a base is a full checkpoint.

Goes through a whole log once, entry by entry, and keeps eight bytes a message. What a checkpoint means is
`foldline.log.checkpoint`'s; here only its references are held against the log. Counterpart: `foldline.verify`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

from foldline.core.entry import Entry
from foldline.log.values import members
from foldline.wire import strict

_POINTED_AT = {"system": "system", "tools": "tools"}
"""Member of a checkpoint → kind of the entry whose byte it is."""


class References:
    """What was seen of a log so far."""

    def __init__(self) -> None:
        self.messages = array("Q")
        """Byte of each message, by ordinal."""
        self._full: set[int] = set()
        self._kinds: dict[int, str] = {}
        self._seqs = 0

    def upto(self, byte: int) -> References:
        """What was seen before a byte: where a fork goes on."""
        found = References()
        found.messages = self.messages[: bisect_left(self.messages, byte)]
        found._full = {at for at in self._full if at < byte}
        found._kinds = {at: kind for at, kind in self._kinds.items() if at < byte}
        return found

    def messages_from(self, byte: int) -> int:
        """How many messages were seen from a byte on."""
        return len(self.messages) - bisect_left(self.messages, byte)

    def take(self, entry: Entry) -> Iterator[str]:
        """What is wrong with what this entry refers to, for a person. Entries come in order, from the first."""
        self._seqs, is_read = entry.seq, True
        try:
            members(
                entry.body
            )  # as its readers do: what they read may be nested deeper than a file that comes in
        except ValueError as error:
            yield f"the {entry.kind} cannot be read ({error})"
            is_read = False
        match entry.kind:
            case "message":
                self.messages.append(entry.offset)
            case "system" | "tools":
                self._kinds[entry.offset] = entry.kind
            case "checkpoint" | "compaction" | "undo" | "rollback" | "unfold" | "settle" if is_read:
                try:
                    body = strict.loads(entry.body)
                    yield from (
                        self._checkpoint(entry, body) if entry.kind == "checkpoint" else self._named(body)
                    )
                except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
                    yield f"the {entry.kind} cannot be read ({error})"
            case _:
                return

    def _named(self, body: Mapping[str, Any]) -> Iterator[str]:
        """Entries that name another one by number name an earlier one."""
        for key in ("entry", "to", "begin"):
            seq = body.get(key)
            if seq is not None and not (isinstance(seq, int) and -1 <= seq < self._seqs):
                yield f"{key} names entry {seq}, which does not come before"

    def _checkpoint(self, entry: Entry, body: Mapping[str, Any]) -> Iterator[str]:
        if body["ordinals"] != len(self.messages):
            yield f"the checkpoint counts {body['ordinals']:,} messages, the log has {len(self.messages):,}"
        if not body["full"]:
            if body.get("base") is not None and body["base"] not in self._full:
                yield f"no full checkpoint stands at byte {body['base']:,}"
            return
        if body.get("earlier") is not None and body["earlier"] not in self._full:
            yield f"no full checkpoint stands at byte {body['earlier']:,}"
        self._full.add(entry.offset)
        for key, kind in _POINTED_AT.items():
            if body.get(key) is not None and self._kinds.get(body[key]) != kind:
                yield f"no {kind} entry stands at byte {body[key]:,}"
        views = [body.get("view", []), *(node.get("view", []) for node in body.get("nodes", []))]
        for row in (row for view in views for row in view):
            first, last, offset = row if isinstance(row, list) else (row["at"], row["at"], row["offset"])
            if not 0 <= first <= last < len(self.messages) or self.messages[first] != offset:
                yield f"messages {first:,} to {last:,} are not at byte {offset:,}"
