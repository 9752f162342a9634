"""Sessions seen from outside: which there are, one brought in from a file, one given out as a transcript.

Works on any store, and on a session that another process writes, since its log is only read. Counterpart:
`foldline.session.opening`, which opens one to go on with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft, Entry
from foldline.core.errors import (
    FoldlineError,
    InvalidOption,
    SessionCorrupt,
    SessionExists,
    SessionFailed,
    UnknownSession,
)
from foldline.core.message import Message, Meta
from foldline.core.ports import Journal, Pages, Store
from foldline.log.chain import naming
from foldline.log.lineage import Lineage, read_lineage
from foldline.log.lineages import Lineages
from foldline.log.lines import entry_line, header_crc, header_line, parse_log
from foldline.log.ordinals import messages_in
from foldline.log.values import dumps
from foldline.lookup import Shown
from foldline.privacy.hashed import refuse_hashed
from foldline.session.history import PAGE, TOLD, Chronicle, Page
from foldline.session.originals import shown_in
from foldline.transcripts import detect, foldline_log
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.wire import strict

IMPORTED_NAME_CHARS_MAX: Final = 100
"""Of a name made from a transcript's id, or its file's name."""
LOOK_BYTES_MAX: Final = 16 << 20
"""Bytes of a log that are looked through for damage while somebody waits for a page of it: a tenth of a second."""
LEFT_OUT: Final = Draft(kind="left_out", body=b"{}")
"""Stands where a checkpoint stood: it names bytes of the log it was written for."""


@contextmanager
def reading(store: Store, name: str) -> Iterator[Lineage]:
    """A session's log, to be read: damage is told with the name. Raises `UnknownSession`, `SessionCorrupt`, and
    `InvalidOption` for one that holds no content."""
    with naming(name), closing(read_lineage(store, name)) as log:
        refuse_hashed(log, name)
        yield log


class Listed(Struct, frozen=True, kw_only=True):
    """One session in a list."""

    name: str
    format: str = ""
    model: str | None = None
    messages: int = 0
    entries: int = 0
    updated_ms: int | None = None
    """Unix time of its last entry, milliseconds."""
    parent: str | None = None
    """The session it is a fork of."""
    problem: str = ""
    """What is wrong with its log, for a person; empty when nothing is."""


def listed(store: Store, names: Iterable[str] | None = None) -> Iterator[Listed]:
    """These sessions; left out, every one, by name. A damaged one is listed with what is wrong with it."""
    with closing(Lineages(store)) as lineages:
        for name in store.names() if names is None else names:
            try:
                with lineages.reading(name) as log:
                    yield _listed(log, name)
            except UnknownSession:  # taken away in this moment
                continue
            except FoldlineError as error:
                yield Listed(name=name, problem=str(error))


def _listed(log: Lineage, name: str) -> Listed:
    about = object_of(log.about)
    last = next(iter(log.back()), None)
    return Listed(
        name=name,
        format=log.format,
        model=about.get("model"),
        messages=messages_in(log.back()),
        entries=0 if last is None else last.seq + 1,
        updated_ms=None if last is None else last.time_ms,
        parent=None if log.cut is None else log.cut.name,
    )


def transcript_of(store: Store, name: str) -> Transcript:
    """A session as a transcript: its live view, its whole history. Raises `UnknownSession`, `SessionCorrupt`."""
    with reading(store, name) as log:
        data = _data_of(log)
    [found] = detect.read(data, format=foldline_log.NAME, name=name)
    return found


def log_of(store: Store, name: str) -> bytes:
    """A session as one file of the format `foldline`, those it goes on from included."""
    with reading(store, name) as log:
        return _data_of(log)


def _data_of(log: Lineage) -> bytes:
    return whole_log(log, [(unplaced(entry), entry.time_ms) for entry in log.entries()])


def whole_log(pages: Pages, entries: Iterable[tuple[Draft, int | None]]) -> bytes:
    """A log that goes on from no other: what is known of this one, and so many entries with their times."""
    first = header_line(format=pages.format, body=about_alone(pages))
    crc = header_crc(first)
    lines = [entry_line(seq, draft, crc=crc, time_ms=time_ms) for seq, (draft, time_ms) in enumerate(entries)]
    return b"".join((first, *lines))


def about_alone(pages: Pages) -> bytes:
    """What is known of a session, but what it goes on from."""
    return dumps({key: told for key, told in object_of(pages.about).items() if key != "parent"})


def shown(store: Store, name: str, *, address: str) -> Shown:
    """The original behind an address of a session. Raises `UnknownAddress`, `UnknownSession`, `SessionCorrupt`."""
    with reading(store, name) as log:
        return shown_in(log, address)


def page_of(store: Store, name: str, *, before: int | None = None, limit: int = PAGE) -> Page:
    """A part of a session's history, as `Session.page`, of one that need not be opened."""
    with reading(store, name) as log:
        return Chronicle(log, kinds=TOLD).page(before=before, limit=limit)


class Looked(Struct, frozen=True, kw_only=True):
    """What a look at the newest part of a log came to."""

    damage: SessionCorrupt | None = None
    """What is wrong with it; `None` where every line that was read is sound."""
    first: int = 0
    """The oldest entry that was read; 0: all of them were."""


