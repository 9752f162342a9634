"""Sessions on disk: `foldline.core.ports.Store` over one folder a session.

    HOME/sessions/NAME/log.jsonl    the log, or its newest segment: appended to, or replaced whole
                       archive/     older bytes of it, packed (`foldline.stores.archive`)
                       lock         held by the one writer
                       new.jsonl    a file about to take log.jsonl's place; left over by an interruption, then removed …
                       commit       … or put there, where this says that all new files are whole

Owns the order of calls that makes an append, a new session and a rewrite durable (`docs/concepts/durability.md`). Every
call goes through `foldline.stores.fs`; lines are `foldline.log.lines`'s, finding them `foldline.stores.scan`'s. Knows nothing of
what stands in a body.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from foldline.core.entry import Draft, Entry
from foldline.core.errors import (
    InvalidOption,
    SessionBusy,
    SessionExists,
    SessionFailed,
    UnknownSession,
)
from foldline.core.naming import check_name, is_name
from foldline.log.lines import header_line
from foldline.stores.disk_log import LOG, NEW, DiskJournal, DiskPages, LogFolder, write_all
from foldline.stores.fs import Fs, Lock, LockHeld, Open
from foldline.stores.real_fs import RealFs
from foldline.stores.segments import HEADER_BYTES_MAX

SESSIONS: Final = "sessions"
LOCK: Final = "lock"


def unix_ms() -> int:
    """Now, in milliseconds: the clock of a store that was given no other."""
    return time.time_ns() // 1_000_000


class DiskStore:
    """`foldline.core.ports.Store` below a home folder, which is made when the first session is. `clock`: Unix time of new
    entries in milliseconds; `None`: none. `fs`: how the disk is reached."""

    def __init__(
        self, home: str | os.PathLike[str], *, clock: Callable[[], int | None] = unix_ms, fs: Open = RealFs
    ) -> None:
        self.home = Path(os.path.abspath(home))
        """The folder itself, for what is kept beside the sessions and made from them."""
        self.files: Fs = fs(os.fspath(home))
        """The way to it."""
        self._clock = clock

    def now_ms(self) -> int | None:
        """The time that an entry would have that is appended now."""
        return self._clock()

    def names(self) -> tuple[str, ...]:
        try:
            found = self.files.names(SESSIONS)
        except FileNotFoundError:
            return ()
        return tuple(name for name in found if is_name(name) and LOG in self._files(name))

    def has(self, name: str) -> bool:
        """Whether there is a session of that name."""
        return is_name(name) and LOG in self._files(name)

    def path_of(self, name: str) -> Path:
        """The file to which a session of that name is appended."""
        return self.home / self._log(name).file(LOG)

    def create(self, name: str, *, format: str, about: bytes) -> DiskJournal:
        first = header_line(format=format, body=about)
        if len(first) > HEADER_BYTES_MAX:
            raise InvalidOption("about", f"{len(about):,} bytes", why=f"at most {HEADER_BYTES_MAX:,} bytes")
        log = self._log(name)
        with _told(name, begun=False):
            for folder in ("", SESSIONS, log.path):
                self.files.make_folder(folder)
        with self._locked(name, begun=False) as lock, _told(name, begun=False):
            if LOG in self._files(name):
                raise SessionExists(name)
            log.clear()
            self._begin(log, first)
            return lock.hand_to(DiskJournal(log, clock=self._clock))

    def _begin(self, log: LogFolder, first: bytes) -> None:
        """Write a log's first line; where that is refused on the way, there is no log."""
        write_all(log, NEW, data=(first,))
        self.files.replace(log.file(NEW), log.file(LOG))
        try:
            self._sync_folders(log)
        except OSError:
            with contextlib.suppress(OSError):
                self.files.remove(log.file(LOG))
            raise

    def write(self, name: str) -> DiskJournal:
        with self._locked_log(name) as (log, lock):
            return lock.hand_to(DiskJournal(log, clock=self._clock))

    def read(self, name: str) -> DiskPages:
        log = self._log(name)
        if LOG not in self._files(name):
            raise self._unknown(name)
        with _told(name):
            return DiskPages(log)

    def rewrite(
        self, name: str, change: Callable[[Entry], bytes | None], *, more: Sequence[Draft] = ()
    ) -> int:
        with self._locked_log(name) as (log, _):
            return log.rewrite(change, more=more, time_ms=self._clock())

    def remove(self, name: str) -> None:
        log = self._log(name)
        if not set(self._files(name)) - {LOCK}:
            raise self._unknown(name)
        with self._locked(name), _told(name):
            if LOG in self._files(name):
                self.files.remove(log.file(LOG))
                self.files.sync_folder(log.path)
            log.clear()  # the rest of it too, where a removal was interrupted
            self.files.remove(log.file(LOCK))
            with contextlib.suppress(OSError):  # someone may be making a session of this name already
                self.files.remove_folder(log.path)
            self.files.sync_folder(SESSIONS)

    # ── folders and the lock ─────────────────────────────────────────────────────────────────────────────────

    def _log(self, name: str) -> LogFolder:
        return LogFolder(self.files, name=check_name(name), path=f"{SESSIONS}/{name}")

    def _files(self, name: str) -> tuple[str, ...]:
        """What is in a session's folder; nothing when it has none."""
        try:
            return self.files.names(f"{SESSIONS}/{name}")
        except (FileNotFoundError, InvalidOption):
            return ()

    def _unknown(self, name: str) -> UnknownSession:
        return UnknownSession(name, tuple(get_close_matches(name, self.names(), n=1)))

    @contextlib.contextmanager
    def _locked(self, name: str, *, begun: bool = True) -> Iterator[_Held]:
        """The lock of a session, let go of at the end unless a journal took it over. Raises `SessionBusy`."""
        with _told(name, begun=begun):
            try:
                lock = self.files.lock(f"{SESSIONS}/{name}/{LOCK}", self._note())
            except LockHeld as busy:
                raise SessionBusy(name, _holder(busy.note)) from None
        held = _Held(lock)
        try:
            yield held
        finally:
            held.release()

    @contextlib.contextmanager
    def _locked_log(self, name: str) -> Iterator[tuple[LogFolder, _Held]]:
        """An existing session, locked, without what an interruption left, and sure to be found after a power cut."""
        log = self._log(name)
        if LOG not in self._files(name):
            raise self._unknown(name)
        with self._locked(name) as lock, _told(name):
            if LOG not in self._files(name):
                raise self._unknown(name)
            log.settle()
            self._sync_folders(log)
            yield log, lock

    def _sync_folders(self, log: LogFolder) -> None:
        """Whoever made the folders may have been interrupted before their names were on disk."""
        for folder in (log.path, SESSIONS, ""):
            self.files.sync_folder(folder)

    def _note(self) -> bytes:
        note = {"pid": os.getpid(), "host": os.uname().nodename[:64], "since_ms": self._clock()}
        return json.dumps(note).encode()


class _Held:
    """A lock on its way to a journal."""

    def __init__(self, lock: Lock) -> None:
        self._lock: Lock | None = lock

    def hand_to(self, journal: DiskJournal) -> DiskJournal:
        lock, self._lock = self._lock, None
        if lock is not None:
            journal.hold(lock)
        return journal

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()


@contextlib.contextmanager
def _told(name: str, *, begun: bool = True) -> Iterator[None]:
    """What the system refuses, as an error of the session; `begun`: whether it is there."""
    try:
        yield
    except OSError as error:
        raise SessionFailed(name, error.strerror or str(error), begun=begun) from error


def _holder(note: bytes) -> str:
    """Who holds a lock, as far as its note says, for a person."""
    try:
        told = json.loads(note)
        pid, host = int(told["pid"]), re.sub(r"[^A-Za-z0-9._-]", "?", str(told["host"]))[:64]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "another process"
    if pid == os.getpid():
        return f"another part of this program (process {pid})"
    return f"process {pid} on {host}"
