"""Checkpoints: what a view is, said without the log before it.

    {"version":1,"full":true,"ordinals":214,"view":[
        [0,0,62],                                                      messages 0 to 0, the first one's line at byte 62
        {"at":1,"offset":611,"message":{…},"covers":[[1,90]]},         a fold, written here
        [91,140,70211],
        {"at":141,"offset":98012,"parts":[{"slot":0,"part":{…}}]}]}    message 141 with another part in slot 0

Retained messages stand by range and byte, so that none is stored twice (requirement JRN-1); only what a compaction wrote
stands in full. Limits are checked at both ends (requirement JRN-3). Counterpart: `foldline.log.replay`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.edit import Mark, Replace, edited
from foldline.core.entry import Entry
from foldline.core.message import NEW, Message, Part, Text
from foldline.core.ports import TokenCounter
from foldline.core.view import Item, Span, View, item_of, view_of
from foldline.log.applied import page_json, read_page, turned
from foldline.log.kinds import read_node
from foldline.log.state import (
    ROOT,
    SUPPRESSED,
    Anchor,
    Applied,
    Handoff,
    Node,
    Places,
    Scope,
    State,
    Unsaid,
)
from foldline.log.values import (
    Json,
    dumps,
    elements,
    members,
    message_json,
    part_json,
    read_message,
    read_part,
    read_usage,
    usage_json,
)
from foldline.wire import strict

VERSION: Final = 1
MESSAGES_MAX: Final = 4_096
"""Messages of a checkpoint, all views together (requirement JRN-3)."""
BYTES_MAX: Final = 16 * 2**20
"""Bytes of a checkpoint with everything it refers to (requirement JRN-3)."""
NODES_MAX: Final = 256
"""Nodes that run at once."""
EVERY: Final = 100
"""Entries after which a small checkpoint names the last full one, where nobody says otherwise (requirement JRN-13)."""

Entries: TypeAlias = Callable[[int], Iterator[Entry]]
"""Entries of the log from a byte on."""


class TooLarge(ValueError):
    """More than a checkpoint may hold."""


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────


def checkpoint_body(state: State, places: Places, **more: Any) -> bytes:
    """The body of a full checkpoint. `more`: members for people and statistics, which nothing depends on. Raises
    `TooLarge`."""
    items = [item for scope in state.scopes.values() for item in scope.view]
    body = _body(state, places, more=more)
    _refuse_too_large(len(items), len(body) + sum(places[item.seq][1] for item in items if not item.covers))
    return body


def small_body(state: State) -> bytes:
    """The body of a checkpoint that only names the last full one, where there is one."""
    body: Json = {"version": VERSION, "full": False, "ordinals": state.ordinals}
    return dumps(body if state.full_at is None else {**body, "base": state.full_at})


def _refuse_too_large(messages: int, size: int) -> None:
    if messages > MESSAGES_MAX:
        raise TooLarge(f"a checkpoint holds {MESSAGES_MAX:,} messages, not {messages:,}")
    if size > BYTES_MAX:
        raise TooLarge(f"a checkpoint holds {BYTES_MAX:,} bytes, not {size:,}")


def _body(state: State, places: Places, *, more: Mapping[str, Any]) -> bytes:
    root = state.root
    body: Json = {
        "version": VERSION,
        "full": True,
        "ordinals": state.ordinals,
        "view": _view_json(root.view, places),
        **_baseline_json(root),
        "nodes": [_node_json(node, state.scopes[node.id], places=places) for node in state.nodes.values()],
        "system": state.system_at,
        "tools": state.tools_at,
        "model": state.model,
        **page_json(state),
        "calls": state.calls,
        "compacted": state.compacted,
        "answered": state.answered_ms,
        "revision": state.revision.hex(),
        "failures": state.failures or None,
        "stalled": state.stalled or None,
        "epoch": None if state.epoch < 0 else state.epoch,
        "handoff": None if state.handoff is None else _handoff_json(state.handoff),
        "begin": state.open_begin,
        **more,
    }
    return dumps(
        {key: told for key, told in body.items() if told is not None and told is not False and told != []}
    )


def _handoff_json(handoff: Handoff) -> int | list[int]:
    return -1 if handoff == SUPPRESSED else [handoff.seq, handoff.offset]


def _read_handoff(told: Any) -> Handoff | None:
    """A record by its place alone: the entry says the rest."""
    if told is None:
        return None
    if not isinstance(told, list):
        return SUPPRESSED
    seq, offset = told
    return Handoff(seq=int(seq), offset=int(offset), after=-1, text="")


def _node_json(node: Node, scope: Scope, *, places: Places) -> Json:
    told: Json = {
        "id": node.id,
        "name": node.name,
        "expose": node.expose,
        "parent": node.parent,
        "call_id": node.call_id,
        "seq": node.seq,
        "start": node.start,
        "view": _view_json(scope.view, places),
        **_baseline_json(scope),
    }
    return {key: value for key, value in told.items() if value is not None}


def _baseline_json(scope: Scope) -> Json:
    """The members of a view's anchor, and of a response after it whose usage has not come."""
    told: Json = {}
    anchor, unsaid = scope.anchor, scope.unsaid
    if anchor is not None:
        told["anchor"] = {"message": anchor.ordinal, "usage": usage_json(anchor.usage), **_fixed(anchor)}
    if unsaid is not None:
        never: Json = {} if unsaid.may_come else {"may_come": False}
        told["unsaid"] = {"message": unsaid.ordinal, **_fixed(unsaid), **never}
    return told


