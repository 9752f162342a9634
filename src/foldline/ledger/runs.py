"""Runs: which command a line runs, whatever it shows of its output, and which others beside.

    npm test 2>&1 | grep -i error | tail -5      a run of `npm test`
    cd /w && npm test && git commit -m x         where that goes well, so does `cd /w && npm test`

Knows no outcome but the one it is handed. Counterpart: `command_lines`, what a line's status speaks for.
"""

from __future__ import annotations

import re

from foldline.ledger.command_lines import CHARS_MAX, commands_of, is_plain, shows_end
from foldline.ledger.outcomes import PRINTED, went_well

_PAGED = re.compile(r"(?:2>&1|\|\s{0,3}(?:head|tail)(?:\s{1,3}-n?\s?\d{1,6})?)\s{0,3}")
"""What only bounds how much of an output is shown."""
_FILTER = re.compile(
    r"\|&?\s{0,3}(?:[ef]?grep|rg)(?P<options>(?>(?:\s{1,3}-(?:\w{1,6}|-[a-z]{2,12}(?:-[a-z]{2,12})?(?:=\w{1,12})?)(?:\s\d{1,3}(?=\s))?){0,4}))\s{1,3}"
    r"(?:'(?P<literal>[^'\n]{1,300})'|\"(?P<quoted>[^\"\n`$]{1,300})\"|(?P<bare>[^\s|;&<>'\"`$()-][^\s|;&<>'\"`$()]{0,100}))\s{0,3}"
)
"""What lets lines of an output through that hold one of some words."""
_FAILURES = re.compile(r"error|fail|warn|fatal|cannot", re.IGNORECASE)
_INVERTS = re.compile(r"\s-\w{0,5}[vLcq]|\s--(?:invert|files-without|count|quiet)")
_ALTERNATIVE = re.compile(r"\\?\||[()]|\.\*")
FILTER_CHARS = 600
"""How far from its end a line is looked at for one."""


def run_of(command: str) -> str:
    """What a command runs, whatever is shown of its output: `npm test 2>&1 | grep -i error | tail -5` is `npm test`."""
    run = _unpaged(command)
    unfiltered, found = _unfiltered(run)
    return run if found is None else _unpaged(unfiltered)


def runs_in(line: str) -> tuple[str, ...]:
    """What went well where a line did that runs one command after the other (`a && b`), each as it would stand alone, in the folder
    that the line goes to. None of one that runs a single command."""
    if "&&" not in line or len(line) > CHARS_MAX or line.rstrip().endswith("&"):
        return ()
    pieces = commands_of(run_of(line))
    commands = [command.strip() for _, command in pieces]
    folder = f"{commands[0]} && " if commands[0].startswith("cd ") else ""
    if any(join != "&&" for join, _ in pieces[1:]) or len(commands) - bool(folder) < 2:
        return ()
    return tuple([f"{folder}{run_of(command)}" for command in commands if not is_plain(command)])


def ran_well(line: str, outcome: str) -> bool:
    """True where a line is known to have gone well: its host says so, or what it printed last, at its end."""
    return went_well(outcome) and (not outcome.startswith(PRINTED) or shows_end(line))


def filters(line: str, failure: str) -> bool:
    """True where a line ends with a filter that lets failures alone through, this one too."""
    _, found = _unfiltered(_unpaged(line))
    if found is None or not failure:
        return False
    wanted = found["literal"] or found["quoted"] or found["bare"]
    words = [word for word in _ALTERNATIVE.split(wanted) if word]
    if "i" in found["options"].replace("--", "").partition("=")[0]:
        failure, words = failure.casefold(), [word.casefold() for word in words]
    return any(word in failure for word in words)


def _unpaged(command: str) -> str:
    run = command
    while (at := max(run.rfind("|"), run.rfind("2>&1"))) > 0 and _PAGED.fullmatch(run, at) is not None:
        run = run[:at].rstrip()
    return run


def _unfiltered(command: str) -> tuple[str, re.Match[str] | None]:
    """A command without the filter that it ends with, and that, where it lets failures alone through."""
    at = len(command)
    while (at := command.rfind("|", max(len(command) - FILTER_CHARS, 1), at)) > 0:
        found = _FILTER.fullmatch(command, at)
        if found is not None and command[at - 1] != "|":
            is_one = _FAILURES.search(found[0]) is not None and _INVERTS.search(found["options"]) is None
            return (command[:at].rstrip(), found) if is_one else (command, None)
    return command, None
