"""One rule of a provider, and the loop over a table of them. Knows no provider and nothing of `foldline`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import msgspec

Body: TypeAlias = dict[str, Any]
Found: TypeAlias = Iterator[tuple[str, str]]
"""Where (a path into the body) and why."""
LEVELS_MAX = 900
"""The standard library's own writer ends near here, and no server reads deeper."""


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
    """The body must be JSON in UTF-8: no lone surrogate, no NaN, no key that is not a string. It is looked through and not written:
    of a history of megabytes that took longer than all other rules."""
    level: list[Any] = [case.body]
    for _ in range(LEVELS_MAX):
        inner: list[Any] = []
        for node in level:
            if isinstance(node, str):
                why = "" if node.isascii() else _half_in(node)
            elif isinstance(node, dict):
                why = "" if all(isinstance(key, str) for key in node) else "not JSON: a key is no text"
                inner += node
                inner += node.values()
            elif isinstance(node, (list, tuple)):
                why = ""
                inner += node
            else:
                why = _no_value(node)
            if why:
                yield "body", why
                return
        if not inner:
            return
        level = inner
    yield "body", "not JSON: nested too deep"


def _half_in(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"lone surrogate {text[error.start]!r}"
    return ""


def _no_value(value: object) -> str:
    if isinstance(value, float):
        return "" if isfinite(value) else f"not JSON: {value} is no number there"
    return "" if value is None or isinstance(value, int) else f"not JSON: {type(value).__name__}"


def json_bytes(body: Body) -> int:
    """Size of the body as it goes over the wire; lone surrogates count as one replacement character."""
    try:
        return len(msgspec.json.encode(body))
    except (UnicodeEncodeError, TypeError, RecursionError):
        return len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def repeated(names: Sequence[str]) -> list[str]:
    """Those that stand there more than once, sorted."""
    if len(set(names)) == len(names):
        return []
    return sorted(name for name, times in Counter(names).items() if times > 1)


def blank(text: str) -> bool:
    """True when nothing in the text can be seen."""
    return not text.strip()
