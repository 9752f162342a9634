"""A caller's own list is found again, whatever became of it: gone on with, taken back, branched, edited, restarted."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from foldline.clients import following
from foldline.clients.calls import call_of
from foldline.clients.chains import Chain
from foldline.clients.following import Conversations
from foldline.clients.own_summaries import CUES, IN_PART, WHY
from foldline.clients.sessions import Sessions
from foldline.core.errors import SessionFailed
from foldline.session.opening import open_in
from foldline.session.setup import SessionOptions
from foldline.stores.disk import DiskStore
from foldline.testing.disk import Call, SimulatedDisk
from foldline.wire import strict
from tests.clients.lists import MODEL, answer, assistant, call, conversations, long, sent, user
from tests.clients.runs import WINDOW, Run

RULE = "Fix the login. Never touch auth.py."


def turn(known: Conversations, messages: list[Any], text: str = "done") -> list[Any]:
    """One request and its answer; what was sent."""
    asked = call(messages)
    going = known.outgoing(asked)
    shown = sent(going, asked)
    assert going is not None
    known.answered(going.ticket, answer(text))
    return shown


def grown(known: Conversations, messages: list[Any], turns: int, tokens: int = 9_000) -> list[Any]:
    """The caller's list after so many turns of that size; what the last one sent."""
    shown: list[Any] = []
    for n in range(turns):
        shown = turn(known, messages, f"answer {n}")
        messages += [assistant(f"answer {n}"), user(f"step {n} {long(f'w{n}x', tokens)}")]
    return shown


def names(known: Conversations) -> list[str]:
    """What the log of the first conversation holds, each message by its beginning."""
    assert known.session is not None
    return [str(message["content"])[:12] for message in known.session.messages]


def test_a_list_that_goes_on_is_in_the_log_once_and_goes_out_as_it_came() -> None:
    """Below the threshold nothing is done for a request; what is said is kept once."""
    known = conversations()
    messages = [user(RULE)]
    for n in range(3):
        asked = call(messages, system="be brief")
        going = known.outgoing(asked)
        assert going is not None
        assert going.messages is None
        known.answered(going.ticket, answer(f"answer {n}"))
        messages += [assistant(f"answer {n}"), user(f"step {n}")]
    known.outgoing(call(messages, system="be brief"))
    assert names(known) == [str(message["content"])[:12] for message in messages]
    assert known.session is not None
    assert known.report is not None
    assert known.report.reason == "below the threshold"


def test_past_the_threshold_the_view_is_sent_and_stays_byte_for_byte() -> None:
    """Laws PREFIX and TAIL: what was folded once is folded the same in every later request; the caller's own messages
    stand around it."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 12)
    first = turn(known, messages, "a")
    assert len(first) < len(messages)
    assert "Never touch auth.py" in str(first)
    assert first[-1] == messages[-1]
    messages += [assistant("a"), user("go on")]
    second = turn(known, messages, "b")
    assert second[: len(first)] == first
    assert second[len(first) :] == messages[-2:]


def test_an_answer_that_comes_back_in_another_spelling_is_known() -> None:
    """An SDK's object, content in parts, without reasoning, with null keys, trimmed."""
    known = conversations()
    messages = [user(RULE)]
    turn(known, messages, " hello there\n")
    spelt = {"role": "assistant", "content": [{"type": "text", "text": "hello there"}], "refusal": None}
    turn(known, [*messages, spelt, user("go on")])
    assert names(known) == [RULE[:12], " hello there", "go on", "done"]


def test_an_answer_that_was_dropped_or_said_anew_is_taken_back() -> None:
    """A caller may ask again, or put words in the model's mouth: the list is the truth, the log still has what was said."""
    known = conversations()
    messages = [user(RULE)]
    turn(known, messages, "first")
    turn(known, messages, "second")
    assert names(known) == [RULE[:12], "second"]
    turn(known, [*messages, assistant("other"), user("go on")])
    assert names(known) == [RULE[:12], "other", "go on", "done"]


def test_an_answer_of_several_items_that_came_back_in_part_is_taken_back_whole() -> None:
    """Law LOG: of Responses each item is a message. What the list still has of them is said once more; the session holds the list."""
    known = conversations()
    first, second = ({"type": "message", **assistant(text)} for text in ("let me look", "here it is"))
    messages: list[Any] = [user(RULE)]
    for output, more in (([first, second], [first, user("and?")]), ([second], [])):
        asked = call_of({"model": MODEL, "input": messages}, format="openai-responses")
        assert asked is not None
        going = known.outgoing(asked)
        assert going is not None
        known.answered(going.ticket, {"output": output, "status": "completed"})
        messages += more
    assert names(known) == [RULE[:12], "let me look", "and?", "here it is"]


def test_asking_again_does_not_undo_what_was_folded() -> None:
    """Law PREFIX: a retry of the same list is the same request."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 14)
    first = turn(known, messages, "dropped")
    assert len(first) < len(messages)
    assert turn(known, messages, "again") == first


def test_a_side_request_that_begins_alike_leaves_the_session_alone() -> None:
    """A title, a summary of one's own, a second sample: shorter lists that go no further cost nothing."""
    known = conversations()
    messages = [user(RULE)]
    for n in range(3):
        turn(known, messages, f"answer {n}")
        messages += [assistant(f"answer {n}"), user(f"step {n}")]
    before = names(known)
    for side in ([user(RULE)], [user("Write a title.")], [*messages[:3], user("Sum it up.")]):
        assert turn(known, side, "a title") == side
        assert turn(known, side, "a title") == side
    assert names(known) == before
    turn(known, messages)
    assert names(known)[-1] == "done"


