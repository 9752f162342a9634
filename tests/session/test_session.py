"""A session as a caller holds it: it goes on where it was, and everything that goes back in it is an entry."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.errors import InvalidOption, SessionFailed, TargetUnreachable, UnknownAddress
from foldline.engine.policy import Line
from foldline.ledger.book import TOLD_CHARS_MAX
from foldline.ledger.facts import CACHED_BYTES_MAX
from foldline.ledger.found_in_text import WORDS_MAX
from foldline.presets import policy_of
from foldline.session.history import Page
from foldline.session.session import FACTS_BYTES_A_TOKEN, TOLD_CHARS_A_TOKEN
from foldline.stores.memory import MemoryStore
from tests.session.making import answer, opened, reopened, worked


def test_the_two_lines_of_the_interface_work_on_disk(tmp_path: object) -> None:
    """JRN-1: user, prepare, record, tool_result; opened again it is the same, byte for byte."""
    home = str(tmp_path)
    with foldline.open("fix-login", model="claude-sonnet-4-5", home=home) as session:
        session.user("Find why login fails")
        request = session.prepare(
            system="be kind", tools=[{"name": "read", "input_schema": {"type": "object"}}]
        )
        assert (request.system, request.messages) == (
            "be kind",
            [{"role": "user", "content": "Find why login fails"}],
        )
        session.record(answer("I look", ("t1", "read"), tokens=40))
        session.tool_result("t1", "def login(): …")
        live = session.prepare()
    with foldline.open("fix-login", home=home) as again:
        assert again.model == "claude-sonnet-4-5"
        request = again.prepare()
        assert (request.data, request.fingerprint, request.tokens) == (
            live.data,
            live.fingerprint,
            live.tokens,
        )
        assert [message["role"] for message in again.messages] == ["user", "assistant", "user"]


def test_a_compaction_is_previewed_made_explained_and_undone() -> None:
    """UIX-1, CMP-16: the preview is what is made; undone, the view is what it was; every summary is at its own place."""
    store = MemoryStore()
    session = opened(store)
    session.user("read everything")
    worked(session, 20)
    before = session.prepare().data
    foreseen = session.preview(to=0.4)
    assert session.prepare().data == before, "a preview does nothing"
    report = session.compact(to=0.4)
    assert (report.tokens_after, report.outcome) == (foreseen.tokens_after, "compacted")
    [made] = session.compactions
    assert (made.counts, made.report["tokens_after"]) == (True, report.tokens_after)
    assert session.undo() == made.seq
    assert session.prepare().data == before
    assert [made.counts for made in session.compactions] == [False]
    with pytest.raises(InvalidOption, match="no compaction of it counts"):
        session.undo()
    with reopened(session, store) as again:
        assert again.prepare().data == before


def test_every_summary_stays_at_its_own_place_and_the_view_starts_at_the_last() -> None:
    """CMP-16: the new summary stands for history and old summary together, and both are in the log."""
    session = opened()
    session.user("read everything, and use tabs only")
    for _ in range(3):
        worked(session, 12, start=session.seq)
        session.user("go on")
        session.compact(to=700)
    folds = [item for item in session._view().view if item.covers]
    assert len(folds) == 1
    assert sum(bool(made.summaries) for made in session.compactions) >= 2
    kinds = [entry.kind for entry in session.page(limit=200).entries]
    assert kinds.count("compaction") == 3
    assert kinds[-1] == "compaction"


def test_one_span_unfolds_by_its_address() -> None:
    """COL-1: and opens where it stands; another address says that it is none."""
    session = opened()
    session.user("read everything")
    worked(session, 20)
    report = session.compact(to=0.5)
    address = report.covers.addresses[0]
    assert session.show(address).text
    before = session.prepare().tokens.tokens
    session.unfold(address)
    assert session.prepare().tokens.tokens > before
    with pytest.raises(UnknownAddress):
        session.unfold("m0@00000000")
    with pytest.raises(UnknownAddress):
        session.show("m0@00000000")


def test_a_rollback_goes_back_and_forth_across_compactions() -> None:
    """JRN-16: to an entry, or before a compaction; each rollback can be rolled back."""
    session = opened()
    session.user("read everything")
    worked(session, 20)
    before, there = session.prepare().data, session.seq
    session.compact(to=0.4)
    after, here = session.prepare().data, session.seq
    [made] = session.compactions
    session.rollback(before=made.seq)
    assert session.prepare().data == before
    session.rollback(to=here)
    assert session.prepare().data == after
    session.rollback(to=there)
    assert session.prepare().data == before
    for wrong in ({}, {"to": 1, "before": made.seq}, {"to": 999}, {"to": -2}, {"before": there}):
        with pytest.raises(InvalidOption):
            session.rollback(**wrong)


def test_a_target_that_cannot_be_reached_changes_nothing_and_says_how_small_it_gets() -> None:
    """Law END: the smallest size, and why."""
    session = opened()
    session.user("x" * 4_000)
    seq = session.seq
    with pytest.raises(TargetUnreachable) as caught:
        session.compact(to=10)
    assert (session.seq, caught.value.result.outcome) == (seq, "unreachable")


def test_older_history_comes_page_by_page_in_the_order_of_the_log() -> None:
    """UIX-7, JRN-19: nothing is loaded that nobody asks for, and resuming rewrites nothing."""
    store = MemoryStore()
    session = opened(store)
    session.user("begin")
    worked(session, 10)
    session.compact(to=0.5)
    session.user("and on")
    log = bytes(store._logs["s"].data)
    with reopened(session, store) as again:
        assert bytes(store._logs["s"].data) == log
        seen: list[int] = []
        page: Page = again.page(limit=5)
        while True:
            assert len(page.entries) <= 5
            seen = [entry.seq for entry in page.entries] + seen
            if page.before is None:
                break
            page = again.page(before=page.before, limit=5)
        assert seen == sorted(seen)
        assert len(seen) == len(again.messages) + 1
        with pytest.raises(InvalidOption):
            again.page(limit=0)


def test_another_model_is_planned_for_from_here_on_and_after_a_restart() -> None:
    """TOK-1: its window and its counter."""
    store = MemoryStore()
    session = opened(store, counter=None)
    session.user("hello there")
    session.prepare()
    session.use("gpt-5")
    assert session.model == "gpt-5"
    tokens = session.prepare().tokens
    with reopened(session, store, counter=None) as again:
        assert (again.model, again.format) == ("gpt-5", "anthropic")
        assert again.prepare().tokens == tokens


def test_superseded_words_stay_marked_when_the_session_is_opened_again() -> None:
    """Law REPLAY: the marks of a compaction are in its checkpoint, and the next request has the same bytes; in a fork
    too."""
    store = MemoryStore()
    session = opened(store)
    session.user("The port is 8080.\nNever push to main.")
    worked(session, 10)
    session.user("The port is 9090 now.")
    worked(session, 10, start=10)
    session.compact(to=0.93)
    data = session.prepare().data
    assert b"[superseded by m" in data
    fork = session.fork("t")
    assert fork.prepare().data == data
    fork.close()
    with reopened(session, store) as again:
        assert again.prepare().data == data


def test_a_policy_of_ones_own_outlives_a_change_of_the_model() -> None:
    """A value stays what it is, though it has a preset's name; a name is looked up for the new window."""
    own = replace(policy_of("balanced", 200_000), threshold=Line(percent=7, of="window"))
    session = opened(policy=own)
    session.use("claude-sonnet-4-5")
    assert session.policy == own
    named = opened(policy="handoff", model="claude-sonnet-4-5")
    named.use("gpt-4.1")
    assert named.policy.name == "handoff"