def _fixed(one: Anchor | Unsaid) -> Json:
    return {} if one.tokens_fixed is None else {"tokens_fixed": one.tokens_fixed}


def _with_baseline(view: View, told: Mapping[str, Any]) -> Scope:
    anchor, unsaid = told.get("anchor"), told.get("unsaid")
    return Scope(
        view=view,
        anchor=None
        if anchor is None
        else Anchor(
            ordinal=anchor["message"],
            usage=read_usage(anchor["usage"]),
            tokens_fixed=anchor.get("tokens_fixed"),
        ),
        unsaid=None
        if unsaid is None
        else Unsaid(
            ordinal=unsaid["message"],
            tokens_fixed=unsaid.get("tokens_fixed"),
            may_come=unsaid.get("may_come", True),
        ),
    )


def _view_json(view: View, places: Places) -> list[Any]:
    told: list[Any] = []
    for item in view:
        offset = places[item.seq][0]
        if item.covers:
            covers = [[span.start, span.end - 1] for span in item.covers]
            told.append(
                {"at": item.seq, "offset": offset, "message": message_json(item.message), "covers": covers}
            )
        elif item.message.edited:
            told.append({"at": item.seq, "offset": offset, "parts": list(_new_parts(item.message))})
        elif told and isinstance(told[-1], list) and told[-1][1] == item.seq - 1:
            told[-1][1] = item.seq
        else:
            told.append([item.seq, item.seq, offset])
    return told


def _new_parts(message: Message) -> Iterator[Json]:
    """The parts that edits wrote anew, and the marks they put behind others, in order."""
    behind = NEW
    for part in message.parts:
        if part.slot == NEW:
            yield {"behind": behind, "part": part_json(part, NEW)}
            continue
        behind = part.slot
        if part.edited:
            yield {"slot": part.slot, "part": part_json(part, part.slot)}


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────


class Reading(Struct, frozen=True, kw_only=True):
    """What a checkpoint is read with."""

    entries: Entries
    read: Callable[[int, Entry], Message]
    """The message of its entry, given its ordinal, as a replay takes it in."""
    counter: TokenCounter
    places: Places
    """Filled with what is found on the way."""


def is_full(entry: Entry) -> bool:
    """True for a checkpoint that says a whole state."""
    return entry.kind == "checkpoint" and members(entry.body).get("full") == b"true"


def read_checkpoint(entry: Entry, reading: Reading) -> State:
    """The state that a full checkpoint says, but for system prompt and tools, which it says the bytes of. Raises
    `ValueError`, `LookupError` or `TypeError` for anything else."""
    pieces = members(entry.body)
    told = {key: strict.loads(piece) for key, piece in pieces.items() if key not in _APART}
    if told["version"] != VERSION or told["full"] is not True:
        raise ValueError(f"no full checkpoint of version {VERSION}")
    budget = _Budget(size=len(entry.body))
    scopes = {ROOT: _scope(pieces, told, reading=reading, budget=budget)}
    nodes: dict[str, Node] = {}
    for piece in elements(pieces.get("nodes", b"[]")):
        inner = members(piece)
        node, said = _read_node(inner)
        nodes[node.id] = node
        scopes[node.id] = _scope(inner, said, reading=reading, budget=budget)
    applied, earlier_at = read_page(pieces)
    state = State(
        seq=entry.seq,
        ordinals=int(told["ordinals"]),
        scopes=scopes,
        nodes=nodes,
        system_at=told.get("system"),
        tools_at=told.get("tools"),
        model=told.get("model"),
        applied=applied,
        earlier_at=earlier_at,
        calls=int(told.get("calls", 0)),
        compacted=bool(told.get("compacted", False)),
        answered_ms=told.get("answered"),
        revision=bytes.fromhex(told.get("revision", "")),
        full_at=entry.offset,
        failures={str(where): int(count) for where, count in told.get("failures", {}).items()},
        stalled=int(told.get("stalled", 0)),
        epoch=told.get("epoch", _last_compaction(applied)),
        handoff=_read_handoff(told.get("handoff")),
        open_begin=told.get("begin"),
    )
    return turned(state, pieces, at=entry.offset)


