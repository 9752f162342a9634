"""`foldline forget`: looks first, asks, and says what was reached and what was not."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from foldline.core.address import part_address
from foldline.core.entry import Draft
from foldline.core.received import received
from foldline.environment import FOLDLINE_HOME
from foldline.log.values import read_message
from foldline.privacy.underway import Asked, Pending, Underway
from foldline.session.forking import create_fork
from foldline.stores.disk import DiskStore
from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import documents, run

WORD = "swordfish-7731"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two sessions that have the word."""
    monkeypatch.setenv(FOLDLINE_HOME.name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        session(tmp_path / "home", name, f"my word is {WORD}")
    (tmp_path / "home" / "recall.sqlite").write_bytes(WORD.encode())
    return tmp_path / "home"


def session(home: Path, name: str, text: str, *, time_ms: int | None = None) -> None:
    journal = DiskStore(home, clock=lambda: time_ms).create(name, format="anthropic", about=b"{}")
    journal.append([Draft(kind="message", body=body_of(text))])
    journal.close()


def body_of(text: str) -> bytes:
    return json.dumps({"format": "anthropic", "wire": {"role": "user", "content": text}}).encode()


def kept(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_text_goes_from_all_sessions_and_the_index(home: Path) -> None:
    """S18, and everything a forget cannot reach is said."""
    looked = run("forget", WORD, "--dry-run")
    assert looked.exit_code == 0
    assert looked.stdout.startswith("would forget  text")
    assert WORD.encode() in kept(home)
    done = run("forget", WORD, "--yes")
    assert done.exit_code == 0
    assert "backups" in done.stderr
    assert WORD.encode() not in kept(home)
    assert "nothing to forget" in run("forget", WORD, "--yes").stdout


def test_json_is_one_document_that_names_sessions_and_messages(home: Path) -> None:
    """For scripts."""
    (document,) = documents(run("forget", WORD, "--in", "a", "--yes", "--json").stdout)
    assert document["schema"] == "foldline.forget/1"
    assert (document["what"], document["dry_run"], document["removed"]) == ("text", False, [])
    assert [(one["name"], one["messages"], one["places"]) for one in document["sessions"]] == [("a", [0], 1)]
    assert document["not_reached"]
    assert WORD.encode() in kept(home), "the other session was not named"


def test_an_address_needs_its_session(home: Path) -> None:
    """Two sessions may have a message 0."""
    address = part_address(0, received(read_message(body_of(f"my word is {WORD}"))).parts[0])
    assert run("forget", address, "--yes").exit_code == 2
    assert run("forget", address, "--in", "a", "--yes").exit_code == 0
    assert [entry.kind for entry in DiskStore(home).read("a").entries()] == ["message", "forgot"]
    assert run("forget", "m5.0@00000000", "--in", "a", "--yes").exit_code == 1
    assert run("forget", "m0", "--yes").exit_code == 2, "a short one as well, and it is not taken for a word"
    (planned,) = documents(run("forget", "m0", "--in", "b", "--dry-run", "--json").stdout)
    assert planned["what"] == "address"


def test_a_session_goes_whole_and_text_spelt_like_one_can_be_meant(home: Path) -> None:
    """A name is taken as the session; `--text` says otherwise."""
    session(home, "swordfish", f"about swordfish {WORD}")
    assert run("forget", "swordfish", "--text", "--yes").exit_code == 4, "the session's name holds it"
    assert "swordfish" in DiskStore(home).names()
    done = run("forget", "swordfish", "--yes")
    assert done.exit_code == 0
    assert "the whole session" in done.stdout
    assert DiskStore(home).names() == ("a", "b")


def test_old_sessions_go_by_age(home: Path) -> None:
    """Retention: whole sessions, by their last entry."""
    session(home, "old", "x", time_ms=1)
    done = run("forget", "--older-than", "90d", "--yes")
    assert done.exit_code == 0
    assert DiskStore(home).names() == ("a", "b")
    assert run("forget", "--older-than", "soon").exit_code == 2


def test_without_yes_and_without_a_terminal_nothing_is_changed(home: Path) -> None:
    """It cannot be undone."""
    done = run("forget", WORD)
    assert done.exit_code == 2
    assert "--yes" in done.stderr
    assert WORD.encode() in kept(home)
    assert run("forget").exit_code == 2
    assert run("forget", "ab", "--yes").exit_code == 2


def test_a_busy_session_is_exit_4_and_the_others_are_done(home: Path) -> None:
    """Said by name, to be asked again."""
    journal = DiskStore(home).write("a")
    done = run("forget", WORD, "--yes")
    journal.close()
    assert done.exit_code == 4
    assert "a: " in done.stderr
    assert run("forget", WORD, "--yes").exit_code == 0
    assert WORD.encode() not in kept(home)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_no_payload_reaches_the_terminal(payload: str) -> None:
    """S10: whatever was to be forgotten is in no message unescaped."""
    done = run("forget", f"{payload}....", "--yes")
    assert not FORBIDDEN.search(done.output)


def test_a_mistyped_session_is_not_taken_for_text(home: Path) -> None:
    """S18: `--text` says that it was meant; with `--in` there is nothing to mistake."""
    session(home, "fix-login", "about fix-logni")
    done = run("forget", "fix-logni", "--yes")
    assert done.exit_code == 2
    assert "did you mean 'fix-login'?" in done.stderr
    assert "--text" in done.stderr
    assert b"fix-logni" in kept(home)
    assert run("forget", "fix-logni", "--in", "fix-login", "--dry-run").exit_code == 0
    assert run("forget", "fix-logni", "--text", "--yes").exit_code == 0
    assert b"fix-logni" not in kept(home)


def test_a_session_with_forks_names_all_of_them_and_how_to_forget_both(home: Path) -> None:
    """S18: refused, exit code 4, and nothing is gone; in the order that is named it works."""
    create_fork(DiskStore(home), "a", name="f1").close()
    create_fork(DiskStore(home), "a", name="f2").close()
    create_fork(DiskStore(home), "f1", name="g1").close()
    done = run("forget", "a", "--yes")
    assert done.exit_code == 4
    for said in ("'g1'", "'f1'", "'f2'"):
        assert said in done.stderr
    (document,) = documents(run("forget", "a", "--yes", "--json").stdout)
    assert document["exit_code"] == 4
    assert DiskStore(home).names() == ("a", "b", "f1", "f2", "g1")
    for name in document["fields"]["forks"]:
        assert run("forget", name, "--yes").exit_code == 0
    assert run("forget", "a", "--yes").exit_code == 0


@pytest.mark.parametrize("at", [3, -40])
def test_a_damaged_session_alone_does_not_refuse_what_is_nowhere(home: Path, at: int) -> None:
    """S18: exit code 0 with its name when nothing is to go, 4 when something is: it may be in there too."""
    log = home / "sessions" / "b" / "log.jsonl"
    data = bytearray(log.read_bytes())
    data[at] ^= 1
    log.write_bytes(data)
    done = run("forget", "nowhere to be found", "--yes")
    assert done.exit_code == 0, done.output
    assert "b: " in done.stderr
    assert "foldline verify b" in done.stderr
    assert run("forget", WORD, "--yes").exit_code == 4
    assert WORD not in run("show", "a").stdout
    assert run("forget", "b", "--dry-run").exit_code == 0


def test_one_that_was_interrupted_is_told_and_finished(home: Path) -> None:
    """S18: `verify` and the next command that opens a session tell; `--finish` does the rest, and asks nothing."""
    asked = Asked(texts=(WORD.encode(),))
    Underway(DiskStore(home)).begin(Pending(what="text", asked=(asked,), sessions=("a", "b")))
    assert "`foldline forget --finish` does the rest" in run("verify", "a").stderr
    [document] = documents(run("verify", "--all", "--json").stdout)
    assert "may still stand in a, b" in document["unfinished_forget"]
    assert "may still stand in a, b" in run("compact", "a", "--to", "1").stderr
    looked = run("forget", "--finish", "--dry-run", "--json")
    assert documents(looked.stdout)[0]["unfinished_forget"]["sessions"] == ["a", "b"]
    done = run("forget", "--finish")
    assert (done.exit_code, "a  1 place in 1 message\n" in done.stdout, WORD.encode() in kept(home)) == (
        0,
        True,
        False,
    )
    [document] = documents(run("forget", "--finish", "--json").stdout)
    assert (document["what"], document["sessions"], document["unfinished_forget"]) == ("nothing", [], None)


def test_what_a_session_that_is_open_kept_back_is_told_with_what_to_do(home: Path) -> None:
    """S18: exit 4, and the rest is not forgotten about."""
    with closing(DiskStore(home).write("a")):
        busy = run("forget", WORD, "--yes")
    assert (busy.exit_code, "may still stand in" in busy.stderr) == (4, True)
    assert run("forget", "--finish").exit_code == 0
    assert WORD.encode() not in kept(home)
    assert run("forget", WORD, "--finish").exit_code == 2