def test_a_list_that_was_rewound_and_gone_on_with_takes_its_place() -> None:
    """A turn that was edited: the session goes back and on, and what was said before is still in its log."""
    known = conversations()
    messages = [user(RULE)]
    for n in range(3):
        turn(known, messages, f"answer {n}")
        messages += [assistant(f"answer {n}"), user(f"step {n}")]
    rewound = [*messages[:3], user("another way")]
    turn(known, rewound, "well")
    rewound += [assistant("well"), user("on")]
    turn(known, rewound)
    assert names(known) == [str(message["content"])[:12] for message in rewound] + ["done"]
    assert known.session is not None
    known.session.rollback(to=4)
    assert names(known) == [RULE[:12], "answer 0", "step 0", "answer 1", "step 1"]


def stamped(messages: list[Any], n: int) -> list[Any]:
    """The list with the time behind its last message, which the next request does not have any more."""
    *before, last = messages
    if not before:
        return messages
    return [*before, {**last, "content": f"{last['content']}\n<now>12:0{n % 10}:{n}</now>"}]


def test_a_reminder_that_is_taken_away_again_leaves_one_session_and_its_folds(tmp_path: Path) -> None:
    """Laws PREFIX and ONCE: what was made of older messages stays, though the newest one is said otherwise each time; nothing
    is folded twice, no fork is made."""
    known = conversations(tmp_path)
    messages, breaks, compacted, before = [user(RULE)], 0, 0, list[Any]()
    for n in range(30):
        shown = turn(known, stamped(messages, n), f"answer {n}")
        breaks += shown[: len(before) - 1] != before[:-1]
        before = shown
        assert known.report is not None
        compacted += known.report.outcome == "compacted"
        messages += [assistant(f"answer {n}"), user(f"step {n} {long(f'w{n}x', 9_000)}")]
    assert known.session is not None
    made = list(known.session.compactions)
    assert breaks == compacted == sum(one.counts for one in made) >= 2
    assert len(made) == 2 * compacted, (
        "each is made once more, before the message that is said anew, and stays there"
    )
    assert len(DiskStore(tmp_path).names()) == 1
    assert len(shown) < len(messages) - 2
    known.close()


def test_a_restart_in_the_middle_of_reminders_goes_on(tmp_path: Path) -> None:
    """The last answer of the log is known as one: it may be asked for again, and what was said before it may be said anew."""
    messages, breaks, before = [user(RULE)], 0, list[Any]()
    for n in range(24):
        known = conversations(tmp_path)
        shown = turn(known, stamped(messages, n), f"answer {n}")
        breaks += shown[: len(before) - 1] != before[:-1]
        if n == 21:
            assert turn(known, stamped(messages, n), f"answer {n}") == shown
        before = shown
        known.close()
        messages += [assistant(f"answer {n}"), user(f"step {n} {long(f'w{n}x', 9_000)}")]
    assert len(DiskStore(tmp_path).names()) == 1
    assert len(before) < len(messages) - 2
    assert breaks == 5


def test_a_branch_keeps_what_was_folded_of_what_it_shares(tmp_path: Path) -> None:
    """Law PREFIX: a rewind behind a compaction that came later goes on with the same bytes, in a fork."""
    known = conversations(tmp_path)
    messages = [user(RULE)]
    while known.session is None or not list(known.session.compactions):
        shown = turn(known, messages, "well")
        messages += [assistant("well"), user(f"step {len(messages)} {long(f'w{len(messages)}x', 9_000)}")]
    messages = messages[:-2]
    rewound = [*messages[:-2], assistant("well"), user("another way")]
    turn(known, rewound)
    again = turn(known, [*rewound[:-1], user("a third way")])
    assert again[: len(shown) - 1] == shown[:-1]
    known.close()


def test_an_answer_to_what_was_cut_back_is_none_of_the_conversations() -> None:
    """A ticket knows the conversation that it was given for, not its length alone."""
    known = conversations()
    late, second = known.outgoing(call([user(RULE)])), known.outgoing(call([user(RULE)]))
    assert late is not None
    assert second is not None
    known.answered(second.ticket, answer("second"))
    third = known.outgoing(call([user(RULE)]))
    assert third is not None
    known.answered(late.ticket, answer("late"))
    known.answered(third.ticket, answer("third"))
    assert names(known) == [RULE[:12], "third"]


def test_answers_that_are_given_their_beginning_are_of_one_conversation(tmp_path: Path) -> None:
    """Laws PREFIX and ONCE: a prefill comes back as one message with its answer, or is left out; one session, folded where it is due."""
    known = conversations(tmp_path)
    messages, compacted = [user(RULE)], 0
    for n in range(24):
        shown = turn(known, [*messages, assistant("{")], f'"n": {n}}}')
        assert shown[-2:] == [messages[-1], assistant("{")]
        assert known.report is not None
        compacted += known.report.outcome == "compacted"
        kept = assistant(f'{{"n": {n}}}') if n % 3 else assistant(f'"n": {n}}}')
        messages += [kept, user(f"step {n} {long(f'w{n}x', 9_000)}")]
        if n == 12:
            known.close()
            known = conversations(tmp_path)
    assert known.session is not None
    assert sum(one.counts for one in known.session.compactions) == compacted >= 2
    assert DiskStore(tmp_path).names() == ("main",)
    assert len(shown) < len(messages) / 2
    known.close()


def test_a_reminder_on_the_very_first_message_is_no_other_conversation(tmp_path: Path) -> None:
    """It shares nothing yet but its answer."""
    known = conversations(tmp_path)
    turn(known, [user(f"{RULE} It is 14:00.")], "well")
    turn(known, [user(RULE), assistant("well"), user("on")])
    assert names(known) == [RULE[:12], "well", "on", "done"]
    known.close()


