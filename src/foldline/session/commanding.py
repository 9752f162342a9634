"""Lines of a chat that are meant for foldline and not for the model: `/compact [instructions]` and `/context`.

    told = session.command(line)
    if told is None:
        session.user(line)            # no command: it is said
    else:
        print(told.text)              # never reaches the model as a message

What stands behind `/compact` is passed on to whoever writes the summary. Plain text, for any surface; the command line's own pages
are in `foldline.cli`. Knows no terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from foldline.core.errors import CompactionBlocked, ContextExhausted, TargetUnreachable
from foldline.engine.report import Report

COMPACT: Final = "/compact"
CONTEXT: Final = "/context"
FAILS: Final = (CompactionBlocked, ContextExhausted, TargetUnreachable)
"""What is an answer to a person, and no fault."""


class Commanded(Struct, frozen=True, kw_only=True):
    """What a command comes to."""

    text: str
    """For the person who wrote it."""
    is_error: bool = False
    report: Report | None = None
    """Of a compaction."""
    use: dict[str, Any] | None = None
    """As `context_use`."""


class Asked(Struct, frozen=True, kw_only=True):
    """A command, read."""

    name: str
    rest: str
    """What stands behind it."""


def read_command(line: str) -> Asked | None:
    """The command that a line is; `None` for one that is to be said."""
    name, _, rest = line.strip().partition(" ")
    if name not in (COMPACT, CONTEXT) or (name == CONTEXT and rest.strip()):
        return None
    return Asked(name=name, rest=rest.strip())


def of_compaction(report: Report) -> Commanded:
    """A compaction, in a sentence."""
    if report.outcome != "compacted":
        return Commanded(text=f"{report.outcome}: {report.reason}", report=report)
    words = f"compacted: {report.tokens_before:,} → {report.tokens_after:,} tokens"
    folded = report.covers.messages
    told = f"{folded:,} message{'' if folded == 1 else 's'} folded; " if folded else ""
    return Commanded(text=f"{words}, {told}undo takes it back", report=report)


def of_failure(error: Exception) -> Commanded:
    """A compaction that could not be made; nothing has changed."""
    return Commanded(text=str(error), is_error=True)


def of_context(use: Mapping[str, Any]) -> Commanded:
    """What fills the next request, against the line of the policy in force (requirements BUD-5, UIX-1)."""
    total = max(1, use["tokens_total"])
    kinds = sorted(((tokens, kind) for kind, tokens in use["by_kind"].items() if tokens), reverse=True)
    lines = [
        f"{use['percent']} % of the threshold of {use['tokens_threshold']:,} tokens ({use['policy']}): "
        f"{use['tokens_projected']:,} now, the window is {use['tokens_window']:,}",
        *(
            f"{kind.replace('_', ' '):<14}{tokens:>12,}{round(100 * tokens / total):>5} %"
            for tokens, kind in kinds
        ),
        *use["notes"],
    ]
    return Commanded(text="\n".join(lines), use=dict(use))
