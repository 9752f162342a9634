"""`foldline context`: where the tokens are, and how close the threshold is.

Owns the page: usage, tokens by kind and tool, biggest items. The counting is `foldline.distribution`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from foldline.cli import exits, progress, report, screen
from foldline.cli.layout import SEPARATOR, bar, count, gap, grid, percent, title
from foldline.cli.options import Source, counter_option, named, reads_file

if TYPE_CHECKING:
    from rich.console import RenderableType

PAGES_MAX = 10
"""Conversations of one file that are shown."""
ROWS_MAX = 12
"""Rows of each table; the rest is summed in one."""
BAR_COLUMNS = 20


@click.command("context")
@click.option(
    "--model",
    metavar="M",
    type=named,
    help="Use this model's window and counter (left out: the file's own model).",
)
@click.option(
    "--policy",
    metavar="NAME",
    type=named,
    help="Whose threshold to show (left out: of a session the policy that compacted it last, else balanced).",
)
@counter_option
@reads_file
def command(source: Source, *, model: str | None, policy: str | None, counter: str | None) -> int:
    """Show where the tokens are, and how close the threshold is.

    Tokens by kind and by tool, and the biggest items with the addresses under which `foldline show` opens them.
    """
    from foldline.distribution import distribution

    transcripts = source.read()
    with progress.busy("counting"):
        documents = [distribution(one, model=model, policy=policy, counter=counter) for one in transcripts]
    if source.as_json:
        screen.write_document(
            documents[0] if len(documents) == 1 else {"schema": "foldline.contexts/1", "sessions": documents}
        )
        return exits.DONE
    for index, document in enumerate(documents[:PAGES_MAX]):
        _show(document, f"{source.name} [{index}]" if len(documents) > 1 else source.name)
    if len(documents) > PAGES_MAX:
        screen.say(
            f"{len(documents) - PAGES_MAX:,} more conversations: --select N shows one, --json all of them"
        )
    for note in dict.fromkeys([*report.notes_of(transcripts), *report.notes_in({"sessions": documents})]):
        screen.say(note)
    return exits.DONE


def _show(document: Mapping[str, Any], name: str) -> None:
    total = document["tokens_total"]
    is_anchored = bool(document.get("tokens_anchored"))
    blocks: list[RenderableType] = [
        title(f"{count(document['tokens_projected'] if is_anchored else total)} tokens", name, style="bold"),
        gap(screen.cell(_settings(document), "dim")),
        *_usage(document),
    ]
    for heading, key in (("by kind", "by_kind"), ("by tool", "by_tool")):
        tokens = document.get(key, {})
        if key == "by_kind":
            tokens = {kind.replace("_", " "): number for kind, number in tokens.items()}
        if any(tokens.values()):
            of_file = f", of the {count(total)} counted here" if is_anchored else ""
            blocks += ["", screen.cell(f"{heading}{of_file}", "dim"), gap(_shares(tokens, total))]
    if document.get("largest"):
        rows = [
            (
                screen.cell(count(item["tokens"]), "bold"),
                screen.cell(str(item["kind"]).replace("_", " ")),
                screen.cell(item["address"], "cyan"),
            )
            for item in document["largest"][:ROWS_MAX]
        ]
        blocks += ["", screen.cell("biggest", "dim"), gap(grid(rows, right=(0,), whole=(2,)))]
    if again := document.get("read_again"):
        blocks += ["", screen.cell(_again(again), "red" if again["keep_more"] else "")]
    screen.show(*blocks)


def _settings(document: Mapping[str, Any]) -> str:
    """What the numbers rest on: one file has another size by another counter."""
    said = [
        document.get("format"),
        f"counted with {document['counter']}" if document.get("counter") else None,
    ]
    return SEPARATOR.join(str(part) for part in (*said, document.get("model")) if part)


def _again(told: Mapping[str, Any]) -> str:
    """The loop guard's line."""
    words = f"{count(told['again'])} of {count(told['evicted'])} readings that compactions took out were soon read again"
    return f"{words}: a policy that keeps more would cost less" if told["keep_more"] else words


def _usage(document: Mapping[str, Any]) -> list[RenderableType]:
    """What the next request takes, as a share of the line at which the policy compacts (requirements BUD-5, BUD-11)."""
    used, window, line = (document.get(f"tokens_{key}") for key in ("projected", "window", "threshold"))
    if not window or line is None:
        return [gap(screen.cell("no window known; name the model with --model"))]
    assert used is not None
    is_past = used >= line
    where = f"{count(abs(line - used))} {'past' if is_past else 'below'} it"
    words = f"{document['percent']}% of the threshold of {count(line)} ({document['policy']})"
    style = "red" if is_past else "cyan"
    lines: list[RenderableType] = [
        gap(
            screen.cell(
                f"{words} · {where} · {_window(window, document.get('tokens_window_whole'), used=used)}"
            )
        ),
        gap(bar(used / line if line else 1, style=style, mark=1)),
    ]
    if anchored := document.get("tokens_anchored"):
        lines.append(
            gap(screen.cell(_anchored(document, anchored, estimated=document.get("tokens_estimated") or 0)))
        )
    return lines


def _anchored(document: Mapping[str, Any], anchored: int, *, estimated: int) -> str:
    """Why the headline is another number than what the kinds come to."""
    more = anchored + estimated - int(document["tokens_total"])
    said = f"the provider last counted {count(anchored)}"
    said += f", since then {count(estimated)} estimated" if estimated else ""
    if more == 0:
        return said
    if more < 0:
        return f"{said}; {count(-more)} less than is counted here"
    no_prompt = "" if document["by_kind"].get("system") else " (system prompt, tools and the like)"
    return f"{said}; {count(more)} more than this file holds{no_prompt}"


def _window(tokens: int, whole: int | None, *, used: int) -> str:
    """The window, and by how much a request is over it, which the share of the threshold, 100% at most, does not tell."""
    over = f", {count(used - tokens)} less than the request takes" if used > tokens else ""
    if whole is None or whole == tokens:
        return f"the window is {count(tokens)}{over}"
    return f"the window is {count(whole)}, of which a request may take {count(tokens)}{over}"


def _shares(tokens: Mapping[str, int], total: int) -> RenderableType:
    ranked = sorted(tokens.items(), key=lambda item: (-item[1], item[0]))
    ranked = [item for item in ranked if item[1]]
    rest = sum(number for _, number in ranked[ROWS_MAX:])
    shown = ranked[:ROWS_MAX] + ([(f"{len(ranked) - ROWS_MAX} more", rest)] if rest else [])
    return grid(
        [
            (
                screen.cell(name),
                screen.cell(count(number), "bold"),
                screen.cell(percent(number, total)),
                bar(number / total if total else 0, columns=BAR_COLUMNS),
            )
            for name, number in shown
        ],
        right=(1, 2),
    )
