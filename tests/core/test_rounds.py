"""Rounds, turns and units: where a view may be cut, and what no pass may touch."""

from __future__ import annotations

import pytest

from foldline.core.message import Message, Meta, Opaque, Text
from foldline.core.needs import Needs
from foldline.core.rounds import (
    Outline,
    awaits_person,
    kept_seqs,
    open_seqs,
    outline,
    outline_of,
    spans_of,
    unanswered,
)
from foldline.core.view import Span, View
from foldline.testing.builders import assistant, call, result, system, user, view_from


def outlined(*messages: Message) -> Outline:
    """The outline of messages as they would be projected."""
    return outline_of(view_from(messages))


def shape(structure: Outline) -> list[tuple[str, int, int]]:
    return [(unit.kind, unit.start, unit.end) for unit in structure.units]


def test_a_round_is_an_assistant_message_with_all_its_results() -> None:
    """Law ROUND: the smallest piece kept or dropped whole."""
    structure = outlined(
        system("be kind"),
        user("go"),
        assistant(call("a"), call("b")),
        result("a", "1"),
        result("b", "2"),
        assistant("done"),
        user("thanks"),
    )
    assert shape(structure) == [
        ("system", 0, 1),
        ("user", 1, 2),
        ("round", 2, 5),
        ("round", 5, 6),
        ("user", 6, 7),
    ]
    assert structure.turns == ((1, 4), (4, 5))
    assert structure.seqs(structure.units[2]) == {2, 3, 4}
    assert [u.tokens for u in structure.units] == [
        sum(i.tokens for i in structure.items[u.start : u.end]) for u in structure.units
    ]


def test_neighbouring_assistant_messages_are_one_round() -> None:
    """Codecs of items (Responses) give one message a call; they travel and leave together (law PAIR)."""
    structure = outlined(
        user("go"), assistant("first"), assistant(call("a")), assistant(call("b")), result("b"), result("a")
    )
    assert shape(structure) == [("user", 0, 1), ("round", 1, 6)]


def test_a_system_message_between_results_is_a_unit_of_its_own() -> None:
    """Only what holds results belongs to a round."""
    structure = outlined(user("go"), assistant(call("a")), result("a"), system("note"), assistant("on"))
    assert shape(structure) == [("user", 0, 1), ("round", 1, 3), ("system", 3, 4), ("round", 4, 5)]


def test_a_turn_begins_where_a_person_speaks() -> None:
    """What a host puts under the user's name and what foldline wrote begin none."""
    hosts = Message(role="user", parts=(Text(text="reminder", slot=0),), meta=Meta(injected=True))
    folded = Message(role="user", parts=(Text(text="fold", slot=0),), synthetic="summary")
    structure = outlined(hosts, folded, user("go"), assistant("ok"), hosts)
    assert [unit.kind for unit in structure.units] == ["user", "synthetic", "user", "round", "user"]
    assert structure.turns == ((2, 5),)
    assert outlined(assistant("hello")).turns == ()


def test_a_round_is_open_while_a_call_in_it_waits() -> None:
    """Law TAIL: the open round is never touched; nothing else is open."""
    waiting = outlined(user("go"), assistant(call("a"), call("b")), result("a", "1"))
    assert [unit.open for unit in waiting.units] == [False, True]
    assert open_seqs(waiting) == {1, 2}
    closed = outlined(user("go"), assistant(call("a")), result("a", "1"))
    assert [unit.open for unit in closed.units] == [False, False]
    assert open_seqs(closed) == frozenset()
    assert open_seqs(outline(())) == frozenset()
    assert not outlined(assistant(call("a")), result("a"), user("go")).units[-1].open


def test_calls_without_a_result_are_listed_in_their_order() -> None:
    """A result answers by id, wherever it stands among the given messages."""
    messages = [assistant(call("x", id="2"), call("x", id="1")), result("1")]
    assert unanswered(messages) == ("2",)
    assert unanswered([]) == ()


def test_what_must_stay_is_the_opening_system_text_the_last_words_of_a_person_and_what_waits() -> None:
    """Law TAIL, and rounds that wait for a person (google/adk-python#4740)."""
    structure = outlined(
        system("one"),
        system("two"),
        user("first"),
        assistant(call("request_approval")),
        user("last"),
        system("three"),
        assistant(call("a")),
    )
    # The waiting call was given a stand-in for its result, which shares its ordinal.
    assert kept_seqs(structure) == {0, 1, 3, 4, 6}


