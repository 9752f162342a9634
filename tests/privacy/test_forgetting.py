"""A forget reaches every byte that is kept, leaves logs sound, and is whole or not there at every interruption."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from foldline.core.address import part_address, span_address
from foldline.core.entry import Draft
from foldline.core.errors import InvalidOption, UnknownAddress, UnknownSession
from foldline.core.ports import Store
from foldline.core.received import received
from foldline.log.values import read_message
from foldline.privacy.forgetting import forget_address, forget_session, forget_text, older_than
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.testing.disk import PowerCut, SimulatedDisk, copy, cut_at

CANARY = "swordfish-7731"


def message(text: str, role: str = "user", **more: Any) -> Draft:
    body = {"format": "anthropic", "wire": {"role": role, "content": text}, **more}
    return Draft(kind="message", body=json.dumps(body).encode())


def entry(kind: str, **body: Any) -> Draft:
    return Draft(kind=kind, body=json.dumps(body).encode())


def fill(store: Store) -> None:
    """A session with the word in nine places, and a fork that has it in two of its own."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"cmd": f"echo {CANARY}", CANARY: 1}}
    deep = json.dumps({"a": json.dumps({"b": CANARY})})
    fold = {"format": "anthropic", "wire": {"role": "user", "content": f"fold: {CANARY} was said"}}
    journal = store.create("s", format="anthropic", about=b'{"id":"s"}')
    journal.append(
        [
            entry("system", format="anthropic", wire=f"be kind to {CANARY}"),
            entry("tools", format="anthropic", tools=[{"name": "run", "description": CANARY}]),
            message(f"my word is {CANARY}"),
            entry("message", format="anthropic", wire={"role": "assistant", "content": [call]}),
            message(f"\n{CANARY}\n{deep}"),
            entry("node", id="n1", name="sub", expose="io", parent="", input=CANARY),
            entry("node_end", id="n1", status="completed", output=[CANARY]),
            entry("compaction", edits=[{"edit": "fold", "messages": [[0, 1]], "into": fold}]),
            entry("checkpoint", version=1, full=False, view=[{"at": 0, "message": fold}]),
        ]
    )
    journal.archive()
    parent = {
        "name": "s",
        "seq": 8,
        "byte": list(journal.entries())[-1].offset + list(journal.entries())[-1].size,
    }
    journal.append([message("after the fork")])
    journal.close()
    fork = store.create("fork", format="anthropic", about=json.dumps({"parent": parent}).encode())
    fork.append([message(f"and {CANARY} again"), entry("edit", edits=[], report={"focus": CANARY})])
    fork.close()
    store.create("other", format="anthropic", about=b"{}").close()


