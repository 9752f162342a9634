"""How far the built-in estimate is from the exact count, over real files: the source of the figures in the docs.

    python benchmarks/estimator_error.py [--families] [FILE...]

Takes every string of at least 40 characters out of each JSON or JSONL file (any other file is one string for each
2,000 characters) and prints, against o200k_base: the error of the sum, the median and the 95th percentile of the
error of single strings, and the error of `length / 4` beside it. Without files: the sessions in tests/data.

With `--families` it prints the error of each family's correction instead, against the family's own vocabulary out of
the splintr-rs package (which nothing here depends on: install it first), and that of plain o200k_base beside it.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from foldline.core.surrogates import whole
from foldline.tokens.bpe import Exact
from foldline.tokens.estimate import estimate, quarter
from foldline.tokens.families import FAMILIES
from foldline.tokens.text import Corrected

CHARS_MIN = 40
"""Shorter strings are keys and ids; their error is one token either way."""
CHUNK_CHARS = 2_000
SAMPLE = Path(__file__).parent.parent / "tests" / "data"


def main(arguments: list[str]) -> None:
    """Print the table."""
    files = [Path(argument) for argument in arguments if argument != "--families"]
    named = {file.name: long_texts_of(file) for file in files or sorted(SAMPLE.glob("[!b]*/*"))}
    named = {name: texts for name, texts in named.items() if texts}
    everything = [text for texts in named.values() for text in texts]
    if "--families" in arguments:
        print_families(everything)
        return
    print(f"{'file':44} {'strings':>8} {'tokens':>9} {'sum':>7} {'median':>7} {'p95':>7} {'length/4':>9}")
    for name, texts in (named | {"all": everything}).items():
        exact = Exact("o200k_base").many(texts)
        plain = sum(map(quarter, texts)) / sum(exact) - 1
        print(f"{name[:44]:44} {errors_of(list(map(estimate, texts)), exact)} {plain:+9.1%}")


def print_families(texts: list[str]) -> None:
    """The same for the corrections in `foldline.tokens.families`."""
    splintr = importlib.import_module("splintr")
    base = Exact("o200k_base")
    texts = [text for text in texts if text.isascii() or whole(text) == text]
    print(f"{'family':44} {'strings':>8} {'tokens':>9} {'sum':>7} {'median':>7} {'p95':>7} {'o200k':>9}")
    for name, family in FAMILIES.items():
        tokenizer = splintr.Tokenizer.from_pretrained(name)
        exact = [len(tokenizer.encode(text)) for text in texts]
        plain = sum(base.many(texts)) / sum(exact) - 1
        print(f"{name:44} {errors_of(Corrected(family, base).many(texts), exact)} {plain:+9.1%}")


def errors_of(guesses: list[int], exact: list[int]) -> str:
    """How many, and the errors of the sum, of the median string and of the 95th percentile."""
    errors = sorted(abs(guess / tokens - 1) for guess, tokens in zip(guesses, exact, strict=True))
    of_sum, p95 = sum(guesses) / sum(exact) - 1, errors[int(0.95 * len(errors))]
    return f"{len(exact):8,} {sum(exact):9,} {of_sum:+7.1%} {median(errors):7.1%} {p95:7.1%}"


def long_texts_of(file: Path) -> list[str]:
    """The strings of a file that are long enough to measure."""
    return [text for text in texts_of(file) if len(text) >= CHARS_MIN]


def texts_of(file: Path) -> Iterator[str]:
    """The strings of a file, in order."""
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        yield from strings_in(json.loads(text))
    except json.JSONDecodeError:
        for line in text.split("\n"):
            try:
                yield from strings_in(json.loads(line))
            except json.JSONDecodeError:
                yield from (line[at : at + CHUNK_CHARS] for at in range(0, len(line), CHUNK_CHARS))


def strings_in(value: Any) -> Iterator[str]:
    """Every string inside a JSON value."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from strings_in(inner)
        case list():
            for inner in value:
                yield from strings_in(inner)
        case _:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
