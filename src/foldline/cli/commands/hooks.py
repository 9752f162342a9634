"""`foldline hooks`: the hooks that settings name, and the user's word on those of a project.

Owns the printing; the work is `foldline.hooking`. Nothing is approved but by its whole digest, which is that of what was shown.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from foldline.cli import exits, screen
from foldline.cli.options import as_json_option

if TYPE_CHECKING:
    from foldline.hooking import Listed


@click.command("hooks")
@click.argument(
    "action",
    metavar="[list|approve|revoke]",
    type=click.Choice(["list", "approve", "revoke"]),
    default="list",
)
@click.argument("digests", metavar="[DIGEST]...", nargs=-1)
@click.option(
    "--project",
    metavar="DIR",
    default=".",
    help="The folder whose foldline.toml counts.",
    show_default="the working folder",
)
@click.option("--contents", is_flag=True, help="Show what stands in the files that an approval is for.")
@as_json_option
def command(*, action: str, digests: tuple[str, ...], project: str, contents: bool, as_json: bool) -> int:
    """List the hooks of the settings; approve or revoke those of a project.

    Hooks of your own settings file run. Those of a project's `foldline.toml` run when you have approved each under its
    DIGEST, as long as neither its words nor its files change, and without a terminal only with FOLDLINE_PROJECT_HOOKS=1.
    """
    from foldline import hooking

    if bool(digests) != (action != "list"):
        why = "name what to list, approve or revoke: `foldline hooks` shows the DIGEST of each"
        raise click.UsageError(why, click.get_current_context())
    for digest in digests:
        if action == "approve":
            hooking.approve(digest, project=project)
        else:
            hooking.revoke(digest)
    found = hooking.listed(project=project)
    if as_json:
        screen.write_document({"schema": "foldline.hooks/1", "hooks": [one.to_dict() for one in found]})
    elif action == "list":
        _show(found, contents=contents)
    else:
        done = "approved" if action == "approve" else "revoked"
        screen.say(f"{len(digests)} hook{'s' if len(digests) > 1 else ''} {done}")
    return exits.DONE


def _show(found: tuple[Listed, ...], *, contents: bool) -> None:
    if not found:
        screen.say("no hooks are configured; docs/guides/hooks.md says how")
    for number, one in enumerate(found):
        if number:
            screen.show("")
        for name, value in _rows(one):
            screen.show(screen.cell(f"{name:<9} {value}"))
        if contents and one.shown is not None:
            _show_contents(one)


def _rows(one: Listed) -> list[tuple[str, str]]:
    command = one.written.command
    when = f" ({one.written.trigger} alone)" if one.written.trigger else ""
    rows = [
        ("hook", f"{one.written.event}{when}"),
        ("state", f"{one.state}{': ' + one.why if one.why else ''}"),
        ("command", shlex.join(command.argv)),
        ("limits", f"{command.timeout_s:g} s; sees {', '.join(command.env) or 'no further variables'}"),
    ]
    if command.blocks_on_exit_2:
        rows.append(("exit 2", "blocks"))
    rows.append(("from", one.file))
    if one.shown is not None:
        rows += [("program", one.shown.program or "none that is found")]
        rows += [("file", f"{file}  sha256 {sha}") for file, sha in one.shown.files]
        if one.shown.unwatched:
            rows.append(("note", one.shown.unwatched))
        rows.append(("digest", one.digest))
    return rows


def _show_contents(one: Listed) -> None:
    from foldline.hooks.approval import contents

    assert one.shown is not None
    for file, data in contents(one.shown):
        screen.show(screen.cell(f"── {file}"))
        screen.write_text(data.decode("utf-8", "backslashreplace").rstrip("\n") + "\n")
