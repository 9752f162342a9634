"""Search and opening over all sessions, from their logs."""

from __future__ import annotations

import gc
import json
import os
import re
import resource
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.address import part_address, span_address
from foldline.core.errors import InvalidOption, SessionCorrupt, UnknownAddress, UnknownSession
from foldline.core.message import Message
from foldline.core.ports import Pages
from foldline.log.lineages import Lineages
from foldline.privacy.forgetting import forget_text
from foldline.recall.entries import message_of
from foldline.recall.find import HITS_MAX, Recall
from foldline.recall.opening import Excerpt
from foldline.recall.rows import Filters
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import assistant, call, result, user
from tests.linear import beside
from tests.log.test_lineages import grown
from tests.recall.logs import draft, entry, more, recall_over, saying, written

MESSAGES = [
    user("why does login fail?"),
    assistant("let me look", call("bash", "c1", command="cat app.log")),
    result("c1", "first\npool size is 20\nlast"),
]


def test_a_hit_opens_at_its_address() -> None:
    """What it is, who said it, and the words around."""
    recall = saying(*MESSAGES)
    [hit] = recall.search("pool size", session="s").hits
    assert (hit.session, hit.role, hit.kind, hit.tool) == ("s", "tool", "result", "bash")
    assert (hit.line, hit.lines, hit.snippet) == (2, 3, "first pool size is 20 last")
    opened = recall.open(hit.address, session="s")
    assert opened.text == "first\npool size is 20\nlast"
    assert opened.title == "result of bash in message 2"


def test_a_ledgers_short_address_opens_in_the_session_that_it_is_of() -> None:
    """Law TRACE: with the whole address, so that it is seen what was opened; one that is not there says which are."""
    recall = saying(*MESSAGES)
    [hit] = recall.search("pool size", session="s").hits
    assert recall.open("m2.0", session="s") == recall.open(hit.address, session="s")
    assert recall.open("(m2", session="s").text == recall.open("m2-m2", session="s").text
    assert recall.open("m0-m2", session="s").address == span_address(list(enumerate(MESSAGES)))
    for address, why in (
        ("m2.7", "nothing there; m2 opens that message whole"),
        ("m3", "nothing there, but m0 to m2"),
        ("m1-m9", "nothing there, but m0 to m2"),
    ):
        with pytest.raises(UnknownAddress, match=why):
            recall.open(address, session="s")
    with pytest.raises(UnknownAddress, match="name the session"):
        recall.open("m2")


def test_a_short_address_of_what_was_forgotten_opens_to_what_is_left() -> None:
    """S18: and says that it is not all."""
    store = MemoryStore()
    written(store, "s", [user("keep ?????????"), entry("forgot", {"ordinals": [0], "what": 1})])
    opened = recall_over(store).open("m0", session="s")
    assert opened.title == "message 0, user, of which something was forgotten"


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_every_format_is_searched_and_opened(format: str) -> None:
    """Slots and digests are those that edits and notices name."""
    wire = {
        "anthropic": {"role": "user", "content": [{"type": "text", "text": "alpha"}, {"type": "text", "text": "beta"}]},
        "openai-chat": {"role": "user", "content": [{"type": "text", "text": "alpha"}, {"type": "text", "text": "beta"}]},
        "openai-responses": {"role": "user", "content": [{"type": "input_text", "text": "alpha"}, {"type": "input_text", "text": "beta"}]},
        "gemini": {"role": "user", "parts": [{"text": "alpha"}, {"text": "beta"}]},
    }[format]  # fmt: skip
    store = MemoryStore()
    written(store, "s", [draft(wire, format=format)])
    recall = recall_over(store)
    [hit] = recall.search("beta").hits
    assert hit.address.startswith("m0.1@")
    assert recall.open(hit.address).text == "beta"


TEXTS = st.lists(st.text(max_size=60), min_size=1, max_size=5)


@given(TEXTS, st.data())
def test_any_text_is_found_by_any_of_its_words_and_opens_whole(texts: list[str], data: st.DataObject) -> None:
    """Law TRACE, for any text in any script."""
    recall = saying(*(user(text) for text in texts))
    ordinal = data.draw(st.integers(0, len(texts) - 1))
    for word in re.findall(r"[^\W_]+", texts[ordinal]):
        assert recall.search(word, session="s").hits, (word, texts)
    [part] = user(texts[ordinal]).parts
    assert recall.open(part_address(ordinal, part), session="s").text == texts[ordinal]