@pytest.mark.parametrize("name", ["", "  ", None, 5])
def test_a_node_without_a_name_is_refused_and_the_log_goes_on(name: object) -> None:
    """What could not be read again is never appended: one such entry would close the whole log."""
    store = MemoryStore()
    session = opened(store)
    session.user("precious")
    for expose in ("io", "full", "hidden"):
        with pytest.raises(InvalidOption):
            session.node(name, expose=expose)  # type: ignore[arg-type]
    session.user("more")
    with reopened(session, store) as again:
        assert len(again.messages) == 2


def test_an_entry_that_could_not_be_read_again_is_refused() -> None:
    """The kind: whatever a caller gives, the log stays readable."""
    store = MemoryStore()
    session = opened(store)
    session.user("go")
    session.record(answer("", ("c1", "read")))
    deep: object = "x"
    for _ in range(5_000):
        deep = [deep]
    for output in (deep, {"a": deep}, 10**5000):
        with pytest.raises(InvalidOption):
            session.tool_result("c1", output)
    for response in ({"choices": 1.5}, {"output": 3}, {"candidates": "x"}, 7, None):
        with pytest.raises(InvalidOption):
            session.record(response)
    session.tool_result("c1", "fine")
    with reopened(session, store) as again:
        assert len(again.messages) == 3


def test_a_rollback_brings_back_system_tools_and_model_as_they_were() -> None:
    """Law REPLAY: live and reopened agree, and what is said again is written again."""
    store = MemoryStore()
    session = opened(store, model="claude-sonnet-4-5")
    session.user("one")
    mark = session.seq
    session.prepare(system="RULES", tools=[{"name": "t", "input_schema": {"type": "object"}}])
    session.use("claude-3-5-haiku-20241022")
    session.record(answer("two"))
    session.rollback(mark)
    assert (session.prepare().system, session.prepare().tools, session.model) == (
        None,
        None,
        "claude-sonnet-4-5",
    )
    session.prepare(system="RULES")
    data = session.prepare().data
    assert b"RULES" in data
    with reopened(session, store) as again:
        assert (again.prepare().data, again.model) == (data, "claude-sonnet-4-5")


