"""What several commands have in common on the command line: a file to read, a budget, a way to print.

Owns the spelling of values (`20k`, `25%`, `10-40`). Knows nothing of what is done with them.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from foldline.cli import progress, screen

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from foldline.reading import Both
    from foldline.transcripts.transcript import Transcript

TOKENS_MAX = 10**12
"""No budget is larger; a longer number is a slip."""

_TOKENS = re.compile(r"(?P<number>[0-9]{1,16}(?:\.[0-9]{1,6})?)(?P<unit>[kKmM]?)")
_PERCENT = re.compile(r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,6})?)%")
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def size(value: str) -> int | float:
    """A budget as people write it: tokens (`20000`, `20k`, `1.5M`) as an int of at least 1, or a share of what comes
    in (`25%`, `0.25`) as a float between 0 and 1. Raises `click.BadParameter`."""
    text = value.replace(",", "").replace("_", "").strip()
    if percent := _PERCENT.fullmatch(text):
        return _share(float(percent["number"]) / 100, value)
    tokens = _TOKENS.fullmatch(text)
    if tokens is None:
        raise click.BadParameter(f"{value!r} is no size; write tokens (20000, 20k) or a share (25%, 0.25)")
    number, unit = tokens["number"], tokens["unit"].lower()
    if "." in number and not unit:
        return _share(float(number), value)
    count = round(float(number) * _UNITS[unit]) if "." in number else int(number) * _UNITS[unit]
    if not 1 <= count <= TOKENS_MAX:
        raise click.BadParameter(f"{value!r} is out of bounds; tokens are 1 to {TOKENS_MAX:,}")
    return count


def named(value: str) -> str:
    """A name. Raises `click.BadParameter` for one without a visible character."""
    if not value.strip():
        raise click.BadParameter("give a name with a visible character, or leave it out")
    return value


def _share(share: float, value: str) -> float:
    if not 0 < share < 1:
        raise click.BadParameter(
            f"{value!r} is out of bounds; a share lies between 0% and 100%, both excluded"
        )
    return share


def lines(value: str) -> tuple[int, int | None]:
    """A range of lines, from 1, both ends included: `10-40`, `10-` (to the end), `-40`, `7`. Raises
    `click.BadParameter`."""
    found = re.fullmatch(r"([0-9]{1,12})?(-)?([0-9]{1,12})?", value)
    if found is None or not (found[1] or found[3]):
        raise click.BadParameter(f"{value!r} is no range of lines; write 10-40, 10- or -40")
    first = int(found[1] or 1)
    last = int(found[3]) if found[3] else (None if found[2] else first)
    if first < 1 or (last is not None and last < first):
        raise click.BadParameter(f"{value!r} holds no line; the first line is 1, and a range goes upwards")
    return first, last


STDIN = "stdin"
"""What standard input is called where a file has its name."""


class Source(Struct, frozen=True, kw_only=True):
    """The file a command reads, and how its answer is wanted."""

    file: str
    """A path, or `-` for stdin."""
    format: str
    select: str | None
    as_json: bool

    @property
    def name(self) -> str:
        """What to call the file in a heading."""
        return STDIN if self.file == "-" else self.file

    def read(self) -> tuple[Transcript, ...]:
        """All conversations asked for; a long read shows a bar on a terminal."""
        from foldline.reading import read

        with self._shown() as tick:
            return read(self.file, format=self.format, select=self.select, progress=tick)

    def read_both(self) -> tuple[Both, ...]:
        """The same, with what came before another tool's compactions."""
        from foldline.reading import read_both

        with self._shown() as tick:
            return read_both(self.file, format=self.format, select=self.select, progress=tick)

    def _shown(self) -> AbstractContextManager[progress.Tick | None]:
        if self.file == "-" and sys.stdin is not None and sys.stdin.isatty():
            screen.say("reading from the terminal; end with Ctrl-D")
        return progress.shown(f"reading {self.name}")


Command = Callable[..., int]

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
counter_option = click.option(
    "--counter",
    metavar="NAME",
    type=named,
    help="Count tokens with this counter (left out: the model's, else o200k_base).",
)
limit_option = click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 10_000),
    help="So many rows. Left out: 100, and with --json all of them.",
)
ROWS_MAX = 100
"""Rows of a list on a page for people, where nobody says otherwise."""
out_option = click.option(
    "-o", "--output", "out", metavar="FILE", help="Write the result here; `-` is stdout."
)


