"""The benchmark of what is needed next counts what it says it counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from benchmarks.continuation.__main__ import BUNDLED, main
from benchmarks.continuation.designs import DESIGNS
from benchmarks.continuation.judge import Fact, facts_in, occurs
from benchmarks.continuation.measure import Rounds, recent_rounds
from benchmarks.continuation.need import needed
from benchmarks.continuation.rows import PLAIN, Case, policy_row
from benchmarks.continuation.session import Session, load, side_chains
from foldline.core.errors import UnknownPolicy
from foldline.core.message import Message, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.core.view import item_of
from foldline.presets import policy_of
from foldline.reduce import history_of
from foldline.tokens.choose import counter_for

SAME = policy_of("balanced")
COUNTER = counter_for(counter="o200k_base")


def session_of(*messages: Message) -> Session:
    """A session of these messages."""
    return Session("s", history_of(messages, needs=Needs(), counter=COUNTER, tokens_fixed=0), COUNTER)


def user(text: str) -> Message:
    """A user's message."""
    return Message(role="user", parts=(Text(text=text),))


def calls(identity: str, arguments: str, result: str) -> tuple[Message, Message]:
    """A round with one call."""
    call = Message(role="assistant", parts=(ToolCall(id=identity, name="read", arguments=arguments),))
    return call, Message(role="tool", parts=(ToolResult(call_id=identity, content=(Text(text=result),)),))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("open src/app/main.py now", Fact("paths", "src/app/main.py")),
        ("see ./notes and /etc/hosts", Fact("paths", "/etc/hosts")),
        ("edit package.json", Fact("paths", "package.json")),
        ("get https://a.example/x?y=1.", Fact("identifiers", "https://a.example/x?y=1")),
        ("at commit 83378aad7e74", Fact("identifiers", "83378aad7e74")),
        ("for ABC-123", Fact("identifiers", "ABC-123")),
        ('{"latency_ms": 12}', Fact("numbers", "latency_ms", "12")),
        ("port=8787", Fact("numbers", "port", "8787")),
        ("端口 8080", Fact("numbers", "端口", "8080")),
        ("call is_block_cached() here", Fact("names", "is_block_cached")),
        ("the AgentSession holds it", Fact("names", "AgentSession")),
        ("took 1377 of them", Fact("figures", "1377")),
    ],
)
def test_a_fact_is_found_for_what_it_is(text: str, fact: Fact) -> None:
    """Each kind of the judge, by an example of its docstring."""
    assert fact in facts_in(text)
    assert occurs(fact, text)


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "3/4",
        "torch.full/torch.zeros",
        "console.log",
        "12/08/2025",
        "input/output",
        "head -1",
        "else 0",
        "1.5",
    ],
)
def test_what_only_looks_like_a_fact_is_none(text: str) -> None:
    """Words with a slash, options and bare small numbers would make noise of the count."""
    assert facts_in(text) == ()


@pytest.mark.parametrize(
    ("fact", "text", "there"),
    [
        (Fact("paths", "src/a.py"), "/home/x/src/a.py:3", True),
        (Fact("paths", "src/a.py"), "in src/a.py.", True),
        (Fact("paths", "src/a.py"), "src/a.pyc", False),
        (Fact("paths", "src/a.py"), "other-src/a.py", False),
        (Fact("names", "fooBar"), "fooBarBaz", False),
        (Fact("numbers", "limit", "50"), "limit: 20, 50, 30", True),
        (Fact("numbers", "limit", "50"), "limit: 20\nsize: 50", False),
        (Fact("numbers", "limit", "50"), "limit=500", False),
        (Fact("figures", "137"), "1137 or 137.5", False),
    ],
)
def test_a_fact_is_held_only_as_whole_words(fact: Fact, text: str, *, there: bool) -> None:
    """A judge that matches inside words would count `src/a.pyc` for `src/a.py`."""
    assert occurs(fact, text) is there


def test_a_fact_is_needed_when_it_came_up_before_and_no_tool_showed_it_again() -> None:
    """Mentioned again in own words, and not because a result had just shown it."""
    session = session_of(
        user("Fix src/app/old.py and src/app/shown.py, see src/app/never.py"),
        *calls("a", '{"path": "src/app/found.py"}', "src/app/result.py: port=8787"),
        *calls("b", '{"command": "ls"}', "src/app/shown.py"),
        Message(
            role="assistant",
            parts=(
                Text(text="src/app/shown.py is there; src/app/old.py and src/app/new.py, with port 8787"),
            ),
        ),
    )
    wanted = {str(fact) for fact in needed(session, 3)}
    assert wanted == {"src/app/old.py", "port=8787", "8787"}
    assert needed(session, 3, ahead=2) == ()


def test_arguments_of_a_call_are_own_words_read_without_their_escapes() -> None:
    """JSON escapes would hide a path behind `\\n` or `\\"`."""
    session = session_of(
        user("run tests/unit/test_a.py"),
        *calls("a", "{}", "ok"),
        *calls("b", '{"command": "cd x\\npytest \\"tests/unit/test_a.py\\""}', "ok"),
    )
    assert needed(session, 3) == (Fact("paths", "tests/unit/test_a.py"),)


