"""Where output goes: data and documents on stdout, words for people on stderr, nothing unescaped on a terminal.

Owns the two streams, their width and their colours. Knows nothing of commands or reports: `foldline.cli.report` and
the commands build what is shown. Three rules, the same for every command:

    words for people   neutral everywhere, in a pipe too: a log is read on a terminal later
    a JSON document    escaped inside its strings everywhere: the same value, harmless
    data               untouched in a pipe or file; on a terminal escaped like the two above
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

from foldline.cli.neutral import neutral, neutral_json

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

Stream: TypeAlias = Literal["stdout", "stderr"]

WIDTH_MIN, WIDTH_MAX = 40, 110
"""Columns. Wider lines are hard to read; on a wide terminal the rest stays empty."""
WIDTH_PIPE = 100
"""Columns where there is no terminal and `COLUMNS` is not set."""
ROW_PIPE = 200
"""Columns of a table's row there, which is read by line."""

_ASCII = str.maketrans(
    {"→": "->", "·": "-", "…": "...", "█": "#", "▏": "", "▎": "", "▍": "", "▌": "", "▋": "", "▊": "", "▉": "#",
     "│": "|", "─": "-", "×": "x", "–": "-"}
)  # fmt: skip
"""For a stream whose encoding has no such characters."""


def _stream(name: Stream) -> TextIO | None:
    return sys.stdout if name == "stdout" else sys.stderr


def is_terminal(name: Stream) -> bool:
    """True when the stream is open and a terminal."""
    stream = _stream(name)
    return stream is not None and not stream.closed and stream.isatty()


def width_of(name: Stream) -> int:
    """Columns to use on a stream: the terminal's, else `COLUMNS`, else `WIDTH_PIPE`; within the two bounds."""
    stream = _stream(name)
    width = 0
    if stream is not None and is_terminal(name):
        with contextlib.suppress(OSError):
            width = os.get_terminal_size(stream.fileno()).columns
    return min(WIDTH_MAX, max(WIDTH_MIN, width or shutil.get_terminal_size((WIDTH_PIPE, 0)).columns))


def row_of(name: Stream) -> int:
    """Columns that a table may use on a stream: its width, but `ROW_PIPE` where there is neither terminal nor `COLUMNS`."""
    is_named = is_terminal(name) or shutil.get_terminal_size((0, 0)).columns
    return width_of(name) if is_named else ROW_PIPE


def line(text: object) -> str:
    """Foreign text on one line, neutral."""
    return neutral(str(text), keep_newlines=False)


def cell(text: object, style: str = "") -> Text:
    """Foreign text as a piece of a table: neutral, never read as markup."""
    from rich.text import Text

    return Text(line(text), style=style)


def show(*blocks: RenderableType, to: Stream = "stdout", columns: int | None = None) -> None:
    """Print tables and texts for people, within `columns` or the stream's own. Strings in `blocks` must come through `cell` or `line`."""
    from rich.console import Console

    page = io.StringIO()
    console = Console(
        file=page,
        width=columns or width_of(to),
        force_terminal=True if is_terminal(to) else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for block in blocks:
        console.print(block)
    _write(to, "\n".join(row.rstrip() for row in page.getvalue().split("\n")))


def say(message: str) -> None:
    """One sentence to a person, on stderr."""
    text = f"foldline: {neutral(message)}"
    if is_terminal("stderr"):
        text = "\n".join(_wrapped(row) for row in text.split("\n"))
    _write("stderr", text + "\n")


def _wrapped(row: str) -> str:
    """A line broken at spaces; what has none, as a path or an address, stays whole to be copied."""
    import textwrap

    width = width_of("stderr")
    if len(row) <= width:
        return row
    rows = textwrap.wrap(row, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(rows)


def write_text(text: str, *, to: Stream = "stdout") -> None:
    """Words for people, as they are but neutral, without a table around them."""
    _write(to, neutral(text))


def write_document(document: object) -> None:
    """One JSON document on stdout: indented on a terminal, on one line in a pipe."""
    indent = 2 if is_terminal("stdout") else None
    text = json.dumps(document, ensure_ascii=False, indent=indent, default=_plain)
    _write_bytes((neutral_json(text) + "\n").encode())


def write_line(document: object) -> None:
    """One of many JSON documents on stdout, each on a line of its own, spaced as the standard library does."""
    import msgspec

    try:
        text = msgspec.json.format(msgspec.json.encode(document), indent=0).decode()
    except (TypeError, UnicodeEncodeError):  # half a character, which is written all the same
        text = json.dumps(document, ensure_ascii=False, default=_plain)
    _write_bytes((neutral_json(text) + "\n").encode())


def _plain(value: object) -> Any:
    import msgspec

    return msgspec.to_builtins(value)


def write_json_data(data: bytes) -> None:
    """JSON or JSON lines on stdout: untouched in a pipe, escaped inside its strings on a terminal."""
    if not is_terminal("stdout"):
        _write_bytes(data)
        return
    text = neutral_json(data.decode("utf-8", "surrogateescape"))
    _write_bytes((text if text.endswith("\n") else text + "\n").encode())


def write_content(text: str) -> None:
    """A transcript's own text on stdout: untouched in a pipe, neutral on a terminal and ended by a line feed."""
    if not is_terminal("stdout"):
        _write_bytes(bytes_of(text))
        return
    shown = neutral(text)
    _write("stdout", shown if shown.endswith("\n") else shown + "\n")


def write_bytes(data: bytes) -> None:
    """Bytes on stdout as they are. The caller has made sure that stdout is no terminal."""
    assert not is_terminal("stdout")
    _write_bytes(data)


def bytes_of(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes its three bytes, so that nothing of an original is lost."""
    return text.encode("utf-8", "surrogatepass")


def _write(name: Stream, text: str) -> None:
    stream = _stream(name)
    if stream is None:
        if name == "stdout":
            raise _closed()
        return
    encoding = stream.encoding or "utf-8"
    if not encoding.lower().replace("-", "").startswith("utf"):
        text = text.translate(_ASCII)
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        if name == "stdout":
            raise
        _abandon(stream)  # nobody can be told, and what was done stays done: the exit code says that


def _write_bytes(data: bytes) -> None:
    if sys.stdout is None:
        raise _closed()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _closed() -> OSError:
    return OSError(errno.EIO, "stdout is closed", "stdout")


def abandon_stdout() -> None:
    """After a failed write: throw away what is still buffered, or the interpreter complains of it while it exits."""
    if sys.stdout is not None:
        _abandon(sys.stdout)


def _abandon(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
