"""What is to be forgotten, kept in the home until it is: a forget over many logs that was interrupted is seen and finished.

    begin ── forgetting.json on disk ──► log, log, log … ──► the file taken away ── end

The file says in clear what is to go, as the logs do until then: what an address named can only be looked for in the others
while it is known. Where a session was open elsewhere and is left, it says no more than what that one still needs. It is for the
user alone and goes with the last log. Knows nothing of how a log is changed; that is
`foldline.privacy.walking`'s.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foldline.core.errors import InvalidOption, SessionBusy
from foldline.core.ports import Store
from foldline.log.said import time_told
from foldline.stores.disk import DiskStore
from foldline.stores.fs import File, Fs, LockHeld
from foldline.stores.whole import kept_in, write_whole

FILE: Final = "forgetting.json"
NEW, LOCK = "forgetting.new", "forgetting.lock"
VERSION: Final = 1
READ_BYTES: Final = 1 << 20
"""Read at a time."""
NAMED_MAX: Final = 5
"""Sessions that a sentence names."""

What: TypeAlias = Literal["text", "address", "session"]


class Asked(Struct, frozen=True, kw_only=True):
    """What is to go in one session, or under `None` in all that are not named."""

    session: str | None = None
    texts: tuple[bytes, ...] = ()
    parts: dict[int, tuple[int, ...]] = {}
    """Slots by ordinal; none: the whole message."""


class Pending(Struct, frozen=True, kw_only=True):
    """A forget that was begun."""

    version: int = VERSION
    what: What
    since_ms: int | None = None
    asked: tuple[Asked, ...] = ()
    words: tuple[bytes, ...] = ()
    """What only the forgotten parts said: words …"""
    lines: tuple[bytes, ...] = ()
    """… and lines, as patterns."""
    sessions: tuple[str, ...] = ()
    """In which something is to go, parents before forks; or that go whole, forks before parents."""
    renewed: dict[str, dict[str, str]] = {}
    """By session the addresses that are made anew."""

    @property
    def sentence(self) -> str:
        """For a person: what is the matter, and what to do."""
        when = "" if self.since_ms is None else f" of {time_told(self.since_ms)}"
        named = ", ".join(self.sessions[:NAMED_MAX])
        more = f" and {len(self.sessions) - NAMED_MAX:,} more" if len(self.sessions) > NAMED_MAX else ""
        return (
            f"a forget{when} is not finished, so what was to go may still stand in {named}{more}: "
            "`foldline forget --finish` does the rest"
        )


class UnreadableForget(InvalidOption):
    """What is to be forgotten was written down, and cannot be read."""

    def __init__(self, place: str, why: str) -> None:
        told = f"this file of a forget that is not finished cannot be read ({why}); take it away and ask for the forget again"
        super().__init__("home", place, why=told)


class _Pieces:
    """A file in pieces, one a call."""

    def __init__(self, file: File) -> None:
        self._file, self._at = file, 0

    def __call__(self) -> bytes:
        piece = self._file.read(READ_BYTES, at=self._at)
        self._at += len(piece)
        return piece


class Underway:
    """The forget that is under way in a store; of a store on no disk there is none, since it ends with the process."""

    def __init__(self, store: Store) -> None:
        self._files: Fs | None = store.files if isinstance(store, DiskStore) else None
        self._place = str(store.home / FILE) if isinstance(store, DiskStore) else ""
        self._now_ms = store.now_ms if isinstance(store, DiskStore) else lambda: None

    def pending(self) -> Pending | None:
        """What was begun and is not finished. Raises `InvalidOption` for a file that this version cannot read."""
        data = self._read()
        if data is None:
            return None
        try:
            found = msgspec.json.decode(data, type=Pending)
            if found.version != VERSION:
                raise ValueError(f"version {found.version}")
        except ValueError as error:
            raise UnreadableForget(self._place, str(error)) from error
        return found

    def _read(self) -> bytes | None:
        if self._files is None or not self._is_home(self._files) or FILE not in self._files.names(""):
            return None
        try:
            with contextlib.closing(self._files.open(FILE, "read")) as file:
                return b"".join(iter(_Pieces(file), b""))
        except FileNotFoundError:  # taken away in this moment
            return None
        except (OSError, InvalidOption) as error:
            raise UnreadableForget(self._place, str(error)) from error

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Around a forget: one at a time in a home. Raises `SessionBusy`."""
        if self._files is None or not self._is_home(self._files):
            yield
            return
        try:
            with kept_in(self._place):
                lock = self._files.lock(LOCK, b"{}")
        except LockHeld:
            raise SessionBusy(FILE, "another forget", beside=True) from None
        try:
            yield
        finally:
            lock.release()

    @staticmethod
    def _is_home(files: Fs) -> bool:
        try:
            files.names("")
        except FileNotFoundError:
            return False
        return True

    def begin(self, pending: Pending) -> None:
        """On disk when this returns: from here on it can be finished. In the place of one that was begun: what is left of it. Raises
        `InvalidOption` where it cannot be written; nothing is begun then."""
        if self._files is None:
            return
        since_ms = self._now_ms() if pending.since_ms is None else pending.since_ms
        data = msgspec.json.encode(replace(pending, since_ms=since_ms))
        with kept_in(self._place):
            write_whole(self._files, data, name=FILE, new=NEW)

    def end(self) -> None:
        """It is done; nothing of what was asked is left here."""
        if self._files is not None:
            with kept_in(self._place):
                for name in (FILE, NEW):
                    self._take_away(name)
                self._files.sync_folder("")

    def _take_away(self, name: str) -> None:
        assert self._files is not None, "nothing is begun in a store on no disk"
        with contextlib.suppress(FileNotFoundError):
            if name in self._files.names(""):
                self._files.remove(name)


def unfinished(store: Store) -> Pending | None:
    """The forget of a store that is not finished. Raises as `Underway.pending`."""
    return Underway(store).pending()


def told_of(store: Store) -> str:
    """That a forget is not finished, and what to do, for a person; empty where there is none."""
    try:
        pending = unfinished(store)
    except UnreadableForget as error:
        return str(error)
    return "" if pending is None else pending.sentence


def document_of(pending: Pending | None) -> dict[str, Any] | None:
    """As `--json` tells of it: never what is to go."""
    if pending is None:
        return None
    return {"what": pending.what, "since_ms": pending.since_ms, "sessions": list(pending.sessions)}
