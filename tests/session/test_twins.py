"""The async twins: the same calls off the event loop."""

from __future__ import annotations

import asyncio
import inspect

from foldline.session.conversation import Conversation
from foldline.session.nodes import RunningNode
from foldline.session.session import Session
from tests.session.making import answer, opened


def test_every_call_has_its_twin_with_the_same_signature() -> None:
    """Interface: the prefix `a`. The twins call what they do not know the type of, so no type checker sees them drift."""
    for kind in (Session, RunningNode):
        for name, call in inspect.getmembers(kind, inspect.isfunction):
            if name.startswith("_") or name in ("show", "page") or inspect.iscoroutinefunction(call):
                continue
            if inspect.isasyncgenfunction(inspect.unwrap(call)):  # a twin itself, for `async with`
                continue
            twin = getattr(kind, f"a{name}")
            signature, of_twin = inspect.signature(call), inspect.signature(twin)
            assert of_twin.parameters == signature.parameters, name
            gives = of_twin.return_annotation.replace("AsyncIterator", "Iterator")
            assert gives == signature.return_annotation, name
    assert issubclass(Session, Conversation)


def test_a_conversation_runs_in_an_event_loop() -> None:
    """A loop is never held up by a disk: each call runs in a thread, in its order."""

    async def talk() -> None:
        async with opened() as session:
            await session.auser("read")
            await session.aprepare("be kind")
            await session.arecord(answer("I read", ("c", "read")))
            await session.atool_result("c", "x" * 4_000)
            async with await session.anode("n", input="in") as node:
                await node.arecord(answer("out"))
                await node.afinish("done")
            fork = await session.afork("f")
            await fork.aclose()
            foreseen = await session.apreview(to=0.5)
            assert (await session.acompact(to=0.5)).tokens_after == foreseen.tokens_after
            address = foreseen.covers.addresses[0]
            await session.aunfold(address)
            await session.aundo()
            await session.arollback(to=0)
            await session.ause("claude-sonnet-4-5")
            assert len((await session.aprepare()).messages) == 1
            await asyncio.gather(*(session.auser(f"{n}") for n in range(20)))
            assert len(session.messages) == 21

    asyncio.run(talk())
