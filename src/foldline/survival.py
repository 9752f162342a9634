"""What a compaction left of a history, fact by fact: the report's `retention`.

Measured without a model, over what came in and what goes out (`foldline.ledger.retention`). Facts that the ledger found
are not looked for again. Counterpart: `foldline.reduce`, which knows nothing of facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec
from msgspec.structs import replace

from foldline.core.edit import Edit, Fold, Replace
from foldline.core.view import Item, View, seqs_in
from foldline.engine.report import Report
from foldline.ledger.book import command_of, script_of
from foldline.ledger.called import called_in
from foldline.ledger.command_lines import hides_status
from foldline.ledger.compose import CHARS_MAX, mentions_of
from foldline.ledger.facts import FactCache
from foldline.ledger.found_in_text import Finder
from foldline.ledger.outcomes import outcome_of
from foldline.ledger.readings import readings_in, text_of
from foldline.ledger.retention import Expected, measure
from foldline.ledger.runs import run_of
from foldline.ledger.tools import kind_of
from foldline.ledger.words import Words, words_of
from foldline.reduce import History, Reduced

AHEAD_CHARS = 200_000
"""Characters in which facts are looked for ahead of a compaction, at one call."""
AHEAD_PARTS = 1_000
"""Parts whose mentions are put together ahead of a compaction, at one call: some 15 ms."""
UNMEASURED = (
    f"the history is longer than the {CHARS_MAX:,} characters that retention is measured over: whether the "
    "policy's floors are held (rules and pins in view, nothing lost) was not checked"
)


def measured(reduced: Reduced) -> Report:
    """The report with its retention. Left empty, with a note, for a history longer than `CHARS_MAX`."""
    report = reduced.report
    if not reduced.edits:
        return report
    history = reduced.before.view.items()
    memo = reduced.before.memo
    readings = readings_in(memo)
    texts = chain.from_iterable([readings.of(item.message).texts for item in history])
    if sum(map(len, texts)) > CHARS_MAX:
        return replace(report, notes=(*report.notes, UNMEASURED))
    cache = facts_of(memo)
    words = words_of(history, memo)
    expected = Expected(
        constraints=words.standing_rules(),
        taken_back=words.struck_rules(),
        commands=tuple(_commands(history, memo)),
        pins=reduced.pins,
        evicted=_touched(reduced.edits),
    )
    found = measure(history, reduced.view.items(), cache=cache, expected=expected, memo=memo)
    return replace(
        report,
        retention=msgspec.to_builtins(found.whole),
        retention_evicted=msgspec.to_builtins(found.evicted),
    )


def facts_of(memo: dict[str, Any]) -> FactCache:
    """The facts found so far in a history's texts, as its memo has them."""
    cache: FactCache = memo.setdefault("facts", FactCache(Finder()))
    return cache


def look_ahead(history: History) -> None:
    """Find facts of a history that will have to be compacted soon, so that the cut need not wait: of the oldest texts
    that are not known yet, for at most some 20 ms a call; where all are known, put together what they mention."""
    cache = facts_of(history.memo)
    if Ahead().look(history.view, cache):
        said = [item.message for item in history.view]
        mentions_of(said, Words(), cache=cache, memo=history.memo, parts_max=AHEAD_PARTS)


class Ahead:
    """The same for a view that grows: a call goes on where the last one ended, and one that has read all looks at new messages
    alone."""

    def __init__(self) -> None:
        self._cache: FactCache | None = None
        self._begin(View())

    def _begin(self, view: View) -> None:
        self._view, self._count, self._read = view, 0, 0

    def look(self, view: View, cache: FactCache) -> bool:
        """Find facts as `look_ahead` does; true where those of all texts are known."""
        if cache is not self._cache or not view.extends(self._view):
            self._begin(view)
        self._cache, self._view = cache, view
        ahead: list[str] = []
        room = AHEAD_CHARS
        for item in view.since(self._count):
            if self._read > CHARS_MAX or room <= 0:
                break
            for text in map(text_of, item.message.parts):
                self._read += len(text)
                if text not in cache:
                    ahead.append(text)
                    room -= len(text)
            self._count += 1
        cache.learn(ahead)
        return self._count == len(view) and room > 0


def _commands(history: Sequence[Item], memo: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Each command once, as it came out the last time."""
    run = (done for done in called_in(history, memo).every if kind_of(done.call.name) == "shell")
    newest = {run_of(command): (command, done) for done in run if (command := command_of(done.call))}
    for command, done in newest.values():
        script = script_of(done.call)
        yield done.seq, command, outcome_of(done.result, hidden=hides_status(script), script=script)


def _touched(edits: Sequence[Edit]) -> frozenset[int]:
    seqs: set[int] = set()
    for edit in edits:
        if isinstance(edit, Replace):
            seqs.add(edit.seq)
        elif isinstance(edit, Fold):
            seqs.update(seqs_in(edit.spans))
    return frozenset(seqs)
