"""The seam to the disk, as far as it is values."""

from __future__ import annotations

from foldline.stores.fs import NOTE_BYTES_MAX, LockHeld


def test_a_lock_that_is_held_carries_the_note_of_its_holder() -> None:
    assert LockHeld(b"x" * NOTE_BYTES_MAX).note == b"x" * NOTE_BYTES_MAX
