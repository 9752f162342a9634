"""Which counter counts: by model, by name, or the default. The door of this package.

Puts a text count and a media rule together; the only module here that knows them all. Where toktok cannot be
loaded every counter falls back to the built-in estimate and says so in its name, never silently in its numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from foldline.core.errors import InvalidOption
from foldline.tokens.bpe import Encoding, Exact, load_toktok
from foldline.tokens.claude import CLAUDE_46, CLAUDE_47
from foldline.tokens.counter import Counter
from foldline.tokens.estimate import estimate, quarter
from foldline.tokens.families import FAMILIES
from foldline.tokens.lineage import FAMILY_DEFAULT, family_of, media_of
from foldline.tokens.text import Corrected, Each, TextCount

_GENERATIONS: Final = {generation.name: generation for generation in (CLAUDE_46, CLAUDE_47)}
_ENCODINGS: Final[tuple[Encoding, ...]] = ("o200k_base", "cl100k_base")

COUNTERS: Final = (*_ENCODINGS, *_GENERATIONS, *FAMILIES, "estimate", "length/4")
"""Names for `counter=` and `--counter`."""

CLAUDE_TOOLS_OVERHEAD: Final = 346
"""Tokens of the system prompt that Anthropic adds to a request with tools (its documentation on tool use, Claude 4
with `tool_choice` auto)."""


def counter_for(
    model: str | None = None,
    *,
    counter: str | None = None,
    wire: str | None = None,
    load: Callable[[], Any] = load_toktok,
) -> Counter:
    """The counter for a model: its own tokenizer or the nearest correction; without a model o200k_base.

    `counter`, one of `COUNTERS`, goes before the model. `wire` names the format the messages are sent in, and
    decides what media cost where the model does not. `load` imports toktok. Raises `InvalidOption` for a counter
    of another name.
    """
    name = counter or (family_of(model) if model is not None else FAMILY_DEFAULT)
    if name not in COUNTERS:
        raise InvalidOption("counter", name, why=f"there are: {', '.join(COUNTERS)}")
    try:
        texts = _texts(name, load)
    except ImportError:
        name, texts = f"{name} (estimate)", _corrected(name, Each(estimate))
    return Counter(
        name=name,
        count=texts,
        media=media_of(model, wire),
        tools_overhead=CLAUDE_TOOLS_OVERHEAD if name.startswith("claude") else 0,
    )


def _texts(name: str, load: Callable[[], Any]) -> TextCount:
    if name == "estimate":
        return Each(estimate)
    if name == "length/4":
        return Each(quarter)
    if name == "cl100k_base":
        return Exact("cl100k_base", load=load)
    return _corrected(name, Exact("o200k_base", load=load))


def _corrected(name: str, base: TextCount) -> TextCount:
    """`base`, which counts as o200k_base does, corrected to a family."""
    if name in _GENERATIONS:
        return Corrected(_GENERATIONS[name], base)
    if name in FAMILIES:
        return Corrected(FAMILIES[name], base)
    return base
