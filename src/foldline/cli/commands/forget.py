"""`foldline forget`: words, a part, or a whole session taken out of everything that is kept.

Owns what is asked before, and what is said after. What a forget reaches is `foldline.privacy.forgetting`'s.
"""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from foldline.cli import exits, progress, screen
from foldline.cli.layout import fields, gap, plural, title
from foldline.cli.options import as_json_option

if TYPE_CHECKING:
    from foldline.core.ports import Store
    from foldline.privacy.forgetting import Forgotten

_AGE = re.compile(r"([0-9]{1,5})([dhw])")
NEAR = 0.8
"""How like a session's name a text is that may be one mistyped: 1 is the same."""
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class _Target(Struct, frozen=True, kw_only=True):
    """What is to be forgotten."""

    what: str
    """`text`, `address`, `session` or `age`."""
    value: str
    within: str | None
    before_ms: int = 0


def age(value: str) -> int:
    """An age as people write it (`90d`, `12h`, `4w`), in milliseconds. Raises `click.BadParameter`."""
    found = _AGE.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no age; write 90d, 12h or 4w")
    return int(found[1]) * _HOURS[found[2]] * 3_600_000


@click.command("forget")
@click.argument("what", metavar="[TEXT|ADDRESS|SESSION]", required=False)
@click.option(
    "--in", "within", metavar="SESSION", help="Only in this session, its forks and what it was forked from."
)
@click.option(
    "--text", "as_text", is_flag=True, help="Take it as text, even where a session or address is spelt so."
)
@click.option(
    "--older-than",
    "older",
    metavar="AGE",
    type=age,
    help="Whole sessions without an entry since: 90d, 12h, 4w.",
)
@click.option("--finish", is_flag=True, help="Do the rest of a forget that was interrupted.")
@click.option("--dry-run", is_flag=True, help="Only say what would be changed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json_option
def command(
    what: str | None,
    *,
    within: str | None,
    as_text: bool,
    older: int | None,
    finish: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Forget words, what stands at an address, or a whole session.

    Reaches logs, archives, checkpoints, summaries made from them, forks, the search index and the statistics. A text
    of 4 characters or more, or a short word of its own, is looked for in every session unless --in names one; an address
    needs --in. It cannot be undone. What it cannot
    reach is listed: backups, exported files, what was sent. Exit code 4 when something was left undone; one that was
    interrupted is finished by the next, or by --finish.
    """  # fmt: skip
    from foldline.home import disk_store
    from foldline.privacy.forgetting import NeededByForks

    if (what is not None) + (older is not None) + finish != 1:
        why = "say what to forget, --older-than AGE, or --finish"
        raise click.UsageError(why, click.get_current_context())
    store = disk_store()
    if finish:
        return _finish(store, dry_run=dry_run, as_json=as_json)
    target = _target(what, store, within=within, as_text=as_text, older=older)
    try:
        planned, kept = _forget(store, target, dry_run=True)
    except NeededByForks as error:
        if as_json:
            screen.write_document(exits.document_of(error, code=exits.REFUSED, sentence=str(error)))
        else:
            screen.say(str(error))
        return exits.REFUSED
    if not dry_run:
        if planned.removed or any(not one.unread for one in planned.changed):
            _confirm(planned, target, yes=yes)
        planned, kept = _forget(store, target, dry_run=False)
    return _tell(_Page(what=target.what, done=planned, dry_run=dry_run, kept=kept), store, as_json=as_json)


def _finish(store: Store, *, dry_run: bool, as_json: bool) -> int:
    """The rest of an earlier forget. It was asked for, so nobody is asked again."""
    from foldline.privacy.forgetting import Forgotten, finish
    from foldline.privacy.underway import unfinished

    pending = unfinished(store)
    done = Forgotten(changed=())
    if pending is not None and not dry_run:
        with progress.shown("forgetting") as tick:
            done = finish(store, tick=tick) or done
    what = "nothing" if pending is None else pending.what
    return _tell(_Page(what=what, done=done, dry_run=dry_run), store, as_json=as_json)


class _Page(Struct, frozen=True, kw_only=True):
    """What is said of a forget."""

    what: str
    done: Forgotten
    dry_run: bool
    kept: tuple[str, ...] = ()
    """Sessions that a younger fork needs."""


def _tell(page: _Page, store: Store, *, as_json: bool) -> int:
    """Say what was done, and what is left to do; the exit code."""
    from foldline.privacy.underway import document_of, unfinished

    left = unfinished(store)
    if as_json:
        head = {"schema": "foldline.forget/1", "dry_run": page.dry_run, "what": page.what}
        more = {"needed_by_forks": list(page.kept), "unfinished_forget": document_of(left)}
        screen.write_document({**head, **page.done.to_dict(), **more})
    else:
        _show(page)
    if left is not None:
        screen.say(left.sentence)
    return exits.DONE if page.done.is_whole and (page.dry_run or left is None) else exits.REFUSED


def _target(
    what: str | None, store: Store, *, within: str | None, as_text: bool, older: int | None
) -> _Target:
    from foldline.core.address import is_address, is_short
    from foldline.stores.disk import unix_ms

    if what is None:
        assert older is not None
        return _Target(what="age", value="", within=None, before_ms=unix_ms() - older)
    if as_text:
        return _Target(what="text", value=what, within=within)
    names = store.names() if within is None else ()
    if what in names:
        return _Target(what="session", value=what, within=None)
    if not is_address(what) and not is_short(what):
        near = get_close_matches(what, names, n=1, cutoff=NEAR) if within is None else []
        if near:
            raise click.UsageError(
                f"no session is called {what!r}; did you mean {near[0]!r}? To forget these words in every session, say --text",
                click.get_current_context(),
            )
        return _Target(what="text", value=what, within=within)
    if within is None:
        raise click.UsageError(
            "an address is one of a session: name it with --in, or say --text where it is a word to forget",
            click.get_current_context(),
        )
    return _Target(what="address", value=what, within=within)


def _forget(store: Store, target: _Target, *, dry_run: bool) -> tuple[Forgotten, tuple[str, ...]]:
    from foldline.privacy import forgetting

    with progress.shown("looking" if dry_run else "forgetting") as tick:
        if target.what == "text":
            return forgetting.forget_text(
                store, target.value, within=target.within, dry_run=dry_run, tick=tick
            ), ()
        if target.what == "address":
            within = target.within or ""
            return forgetting.forget_address(
                store, target.value, within=within, dry_run=dry_run, tick=tick
            ), ()
        if target.what == "session":
            return forgetting.forget_session(store, [target.value], dry_run=dry_run), ()
        old, kept = forgetting.older_than(store, target.before_ms)
        return forgetting.forget_session(store, old, dry_run=dry_run), kept


def _confirm(planned: Forgotten, target: _Target, *, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and screen.is_terminal("stderr")):
        raise click.UsageError(
            "this cannot be undone: say --yes, or look first with --dry-run", click.get_current_context()
        )
    _say_what(planned, target, would=True)
    click.confirm("foldline: forget it?", abort=True, err=True)


def _say_what(done: Forgotten, target: _Target, *, would: bool) -> None:
    for name in done.removed:
        screen.say(f"{'would remove' if would else 'removed'} session {name}")
    for one in done.changed:
        if not one.problem:
            said = f"{plural(one.places, 'place')} in {plural(sum(one.kinds.values()), 'entry').replace('entrys', 'entries')}"
            screen.say(f"{'would forget' if would else 'forgot'} {said} of session {one.name}")
    if target.what == "text" and not done.changed:
        screen.say("the text stands nowhere")


def _show(page: _Page) -> None:
    done = page.done
    touched = [one for one in done.changed if not one.problem]
    state = "would forget" if page.dry_run else "forgotten"
    if not (touched or done.removed):
        state = "nothing to forget"
    screen.show(title(state, page.what, style="bold"))
    screen.show(
        gap(
            fields(
                [(one.name, _said(one.ordinals, one.kinds, places=one.places)) for one in touched]
                + [(name, "the whole session") for name in done.removed]
            )
        )
    )
    for one in done.changed:
        if one.problem:
            more = f"; what stands behind that was not looked through, `foldline verify {one.name}` says more"
            screen.say(f"{one.name}: {one.problem}{more if one.unread else ''}")
    for name in done.names:
        screen.say(
            f"the name or first line of session {name!r} holds it: `foldline forget {name}` takes the session away"
        )
    for name in page.kept:
        screen.say(f"session {name!r} was kept: a younger session is a fork of it")
    if touched or done.removed:
        from foldline.privacy.forgetting import UNREACHABLE

        screen.say("not reached from here: " + "; ".join(UNREACHABLE))


def _said(ordinals: tuple[int, ...], kinds: dict[str, int], *, places: int) -> str:
    messages = plural(len(ordinals), "message")
    others = [f"{count:,} × {kind}" for kind, count in kinds.items() if kind != "message"]
    where = " and ".join([messages] * (bool(ordinals) or not others) + [", ".join(others)] * bool(others))
    return f"{plural(places, 'place')} in {where}"
