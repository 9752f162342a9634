"""What the entries of a log come to: the chain, what is taken back on it, nodes, anchors."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.entry import Draft
from foldline.core.errors import SessionCorrupt
from foldline.core.message import Meta, Usage
from foldline.core.ports import Journal
from foldline.log.chain import Beyond
from foldline.log.checkpoint import checkpoint_body, small_body
from foldline.log.kinds import lineage_of
from foldline.log.replay import Replay, at, resume, weighed
from foldline.log.state import ROOT, SUPPRESSED, State, Unsaid
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, call, result, user
from foldline.testing.counting import CharacterCounter
from tests.log.drafts import cleared, compaction, draft, fold, said, texts

RESULT = result("c1", "long " * 20)
TALK = (
    said(user("read it")),
    said(assistant("yes", call("read", "c1"))),
    said(RESULT),
    said(assistant("it says long")),
    said(user("and now?")),
)


def log(*drafts: Draft) -> Journal:
    journal = MemoryStore().create("s", format="neutral", about=b"{}")
    journal.append(drafts)
    return journal


def replayed(*drafts: Draft) -> State:
    return Replay().run(log(*drafts).entries())


def shown(state: State, scope: str = ROOT) -> list[str]:
    return texts(state.scopes[scope].view.items())


def test_compactions_apply_where_they_stand_and_an_undo_takes_one_back() -> None:
    """Law REPLAY: the edits of each compaction that no later entry takes back."""
    first, second = compaction(cleared(2, RESULT)), compaction(fold(1, 3))
    assert shown(replayed(*TALK, first, second)) == ["read it", "folded", "and now?"]
    assert shown(replayed(*TALK, first, second, draft("undo", entry=6)))[2] == "[cleared]"
    state = replayed(*TALK, first, second, draft("undo", entry=5))
    assert (shown(state), [a.seq for a in state.applied]) == (["read it", "folded", "and now?"], [6])
    assert shown(replayed(*TALK, first, draft("undo", entry=5))) == shown(replayed(*TALK))


def test_a_later_fold_stands_for_the_messages_of_one_that_was_undone() -> None:
    """COL-1, law REPLAY: an edit that names the place of an undone fold takes what is there now."""
    state = replayed(*TALK, compaction(fold(0, 2)), compaction(fold(0, 3, "all")), draft("undo", entry=5))
    assert shown(state) == ["all", "and now?"]
    assert [len(span) for item in state.root.view for span in item.covers] == [4]


def test_one_span_unfolds_and_the_rest_of_its_compaction_stays() -> None:
    """COL-1: each span is reversible by itself."""
    edits = compaction(cleared(2, RESULT), fold(3, 4))
    state = replayed(*TALK, edits, draft("unfold", entry=5, address=fold(3, 4).address))
    assert shown(state) == ["read it", "yes", "[cleared]", "it says long", "and now?"]
    assert [a.seq for a in state.applied] == [5]


def test_a_rollback_makes_an_earlier_entry_the_end_and_can_be_rolled_back() -> None:
    """JRN-16: the view of that point; ordinals go on counting, so that an address never means two things."""
    back = (*TALK, draft("rollback", to=1), said(user("instead")))
    state = replayed(*back)
    assert shown(state) == ["read it", "yes", "instead"]
    assert [item.seq for item in state.root.view] == [0, 1, 5]
    again = replayed(*back, draft("rollback", to=4))
    assert shown(again) == shown(replayed(*TALK))
    assert again.ordinals == 6
    assert shown(replayed(*TALK, draft("rollback", to=-1))) == []


def test_a_rollback_into_a_compaction_leaves_no_intent_open() -> None:
    """JRN-2: its result is on the way that was left; nothing that comes would ever settle it."""
    begun = (*TALK, draft("begin", reason="manual"), said(user("meanwhile")))
    assert replayed(*begun).open_begin == len(TALK)
    ended = (*begun, draft("settle", begin=len(TALK), outcome="abandoned", why="given up"))
    assert replayed(*ended, draft("rollback", to=len(TALK) + 1)).open_begin is None


def test_a_rollback_takes_undos_back_too() -> None:
    """JRN-16: nothing is ever taken out of a log, and each of the three can be rolled back."""
    undone = (*TALK, compaction(fold(1, 3)), draft("undo", entry=5))
    assert shown(replayed(*undone, draft("rollback", to=5))) == ["read it", "folded", "and now?"]


def test_an_entry_may_not_take_back_what_is_not_before_it() -> None:
    """Law LOG: damage that a checksum cannot see is refused with its place."""
    for wrong in (
        draft("undo", entry=9),
        draft("rollback", to="2"),
        draft("rollback"),
        draft("unfold", entry=0),
    ):
        with pytest.raises(SessionCorrupt, match="cannot be read"):
            replayed(*TALK, wrong)
    with pytest.raises(Beyond):
        replayed(*TALK, draft("rollback", to=-2))


@pytest.mark.parametrize(
    "wrong",
    [
        draft("node", id="n", name="x", expose="some"),
        draft("node_end", id="n", status="well"),
        draft("node", id="", name="x", expose="io"),
        draft("usage", message=7, usage={"tokens_input": 1}),
        compaction(fold(3, 9)),
        draft("settle"),
    ],
)
def test_entries_that_say_nothing_sensible_are_refused(wrong: Draft) -> None:
    """Law LOG: each with its kind, its number and its byte."""
    with pytest.raises(SessionCorrupt, match="cannot be read"):
        replayed(*TALK, wrong)


def test_a_node_has_a_view_of_its_own_and_the_outside_sees_what_it_exposes() -> None:
    """FUN-1: io and hidden show no child, full shows all, through every node between that is full."""
    for expose, seen in (("io", []), ("hidden", []), ("full", ["inner"])):
        begun = (*TALK, draft("node", id="n1", name="research", expose=expose))
        state = replayed(*begun, said(user("inner"), node="n1"))
        assert shown(state, "n1") == ["inner"]
        assert shown(state)[5:] == seen
        ended = replayed(
            *begun, said(user("inner"), node="n1"), draft("node_end", id="n1", status="completed")
        )
        assert (list(ended.scopes), ended.nodes) == ([ROOT], {})
        assert shown(ended)[5:] == seen
    nested = (
        draft("node", id="a", name="a", expose="io"),
        draft("node", id="b", name="b", expose="full", parent="a"),
        said(user("deep"), node="b"),
    )
    state = replayed(*nested)
    assert (shown(state, "b"), shown(state, "a"), shown(state)) == (["deep"], ["deep"], [])
    assert lineage_of(state, "b") == ("b", "a", ROOT)
    assert list(replayed(*nested, draft("node_end", id="a", status="error")).scopes) == [ROOT]
    late = replayed(*nested, draft("node_end", id="a", status="error"), said(user("late"), node="a"))
    assert (shown(late), late.ordinals) == ([], 2)


def test_a_compaction_inside_a_node_touches_its_view_alone() -> None:
    """FUN-4: what is cleared inside stays as it is outside, though both show the message."""
    begun = (
        draft("node", id="n", name="n", expose="full"),
        *(said(m, node="n") for m in (user("a"), RESULT)),
    )
    state = replayed(*begun, compaction(cleared(1, RESULT), node="n"))
    assert shown(state, "n") == ["a", "[cleared]"]
    assert shown(state) == ["a", "long " * 20]
    gone = replayed(
        *begun, draft("node_end", id="n", status="error"), compaction(cleared(1, RESULT), node="n")
    )
    assert gone.applied == ()


def spoken(tokens: int) -> Draft:
    message = assistant("done")
    usage = Usage(tokens_input=tokens, tokens_output=1)
    return said(message.__class__(role="assistant", parts=message.parts, meta=Meta(usage=usage)))


def test_a_usage_is_an_anchor_until_what_it_counted_is_rewritten() -> None:
    """TOK-3, TOK-5, TOK-9: dropped by every compaction, and by an edit of what came before it."""
    state = replayed(*TALK, spoken(100))
    assert state.root.anchor is not None
    assert (state.root.anchor.ordinal, state.root.anchor.usage.tokens_input) == (5, 100)
    assert replayed(*TALK, spoken(100), compaction(fold(1, 3))).root.anchor is None
    assert replayed(*TALK, spoken(100), compaction(cleared(2, RESULT), kind="edit")).root.anchor is None
    later = (*TALK, spoken(100), said(assistant(call("read", "c9"))), said(result("c9", "long")))
    assert replayed(*later, compaction(cleared(7, result("c9", "long")), kind="edit")).root.anchor is not None
    assert replayed(*TALK, compaction(fold(1, 3)), spoken(9), draft("undo", entry=5)).root.anchor is not None
    assert replayed(*TALK, spoken(9), compaction(fold(1, 3)), draft("undo", entry=6)).root.anchor is None


def test_a_usage_that_comes_later_is_an_anchor_too() -> None:
    """TOK-3: some providers say it at the end of the turn."""
    told = draft("usage", message=3, usage={"tokens_input": 7})
    state = replayed(*TALK, told)
    assert state.root.anchor is not None
    assert (state.root.anchor.ordinal, state.root.anchor.usage.tokens_input) == (3, 7)
    after = replayed(*TALK, spoken(100), told)
    assert after.root.anchor is not None
    assert after.root.anchor.ordinal == 5


def late(tokens: int, *, message: int = 3) -> Draft:
    return draft("usage", message=message, usage={"tokens_input": tokens})


@pytest.mark.parametrize(
    "between",
    [
        pytest.param((draft("model", model="m2"),), id="another model"),
        pytest.param((compaction(fold(1, 2)),), id="a compaction"),
        pytest.param((compaction(fold(1, 2)), draft("undo", entry=5)), id="a compaction and its undo"),
        pytest.param((compaction(cleared(2, RESULT), kind="edit"),), id="an edit of what it saw"),
        pytest.param((said(assistant("and then")),), id="an answer after it"),
    ],
)
def test_a_usage_of_before_that_comes_after_is_no_anchor(between: tuple[Draft, ...]) -> None:
    """TOK-5, TOK-9: it counted what is no longer sent, in another model's tokens, or is not the last one."""
    assert replayed(*TALK, late(7)).root.anchor is not None
    assert replayed(*TALK, *between, late(7)).root.anchor is None


