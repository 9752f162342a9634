"""Privacy over real sessions: what `foldline.open` writes is redacted, can be forgotten, and goes on afterwards."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

import foldline
from foldline.core.address import part_address
from foldline.core.errors import FoldlineError, UnknownAddress
from foldline.core.received import received
from foldline.log.values import read_message
from foldline.privacy.forgetting import forget_address, forget_session, forget_text
from foldline.recollect import open_recall
from foldline.stores.disk import DiskStore
from foldline.verify import verify
from tests.log import secret_samples as samples

WORD = "swordfish-7731"
ADDRESS = re.compile(rb"m\d+(?:-\d+)?(?:\.\d+)?@[0-9a-f]{8}")


def bytes_of(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def talk(session: foldline.Session, text: str, *, rounds: int = 6) -> None:
    for number in range(rounds):
        session.user(f"step {number}: {text}")
        call = {"type": "tool_use", "id": f"t{number}", "name": "run", "input": {"cmd": f"{text} {number}"}}
        session.record({"role": "assistant", "content": [{"type": "text", "text": "so"}, call]})
        session.tool_result(f"t{number}", f"{text}\n" + "filler line of output\n" * 60)
        session.record({"role": "assistant", "content": f"done with {text}"})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that commands find too."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_word_in_a_compacted_forked_and_searched_session_is_gone_from_every_byte(home: Path) -> None:
    """S18: messages, folds, checkpoints, a fork, a node, the index; the session verifies, opens and goes on."""
    with foldline.open("s", format="anthropic") as session:
        talk(session, WORD)
        session.compact(to=1500)
        with session.node("helper", input=f"about {WORD}") as node:
            node.user(f"inside {WORD}")
        with session.fork("fork") as fork:
            fork.user(f"again {WORD}")
    assert open_recall(home).search(WORD).hits
    assert WORD.encode() in bytes_of(home)
    done = forget_text(DiskStore(home), WORD)
    assert done.is_whole
    assert b"swordfish" not in bytes_of(home)
    for name in ("s", "fork"):
        assert verify(name).state == "clean", verify(name)
        with foldline.open(name) as session:
            session.user("go on")
            request = session.prepare()
            assert "swordfish" not in json.dumps(request.messages)
            assert any("step 5" in json.dumps(message) for message in request.messages)
    assert b"swordfish" not in bytes_of(home)


def test_an_address_from_before_opens_to_what_is_left_and_says_so(home: Path) -> None:
    """The model may still hold one in its context; in the log it was made anew."""
    with foldline.open("s", format="anthropic") as session:
        session.user(f"the word is {WORD}")
        session.record({"role": "assistant", "content": "noted"})
    pages = DiskStore(home).read("s")
    message = received(read_message(next(one.body for one in pages.entries() if one.kind == "message")))
    address = part_address(0, message.parts[0])
    forget_address(DiskStore(home), address, within="s")
    with foldline.open("s") as session:
        shown = session.show(address)
        assert shown.title.endswith("of which something was forgotten")
        assert shown.text is not None
        assert WORD not in shown.text
        with pytest.raises(UnknownAddress):
            session.show("m1.0@00000000")
    opened = open_recall(home).open(address, session="s")
    assert opened.title.endswith("of which something was forgotten")
    with pytest.raises(FoldlineError):
        open_recall(home).open("m1.0@00000000", session="s")


def test_no_family_of_secrets_reaches_the_disk_and_the_view_keeps_the_words(home: Path) -> None:
    """S14, over what `foldline.open` writes: messages, calls, results, system prompt, summaries. The model goes on with
    the real words; after the process ended they are fingerprints, the same for the same secret."""
    random = Random(3)
    told = {name: make(random) for name, make in samples.FAMILIES.items() if "password" not in name}
    with foldline.open("s", format="anthropic") as session:
        for text, _ in told.values():
            session.user(f"use {text} here")
            call = {"type": "tool_use", "id": "t", "name": "run", "input": {"cmd": f"echo '{text}'"}}
            session.record({"role": "assistant", "content": [call]})
            session.tool_result("t", f"export X={text}\n")
            session.record({"role": "assistant", "content": "ok"})
        view = json.dumps(session.prepare(system=f"key {told['github'][0]}").messages)
        assert told["stripe"][1] in view
        session.compact(to=4000)
    kept = bytes_of(home)
    for name, (_, secret) in told.items():
        spelt = json.dumps(secret)[1:-1].encode()
        assert spelt not in kept, name
        assert secret.split("\n")[-2 if "\n" in secret else 0].encode() not in kept, name
    with foldline.open("s") as session:
        assert "⟦secret:" in json.dumps(session.prepare().messages, ensure_ascii=False)


REPORTS: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "NousResearch/hermes-agent#69294",
        [
            {"role": "user", "content": "show env"},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "t1",
                        "name": "bash",
                        "input": {"cmd": "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE env"},
                    }
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nDB=postgres://app:pa55-example@db.example.test/p",
                    }
                ],
            },
        ],
    ),
    (
        "nearai/ironclaw#6855",
        [
            {"role": "user", "content": "my key is AKIAIOSFODNN7EXAMPLE"},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": "next"},
        ],
    ),
]


@pytest.mark.parametrize(("report", "messages"), REPORTS, ids=[report for report, _ in REPORTS])
def test_secrets_of_public_reports_reach_no_log_and_stop_no_compaction(
    home: Path, report: str, messages: list[dict[str, Any]]
) -> None:
    """NousResearch/hermes-agent#69294: by the back door of summaries and focus; nearai/ironclaw#6855: a find is replaced, and
    the session goes on."""
    with foldline.open("s", format="anthropic") as session:
        for message in messages:
            if message["role"] == "assistant":
                session.record(message)
            else:
                session.user(message) if isinstance(message["content"], str) else session.tool_result(
                    "t1", message["content"][0]["content"]
                )
        for number in range(8):
            session.record({"role": "assistant", "content": f"step {number} " + "word " * 200})
            session.user(f"next {number}")
        outcome = session.compact(to=0.3, focus="key AKIAIOSFODNN7EXAMPLE postgres://app:pa55-example@db/p")
        assert outcome.outcome == "compacted"
    kept = bytes_of(home)
    assert b"AKIAIOSFODNN7EXAMPLE" not in kept
    assert b"pa55-example" not in kept


@pytest.mark.nightly
def test_another_scanner_finds_none_of_the_families_in_what_is_kept(home: Path) -> None:
    """S14: detect-secrets as a second opinion over all state that sessions with every family leave. Its findings by entropy
    and by words near a value are left out: git hashes and our own fingerprints are no secrets."""
    scan = pytest.importorskip("detect_secrets.core.scan", reason="detect-secrets is not installed")
    settings = pytest.importorskip("detect_secrets.settings")
    random = Random(4)
    with foldline.open("s", format="anthropic") as session:
        for _ in range(10):
            for make in samples.FAMILIES.values():
                session.user(f"use {make(random)[0]} here")
                session.record({"role": "assistant", "content": "ok"})
        session.compact(to=4000)
    noisy = {"Hex High Entropy String", "Base64 High Entropy String", "Secret Keyword"}
    with settings.default_settings():
        lines = bytes_of(home / "sessions").decode("utf-8", "replace").split("\n")
        found = {secret.type for line in lines for secret in scan.scan_line(line)} - noisy
    assert found == set()


def test_no_number_or_digest_of_the_log_is_taken_for_words(home: Path, tmp_path: Path) -> None:
    """S18, JRN-4: a text of four digits or letters stands in bytes, revisions and addresses by chance; the session opens
    and every address in its view with it."""
    with foldline.open("s", format="anthropic") as session:
        talk(session, "some words", rounds=12)
        session.compact(to=1500)
        live = session.prepare().data
        addresses = sorted({m[0].decode() for m in ADDRESS.finditer(live)})
    assert addresses
    bodies = [e.body for e in DiskStore(home).read("s").entries() if e.kind in ("checkpoint", "compaction")]
    own = {m[0][:4].decode() for body in bodies for m in re.finditer(rb"(?<![\w.])\d{4,}(?![\w.])", body)}
    own |= {m[1].decode() for body in bodies for m in re.finditer(rb'"revision":"\w\w(\w{4})', body)}
    own |= {address[-8:][2:6] for address in addresses}
    for number, text in enumerate(sorted(own)[:40]):
        copy = tmp_path / str(number)
        shutil.copytree(home, copy)
        forget_text(DiskStore(copy), text)
        assert verify("s", home=copy).state == "clean", text
        with foldline.open("s", home=copy) as again:
            assert len(again.prepare().messages) == len(json.loads(live)["messages"]), text
            for address in addresses:
                again.show(address)


def test_a_number_that_a_tool_was_given_goes(home: Path) -> None:
    """S18: JSON as it came is words, numbers included."""
    with foldline.open("s", format="anthropic") as session:
        session.user("go")
        call = {"type": "tool_use", "id": "t", "name": "pay", "input": {"pin": 20721}}
        session.record({"role": "assistant", "content": [call]})
        session.tool_result("t", "paid")
    assert forget_text(DiskStore(home), "20721").is_whole
    assert b"20721" not in bytes_of(home)


@pytest.mark.parametrize("rewrites", [0, 1], ids=["before the log", "after it"])
def test_a_forget_that_ended_in_between_is_finished_when_asked_again(
    home: Path, monkeypatch: pytest.MonkeyPatch, rewrites: int
) -> None:
    """S18: the index forgets first, so that nothing is left in it of what the log no longer says; what a search has put
    back meanwhile goes with the next forget, or with the next search that finds the log's own entry."""
    with foldline.open("s", format="anthropic") as session:
        talk(session, WORD)
    assert open_recall(home).search(WORD).hits
    rewrite = DiskStore.rewrite

    def stop(*given: object, **named: object) -> None:
        for _ in range(rewrites):
            open_recall(home).search(WORD)  # another program, in the wrong moment
            rewrite(*given, **named)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as ended:
        ended.setattr(DiskStore, "rewrite", stop)
        with pytest.raises(KeyboardInterrupt):
            forget_text(DiskStore(home), WORD)
    assert [entry.kind for entry in DiskStore(home).read("s").entries()].count("forgot") == rewrites
    assert forget_text(DiskStore(home), WORD).is_whole
    assert not open_recall(home).search(WORD).hits
    assert WORD.encode() not in bytes_of(home)
    assert [entry.kind for entry in DiskStore(home).read("s").entries()].count("forgot") == 1


