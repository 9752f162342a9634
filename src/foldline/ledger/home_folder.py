"""The folder that most commands change to, said once for all lines of a ledger.

    - `cd /home/ann/work/shop && make test` → ok            (in commands, `.` is /home/ann/work/shop)
    - `cd /home/ann/work/shop/api && make` → ok      ──►    - `cd . && make test` → ok
                                                            - `cd ./api && make` → ok

An agent's shell often begins anew with each call, and so does each of its commands, with the same long path. Read back, every
line has its folder again. Knows the lines of commands; `render` writes and reads them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

LINES_MIN = 3
"""Commands that must change to it, or below."""
CHARS_MIN = 12
"""A shorter one is said as soon as `.` is."""

_OPENS = re.compile(r"(- )?`cd (?P<folder>/[^\s&;|`'\"]{1,400}) && ")
_SHORT = re.compile(r"`cd \.(?P<below>/[^\s&;|`'\"]{1,400})? && ")
_SAID = re.compile(r"\(in commands, `\.` is (/[^\s&;|`'\"]{1,400})\)$")


def home_of(lines: Iterable[str]) -> str:
    """The folder that most of the commands in the lines change to; empty where that saves nothing, or where one means another
    with `.`."""
    said = list(lines)
    found = Counter([match["folder"] for line in said if (match := _OPENS.match(line)) is not None])
    if not found or any(_SHORT.match(line.removeprefix("- ")) for line in said):
        return ""
    folder, _ = max(found.items(), key=lambda each: (each[1], -len(each[0])))
    times = sum(count for each, count in found.items() if f"{each}/".startswith(f"{folder}/"))
    return folder if times >= LINES_MIN and len(folder) >= CHARS_MIN else ""


def shortened(line: str, home: str) -> str:
    """A line whose command changes to the folder, or below, without it."""
    found = _OPENS.match(line) if home else None
    if found is None or not f"{found['folder']}/".startswith(f"{home}/"):
        return line
    at = found.start("folder")
    return f"{line[:at]}.{line[at + len(home) :]}"


def said_of(home: str) -> str:
    """The line that says it."""
    return f"(in commands, `.` is {home})"


def home_in(line: str) -> str:
    """The folder that a line says; empty for another line."""
    found = _SAID.match(line)
    return "" if found is None else found[1]


def whole(text: str, home: str) -> str:
    """The text of an entry with its folder, as it was before it was shortened."""
    found = _SHORT.match(text) if home else None
    return text if found is None else f"`cd {home}{text[len('`cd .') :]}"
