"""What a fold costs at least, and what it may take beyond a target that leaves it no room. Knows units and tokens; how the
room of a target is shared out is `fold_oldest`'s affair."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.core.address import block
from foldline.core.edit import Frame
from foldline.core.message import Message, Text
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, Unit, outline_of
from foldline.core.view import Item, View
from foldline.ledger.brief import brief_of
from foldline.ledger.render import HEADING_TOKENS, OMITTED_TOKENS
from foldline.ledger.words import Words, earlier, words_of
from foldline.passes.folding import HEAD_TOKENS, head_of, may_fold, messages_in

FOLD_TOKENS_SLACK = 8
"""How much more than the one it is measured with another address and other numbers may cost a fold."""
RULE_TOKENS = 12
"""What stands around one rule in a ledger: its dash, its message and its origin."""
VITAL_TOKENS_MOST = 2_000
"""Where a policy's own target leaves no room, what users ruled has so much all the same, as far as the window has it (CMP-30)."""
FLOOR_TOKENS = 400
"""Where no fold reaches the target, the ledger has so much all the same, as far as the window has it …"""
FLOOR_PART = 4
"""… and up to this part of what is folded, and of what stands fast: a missed target comes to no multiple of the least; …"""
FLOOR_TOKENS_MIN = 80
"""… less than this says nothing."""
LINE_TOKENS = 20
"""What a line of the ledger costs at most beside what it quotes, its heading included."""


def beyond_target(
    structure: Outline, loose: Sequence[Unit], *, missing: int, moment: Moment, frame: Frame
) -> int:
    """What a fold may take beside its bare cost though the target has no room for that, of which `missing` tokens are missed
    anyway (0 or less: none): what users ruled where a policy named the target, and what else was done where nothing reaches it."""
    fast = _fast_tokens(structure, loose, moment=moment)
    window = int((moment.tokens_window or 0) / moment.scale)
    free = max(0, window - fast) // 2
    ruled = 0 if moment.by_hand else vital_tokens(structure, loose, frame=frame)
    folded = sum(unit.tokens for unit in loose)
    floor = _floor(min(folded, fast)) if missing > 0 else 0
    return max(min(ruled, VITAL_TOKENS_MOST, free), min(floor, free) if window else floor)


def _fast_tokens(structure: Outline, loose: Sequence[Unit], *, moment: Moment) -> int:
    """What no fold takes away: system prompt, tools, and all units but the loose ones."""
    return (
        moment.tokens_fixed
        + sum(unit.tokens for unit in structure.units)
        - sum(unit.tokens for unit in loose)
    )


def _floor(of: int) -> int:
    """A part of so many tokens."""
    floor = min(FLOOR_TOKENS, of // FLOOR_PART)
    return floor if floor >= FLOOR_TOKENS_MIN else 0


def is_least(structure: Outline, loose: Sequence[Unit], *, bare: int, moment: Moment) -> bool:
    """Whether all that may be folded is a fold already, no larger than one that has its floor: another would say the same."""
    gone = [item for unit in loose for item in structure.items[unit.start : unit.end]]
    floor = _floor(_fast_tokens(structure, loose, moment=moment))
    return sum([item.tokens for item in gone]) <= bare + floor and all(
        item.message.synthetic == "fold" for item in gone
    )


def least_tokens(view: View, frame: Frame) -> int:
    """What a view comes to where one fold that says nothing stands for all that may go: no target below it is reached."""
    structure = outline_of(view)
    loose = [unit for unit in structure.units if may_fold(structure, unit, frame=frame)]
    said = sum(unit.tokens for unit in loose)
    return view.tokens - max(0, said - bare_fold(structure, loose, is_short=True, frame=frame))


def vital_tokens(structure: Outline, loose: Sequence[Unit], *, frame: Frame) -> int:
    """What the rules of users that may be folded take at least, in a ledger or where they stand."""
    words = words_of(structure.items, frame.memo)
    items = (item for unit in loose for item in structure.items[unit.start : unit.end])
    rules = [rule.text for item in items if words.stands(item.seq) for rule in words.rules(item.seq)]
    return sum(frame.counter.texts(rules)) + RULE_TOKENS * len(rules) + HEAD_TOKENS if rules else 0


def owed_tokens(structure: Outline, loose: Sequence[Unit], *, words: Words, frame: Frame) -> int:
    """What the ledger needs for messages of which a part was taken back: the rest of each, quoted."""
    seqs = [structure.items[unit.start].seq for unit in loose]
    texts = [words.standing(seq) for seq in seqs if seq in words.taken_back and words.stands(seq)]
    return sum(frame.counter.texts(texts)) + LINE_TOKENS * len(texts) + OMITTED_TOKENS if texts else 0


def acts_tokens(structure: Outline, loose: Sequence[Unit], *, frame: Frame) -> int:
    """What a ledger takes that says no more than which tools acted, and how often."""
    gone = [item for unit in loose for item in structure.items[unit.start : unit.end]]
    lines = brief_of(gone, [entry for found, _ in earlier(gone) for entry in found])
    return sum(frame.counter.texts(lines)) + len(lines) + HEADING_TOKENS + OMITTED_TOKENS if lines else 0


def bare_fold(structure: Outline, loose: Sequence[Unit], *, is_short: bool, frame: Frame) -> int:
    """What a fold of all that may go costs when it says nothing."""
    gone = [item for unit in loose for item in structure.items[unit.start : unit.end]]
    if not gone:
        return FOLD_TOKENS_SLACK
    seqs = [seq for item in gone for seq in (item.seq, *[span.end - 1 for span in item.covers])]
    text = block("fold", f"m{min(seqs)}-{max(seqs)}@0a1b2c3d", body=opening_of(gone, is_short=is_short))
    message = Message(role="user", parts=(Text(text=text),), synthetic="fold", edited=True)
    return frame.counter.message(message) + FOLD_TOKENS_SLACK


def opening_of(gone: Sequence[Item], *, is_short: bool) -> str:
    """A fold's first line; where the room is so small that it weighs against what was said, in few words."""
    if is_short:
        messages = messages_in(gone)
        return f"{messages} message{'s' if messages != 1 else ''}"
    return head_of(gone)
