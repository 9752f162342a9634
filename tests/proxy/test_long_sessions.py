"""A session of three hundred turns past three windows, through the proxy, with nothing lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from foldline.home import disk_store
from foldline.proxy.meters import Record
from foldline.session.library import listed
from foldline.testing.twin import Answer, Twin
from foldline.testing.twin.script import Received
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import Agent, Turn, generated, replayed, run, script

TURNS = 300
WINDOW = 20_000
RULES = ("Never touch auth.py.", "Always run make test before you commit.")
FIRST = f"Refactor the project, module by module. {' '.join(RULES)}"
CACHED_MIN = 0.90


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    return own_home(monkeypatch, tmp_path, window=WINDOW)


def tools_of(turns: Sequence[Turn]) -> list[str]:
    return sorted({call.name for turn in turns for call in turn.calls})


def check(requests: Sequence[Received], *, compactions: int) -> None:
    """What holds of every long session."""
    assert {request.status for request in requests} == {200}, "no overflow, every request valid"
    for request in requests:
        text = request.body.decode()
        assert [rule for rule in RULES if rule not in text] == []
    broken = [n for n in range(1, len(requests)) if requests[n].extends != n - 1]
    assert len(broken) == compactions >= 3, "law ONCE: one break of the prefix a compaction"
    between = [request for n, request in enumerate(requests) if n and n not in broken]
    read = sum(request.tokens_cached for request in between) / sum(request.tokens for request in between)
    assert read >= CACHED_MIN, f"{read:.3f} of the input between compactions came from the cache"


def long_run(format: str, kind: str, *, upstream: str, proxies: int) -> tuple[int, list[Record], Agent]:
    """The session, through so many proxies one after the other; compactions, records and the agent."""
    turns = generated(TURNS, tokens=240) if kind == "generated" else replayed(TURNS, chars_max=1_200)
    agent, records, each = Agent(format, first=FIRST, tools=tools_of(turns)), list[Record](), TURNS // proxies
    for part in range(proxies):
        with Proxy(upstream) as proxy:
            run(agent, turns[part * each : (part + 1) * each], proxy.url)
            records += proxy.wait_for(each)
    return sum(record.is_compaction for record in records), records, agent


def script_of(kind: str) -> list[Answer]:
    return script(generated(TURNS, tokens=240) if kind == "generated" else replayed(TURNS, chars_max=1_200))


@pytest.mark.parametrize(
    ("format", "kind", "proxies"),
    [
        ("anthropic", "generated", 1),
        ("anthropic", "replayed", 2),
        ("openai-chat", "replayed", 1),
        ("openai-chat", "generated", 2),
        ("openai-responses", "generated", 2),
        ("gemini", "replayed", 2),
    ],
)
def test_three_hundred_turns_past_three_windows(home: Path, format: str, kind: str, proxies: int) -> None:
    """CMP-1, laws PREFIX, ONCE and REPLAY, PIN of what the user ruled: generated tool loops, and rounds of recorded sessions; by
    one proxy, and by two of which the second finds the first one's sessions."""
    with Twin(script_of(kind), window=WINDOW) as twin:
        compactions, records, agent = long_run(format, kind, upstream=twin.url, proxies=proxies)
        check(twin.requests, compactions=compactions)
        half = TURNS // 2
        assert twin.requests[half].extends == half - 1 or records[half].is_compaction, (
            "the restart breaks nothing"
        )
        assert records[-1].tokens_in > 3 * WINDOW > 3 * twin.requests[-1].tokens
    [session] = listed(disk_store(home))
    assert session.messages == len(agent.messages) - (2 if format == "openai-chat" else 1)


@pytest.mark.parametrize(("format", "kind"), [("openai-chat", "replayed"), ("gemini", "generated")])
def test_a_session_that_is_run_again_sends_the_bytes_of_its_first_run(
    home: Path, format: str, kind: str
) -> None:
    """Laws PREFIX and ONCE: the second run of one task made a session a request and broke the cache each time. By two proxies, of
    which the second finds the second run half way."""
    count = 60
    turns = generated(count, tokens=480) if kind == "generated" else replayed(count, chars_max=2_400)
    with Twin([*script(turns), *script(turns)], window=WINDOW) as twin:
        first, again = (Agent(format, first=FIRST, tools=tools_of(turns)) for _ in range(2))
        with Proxy(twin.url) as proxy:
            run(first, turns, proxy.url)
            run(again, turns[: count // 2], proxy.url)
        with Proxy(twin.url) as proxy:
            run(again, turns[count // 2 :], proxy.url)
        sent = [request.body for request in twin.requests]
        broken = [n for n in range(1, count) if twin.requests[n].extends != n - 1]
    assert len(broken) >= 2
    assert again.messages == first.messages
    assert sent[count:] == sent[:count]
    assert len(disk_store(home).names()) == 2
