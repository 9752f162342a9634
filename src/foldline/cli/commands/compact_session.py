"""`foldline compact SESSION`: a durable session, compacted in its own log.

Owns which options fit a session, and the printing. Counterpart: `foldline.cli.commands.compact`, for files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from foldline.cli import exits, report, screen
from foldline.cli.asking import asking
from foldline.cli.options import Source

if TYPE_CHECKING:
    from foldline.hooks.hooks import Hooks
    from foldline.session.hosting import Host

_OF_FILES = (("as_format", "--as"), ("out", "-o"), ("pins", "--pin"))
"""Options that say what to do with a file."""


class Wanted(Struct, frozen=True, kw_only=True):
    """The options of `foldline compact` as given."""

    to: int | float | None
    policy: str
    model: str | None
    counter: str | None
    focus: str | None
    pins: tuple[str, ...]
    as_format: str | None
    dry_run: bool
    out: str | None
    provider: str | None = None
    base_url: str | None = None


def compact_session(source: Source, wanted: Wanted) -> int:
    """Compact it, or with `--dry-run` say what that would do."""
    for name, option in _OF_FILES:
        if getattr(wanted, name):
            raise click.UsageError(
                f"{option} is for files, and {source.file} is a session; `foldline export {source.file} -o FILE` "
                "writes one",
                click.get_current_context(),
            )
    hooks = None if wanted.dry_run else _hooks()
    with asking(wanted.provider, base_url=wanted.base_url, model=wanted.model) as shown:
        document = _document(source.file, wanted, host=_host(shown.completer, shown.hear, hooks=hooks))
    code = exits.code_of_outcomes([exits.outcome_of(document)])
    if source.as_json:
        screen.write_document(document)
        return code
    screen.show(*report.blocks_of(document, name=source.file, is_planned=wanted.dry_run), to="stderr")
    for note in report.notes_in(document):
        screen.say(note)
    screen.say(_where(source.file, wanted, outcome=document["outcome"]))
    return code


def _hooks() -> Hooks | None:
    """Those of the settings, as far as they run; of the others it is said why they do not."""
    from foldline.hooking import configured

    hooks = configured()
    for note in hooks.notes:
        screen.say(note)
    return hooks if hooks.hooks else None


def _host(completer: Any, hear: Any, *, hooks: Hooks | None) -> Host:
    from foldline.session.hosting import Host, Listener

    listener = Listener() if hear is None else Listener(on_delta=hear)
    return Host(completer=completer, hooks=hooks, listener=listener)


def _document(name: str, wanted: Wanted, *, host: Host) -> dict[str, Any]:
    from foldline.core.errors import TargetUnreachable
    from foldline.session.changes import asked_for, compact

    asked = asked_for(policy=wanted.policy, model=wanted.model, counter=wanted.counter, host=host)
    try:
        done = compact(name, wanted.to, dry_run=wanted.dry_run, focus=wanted.focus, asked=asked)
    except TargetUnreachable as error:
        done = error.result
    document: dict[str, Any] = done.to_dict()
    return document


def _where(name: str, wanted: Wanted, *, outcome: str) -> str:
    if wanted.dry_run:
        return f"dry run, session {name} is as it was"
    if outcome == "compacted":
        return f"session {name} was compacted in its log; `foldline undo {name}` takes it back"
    return f"session {name} is as it was"
