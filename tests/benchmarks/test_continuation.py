"""The benchmark of what is needed next counts what it says it counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.continuation.__main__ import BUNDLED, main
from benchmarks.continuation.judge import Fact, facts_in, occurs
from benchmarks.continuation.need import needed
from benchmarks.continuation.rows import PLAIN, Case, policy_row
from benchmarks.continuation.session import Session, load, side_chains
from foldline.core.errors import UnknownPolicy
from foldline.core.message import Message, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
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
    """The measure of issue 3: mentioned again in own words, and not because a result had just shown it."""
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


def test_a_file_of_a_short_session_is_no_case(tmp_path: Path) -> None:
    """A prefix that fits any window needs no compaction."""
    path = tmp_path / "short.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "hello"}]}))
    assert load(str(path), COUNTER) == ()
