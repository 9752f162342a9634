"""A session gives back what it once said: by words, by address, and to its model's own call."""

from __future__ import annotations

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline.core.address import part_address, span_address
from foldline.core.errors import InvalidOption, UnknownAddress
from foldline.core.message import speaks_for_user
from foldline.recall.find import Found
from foldline.recall.rows import Filters
from foldline.session.nodes import RunningNode
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import image
from tests.judges.panel import violations
from tests.recall.test_tool import wire_call
from tests.session.making import FORMATS, answer, opened, reopened, worked

SECRET = "the vault code is xylophone"


def said(session: Session) -> Session:
    """Something worth finding, and enough after it to be folded."""
    session.user("read everything")
    session.record(answer("I look", ("first", "read"), format=session.format))
    session.tool_result("first", SECRET + "\n" + "other lines\n" * 40)
    worked(session, 20)
    return session


def asking(session: Session | RunningNode, asked: dict[str, Any], id: str = "r1") -> Any:
    """A response whose one call asks recall, and the call as the wire has it."""
    call = wire_call(session.format, asked, id=id)
    if session.format == "openai-responses":
        session.record(
            {"id": "r", "object": "response", "output": [call], "status": "completed", "model": "m"}
        )
    elif session.format == "openai-chat":
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        session.record({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    elif session.format == "anthropic":
        session.record(
            {"id": "m", "role": "assistant", "content": [call], "stop_reason": "tool_use", "model": "m"}
        )
    else:
        session.record(
            {"candidates": [{"content": {"role": "model", "parts": [call]}, "finishReason": "STOP"}]}
        )
    return call


def test_what_a_compaction_took_is_found_and_opened_and_stays_so_after_a_restart() -> None:
    """FUN-3's ground, law TRACE: by its words and by every address in view."""
    store = MemoryStore()
    session = said(opened(store))
    session.compact(to=0.3)
    assert "xylophone" not in json.dumps(session.prepare().messages)
    [hit] = session.recall("vault xylophone").hits
    assert session.open_address(hit.address, lines=(1, 1)).text == SECRET
    with reopened(session, store) as again:
        assert again.recall("vault xylophone").hits == (hit,)
        for made in again.compactions:
            for address in made.report["covers"]["addresses"]:
                assert again.open_address(address, tokens=100).text


@pytest.mark.parametrize("format", FORMATS)
def test_a_models_call_is_answered_and_recorded(format: str) -> None:
    """In every format; the next request is what its provider takes, with the answer whole in it."""
    session = said(opened(format=format))
    session.compact(to=0.5)
    call = asking(session, {"query": "vault"})
    given = session.answer(call)
    assert SECRET in given.text
    request = session.prepare()
    assert SECRET in json.dumps(request.messages)
    again = asking(session, {"address": "m9999.0@00000000"}, id="r2")
    assert session.answer(again).is_error
    assert "nothing there, but m0 to" in json.dumps(session.prepare().messages)
    assert len(session.recall("xylophone").hits) == 1, "an answer of recall is not found again"


PICTURES: dict[str, Any] = {
    "anthropic": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": image().data},
    },
    "openai-chat": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image().data}"}},
}


@pytest.mark.parametrize("format", PICTURES)
def test_pictures_come_back_as_pictures(format: str) -> None:
    """Beside the result on a wire that has none inside, and then as no user's words."""
    session = opened(format=format)
    session.user([{"type": "text", "text": "look"}, PICTURES[format]])
    [shown] = session._view().view.items()
    given = session.answer(asking(session, {"address": span_address([(0, shown.message)])}))
    assert given.media
    assert json.dumps(session.prepare().messages).count(str(image().data)) == 2
    spoken = [item.seq for item in session._view().view if speaks_for_user(item.message)]
    assert spoken == [0]


def test_a_call_of_another_format_is_answered_in_the_sessions_own() -> None:
    """A host that turned it into something else."""
    session = said(opened())
    asking(session, {"query": "vault"})
    session.answer(wire_call("openai-chat", {"query": "vault"}, id="r1"))
    assert session.prepare().messages[-1]["content"][0]["tool_use_id"] == "r1"


def test_a_call_that_the_session_does_not_have_is_refused() -> None:
    session = said(opened())
    with pytest.raises(InvalidOption, match="no call in the view"):
        session.answer(wire_call("anthropic", {"query": "vault"}, id="nobody"))
    with pytest.raises(InvalidOption, match="give the call"):
        session.answer("recall")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("nested", [False, True], ids=["a node", "a node in a node"])