def looked_at(store: Store, name: str, *, bytes_max: int = LOOK_BYTES_MAX) -> Looked:
    """Whether the lines of a session's log are sound, from the newest back as far as the bound allows; the one who opens a
    session need not wait for the rest, which `foldline verify` reads."""
    first, size = 0, 0
    try:
        with reading(store, name) as log:
            for entry in log.back():
                first, size = entry.seq, size + entry.size
                if size >= bytes_max:
                    break
    except SessionCorrupt as damage:
        return Looked(damage=damage, first=first)
    return Looked(first=first)


class Imported(Struct, frozen=True, kw_only=True):
    """One conversation brought in."""

    name: str
    format: str
    messages: int
    compactions: int
    left_out: bool = False
    """True where the file's own tool had compacted it: what stands before that is in the file alone."""
    messages_left: int | None = 0
    """How many messages that is; `None` where the file does not say."""

    def leaving(self, messages: int | None) -> Imported:
        """The same, of a file that holds so many messages beside what was brought in; `None`: as far as is known."""
        return self if messages is None else replace(self, left_out=messages > 0, messages_left=messages)


def import_transcript(
    store: Store,
    transcript: Transcript,
    *,
    name: str,
    redact: Callable[[bytes], bytes],
    dry_run: bool = False,
) -> Imported:
    """A new session of that name that holds the whole history of a transcript. A log of our own keeps its compactions,
    undone ones included; of other formats its messages are taken. Durable when this returns, all of it or nothing. Raises
    `SessionExists`, `InvalidOption` for a name that no session may have."""
    format = transcript.wire
    was_summarised = transcript.format != foldline_log.NAME and any(
        message.synthetic == "summary" for message in transcript.messages
    )
    data = foldline_log.WRITER.write(transcript, NewHistory(messages=_counted(transcript)))
    log = parse_log(data)
    drafts = [Draft(kind=draft.kind, body=redact(draft.body)) for draft in map(unplaced, log.entries)]
    counted = Imported(
        name=name,
        format=format,
        messages=sum(draft.kind == "message" for draft in drafts),
        compactions=sum(draft.kind == "compaction" for draft in drafts),
        left_out=was_summarised,
        messages_left=None if was_summarised else 0,
    )
    if dry_run:
        refuse_taken(store, name, format=format)
    else:
        about = {"id": name, "model": transcript.model, "from": transcript.format}
        _write(
            store, name, drafts=drafts, format=format, about={k: v for k, v in about.items() if v is not None}
        )
    return counted


def _counted(transcript: Transcript) -> tuple[Message, ...]:
    """The messages, the answer that the provider last counted with its count, which other tools keep beside it: a session goes on from
    that (requirement TOK-3)."""
    at, usage, messages = transcript.usage_at, transcript.usage, transcript.messages
    if at is None or usage is None or isinstance(transcript.source, foldline_log.LogSource):
        return messages
    meta = replace(messages[at].meta or Meta(), usage=usage)
    return (*messages[:at], replace(messages[at], meta=meta), *messages[at + 1 :])


def refuse_taken(store: Store, name: str, *, format: str = "") -> None:
    """Raise as the making of a session of this name would: `SessionExists`, `InvalidOption`. `format`: one in which an empty
    log of the name may stand."""
    try:
        with naming(name):
            pages = store.read(name)
    except UnknownSession:
        return
    with closing(pages), naming(name):
        if pages.format != format or next(pages.back(), None) is not None:
            raise SessionExists(name)


def _write(store: Store, name: str, *, drafts: Sequence[Draft], format: str, about: dict[str, Any]) -> None:
    """One append: an interruption leaves all of it or nothing, and a name that nothing was written under is free. What is refused
    leaves no session behind."""
    try:
        journal = store.create(name, format=format, about=dumps(about))
    except SessionExists:
        with naming(name):
            journal = store.write(name)
        if next(journal.back(), None) is not None or journal.format != format:
            journal.close()
            raise
    with closing(journal), or_taken_back(store, name, journal=journal):
        journal.append(drafts)


@contextmanager
def or_taken_back(store: Store, name: str, *, journal: Journal) -> Iterator[None]:
    """Around what fills a session that was just made: where that is refused, it is taken away; where that is refused too, it stays,
    empty."""
    try:
        yield
    except SessionFailed as error:
        journal.close()
        with suppress(FoldlineError, OSError):
            store.remove(name)
        raise SessionFailed(name, error.why, begun=False) from error


def name_for(id: str | None, path: str) -> str:
    """A name that a session of a transcript may have: its id, else the file's. Raises `InvalidOption`."""
    for told in (id, path.rsplit("/", 1)[-1].partition(".")[0]):
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", told or "").strip("-._")[:IMPORTED_NAME_CHARS_MAX]
        if name:
            return name
    raise InvalidOption("name", path, why="neither file nor session has a name; give one with --name")


def unplaced(entry: Entry) -> Draft:
    """An entry to be written into another log: whatever it is, it keeps its number."""
    return LEFT_OUT if entry.kind == "checkpoint" else Draft(kind=entry.kind, body=entry.body)


def object_of(data: bytes) -> dict[str, Any]:
    """A JSON object; an empty one where it is none."""
    value = strict.loads(data)
    return value if isinstance(value, dict) else {}
