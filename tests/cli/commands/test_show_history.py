"""`foldline show SESSION`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foldline.session.library import looked_at
from tests.cli.running import documents, run
from tests.cli.sessions import imported


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    imported()


def test_older_history_comes_by_page_summaries_included() -> None:
    """UIX-7, JRN-19: newest first asked for, each page in the order of the log, every entry once."""
    run("compact", "demo", "--to", "5k")
    seen: list[int] = []
    before: int | None = None
    while True:
        options = [] if before is None else ["--before", str(before)]
        [page] = documents(run("show", "demo", "--json", "--limit", "7", *options).stdout)
        numbers = [one["entry"] for one in page["entries"]]
        assert numbers == sorted(numbers)
        seen = numbers + seen
        before = page["before"]
        if before is None:
            break
    assert seen == [*range(23), 24]
    [page] = documents(run("show", "demo", "--json", "--limit", "1").stdout)
    assert page["entries"][0]["kind"] == "compaction"
    assert page["entries"][0]["summaries"]


def test_a_page_says_how_to_get_the_one_before() -> None:
    done = run("show", "demo", "--limit", "2")
    assert "entry 22" in done.stdout
    older = re.search(r"foldline show demo --before (\d+)", done.stderr)
    assert older is not None
    assert "older:" not in run("show", "demo", "--before", "2", "--limit", "9").stderr
    assert "says nothing before that" in run("show", "demo", "--before", "0").stderr


@pytest.mark.parametrize(
    "entry", [0, 4, 20], ids=["at its beginning", "before the page", "in the page's own reach"]
)
def test_damage_that_a_page_does_not_reach_is_said_with_it(tmp_path: Path, entry: int) -> None:
    """JRN-4: what can be read is shown, and nobody takes it for all there is."""
    log = tmp_path / "home" / "sessions" / "demo" / "log.jsonl"
    lines = log.read_bytes().split(b"\n")
    at = sum(len(line) + 1 for line in lines[: entry + 1])
    lines[entry + 1] = lines[entry + 1].replace(b'"body"', b'"bodx"')
    log.write_bytes(b"\n".join(lines))
    done = run("show", "demo", "--limit", "1")
    assert done.exit_code == 0
    assert "entry 22" in done.stdout
    assert f"damaged at byte {at:,}" in done.stderr
    assert "foldline verify demo" in done.stderr
    [page] = documents(run("show", "demo", "--json", "--limit", "1").stdout)
    assert page["damage"]["byte"] == at
    assert run("show", "demo", "--limit", "50").exit_code == 1, "the page itself"


def test_a_long_log_is_paged_at_once_and_what_was_not_looked_through_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """JRN-19, JRN-4: the page waits for no walk over the whole log; nobody takes the rest for sound."""
    assert looked_at.__kwdefaults__ is not None
    monkeypatch.setitem(looked_at.__kwdefaults__, "bytes_max", 1_000)
    done = run("show", "demo", "--limit", "1")
    assert (done.exit_code, "entry 22" in done.stdout) == (0, True)
    [page] = documents(run("show", "demo", "--json", "--limit", "1").stdout)
    assert (page["damage"], 0 < page["looked_from"] < 23) == (None, True)
    assert f"before entry {page['looked_from']} was not looked through; `foldline verify demo`" in done.stderr


def test_a_sound_session_is_said_nothing_of() -> None:
    """JRN-4."""
    assert "damaged" not in run("show", "demo").stderr
    [page] = documents(run("show", "demo", "--json").stdout)
    assert (page["damage"], page["looked_from"]) == (None, 0)


def test_an_address_of_the_view_or_of_the_log_opens() -> None:
    """What a fold names, and what `context` names."""
    run("compact", "demo", "--to", "5k")
    [shown] = documents(run("export", "demo", "--as", "anthropic", "-o", "-").stdout)
    address = re.search(r'foldline-fold id="(m[\d-]+@[0-9a-f]{8})"', str(shown["messages"]))
    assert address is not None
    assert run("show", "demo", address[1]).exit_code == 0
    [context] = documents(run("context", "demo", "--json").stdout)
    for item in context["largest"]:
        assert run("show", "demo", item["address"]).exit_code == 0, item


def test_a_name_that_is_neither_file_nor_session_is_said() -> None:
    done = run("show", "nix")
    assert (done.exit_code, "no session is called 'nix'" in done.stderr) == (1, True)
