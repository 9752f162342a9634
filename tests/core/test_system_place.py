"""The place of a system message among others, by pictures: u, a, s, and t for an assistant that ends with a server tool."""

from __future__ import annotations

import pytest

from foldline.core.laws import check
from foldline.core.message import Message, Text, ToolCall
from foldline.core.needs import Needs
from foldline.core.repair import repair

BETWEEN = Needs(results_role="user", first=frozenset({"user"}), system_between=True)
SEARCH = ToolCall(id="s", name="web_search", arguments="{}", server=True)


def messages(picture: str) -> list[Message]:
    """One message a letter."""
    roles = {"u": "user", "a": "assistant", "s": "system", "t": "assistant"}
    return [
        Message(role=roles[letter], parts=(SEARCH,) if letter == "t" else (Text(text=letter),))  # type: ignore[arg-type]
        for letter in picture
    ]


def picture(found: list[Message]) -> str:
    return "".join("t" if SEARCH in message.parts else message.role[0] for message in found)


@pytest.mark.parametrize(
    ("came", "leaves"),
    [
        ("usua", "uusa"),  # what it stood before is gone
        ("uasu", "uaus"),
        ("uasua", "uausa"),
        ("uas", "usa"),  # no later place: the last one before
        ("uasa", "usaa"),
        ("usuasu", "uusaus"),
        ("ussua", "uussa"),
    ],
)
def test_a_system_message_moves_to_a_place_where_it_is_taken(came: str, leaves: str) -> None:
    """The judge's rule: behind a user's message, and last or before an assistant message."""
    given = messages(came)
    assert "ROLE" in {violation.law for violation in check(repair(given, Needs()).placed, BETWEEN)}
    found = repair(given, BETWEEN)
    assert picture([placed.message for placed in found.placed]) == leaves
    assert {done.kind for done in found.repairs} == {"moved-system"}
    assert check(found.placed, BETWEEN) == ()
    assert repair([placed.message for placed in found.placed], BETWEEN).repairs == ()


@pytest.mark.parametrize("came", ["usa", "us", "uts", "utsa", "sua", "ssu", "s", "", "uausa"])
def test_a_system_message_in_its_place_stays(came: str) -> None:
    """Leading ones are the prompt; behind a server tool is a place too."""
    given = messages(came)
    assert check(repair(given, Needs()).placed, BETWEEN) == ()
    assert repair(given, BETWEEN).repairs == ()


def test_a_system_message_does_not_move_behind_a_call_that_still_waits() -> None:
    """Laws PAIR and SAME: behind it the call would count as left, and the result that comes as late."""
    asked = ToolCall(id="c", name="bash", arguments="{}")
    given = [*messages("uas"), Message(role="assistant", parts=(asked,))]
    found = repair(given, BETWEEN)
    assert picture([placed.message for placed in found.placed]) == "usaa"
    assert {done.kind for done in found.repairs} == {"moved-system"}
    assert repair([placed.message for placed in found.placed], BETWEEN).repairs == ()


def test_an_empty_assistant_message_that_goes_takes_the_place_with_it() -> None:
    """Law ROLE: the repair of one message is another one's fault."""
    blank = Message(role="assistant", parts=(Text(text=" "),))
    given = [*messages("us"), blank, *messages("u")]
    found = repair(given, Needs(blank_text=False, first=frozenset({"user"}), system_between=True))
    assert picture([placed.message for placed in found.placed]) == "uus"
    assert [done.kind for done in found.repairs] == ["moved-system", "empty-message"]