def rows_of(limit: int | None, *, as_json: bool) -> int | None:
    """How many rows of a list are wanted; `None`: all."""
    return ROWS_MAX if limit is None and not as_json else limit


def in_order(name: str) -> tuple[tuple[str | int, ...], str]:
    """What names are sorted by: numbers in them as numbers, so that `run.2` comes before `run.10`."""
    pieces = re.split(r"([0-9]+)", name)
    return tuple(int(piece) if index % 2 else piece for index, piece in enumerate(pieces)), name


def page_of(
    names: Sequence[str], *, after: str | None, limit: int | None
) -> tuple[Sequence[str], str | None]:
    """A page of the names in order, and the name behind which the next one begins; `None`: there is none."""
    ordered = sorted(names, key=in_order)
    rest = ordered if after is None else ordered[bisect_right(ordered, in_order(after), key=in_order) :]
    page = rest[:limit]
    return page, page[-1] if page and len(page) < len(rest) else None


def reads_file(function: Command) -> Command:
    """Give a command the argument FILE and its options, packed into a `Source` as its first argument."""

    @functools.wraps(function)
    def packed(*, file: str, from_format: str, select: str | None, as_json: bool, **rest: Any) -> int:
        source = Source(file=file, format=from_format, select=select, as_json=as_json)
        return function(source, **rest)

    for decorate in (
        as_json_option,
        click.option("--select", metavar="N|ID", help="Take one conversation of a file with many."),
        click.option(
            "--from",
            "from_format",
            metavar="FORMAT",
            default="auto",
            show_default=True,
            help="The file's format.",
        ),
        click.argument("file", metavar="FILE"),
    ):
        packed = decorate(packed)
    return packed


def write_result(data: bytes, out: str | None, *, source: Source) -> str | None:
    """Put a result where it was asked for; says where, or `None` when it went to stdout or nowhere.

    Without `-o` the result goes to stdout, but not onto a terminal (use `-o -` for that) and not beside `--json`.
    """
    if out is not None and out != "-":
        write_file(out, data)
        return out
    if out == "-" or not (source.as_json or screen.is_terminal("stdout")):
        screen.write_json_data(data)
    return None


def write_file(path: str, data: bytes) -> None:
    """Write a file whole, or stop with exit code 1 and leave nothing."""
    from foldline.cli.atomic import write_whole

    try:
        write_whole(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(
            f"{path}: {reason}; nothing was written, choose another place with -o"
        ) from error


def forbid_over_original(source: Source, out: str | None, *, hint: str | None = "") -> None:
    """A result that holds less than the file it was made from does not take its place: its addresses open in that file,
    which may be the only original. `hint`: what else to do; `None` where the result holds all of it."""
    if hint is None or out in (None, "-") or not os.path.isfile(str(out)):
        return
    if source.file == "-":
        is_read = _is_stdin(str(out))
    else:
        same = os.path.realpath(source.file) == os.path.realpath(str(out))
        is_read = same or (os.path.samefile(source.file, str(out)) and os.stat(source.file).st_nlink == 1)
    if is_read:
        raise click.UsageError(
            f"{out} is the file that is read, and the addresses of the result open there; choose another file{hint}",
            click.get_current_context(),
        )


def _is_stdin(path: str) -> bool:
    """True for the file that standard input comes from, by whatever name."""
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), os.stat(path))
    except (AttributeError, OSError, ValueError):  # stdin is closed, or no file at all
        return False


def hint_for(as_format: str | None, transcripts: Sequence[Transcript]) -> str | None:
    """What else a person may do where the result may not take the place of its file; `None` where it may, since it is a log
    of our own that holds the whole history."""
    if as_format == "foldline" or (as_format is None and all(t.format == "foldline" for t in transcripts)):
        return None
    return ", or `--as foldline`, which keeps everything"


def forbid_both_on_stdout(source: Source, out: str | None) -> None:
    """`--json` and `-o -` both claim stdout."""
    if source.as_json and out == "-":
        raise click.UsageError(
            "--json prints its document on stdout, so -o needs a file", click.get_current_context()
        )
