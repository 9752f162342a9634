"""A session follows a list that somebody else keeps: what is new is appended, what is sent are the list's own messages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest

from foldline.core.message import Message, Text, calls_of
from foldline.session.following import NOT_RUN, Following
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore
from foldline.testing.judges import openai_responses


def opened(store: MemoryStore | None = None) -> Session:
    return open_in(store or MemoryStore(), "s", asked=SessionOptions(format="openai-chat", model="gpt-4o"))


def said(role: str, text: str) -> Message:
    parts = (Text(text=text),)
    return Message(role="user", parts=parts) if role == "user" else Message(role="assistant", parts=parts)


def test_messages_of_any_role_are_appended_and_found_again() -> None:
    """Law REPLAY: ordinals and entries are those of the log, in this process and the next."""
    store = MemoryStore()
    with opened(store) as session:
        kept = Following(session)
        made = kept.take([said("user", "a"), said("assistant", "b")])
        assert kept.take([]) == []
        kept.take([said("user", "c")])
        told = kept.record({"role": "assistant", "content": "d"})
        assert [one.ordinal for one in (*made, *told)] == [0, 1, 3]
        assert kept.session.seq == told[-1].seq
    with opened(store) as session:
        again = Following(session).kept()
        assert [one.message.text for one in again] == ["a", "b", "c", "d"]
        assert [one.ordinal for one in again] == [0, 1, 2, 3]
        assert again[-1].seq == told[-1].seq


def test_what_was_taken_back_is_not_among_what_is_kept() -> None:
    """The list on the way to here; ordinals go on."""
    with opened() as session:
        kept = Following(session)
        first = kept.take([said("user", "a"), said("assistant", "b")])
        session.rollback(to=first[0].seq)
        kept.take([said("assistant", "c")])
        assert [(one.message.text, one.ordinal) for one in kept.kept()] == [("a", 0), ("c", 2)]


@pytest.mark.parametrize(
    "look",
    [Following.is_whole, Following.weighed, lambda kept: list(kept.view({}, without=set()))],
    ids=["is_whole", "weighed", "view"],
)
def test_a_list_is_looked_at_with_the_lock_of_its_session(look: Callable[[Following], object]) -> None:
    """`Conversations.counted` looks while a request of the same conversation is prepared, which goes on with what is remembered of
    the view."""
    with opened() as session, ThreadPoolExecutor() as threads:
        kept = Following(session)
        kept.take([said("user", "a"), said("assistant", "b")])
        with session._keeper.lock:
            looking = threads.submit(look, kept)
            assert not wait([looking], timeout=0.05).done
        looking.result()


def test_a_list_is_whole_until_an_edit_stands_in_the_view() -> None:
    """Then the session says what is sent: places in the list, and what stands for the rest."""
    with opened() as session:
        kept = Following(session)
        for n in range(12):
            text = f"step {n} " + " ".join(f"w{n}x{i}" for i in range(300))
            kept.take([said("user", text), said("assistant", f"answer {n}")])
        kept.take([said("user", "go on")])
        assert kept.is_whole()
        places = {ordinal: ordinal for ordinal in range(25)}
        assert list(kept.shown(session.prepare(), places)) == list(range(25))
        session.compact(to=3_000)
        assert not kept.is_whole()
        shown = list(kept.shown(session.prepare(), places))
        assert shown[-1] == 24
        assert any(isinstance(one, Message) and one.synthetic for one in shown)
        session.undo()
        assert kept.is_whole()


def test_a_message_is_compared_as_the_log_has_it() -> None:
    """Its secrets are not there."""
    asked = SessionOptions(format="openai-chat", redact=lambda body: body.replace(b"hunter2", b"*****"))
    with open_in(MemoryStore(), "s", asked=asked) as session:
        kept = Following(session)
        plain = said("user", "nothing")
        assert kept.stored(plain) is plain
        assert kept.stored(said("user", "hunter2")).text == "*****"


def test_what_was_made_of_older_messages_is_made_again_where_the_laws_have_it() -> None:
    """Law PREFIX: after a rollback behind a compaction; what names a message that was taken back is not, nor what follows it."""
    with opened() as session:
        kept = Following(session)
        for n in range(8):
            made = kept.take([said("user", f"ask {n} " + "word " * 300), said("assistant", f"answer {n}")])
        kept.take([said("user", "go on")])
        session.compact(to=0.5)
        view = [message["content"] for message in session.prepare().messages]
        older = kept.made_since(made[-1].seq, ordinal=made[-1].ordinal)
        assert [one.is_edit for one in older] == [False]
        assert kept.made_since(made[-1].seq, ordinal=0) == []
        assert kept.made_since(kept.session.seq, ordinal=99) == []
        session.rollback(to=made[-1].seq)
        assert kept.is_whole()
        left = kept.make_again(older)
        kept.take([said("user", "go on otherwise")])
        assert kept.make_again(left) == []
        again = [message["content"] for message in session.prepare().messages]
        assert again == [*view[:-1], "go on otherwise"]
        assert [one.counts for one in session.compactions] == [False, True]


def test_a_call_of_recall_is_answered_beside_the_list() -> None:
    """What was looked up stands in the session and not among what its list is compared with, after a restart neither."""
    store = MemoryStore()
    asked = {
        "id": "c",
        "type": "function",
        "function": {"name": "recall", "arguments": '{"query": "answer 3"}'},
    }
    other = {"id": "d", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    with opened(store) as session:
        kept = Following(session)
        for n in range(8):
            kept.take([said("user", f"ask {n} " + "word " * 300), said("assistant", f"answer {n}")])
        kept.take([said("user", "go on")])
        session.compact(to=0.5)
        nothings: list[Any] = [{"role": "assistant", "content": "no call"}, {"choices": []}]
        for nothing in nothings:
            before = session.seq
            assert kept.calls_recall(nothing) == ()
            assert kept.recall(nothing) == []
            assert session.seq == before
        assert kept.recall({"role": "assistant", "content": None, "tool_calls": [asked, other]}) == []
        call, result, refused = session.prepare().messages[-3:]
        assert [one["id"] for one in call["tool_calls"]] == ["c", "d"]
        assert (result["tool_call_id"], "answer 3" in result["content"]) == ("c", True)
        assert refused["content"] == NOT_RUN
        assert kept.kept()[-1].message.text == "go on"
    with opened(store) as session:
        assert Following(session).kept()[-1].message.text == "go on"
        assert len(session.prepare().messages) > 3


def test_items_that_were_delivered_before_a_call_of_recall_are_the_lists_own() -> None:
    """Of Responses each item is a message: a text that was streamed is known again; the calls are not, nor reasoning that led to
    nothing but them."""
    asked = SessionOptions(format="openai-responses", model="gpt-5")
    call = {"type": "function_call", "call_id": "c", "name": "recall", "arguments": "{}"}
    content = [{"type": "output_text", "text": "let me look", "annotations": []}]
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "id": "m", "role": "assistant", "content": content},
        {"type": "reasoning", "id": "rs_2", "summary": []},
        call,
    ]
    with open_in(MemoryStore(), "s", asked=asked) as session:
        kept = Following(session)
        first = kept.take([said("user", "where is it")])
        given = kept.recall({"output": items, "status": "completed"}, is_delivered=True)
        assert [one.message.text for one in given] == ["", "let me look"]
        [last] = kept.record({"output": [{**items[1], "id": "m2"}], "status": "completed"})
        assert [calls_of(one) != () for one in last.unseen] == [False, True, False]
        known = kept.kept()
        assert [(one.seq, one.ordinal) for one in known] == [
            (one.seq, one.ordinal) for one in (*first, *given, last)
        ]
        assert len(session.prepare().messages) == len(known) + 3


def test_items_that_were_delivered_behind_a_call_of_recall_are_the_lists_own() -> None:
    """Law LOG: they stand where they were said, between the call and its result, and are taken back with both."""
    asked = SessionOptions(format="openai-responses", model="gpt-5")
    call = {"type": "function_call", "call_id": "c", "name": "recall", "arguments": "{}"}
    content = [{"type": "output_text", "text": "it takes a moment", "annotations": []}]
    spoken = {"type": "message", "id": "m", "role": "assistant", "content": content}
    items = [{"type": "reasoning", "id": "rs_1", "summary": []}, call, spoken]
    with open_in(MemoryStore(), "s", asked=asked) as session:
        kept = Following(session)
        [first] = kept.take([said("user", "where is it")])
        [given] = kept.recall({"output": items, "status": "completed"}, is_delivered=True)
        [last] = kept.record({"output": [{**spoken, "id": "m2"}], "status": "completed"})
        for one in (given, kept.kept()[1]):
            assert (one.message.text, one.seq - one.since, len(one.unseen)) == ("it takes a moment", 2, 2)
        assert one.since == first.seq + 1
        assert (last.since, len(last.unseen)) == (last.seq, 1)
        kinds = [message.get("type", "message") for message in session.prepare().messages]
        assert kinds == [
            "message",
            "reasoning",
            "function_call",
            "message",
            "function_call_output",
            "message",
        ]
        assert openai_responses.violations({"input": session.prepare().messages}) == []


def test_a_view_is_shown_without_what_was_not_said() -> None:
    """To be counted: nothing is prepared, and the list's own messages stay its own."""
    with opened() as session:
        kept = Following(session)
        made = kept.take([said("user", "a"), said("assistant", "b")])
        places = {one.ordinal: n for n, one in enumerate(made)}
        assert list(kept.view(places, without=set())) == [0, 1]
        assert list(kept.view(places, without={made[1].ordinal})) == [0]
