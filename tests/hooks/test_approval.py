"""An approval is for all that was shown, to the byte, and for nothing else (S9, S16)."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from foldline.core.errors import InvalidOption
from foldline.core.foreign import Raised, tried
from foldline.hooks.approval import (
    FILE,
    SCRIPT_BYTES_MAX,
    Approvals,
    Approved,
    Shown,
    contents,
    shown,
    why_not,
)
from foldline.hooks.command import Command
from foldline.testing.disk import SimulatedDisk, copy, fails_at

PATH = "/usr/bin:/bin"
COMMAND = Command(argv=("sh", "hook.sh", "--rules=rules.txt"), files=("lib.sh",))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a hook and what it reads."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("hook.sh", "rules.txt", "lib.sh", "other.txt"):
        (folder / name).write_text(name)
    return folder


def seen(project: Path, command: Command = COMMAND, *, path: str = PATH) -> Shown:
    """What there is to approve."""
    return shown(command, event="PreCompact", trigger=None, project=str(project), path=path)


def test_what_is_shown_names_words_program_and_every_file(project: Path) -> None:
    """Files in the words, also behind `=`, those named in the settings, and where the program comes from."""
    told = seen(project)
    assert [file for file, _ in told.files] == ["hook.sh", "rules.txt", "lib.sh"]
    assert told.program == os.path.realpath("/bin/sh")
    assert len(told.digest) == 64
    assert seen(project).digest == told.digest


def test_each_change_of_what_was_shown_needs_a_new_approval(project: Path, tmp_path: Path) -> None:
    """S9: a byte of a file, a word, a setting, another event or trigger, another folder."""
    first = seen(project)
    digests = {first.digest}
    for name in ("hook.sh", "rules.txt", "lib.sh"):
        (project / name).write_text("changed")
        digests.add(seen(project).digest)
    changes = {"argv": (*COMMAND.argv, "x"), "timeout_s": 9.0, "env": ("A",), "blocks_on_exit_2": True}
    digests |= {seen(project, replace(COMMAND, **{key: value})).digest for key, value in changes.items()}
    root = str(project)
    digests.add(shown(COMMAND, event="PostCompact", trigger=None, project=root, path=PATH).digest)
    digests.add(shown(COMMAND, event="PreCompact", trigger="auto", project=root, path=PATH).digest)
    elsewhere = tmp_path / "elsewhere"
    project.rename(elsewhere)
    digests.add(seen(elsewhere).digest)
    assert len(digests) == 1 + 3 + len(changes) + 2 + 1
    (elsewhere / "other.txt").write_text("changed")
    assert seen(elsewhere).digest in digests


def test_a_program_that_comes_from_elsewhere_is_another(project: Path, tmp_path: Path) -> None:
    """A folder before the others on the search path, and a link that leads elsewhere."""
    first = seen(project)
    evil = tmp_path / "bin"
    evil.mkdir()
    (evil / "sh").write_text("#!/bin/sh\n")
    (evil / "sh").chmod(0o755)
    assert seen(project, path=f"{evil}:{PATH}").digest != first.digest
    (project / "hook.sh").unlink()
    (project / "hook.sh").symlink_to("other.txt")
    assert seen(project).digest != first.digest


def test_a_program_of_the_projects_own_is_looked_into(project: Path) -> None:
    """It is a script like any other, called by its path or found on a search path that leads into the project."""
    own = project / "tool"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    for argv, path in ((("./tool",), PATH), (("tool",), f".:{PATH}")):
        own.write_text("#!/bin/sh\n")
        before = seen(project, Command(argv=argv), path=path)
        assert before.files[0][0] == str(own.resolve())
        own.write_text("#!/bin/sh\nevil\n")
        assert seen(project, Command(argv=argv), path=path).digest != before.digest


def test_a_file_that_appears_later_counts(project: Path) -> None:
    """A word that named nothing names something now."""
    before = seen(project, Command(argv=("sh", "later.sh")))
    (project / "later.sh").write_text("")
    assert seen(project, Command(argv=("sh", "later.sh"))).digest != before.digest


@pytest.mark.parametrize("spoil", ["gone", "fifo", "large", "folder"])
def test_what_cannot_be_looked_through_cannot_be_approved(project: Path, spoil: str) -> None:
    """A pipe would hold us for ever; what is too large nobody has read."""
    file = project / "lib.sh"
    file.unlink()
    match spoil:
        case "fifo":
            os.mkfifo(file)
        case "large":
            file.touch()
            os.truncate(file, SCRIPT_BYTES_MAX + 1)
        case "folder":
            file.mkdir()
        case _:
            assert spoil == "gone"
    with pytest.raises(InvalidOption, match=r"lib\.sh"):
        seen(project)
    agreed = Approved(digest="0" * 64, project=str(project), path=PATH)
    assert "is no longer what was approved" in why_not(agreed, COMMAND, event="PreCompact", trigger=None)


def test_the_bytes_that_are_shown_are_those_of_the_digest(project: Path) -> None:
    """S16: a file that changes between the list and the look at it is not shown as what is approved."""
    told = seen(project)
    assert contents(told) == (("hook.sh", b"hook.sh"), ("rules.txt", b"rules.txt"), ("lib.sh", b"lib.sh"))
    (project / "rules.txt").write_text("evil")
    with pytest.raises(InvalidOption, match="changed in this moment"):
        contents(told)


def test_approvals_are_kept_for_the_user_alone(project: Path, tmp_path: Path) -> None:
    """0600 whatever the umask; taken back they are gone."""
    home = tmp_path / "a" / "home"
    before = os.umask(0)
    try:
        Approvals(home).add(seen(project), name="hook.sh")
    finally:
        os.umask(before)
    digest = seen(project).digest
    row = {"project": str(project.resolve()), "event": "PreCompact", "name": "hook.sh"}
    assert Approvals(home).all() == {digest: row}
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in home.iterdir()} == {
        FILE: 0o600,
        f"{FILE}.lock": 0o600,
    }
    assert Approvals(home).remove(digest)
    assert not Approvals(home).remove(digest)
    assert Approvals(home).all() == {}


def test_there_are_none_before_the_first(tmp_path: Path) -> None:
    """And looking makes nothing."""
    assert Approvals(tmp_path / "home").all() == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"format": "other/1"}', b'{"format": "foldline.approvals/1", "approved": 3}']
)
def test_a_file_that_is_not_sound_approves_nothing(data: bytes, tmp_path: Path) -> None:
    """It is refused and not mended: an approval is never guessed."""
    tmp_path.chmod(0o700)
    (tmp_path / FILE).write_bytes(data)
    (tmp_path / FILE).chmod(0o600)
    with pytest.raises(InvalidOption, match="remove it and approve again"):
        Approvals(tmp_path).all()


def test_a_link_or_a_file_that_others_may_write_approves_nothing(project: Path, tmp_path: Path) -> None:
    """S8, S16: nobody else puts an approval there."""
    home = tmp_path / "home"
    Approvals(home).add(seen(project), name="x")
    (home / FILE).chmod(0o666)
    with pytest.raises(InvalidOption, match="only you may write"):
        Approvals(home).all()
    (home / FILE).chmod(0o600)
    (home / FILE).rename(tmp_path / "planted")
    (home / FILE).symlink_to(tmp_path / "planted")
    with pytest.raises(InvalidOption, match="symbolic link"):
        Approvals(home).all()


def test_approvals_of_many_at_once_are_all_kept_or_said_to_be_refused(project: Path, tmp_path: Path) -> None:
    """S16: under concurrent changes what is stored is what was shown."""
    commands = [replace(COMMAND, env=(f"A{number}",)) for number in range(24)]

    def add(command: Command) -> str | None:
        told = seen(project, command)
        added = tried(lambda: Approvals(tmp_path / "home").add(told, name="x"))
        if isinstance(added, Raised):
            assert "try again" in added.why
            return None
        return told.digest

    with ThreadPoolExecutor(8) as pool:
        added = {digest for digest in pool.map(add, commands) if digest is not None}
    assert set(Approvals(tmp_path / "home").all()) == added != set()


def test_a_failing_disk_leaves_the_approvals_there_were(project: Path) -> None:
    """Written whole or not at all, at whichever call the disk fails; what an interruption left is cleared away by the next."""
    told, other = seen(project), seen(project, Command(argv=("sh",)))
    first = SimulatedDisk()
    Approvals("/", fs=first).add(told, name="x")
    failures = 0
    for number in range(1, 100):
        disk = SimulatedDisk(copy(first.image), fault=fails_at(number, errno.EIO))
        try:
            Approvals("/", fs=disk).add(other, name="y")
        except InvalidOption:
            failures += 1
            after = disk.reboot()
            assert set(Approvals("/", fs=after).all()) in ({told.digest}, {told.digest, other.digest})
            Approvals("/", fs=after).add(other, name="y")
            assert f"{FILE}.new" not in after.names("")
            continue
        break
    assert failures > 4
    assert set(Approvals("/", fs=disk).all()) == {told.digest, other.digest}
