"""What a request of a conversation waits for, answered by waiting or by awaiting: its turn, and a session that prepares it.

What is raised is an answer too, for whoever asked to see to its conversation before it goes on. An abort (an interrupt, a cancelled
task) passes through, and closes the one that asked. Counterpart: `foldline.clients.following`, which asks.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any, Final, TypeAlias, assert_never

from msgspec import Struct

from foldline.clients.calls import Call
from foldline.clients.same_model import PIECE_S_MAX, on_its_way
from foldline.core.foreign import Raised, atried, tried
from foldline.session.request import Prepared
from foldline.session.session import Session

WAIT_S_MAX: Final = PIECE_S_MAX
"""Longest wait for another request of the same conversation: as long as for a piece of the summary that it may be waiting for."""


class Waiting(Struct, frozen=True, kw_only=True):
    """Until another request of the conversation has had its turn. Answered by whether it had."""

    turn: Future[None]


class Preparing(Struct, frozen=True, kw_only=True):
    """Until a session has prepared a request: the next one, or the one after a refusal."""

    session: Session
    call: Call
    refusal: tuple[int | None, Any] | None = None
    """Status and body."""


Step: TypeAlias = Waiting | Preparing


def answered(step: Step) -> bool | Prepared | Raised:
    """By waiting."""
    match step:
        case Waiting(turn=turn):
            return not isinstance(tried(lambda: turn.result(WAIT_S_MAX)), Raised)
        case Preparing(session=session, call=call):
            with on_its_way(call):
                if step.refusal is None:
                    return tried(lambda: session.prepare(call.system, call.tools, output_cap=call.output_cap))
                status, body = step.refusal
                return tried(lambda: session.recover(body, status=status))
        case never:
            assert_never(never)


async def aanswered(step: Step) -> bool | Prepared | Raised:
    """By awaiting."""
    match step:
        case Waiting(turn=turn):
            waited = asyncio.wait_for(asyncio.wrap_future(turn), WAIT_S_MAX)
            return not isinstance(await atried(waited), Raised)
        case Preparing(session=session, call=call):
            with on_its_way(call):
                if step.refusal is None:
                    return await atried(session.aprepare(call.system, call.tools, output_cap=call.output_cap))
                status, body = step.refusal
                return await atried(session.arecover(body, status=status))
        case never:
            assert_never(never)
