"""Ids of calls on another wire: kept where the target accepts them, rewritten alike for call and result where not.

Owns the renaming for one conversion. Knows a target by its `Rules` alone. Deterministic, and stable under appending:
what a call is renamed to depends on its own id and on how often that id came before.
"""

from __future__ import annotations

from collections import Counter

from foldline.core.message import ToolCall, ToolResult
from foldline.core.spelling import fit_id, is_fit_id
from foldline.wire.codec import Rules


class CallIds:
    """The ids of one history on its way to one target. Mutable, and seen by one conversion alone."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._given: set[str] = set()
        self._times: Counter[str] = Counter()
        self._waiting: dict[str, list[str]] = {}
        self._latest: dict[str, str] = {}
        self._round: set[str] = set()
        self._minted = 0
        self.renamed: dict[str, str] = {}
        """Old id → new id, for ids that changed; the first change of an id that stood for several calls."""

    def open_round(self) -> None:
        """Begin a new round: ids of earlier rounds may come again, results pair with calls of this one first."""
        self._waiting, self._round = {}, set()

    def of_call(self, call: ToolCall) -> str:
        """The target's id for a call."""
        old = call.id
        self._times[old] += 1
        taken = self._given if self._rules.needs.ids_once else self._round
        new = self._mint() if not call.wire_id and self._needs_id() else self._free(old, taken)
        self._given.add(new)
        self._round.add(new)
        self._waiting.setdefault(old, []).append(new)
        self._latest[old] = new
        if new != old:
            self.renamed.setdefault(old, new)
        return new

    def of_result(self, result: ToolResult) -> str:
        """The target's id for a result: its call's, in order where an id stands for several."""
        old = result.call_id
        waiting = self._waiting.get(old)
        if waiting:
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return self._latest.get(old) or (old if self._accepts(old) else fit_id(old))

    def _needs_id(self) -> bool:
        return self._rules.ids_needed

    def _accepts(self, wanted: str) -> bool:
        needs = self._rules.needs
        return is_fit_id(wanted, pattern=needs.ids_pattern, longest=needs.ids_max)

    def _free(self, old: str, taken: set[str]) -> str:
        if self._accepts(old) and old not in taken:
            return old
        times = self._times[old]
        while (new := fit_id(old, times)) in self._given:
            times += 1
        return new

    def _mint(self) -> str:
        self._minted += 1
        while f"call_{self._minted}" in self._given:
            self._minted += 1
        return f"call_{self._minted}"
