"""Kinds of entries that say one thing of a session, and change no view: what each comes to.

`foldline.log.replay` steps through a log and knows the kinds that shape a view; for the others it looks them up in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from foldline.core.entry import Entry
from foldline.core.view import View
from foldline.log.anchors import dropped
from foldline.log.applied import turned
from foldline.log.failures import failures_after, stalled_after
from foldline.log.state import EXPOSES, ROOT, STATUSES, Node, Scope, State
from foldline.log.values import members, read_bytes, read_system
from foldline.wire import strict


def checkpoint(state: State, entry: Entry) -> State:
    """A checkpoint says where the log stands; it changes nothing of that."""
    pieces = members(entry.body)
    state = replace(state, since=0)
    if strict.loads(pieces["full"]) is not True:
        return state
    return turned(replace(state, full_at=entry.offset), pieces, at=entry.offset)


def _system(state: State, entry: Entry) -> State:
    return replace(
        state,
        system=None if _is_nothing(entry) else read_system(entry.body),
        system_at=None if _is_nothing(entry) else entry.offset,
    )


def _tools(state: State, entry: Entry) -> State:
    if _is_nothing(entry):
        return replace(state, tools=None, tools_at=None)
    tools = read_bytes("tools", entry.body)
    if tools.lstrip()[:1] != b"[":
        raise ValueError("tools stand in a list")
    return replace(state, tools=tools, tools_at=entry.offset)


def _is_nothing(entry: Entry) -> bool:
    """True for `{}`: from here on there is none."""
    return bool(strict.loads(entry.body) == {})


def _model(state: State, entry: Entry) -> State:
    """Another model counts by its own tokenizer: what the one before reported, or is still to report, is no baseline for it
    (requirement TOK-5)."""
    told = strict.loads(entry.body).get("model")
    named = None if told is None else str(told)
    scopes = {name: dropped(scope) for name, scope in state.scopes.items()}
    return replace(state, model=named, stalled=0, scopes=state.scopes if named == state.model else scopes)


def _begin(state: State, entry: Entry) -> State:
    return replace(state, open_begin=entry.seq)


def _settle(state: State, entry: Entry) -> State:
    told = strict.loads(entry.body)
    state = replace(
        state,
        failures=failures_after(state.failures, told.get("model")),
        stalled=stalled_after(state.stalled, told),
    )
    return replace(state, open_begin=None) if state.open_begin == int(told["begin"]) else state


def read_node(told: Mapping[str, Any], *, seq: int, start: int) -> Node:
    """A node from what its entry, or a checkpoint, says of it. Raises `ValueError` or `LookupError`."""
    if told["expose"] not in EXPOSES:
        raise ValueError(f"a node exposes one of {', '.join(EXPOSES)}, not {told['expose']!r}")
    return Node(
        id=str(told["id"]),
        name=str(told["name"]),
        expose=told["expose"],
        parent=str(told.get("parent", ROOT)),
        call_id=told.get("call_id"),
        seq=seq,
        start=start,
    )


def _node(state: State, entry: Entry) -> State:
    node = read_node(strict.loads(entry.body), seq=entry.seq, start=state.ordinals)
    if node.id == ROOT or node.id in state.nodes:
        raise ValueError(f"node {node.id!r} runs already")
    return replace(
        state, nodes={**state.nodes, node.id: node}, scopes={**state.scopes, node.id: Scope(view=View())}
    )


def _node_end(state: State, entry: Entry) -> State:
    told = strict.loads(entry.body)
    ended = str(told["id"])
    if told["status"] not in STATUSES:
        raise ValueError(f"a node ends as one of {', '.join(STATUSES)}, not {told['status']!r}")
    gone = {ended, *(node.id for node in state.nodes.values() if ended in lineage_of(state, node.id))}
    return replace(
        state,
        nodes={key: node for key, node in state.nodes.items() if key not in gone},
        scopes={key: scope for key, scope in state.scopes.items() if key not in gone},
    )


def _progress(state: State, entry: Entry) -> State:
    return replace(state, stalled=stalled_after(state.stalled, strict.loads(entry.body)))


def _rolled_back(state: State, entry: Entry) -> State:
    """The chain has done it. An intent at its end is nobody's: its result stands on the way that was left."""
    return replace(state, open_begin=None)


def _as_it_is(state: State, entry: Entry) -> State:
    """Undo and unfold have done their work on the chain; a forget has done its own in the bodies."""
    return state


def lineage_of(state: State, scope: str) -> tuple[str, ...]:
    """A scope and those around it, from the inside out."""
    found: list[str] = []
    while scope != ROOT and scope in state.nodes and scope not in found:
        found.append(scope)
        scope = state.nodes[scope].parent
    return (*found, ROOT)


KINDS: Final[dict[str, Callable[[State, Entry], State]]] = {
    "system": _system,
    "tools": _tools,
    "model": _model,
    "begin": _begin,
    "settle": _settle,
    "node": _node,
    "node_end": _node_end,
    "undo": _as_it_is,
    "unfold": _as_it_is,
    "rollback": _rolled_back,
    "progress": _progress,
    "forgot": _as_it_is,
    "hidden": _as_it_is,
    "left_out": _as_it_is,
}
