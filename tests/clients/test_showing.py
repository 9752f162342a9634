"""What is sent of a conversation, in bytes."""

from __future__ import annotations

import pytest

from foldline.clients.chains import ReadList
from foldline.clients.showing import shown, would_show
from foldline.wire.formats import codec
from tests.clients.lists import answer, assistant, call, conversations, long, sent, user

RULE = "Refactor. Never touch auth.py."


def test_what_an_edit_made_is_written_once_and_has_the_same_bytes_in_every_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Law PREFIX. Writing it again with every request took as long as reading the whole body."""
    known = conversations(policy="balanced")
    messages, written = [user(RULE)], list[object]()
    encode = type(codec("openai-chat")).encode_bytes

    def counted(self: object, message: object) -> bytes:
        written.append(message)
        return encode(self, message)  # type: ignore[arg-type]  # handed on as it is

    monkeypatch.setattr(type(codec("openai-chat")), "encode_bytes", counted)
    seen: list[list[object]] = []
    for n in range(60):
        asked = call(messages)
        going = known.outgoing(asked)
        assert going is not None
        if going.messages is not None:
            seen.append(sent(going, asked))
        known.answered(going.ticket, answer(f"a{n}"))
        messages += [assistant(f"a{n}"), user(long(f"w{n}_", 3_000))]
    assert len(seen) > 2
    assert 0 < len(written) == len({id(message) for message in written}), "each once"


def test_a_conversation_without_a_reduction_is_counted_and_shown_as_it_came() -> None:
    """LOSSLESS."""
    known = conversations()
    asked = call([user(RULE)])
    going = known.outgoing(asked)
    assert going is not None
    assert going.prepared is not None
    chain, read = going.ticket.chain, ReadList(asked)
    assert shown(chain, read, prepared=going.prepared) is None
    assert would_show(chain, read, links=chain.links, count=1) is None
