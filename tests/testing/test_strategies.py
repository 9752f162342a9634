"""The strategies draw what they promise: sound sessions are sound, broken ones are broken in every way."""

from __future__ import annotations

from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from foldline.core.laws import check
from foldline.core.message import Message
from foldline.core.needs import Needs
from foldline.core.pairing import Placed, RepairKind
from foldline.core.repair import repair
from foldline.testing.strategies import blank_texts, broken_sessions, sessions, texts, torn_texts
from foldline.wire.formats import codec

STRICT = Needs(blank_text=False, first=frozenset({"user"}))
FOUND = settings(max_examples=2_000, phases=(Phase.generate,), database=None, derandomize=True, deadline=None)


def is_sound(messages: list[Message], needs: Needs = STRICT) -> bool:
    return check([Placed(seq=seq, message=message) for seq, message in enumerate(messages)], needs) == ()


@given(sessions())
def test_a_session_breaks_no_law(messages: list[Message]) -> None:
    """Laws PAIR and ROLE hold before anything is done to it."""
    assert is_sound(messages)
    assert repair(messages, STRICT).repairs == ()


@given(sessions(open_tail=False))
def test_a_finished_session_waits_for_nothing(messages: list[Message]) -> None:
    """Law PAIR, with a tail that is over."""
    assert is_sound(messages, Needs(tail_stays_open=False))


@given(texts, blank_texts, torn_texts)
def test_texts_are_what_their_names_say(text: str, blank: str, torn: str) -> None:
    """A visible character, none, and half a surrogate pair."""
    assert text.strip()
    assert not blank.strip()
    assert any("\ud800" <= char <= "\udfff" for char in torn)


def test_every_kind_of_damage_that_a_repair_knows_is_drawn() -> None:
    """A strategy that never breaks anything would make every property of repairs pass."""
    kinds: tuple[RepairKind, ...] = (
        "interrupted-call",
        "waiting-call",
        "moved-result",
        "interim-result",
        "duplicate-result",
        "orphan-result",
        "duplicate-id",
        "refused-id",
        "refused-name",
        "kept-apart",
        "empty-message",
        "lone-surrogate",
        "first-role",
    )
    seen: set[str] = set()

    @settings(FOUND, max_examples=300)
    @given(broken_sessions())
    def collect(messages: list[Message]) -> None:
        seen.update(done.kind for done in repair(messages, codec("anthropic").rules.needs).repairs)

    collect()
    assert [kind for kind in kinds if kind not in seen] == []


def test_a_session_may_end_in_an_open_round() -> None:
    """What is still being worked on is a session too."""
    find(
        st.shared(sessions()),
        lambda messages: not is_sound(messages, Needs(tail_stays_open=False)),
        settings=FOUND,
    )
