"""Every state that a power cut may leave on a disk, made from the trace of a `foldline.testing.disk.SimulatedDisk`.

Two models of what a file system promises:

- `weak`, what POSIX does: the data of a file lasts from its `sync` on. Before it, each write may be lost, cut off anywhere,
  or be there as NUL bytes (the length arrived, the data did not). Names last from the `sync_folder` of their folder on;
  before it any first part of them may be there, or one of them alone.
- `ext4`: as `weak`, but any sync also makes all earlier changes of names last, and these arrive in order.

In both, what a failed sync should have written never arrives: the system counts it as written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from foldline.core.errors import FoldlineError
from foldline.testing.disk import Image, SimulatedDisk, Step, parent_of

Model: TypeAlias = Literal["weak", "ext4"]

MODELS: Final[tuple[Model, ...]] = ("weak", "ext4")
COMBINATIONS_MAX: Final = 400
"""Up to so many combinations of what the files hold are all tried; beyond it the files vary one at a time."""


class Crash(Struct, frozen=True, kw_only=True):
    """A state of the disk after a power cut."""

    image: Image
    step: int
    """How many steps of the trace had been done."""
    acked: int
    """What had been promised by then: the newest `SimulatedDisk.ack`."""


class _Disk:
    """What lasts and what is under way, step by step."""

    def __init__(self, *, model: Model, before: Image) -> None:
        self.model: Model = model
        self.folders, self.files = set(before.folders), dict(before.files)
        self.data = {inode: bytes(data) for inode, data in before.data.items()}
        self.pending: dict[int, list[Step]] = {inode: [] for inode in before.data}
        self.naming: list[Step] = []
        self.acked = 0

    def take(self, step: Step) -> None:
        """Go one step on."""
        match step.kind:
            case "ack":
                self.acked = step.count
            case "write" | "truncate":
                self.pending[step.inode].append(step)
            case "lost":
                self.pending[step.inode] = [_never(late) for late in self.pending[step.inode]]
            case "sync":
                for late in self.pending[step.inode]:
                    self.data[step.inode] = _with(self.data[step.inode], late)
                self.pending[step.inode] = []
                if self.model == "ext4":
                    self._settle(self.naming)
            case "sync_folder":
                everything = self.model == "ext4"
                self._settle([late for late in self.naming if everything or step.path in _folders_of(late)])
            case _:
                if step.kind == "make":
                    self.data[step.inode], self.pending[step.inode] = b"", []
                self.naming.append(step)

    def _settle(self, steps: list[Step]) -> None:
        for step in steps:
            _name(self.folders, self.files, step=step)
        self.naming = [step for step in self.naming if step not in steps]

    def states(self) -> Iterator[Image]:
        """What the disk may hold when the power goes now."""
        for steps in self._namings():
            folders, files = set(self.folders), dict(self.files)
            for step in steps:
                _name(folders, files, step=step)
            there = {path: inode for path, inode in files.items() if _reached(path, folders)}
            inodes = sorted(set(there.values()))
            choices = [list(dict.fromkeys(self._contents(inode))) for inode in inodes]
            for contents in _combinations(choices):
                data = {inode: bytearray(content) for inode, content in zip(inodes, contents, strict=True)}
                yield Image(folders={f for f in folders if _reached(f, folders)}, files=there, data=data)

    def _namings(self) -> Iterator[tuple[Step, ...]]:
        for count in range(len(self.naming) + 1):
            yield tuple(self.naming[:count])
        if self.model == "weak":
            yield from ((step,) for step in self.naming[1:])

    def _contents(self, inode: int) -> Iterator[bytes]:
        content = self.data[inode]
        yield content
        for step in self.pending[inode]:
            if step.kind == "write" and not step.count:
                for size in sorted({1, len(step.data) // 2, len(step.data) - 1}):
                    yield content + step.data[:size]
                yield content + bytes(len(step.data))
            content = _with(content, step)
            yield content


def _never(step: Step) -> Step:
    """A write whose data never arrives; `count` marks it."""
    if step.kind != "write":
        return step
    return Step(kind="write", path=step.path, inode=step.inode, data=bytes(len(step.data)), count=1)


def _with(content: bytes, step: Step) -> bytes:
    return content + step.data if step.kind == "write" else content[: step.size]


def _folders_of(step: Step) -> tuple[str, ...]:
    return (parent_of(step.path), parent_of(step.to)) if step.to else (parent_of(step.path),)


def _name(folders: set[str], files: dict[str, int], *, step: Step) -> None:
    match step.kind:
        case "make_folder":
            folders.add(step.path)
        case "remove_folder":
            folders.discard(step.path)
        case "make":
            files[step.path] = step.inode
        case "replace":
            files.pop(step.path, None)
            files[step.to] = step.inode
        case _:  # remove
            files.pop(step.path, None)


def _reached(path: str, folders: set[str]) -> bool:
    while path:
        path = parent_of(path)
        if path not in folders:
            return False
    return True


def _combinations(choices: list[list[bytes]]) -> Iterator[tuple[bytes, ...]]:
    count = 1
    for choice in choices:
        count *= len(choice)
    if count <= COMBINATIONS_MAX:
        yield from product(*choices)
        return
    usual = tuple(choice[0] for choice in choices)
    for place, choice in enumerate(choices):
        for content in choice:
            yield (*usual[:place], content, *usual[place + 1 :])


def crash_states(trace: list[Step], *, model: Model, before: Image | None = None) -> Iterator[Crash]:
    """Each different state once, with what was promised. `before`: what the disk held when the trace began."""
    disk = _Disk(model=model, before=Image.empty() if before is None else before)
    seen: set[int] = set()
    for number, step in enumerate([None, *trace]):
        if step is not None:
            disk.take(step)
        for image in disk.states():
            held = tuple(sorted((path, bytes(image.data[inode])) for path, inode in image.files.items()))
            key = hash((disk.acked, held, frozenset(image.folders)))
            if key not in seen:
                seen.add(key)
                yield Crash(image=image, step=number, acked=disk.acked)


def check_crashes(
    disk: SimulatedDisk,
    check: Callable[[SimulatedDisk, int], None],
    *,
    model: Model,
    before: Image | None = None,
) -> int:
    """Run `check(disk, acked)` over every state a power cut during the disk's trace may leave; returns how many there
    were. `before`: what the disk held when the trace began. An `AssertionError` names the step where it failed."""
    count = 0
    for crash in crash_states(disk.trace, model=model, before=before):
        count += 1
        try:
            check(SimulatedDisk(crash.image), crash.acked)
        except (AssertionError, FoldlineError) as error:
            last = disk.trace[crash.step - 1] if crash.step else None
            raise AssertionError(f"state {count}, after step {crash.step} ({last}): {error}") from error
    return count
