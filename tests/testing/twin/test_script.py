"""The values of a script: what they are when nothing is said, and that they cannot change under a running twin."""

from __future__ import annotations

import pytest
from msgspec import Struct

from foldline.testing.twin.script import DELTA_CHARS, Answer, Call, Delivery, Fault, Received


def test_an_answer_is_sent_in_order_unless_told_otherwise() -> None:
    assert Answer(text="x").delivery == Delivery()
    assert (Delivery().end, Delivery().bytes_per_write, Delivery().stall_after) == ("done", None, None)
    assert DELTA_CHARS > 0


@pytest.mark.parametrize("value", [Answer(), Call(name="ls"), Fault(status=500), Delivery()])
def test_a_step_cannot_be_changed_while_it_is_sent(value: Struct) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        setattr(value, value.__struct_fields__[0], None)


def test_a_request_is_being_answered_until_it_has_a_status() -> None:
    assert Received(dialect="anthropic", path="/", headers={}, body=b"").status == 0
