"""Fault reports of kind `retrieval-after-pruning`: what left the view can be asked for again, exactly (law TRACE).

An address opens on the file that was reduced; in a session on its log, after a restart and in a fork too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import foldline
from foldline.cli.main import main
from tests.bugs.case import FORMATS, LIST_KEYS, SHARES, all_text, grown, judged, load, squeezed
from tests.bugs.neutral import Answer, Ask, Say, Step, written

FACT = "ALPHA BETA"


def opened(path: Path, address: str) -> str:
    """What `foldline show` prints for an address."""
    ran = CliRunner().invoke(main, ["show", str(path), address])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def stored(path: Path, messages: list[dict[str, Any]], *, format: str) -> Path:
    path.write_text(json.dumps({LIST_KEYS[format]: messages}), encoding="utf-8")
    return path


def reads_twice(format: str, *, text: str) -> list[dict[str, Any]]:
    """One file is read, work goes on, and it is read again with the same outcome."""
    steps: list[Step] = [
        Say("user", "read a"),
        Ask((("t1", "read"),)),
        Answer((("t1", text),)),
        Say("assistant", "ok"),
    ]
    for number in range(5):
        steps += [
            Say("user", f"more {number}"),
            Ask(((f"m{number}", "read"),), path=f"m{number}.txt"),
            Answer(((f"m{number}", f"other text {number}"),)),
        ]
    steps += [
        Say("user", "read a again"),
        Ask((("t2", "read"),)),
        Answer((("t2", text),)),
        Say("assistant", "same"),
    ]
    return written([*steps, Say("user", "so?")], format=format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_reference_to_another_reading_points_at_text_that_is_there(tmp_path: Path, format: str) -> None:
    """NousResearch/hermes-agent#90949: 'unchanged, see above', and above it had been pruned.

    One reading may stand for both while it is in view; when none is, an address gives it back. Law TRACE.
    """
    assert FACT in all_text(load("Z01").messages)
    text = FACT + " " + " ".join(f"word{number}" for number in range(400))
    messages = grown(reads_twice(format, text=text))
    path = stored(tmp_path / "h.json", messages, format=format)
    gone = 0
    for share in SHARES:
        out = squeezed(messages, format=format, to=share)
        assert judged(out.messages, format=format) == []
        if text not in all_text(out.messages):
            gone += 1
            assert any(text in opened(path, address) for address in out.report["covers"]["addresses"])
    assert gone, "never pruned: the test would prove nothing"


def test_the_reported_history_keeps_its_reading_or_its_address(tmp_path: Path) -> None:
    """NousResearch/hermes-agent#90949, its own input."""
    case = load("Z01")
    messages = grown(case.messages)
    path = stored(tmp_path / "h.json", messages, format=case.format)
    gone = 0
    for share in SHARES:
        out = squeezed(messages, format=case.format, to=share)
        if FACT not in all_text(out.messages):
            gone += 1
            assert any(FACT in opened(path, address) for address in out.report["covers"]["addresses"])
    assert gone, "never pruned: the test would prove nothing"


@pytest.mark.parametrize("format", FORMATS)
def test_every_address_opens_to_what_was_there(tmp_path: Path, format: str) -> None:
    """ahmadrosid/nakama#588: summarised results could not be read again. NUL and accents come back exactly."""
    block = load("Z03").payload["block"]
    steps: list[Step] = []
    for number in range(8):
        text = f"{block} {number} " + " ".join(f"w{number}x{word}" for word in range(150))
        steps += [
            Say("user", f"get {number}"),
            Ask(((f"c{number}", "get"),)),
            Answer(((f"c{number}", text),)),
            Say("assistant", "ok"),
        ]
    messages = written([*steps, Say("user", "done?")], format=format)
    path = stored(tmp_path / "h.json", messages, format=format)
    gone = 0
    for share in (0.7, 0.3, 0.1):
        out = squeezed(messages, format=format, to=share)
        given_back = "".join(opened(path, address) for address in out.report["covers"]["addresses"])
        for number in range(8):
            exact = f"{block} {number} w{number}x0"
            if exact not in all_text(out.messages):
                gone += 1
                assert exact in given_back
    assert gone, "never pruned: the test would prove nothing"


def test_addresses_still_open_after_a_second_compaction(tmp_path: Path) -> None:
    """ahmadrosid/nakama#588, `second_compaction`: the addresses in the text of a fold are those of the original."""
    messages = grown(reads_twice("anthropic", text=FACT * 50))
    path = stored(tmp_path / "h.json", messages, format="anthropic")
    first = squeezed(messages, format="anthropic", to=0.4)
    second = squeezed(first.messages, format="anthropic", to=0.6)
    assert judged(second.messages, format="anthropic") == []
    for address in first.report["covers"]["addresses"]:
        assert opened(path, address)


@pytest.mark.parametrize("format", FORMATS)
def test_every_synthetic_text_names_an_address_that_opens(tmp_path: Path, format: str) -> None:
    """Sibling of ahmadrosid/nakama#588: what the model is shown must be enough to ask for the original. Law TRACE."""
    messages = grown(reads_twice(format, text=FACT * 50))
    path = stored(tmp_path / "h.json", messages, format=format)
    out = squeezed(messages, format=format, to=0.2)
    addresses = out.report["covers"]["addresses"]
    assert addresses
    assert any(address in all_text(out.messages) for address in addresses)
    assert all(opened(path, address).strip() for address in addresses)


def test_a_session_gives_back_the_exact_bytes_after_a_restart_and_in_a_fork(tmp_path: Path) -> None:
    """ahmadrosid/nakama#588, `restart` and `fork`: NUL and accents come back exactly, by address and by their words."""
    block = load("Z03").payload["block"]
    with foldline.open("s", format="anthropic", counter="length/4", home=tmp_path) as session:
        session.user("get it")
        session.record(
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "get", "input": {}}]}
        )
        session.tool_result("c", block)
        for number in range(30):
            session.user(f"more {number} " + f"w{number} " * 80)
            session.record({"role": "assistant", "content": f"ok {number}"})
        for _ in range(2):
            session.compact(to=0.5)
        assert block not in all_text(session.prepare().messages)
        [made, *_] = session.compactions
        addresses = made.report["covers"]["addresses"]
        assert any(block in session.open_address(address, tokens=100_000).text for address in addresses)
        session.fork("f").close()
    for name in ("s", "f"):
        with foldline.open(name, home=tmp_path) as again:
            assert any(block in again.open_address(address, tokens=100_000).text for address in addresses)
            words = " ".join(re.findall(r"[^\W_]+", block)[:3])
            found = [again.open_address(hit.address).text for hit in again.recall(words).hits]
            assert block in found


def test_an_address_that_the_file_does_not_hold_says_so(tmp_path: Path) -> None:
    """Sibling: an address of another history must fail loudly, not open something else."""
    messages = grown(reads_twice("anthropic", text=FACT * 50))
    other = grown(reads_twice("anthropic", text="GAMMA " * 50))
    addresses = squeezed(messages, format="anthropic", to=0.2).report["covers"]["addresses"]
    path = stored(tmp_path / "other.json", other, format="anthropic")
    ran = [CliRunner().invoke(main, ["show", str(path), address]) for address in addresses]
    assert all(FACT not in one.stdout for one in ran)
    assert any(one.exit_code == 1 for one in ran)