def test_another_model_leaves_every_system_prompt_that_was_said() -> None:
    """A node's prompt is in no log; what was left out is what was said last."""
    session = opened(model="claude-sonnet-4-5")
    session.user("go")
    session.prepare(system="RULES")
    with session.node("n", input="in") as node:
        node.prepare(system="NODE RULES")
        session.use("claude-opus-4-1")
        assert (node.prepare().system, session.prepare().system) == ("NODE RULES", "RULES")


def test_the_model_it_was_opened_with_is_kept() -> None:
    """A session that is gone on with keeps the model it had last, however that was named."""
    store = MemoryStore()
    session = opened(store, model="claude-sonnet-4-5")
    session.user("one")
    session.close()
    session = opened(store, model="claude-opus-4-1")
    session.close()
    with opened(store) as again:
        assert again.model == "claude-opus-4-1"


def test_what_is_no_text_is_refused_where_one_is_wanted(tmp_path: Path) -> None:
    """Bad input gets an error of ours, never a raw one."""
    session = opened()
    session.user("go")
    for call in (
        lambda: foldline.open(None, home=tmp_path),  # type: ignore[arg-type]
        lambda: foldline.open("s", model=5, home=tmp_path),  # type: ignore[arg-type]
        lambda: foldline.open("s", format=5, home=tmp_path),  # type: ignore[arg-type]
        lambda: session.use(5),  # type: ignore[arg-type]
        lambda: session.fork(None),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidOption, match="give a text"):
            call()
    assert list(tmp_path.iterdir()) == []


CLOSED_CALLS = {
    "messages": lambda s: s.messages,
    "rereads": lambda s: s.rereads,
    "show": lambda s: s.show("m0@00000000"),
    "page": lambda s: s.page(),
    "compactions": lambda s: list(s.compactions),
    "size": lambda s: s.size,
    "waiting": lambda s: s.waiting,
    "prepare": lambda s: s.prepare(),
    "preview": lambda s: s.preview(to=0.5),
    "compact": lambda s: s.compact(to=0.5),
    "user": lambda s: s.user("more"),
    "record": lambda s: s.record(answer("x")),
    "undo": lambda s: s.undo(),
    "unfold": lambda s: s.unfold("m0@00000000"),
    "rollback": lambda s: s.rollback(to=0),
    "fork": lambda s: s.fork("f"),
    "use": lambda s: s.use("claude-sonnet-4-5"),
    "recall": lambda s: s.recall("word"),
    "node": lambda s: s.node("n").__enter__(),
}


@pytest.mark.parametrize("call", CLOSED_CALLS.values(), ids=CLOSED_CALLS)
@pytest.mark.parametrize("on_disk", [True, False])
def test_a_closed_session_says_so_whatever_it_is_asked(call: Any, on_disk: bool, tmp_path: Path) -> None:
    """JRN-1: one error for all, with what to do next; a second `close` is none."""
    if on_disk:
        session = foldline.open("s", format="anthropic", home=tmp_path)
    else:
        session = opened(MemoryStore())
    session.user("a word")
    said = session.messages
    with contextlib.suppress(LookupError):
        session.recall("word")
    session.close()
    session.close()
    with pytest.raises(SessionFailed, match=r"\(it was closed\); open it again"):
        call(session)
    if on_disk:
        with pytest.raises(SessionFailed, match="closed"):
            len(said)


def test_what_is_remembered_of_facts_and_calls_goes_by_the_window(tmp_path: Path) -> None:
    """JRN-19: facts are asked of what a view shows; memory does not grow with the log, and a larger window has more room.
    Calls are held with their results, which are most of a log."""
    with foldline.open("s", home=tmp_path, model="gpt-4o") as session:
        small, few = session._known.memo["facts"], session._known.memo["told"]
        session.use("claude-sonnet-4-5")
        large, more = session._known.memo["facts"], session._known.memo["told"]
    assert few._room._chars_max == 128_000 * TOLD_CHARS_A_TOKEN
    assert few._room._chars_max < more._room._chars_max <= TOLD_CHARS_MAX
    assert small._bytes_max == 128_000 * FACTS_BYTES_A_TOKEN
    assert small._bytes_max < large._bytes_max <= CACHED_BYTES_MAX
    assert small._extract._reader._words_max < large._extract._reader._words_max <= WORDS_MAX
