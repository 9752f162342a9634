"""Another model in the middle of a session: measured against its window at once, made to fit it by what can still run, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import ContextExhausted, InvalidOption
from foldline.log.values import dumps
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.bugs.test_summariser_overflow import SUMMARY
from tests.judges.panel import violations
from tests.session.making import answer, opened, reopened, worked
from tests.session.modelling import kinds

LARGE, SMALL = "gpt-5", "claude-sonnet-4-5"
WINDOW = 20_000
"""Of the small one here."""
POLICIES = (
    "balanced",
    "handoff",
    "reserve",
    "ladder-minimal",
    "ladder-professional",
    "ladder-enterprise",
    "cascade",
)


@pytest.fixture(autouse=True)
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 400,000 tokens, one of 20,000."""
    monkeypatch.chdir(tmp_path)
    told = (
        f'[models."{LARGE}"]\nwindow = 400_000\n[models."{SMALL}"]\nwindow = {WINDOW}\nmax_output = 2_000\n'
    )
    Path("foldline.toml").write_text(told, encoding="utf-8")


def grown(**asked: Any) -> Session:
    """A session of sixty rounds, three times as large as the small window, and nothing due in the large one."""
    session = opened(model=LARGE, **asked)
    session.user("Read all of it. Never push to main. The port is 8443.")
    for number in range(60):
        session.record(answer(f"look {number}", (f"t{number}", "read_file"), format=session.format))
        session.tool_result(f"t{number}", f"line {number} of src/part_{number}.py says so " * 100)
        if number % 6 == 5:
            session.record(answer(f"part {number} is read"))
            session.user(f"go on after {number}")
    session.prepare()
    assert "compaction" not in kinds(session)
    return session


def test_the_new_window_and_counter_are_measured_against_at_once() -> None:
    """TOK-5: what another model reported is no baseline; before any request."""
    session = grown()
    reported = session.prepare().tokens.tokens + 500
    session.record(answer("so far", tokens=reported))
    session.user("and now?")
    assert session.prepare().tokens.tokens_anchored == reported + 10
    before = session.context_use()
    session.use(SMALL)
    after = session.context_use()
    assert (before["tokens_window"], after["tokens_window"]) == (272_000, WINDOW)
    assert after["tokens_total"] > 2 * WINDOW
    assert after["percent"] == 100
    tokens = session.preview().tokens_before
    assert tokens == after["tokens_total"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("completer", ["none", "works", "fails"])
def test_the_next_request_fits_by_a_strategy_that_can_still_run(policy: str, completer: str) -> None:
    """CMP-1, CMP-12: without a model, with one, and with one that fails. A policy of one tier, which needs a model, has no other
    way: it says so, and its request goes out as it is (CMP-35)."""
    asked: Any = {"works": ScriptedCompleter(SUMMARY)}
    if completer == "fails":
        asked["fails"] = ScriptedCompleter(*[RuntimeError("down")] * 9)
    session = grown(policy=policy, host=Host(completer=asked.get(completer)))
    said = list(session.messages)
    session.use(SMALL)
    request = session.prepare()
    if policy == "reserve" and completer != "works":
        assert request.report.reason
        assert "compaction" not in kinds(session)
    else:
        assert request.tokens.tokens < WINDOW
    assert violations(request.body, format="anthropic") == []
    assert list(session.messages) == said, "nothing is lost"
    for made in session.compactions:
        assert [
            address for address in made.report["covers"]["addresses"] if not session.show(address).text
        ] == []
        assert made.report["retention"]["paths"]["lost"] == 0
    assert session.prepare().data == request.data, "once is enough"


def test_a_larger_window_again_makes_no_work() -> None:
    """CMP-1, law PREFIX: nothing is compacted, written or re-sent otherwise; what was folded comes back when it is undone."""
    session = grown()
    whole = session.prepare().messages
    session.use(SMALL)
    small = session.prepare()
    entries = kinds(session)
    session.use(LARGE)
    large = session.prepare()
    assert large.report.outcome == "unchanged"
    assert large.messages == small.messages
    assert kinds(session) == [*entries, "model"]
    session.use(LARGE)
    assert kinds(session) == [*entries, "model"], "the same model again says nothing new"
    session.undo()
    assert session.prepare().messages == whole


def test_to_and_fro_without_a_word_between_compacts_once() -> None:
    """CMP-18: a summary is never made of a summary because somebody tries another model."""
    session = grown()
    for _ in range(5):
        session.use(SMALL)
        session.prepare()
        session.use(LARGE)
        session.prepare()
    assert kinds(session).count("compaction") == 1


def test_an_answer_of_the_model_before_is_no_baseline_for_the_new_one() -> None:
    """TOK-5: it was on its way when the model was changed; and so for a session that is opened again."""
    store = MemoryStore()
    session = opened(store, model=LARGE)
    session.user("go")
    session.prepare()
    session.use(SMALL)
    session.record(answer("an answer", tokens=9_000))
    session.user("on")
    tokens = session.prepare().tokens
    assert tokens.tokens_anchored == 0
    with reopened(session, store) as again:
        assert again.prepare().tokens == tokens
    session = opened(store, model=SMALL)
    session.prepare()
    session.record(answer("an answer", tokens=800))
    session.user("on")
    assert session.prepare().tokens.tokens_anchored == 810
    with reopened(session, store, model=LARGE) as again:
        assert again.prepare().tokens.tokens_anchored == 0


def test_a_usage_that_comes_after_the_model_was_changed_is_no_baseline() -> None:
    """TOK-5: of an answer that the model before gave, in an entry of its own, whatever program wrote it; after a restart too."""
    store = MemoryStore()
    session = opened(store, model=LARGE)
    session.user("go")
    session.prepare()
    session.record(answer("an answer"))
    session.use(SMALL)
    session.user("on")
    session.close()
    journal = store.write(session.name)
    journal.append([Draft(kind="usage", body=dumps({"message": 1, "usage": {"tokens_input": 9_000}}))])
    journal.close()
    with opened(store, model=SMALL) as again:
        assert again.prepare().tokens.tokens_anchored == 0


def test_nodes_are_measured_anew_too() -> None:
    """TOK-5: each scope has a baseline of its own."""
    session = opened(model=LARGE)
    session.user("go")
    with session.node("worker", input="do it") as node:
        node.prepare()
        node.record(answer("inside", tokens=700))
        worked(node, 1)
        session.use(SMALL)
        assert node.prepare().tokens.tokens_anchored == 0


def test_a_window_that_holds_not_even_the_smallest_view_is_said_and_the_request_given() -> None:
    """CMP-30: `unreachable` is an outcome with the smallest request; only what stays so raises, until another model is used."""
    session = opened(model=LARGE)
    session.user("hello " * 6 * WINDOW)
    session.prepare()
    session.use(SMALL)
    for _ in range(3):
        request = session.prepare()
        assert request.report.outcome == "unreachable"
        assert request.report.reason
        assert request.tokens.tokens > WINDOW
    with pytest.raises(ContextExhausted, match="take a model with a larger window"):
        session.prepare()
    session.use(LARGE)
    assert session.prepare().report.outcome == "unchanged"


@pytest.mark.parametrize("name", ["", "  "])
def test_no_model_of_no_name_is_gone_on_with(name: str) -> None:
    """What is asked for by mistake changes nothing."""
    session = opened(model=LARGE)
    with pytest.raises(InvalidOption, match="give a name with a visible character"):
        session.use(name)
    assert session.model == LARGE
