"""Every law catches what breaks it and lets its sound neighbour pass."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.core.laws import Violation, check, judge
from foldline.core.message import Message, Text
from foldline.core.needs import Needs
from foldline.core.pairing import Placed
from foldline.testing.builders import assistant, call, result, system, user
from foldline.wire.body import KEYS, body_value
from foldline.wire.codec import Request
from foldline.wire.convert import convert
from foldline.wire.formats import CODECS, codec
from tests.laws.breaches import CHANGES, HISTORIES, Edited, History


def checked(messages: tuple[Message, ...], needs: Needs) -> tuple[Violation, ...]:
    return check([Placed(seq=seq, message=message) for seq, message in enumerate(messages)], needs)


@pytest.mark.parametrize("case", HISTORIES, ids=lambda case: f"{case.law}, {case.why}")
def test_a_history_that_breaks_one_law_is_caught_by_that_law_alone(case: History) -> None:
    """Laws PAIR, ROLE and TRACE: the checker is tested with broken input, and with the sound input beside it."""
    assert checked(case.sound, case.needs) == ()
    found = checked(case.broken, case.needs)
    assert {violation.law for violation in found} == {case.law}
    assert all(violation.why for violation in found)
    assert all(violation.at.startswith("message ") for violation in found)


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: f"{case.law}, {case.why}")
def test_a_change_that_breaks_one_law_is_caught_by_that_law_alone(case: Edited) -> None:
    """Laws ROUND, CUT, TAIL, PIN and PREFIX, before against after."""
    assert judge(case.change(case.sound)) == ()
    found = judge(case.change(case.broken))
    assert {violation.law for violation in found} == {case.law}
    assert all(violation.why for violation in found)


def test_a_change_of_nothing_breaks_nothing() -> None:
    """Every view is its own sound neighbour."""
    for case in CHANGES:
        assert judge(case.change(case.before)) == ()


def test_a_violation_names_its_place() -> None:
    """The message by its ordinal, the part by its number, so that a person finds it."""
    (found,) = checked((user("go"), assistant("ok"), user("a", " ")), Needs(blank_text=False))
    assert found.at == "message 2, part 1"
    (found,) = checked((user("go"), assistant(call("a")), user("on")), Needs())
    assert found == Violation(law="PAIR", at="message 1", why="call a has no result in its round")


def test_system_text_stands_anywhere_and_between_roles_that_alternate() -> None:
    """Law ROLE: where system text may stand is the provider's rule, not a law."""
    strict = Needs(alternates=True, first=frozenset({"user"}))
    assert checked((system("a"), user("go"), system("b"), user("on"), system("c")), strict) == ()


def test_an_empty_history_breaks_no_law() -> None:
    """Nothing can be wrong with nothing."""
    assert checked((), Needs(tail_stays_open=False)) == ()


@pytest.mark.parametrize("name", CODECS)
def test_what_was_not_edited_leaves_as_the_very_object_and_what_was_edited_does_not(name: str) -> None:
    """Law LOSSLESS, for every wire format; the edited neighbour shows that the codec would notice."""
    neutral = Request(
        format="", messages=(user("go"), assistant("ok", call("a", x=1)), result("a", "1"), user("on"))
    )
    values = body_value(convert(neutral, name).request)[KEYS[name].messages]
    reading = codec(name)
    for value in values:
        value["x_unknown"] = {"kept": [1, 2.50]}
        assert reading.encode(reading.decode(value)) is value
    message = reading.decode(values[0])
    part = Text(text="other", slot=message.parts[0].slot, edited=True)
    changed = reading.encode(replace(message, parts=(part,), edited=True))
    assert changed is not values[0]
    assert changed["x_unknown"] == {"kept": [1, 2.50]}
    assert reading.decode(changed).text == "other"
