"""The conversations of a session file: read, chosen by number or id, with what came before another tool's compactions.

Where there is no such file, the durable session of that name. Formats are recognised by `foldline.transcripts.detect`.
Raises `FoldlineError`s that name the place and the next step. Counterpart: `foldline.files`, which works on what was read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from msgspec import Struct

from foldline.core.address import digest_of
from foldline.core.errors import InvalidOption, InvalidTranscript
from foldline.transcripts import detect
from foldline.transcripts.transcript import Transcript


def read(
    path: str,
    *,
    format: str = "auto",
    select: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Transcript, ...]:
    """All conversations of a file (`-`: standard input), or the one that `select` names by number from 0 or by id. Where
    there is no such file, the durable session of that name."""
    if path != "-" and names_session(path):
        from foldline.home import disk_store
        from foldline.session.library import transcript_of

        return (transcript_of(disk_store(), path),)
    _refuse_no_session(path)
    found = detect.read(_given(path), format=format, progress=progress)
    return found if select is None else (_selected(found, select),)


class Both(Struct, frozen=True, kw_only=True):
    """A conversation that another tool may have compacted."""

    live: Transcript
    """What its model would be sent next."""
    whole: Transcript | None
    """All that was said, as though it never had been compacted; `None` where the format does not keep that, or is our own, whose
    live reading has it."""

    @property
    def messages_left(self) -> int | None:
        """How many messages the live context lacks; `None` where nobody can say."""
        if self.whole is None:
            return None
        said, live = (
            Counter((message.role, digest_of(message.parts)) for message in one.messages)
            for one in (self.whole, self.live)
        )
        return (said - live).total()


def read_both(
    path: str,
    *,
    format: str = "auto",
    select: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Both, ...]:
    """As `read`, with what came before another tool's compactions."""
    if path != "-" and names_session(path):
        return tuple(Both(live=one, whole=None) for one in read(path))
    _refuse_no_session(path)
    given = _given(path)
    found = detect.read(given, format=format, progress=progress)
    whole = detect.read_whole(given, format=found[0].format) or (None,) * len(found)
    both = tuple(Both(live=one, whole=all_of_it) for one, all_of_it in zip(found, whole, strict=True))
    if select is None:
        return both
    wanted = _selected(found, select)
    return tuple(one for one in both if one.live is wanted)


def _given(path: str) -> str | bytes:
    if path != "-":
        return path
    import sys

    if sys.stdin is None:
        raise InvalidTranscript("stdin", None, "is closed; give a file, or pipe one in")
    return sys.stdin.buffer.read()


def names_session(path: str) -> bool:
    """True where there is no file at `path` and a durable session has that name."""
    if "/" in path or os.path.lexists(path):
        return False
    from foldline.home import disk_store

    return path in disk_store().names()


def _refuse_no_session(path: str) -> None:
    """A name that is neither a file's nor a session's is told as both, with the nearest session."""
    if path == "-" or "/" in path or os.path.lexists(path):
        return
    from foldline.home import disk_store

    near = get_close_matches(path, disk_store().names(), n=1)
    then = f"did you mean {near[0]!r}?" if near else "check the name; `foldline sessions` lists the sessions"
    raise InvalidTranscript(path, None, f"no such file, and no session of that name; {then}")


def _selected(found: Sequence[Transcript], select: str) -> Transcript:
    for transcript in found:
        if transcript.id == select:
            return transcript
    for index, transcript in enumerate(found):
        if str(index) == select:
            return transcript
    names = ", ".join(str(t.id) for t in found[:5] if t.id is not None)
    known = f"; ids begin with {names}" if names else ""
    raise InvalidOption("select", select, why=f"there are {len(found)} conversations, numbered from 0{known}")
