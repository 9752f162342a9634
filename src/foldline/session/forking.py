"""Forks: a new log that goes on from an entry of another.

Works on any store, and on a session that another process writes, since its log is only read. Counterpart:
`foldline.log.lineage`, which reads a fork and its parents as one log.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress

from msgspec.structs import asdict, replace

from foldline.core.entry import Draft
from foldline.core.errors import InvalidOption
from foldline.core.ports import Store, TokenCounter
from foldline.log.chain import naming
from foldline.log.checkpoint import TooLarge, checkpoint_body
from foldline.log.lineage import DEPTH_MAX, Cut, Lineage, WrittenLineage, read_lineage
from foldline.log.replay import WEIGHTLESS
from foldline.log.replay import at as state_at
from foldline.log.values import dumps
from foldline.privacy.hashed import refuse_hashed
from foldline.session.keep import told_of
from foldline.session.library import or_taken_back
from foldline.session.setup import SessionOptions, model_in, setup_for
from foldline.wire import strict
from foldline.wire.formats import CODECS


def create_fork(
    store: Store, parent: str, *, name: str, at: int | None = None, counter: TokenCounter | None = None
) -> WrittenLineage:
    """A new session that goes on from entry `at` of another, the last one where none is named; its log, open to be
    written. Its first entry is a checkpoint, so that it opens without reading its parent's log. Raises `SessionExists`,
    `UnknownSession`, `InvalidOption`, and `SessionFailed`, which leaves no session behind. `counter`: counts the view for
    its checkpoint; left out, that of the model."""
    with naming(parent), ExitStack() as held:
        pages = read_lineage(store, parent)
        held.callback(pages.close)
        refuse_hashed(pages, parent)
        if pages.depth == DEPTH_MAX:
            why = f"{parent!r} is {DEPTH_MAX} forks of forks deep, which is as far as they go; `foldline export` and `import` make a session of its own of it"
            raise InvalidOption("session", parent, why=why)
        cut = _cut(pages, parent, at=at)
        about = strict.loads(pages.about)
        told = {**(about if isinstance(about, dict) else {}), "id": name}
        told["parent"] = {key: value for key, value in asdict(cut).items() if value is not None}
        replay = state_at(pages, cut.seq)
        state = replace(replay.state, handoff=None)  # a reminder is its own session's (requirement JRN-9)
        counts = counter or _counter_of(state.model or model_in(pages), format=pages.format)
        journal = store.create(name, format=pages.format, about=dumps(told))
        held.callback(journal.close)
        log = pages.forked(journal, cut)
        held.pop_all()
    pages.own.close()
    with or_taken_back(store, name, journal=log), suppress(TooLarge):
        body = checkpoint_body(state, replay.places, **told_of(state, counter=counts))
        log.append([Draft(kind="checkpoint", body=body)])
    return log


def _counter_of(model: str | None, *, format: str) -> TokenCounter:
    """What the fork counts by, where nobody says otherwise; nothing, of a log in a format that this version does not speak."""
    if format not in CODECS:
        return WEIGHTLESS
    return setup_for(SessionOptions(), format=format, model=model).counter


def _cut(pages: Lineage, parent: str, *, at: int | None) -> Cut:
    """Where to leave the parent."""
    for entry in pages.back():
        if at is None or entry.seq == at:
            end = entry.offset + entry.size
            return Cut(name=parent, seq=entry.seq, byte=end, start=entry.offset, time_ms=entry.time_ms)
        if entry.seq < at:
            break
    if at is not None:
        raise InvalidOption("at", at, why=f"session {parent!r} has no entry of this number")
    first = next(pages.entries(), None)
    assert first is None, "a log with entries has a last one"
    raise InvalidOption("at", at, why=f"session {parent!r} says nothing yet; open a new one instead")