def test_an_edit_of_what_came_after_an_answer_leaves_its_late_usage_an_anchor() -> None:
    """TOK-3: what it counted is what is still sent."""
    read = (*TALK, said(assistant(call("read", "c9"))), said(result("c9", "long")))
    edit = compaction(cleared(6, result("c9", "long")), kind="edit")
    found = replayed(*read, edit, late(7, message=5)).root.anchor
    assert found is not None
    assert (found.ordinal, found.usage.tokens_input) == (5, 7)


def test_a_late_usage_keeps_what_its_answer_said_of_the_request() -> None:
    """TOK-6: system prompt and tools as they were; TOK-5: none for an answer to another request than the log shows."""
    told = said(assistant("done"), request={"tokens_fixed": 40})
    found = replayed(*TALK, told, late(7, message=5)).root.anchor
    assert found is not None
    assert found.tokens_fixed == 40
    assert replayed(*TALK, said(assistant("done"), request=False), late(7, message=5)).root.anchor is None


def test_a_node_that_shows_all_of_itself_gives_the_outside_no_anchor() -> None:
    """TOK-5, FUN-1: its requests were its own, whether their usage comes at once or later."""
    node = draft("node", id="n", name="look", expose="full")
    state = replayed(*TALK, node, said(assistant("inside"), node="n"), late(7, message=5))
    assert state.root.anchor is None
    assert state.scopes["n"].anchor is not None


