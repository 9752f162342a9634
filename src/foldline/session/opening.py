"""`foldline.open`: a session by its name, new or gone on with.

Puts the layers together: the store below a home, the log with its parents, the settings of a model and a policy. The home is
looked up when a session is opened, never at import.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from foldline.core.entry import Draft
from foldline.core.errors import (
    ForgetUnfinished,
    InvalidOption,
    SessionCorrupt,
    SessionExists,
    UnknownSession,
)
from foldline.core.kinds import refuse_no_flag, refuse_no_name, refuse_no_text
from foldline.core.ports import Journal, Store
from foldline.engine.policy import Policy
from foldline.home import Home, disk_store, folder_at, home_at
from foldline.log.checkpoint import EVERY
from foldline.log.lineage import written
from foldline.log.values import dumps
from foldline.presets import refuse_no_policy
from foldline.privacy.hashed import refuse_hashed
from foldline.privacy.underway import told_of
from foldline.session.hosting import Host, Listener
from foldline.session.keep import Durability, Keeper
from foldline.session.limits import with_limit
from foldline.session.session import Session
from foldline.session.setup import SessionOptions, format_for, model_in, setup_for
from foldline.settings import DAY_MS, event_days
from foldline.stores.limits import Limits, endpoint_of

if TYPE_CHECKING:
    from foldline.hooks.hooks import Hooks
    from foldline.log.secrets import Redactor
    from foldline.restore.restorer import Restorer
    from foldline.stores.disk import DiskStore

Content: TypeAlias = Literal["full", "hashed"]
"""What of a session is written: all of it, or what happened and hashes of what was said."""
DURABILITIES: tuple[str, ...] = get_args(Durability)
EVERY_MAX = 100_000
"""Entries that a log goes on without a checkpoint at most."""


def open(
    name: str,
    *,
    model: str | None = None,
    policy: str | Policy = "balanced",
    format: str | None = None,
    counter: str | None = None,
    home: Home = None,
    durability: Durability = "event",
    redact: bool = True,
    content: Content = "full",
    checkpoint_every: int = EVERY,
    completer: Any = None,
    hooks: Hooks | None = None,
    restore: Restorer | None = None,
    listener: Listener | None = None,
    workspace: str | os.PathLike[str] | None = None,
    native: bool = False,
    endpoint: str | None = None,
) -> Session:
    """Open the session of that name, or begin it.

    `model` decides counter, window and, for a new session, the wire format (`format` goes before it); a session that is
    gone on with keeps the model it had last. `home`: the folder sessions are kept in; left out, `$FOLDLINE_HOME`, else
    `$XDG_STATE_HOME/foldline`, else `~/.local/state/foldline`. `durability`: when what was said is put on disk: after each
    entry, once a turn, or at checkpoints alone. `redact`: known kinds of secrets are taken out before anything is written.
    `content`: `hashed` keeps what was said in memory alone and writes events with hashes; such a session ends with the
    process and cannot be opened again. `checkpoint_every`: entries after which a checkpoint is written, beside the one of each
    compaction; fewer make opening a little quicker and the log a little longer. `completer`: a function that takes a
    `CompletionRequest` and returns the text, deltas or a reply; with one the policy's tiers that need a model are active.
    `hooks`: what runs before and behind each compaction (`foldline.hooks`). `restore`: what is put behind its summary
    (`foldline.restore`); left out, what the log says of tasks and sub-agents, and the files its calls touched below `workspace`. `listener`: who is told of compactions while they run. `workspace`: the folder that the session works
    in; the current one where it is left out. `native`: the provider's own service may do what the policy has for it; pass
    `request.body` and `request.betas` on whole. `endpoint`: the base URL of requests, for which a provider's limits are kept.

    Raises `SessionBusy` while another holds it, `SessionCorrupt` for a damaged log, `InvalidOption`. Warns (`ForgetUnfinished`)
    where a forget was interrupted in this home.
    """
    from foldline.stores.disk import unix_ms

    refuse_no_text(name=name)
    refuse_no_text(or_none=True, format=format, endpoint=endpoint)
    refuse_no_name(or_none=True, model=model, counter=counter)
    refuse_no_flag(redact=redact, native=native)
    refuse_no_policy(policy)
    asked = SessionOptions(
        model=model,
        policy=policy,
        format=format,
        counter=counter,
        durability=durability,
        redact=redactor(home) if redact else _as_it_is,
        clock=unix_ms,
        checkpoint_every=checkpoint_every,
        native=native,
        endpoint=endpoint_of(endpoint or ""),
        limits=Limits(home_at(home)),
        host=Host(
            completer=completer,
            hooks=hooks,
            restore=restore,
            listener=Listener() if listener is None else listener,
            workspace=normalised(workspace),
        ),
    )
    if content not in get_args(Content):
        raise InvalidOption("content", content, why=f"one of {', '.join(get_args(Content))}")
    disk = disk_store(home)
    store = _without_content(disk, home, asked=asked) if content == "hashed" else disk
    return open_in(store, name, asked=asked)


def _without_content(store: DiskStore, home: Home, *, asked: SessionOptions) -> Store:
    """A store that writes events alone into another one, where old ones are deleted first."""
    from foldline.privacy.aging import delete_in, delete_old
    from foldline.privacy.events import digest_with
    from foldline.privacy.hashed import Aging, HashedStore
    from foldline.privacy.key import key_in
    from foldline.stores.disk import unix_ms

    _tell_unfinished(store)
    setup = setup_for(asked, format=format_for(asked.model, asked.format), model=asked.model)
    key, kept_ms = key_in(home_at(home)), event_days() * DAY_MS
    delete_old(store, store.names(), before_ms=unix_ms() - kept_ms)
    return HashedStore(
        store,
        digest=digest_with(key),
        counter=setup.counter,
        clock=asked.clock,
        aging=Aging(kept_ms=kept_ms, delete=lambda name, ms: delete_in(store, name, before_ms=ms)),
    )


def normalised(workspace: str | os.PathLike[str] | None) -> str:
    """A workspace under its one name, so that it has one count of failures however it is spelt (requirement CMP-14). Raises
    `InvalidOption` for what names no folder."""
    return os.path.normcase(
        os.path.realpath(os.getcwd() if workspace is None else folder_at("workspace", workspace))
    )


def open_in(store: Store, name: str, *, asked: SessionOptions) -> Session:
    """`open` in any store."""
    _tell_unfinished(store)
    if asked.durability not in DURABILITIES:
        raise InvalidOption("durability", asked.durability, why=f"one of {', '.join(DURABILITIES)}")
    if type(asked.checkpoint_every) is not int or not 1 <= asked.checkpoint_every <= EVERY_MAX:
        why = f"give a whole number of entries from 1 to {EVERY_MAX:,}"
        raise InvalidOption("checkpoint_every", asked.checkpoint_every, why=why)
    new = format_for(asked.model, asked.format)
    setup_for(asked, format=new, model=asked.model)  # refuses a wrong option before anything is made
    try:
        return _open_in(store, name, asked=asked, new=new)
    except SessionCorrupt as error:
        raise SessionCorrupt(error.offset, error.why, name=name) from error


def _tell_unfinished(store: Store) -> None:
    if told := told_of(store):
        warnings.warn(told, ForgetUnfinished, stacklevel=4)  # where `open` was called


def _open_in(store: Store, name: str, *, asked: SessionOptions, new: str) -> Session:
    journal = _journal(store, name, format=new, asked=asked)
    with contextlib.ExitStack() as held:
        held.callback(journal.close)
        refuse_hashed(journal, name)
        if asked.format is not None and asked.format != journal.format:
            why = f"session {name!r} speaks {journal.format}; leave it out, or take another name"
            raise InvalidOption("format", asked.format, why=why)
        log = written(store, journal)
        keeper = Keeper(
            name, log, durability=asked.durability, redact=asked.redact, every=asked.checkpoint_every
        )
        before = keeper.state.model or model_in(journal)
        model = asked.model or before
        if model is not None and model != before:
            keeper.say(Draft(kind="model", body=dumps({"model": model})))
        setup = with_limit(setup_for(asked, format=journal.format, model=model))
        session = Session(keeper, setup, store=store, host=asked.host)
        session._resume()
        held.pop_all()
        return session


def _journal(store: Store, name: str, *, format: str, asked: SessionOptions) -> Journal:
    """The log, to be written: the one there is, else a new one."""
    about = {"id": name, "model": asked.model, "tokens_window": asked.window}
    try:
        return store.write(name)
    except UnknownSession:
        pass
    try:
        told = dumps({key: value for key, value in about.items() if value is not None})
        return store.create(name, format=format, about=told)
    except SessionExists:  # begun by another in this moment
        return store.write(name)


def redactor(home: Home = None) -> Callable[[bytes], bytes]:
    """What takes the secrets out of a body, by the home's own key. The key is made with the first body where there is
    none, so that an option that is refused makes nothing."""
    place = home_at(home)
    made: list[Redactor] = []

    def redact(body: bytes) -> bytes:
        if not made:
            from foldline.privacy.key import redactor_in

            made.append(redactor_in(place))
        return made[0].body(body).data

    return redact


def _as_it_is(body: bytes) -> bytes:
    return body
