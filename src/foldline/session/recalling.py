"""What a session gets back of what it once said: search, opening an address, and the answer to a model's call of recall.

    session.recall("pool size").hits
    session.open_address("m12.3@5f0c9a1e", lines=(40, 80)).text
    session.answer(block)                      # a call of the tool `recall`: the result is recorded
    node.answer(block)                         # the same of a sub-agent, among its own messages

Reads the log and the index beside it, never the view, so it finds what compactions took, what lies behind a rollback, and what
nodes said. Counterpart: `foldline.recall`.
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from foldline.core.errors import InvalidOption
from foldline.core.kinds import refuse_no_flag, refuse_no_number, refuse_no_text
from foldline.core.message import Message, Meta, holds_results
from foldline.recall.find import HITS, Found
from foldline.recall.loops import Rereads, rereads
from foldline.recall.opening import TOKENS, Excerpt, Opened
from foldline.recall.rows import Filters
from foldline.recall.tool import TOKENS_MAX, Answer, Scope, execute
from foldline.session.incoming import waiting_call
from foldline.session.keep import message_draft
from foldline.wire.strict import dump

if TYPE_CHECKING:
    from foldline.recall.find import Recall
    from foldline.session.conversation import Conversation
    from foldline.session.session import Session

Range = tuple[int, int | None]
"""First and last, from 1, both included; `None`: to the end."""


class Recalling:
    """Of a session."""

    _recall: Recall | None = None

    def recall(
        self, query: str, *, filters: Filters | None = None, limit: int = HITS, everywhere: bool = False
    ) -> Found:
        """What was ever said, in this session and in those it is a fork of, that answers a query; with `everywhere` in all
        sessions. Each hit has its address. Raises `InvalidOption`."""
        refuse_no_text(query=query)
        refuse_no_number(limit=limit)
        refuse_no_flag(everywhere=everywhere)
        given: object = filters
        if not isinstance(given, (Filters, NoneType)):
            raise InvalidOption(
                "filters", filters, why="give a `foldline.recall.rows.Filters`, or leave it out"
            )
        name = None if everywhere else self._own.name
        return self._recaller().search(query, session=name, filters=filters, hits_max=limit)

    def open_address(
        self, address: str, *, lines: Range | None = None, chars: Range | None = None, tokens: int = TOKENS
    ) -> Opened:
        """The original behind an address, or a range of it, at most so many tokens; `rest` says what to ask for next. Raises
        `UnknownAddress`, `InvalidOption`."""
        refuse_no_text(address=address)
        refuse_no_number(tokens=tokens)
        excerpt = Excerpt(lines=lines, chars=chars, tokens_max=tokens)
        return self._recaller().open(address, session=self._own.name, excerpt=excerpt)

    def answer(self, call: object, *, everywhere: bool = False, tokens_max: int = TOKENS_MAX) -> Answer:
        """Answer a model's call of `foldline.recall_tool` and record the result. The call is taken as it came. What cannot be
        done is said in the result. Raises `InvalidOption` for what is no call, or one that the view does not have."""
        return answered(self._own, self._own, call=call, everywhere=everywhere, tokens_max=tokens_max)

    @property
    def rereads(self) -> Rereads:
        """What compactions took out of view and was soon read again: the sign to keep more."""
        return rereads(self._own._keeper.log.entries())

    @property
    def _own(self) -> Session:
        return cast("Session", self)

    def _recaller(self) -> Recall:
        from foldline.recollect import recall_over

        own = self._own
        with own._keeper.lock:
            own._keeper.refuse_closed()
            counter = own._known.setup.counter
            if self._recall is None:
                self._recall = recall_over(own._store, counter=counter)
            self._recall.counter = counter
            return self._recall

    def _close_recall(self) -> None:
        if self._recall is not None:
            self._recall.close()


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
