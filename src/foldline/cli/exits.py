"""Exit codes, and which error means which.

Owns the one mapping from errors to codes and the sentence a person reads. Knows nothing of commands. The codes are
promised to scripts (`docs/reference/cli.md`).
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from foldline.core import errors

DONE = 0
BAD_INPUT = 1
USAGE = 2
UNREACHABLE = 3
REFUSED = 4
OUR_FAULT = 70
INTERRUPTED = 130

MEANINGS: Mapping[int, str] = {
    DONE: "done",
    BAD_INPUT: "the input is bad or missing, or the output cannot be written; nothing is written",
    USAGE: "wrong usage, the value of an option included",
    UNREACHABLE: "the target cannot be reached; the smallest result and the report are given all the same",
    REFUSED: "busy or refused",
    OUR_FAULT: "a fault of foldline itself",
    INTERRUPTED: "interrupted from the keyboard; nothing is half written",
}

_CODES: tuple[tuple[type[errors.FoldlineError], int], ...] = (
    (errors.UnknownPolicy, USAGE),
    (errors.InvalidOption, USAGE),
    (errors.TargetUnreachable, UNREACHABLE),
    (errors.ContextExhausted, REFUSED),
    (errors.InvalidRequest, REFUSED),
    (errors.CompactionBlocked, REFUSED),
    (errors.SessionBusy, REFUSED),
    (errors.LawViolation, OUR_FAULT),
    (errors.FoldlineError, BAD_INPUT),
)
"""First match counts."""

_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
"""Errors of a disk or stream that no code can help: full, over quota, too large, failing, read-only."""

OUTCOMES: Mapping[str, int] = {
    "compacted": DONE,
    "unchanged": DONE,
    "unmended": BAD_INPUT,
    "unreachable": UNREACHABLE,
    "refused": REFUSED,
    "failed": OUR_FAULT,
}
"""Exit code of each outcome of a report, a refusal and an input that no repair mends told from a fault."""


def code_of(error: Exception) -> int:
    """The exit code of an error; what is not expected is our fault."""
    if isinstance(
        error, errors.UnknownFormat
    ):  # a name is an option's value; without one the content is to blame
        return BAD_INPUT if error.name is None else USAGE
    if isinstance(error, OSError):
        return BAD_INPUT if error.errno in _MACHINE else OUR_FAULT
    if isinstance(error.__cause__, OSError) and error.__cause__.errno in _MACHINE:
        return BAD_INPUT  # a home that takes no more is no wrong usage, though it is named as an option
    if isinstance(error, errors.ProviderFailed) and error.status is not None and error.status >= 429:
        return REFUSED
    return next((code for kind, code in _CODES if isinstance(error, kind)), OUR_FAULT)


def outcome_of(report: Mapping[str, Any]) -> str:
    """The outcome that a report stands for: one whose result is not valid failed, by ours or by its input's fault, which a rule of the
    provider's alone does not make, since another server may take it; one that kept too little for its policy was refused."""
    if not report.get("valid", True):
        if not report.get("unmended"):
            return "failed"
        if any(found["law"] != "PROVIDER" for found in report["violations"]):
            return "unmended"
    return "refused" if report.get("below_floor") else str(report["outcome"])


def code_of_outcomes(outcomes: list[str]) -> int:
    """The exit code of several reports: the gravest."""
    return max((OUTCOMES.get(outcome, OUR_FAULT) for outcome in outcomes), default=DONE)


def sentence_of(error: Exception, typed: Mapping[str, str] = MappingProxyType({})) -> str:
    """What a person reads: the error's own words, or for a fault of ours what it was and what to do. `typed`: by the name of an option in
    Python, how it is written on the command line."""
    if isinstance(error, OSError) and error.errno in _MACHINE:
        return f"{error.filename or 'output'}: {error.strerror}; make room or choose another place with -o"
    if code_of(error) != OUR_FAULT:
        if (file := _file_for_session(error)) is not None:
            from shlex import quote

            told = quote(file)
            return f"{file} is a file, no session; `foldline show {told}` looks into it, `foldline import {told}` makes a session of it"
        if isinstance(error, errors.InvalidOption):
            return error.as_typed(typed.get(error.option, error.option))
        return str(error)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        f"internal error: {what}. This is a fault of foldline, not of your input: please report it with this line "
        "(FOLDLINE_DEBUG=1 shows where it happened)"
    )


def _file_for_session(error: Exception) -> str | None:
    """The file that was given where a session's name is wanted."""
    named = error.value if isinstance(error, errors.InvalidOption) and error.option == "name" else None
    name = error.name if isinstance(error, errors.UnknownSession) else named
    return name if isinstance(name, str) and "\0" not in name and os.path.isfile(name) else None


def document_of(error: Exception, *, code: int, sentence: str) -> dict[str, Any]:
    """The error as the one JSON document of a command that was asked for `--json`."""
    fields = {
        name: value if not isinstance(value, float) or math.isfinite(value) else str(value)  # JSON has no NaN
        for name, value in vars(error).items()
        if isinstance(value, (str, int, float, tuple))
    }
    return {
        "schema": "foldline.error/1",
        "error": type(error).__name__,
        "message": sentence,
        "exit_code": code,
        "fields": fields,
    }