def test_a_call_that_was_interrupted_does_not_hold_its_round() -> None:
    """Only a person's answer is still expected."""
    structure = outlined(user("first"), assistant(call("bash")), user("last"))
    assert kept_seqs(structure) == {2}


def test_a_recorded_interim_result_does_not_hold_its_round() -> None:
    """A tool that said "pending" and never came back waits for nobody."""
    structure = outlined(
        user("first"), assistant(call("bash")), result("bash", "pending", interim=True), user("x")
    )
    assert kept_seqs(structure) == {3}


@pytest.mark.parametrize(
    "name", ["ask_user", "AskHuman", "confirm", "request_approval", "get_permission", "consent"]
)
def test_tools_that_ask_a_person_are_known_by_their_names(name: str) -> None:
    """google/adk-python#4740: a missing result means waiting, not a lost process."""
    assert awaits_person(name)


@pytest.mark.parametrize("name", ["bash", "task", "read_file", "user_info", ""])
def test_other_tools_wait_for_nobody(name: str) -> None:
    """The sound neighbours of the names above."""
    assert not awaits_person(name)


def test_ordinals_become_the_fewest_ranges() -> None:
    """A fold names ranges; ordinals may come in any order and twice."""
    assert spans_of([7, 1, 2, 3, 2]) == (Span(start=1, end=4), Span(start=7, end=8))
    assert spans_of([]) == ()


def test_an_outline_is_made_once_for_a_view_and_anew_for_the_next() -> None:
    """Checking is O(new messages): every pass of one compaction asks for the same outline."""
    view = view_from([user("go"), assistant("ok")])
    assert outline_of(view) is outline_of(view)
    longer = view.append(view.items()[0])
    assert len(outline_of(longer).items) == 3
    assert len(outline_of(view).items) == 2
    assert outline_of(View()).units == ()


def test_where_results_travel_in_user_messages_they_belong_to_the_round() -> None:
    """The Anthropic and Gemini wires have no role for results."""
    answer = Message(role="user", parts=result("a", "1").parts)
    structure = outline_of(
        view_from([user("go"), assistant(call("a")), answer, user("on")], needs=Needs(results_role="user"))
    )
    assert shape(structure) == [("user", 0, 1), ("round", 1, 3), ("user", 3, 4)]


def test_a_message_that_a_repair_took_apart_is_not_edited_by_halves() -> None:
    """Its late result went to its round, its words stay where they were said: an edit speaks of ordinals, and a fold
    of the round would take the words along without a trace."""
    late = Message(role="user", parts=(*result("a", "1").parts, Text(text="and go on", slot=1)))
    structure = outlined(user("go"), assistant(call("a")), user("x"), late, assistant("ok"), user("last"))
    assert [(unit.kind, sorted(structure.seqs(unit))) for unit in structure.units] == [
        ("user", [0]),
        ("round", [1, 3]),
        ("user", [2]),
        ("user", [3]),
        ("round", [4]),
        ("user", [5]),
    ]
    assert kept_seqs(structure) == {1, 3, 5}  # with the call that the result belongs to


def test_a_line_that_opens_a_history_keeps_nothing_in_place() -> None:
    """It shares the ordinal of the message it stands before, and leaves with it."""
    needs = Needs(first=frozenset({"user"}))
    structure = outline_of(
        view_from([assistant("hello"), user("go"), assistant("ok"), user("last")], needs=needs)
    )
    assert [unit.kind for unit in structure.units][:2] == ["synthetic", "round"]
    assert kept_seqs(structure) == {3}


def test_a_history_of_system_messages_alone_is_kept_whole() -> None:
    """Law TAIL where no user has spoken yet."""
    assert kept_seqs(outlined(system("be kind"), system("be brief"))) == {0, 1}


def test_a_providers_newest_compaction_is_kept_as_it_is() -> None:
    """Signed or sealed: nobody here can write it anew, and an older one is superseded by it."""
    raw = b'{"type":"compaction","content":"what was said"}'
    block = Message(role="assistant", parts=(Opaque(type="compaction", raw=raw, slot=0),))
    structure = outline_of(
        view_from([block, user("go"), block, user("last")], needs=Needs(first=frozenset({"user"})))
    )
    assert kept_seqs(structure) == {2, 3}