@pytest.mark.parametrize("on_disk", [True, False])
def test_sessions_survive_a_restart_and_so_does_what_is_found(tmp_path: Path, *, on_disk: bool) -> None:
    """ahmadrosid/nakama#588: summarised results could not be read again, after a restart least of all."""
    store = DiskStore(tmp_path / "home") if on_disk else MemoryStore()
    written(store, "s", MESSAGES)
    for _ in range(2):
        recall = Recall(
            DiskStore(tmp_path / "home") if on_disk else store,
            path=tmp_path / "home" / "recall.sqlite",
            counter=recall_over().counter,
        )
        [hit] = recall.search("pool size").hits
        assert recall.open(hit.address).text == "first\npool size is 20\nlast"
        recall.close()


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1)), min_size=1, max_size=6))
def test_forks_of_forks_are_found_and_opened_wherever_they_leave_what_they_go_on_from(
    forks: list[tuple[int, float]],
) -> None:
    """JRN-9: in one session, and in all of them; each log is put into the index once, whatever was asked before."""
    store = MemoryStore()
    names = grown(store, forks)
    recall = recall_over(store)
    recall.update()
    put: list[str] = []
    usual = recall.index.update

    def counted(session: str, pages: Pages, **more: Any) -> str:
        put.append(session)
        return usual(session, pages, **more)

    recall.index.update = counted  # type: ignore[method-assign]
    recall.update()
    assert sorted(put) == sorted(names)
    with closing(Lineages(store)) as lineages:
        for name in names:
            with lineages.reading(name) as log:
                said_here = [message_of(one) for one in log.entries() if one.kind == "message"]
            for ordinal, message in enumerate(said_here):
                assert message is not None
                [hit] = recall.search(f'"{message.text}"', session=name).hits[:1]
                assert hit.address == part_address(ordinal, message.parts[0])
                assert recall.open(hit.address, session=name).text == message.text
                assert recall.open(hit.address).text == message.text
    begun = recall.index.size()[0]
    recall.update()
    assert recall.index.size()[0] == begun, "nothing was read anew"


def test_a_fork_finds_what_it_goes_on_from_and_nothing_that_came_later() -> None:
    """ahmadrosid/nakama#588, in a fork: by reference, under the same address."""
    store = MemoryStore()
    entries = written(store, "a", [*MESSAGES, user("alpha later")])
    cut = entries[2].offset + entries[2].size
    written(store, "b", [user("alpha in b")], about={"parent": {"name": "a", "seq": 2, "byte": cut}})
    cut_b = (
        cut + sum(entry.size for entry in store.read("b").entries()) + next(store.read("b").entries()).offset
    )
    written(store, "c", [user("alpha in c")], about={"parent": {"name": "b", "seq": 3, "byte": cut_b}})
    recall = recall_over(store)
    assert {hit.snippet for hit in recall.search("alpha", session="b").hits} == {"alpha in b"}
    assert {hit.snippet for hit in recall.search("alpha", session="c").hits} == {"alpha in b", "alpha in c"}
    assert [hit.session for hit in recall.search("pool size", session="c").hits] == ["a"]
    for name in "abc":
        assert recall.open(part_address(2, MESSAGES[2].parts[0]), session=name).text.startswith("first")
    own = [hit.address for hit in recall.search("alpha", session="c").hits]
    assert {address.partition(".")[0] for address in own} == {"m3", "m4"}
    span = span_address([(2, MESSAGES[2]), (3, user("alpha in b")), (4, user("alpha in c"))])
    assert "alpha in b" in recall.open(span, session="c").text
    with pytest.raises(UnknownAddress):
        recall.open(span, session="b")
    assert len(recall.search("alpha").hits) == 3


def test_the_same_words_said_again_are_one_hit() -> None:
    """With the other places named; the newest first."""
    recall = saying(*(user("pool") for _ in range(9)))
    [hit] = recall.search("pool").hits
    assert hit.address.startswith("m8.")
    assert [address.partition(".")[0] for address in hit.same] == ["m7", "m6", "m5", "m4", "m3"]


def test_a_part_that_says_it_often_comes_before_one_that_mentions_it() -> None:
    """Of two as long and nearly as old."""
    often = "pool pool pool size and the pool again"
    once = "in passing we also said pool at one time"
    [first, second] = (
        saying(user(often), user(once), *(user("x y z " * 9) for _ in range(9))).search("pool").hits
    )
    assert (first.snippet, second.snippet) == (often, once)


