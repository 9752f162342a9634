"""Every source may be left out, and is called at the moment of the compaction."""

from __future__ import annotations

from foldline.restore import Restorer, Sources
from foldline.testing.counting import CharacterCounter


def test_a_host_that_says_nothing_is_asked_nothing() -> None:
    """RST-1: defaults are sane: what the history says, and else nothing."""
    assert {getattr(Sources(), name) for name in Sources.__struct_fields__} == {None}


def test_callbacks_are_called_when_it_is_restored_and_not_before() -> None:
    """RST-6: what they say must hold then."""
    folders = iter(["/first", "/second"])
    restorer = Restorer(sources=Sources(cwd=lambda: next(folders)))
    said = [restorer.restored((), room=1_000, counter=CharacterCounter()) for _ in range(2)]
    assert [restored.rows[0].name for restored in said] == ["/first", "/second"]
