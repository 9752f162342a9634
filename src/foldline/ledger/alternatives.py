"""Alternatives: things of which a project takes one, so that to choose another takes the first choice back.

"Use tabs." … "On second thought, use spaces." names no rule and no key, and still leaves nothing of the first. A table of such
things, and whether one sentence chooses another of them than a sentence before. Conservative: both choose one thing alone, the
later one says that it turns round, and what they choose it for is the same as far as they say so. Knows texts alone; whose
words they are, and in which order, is `foldline.ledger.supersession`'s affair.
"""

from __future__ import annotations

import re

from foldline.ledger.rules_taken_back import stems

SENTENCE_CHARS_MAX = 120
"""In a longer sentence too much beside the choice could still stand."""

_GROUPS = (
    "tabs spaces 制表符 空格",
    "redis memcached valkey keydb",
    "postgres postgresql mysql mariadb sqlite mongodb duckdb",
    "npm yarn pnpm bun",
    "pip uv poetry pipenv pdm conda",
    "pytest unittest nose",
    "jest vitest mocha jasmine",
    "flask django fastapi starlette",
    "react vue svelte angular solid",
    "docker podman",
    "kafka rabbitmq nats pulsar",
    "rest graphql grpc",
    "black ruff yapf autopep8",
    "eslint biome prettier",
    "webpack vite rollup esbuild parcel",
    "requests httpx aiohttp urllib3",
    "argparse click typer",
    "gzip zstd brotli lz4",
    "maven gradle",
    "cmake meson bazel",
    "camelcase snake_case pascalcase kebab-case",
)
_GROUP_OF = {name: number for number, names in enumerate(_GROUPS) for name in names.split()}
_NAME = re.compile(
    rf"(?<![\w/.@-])(?:{'|'.join(sorted(map(re.escape, _GROUP_OF), key=len, reverse=True))})(?![\w/@]|[.-]\w)",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"^\W{0,3}(?:(?:ok|okay|hmm|hm|oh|no|wait|well|sorry|so|and|but|please)\W{1,3}){0,3}(?:on (?:second|third) thoughts?|actually|thinking about it again|on reflection|scratch that|i(?:['’]ve| have)? changed my mind)\b"
    r"|\binstead\b(?! of)|还是(?=用|改|换|选|采用)|改用|换成|改成",
    re.IGNORECASE,
)
"""What says of a choice that it takes the place of another."""
_CHOOSES = re.compile(
    r"\b(?:use|using|go with|switch to|take|prefer|stick (?:to|with)|with)\b|用|选|采用|换成|改成",
    re.IGNORECASE,
)
_REJECTS = re.compile(
    r"\b(?:not|never|no|avoid|without|rather than|instead of|over|unless|only if|except|but|and|or|both|also)\b|n['’]t\b|不|别|和|或|也",
    re.IGNORECASE,
)
"""What makes of a choice something else: a rule against one, a choice of two, a case."""
_FOR = re.compile(r"\b(?:for|as|in|to)\s{1,3}(?:the |our |my |all )?(.{2,60})$", re.IGNORECASE)
_RUNS = re.compile(
    r"^(?:\W{0,3}(?:ok|okay|hmm|no|wait|well|sorry|so|and|but|please|actually|now|just|(?:can|could) you|let['’]?s)\b){0,5}\W{0,3}"
    r"(?:re-?run|run|try|test|check|execute|launch|start|benchmark|profile)\b",
    re.IGNORECASE,
)
"""How to run something, which holds for this once …"""
_SAYS_SO = re.compile(
    r"\b(?:from (?:now|here) on|always|in (?:the )?future|going forward|henceforth|instead|(?:second|third) thoughts?|changed my mind|scratch that|on reflection|again)\b",
    re.IGNORECASE,
)
"""… unless it says that it holds on."""
_WORD = re.compile(r"[^\W_]{3,}")


def names_one(text: str) -> bool:
    """Whether a text names one of these things at all."""
    return _NAME.search(text) is not None


def turns_to(later: str) -> str:
    """The thing that a sentence chooses in the place of another; empty where it does not say so."""
    turn = _TURNS.search(later) if len(later) <= SENTENCE_CHARS_MAX else None
    if turn is None:
        return ""
    return _chosen(later[: turn.start()] + later[turn.end() :])


def is_other_choice(chosen: str, later: str, *, earlier: str) -> bool:
    """Whether an earlier sentence chose another of the same things as `later`, which chooses `chosen`."""
    before = _chosen(earlier)
    if not before or before == chosen or _GROUP_OF[before] != _GROUP_OF[chosen]:
        return False
    if _is_for_once(later) and not _is_for_once(earlier):
        return False
    what, was = _for_what(later), _for_what(earlier)
    return not (what and was) or bool(what & was)


def _is_for_once(sentence: str) -> bool:
    return _RUNS.match(sentence) is not None and _SAYS_SO.search(sentence) is None


def others_of(sentence: str) -> frozenset[str]:
    """Everything that could stand in the place of the one thing that a sentence chooses."""
    chosen = _chosen(sentence)
    return frozenset(_GROUPS[_GROUP_OF[chosen]].split()) - {chosen} if chosen else frozenset()


def _chosen(sentence: str) -> str:
    """The one thing that a sentence chooses, in small letters; empty where it chooses none, or not plainly."""
    if len(sentence) > SENTENCE_CHARS_MAX or _REJECTS.search(sentence) or not _CHOOSES.search(sentence):
        return ""
    names = {name.lower() for name in _NAME.findall(sentence)}
    return names.pop() if len(names) == 1 else ""


def _for_what(sentence: str) -> frozenset[str]:
    """The words that say what a choice is for."""
    found = _FOR.search(sentence.rstrip(" .!。"))
    return stems(_WORD.findall(found[1])) if found is not None else frozenset()
