"""What a session gets back of what it once said: search, opening an address, and the answer to a model's call of recall.

    session.recall("pool size").hits
    session.open_address("m12.3@5f0c9a1e", lines=(40, 80)).text
    session.answer(block)                      # a call of the tool `recall`: the result is recorded
    node.answer(block)                         # the same of a sub-agent, among its own messages

Reads the log and the index beside it, never the view, so it finds what compactions took, what lies behind a rollback, and what
nodes said. The calls are the session's; here stands what an answer records. Counterpart: `foldline.recall`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from foldline.core.errors import InvalidOption
from foldline.core.kinds import refuse_no_flag, refuse_no_number
from foldline.core.message import Message, Meta, holds_results
from foldline.recall.tool import Answer, Scope, execute
from foldline.session.incoming import waiting_call
from foldline.session.keep import message_draft
from foldline.wire.strict import dump

if TYPE_CHECKING:
    from foldline.session.conversation import Conversation
    from foldline.session.session import Session

Range = tuple[int, int | None]
"""First and last, from 1, both included; `None`: to the end."""


def answered(
    own: Session, asking: Conversation, *, call: object, everywhere: bool, tokens_max: int
) -> Answer:
    """`answer`, where the session itself or one of its nodes asked: there the result is recorded."""
    refuse_no_flag(everywhere=everywhere)
    refuse_no_number(tokens_max=tokens_max)
    if tokens_max < 1:
        raise InvalidOption("tokens_max", tokens_max, why="an answer has at least one token")
    scope = Scope(session=None if everywhere else own.name, tokens_max=tokens_max)
    with own._keeper.lock:
        view = asking._view().view
        answer = execute(call, recall=own._recaller(), scope=scope)
        if answer.format == own._known.setup.format:
            waiting_call(view, answer.call_id)
            for message in answer.messages:
                own._keeper.say(message_draft(_kept(own, message), scope=asking._scope))
        else:
            asking.tool_result(answer.call_id, answer.text, is_error=answer.is_error)
    return answer


def _kept(own: Session, wire: dict[str, Any]) -> Message:
    """A message of the answer as the session keeps it. Pictures that travel in a user's message were said by no user."""
    message = own._known.setup.codec.decode(dump(wire))
    return message if holds_results(message) else replace(message, meta=Meta(injected=True))
