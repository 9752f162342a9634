"""Actions: calls of tools that are neither readers nor editors nor shells, with what each was about and what it came to.

A ticket that was sent, a booking that was cancelled: whoever goes on from the ledger must not do it again. Whether a tool
acts is not said by a call, so it goes by the verb of its name; one whose name says neither acts unless its answer is long or a
list, as those of readers are: a read too many costs a line, an action too few may be done twice. Knows no entries; `book`
writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from foldline.core.json_text import object_in
from foldline.core.message import ToolResult, result_text
from foldline.ledger.lines import OUTCOME_CHARS, one_line, untagged
from foldline.ledger.outcomes import is_refused, put_off, status_of
from foldline.ledger.successes import is_rehearsal, says_done, structured_success

_STATEMENT = re.compile(
    r"\s*+(?>(?:(?:--[^\n]{0,200}\n|/\*[^*]{0,200}\*/)\s*+){0,4})(?>(?:BEGIN\b[^;]{0,40};\s*+)?)"
    r"(?:(?:INSERT|REPLACE|MERGE)\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\S{1,100}\s+SET|DELETE\s+FROM|TRUNCATE\s+\S|(?:GRANT|REVOKE)\s+[^;\n]{1,200}?\s(?:TO|FROM)"
    r"|(?:DROP|ALTER|CREATE)\s+(?:(?:OR REPLACE|UNIQUE|TEMP(?:ORARY)?|MATERIALIZED|GLOBAL)\s+)?"
    r"(?:TABLE|INDEX|VIEW|DATABASE|SCHEMA|USER|ROLE|SEQUENCE|FUNCTION|PROCEDURE|TRIGGER|TYPE|EXTENSION|COLUMN|CONSTRAINT)\s+(?!(?:fails?|in|is|not|error|vs|with)\b)\S)",
    re.IGNORECASE,
)
"""A statement of SQL that changes something …"""
_CTE = re.compile(r"\s*WITH\b.{1,2000}?\)\s*(?=(?:INSERT|UPDATE|DELETE|MERGE)\b)", re.IGNORECASE | re.DOTALL)
_MUTATES = re.compile(r"\s*mutation\b[^{]{0,400}+\{")
_METHOD_KEYS = frozenset(("method", "http_method", "verb"))
_METHODS = frozenset("POST PUT PATCH DELETE".split())
"""… and methods of HTTP that do."""

Bearing: TypeAlias = Literal["acts", "reads", "unknown"]

VALUES_MAX = 6
"""Values that are told of a call."""
VALUE_CHARS = 60
"""A longer one is a text: it is told only where a call has no other, and does not tell one call from another."""
CALL_CHARS = 120
GIST_CHARS = 80
ANSWER_CHARS = 100
DEPTH_MAX = 4
LIST_MAX = 8
NAMES_MAX = 2_048
"""Names of tools that are remembered by what they do."""
READ_CHARS = 2_000
"""An answer as long as this is something that was read."""
WORDS_MIN = 3
"""A value of so many words is the same task where a later one has them all."""

_ACTS = frozenset(
    (
        "accept activate add append apply approve archive assign attach ban block book buy cancel change charge clear close commit complete confirm "
        "copy create deactivate decline delete deploy detach disable drop dump edit email enable enroll exchange file forward grant import insert "
        "install invite issue kill launch lock log mail make mark merge message mint modify move mute notify order overwrite patch pause pay place "
        "post provision publish purchase push put rebook record redeem refund register reject release remove rename renew replace reply reschedule reserve "
        "reset resolve restart restore resume return revoke rollback rotate save schedule send set share ship sign spend start stop store submit subscribe "
        "suspend sync tag terminate transfer trigger unassign unblock uninstall unlock unpublish unsubscribe update upgrade upload upsert void "
        "withdraw write"
    ).split()
)
_READS = frozenset(
    (
        "get list search find read query fetch lookup look view show describe check count calculate calc compute think thinking reason inspect browse "
        "summarize summarise analyze analyse explain compare estimate convert translate retrieve extract detect scan wait sleep poll screenshot scroll "
        "hover snapshot recall info information status details history preview diff validate verify suggest recommend rank"
    ).split()
)
_NOUNS = frozenset("book email file issue log mail message order place post record store tag".split())
"""Verbs that are as often nouns: before a word that reads, they are."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_READS_EAST = re.compile(r"查|搜|获取|列出|读|取得|検索|조회|검색")
_WITHHELD = re.compile(
    r"pass(?:word|wd|phrase)?$|secret|token$|api_?key|credential|authorization", re.IGNORECASE
)
_STATE = re.compile(r"(?:^|_)(?:status|state|result|message|confirmation\w*)$", re.IGNORECASE)
_REFERENCE = re.compile(r"(?:^|_|[a-z])(?:id|Id|ID|number|key|code|reference|url|link)$")
_AMOUNT = re.compile(r"(?:^|_)(?:amount|balance|refund\w*|total)$", re.IGNORECASE)
"""Fields of an answer that say what came of a call: first such as these, the first of these, the last of these."""


