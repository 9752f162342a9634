"""What stands in the place of messages that a model summed up: its words, and beside them the host's own record.

    <foldline-fold id="m1-90@…">
    89 earlier messages, 61,204 tokens, summed up by a model; …
     ## Current work                              ← the model's words, one space before each line
    ## Objective and constraints                  ← the record: what users ruled, word for word, and by whom
    - never touch the vendored files (m3 user)
    </foldline-fold>

What a model wrote cannot pass for the record, neither in the block nor when a later compaction reads it back; what users ruled
never depends on a model. Knows folds and ledgers; asks nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from foldline.core.edit import Frame
from foldline.core.message import Message, Text
from foldline.core.rounds import Outline
from foldline.core.view import Item
from foldline.ledger.compose import compose
from foldline.ledger.entries import HEADINGS, Entry, Section
from foldline.ledger.render import line_of
from foldline.ledger.words import rule_lines, words_of
from foldline.passes.folding import counted, evicted_of
from foldline.passes.shorten import fact_cache, prices_of
from foldline.summary.taken import as_prose

HEAD: Final = (
    "{counted}, summed up by a model; the address opens the originals. Indented lines are the model's words; lines that end in "
    "(mN …) are the record."
)
HEAD_TOKENS: Final = 90
"""What the delimiters of such a fold and its first line cost at most."""
_MARKED: Final = re.compile(r"^[#*\s\d.)]{0,12}(.{1,80}?)[*:：\s]{0,6}$")
_BY_HEADING: Final[Mapping[str, Section]] = {heading.lower(): section for section, heading in HEADINGS}


def head_of(items: Sequence[Item]) -> str:
    """A fold's first line."""
    return HEAD.format(counted=counted(items))


def rules_of(structure: Outline, gone: Sequence[Item], *, frame: Frame) -> str:
    """What users ruled in messages that leave, under the ledger's heading; empty where they ruled nothing."""
    return "\n".join(rule_lines(gone, words_of(structure.items, frame.memo)))


def ledger_of(structure: Outline, gone: Sequence[Item], *, frame: Frame, budget: int, prose: str = "") -> str:
    """The host's record of messages that leave within `budget` tokens; what the model's words show takes no room in it."""
    evicted = evicted_of(structure, gone, words=words_of(structure.items, frame.memo), frame=frame)
    if prose:
        said = Message(role="assistant", parts=(Text(text=prose),), synthetic="fold")
        evicted = replace(evicted, kept=[*evicted.kept, said])
    return compose(evicted, budget=max(0, budget), prices=prices_of(frame), cache=fact_cache(frame)).text


def sections_in(text: str) -> tuple[list[str], dict[Section, list[str]]]:
    """A model's text by the ledger's headings: what stands before the first, and the lines under each."""
    before: list[str] = []
    found: dict[Section, list[str]] = {}
    lines = before
    for line in text.split("\n"):
        heading = _MARKED.match(line)
        section = _BY_HEADING.get(heading[1].strip().lower()) if heading is not None else None
        if section is not None:
            lines = found.setdefault(section, [])
        elif line.strip():
            lines.append(line)
    return before, found


def merged(record: str, text: str, *, records: Iterable[Entry] = ()) -> str:
    """The host's record with a model's lines under the same headings, behind what the record says there; exact records
    after both."""
    before, prose = sections_in(text)
    exact: dict[Section, list[str]] = {}
    for entry in records:
        exact.setdefault(entry.section, []).append(line_of(entry))
    blocks, rest = _blocks(record)
    out = [as_prose(line) for line in before]
    for section, heading in HEADINGS:
        here = [*blocks.get(heading, ()), *map(as_prose, prose.get(section, ()))]
        here += [line for line in exact.get(section, ()) if line not in here]
        if here:
            out += [f"## {heading}", *here]
    return "\n".join([*out, *rest])


def _blocks(record: str) -> tuple[dict[str, list[str]], list[str]]:
    """A ledger's lines by heading, and what stands under none of the headings that entries have."""
    known = {heading for _, heading in HEADINGS}
    blocks: dict[str, list[str]] = {}
    rest: list[str] = []
    lines = rest
    for line in record.split("\n") if record else ():
        heading = line.removeprefix("## ") if line.startswith("## ") else None
        if heading in known:
            lines = blocks.setdefault(heading or "", [])
            continue
        if heading is not None or line.startswith("("):
            lines = rest
        lines.append(line)
    return blocks, rest
