"""What fills a window: kinds that add up, tools, the largest parts, and how far to the threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.message import Message, Opaque, Reasoning, Text, Usage
from foldline.distribution import KINDS, LARGEST_MAX, distribution, percent
from foldline.home import disk_store
from foldline.lookup import show
from foldline.session.library import transcript_of
from foldline.stores.limits import Limit, Limits
from foldline.testing.builders import assistant, call, image, result, system, user
from foldline.transcripts.foldline_log import LogSource
from foldline.transcripts.transcript import Transcript

MESSAGES = (
    user("find it", image()),
    assistant(Reasoning(text="think " * 20), "on it", call("read_file", path="a")),
    result("read_file", "line " * 400, image()),
    assistant(call("bash")),
    result("bash", "ok"),
    Message(role="user", parts=(Text(text="fold", slot=0),), synthetic="summary"),
    Message(role="assistant", parts=(Opaque(type="compaction", raw=b"{}", slot=0),)),
    Message(role="assistant", parts=(Opaque(type="x", raw=b"{}", slot=0),)),
    user("and?"),
    assistant("done"),
)


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No user's settings reach these tests."""
    monkeypatch.setenv("FOLDLINE_CONFIG", "/dev/null")
    monkeypatch.chdir(tmp_path)


def transcript(**values: Any) -> Transcript:
    return Transcript(
        **{
            "format": "test",
            "wire": "anthropic",
            "messages": MESSAGES,
            "system": system("be kind"),
            "tools": b'[{"name":"read_file","input_schema":{}}]',
            **values,
        }
    )


def told(**values: Any) -> dict[str, Any]:
    return distribution(transcript(**values), counter="length/4")


def test_the_kinds_add_up_to_the_total() -> None:
    """interface.md: every token belongs to one kind."""
    found = told()
    assert list(found["by_kind"]) == list(KINDS)
    assert sum(found["by_kind"].values()) == found["tokens_total"]
    assert [kind for kind, tokens in found["by_kind"].items() if tokens <= 0] == []


def test_a_session_without_tools_spends_nothing_on_them() -> None:
    """The system prompt alone is fixed then."""
    found = told(tools=None)["by_kind"]
    assert found["tools"] == 0
    assert found["system"] == told()["by_kind"]["system"]


def test_tools_are_listed_by_what_their_results_weigh() -> None:
    """Most first."""
    found = told()["by_tool"]
    assert list(found) == ["read_file", "bash"]
    assert found["read_file"] > 400


def test_a_tool_is_listed_by_the_name_that_it_was_called_by() -> None:
    """A name that no provider takes is sent as another, which says nothing: `______8230fdee`."""
    messages = (user("go"), assistant(call("検索ツール")), result("検索ツール", "line " * 400), user("on"))
    found = Transcript(format="openai-chat", wire="openai-chat", messages=messages)
    by_tool = distribution(found)["by_tool"]
    assert list(by_tool) == ["検索ツール"]


def test_the_largest_parts_come_with_addresses_that_open() -> None:
    """TRACE: what is worth shortening can be looked at."""
    found = told()["largest"]
    assert [row["tokens"] for row in found] == sorted((row["tokens"] for row in found), reverse=True)
    assert len(found) <= LARGEST_MAX
    assert found[0]["kind"] in KINDS
    for row in found:
        assert show([transcript()], row["address"])


def test_without_a_usage_everything_is_estimated() -> None:
    """TOK-8: the check is never skipped."""
    found = told()
    assert (found["tokens_anchored"], found["tokens_estimated"]) == (0, found["tokens_total"])


def test_what_another_models_provider_counted_anchors_nothing() -> None:
    """TOK-9: a usage is of its own model."""
    usage = Usage(tokens_input=90_000, tokens_output=1_000)
    own = distribution(transcript(usage=usage, usage_at=7))
    other = distribution(transcript(usage=usage, usage_at=7), model="gemini-2.5-pro")
    assert (own["tokens_anchored"], other["tokens_anchored"]) == (91_000, 0)
    assert other["tokens_projected"] == other["tokens_total"]


def test_a_usage_in_the_file_anchors_the_projection() -> None:
    """TOK-3: the last response's usage, and what was appended after it."""
    usage = Usage(tokens_input=90_000, tokens_output=1_000)
    found = told(usage=usage, usage_at=7)
    appended = told(messages=MESSAGES[8:])["tokens_total"] - told(messages=())["tokens_total"]
    assert (found["tokens_anchored"], found["tokens_estimated"]) == (91_000, appended)
    assert found["percent"] == percent(91_000 + appended, found["tokens_threshold"])


def test_a_repair_before_the_anchor_does_not_move_it() -> None:
    """TOK-3: the usage names a message of the file; what a repair puts in before it is not appended."""
    broken = (user("go"), assistant(call("bash")), user("x"), assistant("said"), user("y"))
    usage = Usage(tokens_input=100)
    found = distribution(transcript(messages=broken, usage=usage, usage_at=3), counter="length/4")
    alone = told(messages=broken[4:])["tokens_total"] - told(messages=())["tokens_total"]
    assert found["tokens_estimated"] == alone


