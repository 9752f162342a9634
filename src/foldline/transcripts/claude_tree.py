"""Which records of a Claude Code session are live: the branch that ends in the newest message.

Owns the walk through the tree. Knows nothing of content beyond ids; `claude_record` reads lines into the records
walked here and `claude_code` makes messages of what is left.

    u1 ─ a1 ─ u2 ─ a2            rewound: a dead branch
          └── u3 ─ a3 ─┬─ r1     parallel calls: a3 and a3′ are lines of one response, and
                       └─ a3′ ─ r2 ─ a4     r1 is live although the path from a4 does not meet it

A parent that cannot be found (its line was unreadable, or the client did not save it) is taken to be the record
before. Where ids contradict each other, the order of the file stands in for the tree.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
from msgspec import UNSET, Struct

from foldline.transcripts.claude_record import Record, decode, decode_line
from foldline.transcripts.source import BadLines, Mark, Source

PASSED = "boundary that was passed over"
LOOKUPS_MAX = 3
"""Parents searched for before the boundary; each search may read the whole file before it."""


class Tree(Struct, frozen=True):
    """The live records in order, and what was left out."""

    live: list[Record]
    preserved: frozenset[str | None] = frozenset()
    """Ids of live records from before the last boundary: their usage tells nothing any more."""
    skipped: Counter[str] = Counter()
    """Records that are no message of this conversation, by type."""
    notes: tuple[str, ...] = ()


class _Segment(Struct):
    headUuid: str = ""
    anchorUuid: str = ""
    tailUuid: str = ""


class _Listed(Struct):
    anchorUuid: str = ""
    uuids: list[str] = []


class _Metadata(Struct):
    preservedSegment: _Segment | None = None
    preservedMessages: _Listed | None = None


class _Response(Struct, gc=False):
    id: str | None = None


class _Results(Struct, gc=False):
    content: list[_Result] | str | None = None


class _Result(Struct, gc=False):
    type: str = ""
    tool_use_id: str | None = None


_metadata = msgspec.json.Decoder(_Metadata).decode
_response = msgspec.json.Decoder(_Response).decode
_results = msgspec.json.Decoder(_Results).decode


class Outside(Exception):
    """The newest branch leaves from a record before the last boundary."""


def uncompacted(records: list[Record], source: Source) -> Tree:
    """The records of the newest branch as though no boundary stood on it: each hangs on the record that it came after, and the
    summaries go. `records`: of the whole file."""
    for record in records:
        if record.is_boundary:
            record.subtype, record.parentUuid = PASSED, record.logicalParentUuid or UNSET
    tree = live(records, source, whole=True)
    said = [record for record in tree.live if not record.isCompactSummary]
    return Tree(said, tree.preserved, tree.skipped, tree.notes)


def live(records: list[Record], source: Source, *, whole: bool) -> Tree:
    """The live records of a session read from its last boundary, or (`whole`) from its start.

    Raises `Outside` when the branch leaves from before the boundary and the file must be read whole.
    """
    main = any(record.is_message and not record.isSidechain for record in records)
    own = [record for record in records if not (main and record.isSidechain)]
    skipped = Counter(_type(record) for record in own if not record.is_message)
    skipped["side chain"] = len(records) - len(own)
    nodes = [record for record in own if record.uuid is not None or record.is_message]
    kept: list[Record] = []
    notes: list[str] = []
    if nodes and nodes[0].is_boundary and not whole:
        kept = _relinked(nodes, source, notes=notes)
    walk = _Walk(kept + nodes, source, whole=whole)
    path = walk.path()
    return Tree(path, frozenset(record.uuid for record in kept), skipped, (*notes, *walk.notes))


def _type(record: Record) -> str:
    if record.type == "system" and record.subtype:
        return f"system {record.subtype}"
    return record.type or "(no type)"


class _Walk:
    """One walk from the newest message to the root."""

    def __init__(self, nodes: list[Record], source: Source, *, whole: bool) -> None:
        self.nodes, self.source, self.whole = nodes, source, whole
        self.notes: list[str] = []
        self.repaired = self.lookups = 0

    def path(self) -> list[Record]:
        nodes = self.nodes
        begin = max((i for i, node in enumerate(nodes) if node.is_boundary), default=0)
        if all(after.parentUuid == before.uuid for before, after in pairwise(nodes[begin:])) and begin == 0:
            return nodes  # one line of descent, as nearly all sessions are
        index = self._index()
        if isinstance(index, str):
            self.notes.append(f"{index}; records were taken in the order of the file")
            return nodes[begin:]
        leaf = max((i for i, node in enumerate(nodes) if node.is_message), default=None)
        if leaf is None:
            return []
        path = [nodes[i] for i in reversed(self._up(leaf, index))]
        return self._with_siblings(path)

    def _index(self) -> dict[str, int] | str:
        """Place of each id, first come; in words, why ids say nothing."""
        index: dict[str, int] = {}
        linked = False
        for place, node in enumerate(self.nodes):
            if node.uuid is None:
                return "some messages have no id"
            first = index.setdefault(node.uuid, place)
            if first != place and (self.nodes[first].body, self.nodes[first].type) != (node.body, node.type):
                return "different messages have the same id"
            linked = linked or bool(node.parentUuid)
        return index if linked else "messages are not linked"

    def _up(self, leaf: int, index: dict[str, int]) -> list[int]:
        """Places from the leaf up to the root or to the last boundary on the way."""
        place: int | None = leaf
        seen: set[int] = set()
        way: list[int] = []
        while place is not None and place not in seen:
            seen.add(place)
            way.append(place)
            place = None if self.nodes[place].is_boundary else self._parent(place, index)
        if self.repaired:
            self.notes.append(
                f"{self.repaired:,} links to missing records were mended from the order of the file"
            )
        return way

    def _parent(self, place: int, index: dict[str, int]) -> int | None:
        parent = self.nodes[place].parentUuid
        if parent is None:
            return None
        found = index.get(parent) if parent is not UNSET else None
        if found is not None and found != place:
            return found
        if place == 0:
            return None
        if parent is not UNSET:
            if not self.whole and self._before(parent):
                raise Outside
            self.repaired += 1
        return place - 1

    def _before(self, uuid: str) -> bool:
        """True when a record of this id stands before the first one read."""
        self.lookups += 1
        if not uuid or self.lookups > LOOKUPS_MAX:
            return False
        return _find(self.source, uuid, before=self.nodes[0].offset) is not None

    def _with_siblings(self, path: list[Record]) -> list[Record]:
        """The path with the other lines of its responses and the results that answer them."""
        on = {record.uuid for record in path}
        off = [node for node in self.nodes if node.uuid not in on and node.is_message]
        if not off:
            return path
        added, dead = _siblings(path, off)
        if dead:
            self.notes.append(
                f"{dead:,} record{'s' if dead > 1 else ''} on branches that were rewound or forked away: left out"
            )
        if not added:
            return path
        return [record for node in path for record in (node, *added.get(node.uuid, ()))]


def _siblings(path: list[Record], off: list[Record]) -> tuple[dict[str | None, list[Record]], int]:
    """Records to add after a record of the path (by its id), and how many of `off` stay out."""
    last: dict[str, str | None] = {}  # response id → id of its last line on the path
    holder: dict[str | None, str | None] = {}  # id of an assistant line → where its results go
    answered: set[str | None] = set()
    for record in path:
        if record.type == "assistant" and (response := response_id(record)):
            last[response] = record.uuid
        elif record.type == "user":
            answered.update(result_ids(record))
    for record in (*path, *off):
        if record.type == "assistant" and (response := response_id(record)) in last:
            holder[record.uuid] = last[response]
    on = {record.uuid for record in path}
    added: dict[str | None, list[Record]] = {}
    seen: set[str | None] = set()
    for record in sorted(off, key=lambda record: record.type):  # assistant lines before results
        after = holder.get(record.uuid if record.type == "assistant" else record.parentUuid or None)
        if after is None or record.uuid in seen or record.uuid in on:
            continue
        if record.type == "user" and not set(result_ids(record)) - answered:
            continue
        seen.add(record.uuid)
        added.setdefault(after, []).append(record)
    return added, len(off) - sum(map(len, added.values()))


def response_id(record: Record) -> str | None:
    """The provider's id of the response an assistant line belongs to."""
    try:
        return _response(record.body).id
    except msgspec.MsgspecError:
        return None


