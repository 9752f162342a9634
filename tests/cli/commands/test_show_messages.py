"""`foldline show FILE`: what the model would be sent next, page by page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import documents, run
from tests.cli.sessions import DATA, EXCERPT


@pytest.fixture
def small(tmp_path: Path) -> str:
    """A compacted session in a file."""
    out = tmp_path / "small.json"
    assert run("compact", str(EXCERPT), "--to", "25%", "--as", "anthropic", "-o", str(out)).exit_code == 0
    return str(out)


def test_the_pages_of_a_file_come_to_all_its_messages_in_order(small: str) -> None:
    """Each message once, as the file has it."""
    seen: list[object] = []
    before: int | None = None
    while True:
        options = [] if before is None else ["--before", str(before)]
        [page] = documents(run("show", small, "--json", "--limit", "3", *options).stdout)
        assert [one["number"] for one in page["messages"]] == sorted(
            one["number"] for one in page["messages"]
        )
        seen = [one["message"] for one in page["messages"]] + seen
        before = page["before"]
        if before is None:
            break
    assert seen == json.loads(Path(small).read_text())["messages"]


@pytest.mark.parametrize(
    "file", [EXCERPT, DATA / "claude-code/cc-viewer-1af7fc5e.jsonl"], ids=["pi", "claude-code"]
)
def test_each_address_of_a_page_opens_its_message(file: Path) -> None:
    [page] = documents(run("show", str(file), "--json", "--limit", "1000").stdout)
    addresses = [one["address"] for one in page["messages"]]
    assert any(addresses)
    for address in filter(None, addresses[-5:]):
        assert run("show", str(file), address).exit_code == 0


def test_what_stands_for_others_names_them_itself(tmp_path: Path) -> None:
    """A ledger is no message that was ever said, so it has no address of its own."""
    log = tmp_path / "small.jsonl"
    assert run("compact", str(EXCERPT), "--to", "25%", "--as", "foldline", "-o", str(log)).exit_code == 0
    [page] = documents(run("show", str(log), "--json", "--limit", "1000").stdout)
    own = [one["address"] for one in page["messages"] if "<foldline-fold" in json.dumps(one["message"])]
    assert own == [None]
    assert all(
        one["address"] for one in page["messages"] if "<foldline-fold" not in json.dumps(one["message"])
    )


def test_results_are_said_by_a_tool_also_where_the_wire_has_them_in_a_users_message() -> None:
    page = run("show", str(DATA / "claude-code/cc-viewer-5c0375b4-cjk.jsonl"), "--limit", "3").stdout
    assert re.findall(r"^(\w+)  message \d+", page, re.MULTILINE) == ["assistant", "tool", "assistant"]


def test_a_page_says_how_to_get_the_one_before(small: str) -> None:
    done = run("show", small, "--limit", "2")
    older = re.search(r"--before (\d+)", done.stderr)
    assert older is not None
    first = run("show", small, "--before", "1")
    assert "message 0" in first.stdout
    assert "older:" not in first.stderr
    assert "says nothing before that" in run("show", small, "--before", "0").stderr


def test_a_session_from_a_pipe_is_shown_as_well(small: str) -> None:
    done = run("show", "-", "--limit", "1", "--json", stdin=Path(small).read_bytes())
    assert documents(done.stdout)[0]["file"] == "stdin"


def test_of_a_file_with_many_conversations_one_is_taken(tmp_path: Path) -> None:
    many = DATA / "tau-bench/gpt-4o-airline-first3.json"
    done = run("show", str(many))
    assert done.exit_code == 2
    assert "--select" in done.stderr
    assert run("show", str(many), "--select", "1").exit_code == 0


@pytest.mark.parametrize("option", [["--lines", "1-2"], ["-o", "x"]])
def test_what_is_for_an_original_needs_an_address(small: str, option: list[str]) -> None:
    done = run("show", small, *option)
    assert (done.exit_code, "ADDRESS" in done.stderr) == (2, True)
    assert not Path("x").exists()


@pytest.mark.parametrize("option", [["--before", "3"], ["--limit", "3"]])
def test_what_is_for_a_page_goes_without_an_address(small: str, option: list[str]) -> None:
    assert run("show", small, "m0@00000000", *option).exit_code == 2


def test_a_ledger_is_never_cut_and_a_long_part_says_how_to_see_the_rest(small: str) -> None:
    """What stands for a whole session is what a person wants to read."""
    done = run("show", small, "--limit", "100")
    assert "</foldline-fold>" in done.stdout
    assert "characters more" in done.stdout
    assert f"foldline show {small} ADDRESS prints a message whole" in done.stderr


def test_each_part_of_a_message_is_told_apart(tmp_path: Path) -> None:
    """A result and what the user said behind it ran into one text, as though the tool were the person."""
    result = {"type": "tool_result", "tool_use_id": "t", "content": "42 rows"}
    messages = [
        {"role": "user", "content": "count"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "sql", "input": {"q": "a"}}],
        },
        {
            "role": "user",
            "content": [result, {"type": "text", "text": "yo"}, {"type": "text", "text": "wow"}],
        },
    ]
    file = tmp_path / "body.json"
    file.write_text(json.dumps({"model": "claude-sonnet-4-5", "messages": messages}))
    page = run("show", str(file)).stdout
    assert "  call: sql q=a\n" in page
    assert "  result: 42 rows\n\n  yo\n\n  wow" in page