def test_the_window_is_the_models_else_the_files_else_a_default() -> None:
    """A file's own model decides in `context`."""
    assert told(tokens_window=50_000)["tokens_window"] == 50_000
    named = distribution(transcript(model="gpt-4o", tokens_window=50_000))
    assert named["model"] == "gpt-4o"
    over = distribution(transcript(model="gpt-4o"), model="nobody/has-this-one")
    assert over["model"] == "nobody/has-this-one"
    assert any("nobody/has-this-one" in note for note in over["notes"])


@pytest.mark.parametrize(
    ("tokens", "threshold", "shown"),
    [(0, 200, 0), (1, 200, 1), (99, 200, 50), (100, 200, 50), (199, 200, 100), (500, 200, 100), (0, 0, 100)],
)
def test_percent_is_against_the_threshold_half_rounded_up_and_never_above_100(
    tokens: int, threshold: int, shown: int
) -> None:
    """The display's denominator is the policy's threshold; at a threshold of nothing it is full."""
    assert percent(tokens, threshold) == shown


def test_a_stand_in_of_a_repair_has_no_address() -> None:
    """It is in no file."""
    found = told(messages=(user("go"), assistant(call("bash")), user("x")))
    assert all("m2" not in row["address"] or row["kind"] == "user" for row in found["largest"])
    assert len(found["largest"]) == 3
    assert found["messages"] == 4


def test_a_session_says_how_much_was_read_again_after_its_compactions(tmp_path: Path) -> None:
    """The loop guard, where people look at a session."""
    with foldline.open("s", format="anthropic", counter="length/4", home=tmp_path) as session:
        for number in range(12):
            session.user(f"read {number}")
            asked = {
                "type": "tool_use",
                "id": f"c{number}",
                "name": "read",
                "input": {"path": f"{number}.py"},
            }
            session.record({"role": "assistant", "content": [asked]})
            session.tool_result(f"c{number}", f"line {number} " * 200)
        assert "read_again" not in distribution(transcript_of(disk_store(tmp_path), "s"))
        session.compact(to=0.3)
        for number in range(4):
            asked = {
                "type": "tool_use",
                "id": f"d{number}",
                "name": "read",
                "input": {"path": f"{number}.py"},
            }
            session.record({"role": "assistant", "content": [asked]})
            session.tool_result(f"d{number}", f"line {number} " * 200)
    told = distribution(transcript_of(disk_store(tmp_path), "s"))["read_again"]
    assert told["again"] == 4
    assert told["keep_more"] is True
    assert told["evicted"] >= 8


def test_the_denominator_is_the_line_of_the_policy_that_compacted_a_session_last(tmp_path: Path) -> None:
    """BUD-5: of the policy in force, unless another is named; balanced while none has compacted."""
    store = disk_store(tmp_path)
    with foldline.open("s", model="claude-sonnet-4-5", policy="reserve", home=tmp_path) as session:
        session.user("go")
        assert distribution(transcript_of(store, "s"))["policy"] == "balanced"
    with foldline.open("s", model="claude-sonnet-4-5", policy="handoff", home=tmp_path) as session:
        for number in range(12):
            session.record({"role": "assistant", "content": f"look {number} " + "word " * 200})
            session.user(f"next {number}")
        session.compact(to=0.5)
        use = session.context_use()
    told = distribution(transcript_of(store, "s"))
    assert (told["policy"], told["tokens_threshold"]) == ("handoff", use["tokens_threshold"])
    assert list(use) == [key for key in told if key != "read_again"]
    assert distribution(transcript_of(store, "s"), policy="reserve")["policy"] == "reserve"


def test_a_report_nested_too_deep_to_be_read_names_no_policy(tmp_path: Path) -> None:
    """S12: whoever wrote the log, where its tokens are is told all the same."""
    with foldline.open("s", model="claude-sonnet-4-5", policy="handoff", home=tmp_path) as session:
        for number in range(12):
            session.user(f"next {number} " + "word " * 200)
            session.record({"role": "assistant", "content": f"look {number}"})
        session.compact(to=0.5)
    told = transcript_of(disk_store(tmp_path), "s")
    assert isinstance(told.source, LogSource)
    assert distribution(told)["policy"] == "handoff"
    log = told.source.log
    deep = b'{"report":{"policy":"handoff","x":' + b"[" * 200 + b"]" * 200 + b"}}"
    entries = tuple(replace(one, body=deep) if one.kind == "compaction" else one for one in log.entries)
    source = replace(told.source, log=replace(log, entries=entries))
    assert distribution(replace(told, source=source))["policy"] == "balanced"


def test_a_limit_that_a_provider_named_is_shown_with_its_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Learned limits are shown where context is shown; the file's own window stays what it is."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    kept = Limits(tmp_path)
    kept.keep(Limit(model="claude-sonnet-4-5", endpoint="http://x/v1", tokens=8_192, instead_of=200_000))
    kept.keep(
        Limit(model="claude-sonnet-4-5", endpoint="http://localhost:40815", tokens=32_000, instead_of=200_000)
    )
    with foldline.open("s", model="claude-sonnet-4-5") as session:
        session.user("go")
    document = distribution(transcript_of(disk_store(tmp_path), "s"), model="claude-sonnet-4-5")
    [told] = [note for note in document["notes"] if "once named a limit" in note]
    assert told.startswith("http://x/v1 once named a limit of 8,192 tokens"), (
        "a server of this machine is no file's"
    )
    assert (document["tokens_window"], document["window_source"]) == (200_000, "table")
