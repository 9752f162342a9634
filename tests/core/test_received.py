"""Messages as they are taken into a history: slots, and folds of ours known again."""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.address import block
from foldline.core.message import Message, Text
from foldline.core.received import received, recognised, slotted
from foldline.testing.builders import user


def test_every_part_gets_an_address_and_messages_of_a_wire_keep_theirs() -> None:
    """TRACE: what has no slot yet is numbered in its order."""
    neutral = Message(role="user", parts=(Text(text="a"), Text(text="b")))
    assert [part.slot for part in slotted(neutral).parts] == [0, 1]
    wired = Message(role="user", parts=(Text(text="a", slot=3),))
    assert slotted(wired) is wired


def test_an_earlier_fold_is_known_again() -> None:
    """A summary is never summarised blindly: it is carried on as what it is."""
    fold = Message(role="user", parts=(Text(text=block("fold", "m0-3@00000000", body="lines")),))
    note = Message(role="user", parts=(Text(text=block("notice", "m0-3@00000000", body="lines")),))
    assert recognised(fold).synthetic == "fold"
    assert recognised(note).synthetic == "notice"
    assert recognised(replace(fold, synthetic="summary")).synthetic == "fold"
    for other in (
        user("<foldline-fold> is a tag"),
        user("plain"),
        user(fold.text, "and words"),
        replace(fold, role="assistant"),
        user(),
    ):
        assert recognised(other) is other


def test_a_message_is_slotted_and_known_in_one_step() -> None:
    """TRACE: a log's replay and the pure function take a message in alike."""
    fold = Message(role="user", parts=(Text(text=block("fold", "m0-3@00000000", body="lines")),))
    taken = received(fold)
    assert (taken.synthetic, taken.parts[0].slot) == ("fold", 0)