def test_an_answer_without_usage_is_told_until_its_usage_comes() -> None:
    """TOK-5: the anchor before it stays in the log; whether it counts is the policy's to say."""
    silent = replayed(*TALK, spoken(100), said(assistant("and")))
    assert silent.root.anchor is not None
    assert silent.root.unsaid == Unsaid(ordinal=6)
    assert replayed(*TALK, spoken(100), said(assistant("and")), late(7, message=6)).root.unsaid is None
    assert replayed(*TALK, spoken(100), said(assistant("and")), spoken(120)).root.unsaid is None


def test_a_request_that_was_not_what_the_log_shows_gives_no_anchor() -> None:
    """TOK-5: the history revision did not match; the fixed tokens of a request that did are kept for TOK-6."""
    message = assistant("done")
    spoke = message.__class__(role="assistant", parts=message.parts, meta=Meta(usage=Usage(tokens_input=5)))
    assert replayed(*TALK, said(spoke, request=False)).root.anchor is None
    state = replayed(*TALK, said(spoke, request={"tokens_fixed": 40}))
    assert state.root.anchor is not None
    assert state.root.anchor.tokens_fixed == 40


def test_an_open_begin_is_settled_by_its_result_or_by_a_settle() -> None:
    """JRN-2: an intent whose result never came is seen at resume."""
    begun = (*TALK, draft("begin", reason="threshold"))
    assert replayed(*begun).open_begin == 5
    assert replayed(*begun, compaction(fold(1, 3), begin=5)).open_begin is None
    assert replayed(*begun, draft("settle", begin=5, outcome="abandoned")).open_begin is None
    assert replayed(*begun, draft("settle", begin=4, outcome="abandoned")).open_begin == 5


