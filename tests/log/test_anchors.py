"""Which usage a projection may start from, entry by entry; with a whole log: `test_replay`."""

from __future__ import annotations

from foldline.core.edit import Drop
from foldline.core.message import Message, Meta, Usage
from foldline.core.view import Span
from foldline.log.anchors import after_edits, after_message, after_usage, dropped
from foldline.log.state import Anchor, Scope, Unsaid
from foldline.testing.builders import assistant, user

USAGE = Usage(tokens_input=7, tokens_output=1)
SPOKE = Message(role="assistant", parts=assistant("done").parts, meta=Meta(usage=USAGE))
SILENT = assistant("done")
ANCHORED = Scope(anchor=Anchor(ordinal=1, usage=USAGE))


def test_only_an_answer_moves_the_anchor() -> None:
    """TOK-3: not what a user says, nor what foldline wrote."""
    assert after_message(ANCHORED, user("and"), ordinal=2, told_of={}) == ANCHORED
    fold = Message(role="assistant", parts=SILENT.parts, synthetic="fold")
    assert after_message(ANCHORED, fold, ordinal=2, told_of={}) == ANCHORED
    moved = after_message(ANCHORED, SPOKE, ordinal=3, told_of={"request": b'{"tokens_fixed":40}'})
    assert moved == Scope(anchor=Anchor(ordinal=3, usage=USAGE, tokens_fixed=40))


def test_an_answer_whose_usage_contradicts_its_request_leaves_the_one_before() -> None:
    """TOK-3, anomalyco/opencode#45168: its server dropped a part of what was sent."""
    told = {"request": b"false", "mismatch": b'{"kind":"truncated"}'}
    assert after_message(ANCHORED, SPOKE, ordinal=3, told_of=told) == ANCHORED


def test_an_answer_without_usage_waits_for_it() -> None:
    """TOK-5: and one to another request than the log shows waits for none."""
    waiting = after_message(ANCHORED, SILENT, ordinal=3, told_of={"request": b'{"tokens_fixed":40}'})
    assert waiting.unsaid == Unsaid(ordinal=3, tokens_fixed=40)
    assert after_usage(waiting, 3, usage=USAGE) == Scope(
        anchor=Anchor(ordinal=3, usage=USAGE, tokens_fixed=40)
    )
    assert after_usage(waiting, 2, usage=USAGE) == waiting
    never = after_message(ANCHORED, SILENT, ordinal=3, told_of={"request": b"false"})
    assert after_usage(never, 3, usage=USAGE) == never


def test_a_usage_may_be_told_again() -> None:
    """TOK-3: the last one counts."""
    more = Usage(tokens_input=9, tokens_output=1)
    assert after_usage(ANCHORED, 1, usage=more) == Scope(anchor=Anchor(ordinal=1, usage=more))


def test_an_edit_ends_what_counted_the_message_that_it_touches() -> None:
    """TOK-5, TOK-9: what came before it, not what came after."""
    waiting = Scope(anchor=ANCHORED.anchor, unsaid=Unsaid(ordinal=3))
    early = after_edits(waiting, [Drop(span=Span(start=0, end=1))])
    assert early == Scope(unsaid=Unsaid(ordinal=3, may_come=False))
    between = after_edits(waiting, [Drop(span=Span(start=2, end=3))])
    assert between == Scope(anchor=ANCHORED.anchor, unsaid=Unsaid(ordinal=3, may_come=False))
    assert after_edits(waiting, [Drop(span=Span(start=4, end=5))]) == waiting
    assert dropped(waiting) == Scope()
