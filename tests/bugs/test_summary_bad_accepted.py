"""Fault reports of kinds `summary-bad-accepted`, `summariser-overflow` and `summary-language`, with a model that does what the
report says: nothing of what it gave is taken, and the failure has its name."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import foldline
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.bugs.case import all_text, grown, judged, load
from tests.session.making import opened
from tests.session.modelling import asks, due, kinds

SUMMARY = "<summary>Delivery was moved, the check code was noted, and what is left is to carry on with the work.</summary>"


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("J01", "empty"),
        ("J03", "cut_off"),
        ("J05", "acknowledgement"),
        ("J07", "cut_off"),
        ("J10", "cut_off"),
    ],
)
def test_a_bad_response_is_a_failure_by_its_name_and_the_history_stays(id: str, name: str) -> None:
    """docker/docker-agent#3470, earendil-works/pi#7048, MoonshotAI/kimi-code#3684, open-webui#27604, goose#11070: in `reserve`,
    which has no other way, the messages are those that came in (requirement CMP-35)."""
    case = load(id)
    said: dict[str, Any] = case.op["summariser_response"]
    if case.format == "anthropic":
        said = {"role": "assistant", "type": "message", **said}
    else:
        said["choices"][0]["message"].setdefault("role", "assistant")
    messages = [*grown(case.messages[:-1]), *work(6, case.format), case.messages[-1]]
    given = copy.deepcopy(messages)
    completer = ScriptedCompleter(said)
    options: dict[str, Any] = {"to": 0.4, "format": case.format, "completer": completer}
    out = foldline.compact(messages, policy="reserve", **options)
    assert (out.messages, out.report.outcome) == (given, "failed")
    assert [failure.name for failure in out.report.summary.failures] == [name]
    kept = foldline.compact(messages, policy="balanced", **options)
    assert {failure.name for failure in kept.report.summary.failures} == {name}
    assert kept.report.outcome == "compacted"
    assert judged(list(kept.messages), format=case.format) == []


def work(rounds: int, format: str) -> list[dict[str, Any]]:
    """Talk that no report is about, in the two formats that take plain text."""
    assert format in ("anthropic", "openai-chat")
    words = " ".join(f"w{n}" for n in range(160))
    return [
        {"role": role, "content": f"{role} part {n}: {words}"}
        for n in range(rounds)
        for role in ("assistant", "user")
    ] + [{"role": "assistant", "content": "done so far"}]


def test_with_nothing_new_the_earlier_summary_stays() -> None:
    """openclaw/openclaw#120663: an empty template never replaces a summary."""
    case = load("J02")
    talk = work(12, "openai-chat")
    first = foldline.compact(
        [{"role": "user", "content": "go"}, *talk, {"role": "user", "content": "carry on"}],
        to=0.3,
        format="openai-chat",
        policy="cascade",
        completer=ScriptedCompleter(
            f"<summary>{case.op['previous_summary']} That was settled with the user.</summary>"
        ),
    )
    assert "deploy id 7731" in all_text(first.messages)
    again = ScriptedCompleter("<summary></summary>")
    try:
        out = foldline.compact(
            first.messages, to=0.9, format="openai-chat", policy="cascade", completer=again
        )
    except foldline.TargetUnreachable as error:
        out = error.result
    assert "deploy id 7731" in all_text(out.messages)


def test_one_result_larger_than_the_window_is_read_in_pieces() -> None:
    """xorbitsai/xagent#2072: the request for the summary fits, all of it is seen or the report says how much, and the result
    is cut with an address."""
    case = load("K08")
    messages = [
        *case.messages,
        {"role": "assistant", "content": "It is dumped."},
        {"role": "user", "content": "go on"},
    ]
    completer = ScriptedCompleter(SUMMARY)
    out = foldline.compact(
        messages,
        to=20_000,
        format="anthropic",
        policy="cascade",
        model="claude-sonnet-4-5",
        completer=completer,
    )
    assert out.report.outcome == "compacted"
    assert judged(list(out.messages), format="anthropic") == []
    sizes = [len(json.dumps(request.wire())) for request in completer.requests]
    assert all(size < 4 * 200_000 for size in sizes)
    summary = out.report.summary
    assert summary.seen_tokens <= summary.evicted_tokens