def test_more_than_is_shown_is_said() -> None:
    recall = saying(*(user(f"pool {number}") for number in range(9)))
    found = recall.search("pool", hits_max=3)
    assert (len(found.hits), found.more) == (3, True)
    assert not recall.search("pool", hits_max=9).more
    for wrong in (0, HITS_MAX + 1):
        with pytest.raises(InvalidOption, match="hits are given"):
            recall.search("pool", hits_max=wrong)


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'; DROP TABLE rows; --",
        "NEAR(",
        "a" * 100_000,
        "\0",
        "\ud800",
        "marks : roleuser",
        "*",
        "中" * 5_000,
    ],
)
def test_a_hostile_query_finds_nothing_and_breaks_nothing(query: str) -> None:
    """S12 for queries: nothing, and no more time than a plain query of that length takes."""
    recall = saying(*MESSAGES)
    recall.search(query)
    plain = ("pool " * (len(query) // 5 + 1))[: len(query)]
    searches = partial(recall.search, query), partial(recall.search, plain)
    assert beside(lambda _: searches[0], lambda _: searches[1], most=10).wrong == ""
    assert recall.search("pool size").hits


def test_a_query_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidOption, match="say what to look for"):
        saying(*MESSAGES).search("  ")


def test_a_session_that_is_not_there_is_named() -> None:
    recall = saying(*MESSAGES)
    with pytest.raises(UnknownSession):
        recall.search("pool", session="t")
    with pytest.raises(UnknownSession):
        recall.open("m0@00000000", session="t")
    with pytest.raises(UnknownAddress, match="session 's' holds something else there"):
        recall.open("m0@00000000", session="s")
    with pytest.raises(UnknownAddress, match="session 's' holds nothing there, but m0 to m2"):
        recall.open("m3@00000000", session="s")
    with pytest.raises(UnknownAddress, match="no session holds that"):
        recall.open("m0@00000000")


def test_without_sessions_nothing_is_found_and_no_file_is_made(tmp_path: Path) -> None:
    found = recall_over(path=tmp_path / "home" / "i").search("pool")
    assert (found.hits, found.notes) == ((), ("there are no sessions",))
    assert not (tmp_path / "home").exists()


def test_what_the_session_forgot_is_not_found(tmp_path: Path) -> None:
    """And what is left of a message is."""
    store = MemoryStore()
    written(store, "s", [user("keep xylophone"), user("other")])
    recall = recall_over(store, path=tmp_path / "i")
    [hit] = recall.search("xylophone").hits
    body = draft(user("keep ?????????")).body
    store.rewrite("s", lambda one: body if one.seq == 0 else None)
    assert recall.index.take_out("s", None)
    assert recall.search("xylophone").hits == ()
    assert recall.search("keep").hits[0].snippet == "keep ?????????"
    with pytest.raises(UnknownAddress):
        recall.open(hit.address, session="s")
    more(store, "s", [entry("forgot", {"ordinals": [0], "what": 1})])
    opened = recall.open(hit.address, session="s")
    assert (opened.address, opened.text) == (hit.address, "keep ?????????")
    assert opened.title == "text of the user in message 0, of which something was forgotten"
    store.remove("s")
    assert recall.search("keep").hits == ()


def test_an_excerpt_is_given() -> None:
    recall = saying(*MESSAGES)
    [hit] = recall.search("pool size").hits
    assert recall.open(hit.address, excerpt=Excerpt(lines=(2, 2))).text == "pool size is 20"


def test_filters_narrow() -> None:
    recall = saying(*MESSAGES)
    assert [hit.kind for hit in recall.search("pool", filters=Filters(kind="call")).hits] == []
    assert [hit.kind for hit in recall.search("log", filters=Filters(kind="call")).hits] == ["call"]


def test_threads_search_while_the_session_goes_on(tmp_path: Path) -> None:
    """One index, many readers, each answer whole."""
    store = MemoryStore()
    written(store, "s", [user(f"word{number}") for number in range(50)])
    recall = recall_over(store, path=tmp_path / "i")

    def work(number: int) -> int:
        if number % 5 == 0:
            more(store, "s", [user(f"later{number}")])
        return len(recall.search(f"word{number % 50}", session="s").hits)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(60))) == {1}
    assert recall.search("later55").hits


def test_what_recall_gave_back_is_not_found_again() -> None:
    """Z03's sibling: an answer that quotes the words is no second place where they stand."""
    store = MemoryStore()
    written(store, "s", MESSAGES)
    recall = recall_over(store)
    from foldline.recall.tool import Scope, execute

    asked = {"type": "tool_use", "id": "r1", "name": "recall", "input": {"query": "pool size"}}
    answer = execute(asked, recall=recall, scope=Scope(session="s"))
    more(store, "s", [draft({"role": "assistant", "content": [asked]}), *(draft(m) for m in answer.messages)])
    assert len(recall.search("pool size").hits) == 1
    assert json.dumps(answer.messages)


