"""What is known of models: window, limits, prices and tokenizer, from a snapshot kept in the repo.

`models.json` beside this file is a reduced copy of litellm's public price table (MIT), made by
`scripts/make_models.py`; a caller's own values go before it. Knows no counter: `foldline.tokens.choose` turns the
family named here into one. Reads nothing but that file, and only when first asked.
"""

from __future__ import annotations

import math
import pkgutil
import re
import warnings
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from foldline.core.errors import InvalidOption, UnknownModel
from foldline.tokens.choose import COUNTERS
from foldline.tokens.lineage import family_of

WINDOW_DEFAULT: Final = 128_000
"""Tokens, for a model nobody knows: five of six chat models in the table take at least as much, and a window taken
too small costs an early compaction where one taken too large costs a refused request."""
WINDOW_CLAUDE: Final = 200_000
"""Tokens, for an unknown Claude: no Claude since 2.1 has taken less."""
WINDOW_1M: Final = 1_000_000
"""Tokens, for a name that ends in `[1m]`: how Claude Code writes the long-window variant of a model."""

Source: TypeAlias = Literal["override", "stated", "confirmed", "name", "table", "default"]
"""Who said how large the window is: the user · the provider or the session file · an error that named the limit ·
the model's own name · the snapshot · nobody."""


class Prices(Struct, frozen=True, kw_only=True, gc=False):
    """US dollars per million tokens; `None` where the table has no price."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


class Model(Struct, frozen=True, kw_only=True):
    """One model."""

    name: str
    """As asked for."""
    known_as: str | None
    """The name it was found under; `None` for a default."""
    window: int
    """Tokens of input and output together."""
    max_input: int
    """Most input tokens; less than `window` where the provider limits input apart (GPT-5: 272,000 of 400,000)."""
    max_output: int | None = None
    """Most output tokens; never more than half the window, unless input is limited apart."""
    prices: Prices = Prices()
    family: str = "o200k_base"
    """Tokenizer, one of `foldline.tokens.choose.COUNTERS`."""
    source: Source
    """Where `window` comes from."""
    notes: tuple[str, ...] = ()
    """What a person should know: limits that made no sense, and what was made of them."""


class Override(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a user may say of a model; what is left out comes from the table."""

    window: int | None = None
    max_input: int | None = None
    max_output: int | None = None
    prices: Prices | None = None
    family: str | None = None


Overrides: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By model name: the fields of `Override`."""


class _Row(Struct, frozen=True, array_like=True, gc=False):
    """One line of the table; missing at the end is `None`."""

    window: int | None = None
    max_input: int | None = None
    """`None`: as the window."""
    max_output: int | None = None
    price_input: float | None = None
    price_output: float | None = None
    price_cache_read: float | None = None
    price_cache_write: float | None = None


class _Snapshot(Struct, frozen=True):
    """The file."""

    source: str
    models: dict[str, _Row]


@cache
def _table() -> dict[str, _Row]:
    data = pkgutil.get_data("foldline.tokens", "models.json")
    assert data is not None, "models.json is part of the package"
    return msgspec.json.decode(data, type=_Snapshot).models


def names() -> tuple[str, ...]:
    """Every name in the table, sorted."""
    return tuple(sorted(_table()))


_LONG = re.compile(r"\[1m\]$")
_VENDOR = re.compile(r"^[a-z][a-z-]*\.(?=[a-z])")
_ENDINGS = re.compile(
    r"(?::[a-z0-9-]+|@[a-z0-9-]+|-v[0-9]+|-20[0-9]{2}-?[0-9]{2}-?[0-9]{2}|-latest|-preview)$"
)
_DOTTED = re.compile(r"(?<=[0-9])\.(?=[0-9])")


def spellings(name: str) -> Iterator[str]:
    """The names a model may be kept under, nearest first: as given, without provider, region, version and date.

    `openrouter/anthropic/claude-sonnet-4.5:beta` ends as `claude-sonnet-4-5`,
    `us.anthropic.claude-opus-4-1-20250805-v1:0` as `claude-opus-4-1`.
    """
    name = _LONG.sub("", name.strip().lower())
    yield name
    parts = name.split("/")
    for index in range(1, len(parts)):
        yield "/".join(parts[index:])
    bare = parts[-1]
    while match := _VENDOR.match(bare):
        bare = bare[match.end() :]
        yield bare
    yield _DOTTED.sub("-", bare)
    while match := _ENDINGS.search(bare):
        bare = bare[: match.start()]
        yield bare
        yield _DOTTED.sub("-", bare)


def model(
    name: str,
    *,
    overrides: Overrides | None = None,
    stated: int | None = None,
    confirmed: int | None = None,
) -> Model:
    """What is known of a model. An unknown one gets a stated default and a warning, `UnknownModel`.

    The window, in tokens, is the first that is known of: the user's `overrides` · `stated` by the provider's own
    metadata or the session file · `confirmed` by an error that named the limit · the name's `[1m]` · the table · the
    default. Other fields: overrides, then the table. Raises `InvalidOption` for an override that cannot be read.
    """
    known, warning = looked_up(name, overrides=overrides, stated=stated, confirmed=confirmed)
    if warning:
        warnings.warn(warning, UnknownModel, stacklevel=2)
    return known


def looked_up(
    name: str,
    *,
    overrides: Overrides | None = None,
    stated: int | None = None,
    confirmed: int | None = None,
) -> tuple[Model, str]:
    """As `model`, and the words of its warning in its place; empty for a model that is known. For whoever tells them otherwise:
    a filter that silences a warning is one of the whole process, and no thread's own."""
    table = _table()
    own = _override(name, overrides or {})
    known_as = next((spelling for spelling in spellings(name) if spelling in table), None)
    row = table[known_as] if known_as is not None else _Row()
    window, source = _window(name, (own.window, stated, confirmed), row=row)
    warning = ""
    if source == "default":
        warning = (
            f"model {name!r} is not in the table: a window of {window:,} tokens is assumed, which may be wrong; "
            f"{_near(name)}give its own window in the settings file, or a name that `foldline models` lists"
        )
    max_input, max_output, notes = _limits(window, own, row=row)
    prices = Prices(
        input=row.price_input,
        output=row.price_output,
        cache_read=row.price_cache_read,
        cache_write=row.price_cache_write,
    )
    known = Model(
        name=name,
        known_as=known_as,
        window=window,
        max_input=max_input,
        max_output=max_output,
        prices=own.prices if own.prices is not None else prices,
        family=own.family if own.family is not None else family_of(name),
        source=source,
        notes=notes,
    )
    return known, warning