def test_a_compaction_is_remembered_until_the_next_response() -> None:
    """CMP-18: one compaction for each successful response, across a restart too."""
    assert replayed(*TALK, compaction(fold(1, 3))).compacted
    assert replayed(*TALK, compaction(fold(1, 3)), said(user("x"))).compacted
    assert not replayed(*TALK, compaction(fold(1, 3)), said(assistant("x"))).compacted


def test_a_second_hand_off_leaves_the_epoch_with_none() -> None:
    """HND-2 and HND-4: a duplicate suppresses the epoch; a committed compaction begins the next."""
    one = draft("handoff", version=1, epoch=-1, after=4, text="write it down")
    found = replayed(*TALK, one).handoff
    assert found is not None
    assert (found.seq, found.after, found.text) == (5, 4, "write it down")
    twice = (*TALK, one, one)
    assert replayed(*twice).handoff == SUPPRESSED
    assert replayed(*twice, compaction(fold(1, 3))).handoff is None


def test_system_tools_and_model_are_the_last_that_were_said() -> None:
    """JRN-1: each stands in the log once for each change, and `{}` takes it away."""
    told = (draft("tools", format="anthropic", tools=[{"name": "f"}]), draft("model", model="m2"))
    state = replayed(*TALK, *told)
    assert (state.tools, state.model) == (b'[{"name":"f"}]', "m2")
    assert replayed(*TALK, *told, draft("tools"), draft("system")).tools is None


def test_entries_of_unknown_kinds_are_passed_over_and_counted() -> None:
    """Law LOG: a kind that would change the view is never added without a new version."""
    replay = Replay()
    replay.run(log(*TALK, draft("weather", rain=True), draft("begin"), draft("forgot", what=1)).entries())
    assert replay.unknown == {"weather": 1}


def test_the_revision_is_of_the_chain() -> None:
    """TOK-5, TOK-7: the same history has the same revision, whatever was tried and rolled back in the meantime."""
    assert replayed(*TALK).revision != replayed(*TALK[:-1]).revision
    assert replayed(*TALK, draft("begin"), draft("weather")).revision == replayed(*TALK).revision


def test_the_state_after_an_entry_is_that_of_the_log_up_to_it() -> None:
    """Law LOG: any prefix loads; what a fork of an earlier entry begins with."""
    journal = log(*TALK, compaction(fold(1, 3)), said(user("more")))
    assert shown(at(journal, 5).state) == ["read it", "folded", "and now?"]
    assert shown(at(journal, 2).state) == shown(replayed(*TALK[:3]))


def test_weights_of_another_counter_are_counted_anew() -> None:
    """TOK-1: a session that changes its model is weighed by that model's counter."""
    items = weighed(replayed(*TALK).root.view.items(), CharacterCounter())
    assert sum(item.tokens for item in items) == sum(CharacterCounter().message(i.message) for i in items)


# ── from a checkpoint ────────────────────────────────────────────────────────────────────────────────────────

STEPS = st.lists(
    st.sampled_from(
        (
            "user",
            "round",
            "fold",
            "clear",
            "undo",
            "unfold",
            "rollback",
            "full",
            "small",
            "node",
            "end",
            "system",
        )
    ),
    max_size=25,
)