def test_a_message_may_have_no_parts() -> None:
    recall = saying(Message(role="assistant", parts=()), user("a"))
    assert recall.search("a").hits[0].address.startswith("m1.")


def test_without_an_index_addresses_open_all_the_same(tmp_path: Path) -> None:
    """From the logs, in forks too."""
    (tmp_path / "folder").mkdir()
    store = MemoryStore()
    entries = written(store, "a", [*MESSAGES, user("later")])
    cut = entries[2].offset + entries[2].size
    written(store, "b", [user("in b")], about={"parent": {"name": "a", "seq": 2, "byte": cut}})
    recall = recall_over(store, path=tmp_path / "folder")
    assert recall.open(part_address(2, MESSAGES[2].parts[0]), session="b").text.startswith("first")
    assert recall.open(span_address([(2, MESSAGES[2]), (3, user("in b"))]), session="b").text.endswith("in b")
    with pytest.raises(UnknownAddress):
        recall.open(part_address(3, user("later").parts[0]), session="b")
    assert [hit.session for hit in recall.search("in b", session="b").hits] == ["b"]
    assert [hit.session for hit in recall.search("pool size").hits] == ["a"]


def test_a_session_that_cannot_be_read_is_named_and_the_others_are_searched() -> None:
    """One damaged log is no reason to find nothing."""
    store = MemoryStore()
    written(store, "a", MESSAGES)
    written(store, "broken", [user("pool size")], about={"parent": {"name": "gone", "seq": 1, "byte": 2}})
    found = recall_over(store).search("pool size")
    assert [hit.session for hit in found.hits] == ["a"]
    assert "'gone'" in found.notes[0]


def damaged(home: Path, name: str) -> None:
    """The first line of a session is no line of a log any more."""
    path = home / "sessions" / name / "log.jsonl"
    path.write_bytes(b"x" * path.stat().st_size)


@pytest.mark.parametrize("has_index", [True, False])
def test_a_session_without_its_first_line_is_named_and_the_others_are_searched(
    tmp_path: Path, *, has_index: bool
) -> None:
    """JRN-4, S18: before it and after it; in a search, by the logs alone too, and where an address is looked for."""
    home = tmp_path / "home"
    store = DiskStore(home)
    for name in ("a", "m", "z"):
        written(store, name, [user(f"pool size of {name}")])
    damaged(home, "m")
    path = home / "recall.sqlite"
    if not has_index:
        path.mkdir()
    recall = recall_over(store, path=path)
    found = recall.search("pool size")
    assert sorted(hit.session for hit in found.hits) == ["a", "z"]
    assert any("m: damaged at byte 0" in note for note in found.notes)
    address = part_address(0, user("pool size of z").parts[0])
    assert recall.open(address).session == "z"
    with pytest.raises(UnknownAddress, match="not m: damaged"):
        recall.open("m0@00000000")
    with pytest.raises(SessionCorrupt):
        recall.search("pool size", session="m")
    recall.close()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux's list of open files")
@pytest.mark.parametrize("has_index", [True, False])
def test_no_more_files_are_open_for_many_sessions_than_for_few(tmp_path: Path, *, has_index: bool) -> None:
    """JRN-19: a home of hundreds of sessions is searched, opened from and forgotten in with a hundred open files."""
    home = tmp_path / "home"
    store = DiskStore(home)
    for number in range(150):
        written(store, f"s{number}", [user(f"pool size of {number}")])
    if not has_index:
        (home / "recall.sqlite").mkdir()
    recall = recall_over(store, path=home / "recall.sqlite")
    gc.disable()  # what is closed late would be closed by chance
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files() + 32, hard))
    try:
        before = open_files()
        assert len(recall.search("pool size", hits_max=100).hits) == 100
        recall.open(part_address(0, user("pool size of 149").parts[0]))
        assert len(forget_text(store, "size of").changed) == 150
        assert open_files() <= before + 4, "the index, and what belongs to it"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        gc.enable()
    recall.close()


def test_reading_into_the_index_tells_how_far_it_is() -> None:
    """For a bar."""
    told: list[tuple[str, int]] = []
    recall = saying(*MESSAGES)
    recall.update(progress=lambda session, size: told.append((session, size)))
    assert told == [("s", sum(one.size for one in recall.store.read("s").entries()))]
    recall.update("s", progress=lambda session, size: told.append((session, size)))
    assert len(told) == 1