def test_addresses_of_a_fork_of_a_fork_that_leaves_before_it_open_after_a_forget(home: Path) -> None:
    """S18, JRN-9: the second fork is cut where the first one still reads its parent."""
    with foldline.open("s", format="anthropic") as session:
        talk(session, f"about {WORD} " + "words " * 40, rounds=8)
        early = session.seq // 2
        with session.fork("f") as fork:
            talk(fork, f"more of {WORD} " + "words " * 40, rounds=2)
            with fork.fork("g", at=early) as second:
                talk(second, f"then {WORD} " + "words " * 40, rounds=8)
                second.compact(to=1500)
    done = forget_text(DiskStore(home), WORD)
    assert done.is_whole
    assert WORD.encode() not in bytes_of(home)
    with foldline.open("g") as again:
        addresses = {m[0].decode() for m in ADDRESS.finditer(again.prepare().data)}
        assert addresses
        for address in addresses:
            assert again.show(address)
        messages = sum("message" == e.kind for e in again._keeper.log.entries())
        assert all(0 <= o < messages for one in done.changed for o in one.ordinals if one.name == "g")


@pytest.mark.parametrize("damage", ["", "nonsense\n", "itself"])
def test_one_session_that_cannot_be_read_at_all_stops_nothing_and_can_be_taken_away(
    home: Path, damage: str
) -> None:
    """S18: the sound ones are done, the damaged one is named."""
    with foldline.open("s", format="anthropic") as session:
        session.user(WORD)
    if damage == "itself":
        about = {"id": "bad", "parent": {"name": "bad", "seq": 0, "byte": 200}}
        DiskStore(home).create("bad", format="anthropic", about=json.dumps(about).encode()).close()
    else:
        foldline.open("bad", format="anthropic").close()
        (home / "sessions" / "bad" / "log.jsonl").write_text(damage)
    done = forget_text(DiskStore(home), WORD)
    assert [(one.name, bool(one.problem)) for one in done.changed if not one.problem] == [("s", False)]
    assert [one.name for one in done.changed if one.problem] == ["bad"]
    assert not done.is_whole
    assert WORD.encode() not in bytes_of(home)
    assert forget_session(DiskStore(home), ["bad"]).removed == ("bad",)
    assert DiskStore(home).names() == ("s",)
