"""A command over one session or all: what is not sound is listed whole, the rest by pages."""

from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from foldline.cli.walking import listed, more_of, refuse_unfit


class Found(Struct, frozen=True, kw_only=True):
    """What was found of a session."""

    name: str
    sound: bool


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 5))
def test_the_pages_one_after_the_other_list_every_session(sound: list[bool], limit: int) -> None:
    """Paging: nothing is left out, nothing that is sound comes twice, and what is not sound is on the page of its names."""
    rest = [Found(name=f"s{number:02}", sound=is_sound) for number, is_sound in enumerate(sound)]
    seen: list[str] = []
    while True:
        page, behind = listed(rest, is_sound=lambda one: one.sound, limit=limit)
        assert [one for one in page if not one.sound] == [one for one in rest if not one.sound]
        assert sum(one.sound for one in page) <= limit
        seen += [one.name for one in page if one.sound]
        if behind is None:
            break
        rest = [one for one in rest if one.name > behind]
    assert seen == [f"s{number:02}" for number, is_sound in enumerate(sound) if is_sound and limit]


def test_the_next_page_is_asked_for_by_name() -> None:
    """With the limit that was asked with; nothing where there is none."""
    assert more_of("scan --all", None, limit=3) == ""
    assert more_of("scan --all", "s1", limit=None) == "; more: foldline scan --all --after s1"
    assert more_of("sessions", "s1", limit=3) == "; more: foldline sessions --after s1 --limit 3"


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        (None, {"every": False, "paged": False}, "name one SESSION, or give --all"),
        ("s", {"every": True, "paged": False}, "name one SESSION, or give --all"),
        ("s", {"every": False, "paged": True}, "go with --all"),
    ],
)
def test_neither_one_nor_all_is_wrong_usage(name: str | None, given: dict[str, Any], told: str) -> None:
    """And so are both, and pages of one."""
    with click.Context(click.Command("x")), pytest.raises(click.UsageError, match=told):
        refuse_unfit(name, **given)
    refuse_unfit("s", every=False, paged=False)
    refuse_unfit(None, every=True, paged=True)
