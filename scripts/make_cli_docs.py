"""Writes docs/reference/cli.md from the commands themselves, so that the page cannot say what the program does not.

    python scripts/make_cli_docs.py           writes the page
    python scripts/make_cli_docs.py --check   exits 1 when the page is not what would be written

Owns the page's prose on output, files and exit codes; every option, argument and code comes from `foldline.cli`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from foldline.cli import exits
from foldline.cli.main import COMMANDS, main

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"

OPENING = """\
# Command line

*This page is made by `scripts/make_cli_docs.py`; change the commands, not the page.*

```
foldline COMMAND [OPTIONS] FILE
```

FILE is any session file foldline knows, recognised by its content and never by its name; `-` is standard input.
"""

OUTPUT = """\
## Where output goes

| what | goes to |
|---|---|
| the result of `compact`, `convert` and `export`, the original of `show` and `recall` | the file after `-o` (`recall` has none), else standard output |
| what is sound of a damaged log (`verify --salvage FILE`) | that file |
| pages for people (`context`, `check`, `show SESSION`, `recall`, `scan`, `verify`, `events`, `stats`, `sessions`, `undo --list`, `hooks`, `formats`, `policies`, `models`) | standard output |
| `events --lines`: one JSON object a line | standard output |
| `proxy`: a line a request for a person on a terminal, a JSON object a line otherwise and with `--json` | standard output |
| the report of `compact`, what `import`, `undo`, `rollback`, `fork`, `archive` and `forget` did, notes, warnings, errors, progress | standard error |
| with `--json`: one JSON document, on one line in a pipe and indented on a terminal | standard output, and nothing else there |

- **On a terminal** a result is not printed: the last line says how to keep it, and `-o -` prints it all the same. A
  progress bar shows when a read takes longer than 0.3 seconds, a turning mark while other work does, with what `compact` is at; in a pipe neither.
- **With `--json`** a result goes only to a file after `-o`; without `-o` there is the report alone. When something goes
  wrong the document is `{"schema": "foldline.error/1", "error", "message", "exit_code", "fields"}`, unless a document of
  the command's own says it (a report that is `unreachable`, a check that found violations).
- **Many conversations in one file** give one document with `sessions` in it: `foldline.reports/1`, `foldline.checks/1`,
  `foldline.contexts/1`. `--select` takes one of them, by number from 0 or by id.
- **Nothing in a transcript can act on a terminal.** Control and format characters, surrogates and invisible characters
  are shown as escapes (`\\e`, `\\x9b`, `\\u{202e}`): in words for people everywhere, in JSON documents inside their
  strings as `\\uXXXX` (the same value), in data only on a terminal. In a pipe or file data is untouched.
- `NO_COLOR` is honoured. Width follows the terminal up to 110 columns, in a pipe `COLUMNS`, else 100.

## Files

A file is written whole or not at all: to a temporary file in the same folder, synced, renamed, the folder synced. `-o`
may not name the file that is read (exit code 2): the addresses of a result open there. A result of format `foldline`
keeps everything, so that `-o` may, the first time; to compact again and again, `foldline import` the file. An existing file keeps its mode and owner, a new one is readable by you alone (0600),
a symbolic link is followed, a device or pipe is written to and not replaced. A hard link to the old file keeps the old
content.

## Sizes

`--to` is the size of the whole result, system prompt and tools included: tokens (`20000`, `20k`, `1.5M`) or a share of
what comes in (`25%`, `0.25`). `--to 1` is a legal target that cannot be reached. Left out, the policy's own target
holds, and below its threshold nothing is changed.

## Exit codes
"""

CLOSING = """\
`--debug`, or `FOLDLINE_DEBUG=1`, shows where an error comes from. A reader that closes the pipe early (`| head`) is no
error.
"""


def page() -> str:
    """The whole page."""
    codes = [f"| {code} | {meaning} |" for code, meaning in exits.MEANINGS.items()]
    parts = [OPENING, *commands(), OUTPUT, "\n".join(["| code | means |", "|---|---|", *codes, ""]), CLOSING]
    return "\n".join(parts)


def commands() -> Iterator[str]:
    """A section for each command, in the order of the help page."""
    with click.Context(main, info_name="foldline") as group:
        for name in COMMANDS:
            command = main.get_command(group, name)
            assert command is not None
            yield section(command, click.Context(command, info_name=name, parent=group))


def section(command: click.Command, ctx: click.Context) -> str:
    """Usage, help and options of one command."""
    arguments = " ".join(p.metavar or "" for p in command.params if isinstance(p, click.Argument))
    lines = [
        f"## {command.name}",
        "",
        "```",
        f"foldline {command.name} [OPTIONS] {arguments}".rstrip(),
        "```",
        "",
    ]
    lines += [
        paragraph.replace("\n", " ") + "\n"
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n")
    ]
    lines += ["| option | |", "|---|---|"]
    lines += [row(p) for p in command.params if isinstance(p, click.Option)]
    return "\n".join([*lines, ""])


def row(option: click.Option) -> str:
    """One option: its spellings, its value, what it does, its default."""
    spelled = ", ".join(f"`{spelling}`" for spelling in option.opts)
    value = "" if option.is_flag else f" {value_of(option)}".replace("|", "\\|")
    default = f" Default: `{option.default}`." if option.show_default else ""
    return f"| {spelled}{value} | {option.help}{default} |"


def value_of(option: click.Option) -> str:
    """What stands for its value: the name the option gives it, or the choices there are."""
    if option.metavar is None and isinstance(option.type, click.Choice):
        return "|".join(option.type.choices)
    assert option.metavar is not None, f"{option.name} says nothing of its value"
    return option.metavar


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(
            0
            if PAGE.read_text(encoding="utf-8") == page()
            else f"{PAGE} is old: run scripts/make_cli_docs.py"
        )
    PAGE.write_text(page(), encoding="utf-8")