@pytest.mark.parametrize("is_waiting", [False, True], ids=["after an answer", "in a call"])
def test_a_sub_agent_leaves_the_session_to_the_one_that_waits_for_it(
    tmp_path: Path, is_waiting: bool
) -> None:
    """FUN-1: what shares nothing is no rewind, however far it goes on; the main list finds what was folded of it."""
    known = conversations(tmp_path)
    messages = [user(RULE)]
    before = grown(known, messages, 12)
    asked = call(messages)
    going = known.outgoing(asked)
    assert going is not None
    before = sent(going, asked)
    response = answer("well")
    if is_waiting:
        tool = {"id": "c", "type": "function", "function": {"name": "research", "arguments": "{}"}}
        response["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [tool]}
    known.answered(going.ticket, response)
    held = names(known)
    sub = [user("You are a researcher.")]
    grown(known, sub, 4, tokens=90)
    assert names(known) == held
    messages.append(response["choices"][0]["message"])
    messages.append({"role": "tool", "tool_call_id": "c", "content": "found"} if is_waiting else user("on"))
    assert turn(known, messages)[: len(before)] == before
    assert DiskStore(tmp_path).names() == ("main",)
    known.close()


def test_a_sub_agent_that_begins_alike_is_told_by_prompt_and_tools_and_by_the_call_that_waits() -> None:
    """A rewind has the system prompt or the tools of the conversation, and nobody waits for it."""
    for system, is_waiting, is_rewind in (
        ("main", False, True),
        ("other", False, False),
        ("main", True, False),
    ):
        known = conversations()
        messages = [user(RULE)]
        for n in range(2):
            going = known.outgoing(call(messages, system="main"))
            assert going is not None
            response = answer(f"answer {n}")
            if is_waiting and n:
                tool = {"id": "c", "type": "function", "function": {"name": "research", "arguments": "{}"}}
                response["choices"][0]["message"]["tool_calls"] = [tool]
            known.answered(going.ticket, response)
            messages += [assistant(f"answer {n}"), user(f"step {n}")]
        other = [*messages[:1], user("and this")]
        for n in range(2):
            going = known.outgoing(call(other, system=system))
            assert going is not None
            known.answered(going.ticket, answer(f"well {n}"))
            other += [assistant(f"well {n}"), user("on")]
        assert ("and this" in names(known)) is is_rewind


def test_a_rewind_of_a_rewind_is_the_same_conversation(tmp_path: Path) -> None:
    """At any depth: what goes on while the rest of it rests stands in the named session."""
    known = conversations(tmp_path)
    messages = [user(RULE)]
    for depth in range(4):
        for n in range(2):
            text = f"answer {depth}.{n}"
            turn(known, messages, text)
            messages += [assistant(text), user(f"step {depth}.{n}")]
        messages = [*messages[:-4], user(f"another way {depth}")]
        turn(known, messages, "hm")
        messages = [*messages[:-1], user(f"a third way {depth}")]
    turn(known, messages, "well")
    turn(known, [*messages, assistant("well"), user("on")])
    assert [message["content"] for message in known.session.messages][:-1] == [  # type: ignore[union-attr]
        *(message["content"] for message in messages),
        "well",
        "on",
    ]
    assert DiskStore(tmp_path).names() == ("main",)
    known.close()


TURNS = 12
"""Of a run: three compactions and more."""


@pytest.mark.parametrize("restart_at", [None, 2, 7], ids=["one process", "restarted early", "restarted late"])
def test_a_task_that_is_run_again_through_a_proxy_sends_the_first_runs_requests(
    tmp_path: Path, restart_at: int | None
) -> None:
    """Laws PREFIX and ONCE: same list, same view. Evals, cassettes and local models say the same again; each run has one session,
    however often its proxy was restarted."""
    known = conversations(tmp_path, window=WINDOW, is_proxy=True)
    first = Run().to(TURNS, known)
    assert first.breaks >= 3
    for n in range(2):
        again = Run()
        if restart_at is not None:
            again.to(restart_at, known)
            known.close()
            known = conversations(tmp_path, window=WINDOW, is_proxy=True)
        assert again.to(TURNS, known).sent == first.sent
        assert len(DiskStore(tmp_path).names()) == n + 2
    known.close()


def is_kept(known: Conversations) -> bool:
    """True where the first conversation has a session."""
    return known.session is not None


def near_its_line(tmp_path: Path) -> tuple[Conversations, list[Any]]:
    """A proxy's conversation that has no session, and a list of it after whose answer one is needed soon."""
    known = conversations(tmp_path, window=WINDOW, is_proxy=True)
    messages: list[Any] = []
    while not messages or known.session is None:
        known.close()
        known = conversations(tmp_path / str(len(messages)), window=WINDOW, is_proxy=True)
        messages = [*messages, user(f"step {len(messages)} {long(f'w{len(messages)}x', 300)}")]
        turn(known, messages)
    known.close()
    return conversations(tmp_path, window=WINDOW, is_proxy=True), messages


def test_a_session_that_is_needed_soon_is_begun_behind_an_answer(tmp_path: Path) -> None:
    """Added time on a body. The request goes out as it came, and waits for no log; the session has it, and its answer with what the
    provider counted, before the next one comes (TOK-5)."""
    known, messages = near_its_line(tmp_path)
    going = known.outgoing(call(messages))
    assert going is not None
    assert not going.is_edited
    assert not is_kept(known)
    usage = {"prompt_tokens": 3_700, "completion_tokens": 5, "total_tokens": 3_705}
    known.answered(going.ticket, {**answer("done"), "usage": usage})
    assert known.session is not None
    assert len(known.session.messages) == len(messages) + 1
    assert known.session.context_use()["tokens_anchored"] == 3_705
    messages += [assistant("done"), user("go on")]
    assert turn(known, messages) == messages
    assert len(known.session.messages) == len(messages) + 1
    known.close()


def test_the_providers_count_says_that_a_session_is_needed_soon(tmp_path: Path) -> None:
    """CMP-1: a tokenizer that is not known may cut finer, or less fine."""
    for count, is_begun in ((3_000, False), (3_700, True)):
        known, messages = near_its_line(tmp_path / str(count))
        going = known.outgoing(call(messages))
        assert going is not None
        usage = {"prompt_tokens": count, "completion_tokens": 5, "total_tokens": count + 5}
        known.answered(going.ticket, {**answer("done"), "usage": usage})
        assert (known.session is not None) is is_begun
        known.close()


def test_a_list_that_comes_beyond_its_line_has_its_session_at_once(tmp_path: Path) -> None:
    """CMP-1: a reduction that is due is made before the request goes out."""
    known, messages = near_its_line(tmp_path)
    going = known.outgoing(call([*messages, *messages, user("go on")]))
    assert going is not None
    assert going.is_edited
    assert known.session is not None
    known.close()


def test_a_session_that_cannot_be_begun_behind_an_answer_is_begun_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fail open. The answer is its caller's; what went wrong is returned and counted."""
    known, messages = near_its_line(tmp_path)
    going = known.outgoing(call(messages))
    assert going is not None
    begun = Sessions.begun

    def fails(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(Sessions, "begun", begun)
        raise SessionFailed("main", "the disk is full")

    monkeypatch.setattr(Sessions, "begun", fails)
    failed = known.answered(going.ticket, answer("done"))
    assert failed is not None
    assert isinstance(failed.error, SessionFailed)
    assert not is_kept(known)
    messages += [assistant("done"), user("go on")]
    assert turn(known, messages) == messages
    assert known.session is not None
    assert len(known.session.messages) == len(messages) + 1
    assert sum(known.passed.values()) == 1
    known.close()


@pytest.mark.parametrize("is_near", [True, False])
def test_a_refusal_in_words_that_nobody_knows_is_recovered_from_near_the_line(
    tmp_path: Path, is_near: bool
) -> None:
    """REA-1: it may be for the size, of a request that is about to be given a session; of a short one it is something else."""
    known, messages = near_its_line(tmp_path)
    messages += [assistant("well"), user(f"and {long('wx', 1_000)}")]
    going = known.outgoing(call(messages if is_near else messages[-1:]))
    assert going is not None
    unknown = {"error": {"message": "ModelError: the endpoint returned an error"}}
    again = known.refused(going.ticket, 400, body=unknown)
    assert (again is not None) is is_near
    assert again is None or again.is_edited
    known.close()


def test_a_task_that_is_run_again_by_a_client_takes_the_place_of_its_first_run(tmp_path: Path) -> None:
    """As any list that goes on while the other one rests: one session, though it is run three times."""
    known = conversations(tmp_path, window=WINDOW)
    first = Run().to(TURNS, known)
    again = Run().to(TURNS // 2, known)
    known.close()
    known = conversations(tmp_path, window=WINDOW)
    again.to(TURNS, known)
    third = Run().to(TURNS, known)
    assert first.breaks == again.breaks == third.breaks >= 3
    assert names(known) == [str(message["content"])[:12] for message in third.messages[:-1]]
    assert DiskStore(tmp_path).names() == ("main",)
    known.close()


@pytest.mark.parametrize("is_proxy", [False, True], ids=["client", "proxy"])
@pytest.mark.parametrize("is_recorded", [False, True], ids=["asked again", "recorded"])
def test_a_second_run_that_takes_another_way_is_one_conversation(
    tmp_path: Path, is_proxy: bool, is_recorded: bool
) -> None:
    """Law ONCE: before it parts from the first run and behind that, also where what is answered is not what its list has."""
    known = conversations(tmp_path, window=WINDOW, is_proxy=is_proxy)
    first = Run().to(TURNS, known)
    again = Run(other_from=TURNS // 2, is_recorded=is_recorded).to(TURNS + 4, known)
    assert again.breaks <= first.breaks + 2
    assert len(DiskStore(tmp_path).names()) <= 2
    held = [str(message["content"]) for one in [known._first, *known._branches] for message in said_in(one)]
    assert [message["content"] for message in again.messages[-3:-1]] == held[-2:] or is_recorded
    known.close()


def said_in(chain: Chain) -> list[Any]:
    return [] if chain.kept is None else list(chain.kept.session.messages)


@pytest.mark.parametrize("is_proxy", [False, True], ids=["client", "proxy"])
@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_two_runs_of_one_task_at_the_same_time_leave_each_other_alone(
    tmp_path: Path, is_proxy: bool, ahead: int
) -> None:
    """Law ONCE and requirement STO: side by side, one request apart and further apart; then one of them takes another way."""
    known = conversations(tmp_path, window=WINDOW, is_proxy=is_proxy)
    one = Run().to(ahead, known)
    other = Run(other_from=TURNS)
    for _ in range(TURNS + 4):
        one.turn(known)
        other.turn(known)
    alone = Run().to(TURNS + 4 + ahead, conversations(window=WINDOW, is_proxy=is_proxy))
    assert one.breaks <= alone.breaks + 1
    assert other.breaks <= alone.breaks + 1
    assert len(DiskStore(tmp_path).names()) <= 2
    known.close()


def test_a_count_is_of_the_run_that_asks_for_it(tmp_path: Path) -> None:
    """An agent that asks how full its window is hears of its own requests, though the first run had more of the list."""
    known = conversations(tmp_path, window=WINDOW, is_proxy=True)
    Run().to(TURNS, known)
    again = Run().to(TURNS // 2, known)
    counted = known.counted(call(again.messages))
    assert counted is not None
    assert [strict.parse(wire) for wire in counted][: len(again.sent[-1])] == again.sent[-1]
    known.close()


def test_two_conversations_in_turns_never_mix() -> None:
    """Sub-agents behind one client: each keeps its own, the named session stays the first one's."""
    known = conversations()
    one, other = [user(RULE)], [user("You are a reviewer.")]
    for n in range(4):
        turn(known, one, f"one {n}")
        turn(known, other, f"other {n}")
        one += [assistant(f"one {n}"), user(f"one step {n}")]
        other += [assistant(f"other {n}"), user(f"other step {n}")]
    assert names(known) == [str(message["content"])[:12] for message in one[:-1]]


def test_a_branch_that_grows_long_gets_a_session_of_its_own(tmp_path: Path) -> None:
    """It is reduced like the first one, in a fork that shares what both began with, and the first one is untouched."""
    known = conversations(tmp_path)
    messages = [user(RULE)]
    turn(known, messages, "answer")
    messages += [assistant("answer"), user("step")]
    turn(known, messages)
    branch = [*messages[:2], user("another way")]
    for n in range(14):
        turn(known, branch, f"branch {n}")
        turn(known, messages, "again")
        branch += [assistant(f"branch {n}"), user(f"{n} {long(f'b{n}x', 9_000)}")]
    assert len(turn(known, branch)) < len(branch)
    assert names(known) == [RULE[:12], "answer", "step", "again"]
    assert len(list((tmp_path).glob("**/*"))) > 2
    known.close()


def test_a_restart_finds_the_conversation_and_sends_the_same_bytes(tmp_path: Path) -> None:
    """State is the durable log: the list is matched by what it says, secrets that the log does not hold among it."""
    key = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    messages = [user(f"{RULE} The token is {key}.")]
    known = conversations(tmp_path)
    grown(known, messages, 14)
    first = turn(known, messages, "a")
    known.close()
    messages += [assistant("a"), user("go on")]
    again = conversations(tmp_path)
    second = turn(again, messages)
    assert second[: len(first)] == first
    again.close()


def test_a_new_list_in_an_old_session_takes_its_place_once_it_goes_on(tmp_path: Path) -> None:
    """A program that starts anew under the same name."""
    known = conversations(tmp_path)
    turn(known, [user("old")])
    known.close()
    again = conversations(tmp_path)
    turn(again, [user("new")], "answer")
    assert names(again) == ["old", "done"]
    turn(again, [user("new"), assistant("answer"), user("on")])
    assert names(again) == ["new", "answer", "on", "done"]
    again.close()


def test_without_a_name_nothing_is_kept_until_it_must_be() -> None:
    """What was taken out is kept in memory, as long as the client lives."""
    known = conversations(name="")
    messages = [user(RULE)]
    turn(known, messages)
    assert known.session is None
    grown(known, messages, 14)
    assert len(turn(known, messages)) < len(messages)
    assert known.session is not None


def test_an_overflow_is_recovered_from_once_until_the_next_answer() -> None:
    """REA-1: one compaction and one retry; a second refusal goes through."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 20, tokens=900)
    asked = call(messages)
    going = known.outgoing(asked)
    assert going is not None
    assert going.messages is None
    words = {"error": {"message": "prompt is too long: 20000 tokens > 12000 maximum"}}
    again = known.refused(going.ticket, 400, body=words)
    assert again is not None
    assert len(sent(again, asked)) < len(messages)
    assert known.refused(again.ticket, 400, body=words) is None
    known.answered(again.ticket, answer("done"))
    messages += [assistant("done"), user(long("more", 900))]
    later = known.outgoing(call(messages))
    assert later is not None
    assert known.refused(later.ticket, 400, body=words) is not None


def test_what_is_no_overflow_is_not_recovered_from() -> None:
    """A throttle, a bad request, a server's fault; and `reserve`, which has no reactive tier (REA-3)."""
    known = conversations()
    going = known.outgoing(call([user(RULE)]))
    assert going is not None
    assert known.refused(going.ticket, 429, body={"error": {"message": "rate limit reached"}}) is None
    assert known.refused(going.ticket, 400, body={"error": {"message": "bad tool"}}) is None
    overflow = {"error": {"message": "prompt is too long: 20 tokens > 12 maximum"}}
    reserve = conversations(policy="reserve")
    going = reserve.outgoing(call([user(RULE)]))
    assert going is not None
    assert reserve.refused(going.ticket, 400, body=overflow) is None


def test_words_that_nobody_knows_are_taken_for_its_size_once_near_the_limit() -> None:
    """T01, openclaw/openclaw#58839: a gateway that says only that something went wrong; the window may be smaller than is known."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 14, tokens=4_450)
    while (use := known.session.context_use())["percent"] < 93:  # type: ignore[union-attr]
        grown(known, messages, 1, tokens=1_000)
    asked = call(messages)
    going = known.outgoing(asked)
    assert going is not None
    assert (going.messages, use["percent"] < 100) == (None, True)
    words = {"error": {"message": "ModelError: the endpoint returned an error"}}
    again = known.refused(going.ticket, 400, body=words)
    assert again is not None
    assert len(sent(again, asked)) < len(messages)
    assert known.refused(again.ticket, 400, body=words) is None


def test_a_recovery_that_fails_leaves_the_view_as_it_was() -> None:
    """REA-4: the refusal goes through; there is nothing in one short message to take out."""
    known = conversations()
    going = known.outgoing(call([user(RULE)]))
    assert going is not None
    overflow = {"error": {"message": "prompt is too long: 20 tokens > 12 maximum"}}
    assert known.refused(going.ticket, 400, body=overflow) is None
    assert known.session is not None
    assert list(known.session.compactions) == []
    assert turn(known, [user(RULE)]) == [user(RULE)]


def test_an_answer_to_a_conversation_that_went_on_is_left_to_its_caller() -> None:
    """Two samples of one request: the list says which one counts."""
    known = conversations()
    one = known.outgoing(call([user(RULE)]))
    two = known.outgoing(call([user(RULE)]))
    assert one is not None
    assert two is not None
    known.answered(one.ticket, answer("one"))
    known.answered(two.ticket, answer("two"))
    assert names(known) == [RULE[:12], "one"]
    turn(known, [user(RULE), assistant("two"), user("on")])
    assert names(known) == [RULE[:12], "two", "on", "done"]


def test_requests_that_are_none_of_ours_are_counted_by_why() -> None:
    """History that the provider keeps, or reduces."""
    known = conversations()
    assert (
        known.outgoing(
            call([user("a")], context_management={"edits": [{"type": "clear_tool_uses_20250919"}]})
        )
        is None
    )
    assert known.outgoing(call([])) is None
    assert known.passed == {
        "the provider reduces the history (context_management)": 1,
        "it has no messages": 1,
    }


def test_branches_are_forgotten_by_age() -> None:
    """Every list has a bound (style 11)."""
    known = conversations()
    turn(known, [user(RULE)])
    for n in range(following.BRANCHES_MAX + 5):
        turn(known, [user(f"question {n}")])
    assert len(known._branches) == following.BRANCHES_MAX


OWN = f"{CUES[0]}. Do NOT call any tools."


def test_an_agents_own_summary_is_sent_whole_and_leaves_the_session_alone() -> None:
    """It is to see all of its conversation; what comes of it takes the conversation's place in the agent's own list."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 6)
    shown = turn(known, messages, "a")
    messages += [assistant("a")]
    before = names(known)
    asked = call([*messages, user(OWN)])
    going = known.outgoing(asked)
    assert going is not None
    assert (going.body, going.why) == (None, WHY)
    assert known.answered(going.ticket, answer("the summary")) is None
    assert known.recalled(going, answer("the summary")) is None
    assert known.passed == {WHY: 1}
    assert names(known) == before
    again = turn(known, [*messages, user("go on")])
    assert again[: len(shown)] == shown


def test_an_agents_own_summary_that_would_not_fit_is_asked_of_the_view() -> None:
    """CMP-1: a request that would overflow is not sent; its instruction stands last, word for word."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 24)
    asked = call([*messages, assistant("a"), user(OWN)])
    going = known.outgoing(asked)
    assert going is not None
    assert going.messages is not None
    assert sent(going, asked)[-1] == user(OWN)
    assert len(going.messages) < len(asked.messages)
    assert (going.why, known.passed) == (IN_PART, {IN_PART: 1})


def test_an_agents_own_summary_that_is_refused_for_its_size_is_asked_of_the_view_once() -> None:
    """REA-1: the window that is planned with may be larger than the provider's. The instruction stands last, word for word."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 20, tokens=900)
    asked = call([*messages, assistant("a"), user(OWN)])
    going = known.outgoing(asked)
    assert going is not None
    assert (going.body, going.why) == (None, WHY)
    assert known.refused(going.ticket, 429, body={"error": {"message": "slow down"}}) is None
    words = {"error": {"message": "prompt is too long: 20000 tokens > 12000 maximum"}}
    again = known.refused(going.ticket, 400, body=words)
    assert again is not None
    assert again.why == IN_PART
    assert sent(again, asked)[-1] == user(OWN)
    assert len(sent(again, asked)) < len(asked.messages)
    assert known.refused(again.ticket, 400, body=words) is None


def test_a_count_is_of_what_would_be_sent_and_takes_nothing_in() -> None:
    """An agent that asks how full its window is hears what the provider would."""
    known = conversations()
    messages = [user(RULE)]
    assert known.counted(call(messages)) is None
    grown(known, messages, 14)
    shown = turn(known, messages, "a")
    before = names(known)
    longer = [*messages, assistant("a"), user("how full?")]
    counted = known.counted(call(longer, system="be brief"))
    assert counted is not None
    assert [strict.parse(wire) for wire in counted[1:]] == [*shown, assistant("a"), user("how full?")]
    assert [strict.parse(wire) for wire in known.counted(call(messages)) or []] == shown
    assert known.counted(call(messages[:3])) is None
    assert names(known) == before


def test_a_call_of_recall_goes_on_with_what_was_looked_up() -> None:
    """Only of what was reduced, where it was asked for; a late one is asked once more without the tool."""
    known = conversations(recalls=True)
    messages = [user(RULE)]
    grown(known, messages, 14)
    asked = call(messages)
    going = known.outgoing(asked)
    assert going is not None
    assert "recall" in str(going.ticket.call.tools)
    looked = {
        "id": "c",
        "type": "function",
        "function": {"name": "recall", "arguments": '{"query": "auth.py"}'},
    }
    response = answer("")
    response["choices"][0]["message"]["tool_calls"] = [looked]
    again = known.recalled(going, response)
    assert again is not None
    assert "auth.py" in str(sent(again, asked)[-1])
    assert known.recalled(again, answer("done")) is None
    known.answered(again.ticket, answer("done"))
    late = known.recalled(going, response)
    assert late is not None
    assert (late.messages, late.ticket.call.has_recall) == (going.messages, False)
    assert known.recalled(late, answer("done")) is None
    messages += [assistant("done"), user("go on")]
    shown = turn(known, messages)
    assert shown[-4]["tool_calls"][0]["id"] == "c"
    assert shown[-2:] == messages[-2:]
    plain = conversations()
    ticket = plain.outgoing(call([user(RULE)]))
    assert ticket is not None
    assert plain.recalled(ticket, response) is None


PREFILLED = [
    (['{"found": 8080', ', "sure": true', "}"], '{"found": 8080, "sure": true}', True),
    (["{", "", "}"], "{}", True),
    (['{"found": 8080', ', "sure": true', "}"], ', "sure": true}', True),
    (['{"found": 8080', ', "sure": true', "}"], '{"found": 8080}', True),
    (['{"found": 8080', ', "sure": true', "}"], "}", True),
    (['{"found": 8080', ', "sure": true', "}"], '{"found": 8081, "sure": true}', False),
]


@pytest.mark.parametrize("is_restarted", [False, True], ids=["", "restarted"])
@pytest.mark.parametrize(
    ("said", "held", "is_known"),
    PREFILLED,
    ids=["whole", "silent", "without its beginning", "the last alone", "the end alone", "otherwise"],
)
def test_an_answer_that_was_given_its_beginning_and_looked_something_up_is_known(
    tmp_path: Path, said: list[str], held: str, is_known: bool, is_restarted: bool
) -> None:
    """Laws PREFIX and LOG: what its caller has as one message are four of the session's, which are sent for it; nothing is taken back."""
    known = conversations(tmp_path, recalls=True)
    messages = [user(RULE)]
    grown(known, messages, 14)
    beginning, looked, end = said
    asked = call([*messages, assistant(beginning)])
    going = known.outgoing(asked)
    assert going is not None
    again = known.recalled(going, looking(looked), is_delivered=True)
    before = sent(again, asked)
    assert again is not None
    known.answered(again.ticket, answer(end))
    if is_restarted:
        known.close()
        known = conversations(tmp_path, recalls=True)
    messages += [assistant(held), user("go on")]
    shown = turn(known, messages)
    assert (shown == [*before, assistant(end), user("go on")]) is is_known
    assert ("rollback" in kinds(known)) is not is_known
    messages += [assistant("done"), user("and on")]
    assert turn(known, messages) == [*shown, *messages[-2:]]
    known.close()


@pytest.mark.parametrize("is_restarted", [False, True], ids=["", "restarted"])
def test_a_beginning_whose_answer_looked_something_up_may_be_given_once_more(
    tmp_path: Path, is_restarted: bool
) -> None:
    """Law ROLE: the answer is taken back with its beginning and what was looked up, and the same is asked again."""
    known = conversations(tmp_path, recalls=True)
    messages = [user(RULE)]
    grown(known, messages, 14)
    asked = call([*messages, assistant("{")])
    going = known.outgoing(asked)
    shown = sent(going, asked)
    assert going is not None
    again = known.recalled(going, looking('"a"'), is_delivered=True)
    assert again is not None
    known.answered(again.ticket, answer("}"))
    if is_restarted:
        known.close()
        known = conversations(tmp_path, recalls=True)
    assert turn(known, [*messages, assistant("{")]) == shown
    known.close()


def looking(text: str) -> dict[str, Any]:
    """An answer of that text which looks something up."""
    function = {"name": "recall", "arguments": '{"query": "auth.py"}'}
    response = answer(text)
    response["choices"][0]["message"]["tool_calls"] = [{"id": "c", "type": "function", "function": function}]
    return response


def kinds(known: Conversations) -> list[str]:
    """Of the entries of the first conversation's log."""
    assert known.session is not None
    return [entry.kind for entry in known.session._keeper.log.entries()]


def test_a_tool_of_the_callers_own_named_recall_is_the_callers() -> None:
    """It answers its calls itself, also of what was reduced."""
    own = {"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}
    known = conversations(recalls=True)
    messages = [user(RULE)]
    grown(known, messages, 14)
    going = known.outgoing(call(messages, tools=[own]))
    assert going is not None
    assert going.messages is not None
    assert going.ticket.call.tools == [own]
    response = answer("")
    looked = {"id": "c", "type": "function", "function": {"name": "recall", "arguments": '{"query": "auth"}'}}
    response["choices"][0]["message"]["tool_calls"] = [looked]
    assert known.recalled(going, response) is None


class Fickle:
    """What becomes of the calls to a disk: a full one takes no byte, an interrupted one is left in the middle of a sync."""

    def __init__(self) -> None:
        self.is_full = self.is_interrupted = False

    def __call__(self, call: Call) -> None:
        if self.is_full and call.kind == "write":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.is_interrupted and call.kind == "sync":
            self.is_interrupted = False
            raise KeyboardInterrupt


@pytest.mark.parametrize("turns", [2, 14], ids=["short", "folded"])
def test_a_full_disk_stops_a_request_and_with_room_again_the_client_goes_on(turns: int) -> None:
    """STO: what could not be kept is not known either, so that no later request goes out without it; the session is opened again by
    itself, and goes on where it was."""
    disk = Fickle()
    store = DiskStore("home", fs=SimulatedDisk(fault=disk))
    known = conversations(store=store)
    messages = [user(RULE)]
    before = grown(known, messages, turns)
    messages[-1] = user("the last message")
    disk.is_full = True
    for _ in range(2):
        with pytest.raises(SessionFailed, match="No space left"):
            known.outgoing(call(messages))
    disk.is_full = False
    for n in range(3):
        shown = turn(known, messages, f"after {n}")
        assert shown[-1] == messages[-1]
        assert shown[: len(before)] == before
        messages += [assistant(f"after {n}"), user(f"on {n}")]
    assert known.session is not None
    assert [message["content"] for message in known.session.messages][-6:-4] == [
        "the last message",
        "after 0",
    ]
    assert store.names() == ("main",)
    known.close()


def test_an_interrupt_while_the_disk_is_waited_for_loses_no_message() -> None:
    """STO: Ctrl-C in a slow fsync, and the user goes on."""
    disk = Fickle()
    store = DiskStore("home", fs=SimulatedDisk(fault=disk))
    known = conversations(store=store)
    messages = [user(RULE)]
    grown(known, messages, 3, tokens=90)
    disk.is_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        known.outgoing(call(messages))
    shown = turn(known, messages, "well")
    assert shown == messages
    assert names(known)[-2:] == [messages[-1]["content"][:12], "well"]
    known.close()


def test_an_answer_that_cannot_be_kept_is_its_callers_all_the_same() -> None:
    """STO: it was paid for. What went wrong is said and counted, and the next request brings the answer once more."""
    disk = Fickle()
    store = DiskStore("home", fs=SimulatedDisk(fault=disk))
    known = conversations(store=store)
    messages = [user(RULE)]
    going = known.outgoing(call(messages))
    assert going is not None
    disk.is_full = True
    raised = known.answered(going.ticket, answer("paid for"))
    assert raised is not None
    assert "No space left" in raised.why
    assert known.passed == {"an answer was delivered and not taken in (SessionFailed)": 1}
    disk.is_full = False
    turn(known, [*messages, assistant("paid for"), user("on")])
    assert names(known) == [RULE[:12], "paid for", "on", "done"]
    known.close()


def test_a_session_that_the_host_opened_is_the_hosts_to_open_again() -> None:
    """What failed stays failed, and is said with each request; nothing goes out without its last message."""
    disk = Fickle()
    asked = SessionOptions(model="gpt-4o", format="openai-chat")
    session = open_in(DiskStore("home", fs=SimulatedDisk(fault=disk)), "mine", asked=asked)
    known = Conversations(conversations()._terms, session=session)
    turn(known, [user(RULE)])
    messages = [user(RULE), assistant("done"), user("on")]
    disk.is_full = True
    for _ in range(2):
        with pytest.raises(SessionFailed):
            known.outgoing(call(messages))
        disk.is_full = False
    known.close()


@pytest.mark.parametrize(
    "odd",
    [{"role": "environment", "content": "x"}, {"role": "tool", "content": "x"}, "hello", None, {"role": 3}],
)
def test_what_cannot_be_read_passes_untouched_and_is_counted(odd: Any) -> None:
    """LOSSLESS: a server of one's own may take what no format knows; it is the provider's to refuse."""
    known = conversations()
    turn(known, [user(RULE)])
    assert known.outgoing(call([user(RULE), assistant("done"), odd])) is None
    [why] = known.passed
    assert why.startswith("a message cannot be read here (")
    assert str(odd) not in why
    turn(known, [user(RULE), assistant("done"), user("on")])
    assert names(known) == [RULE[:12], "done", "on", "done"]


def test_system_prompt_and_tools_that_cannot_be_read_pass_too() -> None:
    """As messages."""
    known = conversations()
    assert known.outgoing(call([user(RULE)], tools=["run"])) is None
    assert next(iter(known.passed)).startswith("system prompt or tools cannot be read here (")


@pytest.mark.parametrize(("cap", "is_due"), [(None, False), (8_000, False), (56_000, True)])
def test_the_output_cap_of_a_request_is_what_is_kept_free_for_its_answer(
    cap: int | None, is_due: bool
) -> None:
    """BUD-1: of 128,000 tokens a compaction is due from 92,160 on, with a cap of 56,000 from 57,600."""
    known = conversations()
    messages = [user(RULE)]
    for round in range(5):
        messages += [assistant(long(f"said{round}-", 8_000)), user("go on")]
    asked = call(messages) if cap is None else call(messages, max_tokens=cap)
    going = known.outgoing(asked)
    assert (sent(going, asked) != messages if going is not None else False) is is_due


def test_an_output_cap_that_leaves_no_room_is_lowered_and_nothing_is_compacted() -> None:
    """CMP-41: what is left of the window, under the caller's own key; the messages go out as they came."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 5)
    asked = call(messages, max_tokens=100_000)
    going = known.outgoing(asked)
    assert going is not None
    assert going.messages is None
    assert going.body is not None
    left = going.body["max_tokens"]
    assert 4_096 <= left < 100_000
    assert going.body == {**asked.body, "max_tokens": left}
    known.answered(going.ticket, answer("a"))
    small = known.outgoing(call([*messages, assistant("a"), user("b")], max_tokens=500))
    assert small is not None
    assert small.body is None


def test_a_cap_that_thinking_needs_is_not_lowered_and_not_reported() -> None:
    """CMP-41: what is reported is what went out. Anthropic refuses a cap at or below `budget_tokens`."""
    known = conversations()
    messages = [user(RULE)]
    grown(known, messages, 5)
    for budget, is_lowered in ((99_000, False), (5_000, True)):
        asked = call(messages, max_tokens=100_000, thinking={"type": "enabled", "budget_tokens": budget})
        going = known.outgoing(asked)
        assert going is not None
        assert (going.body is not None, going.is_edited) == (is_lowered, is_lowered)
        assert known.report is not None
        assert any("output cap lowered" in note for note in known.report.notes) is is_lowered
