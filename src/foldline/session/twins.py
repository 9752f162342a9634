"""The async twins of what a session and its nodes do: the same calls with the prefix `a`, off the event loop.

Each runs its call in a thread; the session's own lock keeps them in order. A call that was begun is finished even when its
caller is cancelled: what is appended is appended whole. What waits for a model or a hook awaits it, and is given up when it is
cancelled there: nothing has changed then.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from foldline.session.commanding import CONTEXT, FAILS, Commanded, of_compaction, of_failure, read_command
from foldline.threads import off

if TYPE_CHECKING:
    from foldline.engine.report import Report
    from foldline.log.state import Expose
    from foldline.recall.find import Found
    from foldline.recall.opening import Opened
    from foldline.recall.rows import Filters
    from foldline.recall.tool import Answer
    from foldline.session.nodes import RunningNode
    from foldline.session.recalling import Range
    from foldline.session.request import Prepared
    from foldline.session.session import Session


class Twins:
    """Of what a session and a node have in common."""

    async def auser(self, content: Any) -> None:
        """As `user`."""
        await off(cast(Any, self).user, content)

    async def arecord(self, response: Any) -> None:
        """As `record`."""
        await off(cast(Any, self).record, response)

    async def atool_result(self, call_id: str, output: Any, *, is_error: bool = False) -> None:
        """As `tool_result`."""
        await off(cast(Any, self).tool_result, call_id, output, is_error=is_error)

    async def aprepare(
        self, system: Any = None, tools: Any = None, *, output_cap: int | None = None
    ) -> Prepared:
        """As `prepare`; the completer may be async, and an async hook is waited for."""
        session = cast(Any, self)
        going = session._preparing(system, tools, output_cap=output_cap)
        return cast("Prepared", session._given_out(await session._await(going)))

    async def acompact(self, to: int | float | None = None, *, focus: str | None = None) -> Report:
        """As `compact`; the completer may be async, and an async hook is waited for."""
        session = cast(Any, self)
        return cast("Report", await session._await(session._by_hand(to, focus=focus)))

    async def alast_resort(self) -> Report:
        """As `last_resort`."""
        session = cast(Any, self)
        return cast("Report", await session._await(session._last_resort()))

    async def arecover(self, error: Any, *, delivered: bool = False, status: int | None = None) -> Prepared:
        """As `recover`."""
        session = cast(Any, self)
        going = session._recovering(error, delivered=delivered, status=status)
        return cast("Prepared", session._given_out(await session._await(going)))

    async def apreview(self, to: int | float | None = None, *, focus: str | None = None) -> Report:
        """As `preview`."""
        return cast("Report", await off(cast(Any, self).preview, to, focus=focus))

    async def acontext_use(self) -> dict[str, Any]:
        """As `context_use`."""
        return cast(dict[str, Any], await off(cast(Any, self).context_use))

    @asynccontextmanager
    async def aanswering(self) -> AsyncIterator[None]:
        """As `answering`."""
        with cast(Any, self).answering():
            yield

    async def anode(
        self, name: str, *, input: Any = "", expose: Expose = "io", call_id: str | None = None
    ) -> RunningNode:
        """As `node`; the node itself is an async context manager too."""
        made = await off(cast(Any, self).node, name, input=input, expose=expose, call_id=call_id)
        return cast("RunningNode", made)

    async def aanswer(self, call: object, *, everywhere: bool = False, tokens_max: int = 16_000) -> Answer:
        """As `answer`."""
        made = await off(cast(Any, self).answer, call, everywhere=everywhere, tokens_max=tokens_max)
        return cast("Answer", made)

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        await off(cast(Any, self).__exit__, kind, error, trace)


class NodeTwins(Twins):
    """Of a node."""

    async def afinish(self, output: Any = None) -> None:
        """As `finish`."""
        await off(cast(Any, self).finish, output)


class SessionTwins(Twins):
    """Of a session."""

    async def aundo(self, entry: int | None = None) -> int:
        """As `undo`."""
        return cast(int, await off(cast(Any, self).undo, entry))

    async def aunfold(self, address: str) -> int:
        """As `unfold`."""
        return cast(int, await off(cast(Any, self).unfold, address))

    async def arollback(self, to: int | None = None, *, before: int | None = None) -> int:
        """As `rollback`."""
        return cast(int, await off(cast(Any, self).rollback, to, before=before))

    async def aclear(self) -> int:
        """As `clear`."""
        return cast(int, await off(cast(Any, self).clear))

    async def acommand(self, line: str) -> Commanded | None:
        """As `command`; the completer may be async."""
        session, asked = cast(Any, self), read_command(line)
        if asked is None or asked.name == CONTEXT:
            return cast("Commanded | None", await off(session.command, line))
        try:
            return of_compaction(await session.acompact(focus=asked.rest or None))
        except FAILS as error:
            return of_failure(error)

    async def acompact_in_background(self, *, focus: str | None = None) -> bool:
        """As `compact_in_background`, as a task of this event loop."""
        import asyncio

        session = cast(Any, self)
        work = await off(session._ahead, focus=focus)
        if work is not None:
            session._known.task = asyncio.create_task(session._quietly(session._going_ahead(work)))
        return work is not None

    async def afork(self, name: str, *, at: int | None = None) -> Session:
        """As `fork`."""
        return cast("Session", await off(cast(Any, self).fork, name, at=at))

    async def ause(self, model: str) -> None:
        """As `use`."""
        await off(cast(Any, self).use, model)

    async def arecall(
        self, query: str, *, filters: Filters | None = None, limit: int = 8, everywhere: bool = False
    ) -> Found:
        """As `recall`."""
        made = await off(cast(Any, self).recall, query, filters=filters, limit=limit, everywhere=everywhere)
        return cast("Found", made)

    async def aopen_address(
        self, address: str, *, lines: Range | None = None, chars: Range | None = None, tokens: int = 4_000
    ) -> Opened:
        """As `open_address`."""
        made = await off(cast(Any, self).open_address, address, lines=lines, chars=chars, tokens=tokens)
        return cast("Opened", made)

    async def aclose(self) -> None:
        """As `close`."""
        await off(cast(Any, self).close)
