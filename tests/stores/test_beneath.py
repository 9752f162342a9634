"""No path leads out of the folder, whatever it says and whatever is done to the folder meanwhile (S8)."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.stores.beneath import Beneath, Held, Unread

TRIES = 5_000
RACE_S_MAX = 60
"""How long it may take until both were seen."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace beside a secret, with every way out that a file system knows."""
    outside, root = tmp_path / "outside", tmp_path / "ws"
    (outside / "deep").mkdir(parents=True)
    (outside / "secret").write_text("SECRET")
    (outside / "deep" / "f").write_text("SECRET")
    (root / "sub").mkdir(parents=True)
    (root / "ok").write_text("ok")
    (root / "sub" / "f").write_text("inside")
    (root / "to-file").symlink_to("../outside/secret")
    (root / "to-absolute").symlink_to(outside / "secret")
    (root / "to-folder").symlink_to(outside / "deep")
    (root / "to-inside").symlink_to("ok")
    (root / "loop").symlink_to("loop")
    (root / "proc").symlink_to("/proc/self/root")
    os.link(outside / "secret", root / "hard")
    os.mkfifo(root / "fifo")
    return root


def read(root: Path, path: str) -> Held | Unread:
    """A file's first bytes."""
    with Beneath(root) as below:
        return below.read(path, bytes_max=100)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../outside/secret", "outside"),
        ("sub/../../outside/secret", "outside"),
        ("/etc/passwd", "outside"),
        ("", "outside"),
        (".", "outside"),
        ("/", "outside"),
        ("ok\0x", "outside"),
        ("to-file", "symbolic link"),
        ("to-absolute", "symbolic link"),
        ("to-inside", "symbolic link"),
        ("loop", "symbolic link"),
        ("to-folder/f", "symbolic link"),
        ("proc/etc/passwd", "symbolic link"),
        ("hard", "hard link"),
        ("fifo", "no regular file"),
        ("sub", "no regular file"),
        ("ok/below", "no folder"),
        ("gone", "no such file"),
        ("x" * 300, "too long"),
        ("/".join("x" * 100 for _ in range(50)), "too long"),
        ("\ud800", "no name of a file"),
    ],
)
def test_every_way_out_is_refused_and_named(root: Path, path: str, why: str) -> None:
    """S8, the matrix of paths."""
    refused = read(root, path)
    assert isinstance(refused, Unread)
    assert why in refused.why


def test_an_absolute_path_outside_is_refused_by_its_words(root: Path) -> None:
    """Also one that only begins like the root."""
    for path in (root.parent / "outside" / "secret", Path(f"{root}-other") / "ok", root):
        refused = read(root, str(path))
        assert isinstance(refused, Unread)
        assert refused.is_outside


def test_what_lies_inside_is_read_by_any_spelling(root: Path, tmp_path: Path) -> None:
    """Relative, absolute, with dots and double slashes; by the root's own name and by the one behind its links."""
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    for start, path in (
        (root, "ok"),
        (root, "./ok"),
        (root, f"{root}/ok"),
        (root, f"{root}//./ok"),
        (alias, f"{alias}/ok"),
        (alias, f"{root}/ok"),
    ):
        held = read(start, path)
        assert isinstance(held, Held)
        assert (held.path, held.data, held.size, held.is_whole) == ("ok", b"ok", 2, True)
    assert isinstance(read(root, "sub/f"), Held)


def test_a_root_that_is_the_file_systems_own_has_everything_below_it(root: Path) -> None:
    """A host may say so."""
    with Beneath("/") as below:
        assert isinstance(below.read(f"{root}/ok", bytes_max=10), Held)


def test_a_large_file_is_read_as_far_as_wanted_or_refused(root: Path) -> None:
    """Bounds; the size of the whole is told. A file that is none (`/dev/zero`) is not read at all."""
    (root / "large").write_bytes(b"x" * 3_000_000)
    with Beneath(root) as below:
        held = below.read("large", bytes_max=2_500_000)
        assert isinstance(held, Held)
        assert (len(held.data), held.size, held.is_whole) == (2_500_000, 3_000_000, False)
        refused = below.read("large", bytes_max=10, size_max=2_999_999)
        assert isinstance(refused, Unread)
        assert "3,000,000 bytes" in refused.why
    assert isinstance(Beneath("/dev").read("zero", bytes_max=10), Unread)


def test_a_second_name_is_taken_where_the_host_says_so(root: Path) -> None:
    """By policy: some package folders are full of them."""
    with Beneath(root, hard_links=True) as below:
        assert isinstance(below.read("hard", bytes_max=10), Held)


def test_a_root_that_is_no_folder_is_an_error_at_once(root: Path) -> None:
    """Before anything is asked of it."""
    for path in (root / "ok", root / "gone"):
        with pytest.raises(OSError, match=path.name):
            Beneath(path)


def test_no_descriptor_stays_open(root: Path) -> None:
    """Whatever is asked, and closing twice is closing once."""
    before = len(os.listdir("/proc/self/fd"))
    with Beneath(root) as below:
        for path in ("ok", "sub/f", "to-file", "fifo", "gone", "to-folder/f", "hard", "sub/gone/f"):
            below.read(path, bytes_max=1)
    below.close()
    assert len(os.listdir("/proc/self/fd")) == before


@given(st.text(st.sampled_from("./~\0ab-\\ ") | st.characters(), max_size=40))
def test_no_words_lead_out(path: str) -> None:
    """Whatever a model writes: a relative path never goes up, and reading it never raises."""
    with Beneath("/dev") as below:
        inside = below.relative(path)
        assert inside is None or not {"..", ""} & set(inside.split("/"))
        below.read(path, bytes_max=1)


@pytest.fixture
def swapped(root: Path) -> Iterator[Path]:
    """`sub` and a link to the folder outside change places all the time."""
    (root / "evil").symlink_to(root.parent / "outside" / "deep")
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 316, "aarch64": 276}[platform.machine()]
    one, other, stop = os.fsencode(root / "sub"), os.fsencode(root / "evil"), threading.Event()

    def swap() -> None:
        while not stop.is_set():
            libc.syscall(number, -100, one, -100, other, 2)  # renameat2, RENAME_EXCHANGE

    thread = threading.Thread(target=swap)
    thread.start()
    yield root
    stop.set()
    thread.join()


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="swapping two names in one step is Linux's",
)
def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere(swapped: Path) -> None:
    """S8, the race: a path that is checked and then opened escapes; this one never."""
    seen = set[bytes]()
    tries, end = 0, monotonic() + RACE_S_MAX
    with Beneath(swapped) as below:
        while tries < TRIES or (len(seen) < 2 and monotonic() < end):
            tries += 1
            held = below.read("sub/f", bytes_max=10)
            seen.add(held.data if isinstance(held, Held) else b"refused")
    assert seen == {b"inside", b"refused"}