@lru_cache(maxsize=NAMES_MAX)
def bearing_of(name: str) -> Bearing:
    """Whether the tool called `name` changes something, only reads, or neither is to be told from its name."""
    plain = name.rpartition("__")[2].rpartition(".")[2]
    words = [word.lower() for word in _WORD.findall(plain)]
    if not words:
        return "reads" if _READS_EAST.search(plain) else "unknown"
    first, last = words[0], words[-1]
    if first in _READS or (first in _NOUNS and last in _READS):
        return "reads"
    if first in _ACTS or last in _ACTS:
        return "acts"
    return "reads" if last in _READS else "unknown"


def is_action(name: str, result: ToolResult | None, *, given: Mapping[str, Any] | None = None) -> bool:
    """Whether a call that was answered so is one that changed something, as far as that can be told: by what it was given where
    that says so, whatever the tool is called."""
    bearing = bearing_of(name)
    if bearing == "acts" or (given and _says_it_acts(given)):
        return True
    if bearing == "reads" or result is None:
        return bearing != "reads"
    text = result_text(result)
    return len(text) < READ_CHARS and not text.startswith("[")


def _says_it_acts(arguments: Mapping[str, Any]) -> bool:
    """Whether a call brings a statement of SQL, a method of HTTP or a mutation of GraphQL that changes something."""
    for key, value in arguments.items():
        if isinstance(value, str) and (
            (key.lower() in _METHOD_KEYS and value.upper() in _METHODS)
            or _changes(value)
            or _MUTATES.match(value) is not None
        ):
            return True
    return False


def _changes(value: str) -> bool:
    with_ = _CTE.match(value)
    return _STATEMENT.match(value, with_.end() if with_ is not None else 0) is not None


def call_line(name: str, arguments: Mapping[str, Any]) -> str:
    """A call by its tool and the values that tell it from others; no back quote stands in it."""
    told: list[str] = []
    before = ""
    for key, value in _values(arguments):
        label = "," if key == before else " " if _REFERENCE.search(key) else f" {key}="
        told.append(f"{label}{value}")
        before = key
    return one_line(f"{name}{''.join(told)}".replace("`", "'"), CALL_CHARS)


def gist_of_call(arguments: Mapping[str, Any]) -> str:
    """The beginning of the first text that a call brings, where it has no other value to be told by."""
    leaves = list(_leaves(arguments))
    if any(_is_short(value) for _, value in leaves):
        return ""
    return next((one_line(value, GIST_CHARS).replace("`", "'") for _, value in leaves), "")


def answer_of(result: ToolResult | None, arguments: Mapping[str, Any]) -> str:
    """What an action came to: `ok` where its answer says so, `failed` or `not made` with why, else `answered`, in its own words."""
    if result is None:
        return "no result"
    text = result_text(result)
    told = structured_success(text)
    if is_refused(result) or told is False:
        return f"failed: {one_line(untagged(text), OUTCOME_CHARS) or 'no output'}"
    if is_rehearsal(text):
        return f"not made: dry run: {_fields(text, arguments)}"
    if put_off(text):
        return f"not made: {one_line(text, OUTCOME_CHARS)}"
    said = _fields(text, arguments) if text.startswith("{") else one_line(untagged(text), ANSWER_CHARS)
    is_done = told or status_of(text) == 0 or says_done(untagged(text))
    return f"{'ok' if is_done else 'answered'}{f': {said}' if said else ''}"


def is_same_task(arguments: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Whether a later call of one tool is for what an earlier one was: each of its values is the same, or has the same words
    and maybe more."""
    asked = dict(_values(later))
    return all(
        key in asked and (value == asked[key] or _says_all(value, asked[key]))
        for key, value in _values(arguments)
    )


def _says_all(value: str, later: str) -> bool:
    words = set(value.lower().split())
    return len(words) >= WORDS_MIN and words <= set(later.lower().split())


def _fields(text: str, arguments: Mapping[str, Any]) -> str:
    """What a structured answer says came of its call, beside what was asked for; its beginning where no field tells."""
    asked = {said for _, said in _leaves(arguments)}
    every = [leaf for leaf in _leaves(object_in(text)) if leaf[1] not in ("true", "false")]
    leaves = [leaf for leaf in every if leaf[1] not in asked]
    states = [leaf for leaf in leaves if _STATE.search(leaf[0])][:1]
    references = [leaf for leaf in every[:1] if leaf in leaves and _REFERENCE.search(leaf[0])]
    amounts = [leaf for leaf in leaves if _AMOUNT.search(leaf[0])][-1:]
    told = " ".join([f"{key}={said}" for key, said in (*states, *references, *amounts)])
    return one_line(told or text, ANSWER_CHARS)


def _values(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in _leaves(arguments) if _is_short(value)][:VALUES_MAX]


def _is_short(value: str) -> bool:
    return len(value) <= VALUE_CHARS and "\n" not in value


def _leaves(value: Any, key: str = "", *, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The plain values of a structure with the names of their fields, what stands further out first."""
    if depth > DEPTH_MAX:
        return
    if isinstance(value, Mapping):
        plain = [(name, each) for name, each in value.items() if not isinstance(each, (Mapping, list))]
        nested = [(name, each) for name, each in value.items() if isinstance(each, (Mapping, list))]
        for name, each in [*plain, *nested]:
            yield from _leaves(each, str(name), depth=depth + 1)
    elif isinstance(value, list):
        for each in value[:LIST_MAX]:
            yield from _leaves(each, key, depth=depth + 1)
    elif value is not None and value != "" and not _WITHHELD.search(key):
        yield key, str(value).lower() if isinstance(value, bool) else str(value).strip()