def _last_compaction(applied: Sequence[Applied]) -> int:
    """The epoch of a checkpoint that does not name it, as older ones did not."""
    return max((one.seq for one in applied if not one.is_edit and one.scope == ROOT), default=-1)


_APART: Final = frozenset(("view", "nodes", "applied", "earlier"))
"""Members that are read by rules of their own."""


class _Budget:
    """What a checkpoint may still hold."""

    def __init__(self, *, size: int) -> None:
        self.size, self.messages = size, 0

    def take(self, messages: int, size: int) -> None:
        self.messages, self.size = self.messages + messages, self.size + size
        _refuse_too_large(self.messages, self.size)


def _read_node(pieces: Mapping[str, bytes]) -> tuple[Node, Mapping[str, Any]]:
    told = {key: strict.loads(piece) for key, piece in pieces.items() if key != "view"}
    return read_node(told, seq=int(told["seq"]), start=int(told["start"])), told


def _scope(
    pieces: Mapping[str, bytes], told: Mapping[str, Any], *, reading: Reading, budget: _Budget
) -> Scope:
    items: list[Item] = []
    for piece in elements(pieces.get("view", b"[]")):
        if piece.startswith(b"["):
            first, last, offset = strict.loads(piece)
            items += _retained(int(first), int(last), offset=int(offset), reading=reading, budget=budget)
        else:
            items.append(_written(members(piece), reading=reading, budget=budget))
    return _with_baseline(view_of(tuple(items)), told)


def _retained(first: int, last: int, *, offset: int, reading: Reading, budget: _Budget) -> list[Item]:
    """The messages of a range, read where they stand."""
    wanted = last - first + 1
    if wanted < 1:
        raise ValueError("a range of messages that goes backwards")
    budget.take(wanted, 0)
    found: list[tuple[int, Message]] = []
    standing = (entry for entry in reading.entries(offset) if entry.kind == "message")
    for ordinal, entry in enumerate(islice(standing, wanted), first):
        budget.take(0, entry.size)
        reading.places[ordinal] = (entry.offset, entry.size)
        found.append((ordinal, reading.read(ordinal, entry)))
    if len(found) < wanted or reading.places[first][0] != offset:
        raise ValueError(f"messages {first} to {last} are not at byte {offset:,}")
    weights = reading.counter.weights_of([message for _, message in found])
    return [
        item_of(ordinal, message, weights=parts, overhead=overhead)
        for (ordinal, message), (parts, overhead) in zip(found, weights, strict=True)
    ]


def _written(pieces: Mapping[str, bytes], *, reading: Reading, budget: _Budget) -> Item:
    """A message that a compaction wrote, or one of whose parts it wrote anew."""
    at, offset = int(strict.loads(pieces["at"])), int(strict.loads(pieces["offset"]))
    if "parts" in pieces:
        [item] = _retained(at, at, offset=offset, reading=reading, budget=budget)
        for told in strict.loads(pieces["parts"]):  # one at a time: a part may have several marks behind it
            [item] = edited([item], [_read_edit(at, told)], counter=reading.counter)
        return item
    budget.take(1, 0)
    first = next(reading.entries(offset), None)
    if first is None or first.kind != "message":
        raise ValueError(f"message {at} is not at byte {offset:,}")
    reading.places[at] = (offset, first.size)
    message = read_message(pieces["message"])
    spans = tuple(Span(start=a, end=b + 1) for a, b in strict.loads(pieces["covers"]))
    weights, overhead = reading.counter.weights(message)
    return item_of(at, message, weights=weights, overhead=overhead, covers=spans)


def _read_edit(seq: int, told: Mapping[str, Any]) -> Replace | Mark:
    if "behind" in told:
        mark = read_part(told["part"], NEW)
        if not isinstance(mark, Text):
            raise ValueError("a mark is a text")
        return Mark(seq=seq, slot=int(told["behind"]), part=mark, address="")
    slot = int(told["slot"])
    part: Part = replace(read_part(told["part"], slot), edited=True)
    return Replace(seq=seq, slot=slot, part=part, address="")
