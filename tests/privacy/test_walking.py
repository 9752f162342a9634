"""The walk of a forget: killed at any step it is finished to the same bytes, and what was open is done later."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from foldline.core.address import part_address
from foldline.core.received import received
from foldline.log.forget import Addresses, Quoted, Wish
from foldline.log.values import read_message
from foldline.privacy.forgetting import finish, forget_address, forget_session, forget_text
from foldline.privacy.underway import FILE, Pending, document_of, told_of, unfinished
from foldline.privacy.walking import Walk, pending_of, walk_of
from foldline.stores.disk import DiskStore
from foldline.testing.disk import Image, PowerCut, SimulatedDisk, copy, cut_at
from tests.privacy.test_forgetting import CANARY, entry, fill, message

Forget = Callable[[DiskStore], object]


def store_on(disk: SimulatedDisk) -> DiskStore:
    return DiskStore("/", fs=disk, clock=lambda: 1_000)


def many(store: DiskStore) -> str:
    """The sessions of `fill`, a fork whose summary quotes what its parent said, and one to go whole; the address of that."""
    fill(store)
    first = next(one for one in store.read("s").entries() if one.kind == "message")
    address = part_address(0, received(read_message(first.body)).parts[0])
    last = list(store.read("s").entries())[8]
    cut = {"name": "s", "seq": 8, "byte": last.offset + last.size}
    quoting = store.create("quoting", format="anthropic", about=json.dumps({"parent": cut}).encode())
    quoting.append(
        [message(f"as said in {address}: {CANARY}"), entry("edit", edits=[], report={"focus": CANARY})]
    )
    quoting.close()
    return address


def sessions_in(image: Image) -> dict[str, bytes]:
    """What each file of a session holds, its lock apart."""
    return {
        path: bytes(image.data[inode])
        for path, inode in image.files.items()
        if path.startswith("sessions/") and not path.endswith("/lock")
    }


def started() -> tuple[SimulatedDisk, str]:
    base = SimulatedDisk()
    return base, many(store_on(base))


ADDRESS = started()[1]
KINDS: dict[str, Forget] = {
    "text": lambda store: forget_text(store, CANARY),
    "address": lambda store: forget_address(store, ADDRESS, within="s"),
    "sessions": lambda store: forget_session(store, ["fork", "quoting", "s"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_step_it_is_told_and_finished_to_the_same_bytes(kind: str) -> None:
    """S18: before the first change nothing was begun; from there to the last it is told; finished, the logs are what they
    would have been, and nothing of what was asked is left."""
    base, _ = started()
    whole = SimulatedDisk(copy(base.image))
    KINDS[kind](store_on(whole))
    old, new = sessions_in(base.image), sessions_in(whole.image)
    told = 0
    for number in range(1, whole.calls + 1):
        disk = SimulatedDisk(copy(base.image), fault=cut_at(number))
        with pytest.raises(PowerCut):
            KINDS[kind](store_on(disk))
        store = store_on(disk.reboot())
        found, pending = sessions_in(disk.image), unfinished(store)
        if pending is None:
            assert found in (old, new), "nothing half done is unseen"
            continue
        told += 1
        assert "`foldline forget --finish`" in told_of(store)
        assert pending.sessions
        done = finish(store)
        assert done is not None
        assert done.is_whole
        assert sessions_in(disk.image) == new
        assert unfinished(store) is None
        assert not [path for path in disk.image.files if path.startswith("forgetting") and "lock" not in path]
        assert finish(store) is None
    assert told >= 10


def test_killed_while_it_is_finished_it_can_be_finished_still() -> None:
    """S18: as often as it takes."""
    base, _ = started()
    whole = SimulatedDisk(copy(base.image))
    KINDS["address"](store_on(whole))
    half = SimulatedDisk(copy(base.image), fault=cut_at(whole.calls // 2))
    with pytest.raises(PowerCut):
        KINDS["address"](store_on(half))
    through = SimulatedDisk(copy(half.image))
    finish(store_on(through))
    for number in range(1, through.calls + 1):
        disk = SimulatedDisk(copy(half.image), fault=cut_at(number))
        with pytest.raises(PowerCut):
            finish(store_on(disk))
        finish(store_on(disk.reboot()))
        assert sessions_in(disk.image) == sessions_in(whole.image)
        assert unfinished(store_on(disk)) is None


def test_what_another_process_had_open_is_done_when_it_is_closed(tmp_path: Path) -> None:
    """S18: for an address too, whose words nobody could look for any more."""
    store = DiskStore(tmp_path)
    address = many(store)
    with closing(store.write("quoting")):
        done = forget_address(store, address, within="s")
    assert not done.is_whole
    assert [(one.name, one.later) for one in done.changed if one.problem] == [("quoting", True)]
    assert document_of(unfinished(store)) is not None
    rest = finish(store)
    assert rest is not None
    assert [one.name for one in rest.changed] == ["quoting"]
    assert rest.is_whole
    assert unfinished(store) is None


def test_of_what_is_left_for_later_the_file_keeps_what_that_session_needs(tmp_path: Path) -> None:
    """S18: no word that is gone from every log. One that goes on from another may write down what it holds in memory of that, so
    that all is kept for it."""
    store = DiskStore(tmp_path)
    address = many(store)
    root = store.create("root", format="anthropic", about=b"{}")
    [first] = root.append([entry("edit", edits=[], report={"focus": "tangerine"})])
    root.close()
    cut = {"name": "root", "seq": 0, "byte": first.offset + first.size}
    own = store.create("own", format="anthropic", about=json.dumps({"parent": cut}).encode())
    [said] = own.append([message("the tangerine launch code is\\npapaya harvest plan")])
    own.close()
    mine = part_address(0, received(read_message(said.body)).parts[0])
    with closing(store.write("root")):
        assert not forget_address(store, mine, within="own").is_whole
    left = unfinished(store)
    assert left is not None
    assert (left.sessions, left.words, left.lines) == (("root",), (b"tangerine",), ())
    assert [one.session for one in left.asked] == [None]
    assert left.since_ms is not None
    told = (tmp_path / FILE).read_bytes()
    rest = finish(store)
    assert rest is not None
    assert (rest.is_whole, unfinished(store)) == (True, None)
    assert all(b"tangerine" not in one.body for one in store.read("root").entries())
    assert b"papaya" not in words_of(told)

    with closing(store.write("quoting")):
        assert not forget_address(store, address, within="s").is_whole
    kept = unfinished(store)
    assert kept is not None
    assert kept.sessions == ("quoting",)
    assert kept.words
    assert kept.lines
    assert finish(store) is not None


def words_of(data: bytes) -> bytes:
    """What a file of a forget says, its words as they were."""
    found = msgspec.json.decode(data, type=Pending)
    return b" ".join((*found.words, *found.lines))


def test_a_walk_is_kept_with_all_that_it_needs() -> None:
    """S18: texts that are no Unicode, words and lines, parts by session."""
    wishes = {None: Wish(texts=("a \ud800 b",)), "s": Wish(parts={3: frozenset((1, 0)), 4: frozenset()})}
    quoted = Quoted(words=frozenset((b"tangerine",)), lines=(re.compile(b"launch .{0,3}code"),))
    walk = Walk(what="address", sessions=("s", "fork"), wishes=wishes, quoted=quoted)
    pending = pending_of(
        walk,
        sessions=("s", "fork"),
        known={"s": Addresses(lambda _: None), "fork": Addresses(lambda _: None)},
    )
    again = msgspec.json.decode(msgspec.json.encode(pending), type=Pending)
    assert walk_of(again) == walk