def test_every_row_stays_within_the_budget_where_there_is_room() -> None:
    """Rows of different sizes would say nothing of each other."""
    (session,) = load(str(BUNDLED), COUNTER)
    at = session.cuts(2)[-1]
    prefix = session.prefix(at)
    case = Case(session=session, at=at, prefix=prefix, tokens_target=prefix.view.tokens // 4)
    for name, row in {"balanced": policy_row("balanced"), **PLAIN}.items():
        assert 0 < row(case).tokens <= case.tokens_target, name


def test_a_policy_may_be_named_by_the_path_of_its_value() -> None:
    """Designs that have no name yet are compared too; a path to nothing is refused."""
    (session,) = load(str(BUNDLED), COUNTER)
    at = session.cuts(1)[0]
    prefix = session.prefix(at)
    case = Case(session=session, at=at, prefix=prefix, tokens_target=prefix.view.tokens // 4)
    assert policy_row(f"{__name__}.SAME")(case).items == policy_row("balanced")(case).items
    with pytest.raises(UnknownPolicy):
        policy_row("foldline.presets.NOTHING")


def test_the_same_files_give_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Law SAME holds for the benchmark too: nothing is sampled or timed."""
    main(["--cuts", "2", "--shares", "13"])
    first = capsys.readouterr().out
    main(["--cuts", "2", "--shares", "13"])
    assert capsys.readouterr().out == first
    assert "1 sessions, 2 cuts" in first
    main(["--cuts", "2", "--shares", "13", "--json"])
    tallies = json.loads(capsys.readouterr().out)["tallies"]
    assert {tally["row"] for tally in tallies} == {"balanced", *PLAIN}


def test_side_chains_of_one_file_are_sessions_of_their_own() -> None:
    """Claude Code 1.0 writes sub-agents' conversations into the parent's file."""
    lines = [
        {"uuid": "a", "parentUuid": None, "isSidechain": True},
        {"uuid": "b", "parentUuid": "a", "isSidechain": True},
        {"uuid": "c", "parentUuid": None, "isSidechain": False},
        {"uuid": "d", "parentUuid": None, "isSidechain": True},
    ]
    data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    assert [chain.count(b"\n") for chain in side_chains(data)] == [2, 1]


def test_what_is_not_counted_is_named_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A figure over sessions says of which it was not taken: short ones, and files that are none. A folder is read whole."""
    (tmp_path / "short.json").write_text(json.dumps({"messages": [{"role": "user", "content": "hello"}]}))
    (tmp_path / "notes.txt").write_text("no session")
    assert load(str(tmp_path / "short.json"), COUNTER) == ()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "long.json").write_bytes(BUNDLED.read_bytes())
    main(["--cuts", "1", "--shares", "13", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1 sessions, 1 cuts")
    assert "left out, shorter than 20,000 tokens: 1 (short)" in lines
    assert "left out, no session in a format that foldline reads: 1 (notes.txt)" in lines
    with pytest.raises(SystemExit, match="long enough"):
        main([str(tmp_path / "notes.txt")])


def test_the_system_prompt_is_no_part_of_what_is_cut() -> None:
    """It stands in every request: what it says is neither needed nor paid for."""
    says = Message(role="system", parts=(Text(text="Always run src/app/check.py and keep max_rows=50"),))
    session = session_of(
        says,
        user("see src/app/old.py"),
        *calls("a", "{}", "ok"),
        Message(role="assistant", parts=(Text(text="src/app/check.py, max_rows=50, src/app/old.py"),)),
    )
    assert session.items[0].message.role == "user"
    assert needed(session, 3) == (Fact("paths", "src/app/old.py"),)
    assert session.prefix(3).view.tokens == sum(item.tokens for item in session.items[:3])


def test_a_round_with_shortened_results_stands_but_is_not_whole() -> None:
    """Whole rounds are counted; what a round lost of its results is seen in the other column."""
    session = session_of(user("go"), *calls("a", "{}", "one " * 90), *calls("b", "{}", "two " * 90))
    view, items = session.history.view, session.items
    first, second = (sum(item.tokens for item in items[at : at + 2]) for at in (1, 3))
    result = ToolResult(call_id="b", content=(Text(text="two"),))
    weights, overhead = COUNTER.weights(Message(role="tool", parts=(result,)))
    short = item_of(4, Message(role="tool", parts=(result,)), weights=weights, overhead=overhead)
    left = recent_rounds(view, (*items[:4], short))
    assert left == Rounds(whole=0, standing=first + items[3].tokens + short.tokens, next=second)
    gone = recent_rounds(view, (*items[:2], *items[3:]))
    assert gone == Rounds(whole=second, standing=second, next=first)


def test_a_users_message_with_a_mark_behind_it_does_not_end_the_run_of_rounds() -> None:
    """BUD-8: what a user took back is marked where it stands."""
    session = session_of(*calls("a", "{}", "one"), user("use tabs"), *calls("b", "{}", "two"))
    view, items = session.history.view, session.items
    marked = structs.replace(
        items[2].message, parts=(*items[2].message.parts, Text(text="[superseded by m9@00000000]"))
    )
    left = recent_rounds(view, (*items[:2], structs.replace(items[2], message=marked), *items[3:]))
    assert left.whole == sum(item.tokens for item in items if item.message.role != "user")
    assert recent_rounds(view, (*items[:2], *items[3:])).whole == sum(item.tokens for item in items[3:])


def test_the_designs_that_were_tried_are_rows_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    """A decision is seen beside what it was taken against."""
    main(["--cuts", "1", "--shares", "13", "--designs", "--json"])
    rows = {tally["row"] for tally in json.loads(capsys.readouterr().out)["tallies"]}
    assert rows == {"balanced", *DESIGNS, *PLAIN}
    assert len({policy.tiers for policy in DESIGNS.values()}) == len(DESIGNS)