def result_ids(record: Record) -> tuple[str, ...]:
    """Ids of the calls a user record answers."""
    if b"tool_use_id" not in record.body:
        return ()
    try:
        content = _results(record.body).content
    except msgspec.MsgspecError:
        return ()
    return tuple(r.tool_use_id for r in content if r.tool_use_id) if isinstance(content, list) else ()


def _relinked(nodes: list[Record], source: Source, *, notes: list[str]) -> list[Record]:
    """Records from before the boundary that it preserves, linked in: anchor ─ head … tail ─ what followed the anchor."""
    boundary = nodes[0]
    try:
        metadata = _metadata(bytes(boundary.compactMetadata) or b"{}")
    except msgspec.MsgspecError:
        return []
    kept, anchor = _preserved(metadata, source, end=boundary.offset)
    here = {node.uuid for node in nodes}
    kept = [record for record in kept if record.uuid not in here]
    if not kept:
        if metadata.preservedSegment or (metadata.preservedMessages and metadata.preservedMessages.uuids):
            notes.append("messages that the last compaction preserved were not found before it")
        return []
    anchor = anchor if anchor in here else boundary.uuid or ""
    for node in nodes:
        if node.parentUuid == anchor:
            node.parentUuid = kept[-1].uuid
    previous = anchor
    for record in kept:
        record.parentUuid = previous
        previous = record.uuid or previous
    return kept


def _preserved(metadata: _Metadata, source: Source, *, end: int) -> tuple[list[Record], str]:
    """The preserved records in order, and the id of the record they follow."""
    listed, segment = metadata.preservedMessages, metadata.preservedSegment
    head = listed.uuids[0] if listed and listed.uuids else segment.headUuid if segment else ""
    start = _find(source, head, before=end) if head else None
    if start is None:
        return [], ""
    between = [record for record in decode(source, start, bad=BadLines(), end=end) if not record.isSidechain]
    if listed and listed.uuids:
        place = {uuid: i for i, uuid in enumerate(listed.uuids)}
        kept = [record for record in between if record.uuid in place]
        return sorted(kept, key=lambda record: place[record.uuid or ""]), listed.anchorUuid
    assert segment is not None
    by_id = {record.uuid: record for record in between}
    way: list[Record] = []
    at = by_id.pop(segment.tailUuid, None)
    while at is not None:
        way.append(at)
        at = by_id.pop(at.parentUuid or None, None) if at.uuid != head else None
    way.reverse()
    added, _ = _siblings(way, [record for record in by_id.values() if record.is_message])
    return [record for node in way for record in (node, *added.get(node.uuid, ()))], segment.anchorUuid


def _find(source: Source, uuid: str, *, before: int) -> Mark | None:
    """The start of the record of this id, searched backwards."""
    for mark in source.marks_back(uuid.encode("utf-8", "replace"), before):
        record = decode_line(source.line_at(mark.offset))
        if isinstance(record, Record) and record.uuid == uuid:
            return mark
    return None
