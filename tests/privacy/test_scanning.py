"""A scan names every secret's place by an address that opens, and never the secret."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from foldline.core.address import parse_address
from foldline.core.entry import Draft
from foldline.core.errors import InvalidTranscript
from foldline.log.secrets import Redactor
from foldline.privacy.scanning import scan_bytes, scan_file, scan_session
from foldline.stores.memory import MemoryStore
from tests.log import secret_samples as samples

REDACTOR = Redactor(b"k" * 32)
TEXT, SECRET = samples.FAMILIES["github"](Random(5))


def body(message: object) -> bytes:
    return json.dumps({"format": "anthropic", "wire": message}).encode()


def test_a_secret_in_a_message_is_named_by_the_address_of_its_part() -> None:
    """The address is the one that `show` and `forget` take."""
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    parts = [{"type": "text", "text": "fine"}, {"type": "text", "text": f"key {TEXT}"}]
    journal.append(
        [
            Draft(kind="message", body=body({"role": "user", "content": "hello"})),
            Draft(kind="usage", body=b'{"message":0}'),
            Draft(kind="message", body=body({"role": "user", "content": parts})),
            Draft(kind="compaction", body=json.dumps({"edits": [], "report": {"focus": TEXT}}).encode()),
            Draft(kind="message", body=json.dumps({"format": "later", "wire": TEXT}).encode()),
        ]
    )
    scan = scan_session(store.read("s"), name="s", redactor=REDACTOR)
    assert [found.place.split("@")[0] for found in scan.found] == [
        "m1.1",
        "entry 3, compaction",
        "entry 4, message",
    ]
    assert parse_address(scan.found[0].place).start == 1
    assert {found.fingerprint for found in scan.found} == {scan.found[0].fingerprint}
    assert scan.families == {"github": 3}
    assert SECRET not in json.dumps(scan.to_dict())


def test_damage_ends_a_scan_and_is_said() -> None:
    """What could not be read was not scanned, and a clean result must not hide that."""
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    journal.append([Draft(kind="message", body=body({"role": "user", "content": TEXT}))] * 2)
    data = store._logs["s"].data
    data[-10] ^= 1
    scan = scan_session(store.read("s"), name="s", redactor=REDACTOR)
    assert len(scan.found) == 1
    assert "damaged at byte" in scan.damage


def test_a_file_is_scanned_by_lines_whatever_it_holds(tmp_path: Path) -> None:
    """JSON Lines, text, bytes that are no text."""
    data = b"\xff\x00\n" + TEXT.encode() + b"\n{}\n" + json.dumps({"k": f"a\n{TEXT}"}).encode()
    scan = scan_bytes(data, name="x", redactor=REDACTOR)
    assert [found.place for found in scan.found] == ["line 2", "line 4"]
    (tmp_path / "x").write_bytes(data)
    assert scan_file(str(tmp_path / "x"), redactor=REDACTOR).found == scan.found
    with pytest.raises(InvalidTranscript, match="name a file that can be read"):
        scan_file(str(tmp_path / "y"), redactor=REDACTOR)
