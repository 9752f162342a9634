"""The file of limits: for the user alone, whole or not at all, and never a guess."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import msgspec
import pytest

from foldline.core.errors import InvalidOption
from foldline.stores.limits import FILE, FORMAT, LIMITS_MAX, LOCAL_MAX, Limit, Limits, endpoint_of
from foldline.stores.real_fs import RealFs
from foldline.testing.disk import SimulatedDisk, copy, fails_at

TOKEN = "ghp_" + "NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnA"


def limit(tokens: int = 8_192, model: str = "qwen3", endpoint: str = "http://localhost:11434/v1") -> Limit:
    """One that a server named."""
    return Limit(model=model, endpoint=endpoint, tokens=tokens, instead_of=32_768, time_ms=5)


def test_a_limit_outlives_the_process_and_is_for_the_user_alone(tmp_path: Path) -> None:
    """Kept per model and endpoint with its origin; 0600."""
    Limits(tmp_path).keep(limit())
    assert Limits(tmp_path).of("qwen3", "http://localhost:11434/v1") == limit()
    assert Limits(tmp_path).of("qwen3", "https://elsewhere.example/v1") is None
    assert Limits(tmp_path).of("qwen3", "") is None
    assert stat.S_IMODE(os.stat(tmp_path / FILE).st_mode) == 0o600


def test_the_newest_word_of_a_provider_counts_and_can_be_forgotten(tmp_path: Path) -> None:
    """One limit for each model and endpoint."""
    kept = Limits(tmp_path)
    kept.keep(limit(8_192))
    kept.keep(limit(4_096, model="other"))
    kept.keep(limit(16_384))
    assert [one.tokens for one in kept.all()] == [4_096, 16_384]
    kept.forget(limit())
    assert [one.model for one in kept.all()] == ["other"]


def test_its_size_is_bounded(tmp_path: Path) -> None:
    """style.md, 11."""
    kept = Limits(tmp_path)
    many = {"format": FORMAT, "limits": [limit(model=f"m{n}") for n in range(LIMITS_MAX)]}
    (tmp_path / FILE).write_bytes(msgspec.json.encode(many))
    (tmp_path / FILE).chmod(0o600)
    kept.keep(Limit(model="last", tokens=5, instead_of=9))
    assert len(kept.all()) == LIMITS_MAX
    assert kept.all()[-1].model == "last"


@pytest.mark.parametrize(
    ("base_url", "endpoint"),
    [
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/"),
        ("http://jane:s3cret@proxy.example:8080/v1", "http://proxy.example:8080/v1"),
        ("http://[::1]:11434/v1?api-key=abc#part", "http://[::1]:11434/v1"),
        (f"https://gateway.example/{TOKEN}/openai", "https://gateway.example/[secret]/openai"),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_a_base_url_is_kept_without_what_opens_a_door(base_url: str, endpoint: str) -> None:
    """A password in a URL, a key in its query or path: the file and every note would show it."""
    assert endpoint_of(base_url) == endpoint
    assert endpoint_of(endpoint) == endpoint


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"format":"foldline.limits/9"}', b"\xff", b'{"format":1}']
)
def test_what_is_no_file_of_limits_teaches_nothing_and_says_what_to_do(tmp_path: Path, data: bytes) -> None:
    """A guess never: half a file is none."""
    (tmp_path / FILE).write_bytes(data)
    (tmp_path / FILE).chmod(0o600)
    with pytest.raises(InvalidOption, match="remove it"):
        Limits(tmp_path).all()


def test_two_processes_do_not_write_over_each_other(tmp_path: Path) -> None:
    """The one that comes second says so, and its session goes on."""
    kept = Limits(tmp_path)
    kept.keep(limit())
    held = RealFs(os.fspath(tmp_path)).lock(f"{FILE}.lock", b"{}")
    try:
        with pytest.raises(InvalidOption, match="try again"):
            kept.keep(limit(4_096))
    finally:
        held.release()
    assert kept.all() == (limit(),)


def test_an_interruption_at_any_call_leaves_the_old_file_or_the_new_one() -> None:
    """Written whole or not at all, what an interruption left is in nobody's way, and what the system refused is said with the file."""
    first = SimulatedDisk()
    Limits("/", fs=first).keep(limit())
    failures = 0
    for number in range(1, 100):
        disk = SimulatedDisk(copy(first.image), fault=fails_at(number, errno.EIO))
        try:
            Limits("/", fs=disk).keep(limit(4_096))
        except InvalidOption:
            failures += 1
            after = disk.reboot()
            assert Limits("/", fs=after).all() in ((limit(),), (limit(4_096),))
            Limits("/", fs=after).keep(limit(2_048))
            assert f"{FILE}.new" not in after.names("")
            continue
        break
    assert failures > 4
    assert Limits("/", fs=disk).all() == (limit(4_096),)


def test_servers_of_this_machine_that_came_and_went_are_not_kept_for_ever(tmp_path: Path) -> None:
    """A server under test has another port each time: the newest four of a model stay, and others' stay beside them."""
    kept = Limits(tmp_path)
    kept.keep(limit(endpoint="https://api.example/v1"))
    kept.keep(limit(model="other"))
    for port in range(40_000, 40_000 + 3 * LOCAL_MAX):
        kept.keep(limit(endpoint=f"http://localhost:{port}"))
    local = [one.endpoint for one in kept.all() if one.is_local and one.model == "qwen3"]
    assert local == [
        f"http://localhost:{port}" for port in range(40_000 + 2 * LOCAL_MAX, 40_000 + 3 * LOCAL_MAX)
    ]
    assert kept.of("qwen3", "https://api.example/v1") is not None
    assert kept.of("other", "http://localhost:11434/v1") is not None
    assert not limit(endpoint="http://[").is_local


def test_the_limits_of_a_model_are_dropped_together(tmp_path: Path) -> None:
    """What is kept for a user can be dropped by one: all endpoints of a model, and no other model's."""
    kept = Limits(tmp_path)
    for one in (limit(), limit(endpoint="https://api.example/v1"), limit(model="other")):
        kept.keep(one)
    assert (kept.forget_model("qwen3"), kept.forget_model("qwen3")) == (2, 0)
    assert kept.all() == (limit(model="other"),)
