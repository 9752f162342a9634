"""`foldline show SESSION`: a session's history, a page at a time.

Owns the page; finding the entries is `foldline.session.library`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.cli import exits, screen
from foldline.cli.layout import clock_time, gap, title
from foldline.cli.options import Source

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foldline.core.message import Message
    from foldline.session.history import Happened, Page
    from foldline.session.library import Looked

CHARS_MAX = 2_000
"""Of one part this much is shown; its message's address opens the rest."""


def show_history(source: Source, *, before: int | None, limit: int) -> int:
    """The newest page, or the one before an entry, oldest first; damage that it does not reach is said, as far as a bounded look
    finds it, and what was not looked at."""
    from foldline.home import disk_store
    from foldline.session.library import looked_at, page_of

    store = disk_store()
    page = page_of(store, source.file, before=before, limit=limit)
    if not source.as_json:
        _show(page, source.file, before=before)
    looked = looked_at(store, source.file)
    if source.as_json:
        screen.write_document(_document(page, source.file, looked=looked))
    if looked.damage is not None:
        screen.say(f"this page can be read; {looked.damage}")
    elif looked.first:
        screen.say(
            f"what stands before entry {looked.first:,} was not looked through; `foldline verify {source.file}` does that"
        )
    return exits.DONE


def _document(page: Page, session: str, *, looked: Looked) -> dict[str, Any]:
    from foldline.session.history import wire_of

    damage = looked.damage
    entries: list[dict[str, Any]] = [
        {
            "entry": one.seq,
            "kind": one.kind,
            "time_ms": one.time_ms,
            **(
                {"message": wire_of(one.message, page.format)}
                if one.message is not None
                else {"summaries": list(one.summaries), "report": one.report}
            ),
        }
        for one in page.entries
    ]
    return {
        "schema": "foldline.history/1",
        "session": session,
        "format": page.format,
        "entries": entries,
        "before": page.before,
        "damage": None if damage is None else {"byte": damage.offset, "why": damage.why},
        "looked_from": looked.first,
    }


def _show(page: Page, session: str, *, before: int | None) -> None:
    blocks: list[RenderableType] = []
    for one in page.entries:
        blocks += [*_shown(one), ""]
    screen.show(*blocks)
    if not page.entries:
        screen.say(f"session {session} says nothing {'before that' if before is not None else 'yet'}")
    elif page.before is not None:
        screen.say(f"older: foldline show {session} --before {page.before}")


def _shown(one: Happened) -> list[RenderableType]:
    head = [f"entry {one.seq}", *([clock_time(one.time_ms)] if one.time_ms is not None else [])]
    if one.message is None:
        tokens = [one.report.get(key) for key in ("tokens_before", "tokens_after")]
        said = f"compaction, {tokens[0]:,} → {tokens[1]:,} tokens" if all(tokens) else "compaction"
        return [title(said, " · ".join(head), style="yellow"), *map(_text, one.summaries)]
    return [title(said_by(one.message), " · ".join(head), style="bold"), words_of(one.message)]


def said_by(message: Message) -> str:
    """Who speaks: a tool, too, where the wire has its results in a message of the user's."""
    from foldline.core.message import ToolResult

    if message.parts and all(isinstance(part, ToolResult) for part in message.parts):
        return "tool"
    return message.role


def words_of(message: Message) -> RenderableType:
    """What a message says, part by part, as far as a page shows it: a ledger whole, of anything else the beginning."""
    from rich.console import Group

    from foldline.core.message import ToolCall, ToolResult
    from foldline.lookup import told_of

    is_mixed = said_by(message) != "tool"
    shown: list[RenderableType] = []
    for part in message.parts:
        text = told_of(part).strip()
        if isinstance(part, ToolCall):
            text = f"call: {text}"
        elif isinstance(part, ToolResult) and is_mixed:
            text = f"result: {text}"
        if text:
            shown += [*([""] if shown else []), _text(text)]
    return Group(*shown)


def _text(text: str) -> RenderableType:
    from rich.text import Text

    from foldline.cli.neutral import neutral

    if len(text) > CHARS_MAX and not text.startswith("<foldline-"):
        text = f"{text[:CHARS_MAX]} … {len(text) - CHARS_MAX:,} characters more"
    return gap(Text(neutral(text)))