def _near(name: str) -> str:
    """Names that are spelt almost alike, as a question."""
    near = get_close_matches(name.strip().lower(), names(), n=3, cutoff=0.75)
    return f"did you mean {' or '.join(near)}? Otherwise " if near else ""


def _override(name: str, overrides: Overrides) -> Override:
    lowered = {key.lower(): value for key, value in overrides.items()}
    key = next(
        (spelling for spelling in (name.strip().lower(), *spellings(name)) if spelling in lowered), None
    )
    if key is None:
        return Override()
    try:
        own = msgspec.convert(lowered[key], Override)
    except msgspec.ValidationError as error:
        raise InvalidOption(f"models.{key}", lowered[key], why=f"{error}; fields: {_FIELDS}") from error
    if own.family is not None and own.family not in COUNTERS:
        raise InvalidOption(f"models.{key}.family", own.family, why=f"there are: {', '.join(COUNTERS)}")
    limits = {"window": own.window, "max_input": own.max_input, "max_output": own.max_output}
    for field, value in limits.items():
        if value is not None and value < 1:
            raise InvalidOption(f"models.{key}.{field}", value, why="give a positive number of tokens")
    for field in Prices.__struct_fields__ if own.prices is not None else ():
        price = getattr(own.prices, field)
        if price is not None and not 0 <= price < math.inf:  # which no NaN is
            raise InvalidOption(f"models.{key}.prices.{field}", price, why="give a price of 0 or more")
    return own


_FIELDS: Final = ", ".join(Override.__struct_fields__)


def _window(name: str, given: tuple[int | None, int | None, int | None], *, row: _Row) -> tuple[int, Source]:
    sources: tuple[Source, ...] = ("override", "stated", "confirmed")
    for value, source in zip(given, sources, strict=True):
        if value is not None:
            return value, source
    if _LONG.search(name.strip().lower()):
        return WINDOW_1M, "name"
    if row.window is not None:
        return row.window, "table"
    return (WINDOW_CLAUDE if family_of(name).startswith("claude") else WINDOW_DEFAULT), "default"


def _limits(window: int, own: Override, *, row: _Row) -> tuple[int, int | None, tuple[str, ...]]:
    """Input and output limits within this window, and what was wrong with them.

    An output limit as large as the window is a common fault of tables and settings; reserved in full, it leaves
    no room for input, and every step compacts.
    """
    max_output = own.max_output if own.max_output is not None else row.max_output
    max_input = own.max_input
    if max_input is None:
        max_input = row.max_input if row.max_input is not None and row.window == window else window
    notes = []
    if max_input > window:
        notes.append(
            f"the input limit of {max_input:,} is larger than the window of {window:,}, which is reckoned with"
        )
        max_input = window
    if max_output is not None and max_output > window // 2:
        notes.append(
            f"the output limit of {max_output:,} is over half the window of {window:,}; {window // 2:,} is reckoned with"
        )
        max_output = window // 2
    return max_input, max_output, tuple(notes)