@pytest.mark.parametrize(("id", "language"), [("I01", "Portuguese"), ("I03", "Korean")])
def test_the_summary_is_asked_for_in_the_users_language_with_the_users_wish(id: str, language: str) -> None:
    """anomalyco/opencode#20156, openclaw/openclaw#10456: the language of the newest genuine words, whatever tools answered in;
    instructions go along whatever the trigger."""
    case = load(id)
    body = [*case.messages[:-1], *case.messages[-1:]]
    answers = [
        {"role": "assistant", "content": " ".join(f"The file number {n} was read." for n in range(400))}
    ]
    if body[-1]["role"] == "assistant":
        answers = []
    messages = [*body, *answers, body[-1]] if body[-1]["role"] == "user" else [*body]
    completer = ScriptedCompleter(SUMMARY)
    foldline.compact(
        grown(messages),
        to=0.3,
        format=case.format,
        policy="cascade",
        completer=completer,
        focus="keep persona",
    )
    assert completer.requests
    for request in completer.requests:
        assert f"Write in {language}" in request.instruction
        assert "keep persona" in request.instruction


def read_again(store: MemoryStore, data: bytes) -> list[str]:
    """What a session shows whose log ended here, in the next process."""
    there = MemoryStore()
    log = store._logs["s"]
    there._logs["s"] = type(log)(data=bytearray(data), header=log.header, start=log.start)
    with opened(there, policy=asks()) as again:
        return [item.message.text for item in again._view().view]


def test_until_a_summary_is_accepted_every_point_of_a_compaction_shows_the_whole_history() -> None:
    """J08, XiaomiMiMo/MiMo-Code#2148: the boundary was written first, and when the summary failed all before it was gone. The
    process may die wherever it likes: what is read again is what was there, and what is there."""
    points = load("J08").payload["crash_after"]
    seen: list[list[str]] = []

    def dies(request: Any) -> str:
        """The log as another process would find it now."""
        seen.append(read_again(store, bytes(store._logs["s"].data)))
        return "" if len(seen) == 1 else "The files were read, and what they say was noted."

    store = MemoryStore()
    session = due(store, completer=ScriptedCompleter(dies))
    whole = [item.message.text for item in session._view().view]
    assert session.prepare().report.outcome == "failed"
    assert [item.message.text for item in session._view().view] == whole
    assert session.prepare().report.outcome == "compacted"
    assert seen == [whole, whole]
    assert points[0] == "boundary_written"
    log = kinds(session)
    assert log[-3:] == ["begin", "compaction", "checkpoint"]
    data = bytes(store._logs["s"].data)
    lines = data.splitlines(keepends=True)
    for cut in range(1, len(log) + 1):
        texts = read_again(store, b"".join(lines[: 1 + cut]))
        assert texts[:1] == whole[:1]
        if log[cut - 1] in ("begin", "settle"):
            assert texts == whole, f"after entry {cut}, {log[cut - 1]}"


def test_a_summary_does_not_grow_with_every_update() -> None:
    """J09, earendil-works/pi#6157: each update added to the last one and removed nothing."""
    payload = load("J09").payload
    messages = [
        {"role": "user", "content": "move the login, and never push to main"},
        *work(30, "openai-chat"),
    ]
    messages.append({"role": "user", "content": "carry on"})
    sizes: list[int] = []
    for _ in range(payload["times"]):
        out = foldline.compact(
            messages,
            to=4 * payload["budget_tokens"],
            format="openai-chat",
            policy="balanced",
            completer=ScriptedCompleter(SUMMARY),
        )
        sizes.append(sum(len(message) for message in map(json.dumps, out.messages)))
        assert "never push to main" in all_text(out.messages)
        messages = [*out.messages, *work(12, "openai-chat"), {"role": "user", "content": "carry on"}]
    assert max(sizes[5:]) <= 1.1 * max(sizes[:5]), "no growth where nothing new was said"
    again = foldline.compact(out.messages, to=4 * payload["budget_tokens"], format="openai-chat")
    assert again.report.outcome == "unchanged"