def bytes_of(folder: Path) -> bytes:
    return b"".join(unpacked(path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file())


def unpacked(data: bytes) -> bytes:
    return gzip.decompress(data) + data if data[:2] == b"\x1f\x8b" else data


def texts(store: Store, name: str) -> list[bytes]:
    return [one.body for one in store.read(name).entries()]


def test_a_canary_in_nine_places_is_gone_from_every_byte(tmp_path: Path) -> None:
    """S18: log, archive, checkpoint, summary, fork, nodes, system prompt, tools, JSON in JSON; sequence and numbers stay."""
    home = tmp_path / "home"
    store = DiskStore(home)
    fill(store)
    before = {
        name: [(e.seq, e.kind, e.offset, len(e.body)) for e in store.read(name).entries()]
        for name in store.names()
    }
    assert b"swordfish" in bytes_of(home)
    planned = forget_text(store, CANARY, dry_run=True)
    assert b"swordfish" in bytes_of(home), "looking changes nothing"
    done = forget_text(store, CANARY)
    assert done == planned
    assert done.is_whole
    assert b"swordfish" not in bytes_of(home)
    for name, told in before.items():
        after = [(e.seq, e.kind, e.offset, len(e.body)) for e in store.read(name).entries()]
        assert after[: len(told)] == told
        assert [kind for _, kind, *_ in after[len(told) :]] == ["forgot"] * (name != "other")
    assert json.loads(texts(store, "s")[-1]) == {"ordinals": [0, 1, 2], "what": done.changed[0].places}
    assert json.loads(texts(store, "fork")[-1])["ordinals"] == [3]
    assert [one.name for one in done.changed] == ["s", "fork"], "parents before their forks"
    assert forget_text(store, CANARY).changed == (), "once is enough"


def test_an_address_takes_the_part_and_what_was_made_from_it_with_it() -> None:
    """The rest of the session stays, and the address then opens to what is left."""
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    told = [message("the launch code is tangerine"), message("noted", role="assistant")]
    address = part_address(0, received(read_message(told[0].body)).parts[0])
    span = span_address([(n, received(read_message(one.body))) for n, one in enumerate(told)])
    fold = {
        "format": "anthropic",
        "wire": {"role": "user", "content": f"launch tangerine, noted ({address})"},
    }
    journal.append([*told, entry("compaction", edits=[{"edit": "fold", "into": fold, "address": span}])])
    journal.close()
    done = forget_address(store, address, within="s")
    first, second, compaction, forgot = texts(store, "s")
    assert second == told[1].body
    assert json.loads(first)["wire"]["content"].startswith("forgotten_")
    edit = json.loads(compaction)["edits"][0]
    left = [(n, received(read_message(body))) for n, body in enumerate((first, second))]
    assert edit["address"] == span_address(left)
    assert b"tangerine" not in compaction
    assert b"noted" in compaction
    assert part_address(0, left[0][1].parts[0]).encode() in compaction
    assert json.loads(forgot)["ordinals"] == [0]
    assert done.changed[0].kinds == {"compaction": 1, "message": 1}
    with pytest.raises(UnknownAddress, match="something else"):
        forget_address(store, address, within="s")


def test_a_short_address_takes_what_stands_there() -> None:
    """As it is opened by it; a place that the session does not have is refused."""
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    journal.append([message("keep"), message("the launch code is tangerine")])
    journal.close()
    with pytest.raises(UnknownAddress, match="nothing, or something else, there"):
        forget_address(store, "m2", within="s")
    assert forget_address(store, "m1", within="s").changed[0].ordinals == (1,)
    assert b"tangerine" not in b"".join(texts(store, "s"))
    assert b"keep" in texts(store, "s")[0]


def test_an_address_of_a_fork_may_name_what_its_parent_said() -> None:
    """By reference: the words stand in the parent's log alone, and go there."""
    store = MemoryStore()
    fill(store)
    pages = store.read("s")
    first = received(read_message(next(e.body for e in pages.entries() if e.kind == "message")))
    forget_address(store, part_address(0, first.parts[0]), within="fork")
    assert CANARY.encode() not in next(e.body for e in store.read("s").entries() if e.kind == "message")
    with pytest.raises(UnknownAddress):
        forget_address(store, "m99@00000000", within="fork")


def test_a_text_can_be_forgotten_in_one_family_of_sessions() -> None:
    """`--in`: the session, its forks and what it was forked from; others keep it."""
    store = MemoryStore()
    fill(store)
    journal = store.create("elsewhere", format="anthropic", about=b"{}")
    journal.append([message(CANARY)])
    journal.close()
    assert [one.name for one in forget_text(store, CANARY, within="fork").changed] == ["s", "fork"]
    assert CANARY.encode() in texts(store, "elsewhere")[0]
    with pytest.raises(UnknownSession):
        forget_text(store, CANARY, within="nowhere")


def test_what_cannot_be_forgotten_is_said() -> None:
    """A session that is being written, and words in a name."""
    store = MemoryStore()
    fill(store)
    holder = store.write("fork")
    done = forget_text(store, CANARY)
    assert [(one.name, bool(one.problem)) for one in done.changed] == [("s", False), ("fork", True)]
    assert not done.is_whole
    holder.close()
    assert forget_text(store, CANARY).is_whole
    store.create("swordfish-7731-notes", format="anthropic", about=b"{}").close()
    assert forget_text(store, CANARY).names == ("swordfish-7731-notes",)
    for text in ("ab", "a b", "x" * 10_001):
        with pytest.raises(InvalidOption, match="4 to 10,000"):
            forget_text(store, text)


def test_a_session_goes_whole_and_not_before_its_forks() -> None:
    """A fork has no copy of its parent's history."""
    store = MemoryStore()
    fill(store)
    with pytest.raises(InvalidOption, match=r"forks go on from its log.*'fork'"):
        forget_session(store, ["s"])
    assert forget_session(store, ["s", "fork"], dry_run=True).removed == ("fork", "s")
    assert forget_session(store, ["s", "fork"]).removed == ("fork", "s")
    assert store.names() == ("other",)


def test_sessions_are_forgotten_by_age_unless_a_younger_fork_needs_them() -> None:
    """Retention: by the time of the last entry."""
    now = 1_000
    store = MemoryStore(clock=lambda: now)
    fill(store)
    assert older_than(store, 2_000) == (("fork", "s"), ())
    now = 5_000
    journal = store.write("fork")
    journal.append([message("young")])
    journal.close()
    assert older_than(store, 2_000) == ((), ("s",))


def test_a_forget_cut_off_anywhere_leaves_each_log_old_or_new_and_can_be_asked_again() -> None:
    """S18: a process killed before every call that changes something; then asked again, all is gone."""
    base = SimulatedDisk()
    fill(DiskStore("/", fs=base, clock=lambda: None))
    old = {name: texts(DiskStore("/", fs=base, clock=lambda: None), name) for name in ("s", "fork")}
    whole = SimulatedDisk(copy(base.image))
    forget_text(DiskStore("/", fs=whole, clock=lambda: None), CANARY)
    new = {name: texts(DiskStore("/", fs=whole.reboot(), clock=lambda: None), name) for name in ("s", "fork")}
    points = 0
    for number in range(1, whole.calls + 1):
        disk = SimulatedDisk(copy(base.image), fault=cut_at(number))
        with pytest.raises(PowerCut):
            forget_text(DiskStore("/", fs=disk, clock=lambda: None), CANARY)
        store = DiskStore("/", fs=disk.reboot(), clock=lambda: None)
        for name in old:
            found = texts(store, name)
            for place, body in enumerate(found[: len(old[name])]):
                assert body in (old[name][place], new[name][place])
        assert forget_text(store, CANARY).is_whole
        assert not any(CANARY.encode() in body for name in old for body in texts(store, name))
        points += 1
    assert points >= 20
