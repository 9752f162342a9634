"""`foldline verify`."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.entry import Draft
from foldline.log.lines import parse_log
from foldline.stores.disk import DiskStore
from tests.cli.running import documents, run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions, `b` of them damaged, `c` torn."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    store = DiskStore(tmp_path / "home")
    for name in ("a", "b", "c"):
        journal = store.create(name, format="anthropic", about=b"{}")
        journal.append([Draft(kind="usage", body=b'{"n":1}')])
        journal.append([Draft(kind="usage", body=b'{"n":2}')])
        journal.close()
    path = tmp_path / "home/sessions/b/log.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"n":1}', b'{"n":7}'))
    with (tmp_path / "home/sessions/c/log.jsonl").open("ab") as file:
        file.write(b'{"seq')
    return tmp_path


def test_one_session_or_all_of_them(home: Path) -> None:
    """Exit 1 when one is damaged; a torn end is none."""
    whole = run("verify", "a")
    assert whole.exit_code == 0
    assert whole.stdout.splitlines()[1].split()[:3] == ["a", "clean", "2"]
    every = run("verify", "--all")
    assert every.exit_code == 1
    assert [row.split()[1] for row in every.stdout.splitlines()[1:]] == ["clean", "corrupt", "torn"]
    assert "b: byte 71: the checksum does not match" in every.stderr
    assert "--salvage FILE` keeps what is sound" in every.stderr
    assert "c: the last append was interrupted" in every.stderr
    assert run("verify", "c").exit_code == 0


def test_of_many_sessions_the_sound_ones_are_a_page_and_the_others_are_all_named(home: Path) -> None:
    """CLI, paging: every session is proved; a long list of what is well does not hide what is not."""
    store = DiskStore(home / "home")
    for number in range(120):
        store.create(f"d{number:03}", format="anthropic", about=b"{}").close()
    every = run("verify", "--all")
    assert every.exit_code == 1
    rows = [row.split()[0] for row in every.stdout.splitlines()[1:]]
    assert (len(rows), rows[:3], rows[-1]) == (102, ["a", "b", "c"], "d098")
    assert "123 sessions: 121 clean, 1 torn, 1 corrupt; 21 clean ones are not listed" in every.stderr
    assert "; more: foldline verify --all --after d098\n" in every.stderr
    three = run("verify", "--all", "--limit", "3")
    assert "; more: foldline verify --all --after d001 --limit 3\n" in three.stderr
    then = run("verify", "--all", "--after", "d001", "--limit", "3")
    assert [row.split()[0] for row in then.stdout.splitlines()[1:]] == ["d002", "d003", "d004"]
    [document] = documents(run("verify", "--all", "--json", "--limit", "3").stdout)
    assert document["after"] == "d001"
    few = run("verify", "--all", "--limit", "0")
    assert "more:" not in few.stderr
    assert [row.split()[0] for row in few.stdout.splitlines()[1:]] == ["b", "c"]
    [document] = documents(run("verify", "--all", "--json").stdout)
    assert (len(document["sessions"]), document["after"]) == (123, None)
    assert document["states"] == {"clean": 121, "torn": 1, "corrupt": 1}
    rest = run("verify", "--all", "--after", "d099")
    assert (rest.exit_code, "20 sessions: 20 clean" in rest.stderr) == (0, True)
    for wrong in (("verify", "a", "--limit", "3"), ("verify", "a", "--after", "b")):
        assert "go with --all" in run(*wrong).stderr


def test_one_document_tells_all_of_it(home: Path) -> None:
    [document] = documents(run("verify", "b", "--json").stdout)
    assert document["schema"] == "foldline.verify/1"
    [session] = document["sessions"]
    assert (session["state"], session["problems"]) == (
        "corrupt",
        [{"offset": 71, "why": "the checksum does not match"}],
    )


def test_salvage_writes_what_is_sound(home: Path) -> None:
    out = home / "sound.jsonl"
    found = run("verify", "b", "--salvage", str(out))
    assert found.exit_code == 0
    assert "1 entry from number 0 on" in found.stderr
    log = parse_log(out.read_bytes())
    assert (log.state, [entry.kind for entry in log.entries]) == ("clean", ["lost", "usage"])
    [document] = documents(run("verify", "b", "--salvage", str(out), "--json").stdout)
    assert (document["schema"], document["entries"], len(document["gaps"])) == ("foldline.salvage/1", 1, 1)


def test_wrong_usage_and_unknown_names(home: Path) -> None:
    assert run("verify").exit_code == 2
    assert run("verify", "a", "--all").exit_code == 2
    assert run("verify", "--all", "--salvage", "x").exit_code == 2
    unknown = run("verify", "aa")
    assert unknown.exit_code == 1
    assert "no session is called 'aa'; did you mean 'a'?" in unknown.stderr


def test_no_sessions_is_no_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_HOME", str(home / "none"))
    assert run("verify", "--all").exit_code == 0


def test_a_session_without_its_first_line_is_not_sent_to_a_salvage_that_refuses(home: Path) -> None:
    """Every checksum goes on from the first line's: the next step that is named has to work."""
    path = home / "home/sessions/b/log.jsonl"
    path.write_bytes(b"X" + path.read_bytes()[1:])
    done = run("verify", "b")
    assert done.exit_code == 1
    assert "--salvage" not in done.stderr
    assert "foldline forget b" in done.stderr
    assert run("forget", "b", "--yes").exit_code == 0
    assert not path.exists()