def test_a_sub_agents_call_is_answered_among_its_own_messages(format: str, nested: bool) -> None:
    """FUN-3: it finds what the whole session has said; the outside sees nothing of it, and what it was told is not found again.
    After its end there is nobody to answer."""
    store = MemoryStore()
    session = said(opened(store, format=format))
    session.compact(to=0.5)
    with session.node("outer", input="ask what the code was") as outer:
        node = outer.node("inner", input="ask it") if nested else outer
        call = asking(node, {"query": "vault"})
        given = node.answer(call)
        assert SECRET in given.text
        inside = node.prepare()
        assert SECRET in json.dumps(inside.messages)
        assert violations(inside.body, format=format) == []
        assert SECRET not in json.dumps(session.prepare().messages)
        assert node.waiting == ()
        node.record(answer("it was a word for a thing of wood", format=format))
        node.finish()
        with pytest.raises(InvalidOption, match="has ended"):
            node.answer(call)
    assert len(session.recall("xylophone").hits) == 1
    with reopened(session, store) as again:
        assert "a thing of wood" in json.dumps(again.prepare().messages) or nested


def test_a_fork_finds_what_it_goes_on_from_and_its_own() -> None:
    """ahmadrosid/nakama#588: in forks too."""
    store = MemoryStore()
    session = said(opened(store))
    at = session.seq
    session.user("later alpha")
    fork = session.fork("f", at=at)
    fork.user("fork beta")
    assert fork.recall("xylophone").hits[0].session == "s"
    assert fork.open_address(fork.recall("xylophone").hits[0].address, lines=(1, 1)).text == SECRET
    assert fork.recall("alpha").hits == ()
    [hit] = fork.recall("beta").hits
    assert fork.open_address(hit.address).text == "fork beta"
    again = fork.fork("g")
    again.user("gamma")
    assert again.open_address(again.recall("gamma").hits[0].address).text == "gamma"
    assert again.recall("beta").hits[0].session == "f"
    assert {hit.session for hit in again.recall("later OR fork gamma", everywhere=True).hits} >= {"f", "g"}


def test_what_lies_behind_a_rollback_is_found() -> None:
    """Nothing is ever taken out of a log."""
    session = said(opened())
    at = session.seq
    session.user("rolled away")
    session.rollback(to=at)
    [hit] = session.recall("rolled away").hits
    assert session.open_address(hit.address).text == "rolled away"


def test_children_of_a_node_are_found_and_opened() -> None:
    """FUN-3: a finished node shows input and output, and its children are read through recall."""
    session = opened()
    session.user("go")
    with session.node("research_agent", input="find it") as node:
        node.user("look for the zebra")
        node.record(answer("the zebra is in the barn"))
        node.finish("found")
    assert "barn" not in json.dumps(session.prepare().messages)
    [hit, *_] = session.recall("zebra barn").hits
    assert "barn" in session.open_address(hit.address).text
    given = session.answer(asking(session, {"query": "zebra barn"}))
    assert "the zebra is in the barn" in given.text


def test_filters_and_ranges_are_passed_on() -> None:
    session = said(opened())
    assert session.recall("line", limit=2).more
    assert session.recall("vault", filters=Filters(role="user")).hits == ()
    address = session.recall("vault").hits[0].address
    assert session.open_address(address, chars=(5, 9)).text == "vault"
    with pytest.raises(UnknownAddress):
        session.open_address(part_address(0, session._view().view.items()[1].message.parts[0]))


def test_reading_again_what_was_taken_out_is_counted() -> None:
    """The loop guard."""
    session = said(opened())
    session.compact(to=0.3)
    address = session.recall("vault").hits[0].address
    assert session.rereads.share == 0
    session.answer(asking(session, {"address": address}))
    told = [(one.by, one.tool) for one in session.rereads.again]
    assert told == [("recall", "read")]


def test_on_disk_the_index_lies_beside_the_sessions_and_is_let_go_of(tmp_path: Path) -> None:
    """Read by this session and by the command line."""
    with foldline.open("fix", format="anthropic", home=tmp_path, counter="length/4") as session:
        session.user("alpha")
        assert session.recall("alpha").hits
        assert (tmp_path / "recall.sqlite").is_file()
    with foldline.open("fix", home=tmp_path, counter="length/4") as session:
        session.use("claude-sonnet-4-5")
        assert session.recall("alpha").hits


def test_the_async_twins_do_the_same() -> None:
    """Off the event loop."""

    async def work() -> Found:
        async with said(opened()) as session:
            found: Found = await session.arecall("vault", limit=3)
            opened_address = await session.aopen_address(found.hits[0].address, lines=(1, 1))
            assert opened_address.text == SECRET
            given = await session.aanswer(asking(session, {"query": "vault"}), tokens_max=500)
            assert SECRET in given.text
            assert (await session.arecall("vault")).hits == found.hits
            return found

    assert len(asyncio.run(work()).hits) == 1


def test_the_twins_have_the_same_bounds() -> None:
    """Written out there, since the event loop's module loads nothing of recall."""
    for name in ("recall", "open_address", "answer"):
        call, twin = (inspect.signature(getattr(Session, prefix + name)).parameters for prefix in ("", "a"))
        assert [told.default for told in twin.values()] == [told.default for told in call.values()]
