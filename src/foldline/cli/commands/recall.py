"""`foldline recall`: search what was ever said in sessions, or open what an address names.

Owns how hits and originals are shown: words for people, the original untouched to a pipe, one document with `--json`.
Searching is `foldline.recall.find`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from foldline.cli import exits, progress, screen
from foldline.cli.layout import gap
from foldline.cli.options import as_json_option, lines

if TYPE_CHECKING:
    from foldline.recall.find import Found, Recall
    from foldline.recall.opening import Opened

_ROLES = ("system", "user", "assistant", "tool")
_KINDS = ("text", "reasoning", "call", "result", "error", "media", "other")


@click.command("recall")
@click.option("--role", type=click.Choice(_ROLES), help="Only what this one said.")
@click.option("--kind", type=click.Choice(_KINDS), help="Only such parts.")
@click.option("--tool", metavar="NAME", help="Only calls and results of this tool.")
@click.option("--since", metavar="TIME", default="", help="Not before this time, ISO 8601.")
@click.option("--until", metavar="TIME", default="", help="Not after this time, ISO 8601.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 100), default=8, show_default=True, help="Most hits."
)
@click.option("--lines", "span", metavar="A-B", type=lines, help="Of an original only these lines, from 1.")
@click.option(
    "--tokens",
    metavar="N",
    type=click.IntRange(50, 100_000),
    help="Of an original at most these tokens (4000).",
)
@as_json_option
@click.argument("words", nargs=-1, required=True, metavar="[SESSION] QUERY|ADDRESS")
def command(words: tuple[str, ...], *, as_json: bool, span: Any, tokens: int | None, **filters: Any) -> int:
    """Search sessions for words, or open what an address names.

    Without SESSION all sessions are searched. Words in double quotes stand side by side; a query of several words is quoted
    for the shell. An address is what a hit, a notice or a summary names; of a SESSION also a short one, as its summaries
    have it: m12, m4-47.
    """
    from foldline.core.address import is_address, is_short
    from foldline.recollect import open_recall

    if len(words) > 2:
        raise click.UsageError("put a query of several words into quotes", click.get_current_context())
    session, query = words if len(words) == 2 else (None, words[0])
    recall: Recall = open_recall()
    try:
        if is_address(query) or (session is not None and is_short(query)):
            return _open(recall, query, session=session, span=span, tokens=tokens, as_json=as_json)
        if span is not None or tokens is not None:
            raise click.UsageError(
                f"--{'lines' if span is not None else 'tokens'} is for an address",
                click.get_current_context(),
            )
        found = _search(recall, query, session=session, filters=filters)
        if session is None and is_short(query):
            found = _with_place(found)
    finally:
        recall.close()
    if as_json:
        screen.write_document(_found_document(found))
    else:
        _show_found(found)
    return exits.DONE


def _search(recall: Recall, query: str, *, session: str | None, filters: dict[str, Any]) -> Found:
    from foldline.recall.rows import Filters
    from foldline.recall.tool import read_time

    wanted = Filters(
        role=filters["role"],
        kind=filters["kind"],
        tool=filters["tool"],
        since_ms=read_time(filters["since"], option="since"),
        until_ms=read_time(filters["until"], option="until"),
    )
    with progress.busy("searching"):
        return recall.search(query, session=session, filters=wanted, hits_max=filters["limit"])


def _with_place(found: Found) -> Found:
    """Of a word that is a short address, too, it is said how that is opened."""
    from msgspec.structs import replace

    note = f"{found.query} names a place in a session, too: foldline recall SESSION {found.query} opens it"
    return replace(found, notes=(*found.notes, note))


def _found_document(found: Found) -> dict[str, Any]:
    import msgspec

    told = {key: value for key, value in msgspec.to_builtins(found).items() if key != "opened"}
    return {"schema": "foldline.recall/1", **told}


def _show_found(found: Found) -> None:
    from foldline.recall.quote import hit_told

    for note in found.notes:
        screen.say(note)
    if not found.hits:
        screen.say("nothing was found; try other or fewer words")
    for hit in found.hits:
        told = hit_told(hit, names=True)
        if screen.is_terminal("stdout"):
            screen.show(screen.cell(told), gap(gap(screen.cell(hit.snippet))))
        else:
            screen.write_text(f"{told}\n    {screen.line(hit.snippet)}\n")
    if found.more:
        screen.say("there are more; ask with more words, a filter or a larger --limit")


def _open(recall: Recall, address: str, *, session: str | None, as_json: bool, **asked: Any) -> int:
    from foldline.recall.opening import TOKENS, Excerpt

    excerpt = Excerpt(lines=asked["span"], tokens_max=asked["tokens"] or TOKENS)
    opened = recall.open(address, session=session, excerpt=excerpt)
    if as_json:
        screen.write_document(_opened_document(opened))
        return exits.DONE
    if screen.is_terminal("stdout"):
        screen.say(f"{opened.title}, session {opened.session}")
    screen.write_content(opened.text)
    if opened.rest:
        name, _, rest = opened.rest.partition(" ")
        shown = f"lines {opened.lines[0]:,}-{opened.lines[1]:,} of {opened.lines_total:,}"
        more = f"--lines {rest}" if name == "lines" else "a larger --tokens"
        screen.say(f"{shown}; the rest with {more}")
    for media in opened.media:
        screen.say(f"with {media.kind} {media.mime or ''}; `foldline show` gives it back")
    return exits.DONE


def _opened_document(opened: Opened) -> dict[str, Any]:
    import msgspec

    told = msgspec.to_builtins(opened)
    told["media"] = [{key: media[key] for key in ("kind", "mime", "name", "url")} for media in told["media"]]
    return {"schema": "foldline.recall/1", **told}