@given(steps=STEPS, data=st.data())
def test_a_log_resumed_from_a_checkpoint_is_what_its_whole_replay_gives(
    steps: list[str], data: st.DataObject
) -> None:
    """JRN-6, law REPLAY: from whichever checkpoint, whatever was undone, rolled back or running."""
    journal = log()
    for number, step in enumerate(steps):
        state = resume(journal).state
        journal.append(drawn(step, number, state=state, data=data, journal=journal))
    whole = Replay()
    whole.run(journal.entries())
    back = resume(journal)
    assert told(back.state) == told(whole.state)
    assert {o: p for o, p in back.places.items() if o in whole.places} == {
        o: whole.places[o] for o in back.places
    }


def told(state: State) -> object:
    views = {
        name: [(i.seq, i.message.parts, i.message.synthetic, i.covers) for i in scope.view]
        for name, scope in state.scopes.items()
    }
    anchors = {name: scope.anchor for name, scope in state.scopes.items()}
    known = (
        state.ordinals,
        state.nodes,
        state.system,
        state.tools,
        state.applied,
        state.calls,
        state.revision,
    )
    return views, anchors, known, state.open_begin, state.compacted, state.handoff, state.full_at


def drawn(step: str, number: int, *, state: State, data: st.DataObject, journal: Journal) -> Sequence[Draft]:
    scope = data.draw(st.sampled_from(sorted(state.scopes)))
    where = {"node": scope} if scope else {}
    if step in ("fold", "clear"):
        return reducing(step, number, state=state, data=data, scope=scope)
    match step:
        case "user":
            return [said(user(f"u{number}"), **where)]
        case "round":
            id = f"c{number}"
            return [
                said(assistant(f"a{number}", call("f", id)), **where),
                said(result(id, f"r{number}"), **where),
            ]
        case "full":
            replay = resume(journal)
            return [Draft(kind="checkpoint", body=checkpoint_body(replay.state, replay.places))]
        case "small":
            return [Draft(kind="checkpoint", body=small_body(state))]
        case "node":
            return [
                draft("node", id=f"n{number}", name="n", expose="io", **({"parent": scope} if scope else {}))
            ]
        case "end":
            return [draft("node_end", id=scope, status="completed")] if scope else []
        case "system":
            return [draft("system", format="neutral", role="system", parts=[{"part": "text", "text": "s"}])]
        case _:
            return taking_back(step, state=state, data=data)


def reducing(step: str, number: int, *, state: State, data: st.DataObject, scope: str) -> Sequence[Draft]:
    items = state.scopes[scope].view.items()
    where = {"node": scope} if scope else {}
    if step == "clear":
        found = [i for i in items if i.message.role == "tool" and not i.message.edited]
        return [compaction(cleared(found[0].seq, found[0].message), kind="edit", **where)] if found else []
    if len(items) < 3:
        return []
    first = data.draw(st.integers(0, len(items) - 2))
    last = data.draw(st.integers(first, len(items) - 1))
    return [compaction(fold(items[first].seq, items[last].seq, f"f{number}"), **where)]


def taking_back(step: str, *, state: State, data: st.DataObject) -> Sequence[Draft]:
    if step == "rollback":
        return [draft("rollback", to=data.draw(st.integers(-1, state.seq)))] if state.seq >= 0 else []
    if not state.applied:
        return []
    one = data.draw(st.sampled_from(state.applied)).seq
    if step == "undo":
        return [draft("undo", entry=one)]
    return [draft("unfold", entry=one, address="m0@00000000")]


def test_replaying_twice_changes_nothing() -> None:
    """JRN-14: numbers are unique, and entries that were taken in already are passed over, in whole or in part."""
    journal = log(*TALK, compaction(fold(1, 3)), *TALK[3:])
    entries = list(journal.entries())
    assert len({entry.seq for entry in entries}) == len(entries)
    replay = Replay()
    once = replay.run(entries)
    assert replay.run(entries) == once
    assert replay.run(entries[2:4]) == once
    apart = Replay()
    apart.run(entries[:4])
    assert shown(apart.run(entries)) == shown(once)
