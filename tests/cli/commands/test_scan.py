"""`foldline scan`: exit 1 where there is a secret, its place and family, never its text."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from random import Random

import pytest

import foldline
from foldline.core.entry import Draft
from foldline.environment import FOLDLINE_HOME
from foldline.stores.disk import DiskStore
from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import documents, run
from tests.log import secret_samples as samples

TEXT, _ = samples.FAMILIES["stripe"](Random(1))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and files in the working folder."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.txt").write_text("nothing here\n")
    (tmp_path / "keys.txt").write_text(f"one\n{TEXT}\n")
    return tmp_path / "home"


def session(home: Path, name: str, text: str) -> None:
    with_text = json.dumps({"format": "anthropic", "wire": {"role": "user", "content": text}}).encode()
    journal = DiskStore(home).create(name, format="anthropic", about=b"{}")
    journal.append([Draft(kind="message", body=with_text)])
    journal.close()


def test_a_file_with_a_secret_is_exit_1_and_names_line_and_family() -> None:
    """The secret itself is nowhere in what is printed."""
    done = run("scan", "keys.txt")
    assert done.exit_code == 1
    assert "line 2" in done.stdout
    assert "stripe" in done.stdout
    assert TEXT not in done.output
    assert run("scan", "clean.txt").exit_code == 0
    assert run("scan", "-", stdin=TEXT.encode()).exit_code == 1


def test_sessions_are_scanned_by_name_or_all(home: Path) -> None:
    """Every log there is, with the addresses that other commands take."""
    assert run("scan", "--all").exit_code == 0
    session(home, "a", "fine")
    session(home, "b", f"my key {TEXT}")
    assert run("scan", "a").exit_code == 0
    done = run("scan", "--all", "--json")
    assert done.exit_code == 1
    (document,) = documents(done.stdout)
    assert document["schema"] == "foldline.scan/1"
    assert [(scan["name"], scan["secrets"]) for scan in document["scanned"]] == [("a", 0), ("b", 1)]
    assert document["scanned"][1]["found"][0]["place"].startswith("m0.0@")
    assert TEXT not in done.output


def test_of_many_sessions_those_with_secrets_are_all_named(home: Path) -> None:
    """CLI, paging: a long list of what is clean does not hide what is not."""
    for number in range(103):
        session(home, f"s{number:03}", TEXT if number == 102 else "nothing here")
    done = run("scan", "--all")
    assert done.exit_code == 1
    assert done.stdout.count("clean  s") == 100
    assert "secrets  s102" in done.stdout
    said = "103 sessions: 1 with secrets, 2 clean ones not listed; more: foldline scan --all --after s099\n"
    assert said in done.stderr
    rest = run("scan", "--all", "--after", "s099")
    assert (rest.stdout.count("clean  s"), "more:" in rest.stderr) == (2, False)
    few = run("scan", "--all", "--after", "s009", "--limit", "2")
    assert few.stdout.count("clean  s") == 2
    assert "more: foldline scan --all --after s011 --limit 2\n" in few.stderr
    [document] = documents(run("scan", "--all", "--json").stdout)
    assert (len(document["scanned"]), document["after"], document["secrets"]) == (103, None, 1)
    [document] = documents(run("scan", "--all", "--json", "--limit", "2").stdout)
    assert [one["name"] for one in document["scanned"]] == ["s000", "s001", "s102"]
    assert document["after"] == "s001"
    assert "go with --all" in run("scan", "s000", "--limit", "2").stderr


def test_many_places_are_cut_on_a_page_and_whole_in_json(tmp_path: Path) -> None:
    """Long output is bounded; nothing is left out of the document."""
    random = Random(2)
    (tmp_path / "many.txt").write_text("\n".join(samples.FAMILIES["npm"](random)[0] for _ in range(250)))
    done = run("scan", "many.txt")
    assert done.stdout.count("line ") == 200
    assert "50 more" in done.stderr
    assert documents(run("scan", "many.txt", "--json").stdout)[0]["secrets"] == 250


def test_neither_a_name_nor_all_is_wrong_usage() -> None:
    """And both are."""
    assert run("scan").exit_code == 2
    assert run("scan", "a", "--all").exit_code == 2
    assert run("scan", "no-such-session").exit_code == 1


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_no_payload_reaches_the_terminal(payload: str, tmp_path: Path) -> None:
    """S10: in the name of a file, and beside a secret in it."""
    name = "x" + payload.replace("/", "").replace("\0", "")
    (tmp_path / "dir").mkdir()
    with contextlib.suppress(OSError, UnicodeEncodeError):
        (tmp_path / "dir" / name).write_text(f"{payload}\n{TEXT}", errors="surrogateescape")
    done = run("scan", f"dir/{name}")
    assert done.exit_code == 1
    assert not FORBIDDEN.search(done.output)


@pytest.mark.parametrize("command", [("scan", "--all"), ("stats",)], ids=["scan", "stats"])
def test_a_session_that_cannot_be_read_at_all_stops_no_walk_over_the_home(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sound ones are done, and the damaged one is named."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "walked"))
    for name in ("bad", "good"):
        with foldline.open(name, format="anthropic", redact=False) as session:
            session.user("hello")
    (tmp_path / "walked" / "sessions" / "bad" / "log.jsonl").write_text("nonsense\n")
    done = run(*command)
    assert done.exit_code in (0, 1), done.output
    assert "bad" in done.output
    assert "the first line" in done.output or "damaged at byte 0" in done.output
    assert done.stdout, "the other one is shown"
    if command[0] == "scan":
        assert ("damaged  bad" in done.stdout, "clean  good" in done.stdout) == (True, True)
