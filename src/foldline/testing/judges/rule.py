"""One rule of a provider, and the loop over a table of them. Knows no provider and nothing of `foldline`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

Body: TypeAlias = dict[str, Any]
Found: TypeAlias = Iterator[tuple[str, str]]
"""Where (a path into the body) and why."""


class Case(NamedTuple):
    """A body under judgement."""

    body: Body
    open_tail: bool
    """True when calls of the last assistant message may still wait for their results."""


class Rule(NamedTuple):
    """One demand of a provider."""

    name: str
    source: str
    """Where the demand is written down or was observed."""
    check: Callable[[Case], Found]


class Finding(NamedTuple):
    """One violation."""

    rule: str
    place: str
    why: str


def findings(rules: Sequence[Rule], body: Body, *, open_tail: bool) -> Iterator[Finding]:
    """All violations. The first rule is the shape: the others are asked only when it holds."""
    case = Case(body, open_tail)
    shape, *others = rules
    misshapen = [Finding(shape.name, place, why) for place, why in shape.check(case)]
    if misshapen:
        yield from misshapen
        return
    for rule in others:
        for place, why in rule.check(case):
            yield Finding(rule.name, place, why)


def judge(rules: Sequence[Rule], body: Body, *, open_tail: bool) -> list[str]:
    """All violations as `rule at place: why`."""
    return [
        f"{found.rule} at {found.place}: {found.why}" for found in findings(rules, body, open_tail=open_tail)
    ]


def json_text(case: Case) -> Found:
    """The body must be JSON in UTF-8: no lone surrogate, no NaN, no key that is not a string."""
    try:
        json.dumps(case.body, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError as error:
        yield "body", f"lone surrogate {error.object[error.start]!r}"
    except (ValueError, TypeError) as error:
        yield "body", f"not JSON: {error}"


def json_bytes(body: Body) -> int:
    """Size of the body as it goes over the wire; lone surrogates count as one replacement character."""
    return len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def blank(text: str) -> bool:
    """True when nothing in the text can be seen."""
    return not text.strip()
