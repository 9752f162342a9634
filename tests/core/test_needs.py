"""What a provider demands of a history, and where a blank text is accepted all the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.core.needs import Needs
from foldline.provider_rules import broken_laws
from foldline.testing.builders import assistant, call, user
from foldline.wire.formats import CODECS, codec


def test_beside_calls_a_text_may_be_blank_where_results_have_a_role_of_their_own() -> None:
    """Law ROLE: so an assistant says on the chat wire that it only calls tools."""
    calling, talking = assistant("", call("read", "c")), assistant("")
    assert Needs(blank_text=False).take_blank(calling)
    assert not Needs(blank_text=False).take_blank(talking)
    assert not Needs(blank_text=False, results_role="user").take_blank(calling)
    assert Needs(blank_text=True, results_role="user").take_blank(user(""))


@pytest.mark.parametrize("name", CODECS)
def test_of_a_format_results_may_still_come(name: str) -> None:
    """Law PAIR: a body that is asked about waits for them; who reads a finished session says that none will come."""
    needs, messages = codec(name).rules.needs, [user("go"), assistant(call("read", "c"))]
    assert broken_laws(messages, needs) == ()
    assert [one.law for one in broken_laws(messages, replace(needs, tail_stays_open=False))] == ["PAIR"]
