"""Ids of calls on another wire: kept where the target accepts them, rewritten alike for call and result where not.

Owns the renaming for one conversion. Knows a target by its `Rules` alone. Deterministic, and stable under appending:
what a call is renamed to depends on its own id and on how often that id came before.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256

from foldline.core.message import ToolCall, ToolResult
from foldline.wire.codec import Rules

DIGEST_CHARS = 8
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_SAFE_MAX = 40
"""Longest id every known provider accepts: OpenAI chat's limit."""


class CallIds:
    """The ids of one history on its way to one target. Mutable, and seen by one conversion alone."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._pattern = re.compile(rules.ids_pattern or r"[^\0]+")
        self._max = rules.ids_max
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
        return self._latest.get(old) or (old if self._accepts(old) else self._digest(old, 1))

    def _needs_id(self) -> bool:
        return self._rules.ids_needed

    def _accepts(self, wanted: str) -> bool:
        return bool(self._pattern.fullmatch(wanted)) and (self._max is None or len(wanted) <= self._max)

    def _free(self, old: str, taken: set[str]) -> str:
        if self._accepts(old) and old not in taken:
            return old
        times = self._times[old]
        while (new := self._digest(old, times)) in self._given:
            times += 1
        return new

    def _digest(self, old: str, times: int) -> str:
        mark = sha256(f"{old}\0{times}".encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]
        room = min(self._max or _SAFE_MAX, _SAFE_MAX) - DIGEST_CHARS - 1
        return f"{_REFUSED.sub('_', old)[:room] or 'call'}_{mark}"

    def _mint(self) -> str:
        self._minted += 1
        while f"call_{self._minted}" in self._given:
            self._minted += 1
        return f"call_{self._minted}"
